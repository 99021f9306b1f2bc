"""Random runs of agents with a local plan, stopped at random: no residual, recomputed from the counts alone, may be
above what was claimed, nor that above the tolerance.

Garnets with and without ends, gamma .9 to .995, h 0 to 64 or growing, learnt rewards, caps, known next states,
tolerances from a tenth to a ten-millionth of the range of values.

python benchmarks/local_residuals.py RUNS
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import hreach
from hreach.domains.tabular import TabularEnv
from hreach.problems.mdp import TabularMDP
from hreach.testing.reference.sparse_residual import residual_of

ROUNDING = 1e-12  # of the range of values: two ways to add the same numbers
H = (0, 1, 2, 3, 4, 8, 16, 64)


def garnet(draw: np.random.Generator, gamma: float) -> TabularMDP:
    """Random rows of a few successors, rewards of both signs; in some, episodes end."""
    states, actions, branching = int(draw.integers(4, 40)), int(draw.integers(1, 5)), int(draw.integers(1, 4))
    P = np.zeros((states, actions, states))
    for row in P.reshape(-1, states):
        row[draw.choice(states, branching, replace=False)] = draw.dirichlet(np.ones(branching))
    end = (draw.random((states, actions)) < 0.1) * 0.5 if draw.random() < 0.5 else None
    return TabularMDP(P, draw.uniform(-1, 1, (states, actions)), gamma, end=end)


def random_agent(draw: np.random.Generator, seed: int) -> tuple[Any, Any]:
    """An environment and an agent for it."""
    gamma = 1 - 0.1 * 0.05 ** draw.random()  # .9 to .995
    mdp = garnet(draw, gamma)
    own: list[tuple[str, dict[str, Any]]] = [
        ("pac-rmdp", {"h": int(draw.choice(H))}),
        ("bolt", {"eta": float(draw.integers(1, 9))}),
        ("greedy", {}),
        ("beb", {"beta": 1.0}),
        ("mbie-eb", {"beta": 1.0}),
        ("vbe", {"beta": 1.0}),
        ("r-max", {"m": int(draw.integers(1, 6))}),
    ]
    name, params = own[int(draw.choice(7, p=[0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]))]
    if name == "pac-rmdp" and draw.random() < 0.1:
        params = {"h": "growing"}
    if draw.random() < 0.3:
        params |= {"reward": "learn", "r_max": 1.0, "r_min": -1.0}
    if draw.random() < 0.25:
        params |= {"successors": "known"}
    if name not in ("greedy", "beb") and params.get("h") != 0 and draw.random() < 0.2:
        params |= {"value_cap": float(draw.uniform(0.1, 1.0)) * mdp.values.high}
    tolerance = mdp.values.span * 10 ** -draw.uniform(1, 7)
    env = TabularEnv(mdp, None if "reward" in params else mdp.reward_table())
    return env, hreach.make_agent(name, env, seed=seed, model="sparse-counts", tolerance=tolerance, **params)


def worst_of(seed: int) -> tuple[float, float]:
    """(recomputed / claimed, claimed / tolerance), the worst of the stops of one run."""
    draw = np.random.default_rng(seed)
    env, agent = random_agent(draw, seed)
    beyond = claimed = 0.0
    for stop in range(int(draw.integers(1, 4))):
        hreach.run(env, agent, int(draw.integers(1, 150)), seed=seed + stop)
        agent.plan()
        beyond = max(beyond, (residual_of(agent) - ROUNDING * agent.model.problem.values.span) / agent.planner.residual)
        claimed = max(claimed, agent.planner.residual / agent.planner.rule.tolerance)
    return beyond, claimed


def main() -> None:
    runs = int(sys.argv[1])
    found = np.array([worst_of(seed) for seed in range(runs)])
    above = int((found > 1 + 1e-9).any(axis=1).sum())
    print(f"{runs} runs: recomputed / claimed at most {found[:, 0].max():.4f}, claimed / tolerance at most ", end="")
    print(f"{found[:, 1].max():.4f}, above in {above}")
    sys.exit(above > 0)


if __name__ == "__main__":
    main()
