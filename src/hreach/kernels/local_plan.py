"""Planning where something changed: a queue of states by residual, whose updates are pushed to predecessors.

`plan_local` ends with an empty queue and x where it should be. Then |r(s)| <= SPAN_SHARE tolerance for every state,
and x is within LAG_SHARE tolerance of what it stands for, so max |TV - V| <= tolerance: docs/local-planning.md.
"""

from __future__ import annotations

from hreach.compiling import Formula, compiled, formula_at, inlined, merged
from hreach.kernels.local_effort import patience, remember_effort, sweeps_due
from hreach.kernels.local_level import where_x
from hreach.kernels.local_lines import best_line, keep_span, look_at
from hreach.kernels.local_links import add_key, dequeue, raise_key, top_level
from hreach.kernels.local_move import move
from hreach.kernels.local_rows import edge_weight, refresh_row, untried
from hreach.kernels.local_state import (
    COUNT,
    DRIFT,
    FROM,
    HIGH,
    HIGHEST,
    INTO,
    KNOWN,
    LAG_SHARE,
    LEVELS,
    LOW,
    LOWEST,
    MAX_X,
    MEAN_X,
    NEXT_INTO,
    OWN_X,
    PAIR,
    PLANNED,
    QA,
    QB,
    QUEUE_SHARE,
    QUEUED,
    REST,
    SCRUB,
    SPAN_SHARE,
    STATE,
    SUM_A,
    SUM_B,
    TARGET,
    WANDERED,
    WORK,
    A,
    Arena,
    B,
    G,
    Lines,
    LocalRule,
    X,
)  # fmt: skip


@merged
def _welcome(formula: Formula, rule: LocalRule, arena: Arena, lines: Lines) -> None:
    """States that were met since the last plan: what an untried state is worth."""
    while lines.tick[PLANNED] < arena.size[KNOWN]:
        i = lines.tick[PLANNED]
        lines.tick[PLANNED] = i + 1
        s, number, x = arena.node[i, STATE], lines.number, lines.number[X]
        lines.value[i, LOW], lines.value[i, HIGH] = number[LOWEST], number[HIGHEST]
        if rule.mode == OWN_X:
            arena.news[0] = -1
            continue
        untried(formula, rule, lines, i, s)
        first, best = i * rule.actions, i * rule.actions
        for p in range(first + 1, first + rule.actions):
            if lines.q[p, QA] + lines.q[p, QB] * x > lines.q[best, QA] + lines.q[best, QB] * x:
                best = p
        lines.value[i, A], lines.value[i, B] = lines.q[best, QA], lines.q[best, QB]
        if rule.mode == MEAN_X:
            number[SUM_A] += lines.value[i, A]
            number[SUM_B] += lines.value[i, B]
            number[REST] -= lines.value[i, A]
        if rule.mode == MAX_X:
            add_key(lines, i)
        look_at(rule, arena, lines, i)


@merged
def _update(formula: Formula, rule: LocalRule, arena: Arena, lines: Lines, i: int) -> None:
    """V(s) <- max_a Q(s, a), and what that changes is pushed to the pairs that lead here."""
    number, value, q = lines.number, lines.value, lines.q
    x = number[X]
    dequeue(lines, i)
    best, line_a, line_b, pair = best_line(rule, arena, lines, i, x)
    if abs(best - (value[i, A] + value[i, B] * x)) <= QUEUE_SHARE * rule.tolerance:
        keep_span(rule, lines, i, pair)
        return
    more_a, more_b = line_a - value[i, A], line_b - value[i, B]
    value[i, A], value[i, B] = line_a, line_b
    keep_span(rule, lines, i, pair)
    if rule.mode == MAX_X:
        raise_key(lines, i)
    if rule.mode == MEAN_X:
        number[SUM_A] += more_a
        number[SUM_B] += more_b
    e = arena.node[i, INTO]
    work = 0
    while e > 0:
        p, weight = arena.edge[e - 1, PAIR], edge_weight(arena, e - 1)
        e = arena.edge[e - 1, NEXT_INTO]
        work += 1
        gain = q[p, G] * weight
        if rule.mode == OWN_X:  # the best of its next states may be another one now
            refresh_row(formula, rule, arena, lines, p)
            look_at(rule, arena, lines, p // rule.actions)
        elif gain > 0.0:
            q[p, QA] += gain * more_a
            q[p, QB] += gain * more_b
            look_at(rule, arena, lines, p // rule.actions)
    lines.tick[WORK] += 1 + work


@merged
def _scrub(formula: Formula, rule: LocalRule, arena: Arena, lines: Lines) -> None:
    """Compute one row anew from its counts, in turn: pushes round."""
    pairs = lines.tick[PLANNED] * rule.actions
    if pairs == 0:
        return
    p = lines.tick[SCRUB] % pairs
    lines.tick[SCRUB] = p + 1
    if arena.tally[p, COUNT] > 0:
        before, x = lines.q[p, QA] + lines.q[p, QB] * lines.number[X], lines.number[X]
        refresh_row(formula, rule, arena, lines, p)
        change = abs(lines.q[p, QA] + lines.q[p, QB] * x - before)
        if change > 0.0:
            lines.number[DRIFT] = max(lines.number[DRIFT], change)
            look_at(rule, arena, lines, p // rule.actions)


@merged
def _catch_up(formula: Formula, rule: LocalRule, arena: Arena, lines: Lines) -> None:
    """What the model has learnt since the last plan."""
    _welcome(formula, rule, arena, lines)
    news = arena.news
    if news[0] < 0:
        for p in range(lines.tick[PLANNED] * rule.actions):
            if arena.tally[p, FROM] > 0:
                refresh_row(formula, rule, arena, lines, p)
        for i in range(lines.tick[PLANNED]):
            look_at(rule, arena, lines, i)
    for k in range(1, news[0] + 1):
        if news[k] >= 0:
            refresh_row(formula, rule, arena, lines, news[k])
            look_at(rule, arena, lines, news[k] // rule.actions)
        else:
            look_at(rule, arena, lines, -1 - news[k])
    news[0] = 0
    _scrub(formula, rule, arena, lines)


@inlined
def plan_lines(formula: Formula, rule: LocalRule, arena: Arena, lines: Lines) -> bool:
    """Bring the plan up to date; False if the budget was used up before."""
    number, count = lines.number, lines.tick
    count[WORK] = 0
    _catch_up(formula, rule, arena, lines)
    allowed = patience(rule, arena, lines)
    while True:
        level = top_level(lines, LEVELS - 1)
        while level > 0:
            if rule.budget > 0 and count[WORK] >= rule.budget:
                return False
            if count[WORK] >= allowed:
                sweeps_due(formula, rule, arena, lines)
                allowed += count[WORK]
            else:
                _update(formula, rule, arena, lines, lines.queue[level] - 1)
            level = top_level(lines, LEVELS - 1 if count[QUEUED] > 0 else 0)
        number[WANDERED] = 0.0
        number[TARGET] = where_x(rule, arena, lines)
        if abs(number[TARGET] - number[X]) <= LAG_SHARE * rule.tolerance:
            remember_effort(rule, arena, lines)
            return True
        move(rule, arena, lines, number[TARGET])


@compiled
def plan_local(formula: int, rule: LocalRule, arena: Arena, lines: Lines) -> bool:
    """`plan_lines` for a formula's address."""
    return plan_lines(formula_at(formula), rule, arena, lines)


@compiled
def claimed(rule: LocalRule, arena: Arena, lines: Lines) -> float:
    """A bound of max |TV - V| of the plan as it is, whether it was finished or not."""
    unit, level = QUEUE_SHARE * rule.tolerance, top_level(lines, LEVELS - 1)
    worst = SPAN_SHARE * rule.tolerance
    if level == LEVELS - 1:
        for i in range(lines.tick[PLANNED]):
            x = lines.number[X]
            best, _, _, _ = best_line(rule, arena, lines, i, x)
            worst = max(worst, abs(best - lines.value[i, A] - lines.value[i, B] * x))
    elif level > 0:
        worst = max(worst, unit * 2.0 ** (level / 2.0) + lines.number[WANDERED])
    return float(worst + rule.gamma * abs(where_x(rule, arena, lines) - lines.number[X]))
