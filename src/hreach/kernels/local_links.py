"""Linked lists and a heap over states: the queue of residuals, the calendar of spans, the largest key."""

from __future__ import annotations

import numpy as np

from hreach.compiling import inlined, inner
from hreach.kernels.local_state import (
    AFTER,
    DAYS,
    DOWN,
    HIGH,
    HIGHEST,
    KEY,
    LEVEL,
    LEVELS,
    LOW,
    LOWEST,
    PLACE,
    QUEUED,
    UP,
    A,
    B,
    Lines,
    Small,
)  # fmt: skip


@inlined
def _put(link: Small, head: Small, where: int, i: int, column: int) -> None:
    """State i becomes the first of a list."""
    first = head[where]
    link[i, column] = first
    link[i, column + 1] = 0
    if first > 0:
        link[first - 1, column + 1] = i + 1
    head[where] = i + 1


@inlined
def _take(link: Small, head: Small, where: int, i: int, column: int) -> None:
    """State i leaves its list."""
    after, before = link[i, column], link[i, column + 1]
    if before > 0:
        link[before - 1, column] = after
    else:
        head[where] = after
    if after > 0:
        link[after - 1, column + 1] = before


@inlined
def level_of(residual: float, unit: float) -> int:
    """1 for residuals up to sqrt(2) units, one more for each factor of sqrt(2)."""
    level = 1 + int(2.0 * np.log2(residual / unit)) if residual > unit else 1
    return min(level, LEVELS - 1)


@inlined
def enqueue(lines: Lines, i: int, residual: float, unit: float) -> None:
    """State i waits, with this residual."""
    level, now = level_of(residual, unit), lines.link[i, LEVEL]
    if now == level:
        return
    if now > 0:
        _take(lines.link, lines.queue, now, i, AFTER)
    else:
        lines.tick[QUEUED] += 1
    lines.link[i, LEVEL] = level
    _put(lines.link, lines.queue, level, i, AFTER)


@inlined
def dequeue(lines: Lines, i: int) -> None:
    """State i waits no more."""
    level = lines.link[i, LEVEL]
    if level > 0:
        _take(lines.link, lines.queue, level, i, AFTER)
        lines.link[i, LEVEL] = 0
        lines.tick[QUEUED] -= 1


@inlined
def top_level(lines: Lines, level: int) -> int:
    """The highest level not above this one in which somebody waits; 0: there is none."""
    while level > 0 and lines.queue[level] == 0:
        level -= 1
    return level


@inlined
def day_of(lines: Lines, x: float) -> int:
    """The day of the calendar on which x falls."""
    low, high = lines.number[LOWEST], lines.number[HIGHEST]
    return max(0, min(DAYS - 1, int((x - low) / (high - low) * DAYS)))


@inlined
def set_span(lines: Lines, i: int, low: float, high: float) -> None:
    """The residual of state i is small enough for low <= x <= high."""
    number, value = lines.number, lines.value
    if value[i, LOW] > number[LOWEST]:
        _take(lines.link, lines.calendar[0], day_of(lines, value[i, LOW]), i, DOWN)
    if value[i, HIGH] < number[HIGHEST]:
        _take(lines.link, lines.calendar[1], day_of(lines, value[i, HIGH]), i, UP)
    value[i, LOW] = max(low, number[LOWEST])
    value[i, HIGH] = min(high, number[HIGHEST])
    if value[i, LOW] > number[LOWEST]:
        _put(lines.link, lines.calendar[0], day_of(lines, value[i, LOW]), i, DOWN)
    if value[i, HIGH] < number[HIGHEST]:
        _put(lines.link, lines.calendar[1], day_of(lines, value[i, HIGH]), i, UP)


@inlined
def _rise(lines: Lines, place: int) -> None:
    heap, value, link = lines.heap, lines.value, lines.link
    i = heap[place]
    key = value[i, KEY]
    while place > 0:
        above = (place - 1) // 2
        if value[heap[above], KEY] >= key:
            break
        heap[place] = heap[above]
        link[heap[place], PLACE] = place
        place = above
    heap[place] = i
    link[i, PLACE] = place


@inlined
def _sink(lines: Lines, size: int) -> None:
    """The root finds its place."""
    heap, value, link = lines.heap, lines.value, lines.link
    i, place = heap[0], 0
    key = value[i, KEY]
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and value[heap[below + 1], KEY] > value[heap[below], KEY]:
            below += 1
        if value[heap[below], KEY] <= key:
            break
        heap[place] = heap[below]
        link[heap[place], PLACE] = place
        place = below
    heap[place] = i
    link[i, PLACE] = place


@inlined
def add_key(lines: Lines, i: int) -> None:
    """State i, the last one, enters the heap."""
    value = lines.value
    value[i, KEY] = value[i, A] / (1.0 - value[i, B])
    lines.heap[i] = i
    _rise(lines, i)


@inlined
def raise_key(lines: Lines, i: int) -> None:
    """The line of state i has changed: a key that rose moves now, one that fell when it comes to the root."""
    value = lines.value
    key = value[i, A] / (1.0 - value[i, B])
    if key > value[i, KEY]:
        value[i, KEY] = key
        _rise(lines, lines.link[i, PLACE])


@inner
def largest_key(lines: Lines, size: int) -> float:
    """max A / (1 - B)."""
    value, heap = lines.value, lines.heap
    while True:
        i = heap[0]
        key = value[i, A] / (1.0 - value[i, B])
        if key >= value[i, KEY]:
            return float(key)
        value[i, KEY] = key
        _sink(lines, size)
