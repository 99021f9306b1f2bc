"""`hreach explore` on Gymnasium's tables against epsilon-greedy Q-learning: steps until the learnt policy is good.

`python benchmarks/explore.py` writes benchmarks/EXPLORE.md, in some ten minutes on two cores. A policy is as good as
what it is worth under the environment's own table, where episodes begin, gamma .99: 90 % means V >= V* - .1 |V*|.
PAC-RMDP is the same call of `hreach.explore` everywhere, with nothing set but gamma. Q-learning is tuned for each
environment: of all settings of `GRID` the one with the fewest steps to 90 % over seeds of its own. It is compiled and
lives in the environment's table, under the same time limit.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numba import njit
from scipy import sparse
from scipy.sparse.linalg import splu

from hreach.exploring.explorer import Explorer, Settings
from hreach.exploring.learnt import Learnt
from hreach.exploring.making import made, place
from hreach.problems.problem import Problem
from hreach.problems.truth import core_of
from hreach.protocols import Floats, Ints, State
from hreach.running.loop import run

GAMMA, SEEDS, TUNING = 0.99, 10, 5
PAGE = Path(__file__).with_name("EXPLORE.md")


class Setting(NamedTuple):
    """Of Q-learning: step size, chance of a random action, whether that falls to 0 along the run, where Q begins."""

    rate: float
    epsilon: float
    decay: bool
    first: float


RATES, EPSILONS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0), (0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
GRID = [Setting(*each) for each in itertools.product(RATES, EPSILONS, (False, True), (0.0, 1.0))]


@dataclass(frozen=True)
class Place:
    """An environment, its steps, and how often the policy is looked at."""

    name: str
    id: str
    params: dict[str, Any]
    steps: int

    def make(self) -> gymnasium.Env[Any, Any]:
        return gymnasium.make(self.id, disable_env_checker=True, **self.params)

    def truth(self) -> Truth:
        """The table; once for each process."""
        if self.name not in TRUTHS:
            env = self.make()
            TRUTHS[self.name] = Truth(env, (env.spec.max_episode_steps if env.spec else None) or 1 << 60)
        return TRUTHS[self.name]

    @property
    def looks(self) -> list[int]:
        return sorted({int(x) for x in np.geomspace(self.steps / 200, self.steps, 60)})


PLACES = (
    Place("FrozenLake 4x4", "FrozenLake-v1", {}, 20_000),
    Place("FrozenLake 8x8", "FrozenLake-v1", {"map_name": "8x8"}, 100_000),
    Place("Taxi", "Taxi-v4", {}, 60_000),
    Place("CliffWalking", "CliffWalking-v1", {}, 5_000),
)


TRUTHS: dict[str, Truth] = {}


class Truth:
    """The environment's own table, and what policies are worth under it."""

    def __init__(self, env: object, steps_of_episode: int) -> None:
        core: Any = core_of(env)
        self.states, self.actions = int(core.observation_space.n), int(core.action_space.n)
        self.limit = steps_of_episode
        self.goes_on = np.zeros((self.states, self.actions, self.states))
        self.paid = np.zeros((self.states, self.actions))
        self.table = np.zeros((self.states, self.actions, 3, 4))  # outcomes: chance so far, next, reward, end
        self.table[:, :, :, 0] = 2.0
        for s, a in np.ndindex(self.states, self.actions):
            before = 0.0
            for k, (chance, following, reward, over) in enumerate(core.P[s][a]):
                before += chance
                self.table[s, a, k] = (before, following, reward, over)
                self.paid[s, a] += chance * reward
                self.goes_on[s, a, following] += chance * (not over)
            self.table[s, a, k, 0] = 2.0  # the last one takes what rounding leaves
        start = np.asarray(core.initial_state_distrib, dtype=np.float64)
        self.start = start / start.sum()
        value = np.zeros(self.states)
        for _ in range(4000):
            value = (self.paid + GAMMA * self.goes_on @ value).max(axis=1)
        self.best = float(self.start @ value)
        self._rows = sparse.csr_array(self.goes_on.reshape(-1, self.states))

    def share(self, policy: Ints) -> float:
        """1 - (V* - V) / |V*| where episodes begin."""
        rows = np.arange(self.states)
        chain = sparse.eye_array(self.states) - GAMMA * self._rows[rows * self.actions + policy]
        worth = float(self.start @ splu(sparse.csc_matrix(chain)).solve(self.paid[rows, policy]))
        return 1 - (self.best - worth) / abs(self.best)


@njit(cache=True)  # type: ignore[untyped-decorator]
def q_learning(
    table: Floats, start: Floats, limit: int, setting: Setting, looks: Ints, rng: np.random.Generator
) -> Ints:
    """The greedy policies (looks, S) of epsilon-greedy Q-learning, ties drawn, in the world of the table."""
    states, actions = table.shape[0], table.shape[1]
    q = np.full((states, actions), setting.first)
    found = np.zeros((looks.size, states), np.int64)
    state, length, last, k = int(np.searchsorted(start, rng.random() * start[-1])), 0, looks[-1], 0
    for step in range(1, last + 1):
        epsilon = setting.epsilon * ((1.0 - step / last) if setting.decay else 1.0)
        action = int(rng.random() * actions)
        if rng.random() >= epsilon:
            ties = 0
            best = q[state].max()
            for a in range(actions):
                if q[state, a] == best:
                    ties += 1
                    if rng.random() * ties < 1.0:
                        action = a
        u, row, i = rng.random(), table[state, action], 0
        while row[i, 0] <= u:
            i += 1
        following, over = int(row[i, 1]), row[i, 3] > 0
        target = row[i, 2] + (0.0 if over else GAMMA * q[following].max())
        q[state, action] += setting.rate * (target - q[state, action])
        length += 1
        state = following
        if over or length == limit:
            state, length = int(np.searchsorted(start, rng.random() * start[-1])), 0
        if step == looks[k]:
            for s in range(states):
                found[k, s] = np.argmax(q[s])
            k += 1
    return found


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
    truth, where = at.truth(), place(env, None, seed)
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


def learnt_by_q(at: Place, seed: int, setting: Setting) -> list[float]:
    """The shares of Q-learning at the looks."""
    truth = at.truth()
    start, looks, rng = np.cumsum(truth.start), np.array(at.looks), np.random.default_rng(seed)
    return [truth.share(policy) for policy in q_learning(truth.table, start, truth.limit, setting, looks, rng)]


def until(shares: list[float], looks: list[int], level: float) -> float:
    """The first look from which on the policy stays at this level; infinite: none."""
    below = [i for i, share in enumerate(shares) if share < level]
    last = below[-1] + 1 if below else 0
    return float(looks[last]) if last < len(looks) else np.inf


def first(shares: list[float], looks: list[int], level: float) -> float:
    """The first look at which the policy is at this level."""
    return next((float(t) for t, share in zip(looks, shares, strict=True) if share >= level), np.inf)


Measure = Callable[[list[float], list[int], float], float]


def tuned(at: Place, measure: Measure, shares: list[list[float]]) -> Setting:
    """The setting of the fewest steps by this measure, by the median; of equal ones the better one over all looks."""
    ranks = []
    for i, setting in enumerate(GRID):
        own = shares[i * TUNING : (i + 1) * TUNING]
        reached = float(np.median([measure(each, at.looks, 0.9) for each in own]))
        ranks.append((reached, -float(np.clip(own, 0, 1).mean()), setting))
    return min(ranks)[2]


def row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def steps(values: list[float]) -> str:
    """Median and range of numbers of steps."""
    said = ["never" if np.isinf(x) else f"{x:,.0f}" for x in (np.median(values), min(values), max(values))]
    return f"{said[0]} ({said[1]} to {said[2]})"


def lines(places: tuple[Place, ...]) -> Iterator[str]:
    yield "Made by `python benchmarks/explore.py`. Ten seeds each, gamma .99; what the learnt policy is worth under the"
    yield "true table, as 1 - (V* - V) / |V*| where episodes begin. Steps: median, and the least and most. What is"
    yield "reached may be lost again; Q-learning is tuned for each of the two columns by itself, the best of "
    yield f"{len(GRID)} settings."
    yield ""
    yield row(["", "steps", "", "at the end: least, mean", "steps to 90 %", "steps to 90 % for good", "setting"])
    yield "|" + "---|" * 7
    with ProcessPoolExecutor() as pool:
        for at in places:
            own = list(pool.map(explored, [at] * SEEDS, range(SEEDS)))
            yield row([at.name, f"{at.steps:,}", "PAC-RMDP", *_cells(own, at), "the same everywhere"])
            tasks = [(setting, 1000 + seed) for setting in GRID for seed in range(TUNING)]
            seeds, settings = [seed for _, seed in tasks], [setting for setting, _ in tasks]
            tries = list(pool.map(learnt_by_q, [at] * len(tasks), seeds, settings, chunksize=TUNING))
            for words, measure in (("to reach it", first), ("to keep it", until)):
                setting = tuned(at, measure, tries)
                rival = list(pool.map(learnt_by_q, [at] * SEEDS, range(SEEDS), [setting] * SEEDS))
                chance = f"epsilon {setting.epsilon:g}{', falling' * setting.decay}"
                said = f"rate {setting.rate:g}, {chance}, Q from {setting.first:g}"
                yield row(["", "", f"Q-learning, tuned {words}", *_cells(rival, at), said])


def _cells(shares: list[list[float]], at: Place) -> list[str]:
    ends = [each[-1] for each in shares]
    reached = [steps([rule(each, at.looks, 0.9) for each in shares]) for rule in (first, until)]
    return [f"{min(ends):.3f}, {np.mean(ends):.3f}", *reached]


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
