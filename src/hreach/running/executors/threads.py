"""Tasks in threads: for compiled work, which gives up the interpreter's lock.

Nobody can end a thread from outside. A task that wants to end early asks for a flag by `stopping()` and looks at it,
as compiled runs do; any other goes on by itself for a while after its executor was stopped, and is not waited for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from hreach.running.executors.base import Failure, Task, attempt, failure, workers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
Work = tuple[int, Callable[..., object], Task]
_PATIENCE = 1.0  # seconds that stopped threads are waited for


class _Here(threading.local):
    """Of each thread: the crew that it belongs to, if any, and the flags of its task."""

    def __init__(self) -> None:
        self.crew: _Crew | None = None
        self.flags: list[NDArray[np.bool_]] = []


_here = _Here()


def stopping() -> NDArray[np.bool_]:
    """A new flag (1,), set once nobody wants the result of this thread's task; never, outside of an executor.

    It is the caller's: who sets it stops nobody else.
    """
    import numpy as np

    flag = np.zeros(1, dtype=np.bool_)
    if _here.crew is not None:
        _here.crew.watch(_here.flags, flag)
    return flag


class Threads:
    """So many threads; see `Executor`."""

    def __init__(self, count: int | None = None) -> None:
        self.count = workers(count)
        self._crew: _Crew | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def run(self, function: Callable[..., T], tasks: Iterable[Task]) -> Iterator[tuple[int, T | Failure]]:
        """See `Executor`."""
        crew = self._crew = self._crew or _Crew(self.count)
        if crew.under_way:
            raise RuntimeError("an executor's run is asked for while another one is under way")
        coming = enumerate(tasks)
        try:
            while True:
                while crew.under_way < 2 * self.count and (following := next(coming, None)) is not None:
                    crew.put((following[0], function, following[1]))
                if not crew.under_way:
                    return
                yield crew.get()
        except BaseException:
            if crew.under_way:
                self._stop()
            raise

    def _stop(self) -> None:
        if self._crew is not None:
            self._crew.stop()
            self._crew = None


class _Crew:
    """Threads that live and are stopped together."""

    def __init__(self, count: int) -> None:
        self.under_way = 0
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._done: SimpleQueue[tuple[int, object]] = SimpleQueue()
        self._stopped = False
        self._flags: list[list[NDArray[np.bool_]]] = [[] for _ in range(count)]
        self._threads = [threading.Thread(target=self._serve, args=(own,), daemon=True) for own in self._flags]
        for thread in self._threads:
            thread.start()

    def put(self, work: Work) -> None:
        """Some thread is to do this."""
        self.under_way += 1
        self._work.put(work)

    def get(self) -> tuple[int, object]:
        """Wait for something that is done."""
        done = self._done.get()
        self.under_way -= 1
        return done

    def watch(self, own: list[NDArray[np.bool_]], flag: NDArray[np.bool_]) -> None:
        """Set `flag` when the crew is stopped, even if it is being stopped now."""
        own.append(flag)
        flag[0] = self._stopped

    def stop(self) -> None:
        """Set all flags, and wait a moment."""
        self._stopped = True
        for own in self._flags:
            for flag in list(own):
                flag[0] = True
        for _ in self._threads:
            self._work.put(None)
        until = time.monotonic() + _PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _serve(self, own: list[NDArray[np.bool_]]) -> None:
        _here.crew, _here.flags = self, own
        while (work := self._work.get()) is not None and not self._stopped:
            i, function, task = work
            own.clear()
            try:
                done: object = attempt(function, task)
            except BaseException as error:  # a thread that ended here would be waited for without end
                done = failure(error)
            self._done.put((i, done))
