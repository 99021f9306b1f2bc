"""Copies of an agent that go on in a model (`imagined.draw_model`): what a lookahead compares constants by.

Copies that differ in their constants meet the same chance: the n-th try of a pair has the same outcome for all of
them, whenever it comes, for every pair has a stream of its own.

A copy plans as the agent does, but with a lag: not before the weight of a pair has grown by the share `LAG` since it
was last planned with, or the pair did what it had never done. Between two plans a step costs next to nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, Formula, at, compiled
from hreach.kernels.acting import choose
from hreach.kernels.optimistic import refresh, refresh_all
from hreach.kernels.planning import any_ball, plan_arrays
from hreach.kernels.state import Rule, Seen, Table
from hreach.randomness.streams import uniform

LAG = 0.1


@compiled
def _outcome(row: Array, u: float) -> int:
    """First entry with u < row[j], the last one at the latest."""
    low, high = 0, row.size - 1
    while low < high:
        middle = (low + high) // 2
        if u < row[at(middle)]:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def live(
    formula: Formula, rule: Rule, seen: Seen, table: Table, value: Array, due: Array, cumulative: Array,
    pays: Array, streams: NDArray[np.uint64], stream: NDArray[np.uint64], steps: float,
) -> float:  # fmt: skip
    """What a copy earns in so many steps in this model; `seen` and `table`, with its constants, are its own and change.

    `value` (S,) is where its first plan begins, and becomes that plan; `due` (S, A) is workspace. streams: (S A, 4),
    of the pairs; ties and unknown beginnings are drawn from `stream`. Episodes begin where the last one did.
    """
    states, actions = seen.total.shape
    counts, ended, total, reward_sum = seen.counts, seen.ended, seen.total, seen.reward_sum
    b, reward, known = table, rule.reward, rule.reward.shape[0] > 0
    unseen = rule.prior / states + 0.5
    refresh_all(formula, rule, seen, table)
    for s in range(states):
        b.value[s] = value[s]
        for a in range(actions):
            due[s, a] = (1.0 + LAG) * total[s, a]
    balls = any_ball(b.radius)
    state = seen.here[0] if seen.here[0] >= 0 else seen.here[1]
    if state < 0:
        state = int(uniform(stream) * states)
    stale, begun, earned = True, False, 0.0
    for _ in range(int(steps)):
        while stale:
            _, _, finished = plan_arrays(
                b.mean, b.gone, b.parting, b.reach, b.base, b.radius, reward, rule.gamma, rule.value_cap,
                rule.tolerance, b.value, b.q, b.target, b.order, b.matrix, actions, balls, rule.ends,
            )  # fmt: skip
            stale = not finished
        if not begun:
            begun = True
            for s in range(states):
                value[s] = b.value[s]
        first = state * actions
        action = choose(b.q, first, first + actions, rule.random_action, rule.preference, stream)
        pair = at(first + action)
        k = _outcome(cumulative[pair], uniform(streams[pair]))
        j = k if k < states else k - states
        done = k >= states or seen.terminal[j]
        x, y, z = at(state), at(action), at(j)
        paid = reward[x, y, z if reward.shape[2] > 1 else at(0)] if known else pays[x, y]
        earned += paid
        fresh = counts[x, y, z] < unseen
        counts[x, y, z] += 1.0
        ended[x, y, z] += done
        total[x, y] += 1.0
        reward_sum[x, y] += paid
        if fresh or total[x, y] >= due[x, y]:
            due[x, y] = (1.0 + LAG) * total[x, y]
            refresh(
                formula, state, action, counts, ended, seen.terminal, total, reward_sum, b.mean, b.gone, b.parting,
                b.reach, b.base, b.radius, reward, b.constants, rule.r_min, rule.r_max, rule.v_max,
                rule.reward_share, rule.ends,
            )  # fmt: skip
            balls = balls or b.radius[pair] > 0.0
            stale = True
        state = max(seen.here[1], 0) if done else j
    return earned
