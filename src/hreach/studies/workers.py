"""Who computes a study: one executor for compiled rows, one for those that Python steps."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType

from hreach.running.executors import Executor, make_executor
from hreach.studies.identity import digest
from hreach.studies.work import EVERY


@dataclass(frozen=True)
class Workers:
    """Executors, to be shared by studies; those that are equal are one.

    local   whether they see the folder of results, so that long runs may keep there how far they are
    every   seconds between two checkpoints of a long run
    part    (k, n): of all shards of a study they compute part k of n, other machines the other parts
    """

    compiled: Executor
    stepped: Executor
    local: bool = True
    every: float = EVERY
    part: tuple[int, int] = (1, 1)
    _open: ExitStack = field(default_factory=ExitStack, repr=False)

    @property
    def count(self) -> int:
        """How many shards are computed at once."""
        return max(self.compiled.count, self.stepped.count)

    def take(self, cell_id: str, first: int) -> bool:
        """Whether a shard is theirs, which depends on nothing but the shard."""
        k, n = self.part
        return int(digest([cell_id, first])[:8], 16) % n == k - 1

    def __enter__(self) -> Workers:
        for executor in dict.fromkeys((self.compiled, self.stepped)):
            self._open.enter_context(executor)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)


def make_workers(
    executor: str | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    every: float = EVERY,
    part: tuple[int, int] = (1, 1),
) -> Workers:
    """Workers by the name of an executor; by default threads for compiled rows and processes for the others.

    A single job that was not given an executor is this process itself.
    """
    if executor is None and scheduler is None:
        jobs = os.cpu_count() or 1 if jobs is None else jobs
        stepped = make_executor("inline") if jobs == 1 else make_executor("processes", jobs)
        return Workers(make_executor("threads", jobs), stepped, every=every, part=part)
    one = make_executor(executor or "dask", jobs, scheduler)
    return Workers(one, one, local=scheduler is None, every=every, part=part)


def here() -> Workers:
    """No workers: everything is computed by whoever asks."""
    inline = make_executor("inline")
    return Workers(inline, inline)
