"""The box: a bound on V^{d*}_h, what the model reachable with h more samples that is nearest to the truth is worth.

P^{d*}.u is at most what alpha.u/w and h/w give, h/w shared out from the best outcome downwards, each up to its room
(`robust_rooms`). It is Eq. (1) with less on the best outcome, a monotone contraction, and its fixed point bounds
V^{d*}_h.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled, inlined, inner, merged
from hreach.kernels.robust import Extreme, Rows
from hreach.kernels.robust_solve import TURNS, improve, settle


@inlined
def _best_without(
    rows: Rows, i: int, value: Array, order: NDArray[np.int64], mark: NDArray[np.int64]
) -> tuple[float, int, float]:
    """(u, next state, reward) of the best outcome of pair i that has no entry; u = -inf: there is none."""
    states = order.size
    if rows.rewards.shape[0] == 0:
        for j in order:
            if mark[j] != i:
                return rows.gamma * value[j], j, 0.0
        return -np.inf, 0, 0.0
    best, aim, pay = -np.inf, 0, 0.0
    actions = rows.rewards.shape[1]
    for j in range(states):
        r = rows.rewards[i // actions, i % actions, j]
        if mark[j] != i and r + rows.gamma * value[j] > best:
            best, aim, pay = r + rows.gamma * value[j], j, r
    return best, aim, pay


@inner
def box_pair(
    rows: Rows, i: int, base: float, h: float, prior: float, room: Array, spare: float, value: Array, mean: float,
    order: NDArray[np.int64], mark: NDArray[np.int64], found: Extreme, gap: Array,
) -> None:  # fmt: skip
    """The box's bound on base + P^{d*}.u of pair i, and the row that attains it.

    order (S,): states, the best value first; mark (S,): scratch. mean: that of all values. What finds no room, which
    happens outside the event only, goes to the best outcome: the bound is never above Eq. (1).
    """
    states, actions = order.size, rows.total.size // order.size
    first, end, weight = rows.first[i], rows.first[i + 1], rows.total[i] + prior + h
    share = 1.0 / weight if weight > 0.0 else 0.0
    flat = prior * share if weight > 0.0 else 1.0
    paid, future = base, flat * mean
    if rows.rewards.shape[0] > 0:
        for j in range(states):
            paid += flat / states * rows.rewards[i // actions, i % actions, j]
    for k in range(first, end):
        mark[rows.following[k]] = i
        gap[k] = rows.pays[k] + rows.gamma * value[rows.following[k]]
        found.model[k] = share * rows.seen[k]
        paid += found.model[k] * rows.pays[k]
        future += found.model[k] * value[rows.following[k]]
    other, aim, pay = _best_without(rows, i, value, order, mark)
    found.rest[i], found.aim[i], found.flat[i] = 0.0, aim, flat
    left, top = h * share, -1
    while left > 0.0:
        best, u = -1, other if spare > 0.0 else -np.inf
        for k in range(first, end):
            if gap[k] > u:
                best, u = k, gap[k]
        if u == -np.inf:
            break
        given = min(left, spare if best < 0 else room[best])
        if best < 0:
            found.rest[i], spare = given, 0.0
            paid += given * pay
            future += given * value[aim]
        else:
            top = best if top < 0 else top
            found.model[best] += given
            paid += given * rows.pays[best]
            future += given * value[rows.following[best]]
            gap[best] = -np.inf
        left -= given
    if left > 0.0 and (
        top < 0 or (other > -np.inf and other > rows.pays[top] + rows.gamma * value[rows.following[top]])
    ):
        found.rest[i] += left
        paid += left * pay
        future += left * value[aim]
    elif left > 0.0:
        found.model[top] += left
        paid += left * rows.pays[top]
        future += left * value[rows.following[top]]
    found.paid[i] = paid
    found.q[i] = paid + rows.gamma * future


@merged
def _sort(value: Array, order: NDArray[np.int64]) -> None:
    """The best value first, by insertion: from turn to turn little changes."""
    for i in range(1, order.size):
        j, k = order[i], i
        while k > 0 and value[order[k - 1]] < value[j]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = j


@inner
def box_backup(
    rows: Rows, base: Array, h: float, prior: float, room: Array, spare: Array, value: Array,
    order: NDArray[np.int64], mark: NDArray[np.int64], found: Extreme, gap: Array,
) -> None:  # fmt: skip
    """`found` <- the box's backup of value (S + 1,) of all pairs; of closed states nothing."""
    states = order.size
    actions = rows.total.size // states
    _sort(value, order)
    mean, everything = 0.0, rows.copies.sum()
    for j in range(states):
        mean += rows.copies[j] * value[j] / everything
        mark[j] = -1
    for i in range(rows.total.size):
        if not rows.closed[i // actions]:
            box_pair(rows, i, base[i], h, prior, room, spare[i], value, mean, order, mark, found, gap)


@compiled
def box_fixed_point(
    rows: Rows, base: Array, h: float, prior: float, room: Array, spare: Array, policy: NDArray[np.int64],
    order: NDArray[np.int64], mark: NDArray[np.int64], value: Array, found: Extreme, gap: Array, matrix: Array,
    tolerance: float,
) -> None:  # fmt: skip
    """value (S + 1,) <- a bound from above on the fixed point of the box, by policy iteration from value on: certified.

    policy (S,) is where to begin, and is what was chosen; order (S,) any order of the states; mark (S,): scratch
    """
    states = rows.closed.size
    actions = rows.total.size // states
    above = 0.0
    for _ in range(TURNS):
        box_backup(rows, base, h, prior, room, spare, value, order, mark, found, gap)
        improve(rows, found, policy, 0.0)
        above = off = 0.0
        for s in range(states):
            if not rows.closed[s]:
                change = found.q[s * actions + policy[s]] - value[s]
                above, off = max(above, change), max(off, abs(change))
        if off <= tolerance:
            break
        settle(rows, policy, found, value, 0.01 * max(off, tolerance), matrix)
    for s in range(states):
        if not rows.closed[s]:
            value[s] = found.q[s * actions + policy[s]] + rows.gamma / (1.0 - rows.gamma) * above
