"""Shards on their way to the disk: whoever writes waits for it, and nobody else has to.

A disk takes some milliseconds to flush a file and its folder, about as long as a short shard is computed, and several
of them hardly longer than one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from hreach.studies.store import Range, Store

_AT_ONCE = 4  # threads that write


class Writer:
    """Puts shards into a store; at most `most` of them are computed and not yet known to be there."""

    def __init__(self, store: Store, most: int) -> None:
        self._store, self._most = store, most
        self._pool = ThreadPoolExecutor(_AT_ONCE)
        self._under_way: deque[tuple[Future[bool], Callable[[bool], None]]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """What is computed is written, also if the study is stopped."""
        self._pool.shutdown()

    def put(self, cell_id: str, runs: Range, data: bytes, then: Callable[[bool], None]) -> None:
        """`Store.put` in some thread; the thread that calls this calls `then` with what it gave, now or later."""
        self._under_way.append((self._pool.submit(self._store.put, cell_id, runs, data), then))
        self.settle(self._most)

    def settle(self, most: int = 0) -> None:
        """Wait until no more than so many are under way; `OSError` if one could not be written."""
        while len(self._under_way) > most or (self._under_way and self._under_way[0][0].done()):
            written, then = self._under_way.popleft()
            then(written.result())
