"""How far a policy can be from the best, counted with the same rows on both sides.

    D(s) = max { g(s),  max over a != pi(s) of min [UQ(s, a) - L(s),  UQ(s, a) - LQ(s, pi(s)) + g(s)] },

g(s) = gamma max over the rows of (s, pi(s)) of p.D. L bounds V^pi from below, UQ and LQ bound Q* from both sides. Where
a = pi(s) is best, V* - V^pi is gamma P (V* - V^pi); where another action is, it is Q*(s, a) - V^pi(s), and also
[Q*(s, a) - Q*(s, pi(s))] + gamma P (V* - V^pi). So V* - V^pi is at most its own image under this operator, which is
monotone and contracts: it is at most the fixed point. D = U - L is above its image: iteration goes downwards from it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled, inlined, merged
from hreach.kernels.robust import Extreme, Rows, backup_pair, highest
from hreach.kernels.robust_solve import SWEEPS, TURNS, backup


@inlined
def _image(upper: Array, s: int, actions: int, own: int, low: float, low_q: float, g: float) -> float:
    """D(s) of g = gamma max p.D."""
    most = g
    for a in range(actions):
        if a != own:
            q = upper[s * actions + a]
            most = max(most, min(q - low, q - low_q + g))
    return most


@merged
def _sweeps(
    rows: Rows, policy: NDArray[np.int64], upper: Array, low: Array, low_q: Array, found: Extreme, value: Array,
    tolerance: float,
) -> None:  # fmt: skip
    """value <- D under the rows of `found` as they are."""
    states = rows.closed.size
    actions = rows.total.size // states
    for _ in range(SWEEPS):
        moved = 0.0
        for s in range(states):
            if rows.closed[s]:
                continue
            i = s * actions + policy[s]
            g = found.rest[i] * value[found.aim[i]]
            for k in range(rows.first[i], rows.first[i + 1]):
                g += found.model[k] * value[rows.following[k]]
            new = _image(upper, s, actions, policy[s], low[s], low_q[s], rows.gamma * g)
            moved = max(moved, abs(new - value[s]))
            value[s] = new
        if moved <= tolerance:
            return


@compiled
def coupled_gap(
    rows: Rows, base_low: Array, budget: Array, policy: NDArray[np.int64], upper: Array, low: Array, floor: Array,
    low_q: Array, value: Array, found: Extreme, gap: Array, tolerance: float,
) -> None:  # fmt: skip
    """value (S + 1,) <- D, from U - L^pi in it: certified.

    upper   (N,) UQ; low: (S + 1,) L^pi; floor: (S + 1,) a lower bound on V*; low_q: (S,) scratch
    """
    states = rows.closed.size
    actions = rows.total.size // states
    backup(rows, base_low, budget, -1.0, -1.0, 0.0, policy, floor, found, gap)
    for s in range(states):
        low_q[s] = found.q[s * actions + policy[s]]
        found.hint[s * actions + policy[s]] = 0.0
    above = 0.0
    for _ in range(TURNS):
        best = highest(value, 1.0, states, rows.ends)
        above = off = 0.0
        for s in range(states):
            i = s * actions + policy[s]
            if not rows.closed[s]:
                backup_pair(rows, i, 0.0, budget[i], 1.0, 0.0, value, best, found, gap)
                image = _image(upper, s, actions, policy[s], low[s], low_q[s], found.q[i])
                above, off = max(above, image - value[s]), max(off, abs(image - value[s]))
        if off <= tolerance:
            break
        _sweeps(rows, policy, upper, low, low_q, found, value, 0.1 * tolerance)
    for s in range(states):
        if not rows.closed[s]:
            i = s * actions + policy[s]
            value[s] = _image(upper, s, actions, policy[s], low[s], low_q[s], found.q[i])
            value[s] += rows.gamma / (1.0 - rows.gamma) * above
