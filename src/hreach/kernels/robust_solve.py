"""Values over confidence sets: fixed points of the backups of robust.py, with a certified residual.

Policy iteration in which nature, or nature and the agent, choose: a backup finds the extreme rows, a solve takes them
as they are. A backup that leaves at most `residual` bounds the fixed point by gamma residual / (1 - gamma).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled, inner, merged
from hreach.kernels.robust import Extreme, Rows, backup_pair, best_unseen, highest
from hreach.kernels.solve import eliminate

FIXED, ALLIES, SAFEST = 0, 1, 2  # who chooses the action: nobody, nature's ally, the agent against nature
DENSE = 48  # states up to which a system is solved by elimination
SWEEPS = 20_000
TURNS = 200


@merged
def _reach_pair(rows: Rows, i: int, base: float, h: float, prior: float, value: Array, best: int, mean: float,
                found: Extreme) -> None:  # fmt: skip
    """Eq. (1): base + the best that h more samples of pair i could make of its counts and of the prior's."""
    states, actions = rows.closed.size, rows.total.size // rows.closed.size
    weight = rows.total[i] + prior + h
    share = 1.0 / weight if weight < np.inf and weight > 0.0 else 0.0
    flat = prior * share if weight > 0.0 else 1.0
    rest = 1.0 if weight == np.inf else h * share
    top, aim, pay = rows.gamma * value[best], best, 0.0
    paid = base
    if rows.rewards.shape[0] > 0:
        top, aim, pay = best_unseen(rows, i, 1.0, value)
        for j in range(states):
            paid += flat / states * rows.rewards[i // actions, i % actions, j]
    future = flat * mean
    for k in range(rows.first[i], rows.first[i + 1]):
        found.model[k] = share * rows.seen[k]
        paid += found.model[k] * rows.pays[k]
        future += found.model[k] * value[rows.following[k]]
    found.rest[i], found.aim[i], found.flat[i] = rest, aim, flat
    found.paid[i] = paid + rest * pay
    found.q[i] = paid + rows.gamma * future + rest * top


@compiled
def backup(
    rows: Rows, base: Array, budget: Array, sign: float, h: float, prior: float, only: NDArray[np.int64], value: Array,
    found: Extreme, gap: Array,
) -> None:  # fmt: skip
    """`found` <- the backup of value (S + 1,), whose last entry is 0, of the pairs (s, only[s]), of all if that is -1.

    h >= 0: of Eq. (1) instead of the sets. Of closed states nothing is computed.
    """
    states = rows.closed.size
    actions = rows.total.size // states
    best = highest(value, sign, states, rows.ends)
    mean, everything = 0.0, rows.copies.sum()
    for j in range(states):
        mean += rows.copies[j] * value[j] / everything
    for s in range(states):
        first, end = (0, actions) if only[s] < 0 else (only[s], only[s] + 1)
        if rows.closed[s]:
            end = first
        for i in range(s * actions + first, s * actions + end):
            if h >= 0.0:
                _reach_pair(rows, i, base[i], h, prior, value, best, mean, found)
            else:
                backup_pair(rows, i, base[i], budget[i], sign, 1.0, value, best, found, gap)


@merged
def _eliminated(rows: Rows, policy: NDArray[np.int64], found: Extreme, value: Array, matrix: Array) -> None:
    """value <- that of the policy under the rows of `found`, by one elimination."""
    states = rows.closed.size
    actions = rows.total.size // states
    everything = rows.copies.sum()
    for s in range(states):
        i = s * actions + policy[s]
        spread = 0.0 if rows.closed[s] else rows.gamma * found.flat[i] / everything
        for j in range(states):
            matrix[s, j] = -spread * rows.copies[j]
        matrix[s, s] += 1.0
        matrix[s, states] = 0.0
        if rows.closed[s]:
            continue
        matrix[s, states] = found.paid[i]
        if found.aim[i] < states:
            matrix[s, found.aim[i]] -= rows.gamma * found.rest[i]
        for k in range(rows.first[i], rows.first[i + 1]):
            if rows.following[k] < states:
                matrix[s, rows.following[k]] -= rows.gamma * found.model[k]
    eliminate(matrix, value[:states])


@inner
def settle(
    rows: Rows, policy: NDArray[np.int64], found: Extreme, value: Array, tolerance: float, matrix: Array
) -> None:
    """value <- that of the policy under the rows of `found`: by elimination, or by sweeps until they hardly move it."""
    states = rows.closed.size
    actions = rows.total.size // states
    if states <= matrix.shape[0]:
        _eliminated(rows, policy, found, value, matrix)
        return
    everything = rows.copies.sum()
    for _ in range(SWEEPS):
        moved = mean = 0.0
        for j in range(states):
            mean += rows.copies[j] * value[j] / everything
        for s in range(states):
            if rows.closed[s]:
                continue
            i = s * actions + policy[s]
            future = found.flat[i] * mean
            own = 0.0
            if found.aim[i] == s:
                own = found.rest[i]
            else:
                future += found.rest[i] * value[found.aim[i]]
            for k in range(rows.first[i], rows.first[i + 1]):
                if rows.following[k] == s:
                    own += found.model[k]
                else:
                    future += found.model[k] * value[rows.following[k]]
            new = (found.paid[i] + rows.gamma * future) / (1.0 - rows.gamma * own)
            moved = max(moved, abs(new - value[s]))
            value[s] = new
        if moved <= tolerance:
            return


@merged
def improve(rows: Rows, found: Extreme, policy: NDArray[np.int64], tolerance: float) -> bool:
    """The policy, made greedy where that gains more than the tolerance; whether it changed. Ties: the lowest action."""
    states = policy.size
    actions = rows.total.size // states
    changed = False
    for s in range(states):
        if rows.closed[s]:
            continue
        best = policy[s]
        for a in range(actions):
            if found.q[s * actions + a] > found.q[s * actions + best] + (tolerance if best == policy[s] else 0.0):
                best = a
        changed = changed or best != policy[s]
        policy[s] = best
    return changed


@compiled
def fixed_point(
    rows: Rows, base: Array, budget: Array, sign: float, h: float, prior: float, chooser: int,
    policy: NDArray[np.int64], everything: NDArray[np.int64], value: Array, found: Extreme, gap: Array, matrix: Array,
    tolerance: float,
) -> float:  # fmt: skip
    """value <- a bound on the fixed point, from below (sign -1) or above (1): certified. Returns the last residual.

    chooser   FIXED: the policy stays. ALLIES: the best action, chosen at once with the row. SAFEST: the best action
              against the worst rows, for each policy the worst rows first (Hoffman & Karp 1966)
    everything  (S,) of -1; policy (S,) is where to begin, and is what was chosen
    """
    states = rows.closed.size
    actions = rows.total.size // states
    worst = before = np.inf
    for _ in range(TURNS):
        backup(
            rows, base, budget, sign, h, prior, everything if chooser == ALLIES else policy, value, found, gap
        )  # fmt: skip
        if chooser == ALLIES:
            improve(rows, found, policy, 0.0)
        worst = off = 0.0
        for s in range(states):
            if not rows.closed[s]:
                change = found.q[s * actions + policy[s]] - value[s]
                worst, off = max(worst, sign * change), max(off, abs(change))
        stuck = off <= 1e3 * tolerance and off >= before / 2.0  # nothing but rounding is left
        before = off
        if off <= tolerance or stuck:
            if chooser != SAFEST:
                break
            backup(rows, base, budget, sign, h, prior, everything, value, found, gap)
            if not improve(rows, found, policy, 2.0 * max(off, tolerance)):
                break
            before = np.inf
        settle(rows, policy, found, value, 0.01 * max(off, tolerance), matrix)
    slack = sign * rows.gamma * worst / (1.0 - rows.gamma)
    for s in range(states):
        if not rows.closed[s]:
            value[s] = found.q[s * actions + policy[s]] + slack
    return worst
