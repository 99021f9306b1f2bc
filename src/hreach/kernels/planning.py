"""Planning: sweeps, and a solve when they have cost as much as one would, until the residual is small."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, inlined, inner
from hreach.kernels.backup import sweep
from hreach.kernels.solve import eliminate, greedy_model
from hreach.kernels.state import FINEST, PIECE


@inner
def any_ball(radius: Array) -> bool:
    """Whether some pair's model may be moved within a ball."""
    for i in range(radius.size):  # noqa: SIM110 (compiled: a generator would not be)
        if radius[i] > 0.0:
            return True
    return False


@inlined
def plan_arrays(
    mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array, reward: Array, gamma: float,
    cap: float, tolerance: float, value: Array, q: Array, target: Array, order: NDArray[np.int64], matrix: Array,
    actions: int, balls: bool, ends: bool,
) -> tuple[int, float, bool]:  # fmt: skip
    """`plan` on arrays: after one more sample, a single sweep is mostly all it takes.

    A sweep leaves at most gamma times the residual. Where it does not lower it, what is left is rounding, and no
    work would help: that is the end as well. So is, for now, a piece of work that has become long (False).
    """
    states = value.size
    sweeps = 0
    unpaid = 0
    solving = True
    solved = False
    before = np.inf
    while True:
        residual = sweep(
            mean, gone, parting, reach, base, radius, reward, gamma, cap, value, q, target, order, actions, balls, ends
        )  # fmt: skip
        sweeps += 1
        if residual <= tolerance:
            return sweeps, residual, True
        if sweeps > 1:
            largest = 0.0
            for s in range(states):
                largest = max(largest, abs(value[s]))
            if residual <= FINEST * largest or (not solved and residual >= before):
                return sweeps, residual, True
            if sweeps >= max(64, PIECE // (actions * states * states)):
                return sweeps, residual, False
            # Under a cap T is not convex and a solve may not help; sweeps always do.
            solving = solving and not (solved and residual >= before)
        before = residual
        unpaid += 3 * actions
        solved = solving and unpaid >= states
        if solved:
            unpaid = 0
            for s in range(states):
                value[s] = target[s]
            greedy_model(
                mean, gone, parting, reach, base, radius, reward, gamma, cap,
                value, q, target, order, matrix, actions, ends,
            )  # fmt: skip
            eliminate(matrix, value)
