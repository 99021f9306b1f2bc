"""Sweeps over all that was met, for when the queue would take longer: a tight tolerance, gamma near 1, all is new.

Values stand as numbers at x meanwhile. A sweep of improvement (Jacobi) is followed by sweeps with the actions that it
chose (`local_evaluate`): modified policy iteration. Where the rows of these actions sum to gamma, the constant part of
TV - V is no error, for it says by how much all values are off. Nothing is claimed here: afterwards every state is
looked at, and waits if it has to.
"""

from __future__ import annotations

import numpy as np

from hreach.compiling import Formula, inner, merged
from hreach.kernels.local_evaluate import MOST, back_up, evaluate
from hreach.kernels.local_exact import cost_of_solve, solve_best
from hreach.kernels.local_level import level_of_numbers
from hreach.kernels.local_lines import look_at
from hreach.kernels.local_links import add_key
from hreach.kernels.local_move import clear_queue, clear_spans
from hreach.kernels.local_rows import begin_line, edge_weight, sum_line
from hreach.kernels.local_state import (
    AFTER,
    CLOSED,
    FLAGS,
    FROM,
    LOW,
    MAX_X,
    MEAN_X,
    NEXT_FROM,
    OWN_X,
    PLANNED,
    QB,
    SLOW,
    SUM_A,
    SUM_B,
    TO,
    A,
    Arena,
    B,
    G,
    Lines,
    LocalRule,
    X,
)  # fmt: skip

ENOUGH = 0.1  # sweeps with the best pairs end when their change has fallen so far
IMPROVEMENTS = 100  # then the queue goes on: rounding may keep sweeps from ending
LONGER = 4.0  # times as long as sweeps that were given up: a solve is still worth it
TRUSTED = 16  # so many solves, then sweeps are tried again


@merged
def _improve(rule: LocalRule, arena: Arena, lines: Lines) -> tuple[float, float, bool]:
    """LOW <- T A, and the best pairs; least and largest change, whether the rows of all best pairs sum to gamma."""
    value, low, high, whole = lines.value, np.inf, -np.inf, not rule.ends
    x, moves = level_of_numbers(rule, arena, lines, A)
    for i in range(lines.tick[PLANNED]):
        best, chosen, share = -np.inf, 0, 0.0
        for p in range(i * rule.actions, (i + 1) * rule.actions):
            found, row = back_up(rule, arena, lines, p, x)
            if found > best:
                best, chosen, share = found, p + 1, row
                if moves and rule.mode != OWN_X:
                    share += lines.q[p, QB]
        if arena.node[i, FLAGS] & CLOSED:
            best, chosen, share = 0.0, 0, 0.0
        elif best >= rule.value_cap:
            best, chosen, share = rule.value_cap, 0, 0.0
        whole = whole and share > rule.gamma * (1.0 - 1e-12)
        value[i, LOW] = best
        lines.link[i, AFTER] = chosen
        low, high = min(low, best - value[i, A]), max(high, best - value[i, A])
    return low, high, whole


@merged
def _solve(rule: LocalRule, arena: Arena, lines: Lines) -> float:
    """Numbers in column A whose residual is a quarter of the tolerance; how many sweeps of improvement it took.

    Where rows sum to gamma, V* - TV is from gamma/(1 - gamma) low to gamma/(1 - gamma) high, and so is its middle
    added: at the end, and before where that leaves a third of the error at most.
    """
    cost, aim = 0.0, 0.25 * rule.tolerance
    for _ in range(IMPROVEMENTS):
        low, high, whole = _improve(rule, arena, lines)
        half, middle = 0.5 * (high - low), 0.5 * (low + high)
        off = half if whole else max(abs(low), abs(high))
        shift = 0.0
        if whole and (rule.gamma * half <= aim or abs(middle) >= 4.0 * half):
            shift = rule.gamma / (1.0 - rule.gamma) * middle
        for i in range(lines.tick[PLANNED]):
            lines.value[i, A] = lines.value[i, LOW] + shift * (lines.link[i, AFTER] > 0)
        cost += 1.0
        if rule.gamma * off <= aim:
            break
        cost += _evaluate(rule, arena, lines, whole, max(ENOUGH * off, 0.5 * aim))
    return cost


@merged
def _evaluate(rule: LocalRule, arena: Arena, lines: Lines, whole: bool, enough: float) -> float:
    """A <- what the best pairs are worth: nearly, or where sweeps were slow lately, exactly; what that takes."""
    count = lines.tick
    if count[SLOW] > 0 and count[PLANNED] <= lines.matrix.shape[0]:
        count[SLOW] -= 1
        x, moves = level_of_numbers(rule, arena, lines, A)
        solve_best(rule, arena, lines, x, moves)
        return cost_of_solve(rule, arena, lines)
    turns = evaluate(rule, arena, lines, whole, enough)
    taken = 2.0 * turns / rule.actions
    if turns == MOST and cost_of_solve(rule, arena, lines) < LONGER * taken:
        count[SLOW] = TRUSTED
    return taken


@merged
def _lines_again(rule: LocalRule, arena: Arena, lines: Lines) -> None:
    """From numbers to lines at x: slopes are those of the best pairs."""
    value, x, states = lines.value, lines.number[X], lines.tick[PLANNED]
    for i in range(states):
        p, slope = lines.link[i, AFTER] - 1, 0.0
        if p >= 0 and rule.mode != OWN_X:
            slope = lines.q[p, QB]
            e = arena.tally[p, FROM]
            while e > 0:
                slope += lines.q[p, G] * edge_weight(arena, e - 1) * value[arena.edge[e - 1, TO], B]
                e = arena.edge[e - 1, NEXT_FROM]
        value[i, B] = slope
    for i in range(states):
        value[i, A] -= value[i, B] * x
        lines.link[i, AFTER] = 0
    for p in range(states * rule.actions):
        if arena.tally[p, FROM] > 0:
            sum_line(rule, arena, lines, p)


@inner
def sweep_all(formula: Formula, rule: LocalRule, arena: Arena, lines: Lines) -> float:
    """Bring all values up to date; how many sweeps of improvement that took."""
    value, number, states = lines.value, lines.number, lines.tick[PLANNED]
    clear_queue(lines)
    for i in range(states):
        value[i, A] += value[i, B] * number[X]
    for p in range(states * rule.actions):
        if arena.tally[p, FROM] > 0:
            begin_line(formula, rule, arena, lines, p)
    cost = _solve(rule, arena, lines)
    number[X], _ = level_of_numbers(rule, arena, lines, A)
    _lines_again(rule, arena, lines)
    clear_spans(lines)
    number[SUM_A] = number[SUM_B] = 0.0
    for i in range(states):
        if rule.mode == MAX_X:
            add_key(lines, i)
        if rule.mode == MEAN_X:
            number[SUM_A] += value[i, A]
            number[SUM_B] += value[i, B]
    for i in range(states):
        look_at(rule, arena, lines, i)
    return cost + 2.0
