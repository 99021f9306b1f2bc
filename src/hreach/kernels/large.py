"""Sweeps over some states of a large MDP: V <- max_a r + gamma P V, or under one policy.

Row s A + a owns the entries first[s A + a] .. first[s A + a + 1] - 1 of `following` and `weight`. Every state reads
`value` and writes `result`, so it does not matter which thread has which states. Values and weights have 8 or 4 bytes;
sums are made in 8.

The rows of the policy lie packed beside it (`Packed`), in the order of the states: sweeps under one policy read a part
of memory only, and in one direction. An improvement need not look at other actions that cannot be better: backups of at
most q are now at most q + gamma rho d, d the most by which a value has risen since.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, at, compiled


class Large(NamedTuple):
    """The rows of an MDP in CSR form, weights in 8 or 4 bytes, reward (S, A)."""

    first: NDArray[np.int64]
    following: NDArray[np.int64]
    weight: Array | NDArray[np.float32]
    reward: Array
    gamma: float


class Packed(NamedTuple):
    """The policy (S,), its rows, and bounds on all pairs.

    begin      (S + 1,) state s owns the entries begin[s] .. begin[s + 1] - 1, room for the longest row of s; what a row
               does not need has the weight 0
    following, weight   of these entries; paid: (S,) the policy's reward
    most       (S,) the best backup of the other actions, when it was last looked at, less gamma rho times the rise of
               values until then
    """

    policy: NDArray[np.int64]
    begin: NDArray[np.int64]
    following: NDArray[np.int64]
    weight: Array | NDArray[np.float32]
    paid: Array
    most: Array


@compiled
def improve(
    rows: Large, own: Packed, risen: float, lazy: bool, value: Array, result: Array, change: Array, begin: int, end: int
) -> None:  # fmt: skip
    """TV of the states begin .. end - 1 and the first best action.

    risen: gamma rho times the rise of values so far, with room for rounding
    lazy: whether to try the policy's action first, and no others where these cannot be better
    change: least and largest TV - V, largest |V|, in how many states the policy's action was enough
    """
    actions = rows.reward.shape[1]
    least, most, size, enough = np.inf, -np.inf, 0.0, 0
    for s in range(begin, end):
        best, chosen, skipped = -np.inf, own.policy[at(s)], False
        if lazy:
            total = 0.0
            for k in range(own.begin[at(s)], own.begin[at(s + 1)]):
                total += own.weight[at(k)] * value[at(own.following[at(k)])]
            best = own.paid[at(s)] + rows.gamma * total
            skipped = own.most[at(s)] + risen < best
        if not skipped:
            before, second = chosen, -np.inf
            best = -np.inf
            for a in range(actions):
                total = 0.0
                for k in range(rows.first[at(s * actions + a)], rows.first[at(s * actions + a + 1)]):
                    total += rows.weight[at(k)] * value[at(rows.following[at(k)])]
                q = rows.reward[at(s), at(a)] + rows.gamma * total
                if q > best:
                    second, best, chosen = best, q, a
                else:
                    second = max(second, q)
            skipped = own.most[at(s)] + risen < best
            own.most[at(s)] = second - risen
            if chosen != before:
                own.policy[at(s)] = chosen
                pack(rows, own, s, chosen)
        enough += skipped
        result[at(s)] = best
        d = best - value[at(s)]
        least, most, size = min(least, d), max(most, d), max(size, abs(value[at(s)]))
    change[0], change[1], change[2], change[3] = least, most, size, enough


@compiled
def pack(rows: Large, own: Packed, s: int, action: int) -> None:
    """Copy the row of a pair to where the policy's row of its state is."""
    pair, place = s * rows.reward.shape[1] + action, own.begin[at(s)]
    for k in range(rows.first[at(pair)], rows.first[at(pair + 1)]):
        own.following[at(place)] = rows.following[at(k)]
        own.weight[at(place)] = rows.weight[at(k)]
        place += 1
    for rest in range(place, own.begin[at(s + 1)]):
        own.following[at(rest)] = s
        own.weight[at(rest)] = 0.0
    own.paid[at(s)] = rows.reward[at(s), at(action)]


@compiled
def begin_with(rows: Large, own: Packed, value: Array, begin: int, end: int) -> None:
    """What pays most at once is what the states begin .. end - 1 are worth; there is no policy yet."""
    actions = rows.reward.shape[1]
    for s in range(begin, end):
        best = -np.inf
        for a in range(actions):
            best = max(best, rows.reward[at(s), at(a)])
        value[at(s)] = best
        own.policy[at(s)] = -1
        own.most[at(s)] = np.inf


@compiled
def evaluate(gamma: float, own: Packed, value: Array, result: Array, change: Array, begin: int, end: int) -> None:
    """`improve` with the actions of the policy."""
    least, most, size = np.inf, -np.inf, 0.0
    for s in range(begin, end):
        total = 0.0
        for k in range(own.begin[at(s)], own.begin[at(s + 1)]):
            total += own.weight[at(k)] * value[at(own.following[at(k)])]
        new = own.paid[at(s)] + gamma * total
        result[at(s)] = new
        d = new - value[at(s)]
        least, most, size = min(least, d), max(most, d), max(size, abs(value[at(s)]))
    change[0], change[1], change[2] = least, most, size


@compiled
def room(first: NDArray[np.int64], actions: int, begin: NDArray[np.int64]) -> None:
    """`Packed.begin`, (S + 1,): the longest row of each state."""
    begin[0] = 0
    for s in range(begin.size - 1):
        longest = 0
        for i in range(s * actions, (s + 1) * actions):
            longest = max(longest, first[at(i + 1)] - first[at(i)])
        begin[at(s + 1)] = begin[at(s)] + longest


@compiled
def moved(value: Array, before: Array, change: Array, begin: int, end: int) -> None:
    """change: the largest value - before, the largest |value|, of the states begin .. end - 1."""
    most, size = -np.inf, 0.0
    for s in range(begin, end):
        most = max(most, float(value[at(s)]) - float(before[at(s)]))
        size = max(size, float(abs(value[at(s)])))
    change[1], change[2] = most, size
