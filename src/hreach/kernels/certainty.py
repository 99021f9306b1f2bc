"""The value without optimism, V_{h=0}, straight from the counts, and set beside V~: for exploration gaps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled, inlined, inner
from hreach.compiling.pointers import flags_at, floats_at
from hreach.kernels.solve import eliminate
from hreach.kernels.state import FINEST


@inlined
def _expected(counts: Array, s: int, a: int, weight: float, values: Array) -> float:
    """sum_s' p(s') values(s') by four sums, p the mean model of (s, a), which is uniform where nothing was seen."""
    states = values.size
    whole = states // 4 * 4
    e0 = e1 = e2 = e3 = 0.0
    if weight > 0.0:
        for j in range(0, whole, 4):
            e0 += counts[s, a, j] * values[j]
            e1 += counts[s, a, j + 1] * values[j + 1]
            e2 += counts[s, a, j + 2] * values[j + 2]
            e3 += counts[s, a, j + 3] * values[j + 3]
        for j in range(whole, states):
            e0 += counts[s, a, j] * values[j]
        return ((e0 + e1) + (e2 + e3)) / weight
    for j in range(states):
        e0 += values[j]
    return e0 / states


@inlined
def _backup(
    s: int, a: int, counts: Array, ended: Array, total: Array, reward_sum: Array, reward: Array, middle: float,
    gamma: float, value: Array, ends: bool,
) -> float:  # fmt: skip
    """R(s, a) + gamma sum_s' p(s') value(s'), straight from the counts: there is no model to keep up to date."""
    weight = total[s, a]
    if reward.shape[0] == 0:
        paid = reward_sum[s, a] / weight if weight > 0.0 else middle
    elif reward.shape[2] == 1:
        paid = reward[s, a, 0]
    else:
        paid = _expected(counts, s, a, weight, reward[s, a])
    future = _expected(counts, s, a, weight, value)
    if ends and weight > 0.0:
        lost = 0.0
        for j in range(value.size):
            lost += ended[s, a, j] * value[j]
        future -= lost / weight
    return paid + gamma * future


@inlined
def _sweep(
    counts: Array, ended: Array, total: Array, reward_sum: Array, terminal: NDArray[np.bool_], reward: Array,
    middle: float, gamma: float, value: Array, matrix: Array, ends: bool,
) -> float:  # fmt: skip
    """The last column of `matrix` <- T value, the best backup of each state; returns max |T value - value|."""
    states, actions = total.shape
    residual = 0.0
    for s in range(states):
        best = 0.0 if terminal[s] else -np.inf
        if not terminal[s]:
            for a in range(actions):
                q = _backup(s, a, counts, ended, total, reward_sum, reward, middle, gamma, value, ends)
                best = max(best, q)
        matrix[s, states] = best
        residual = max(residual, abs(best - value[s]))
    return residual


@compiled
def _solve(
    counts: Array, ended: Array, total: Array, reward_sum: Array, terminal: NDArray[np.bool_], reward: Array,
    middle: float, gamma: float, value: Array, matrix: Array, ends: bool,
) -> None:  # fmt: skip
    """value <- that of the policy that is greedy under it; the last column of `matrix` is T value."""
    states, actions = total.shape
    for s in range(states):
        for j in range(states):
            matrix[s, j] = 0.0
        matrix[s, s] = 1.0
        if terminal[s]:
            continue
        a = 0
        best = -np.inf
        for other in range(actions):
            q = _backup(s, other, counts, ended, total, reward_sum, reward, middle, gamma, value, ends)
            if q > best:
                a, best = other, q
        weight = total[s, a]
        for j in range(states):
            p = (counts[s, a, j] - ended[s, a, j]) / weight if weight > 0.0 else 1.0 / states
            matrix[s, j] -= gamma * p
            matrix[s, states] -= gamma * p * value[j]
    eliminate(matrix, value)


@inner
def _sharpen(
    counts: Array, ended: Array, total: Array, reward_sum: Array, terminal: NDArray[np.bool_], reward: Array,
    middle: float, gamma: float, tolerance: float, value: Array, matrix: Array, residual: float, ends: bool,
) -> float:  # fmt: skip
    """Sweep and solve as `hreach.kernels.planning` does, until the residual is small; returns it."""
    states, actions = total.shape
    unpaid = 0
    solving = True
    while True:
        unpaid += 3 * actions
        solved = solving and unpaid >= states
        before = residual
        if solved:
            unpaid = 0
            _solve(counts, ended, total, reward_sum, terminal, reward, middle, gamma, value, matrix, ends)
        else:
            for s in range(states):
                value[s] = matrix[s, states]
        residual = _sweep(counts, ended, total, reward_sum, terminal, reward, middle, gamma, value, matrix, ends)
        largest = 0.0
        for s in range(states):
            largest = max(largest, abs(matrix[s, states]))
        if residual <= tolerance or residual <= FINEST * largest or (not solved and residual >= before):
            return residual
        solving = solving and not (solved and residual >= before)  # no nearer: all that is left is rounding


@compiled
def compare(
    counts: Array, ended: Array, total: Array, reward_sum: Array, terminal: NDArray[np.bool_], samples: Array,
    internal: Array, reward: Array, value: Array, matrix: Array, known: Array, residual: float, ends: bool, s: int
) -> tuple[int, int, float, float, float]:  # fmt: skip
    """Bring `value`, V_{h=0}, up to date and set it beside V~: (samples, s, V~(s), V_{h=0}(s), accuracy of their gap).

    internal, residual  V~, (S,), and its residual
    matrix            (S, S + 1), workspace
    known             (6,) of how many samples and closed states `value` is, its own residual, as that of `plan`, the
                      tolerance, gamma, and the reward of a pair that was never tried, where rewards are learnt
    s                 a state, or -1: the first one of those in which V~ and V_{h=0} are furthest apart
    """
    states = value.size
    tolerance, gamma, middle = known[3], known[4], known[5]
    closed = 0
    for state in range(states):
        closed += terminal[state]
    if samples[0] != known[0] or closed != known[1]:
        own = _sweep(counts, ended, total, reward_sum, terminal, reward, middle, gamma, value, matrix, ends)
        if own > tolerance:
            own = _sharpen(
                counts, ended, total, reward_sum, terminal, reward, middle, gamma, tolerance, value, matrix, own, ends
            )  # fmt: skip
        for state in range(states):
            value[state] = matrix[state, states]
        known[0], known[1], known[2] = samples[0], closed, own
    if s < 0:
        s = 0
        for state in range(1, states):
            if abs(internal[state] - value[state]) > abs(internal[s] - value[s]):
                s = state
    return int(samples[0]), s, internal[s], value[s], gamma / (1.0 - gamma) * (residual + known[2])


@compiled
def compare_at(where: NDArray[np.int64], residual: float, ends: bool, s: int) -> tuple[int, int, float, float, float]:
    """`compare` of the arrays at these addresses, (15,): a gap at every step would hand over eleven arrays each time.

    where   the addresses of its arrays in their order, then (S, A) and the sizes of `reward` but the first one's
    """
    states, actions, pairs, outcomes = where[11], where[12], where[13], where[14]
    table = (states, actions, states)
    return compare(
        floats_at(where[0], table),
        floats_at(where[1], table),
        floats_at(where[2], (states, actions)),
        floats_at(where[3], (states, actions)),
        flags_at(where[4], (states,)),
        floats_at(where[5], (1,)),
        floats_at(where[6], (states,)),
        floats_at(where[7], (states if pairs else 0, pairs, outcomes)),
        floats_at(where[8], (states,)),
        floats_at(where[9], (states, states + 1)),
        floats_at(where[10], (6,)),
        residual, ends, s,
    )  # fmt: skip
