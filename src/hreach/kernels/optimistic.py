"""The optimistic model: what a formula makes of the counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, Formula, at, compiled, inlined, merged
from hreach.kernels.lanes import put
from hreach.kernels.state import Rule, Seen, Table


@inlined
def _set_apart(
    s: int, a: int, i: int, scale: float, counts: Array, ended: Array, terminal: NDArray[np.bool_], reward: Array,
    mean: Array, gone: Array, parting: Array,
) -> float:  # fmt: skip
    """Take what ended in open states out of the mean of pair i; what it pays, where the reward depends on s'.

    What ended in closed states may stay: they are worth 0.
    """
    states = counts.shape[2]
    weight = 0.0
    pays = 0.0
    for j in range(states):
        if ended[s, a, j] > 0.0 and not terminal[j]:
            mean[i // 4, j, i % 4] = scale * (counts[s, a, j] - ended[s, a, j])
            weight += scale * ended[s, a, j]
            if reward.shape[2] == states and states > 1:
                pays += scale * ended[s, a, j] * reward[s, a, j]
    gone[i] = weight
    parting[i] = pays / weight if weight > 0.0 else 0.0
    return pays


@inlined
def refresh(
    formula: Formula, s: int, a: int, counts: Array, ended: Array, terminal: NDArray[np.bool_], total: Array,
    reward_sum: Array, mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array,
    reward: Array, constants: Array, r_min: float, r_max: float, v_max: float, reward_share: float, ends: bool,
) -> None:  # fmt: skip
    """The optimistic model of (s, a), from its counts.

    About a reward that is learnt, c h instead of h samples count, c the `reward_share`: with w = h/(n + h) that is
    the weight c h/(n + c h) = c w/(1 - w + c w) on r_max.
    """
    states, actions = counts.shape[:2]
    i = s * actions + a
    b, lane = i // 4, i % 4
    row = 4 * b * states + lane
    seen, weight = counts[at(s), at(a)], total[at(s), at(a)]
    paid = 0.0
    if reward.shape[0] == 0:
        paid = reward_sum[at(s), at(a)] / weight if weight > 0.0 else (r_min + r_max) / 2.0
    w, bonus, ball = formula(seen, weight, paid, constants[at(s), at(a)])
    if bonus == np.inf:  # nothing is known here: the largest value there is
        for j in range(states):
            mean[b, j, lane] = 0.0
        gone[i] = 0.0
        reach[i] = 0.0
        radius[i] = 0.0
        base[i] = v_max
        return
    if weight > 0.0:
        scale = (1.0 - w) / weight
        for j in range(states):
            put(mean, row + 4 * j, scale * seen[j])
        if ends:
            bonus += _set_apart(s, a, i, scale, counts, ended, terminal, reward, mean, gone, parting)
    else:
        gone[i] = 0.0
        for j in range(states):
            mean[b, j, lane] = (1.0 - w) / states
    put(reach, i, w)
    radius[at(i)] = ball
    if reward.shape[0] == 0:
        weight_of_best = reward_share * w / (1.0 - w + reward_share * w) if w < 1.0 else 1.0
        bonus += (1.0 - weight_of_best) * paid + weight_of_best * r_max
    elif reward.shape[2] == 1:
        bonus += reward[at(s), at(a), 0]
    put(base, i, bonus)


@compiled
def close(table: Table, s: int, actions: int) -> None:
    """Nothing follows the closed state s: no reward, no future."""
    b = table
    for i in range(s * actions, (s + 1) * actions):
        for j in range(b.value.size):
            b.mean[i // 4, j, i % 4] = 0.0
        b.gone[i] = b.reach[i] = b.base[i] = b.radius[i] = 0.0


@merged
def refresh_pair(formula: Formula, rule: Rule, seen: Seen, table: Table, s: int, a: int) -> None:
    """The optimistic model of one pair."""
    n, b = seen, table
    refresh(
        formula, s, a, n.counts, n.ended, n.terminal, n.total, n.reward_sum, b.mean, b.gone, b.parting, b.reach,
        b.base, b.radius, rule.reward, b.constants, rule.r_min, rule.r_max, rule.v_max, rule.reward_share, rule.ends,
    )  # fmt: skip


@compiled
def refresh_all(formula: Formula, rule: Rule, seen: Seen, table: Table) -> None:
    """The optimistic model of every pair."""
    states, actions = seen.total.shape
    for s in range(states):
        for a in range(actions):
            refresh_pair(formula, rule, seen, table, s, a)
        if seen.terminal[s]:
            close(table, s, actions)
