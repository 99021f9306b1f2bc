"""How far a long call is: told to a callable, or shown as a bar on the error stream."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from hreach.errors import require
from hreach.protocols import Acts
from hreach.running.record import Record

Told = Callable[[int], object]
Telling = Told | bool | None
_SECONDS = 0.1  # between two updates of the bar: a step of a run takes some microseconds, an update as long


@runtime_checkable
class Follows(Protocol):
    """A `progress` that looks at a run of `hreach.run` while it grows."""

    def begin(self, agent: Acts, record: Record) -> None:
        """A run begins, with what was done of it before."""

    def __call__(self, more: int, /) -> object:
        """So many steps or episodes more were finished."""


@contextmanager
def telling(progress: Telling, total: int, what: str) -> Iterator[Told | None]:
    """Whom to tell how much was finished since the last time: `progress` itself, a bar if it is True, or nobody."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        with _bar(total, what) as told:
            yield told
    else:
        require(callable(progress), "progress", progress, "a callable that takes a number, True or None")
        yield progress


@contextmanager
def _bar(total: int, what: str) -> Iterator[Told]:
    """A bar of `total` steps, runs or episodes."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    done, last = 0, 0.0
    with Progress(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task(what, total=total)

        def told(more: int) -> None:
            nonlocal done, last
            done += more
            now = time.monotonic()
            if now - last >= _SECONDS:
                bars.update(task, completed=done)
                last = now

        try:
            yield told
        finally:
            bars.update(task, completed=done)
