"""Microseconds per step of PAC-RMDP(h) with a local plan, inside the compiled loop, on slippery grids.

python benchmarks/local.py SIDE [SIDE ...]
"""

from __future__ import annotations

import sys
import time

import numpy as np

from hreach.compiling import compile_formula
from hreach.kernels.local_run import walk_local
from hreach.kernels.local_state import EDGES, KNOWN
from hreach.kernels.state import World
from hreach.models.sparse_counts import SparseCounts
from hreach.optimism.pac_rmdp import build
from hreach.planners.local import Local
from hreach.problems.problem import Problem
from hreach.randomness.streams import agent_stream


def grid(side: int) -> tuple[World, np.ndarray]:
    """A square without inner walls: 4 moves, each slips to either side with probability .1; one state pays 1."""
    y, x = np.divmod(np.arange(side * side), side)
    moves = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    to = [np.clip(y + dy, 0, side - 1) * side + np.clip(x + dx, 0, side - 1) for dy, dx in moves]
    following = np.stack([np.stack([to[a], to[(a + 1) % 4], to[(a + 3) % 4]], axis=1) for a in range(4)], axis=1)
    pairs = side * side * 4
    reward = np.zeros((side * side, 4))
    reward[side * side // 2 + side // 2] = 1.0
    return World(
        first=np.arange(0, 3 * pairs + 1, 3),
        next_state=following.reshape(-1).astype(np.int64),
        cumulative=np.tile([0.8, 0.9, 1.0], pairs),
        reward=np.repeat(reward.reshape(-1), 3),
        end=np.zeros(3 * pairs),
        start=np.ones(side * side),
    ), reward


def recomputed(model: SparseCounts, planner: Local, h: float) -> float:
    """max |TV - V| over the states that were met, from the counts alone, by plain NumPy."""
    planner.plan()
    arena, known = model.arena, int(model.arena.size[KNOWN])
    edge, met = arena.edge[: arena.size[EDGES]], model.met
    _, stored = planner.stored_value()
    value = planner.internal_value()
    value[met] = stored
    n = np.bincount(edge[:, 0], weights=edge[:, 2], minlength=4 * known)
    future = np.bincount(edge[:, 0], weights=edge[:, 2] * stored[edge[:, 1]], minlength=4 * known)
    reward = planner.rule.reward[met].reshape(-1)
    q = reward + planner.rule.gamma * (future + h * value.max()) / (n + h)
    return float(np.abs(q.reshape(known, 4).max(axis=1) - stored).max())


def measured(side: int, h: float, gamma: float, steps_per_state: int = 20) -> str:
    world, reward = grid(side)
    problem = Problem(side * side, 4, gamma, reward[:, :, None], 1.0, 0.0)
    optimism = build(problem, h=h)
    model = SparseCounts(problem)
    planner = Local(model, optimism, agent_stream(1), tolerance=0.01 / (1 - gamma))
    formula, environment, paid = compile_formula(optimism.formula).address, agent_stream(2), np.zeros(1)
    steps, state, done, spent, pieces = steps_per_state * side * side, 0, 0, 0.0, []
    while done < steps:
        model.make_room()
        planner._grow()
        begun = time.perf_counter()
        more, state = walk_local(
            formula, planner.rule, model.freeze_at, model.arena, planner.lines, world, environment,
            planner.stream, state, min(steps - done, 100), paid,
        )  # fmt: skip
        pieces.append((time.perf_counter() - begun) / max(more, 1))
        spent += pieces[-1] * more if done else 0.0
        done += more
    known, edges = int(model.arena.size[KNOWN]), int(model.arena.size[EDGES])
    tried = int((model.arena.tally[:, 0] > 0).sum())
    held = known * (12 + 40 + 32 + 4 + 4 * (8 + 24)) + edges * 4 * model.arena.edge.shape[1]
    worst = 1e6 * np.quantile(pieces[1:], 0.999)
    share, off = tried / (4 * side * side), recomputed(model, planner, h) / planner.rule.tolerance
    first = f"| {side * side} | {h:g} | {gamma} | {1e6 * spent / steps:.2f} | {worst:.0f} | {held / max(tried, 1):.0f} "
    return f"{first}| {share:.2f} | {off:.3f} |"


def main() -> None:
    print(
        "| states | h | gamma | us per step | 99.9 % of means of 100 steps | bytes per tried pair "
        "| pairs tried | residual / tolerance |\n" + "|---" * 8 + "|"
    )
    for side in map(int, sys.argv[1:]):
        for h in (1.0, 8.0):
            for gamma in (0.95, 0.99):
                print(measured(side, h, gamma), flush=True)


if __name__ == "__main__":
    main()
