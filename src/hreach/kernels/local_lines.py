"""Values and action values as lines in x, their residuals, and the span of x on which a residual stays small.

    Q(s, a) = r + gamma [(1 - w) sum_s' n(s') V(s') / n + w x],   V = A + B x,   so Q = QA + QB x with 0 <= QB <= gamma

n(s') without what ended the episode; r is the reward with its bonus, w the reach (`hreach.kernels`). Where a pair knows
its next states (OWN_X), the best V among these stands in the place of x, and lines are constants. The residual of a
state, min(max_a Q, cap) - V, is a function of x made of pieces of lines.
"""

from __future__ import annotations

import numpy as np

from hreach.compiling import inlined, merged
from hreach.kernels.local_links import dequeue, enqueue, set_span
from hreach.kernels.local_state import (
    CLOSED,
    FLAGS,
    HIGH,
    LOW,
    QA,
    QB,
    QUEUE_SHARE,
    SPAN_SHARE,
    A,
    Arena,
    B,
    Lines,
    LocalRule,
    X,
)  # fmt: skip


@inlined
def best_line(rule: LocalRule, arena: Arena, lines: Lines, i: int, x: float) -> tuple[float, float, float, int]:
    """(value, A, B, pair) of the best action of state i at x; pair -1 where no action decides: closed, or capped."""
    if arena.node[i, FLAGS] & CLOSED:
        return 0.0, 0.0, 0.0, -1
    q, first = lines.q, i * rule.actions
    best, pair = q[first, QA] + q[first, QB] * x, first
    for p in range(first + 1, first + rule.actions):
        found = q[p, QA] + q[p, QB] * x
        if found > best:
            best, pair = found, p
    if best >= rule.value_cap:
        return rule.value_cap, rule.value_cap, 0.0, -1
    return best, q[pair, QA], q[pair, QB], pair


@inlined
def _holds(rule: LocalRule, lines: Lines, i: int, pair: int, x: float, allowed: float) -> bool:
    """Whether the residual of state i at x is surely within what is allowed, `pair` its best one somewhere near."""
    q, own = lines.q, lines.value[i, A] + lines.value[i, B] * x
    if own > rule.value_cap + allowed or q[pair, QA] + q[pair, QB] * x < own - allowed:
        return False
    for p in range(i * rule.actions, (i + 1) * rule.actions):  # noqa: SIM110 (compiled)
        if q[p, QA] + q[p, QB] * x > own + allowed:
            return False
    return True


@merged
def _find_span(rule: LocalRule, lines: Lines, i: int, pair: int, allowed: float) -> tuple[float, float]:
    """x from .. to for which `_holds`, found by where each line leaves what is allowed."""
    q, a, b = lines.q, lines.value[i, A], lines.value[i, B]
    low, high = -np.inf, np.inf
    for p in range(i * rule.actions, (i + 1) * rule.actions):
        rest, slope = allowed - (q[p, QA] - a), q[p, QB] - b
        if slope > 0.0:
            high = min(high, rest / slope)
        elif slope < 0.0:
            low = max(low, rest / slope)
    rest, slope = -allowed - (q[pair, QA] - a), q[pair, QB] - b
    if slope > 0.0:
        low = max(low, rest / slope)
    elif slope < 0.0:
        high = min(high, rest / slope)
    if b > 0.0:
        high = min(high, (rule.value_cap + allowed - a) / b)
    return low, high


@inlined
def keep_span(rule: LocalRule, lines: Lines, i: int, pair: int) -> None:
    """Make sure that the span of state i, whose residual is small now, is one on which it stays so."""
    allowed = SPAN_SHARE * rule.tolerance
    value = lines.value
    if pair < 0:
        if value[i, B] != 0.0:  # within what is allowed of a cap or of 0, but not equal to it: look at every move
            set_span(lines, i, lines.number[X], lines.number[X])
        else:
            _span_of_constant(rule, lines, i, allowed)
        return
    if _holds(rule, lines, i, pair, value[i, LOW], allowed) and _holds(rule, lines, i, pair, value[i, HIGH], allowed):
        return
    low, high = _find_span(rule, lines, i, pair, allowed)
    set_span(lines, i, low, high)


@merged
def _span_of_constant(rule: LocalRule, lines: Lines, i: int, allowed: float) -> None:
    """The span of a state worth the cap (or 0, closed): until its best action is worth less than that."""
    value, q = lines.value, lines.q
    low = -np.inf
    if value[i, A] >= rule.value_cap:
        low = np.inf
        for p in range(i * rule.actions, (i + 1) * rule.actions):
            if q[p, QB] > 0.0:
                low = min(low, (value[i, A] - allowed - q[p, QA]) / q[p, QB])
            elif q[p, QA] >= value[i, A] - allowed:
                low = -np.inf
    set_span(lines, i, min(low, lines.number[X]), np.inf)


@inlined
def look_at(rule: LocalRule, arena: Arena, lines: Lines, i: int) -> None:
    """State i waits if its residual has become too large; otherwise its span is made to hold."""
    x = lines.number[X]
    best, _, _, pair = best_line(rule, arena, lines, i, x)
    residual = abs(best - (lines.value[i, A] + lines.value[i, B] * x))
    unit = QUEUE_SHARE * rule.tolerance
    if residual <= unit:
        dequeue(lines, i)
        keep_span(rule, lines, i, pair)
    else:
        enqueue(lines, i, residual, unit)
