"""How far the studies in a folder are, from the store alone; and whether its shards are whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hreach.errors import InputError
from hreach.studies.quarantine import Quarantine, Quarantined
from hreach.studies.record import Record
from hreach.studies.shards import read_shard
from hreach.studies.spec import AgentSpec
from hreach.studies.store import Store


@dataclass(frozen=True)
class RowStatus:
    """A row: the runs that are there, of those that it needs, and those that failed."""

    spec: AgentSpec
    cell: str
    done: int
    runs: int
    failed: tuple[Quarantined, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether all its runs are there."""
        return self.done == self.runs


def rows_of(store: Store, record: Record) -> list[RowStatus]:
    """Every row of a study; of one that `until` has not stopped yet, all runs that it may need."""
    quarantine, found = Quarantine(store.folder), []
    for i, (spec, cell) in enumerate(zip(record.study.agent, record.cells, strict=True)):
        runs = (record.used[i] if record.used else 0) or record.runs
        gaps = store.missing(cell, runs)
        lacking = sum(end - first for first, end in gaps)
        failed = tuple(each for each in quarantine.of(cell) if each.first < runs) if gaps else ()
        found.append(RowStatus(spec, cell, runs - lacking, runs, failed))
    return found


def damaged(store: Store) -> Iterator[tuple[Path, str | None]]:
    """Every shard of a store with what is wrong with it, or None."""
    for cell in store.cells():
        for runs, path in store.files(cell):
            try:
                read_shard(path, cell, runs)
            except InputError as error:
                yield path, str(error)
            else:
                yield path, None
