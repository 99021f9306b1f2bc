"""Planning: sweeps, and a solve when they have cost as much as one would, until the residual is small."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled, inlined
from hreach.kernels.backup import sweep
from hreach.kernels.solve import eliminate, greedy_model
from hreach.kernels.state import FINEST, PIECE, Belief, Rule


@compiled
def any_ball(radius: Array) -> bool:
    """Whether some pair's model may be moved within a ball."""
    for i in range(radius.size):  # noqa: SIM110 (compiled: a generator would not be)
        if radius[i] > 0.0:
            return True
    return False


@compiled
def _improve(
    mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array, reward: Array, gamma: float,
    cap: float, tolerance: float, value: Array, q: Array, target: Array, order: NDArray[np.int64], matrix: Array,
    actions: int, balls: bool, ends: bool, residual: float,
) -> tuple[int, float, bool]:  # fmt: skip
    """Sweep and solve until the residual is small, from a sweep that left it too large: (sweeps, residual, finished).

    A plain sweep leaves at most gamma times the residual. Where it does not lower it, what is left is rounding, and no
    work would help: that is the end as well. So is, for now, a piece of work that has become long (False).
    """
    states = value.size
    sweeps = 1
    longest = max(64, PIECE // (actions * states * states))
    unpaid = 0
    solving = True
    while True:
        unpaid += 3 * actions
        solved = solving and unpaid >= states
        before = residual
        if solved:
            unpaid = 0
            for s in range(states):
                value[s] = target[s]
            greedy_model(
                mean, gone, parting, reach, base, radius, reward, gamma, cap,
                value, q, target, order, matrix, actions, ends,
            )  # fmt: skip
            eliminate(matrix, value)
        residual = sweep(
            mean, gone, parting, reach, base, radius, reward, gamma, cap, value, q, target, order, actions, balls, ends
        )  # fmt: skip
        sweeps += 1
        largest = 0.0
        for s in range(states):
            largest = max(largest, abs(value[s]))
        if residual <= tolerance or residual <= FINEST * largest or (not solved and residual >= before):
            return sweeps, residual, True
        if sweeps >= longest:
            return sweeps, residual, False
        # Under a cap T is not convex and a solve may not help; plain sweeps always do.
        solving = solving and not (solved and residual >= before)


@inlined
def plan_arrays(
    mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array, reward: Array, gamma: float,
    cap: float, tolerance: float, value: Array, q: Array, target: Array, order: NDArray[np.int64], matrix: Array,
    actions: int, balls: bool, ends: bool,
) -> tuple[int, float, bool]:  # fmt: skip
    """`plan` on plain arrays: after one more sample, a single sweep is mostly all it takes."""
    sweeps = 1
    finished = True
    residual = sweep(
        mean, gone, parting, reach, base, radius, reward, gamma, cap, value, q, target, order, actions, balls, ends
    )  # fmt: skip
    if residual > tolerance:
        sweeps, residual, finished = _improve(
            mean, gone, parting, reach, base, radius, reward, gamma, cap, tolerance,
            value, q, target, order, matrix, actions, balls, ends, residual,
        )  # fmt: skip
    return sweeps, residual, finished


@compiled
def plan(rule: Rule, belief: Belief) -> tuple[int, float, bool]:
    """Bring `value` and `q` up to date with the model: (sweeps, residual, finished); to be called until finished.

    q is the backup of a value V with max |TV - V| <= residual, and `value` is TV, so
    |value - V~| <= gamma residual / (1 - gamma). When it is finished the residual is at most the tolerance, unless
    that is finer than doubles can hold.
    """
    b = belief
    return plan_arrays(
        b.mean, b.gone, b.parting, b.reach, b.base, b.radius, rule.reward, rule.gamma, rule.value_cap, rule.tolerance,
        b.value, b.q, b.target, b.order, b.matrix, b.total.shape[1], any_ball(b.radius), rule.ends,
    )  # fmt: skip
