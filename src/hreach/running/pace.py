"""When a run is saved: every so many seconds, or after every so many steps."""

from __future__ import annotations

import time
from typing import Protocol, runtime_checkable

from hreach.errors import at_least, whole

_LONGEST = 128  # steps between two looks at the clock: few, because the next ones may take far longer than the last
_STRETCH = 0.1  # seconds between two looks, which is also how long Ctrl-C waits


@runtime_checkable
class Pace(Protocol):
    """Says when to save."""

    def stretch(self) -> int:
        """How many steps to go before asking again."""

    def due(self) -> bool:
        """Whether to save now."""

    def saved(self, seconds: float) -> None:
        """Saving took so long."""


class Seconds:
    """Every `every` seconds, but at most 1/50 of the time: a long run takes ever longer to save."""

    def __init__(self, every: float) -> None:
        self._every = at_least("every", every, 0)
        self._steps, self._asked = 1, time.monotonic()
        self._next = self._asked + self._every

    def stretch(self) -> int:
        """As many steps as take about a tenth of a second, or as many as there may be."""
        return self._steps

    def due(self) -> bool:
        """Whether the time has come; and the next stretch becomes longer or shorter."""
        now = time.monotonic()
        took, self._asked = now - self._asked, now
        if took < _STRETCH / 2:
            self._steps = min(2 * self._steps, _LONGEST)
        elif took > 2 * _STRETCH:
            self._steps = max(self._steps // 2, 1)
        return now >= self._next

    def saved(self, seconds: float) -> None:
        """The next time is 50 times as far away as the last one took, or `every`."""
        self._asked = time.monotonic()
        self._next = self._asked + max(self._every, 50 * seconds)


class Steps:
    """After every `every` steps."""

    def __init__(self, every: int) -> None:
        self._every = whole("every", every, 1)

    def stretch(self) -> int:
        """The steps until it is time."""
        return self._every

    def due(self) -> bool:
        """Always, after a stretch."""
        return True

    def saved(self, seconds: float) -> None:
        """However long it took."""


def pace_of(every: float | Pace) -> Pace:
    """Seconds, unless it is a pace already."""
    return every if isinstance(every, Pace) else Seconds(every)
