"""Work on large arrays, a part of them for each thread."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

import numpy as np

from hreach.problems.arrays import Array

ENTRIES = 250_000  # of a thread, at least: below that, handing over costs more than it saves
Part = Callable[[Array, int, int], None]


class Parts:
    """`size` items with so many entries in all, cut for at most `threads` threads (None: one for each core)."""

    def __init__(self, size: int, entries: int, threads: int | None = None) -> None:
        count = os.cpu_count() or 1 if threads is None else threads
        parts = max(1, min(count, size, 1 + entries // ENTRIES))
        self.cuts = [size * i // parts for i in range(parts + 1)]
        self._pool = ThreadPoolExecutor(parts - 1) if parts > 1 else None

    def __enter__(self) -> Parts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def each(self, work: Part) -> Array:
        """work(found, begin, end) of each part; `found`, a row for each part, as they filled it."""
        found = np.zeros((len(self.cuts) - 1, 8))  # 64 bytes: a line of the cache for each thread
        if self._pool is None:
            work(found[0], *self.cuts)
            return found
        cuts = list(zip(found, self.cuts, self.cuts[1:], strict=False))
        others = [self._pool.submit(work, *cut) for cut in cuts[1:]]
        work(*cuts[0])
        for other in others:
            other.result()
        return found
