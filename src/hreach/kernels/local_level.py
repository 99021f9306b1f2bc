"""What x stands for: the largest value, or the mean of all, of states that were met and of those that were not."""

from __future__ import annotations

import numpy as np

from hreach.compiling import inlined, merged
from hreach.kernels.local_links import largest_key
from hreach.kernels.local_state import (
    KNOWN,
    MAX_X,
    MEAN_X,
    REST,
    SKIPPED,
    SUM_A,
    SUM_B,
    Arena,
    Lines,
    LocalRule,
)  # fmt: skip


@merged
def _best_reward(rule: LocalRule, s: int) -> float:
    best = -np.inf
    for a in range(rule.actions):
        best = max(best, rule.reward[s, a])
    return best


@inlined
def _of_unmet(rule: LocalRule, arena: Arena, lines: Lines) -> float:
    """The largest value of a state that was not met, and of an end, if there are such: r + gamma x = x."""
    best = 0.0 if rule.ends else -np.inf
    if arena.size[KNOWN] < rule.states:
        reward = rule.fresh
        if rule.order.size > 0:
            while arena.ids[rule.order[lines.tick[SKIPPED]]] > 0:
                lines.tick[SKIPPED] += 1
            reward += _best_reward(rule, rule.order[lines.tick[SKIPPED]])
        elif rule.reward.size > 0:
            reward += rule.reward[0, 0]
        best = max(best, min(reward / (1.0 - rule.gamma), rule.value_cap))
    return best


@inlined
def where_x(rule: LocalRule, arena: Arena, lines: Lines) -> float:
    """What x stands for, of the lines as they are: x = max_s V(s), or the mean of V over all states."""
    known, number = arena.size[KNOWN], lines.number
    if rule.mode == MEAN_X:
        unmet = rule.states - known
        rest = number[REST] if unmet > 0 else 0.0
        return float((number[SUM_A] + rest) / (rule.states - number[SUM_B] - rule.gamma * unmet))
    if rule.mode != MAX_X:
        return 0.0
    best = _of_unmet(rule, arena, lines)
    if known > 0:
        best = max(best, largest_key(lines, known))
    return float(best)


@inlined
def level_of_numbers(rule: LocalRule, arena: Arena, lines: Lines, column: int) -> tuple[float, bool]:
    """The same, of values that stand as numbers in a column of `lines.value`; whether it moves as much as they do."""
    known = arena.size[KNOWN]
    if rule.mode == MEAN_X:
        total = lines.number[REST] if rule.states > known else 0.0
        for i in range(known):
            total += lines.value[i, column]
        return float(total / (rule.states - rule.gamma * (rule.states - known))), known == rule.states
    if rule.mode != MAX_X:
        return 0.0, False
    best, floor = -np.inf, _of_unmet(rule, arena, lines)
    for i in range(known):
        best = max(best, lines.value[i, column])
    return float(max(best, floor)), best > floor
