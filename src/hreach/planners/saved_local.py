"""Whether saved lists and heap can be those of a local plan: compiled code follows them, so every one is checked."""

from __future__ import annotations

import numpy as np

from hreach.errors import require
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
)  # fmt: skip
from hreach.protocols import Arrays, Floats, Ints


def check_lists(saved: Arrays) -> None:
    """`InputError` unless each state stands once in each list that it belongs to, and lists end."""
    line, numbers = np.asarray(saved["line"], dtype=np.float64), np.asarray(saved["number"], dtype=np.float64)
    link, calendar = np.asarray(saved["link"], dtype=np.int64), np.asarray(saved["calendar"], dtype=np.int64)
    level, low, high = link[:, LEVEL], numbers[LOWEST], numbers[HIGHEST]
    require(bool(low < high), "number", numbers, "a calendar that begins before it ends")
    require(bool(((level >= 0) & (level < LEVELS)).all()), "link", "another level", f"levels below {LEVELS}")
    queued = int(np.asarray(saved["tick"], dtype=np.int64)[QUEUED])
    require(queued == int((level > 0).sum()), "tick", queued, "how many states wait")
    _check_list("queue", np.asarray(saved["queue"], dtype=np.int64), link[:, AFTER : AFTER + 2], level, level > 0)
    ends = ((0, LOW, DOWN, line[:, LOW] > low), (1, HIGH, UP, line[:, HIGH] < high))
    for row, column, first, inside in ends:
        days = _days(line[:, column], low, high)
        _check_list("calendar", calendar[row], link[:, first : first + 2], days, inside)


def check_heap(saved: Arrays) -> None:
    """`InputError` unless every state stands once in the heap, below no lower key, and no key is too low."""
    line = np.asarray(saved["line"], dtype=np.float64)
    heap, place = np.asarray(saved["heap"], dtype=np.int64), np.asarray(saved["link"], dtype=np.int64)[:, PLACE]
    known = len(heap)
    ok = bool((np.sort(heap) == np.arange(known)).all()) and bool((place[heap] == np.arange(known)).all())
    require(ok, "heap", heap, "every state once")
    key, below = line[:, KEY], np.arange(1, known)
    sorted_down = bool((key[heap[(below - 1) // 2]] >= key[heap[below]]).all())
    require(sorted_down, "heap", heap, "the largest key first")
    require(bool((key >= line[:, A] / (1.0 - line[:, B])).all()), "line", "a key", "at least A / (1 - B)")


def _days(x: Floats, low: float, high: float) -> Ints:
    """`hreach.kernels.local_links.day_of`, of many."""
    return np.clip(((x - low) / (high - low) * DAYS).astype(np.int64), 0, DAYS - 1)


def _check_list(name: str, head: Ints, link: Ints, where: Ints, inside: np.ndarray) -> None:
    """Lists of the states `inside`, state i in list where[i]; link: the next and the one before, 1 higher, 0: none."""
    known = len(link)
    bounded = bool(((link >= 0) & (link <= known)).all() and ((head >= 0) & (head <= known)).all())
    require(bounded, name, "a link to elsewhere", "links to states of the plan")
    lists, (after, before) = np.flatnonzero(head), link.T
    first, last = head[lists] - 1, inside & (after > 0)
    following = after[last] - 1
    ok = (
        bool(inside[first].all() and (where[first] == lists).all() and (before[first] == 0).all())
        and bool(inside[following].all() and (where[following] == where[last]).all())
        and bool((before[following] - 1 == np.flatnonzero(last)).all())
        and len(first) + len(following) == int(inside.sum())
    )
    require(ok, name, "a list of other states", "every state once in its list")
    jump = np.concatenate([[0], np.where(inside, before, 0)])
    for _ in range(known.bit_length()):
        jump = jump[jump]
    require(not jump.any(), name, "a ring", "lists that end")
