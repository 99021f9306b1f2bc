"""Sweeps over some states of a large MDP: V <- max_a r + gamma P V, or under one policy.

Row s A + a owns the entries first[s A + a] .. first[s A + a + 1] - 1 of `following` and `weight`. Every state reads
`value` and writes `result`, so it does not matter which thread has which states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, at, compiled


@compiled
def improve(
    first: NDArray[np.int64], following: NDArray[np.int64], weight: Array, reward: Array, gamma: float, value: Array,
    result: Array, policy: NDArray[np.int64], change: Array, begin: int, end: int,
) -> None:  # fmt: skip
    """TV and the first best action of the states begin .. end - 1; change: least and largest TV - V, largest |V|.

    reward: (S, A); value, result, policy: (S,)."""
    actions = reward.shape[1]
    least, most, size = np.inf, -np.inf, 0.0
    for s in range(begin, end):
        best, chosen = -np.inf, 0
        for a in range(actions):
            total = 0.0
            for k in range(first[at(s * actions + a)], first[at(s * actions + a + 1)]):
                total += weight[at(k)] * value[at(following[at(k)])]
            q = reward[at(s), at(a)] + gamma * total
            if q > best:
                best, chosen = q, a
        result[at(s)] = best
        policy[at(s)] = chosen
        d = best - value[at(s)]
        least, most, size = min(least, d), max(most, d), max(size, abs(value[at(s)]))
    change[0], change[1], change[2] = least, most, size


@compiled
def evaluate(
    first: NDArray[np.int64], following: NDArray[np.int64], weight: Array, reward: Array, gamma: float, value: Array,
    result: Array, policy: NDArray[np.int64], change: Array, begin: int, end: int,
) -> None:  # fmt: skip
    """`improve` with the actions of `policy`."""
    actions = reward.shape[1]
    least, most, size = np.inf, -np.inf, 0.0
    for s in range(begin, end):
        pair = s * actions + policy[at(s)]
        total = 0.0
        for k in range(first[at(pair)], first[at(pair + 1)]):
            total += weight[at(k)] * value[at(following[at(k)])]
        result[at(s)] = reward[at(s), at(policy[at(s)])] + gamma * total
        d = result[at(s)] - value[at(s)]
        least, most, size = min(least, d), max(most, d), max(size, abs(value[at(s)]))
    change[0], change[1], change[2] = least, most, size
