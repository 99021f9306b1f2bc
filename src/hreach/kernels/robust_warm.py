"""Values over confidence sets after one more sample: from the last ones on, and only what can have changed.

A backup q of a pair was made of a value that has since moved by at most d: now it is at most q + gamma d. A pair that
is below the chosen one by that reckoning stays below it, and is not looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled
from hreach.kernels.robust import Extreme, Rows, backup_pair, highest
from hreach.kernels.robust_solve import TURNS, settle


@compiled
def follow(
    rows: Rows, base: Array, budget: Array, sign: float, choosing: bool, policy: NDArray[np.int64], value: Array,
    found: Extreme, stamp: Array, drift: Array, before: Array, gap: Array, matrix: Array, tolerance: float,
) -> float:  # fmt: skip
    """value <- nearly the fixed point, and `found.q` its backup; returns by how much that is on the wrong side at most.

    choosing   whether the best action is chosen with the row (sign 1: U); else the policy stays (L^pi)
    drift      (1,) how far values have moved in all
    stamp      (N,) what `drift` was when a pair was looked at; -inf: look again
    before     (S + 1,) scratch
    """
    states = rows.closed.size
    actions = rows.total.size // states
    worst = 0.0
    for _ in range(TURNS):
        best = highest(value, sign, states, rows.ends)
        worst = off = 0.0
        for s in range(states):
            before[s] = value[s]
            if rows.closed[s]:
                continue
            own = s * actions + policy[s]
            backup_pair(rows, own, base[own], budget[own], sign, 1.0, value, best, found, gap)
            stamp[own] = drift[0]
            for i in range(s * actions, (s + 1) * actions if choosing else s * actions):
                if i != own and found.q[i] + rows.gamma * (drift[0] - stamp[i]) > found.q[own]:
                    backup_pair(rows, i, base[i], budget[i], sign, 1.0, value, best, found, gap)
                    stamp[i] = drift[0]
                    if found.q[i] > found.q[own]:
                        own = i
            policy[s] = own - s * actions
            change = found.q[own] - value[s]
            worst, off = max(worst, sign * change), max(off, abs(change))
        if off <= tolerance:
            break
        settle(rows, policy, found, value, 0.02 * max(off, tolerance), matrix)
        moved = 0.0
        for s in range(states):
            moved = max(moved, abs(value[s] - before[s]))
        drift[0] += moved
    return rows.gamma * worst / (1.0 - rows.gamma)
