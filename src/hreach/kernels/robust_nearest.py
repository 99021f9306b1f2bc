"""How much the best model that h more samples could show is worth at most: U^d_h over confidence sets.

Two bounds on each pair, and the smaller one counts: the box (`robust_box`), and the best row of the set together with
the share of P^{d*} that may lie outside of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled
from hreach.kernels.robust import Extreme, Rows, highest
from hreach.kernels.robust_box import box_backup
from hreach.kernels.robust_solve import backup


@compiled
def nearest_bound(
    rows: Rows, base: Array, budget: Array, h: float, prior: float, room: Array, spare: Array, spread: Array,
    least: float, everything: NDArray[np.int64], order: NDArray[np.int64], mark: NDArray[np.int64], value: Array,
    found: Extreme, other: Extreme, gap: Array, turns: int, tolerance: float,
) -> None:  # fmt: skip
    """value (S + 1,) <- U^d_h <= value, from a bound on V^{d*}_h from above in it.

        U^d(s) = max_a min [box,  max over the rows of p.u + rho (max u - min u)],   u = R + gamma U^d

    spread   (N,) rho; least: the lowest u there is. Every turn gives a bound: turns go on while they gain.
    """
    states = rows.closed.size
    actions = rows.total.size // states
    for _ in range(turns):
        box_backup(rows, base, h, prior, room, spare, value, order, mark, found, gap)
        backup(rows, base, budget, 1.0, -1.0, 0.0, everything, value, other, gap)
        top = rows.gamma * value[highest(value, 1.0, states, rows.ends)]
        gain = 0.0
        for s in range(states):
            if rows.closed[s]:
                continue
            best = -np.inf
            for i in range(s * actions, s * actions + actions):
                highest_u = top
                if rows.rewards.shape[0] > 0:
                    for j in range(states):
                        highest_u = max(highest_u, rows.rewards[s, i - s * actions, j] + top)
                near = other.q[i] + spread[i] * (highest_u - least)
                best = max(best, min(found.q[i], near))
            gain = max(gain, value[s] - best)
            value[s] = min(value[s], best)
        if gain <= tolerance:
            return
