"""x moves: the states whose span it leaves are looked at. The calendar says which these are."""

from __future__ import annotations

import numpy as np

from hreach.compiling import inlined, inner, merged
from hreach.kernels.local_lines import best_line, look_at
from hreach.kernels.local_links import day_of, enqueue, set_span
from hreach.kernels.local_state import (
    DOWN,
    HIGH,
    HIGHEST,
    LEVEL,
    LOW,
    LOWEST,
    PLANNED,
    QUEUE_SHARE,
    QUEUED,
    UP,
    WANDERED,
    A,
    Arena,
    B,
    Lines,
    LocalRule,
    X,
)  # fmt: skip


@merged
def _expire(rule: LocalRule, arena: Arena, lines: Lines, column: int, day: int, x: float) -> None:
    """Look at the states whose span ends on this day, before x is reached."""
    value, i = lines.value, lines.calendar[0 if column == DOWN else 1, day]
    while i > 0:
        following = lines.link[i - 1, column]
        gone = value[i - 1, LOW] > x if column == DOWN else value[i - 1, HIGH] < x
        if gone:
            set_span(lines, i - 1, -np.inf, np.inf)
            best, _, _, _ = best_line(rule, arena, lines, i - 1, x)
            residual = abs(best - (value[i - 1, A] + value[i - 1, B] * x))
            enqueue(lines, i - 1, residual, QUEUE_SHARE * rule.tolerance)  # its update finds a new span for it
        i = following


@inlined
def move(rule: LocalRule, arena: Arena, lines: Lines, to: float) -> None:
    """x moves: only the states whose span it leaves are looked at."""
    number, before = lines.number, lines.number[X]
    number[X] = to
    number[WANDERED] += abs(to - before)
    if not (number[LOWEST] < to < number[HIGHEST]):
        _widen(rule, arena, lines)
        return
    today, day = day_of(lines, before), day_of(lines, to)
    if to < before:
        for d in range(today, day - 1, -1):
            _expire(rule, arena, lines, DOWN, d, to)
    else:
        for d in range(today, day + 1):
            _expire(rule, arena, lines, UP, d, to)


@inner
def _widen(rule: LocalRule, arena: Arena, lines: Lines) -> None:
    """x has left the calendar: one that is wider, and every span anew."""
    clear_spans(lines)
    for i in range(lines.tick[PLANNED]):
        look_at(rule, arena, lines, i)


@inner
def clear_spans(lines: Lines) -> None:
    """No span ends, in a calendar that x is inside of."""
    number, value = lines.number, lines.value
    lines.calendar[:, :] = 0
    if not (number[LOWEST] < number[X] < number[HIGHEST]):
        reach = 2.0 * max(abs(number[X]), number[HIGHEST] - number[LOWEST])
        number[LOWEST], number[HIGHEST] = number[X] - reach, number[X] + reach
    for i in range(lines.tick[PLANNED]):
        value[i, LOW], value[i, HIGH] = number[LOWEST], number[HIGHEST]


@inner
def clear_queue(lines: Lines) -> None:
    """Nobody waits."""
    lines.queue[:] = 0
    lines.tick[QUEUED] = 0
    for i in range(lines.tick[PLANNED]):
        lines.link[i, LEVEL] = 0
