"""What every executor is, and what becomes of a task that fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, TypeVar

from hreach.errors import TaskFailedError, whole

TRIES = 3  # of a task whose worker dies
T = TypeVar("T")
Task = tuple[object, ...]


@dataclass(frozen=True)
class Failure:
    """A task that gave nothing.

    why     one line: the error that was raised, or how the worker died
    tries   how often it was begun; an error is not tried again, as the same seeds would give it again
    """

    why: str
    tries: int


class Executor(Protocol):
    """Computes tasks, `count` at once; it can be asked again while it is open.

    Workers are started when first needed and kept until the end. Whoever stops listening (an error, Ctrl-C, a closed
    iterator) ends them at once.
    """

    count: int

    def run(self, function: Callable[..., T], tasks: Iterable[Task]) -> Iterator[tuple[int, T | Failure]]:
        """(i, function(*tasks[i])) as they finish; begun in order, and taken from `tasks` shortly before that."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def workers(count: int | None) -> int:
    """So many workers, or one for each core."""
    return os.cpu_count() or 1 if count is None else whole("count", count, 1)


def attempt(function: Callable[..., T], task: Task) -> T | Failure:
    """function(*task), or what it raised; a task that calls `sys.exit` ends itself and nobody else."""
    try:
        return function(*task)
    except (Exception, SystemExit) as error:
        return failure(error)


def failure(error: BaseException) -> Failure:
    """An error as a failure at the first try."""
    try:
        said = " ".join(str(error).split())
    except Exception:  # an error of somebody else's making may not even be able to tell
        said = ""
    return Failure(f"{type(error).__name__}: {said}" if said else type(error).__name__, 1)


def succeeded(done: T | Failure) -> T:
    """What a task gave; `TaskFailedError` where it gave nothing."""
    if isinstance(done, Failure):
        raise TaskFailedError(done.why)
    return done
