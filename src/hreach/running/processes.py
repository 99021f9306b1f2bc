"""Worker processes for runs that Python itself has to step: started when first needed, kept until the end.

A worker has one thread for linear algebra (two workers with two threads each would wait for each other), does not hear
Ctrl-C (the parent does, and stops it) and ends when its parent is gone.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, TypeVar

from hreach import compiling
from hreach.errors import WorkerDiedError

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

T = TypeVar("T")


class Processes:
    """So many workers (default: one for each core); a single one is the calling process itself."""

    def __init__(self, count: int | None = None) -> None:
        self.count = count if count is not None else os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        self._workers: set[BaseProcess] = set()

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is None:
            return
        if kind is not None:  # nobody waits for what the workers are still doing
            for worker in self._workers:
                worker.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def run(self, function: Callable[..., T], tasks: Sequence[tuple[object, ...]]) -> Iterator[tuple[int, T]]:
        """(i, function(*tasks[i])) as they finish; they are begun in order."""
        if self.count == 1 or len(tasks) < 2:
            yield from ((i, function(*task)) for i, task in enumerate(tasks))
            return
        try:
            futures = {self._submit(function, task): i for i, task in enumerate(tasks)}
            for future in as_completed(futures):
                yield futures.pop(future), future.result()
        except BrokenProcessPool as error:
            raise WorkerDiedError("a worker process died, perhaps for lack of memory") from error

    def _submit(self, function: Callable[..., T], task: tuple[object, ...]) -> Future[T]:
        if self._pool is None:
            context = get_context("spawn")
            announced = context.Value("b", compiling.announced())
            compiling.announce_with(announced)
            self._pool = ProcessPoolExecutor(self.count, context, _begin, (announced,))
        others = set(active_children()) - self._workers
        with _one_thread(), _no_script():  # a worker is started by the submission that needs it, and inherits this
            future = self._pool.submit(function, *task)
        self._workers |= set(active_children()) - others
        return future


@contextmanager
def _no_script() -> Iterator[None]:
    """Workers need nothing of the script that is being run; without a guard they would run it once more each."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def _one_thread() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _begin(announced: Synchronized[int]) -> None:
    """What a worker does first."""
    compiling.announce_with(announced)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Without this a worker whose parent was killed would wait for work for ever."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
