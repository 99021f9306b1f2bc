"""Tasks in worker processes. A worker that dies is replaced, and what it was doing is tried again.

Each worker has a pipe of its own. It answers in order, so of the tasks it was given the first one without an answer is
the one it died of; what was to come after that goes to another worker as if nothing had happened.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import wait
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from hreach import compiling
from hreach.errors import WorkerDiedError
from hreach.running.executors.base import TRIES, Failure, Task, workers
from hreach.running.executors.sending import Coming, Sent, Worker
from hreach.running.executors.worker import serve, starting, unpack

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

T = TypeVar("T")
_BY_OTHERS = (-9, -15)  # exit codes of processes that were killed, by somebody or for want of memory
# Workers in a row that end before they have begun: the next one would too. Those that somebody kills may have been
# unlucky, above all on a busy machine, where to begin takes seconds.
_STILLBORN, _KILLED = 3, 20
_PATIENCE = 2.0  # seconds that a worker has to end


class Processes:
    """So many worker processes; see `Executor`."""

    def __init__(self, count: int | None = None) -> None:
        self.count = workers(count)
        self._workers: list[Worker] = []
        self._announced: Synchronized[int] | None = None
        self._stillborn = 0  # of `_KILLED`; one that ends by itself counts for several

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def run(self, function: Callable[..., T], tasks: Iterable[Task]) -> Iterator[tuple[int, T | Failure]]:
        """See `Executor`."""
        if self._busy():
            raise RuntimeError("an executor's run is asked for while another one is under way")
        coming = Coming(function, tasks)
        try:
            while True:
                yield from self._hand_out(coming)
                if not self._busy() and not coming.again:  # what could not be given waits for a burial
                    return
                yield from self._collect(coming)  # type: ignore[misc]  # what `function` gives
        except BaseException:
            if self._busy():
                self._stop()
            raise

    def _busy(self) -> bool:
        return any(worker.tasks for worker in self._workers)

    def _hand_out(self, coming: Coming) -> Iterator[tuple[int, Failure]]:
        """Tasks to all workers that have room; those that cannot be sent have failed."""
        while self._room() and (task := coming.take()) is not None:
            if not isinstance(task, Sent):
                yield task
            elif not self._free().give(task):
                coming.again.append(task)
                return  # its end is in the pipe, and is found there by `_collect`

    def _room(self) -> bool:
        return len(self._workers) < self.count or any(worker.room > 0 for worker in self._workers)

    def _free(self) -> Worker:
        """A worker without tasks, or a new one, or the one with most room."""
        most = max(self._workers, key=lambda worker: worker.room, default=None)
        if most is None or (most.tasks and len(self._workers) < self.count):
            most = self._start()
        return most

    def _start(self) -> Worker:
        context = get_context("spawn")
        if self._announced is None:
            self._announced = context.Value("b", compiling.announced())
            compiling.announce_with(self._announced)
            atexit.register(self._stop)  # multiprocessing waits at the end for processes that nobody stopped
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, self._announced))
        with starting():
            process.start()
            theirs.close()
            self._workers.append(Worker(process, ours))  # before Ctrl-C is heard again: it is to be stopped too
        return self._workers[-1]

    def _collect(self, coming: Coming) -> Iterator[tuple[int, object]]:
        """Wait until a worker says something or dies, and for no longer."""
        ends = {worker.process.sentinel for worker in self._workers}
        heard = set(wait([*ends, *(worker.pipe for worker in self._workers)]))
        for worker in list(self._workers):
            ended = worker.process.sentinel in heard  # asked first: what it said before is all there to be heard
            if ended or worker.pipe in heard:
                answers, open_ = worker.hear()
                if worker.ready:
                    self._stillborn = 0
                for number, answered in answers:
                    yield number, unpack(answered)
                if ended or not open_:
                    yield from self._bury(worker, coming)

    def _bury(self, worker: Worker, coming: Coming) -> Iterator[tuple[int, Failure]]:
        """Its tasks are tried again, unless this was the last try of the one it was doing."""
        self._workers.remove(worker)
        how = worker.end(_PATIENCE)
        if not worker.ready:
            self._stillborn += 1 if worker.process.exitcode in _BY_OTHERS else -(-_KILLED // _STILLBORN)
            if self._stillborn >= _KILLED:
                raise WorkerDiedError(f"worker processes die before they have begun ({how})")
        elif worker.tasks:
            worker.tasks[0].deaths += 1
        for task in reversed(worker.tasks):
            if task.deaths < TRIES:
                coming.again.append(task)
            else:
                yield task.number, Failure(f"its worker process died ({how})", task.deaths)

    def _stop(self) -> None:
        """End all workers: at once if they are busy, by themselves if not."""
        ending, self._workers = self._workers, []
        for worker in ending:
            worker.dismiss()
        until = time.monotonic() + _PATIENCE
        for worker in ending:
            worker.end(max(0.0, until - time.monotonic()))
        self._announced = None
        atexit.unregister(self._stop)
