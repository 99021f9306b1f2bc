"""Tasks one after the other, in the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Self, TypeVar

from hreach.running.executors.base import Failure, Task, attempt

T = TypeVar("T")


class Inline:
    """No workers: a task is computed when it is asked for."""

    count = 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def run(self, function: Callable[..., T], tasks: Iterable[Task]) -> Iterator[tuple[int, T | Failure]]:
        """See `Executor`."""
        for i, task in enumerate(tasks):
            yield i, attempt(function, task)
