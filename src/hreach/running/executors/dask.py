"""Tasks on a Dask cluster: one that runs already, or worker processes of Dask's own on this machine.

Dask holds all tasks that a lost worker had, begun or not, to be suspect. So a task that was lost is tried again while
no other is under way, and what happens then is its own doing.

Workers of a running cluster must have hreach installed, in the same version. Folders of this process's import path that
are not part of its Python are searched there too, where they exist: on one file system a user's own modules are found.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from types import TracebackType
from typing import Self, TypeVar

from hreach.compiling import Untyped
from hreach.errors import InputError, WorkerDiedError, shown
from hreach.running.executors.base import TRIES, Failure, Task, failure, workers
from hreach.running.executors.cluster import Cluster
from hreach.running.executors.sending import Coming, Sent
from hreach.running.executors.worker import answer, unpack

try:
    import distributed
except ImportError as error:
    raise InputError("executor is 'dask', which needs a further package: pip install 'hreach[dask]'.") from error

# A connection that ends while something is still sent is no news: tasks that were lost are noticed here.
logging.getLogger("distributed.batched").setLevel(logging.WARNING)

T = TypeVar("T")
_LOG = logging.getLogger("distributed.client")
_PATIENCE = 10  # seconds that a scheduler has to answer
_ASK_AGAIN = 5.0  # seconds after which a running cluster may have grown


class Dask:
    """The workers of a scheduler at this address, or `count` worker processes of one thread each; see `Executor`."""

    def __init__(self, count: int | None = None, scheduler: str | None = None) -> None:
        self.count = workers(count)
        self._cluster: Cluster | None = None
        self._client: Untyped = None
        self._asked = -math.inf
        self._level = _LOG.level
        if scheduler is not None:
            self._client = _connected(scheduler)
            self._ask()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def run(self, function: Callable[..., T], tasks: Iterable[Task]) -> Iterator[tuple[int, T | Failure]]:
        """See `Executor`."""
        coming, lost = Coming(function, tasks), list[Sent]()
        under_way: dict[Untyped, Sent] = {}
        try:
            while True:
                yield from self._hand_out(coming, lost, under_way)
                if not under_way:
                    return
                yield from self._collect(lost, under_way)  # type: ignore[misc]  # what `function` gives
        except BaseException:
            if under_way:
                self._abandon(under_way)
            raise

    def _hand_out(
        self, coming: Coming, lost: list[Sent], under_way: dict[Untyped, Sent]
    ) -> Iterator[tuple[int, Failure]]:
        """Tasks while there is room; or, once nothing is under way, one that was lost, alone."""
        if lost:
            if not under_way:
                self._submit(lost.pop(), under_way)
            return
        while len(under_way) < 2 * self._ask() and (task := coming.take()) is not None:
            if isinstance(task, Sent):
                self._submit(task, under_way)
            else:
                yield task

    def _submit(self, task: Sent, under_way: dict[Untyped, Sent]) -> None:
        if self._client is None:
            self._cluster = Cluster(self.count)
            self._client = _connected(self._cluster.address)
        under_way[self._client.submit(answer, task.packed, _own_folders(), pure=False)] = task

    def _collect(self, lost: list[Sent], under_way: dict[Untyped, Sent]) -> Iterator[tuple[int, object]]:
        """Wait until a task is done or lost."""
        alone = len(under_way) == 1
        for future in self._wait(under_way):
            task = under_way.pop(future)
            try:
                answered = future.result()  # computed again if the worker died before it was asked for this
            except distributed.scheduler.KilledWorker as error:
                task.deaths += error.allowed_failures + 1
                if alone and task.deaths >= TRIES:
                    yield task.number, Failure("its worker process died", task.deaths)
                else:
                    lost.append(task)
            except CancelledError as error:
                raise _gone() from error
            except Exception as error:  # of Dask's own: those of a task are part of the answer
                yield task.number, failure(error)
            else:
                yield task.number, unpack(answered)

    def _wait(self, under_way: Iterable[Untyped]) -> Iterable[Untyped]:
        try:
            with self._client.as_current():
                return distributed.wait(list(under_way), return_when="FIRST_COMPLETED").done  # type: ignore[no-any-return]
        except CancelledError as error:
            raise _gone() from error

    def _ask(self) -> int:
        """How many threads there are, at least 1: a running cluster may grow or shrink."""
        if self._client is not None and self._cluster is None and time.monotonic() > self._asked + _ASK_AGAIN:
            try:
                self.count = max(1, sum(self._client.nthreads().values()))
            except OSError as error:
                raise _gone() from error
            self._asked = time.monotonic()
        return self.count

    def _abandon(self, under_way: dict[Untyped, Sent]) -> None:
        """Workers of ours end at once; those of others finish what they have begun."""
        if self._cluster is not None:
            self._close()
        else:
            self._client.cancel(list(under_way))

    def _close(self) -> None:
        if self._client is not None:
            self._client.close(timeout=_PATIENCE)
        if self._cluster is not None:
            self._cluster.close()
        self._client = self._cluster = None
        _LOG.setLevel(self._level)


class _Client(distributed.Client):  # type: ignore[misc]  # Dask has no types
    """Dask's, closed if it cannot be made: otherwise Python closes it in its own time, and waits for ever if that is
    while Dask holds its lock for another client."""

    def __init__(self, scheduler: str) -> None:
        try:
            super().__init__(scheduler, timeout=_PATIENCE, set_as_default=False)
        except BaseException:
            self.close(timeout=_PATIENCE)
            raise


def _connected(scheduler: str) -> Untyped:
    try:
        client = _Client(scheduler)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"scheduler is {shown(scheduler)}, but must be the address of a Dask scheduler that answers "
            f"within {_PATIENCE} s, as in 'tcp://127.0.0.1:8786'."
        ) from error
    _LOG.setLevel(logging.CRITICAL)  # what goes wrong is told by results and errors
    return client


def _gone() -> WorkerDiedError:
    return WorkerDiedError("the Dask scheduler is gone, or has dropped the tasks")


def _own_folders() -> tuple[str, ...]:
    """The import path of this process but for what belongs to its Python."""
    python = tuple(os.path.join(place, "") for place in {sys.prefix, sys.base_prefix})
    return tuple(path for path in map(os.path.abspath, sys.path) if os.path.isdir(path) and not path.startswith(python))
