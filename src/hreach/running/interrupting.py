"""Ctrl-C that waits until it is asked about."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def late_interrupt() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C only answers the question whether it came, a second one acts at once.

    Where somebody else listens to Ctrl-C, or in another thread than the first, it stays as it is.
    """
    came = False
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        signal.signal(signal.SIGINT, before)

    ours = threading.current_thread() is threading.main_thread() and before is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, note)
    try:
        yield lambda: came
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
