"""`hreach explore` on Gymnasium's tables against epsilon-greedy Q-learning: steps until the learnt policy is good.

`python benchmarks/explore.py` writes benchmarks/EXPLORE.md, in some ten minutes on two cores. A policy is as good as
what it is worth under the environment's own table, where episodes begin, gamma .99: 90 % means V >= V* - .1 |V*|.
PAC-RMDP is the same call of `hreach.explore` everywhere, with nothing set but gamma. Q-learning is tuned for each
environment: of all settings of `GRID` the one with the fewest steps to 90 % over seeds of its own.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from hreach.exploring.explorer import Explorer, Settings
from hreach.exploring.learnt import Learnt
from hreach.exploring.making import made, place
from hreach.problems.problem import Problem
from hreach.problems.truth import core_of
from hreach.protocols import State
from hreach.running.loop import run

GAMMA, SEEDS, TUNING = 0.99, 10, 2
PAGE = Path(__file__).with_name("EXPLORE.md")
GRID = [
    {"rate": rate, "epsilon": epsilon, "decay": decay, "first": first}
    for rate, epsilon, decay, first in itertools.product((0.1, 0.5, 1.0), (0.1, 1.0), (False, True), (0, 1))
]


@dataclass(frozen=True)
class Place:
    """An environment, its steps, and how often the policy is looked at."""

    name: str
    id: str
    params: dict[str, Any]
    steps: int

    def make(self) -> gymnasium.Env[Any, Any]:
        return gymnasium.make(self.id, disable_env_checker=True, **self.params)

    @property
    def looks(self) -> list[int]:
        return sorted({int(x) for x in np.geomspace(self.steps / 200, self.steps, 60)})


PLACES = (
    Place("FrozenLake 4x4", "FrozenLake-v1", {}, 20_000),
    Place("FrozenLake 8x8", "FrozenLake-v1", {"map_name": "8x8"}, 100_000),
    Place("Taxi", "Taxi-v4", {}, 60_000),
    Place("CliffWalking", "CliffWalking-v1", {}, 5_000),
)


class Truth:
    """What policies are worth under the environment's table."""

    def __init__(self, env: object) -> None:
        core: Any = core_of(env)
        self.states, self.actions = int(core.observation_space.n), int(core.action_space.n)
        self.goes_on = np.zeros((self.states, self.actions, self.states))
        self.paid = np.zeros((self.states, self.actions))
        for s, a in np.ndindex(self.states, self.actions):
            for chance, following, reward, over in core.P[s][a]:
                self.paid[s, a] += chance * reward
                self.goes_on[s, a, following] += chance * (not over)
        start = np.asarray(core.initial_state_distrib, dtype=np.float64)
        self.start = start / start.sum()
        value = np.zeros(self.states)
        for _ in range(4000):
            value = (self.paid + GAMMA * self.goes_on @ value).max(axis=1)
        self.best = float(self.start @ value)

    def share(self, policy: NDArray[np.int64]) -> float:
        """1 - (V* - V) / |V*| where episodes begin."""
        rows = np.arange(self.states)
        chain = np.eye(self.states) - GAMMA * self.goes_on[rows, policy]
        worth = float(self.start @ np.linalg.solve(chain, self.paid[rows, policy]))
        return 1 - (self.best - worth) / abs(self.best)


class Looking:
    """Notes how good the learnt policy is after these steps; it is asked for actions in the place of the agent."""

    def __init__(self, explorer: Explorer, share: Callable[[], float], looks: list[int]) -> None:
        self.explorer, self.share, self.looks, self.steps = explorer, share, looks, 0
        self.found = list[float]()

    def act(self, state: State) -> int:
        return self.explorer.act(state)

    def observe(self, *step: Any) -> None:
        self.explorer.observe(*step)
        self.steps += 1
        if len(self.found) < len(self.looks) and self.steps == self.looks[len(self.found)]:
            self.found.append(self.share())


def explored(at: Place, seed: int) -> list[float]:
    """The shares of PAC-RMDP at the looks, as `hreach.explore(env, steps)` runs it."""
    env = made(at.make(), {})
    truth, where = Truth(env), place(env, None, seed)
    explorer = Explorer(Settings(gamma=GAMMA, seed=seed), where.states, len(where.actions))

    def share() -> float:
        names = where.names
        tally, (low, high) = explorer.tally(len(names)), explorer.range
        problem = Problem(len(names), truth.actions, GAMMA, None, high, 0.0, low, tally.ends)
        policy = np.zeros(truth.states, dtype=np.int64)
        policy[np.array(names)] = Learnt(tally, problem).policy
        return truth.share(policy)

    watching = Looking(explorer, share, at.looks)
    run(where.env, watching, at.steps, seed)
    return watching.found


def q_learning(at: Place, seed: int, setting: dict[str, Any]) -> list[float]:
    """The shares of epsilon-greedy Q-learning; `decay`: epsilon falls to 0 along the run; `first`: where Q begins."""
    env, rng = at.make(), np.random.default_rng(seed)
    truth = Truth(env)
    q = np.full((truth.states, truth.actions), float(setting["first"]))
    found, looks, (state, _) = [], set(at.looks), env.reset(seed=seed)
    for step in range(1, at.steps + 1):
        epsilon = setting["epsilon"] * ((1 - step / at.steps) if setting["decay"] else 1)
        if rng.random() < epsilon:
            action = int(rng.integers(truth.actions))
        else:
            best = np.flatnonzero(q[state] == q[state].max())
            action = int(best[0] if best.size == 1 else rng.choice(best))
        following, reward, terminated, truncated, _ = env.step(action)
        target = float(reward) + (0.0 if terminated else GAMMA * q[following].max())
        q[state, action] += setting["rate"] * (target - q[state, action])
        state = env.reset()[0] if terminated or truncated else following
        if step in looks:
            found.append(truth.share(q.argmax(axis=1)))
    return found


def until(shares: list[float], looks: list[int], level: float) -> float:
    """The first look from which on the policy stays at this level; infinite: none."""
    below = [i for i, share in enumerate(shares) if share < level]
    last = below[-1] + 1 if below else 0
    return float(looks[last]) if last < len(looks) else np.inf


def first(shares: list[float], looks: list[int], level: float) -> float:
    """The first look at which the policy is at this level."""
    return next((float(t) for t, share in zip(looks, shares, strict=True) if share >= level), np.inf)


def tuned(at: Place, pool: ProcessPoolExecutor) -> dict[str, Any]:
    """The setting of the fewest steps to 90 %, by the median and then the mean share over all looks."""
    tasks = [(setting, 1000 + seed) for setting in GRID for seed in range(TUNING)]
    shares = list(pool.map(q_learning, [at] * len(tasks), [s for _, s in tasks], [g for g, _ in tasks]))
    ranks = []
    for i, setting in enumerate(GRID):
        own = shares[i * TUNING : (i + 1) * TUNING]
        reached = float(np.median([first(each, at.looks, 0.9) for each in own]))
        ranks.append((reached, -float(np.clip(own, 0, 1).mean()), i, setting))
    return min(ranks)[3]


def row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def steps(values: list[float]) -> str:
    """Median and range of numbers of steps."""
    said = ["never" if np.isinf(x) else f"{x:,.0f}" for x in (np.median(values), min(values), max(values))]
    return f"{said[0]} ({said[1]} to {said[2]})"


def lines(places: tuple[Place, ...]) -> Iterator[str]:
    yield "Made by `python benchmarks/explore.py`. Ten seeds each, gamma .99; what the learnt policy is worth under the"
    yield "true table, as 1 - (V* - V) / |V*| where episodes begin. Steps: median, and the least and most."
    yield ""
    yield row(["", "steps", "PAC-RMDP at the end: least, mean", "steps to 90 %", "to stay above 90 %",
               "Q-learning at the end: least, mean", "steps to 90 %", "to stay above 90 %", "its setting"])  # fmt: skip
    yield "|" + "---|" * 9
    with ProcessPoolExecutor() as pool:
        for at in places:
            own = list(pool.map(explored, [at] * SEEDS, range(SEEDS)))
            setting = tuned(at, pool)
            rival = list(pool.map(q_learning, [at] * SEEDS, range(SEEDS), [setting] * SEEDS))
            cells = [at.name, f"{at.steps:,}"]
            for shares in (own, rival):
                ends = [each[-1] for each in shares]
                last = f"{min(ends):.3f}, {np.mean(ends):.3f}"
                reached = [steps([rule(each, at.looks, 0.9) for each in shares]) for rule in (first, until)]
                cells += [last, *reached]
            cells.append(", ".join(f"{name} {value}" for name, value in setting.items()))
            yield row(cells)


def main() -> None:
    chosen = tuple(at for at in PLACES if not sys.argv[1:] or at.name in sys.argv[1:])
    written = []
    for line in lines(chosen):
        print(line, flush=True)
        written.append(line)
    if not sys.argv[1:]:
        PAGE.write_text("\n".join(written) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
