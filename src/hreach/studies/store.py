"""Results on disk: one immutable Parquet file (a shard) for each cell and range of runs.

    DIR/shards/<cell id>/<first run>-<end>.parquet

A shard is whole or absent, and checked whenever it is read (`shards.py`); its columns are those of `results.py`. A
shard that is there is never written again; more runs are more shards. The cell, the agent's constants and who computed
stand in the file's own metadata. Audits of runs are cells of their own.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hreach.errors import InputError
from hreach.protocols import Plain
from hreach.studies.identity import Identified
from hreach.studies.results import AuditedRun, Columns, Result, audited_of, result_of
from hreach.studies.shards import read_shard, write_shard


class Store:
    """A folder of shards."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        writable(folder)

    def missing(self, cell_id: str, runs: int) -> list[tuple[int, int]]:
        """Ranges of runs in [0, runs) that no shard holds."""
        gaps, at = [], 0
        for first, end in sorted(self._shards(cell_id)):
            if first > at:
                gaps.append((at, min(first, runs)))
            at = max(at, end)
            if at >= runs:
                return gaps
        return [*gaps, (at, runs)]

    def lacking(self, cell_id: str, runs: int) -> list[int]:
        """Numbers of the runs in [0, runs) that no shard holds."""
        return [number for first, end in self.missing(cell_id, runs) for number in range(first, end)]

    def write(self, cell: Identified, first: int, done: Result | AuditedRun) -> None:
        """Keep runs of a cell, numbered from `first` on."""
        held = (first, first + (done.runs if isinstance(done, Result) else 1))
        write_shard(self._path(cell.id, *held), cell, held, done.columns(first), done.about(first))

    def read(self, cell_id: str, runs: int) -> Result:
        """The first `runs` runs of a cell; they must all be there."""
        return result_of(list(self._read(cell_id, runs)))

    def read_audits(self, cell_id: str, runs: int) -> list[AuditedRun]:
        """The audits of the first `runs` runs; they must all be there."""
        return [audited_of(columns, about) for _, columns, about in self._read(cell_id, runs)]

    def _read(self, cell_id: str, runs: int) -> Iterator[tuple[slice, Columns, Plain]]:
        """(which of its runs, columns, about) of the shards that hold the first `runs` runs, in order."""
        if self.missing(cell_id, runs):
            raise InputError(
                f"runs is {runs}, but the store holds fewer runs of cell {cell_id!r}; run the study first."
            )
        at = 0
        for first, end in sorted(self._shards(cell_id)):
            if first < runs and at < end:
                columns, about = read_shard(self._path(cell_id, first, end), cell_id, (first, end))
                yield slice(at - first, min(end, runs) - first), columns, about
                at = end

    def _path(self, cell_id: str, first: int, end: int) -> Path:
        return self._folder(cell_id) / f"{first}-{end}.parquet"

    def _folder(self, cell_id: str) -> Path:
        return self.folder / "shards" / cell_id

    def _shards(self, cell_id: str) -> list[tuple[int, int]]:
        folder = self._folder(cell_id)
        names = folder.glob("*.parquet") if folder.is_dir() else []
        found = (re.fullmatch(r"(\d+)-(\d+)", p.stem) for p in names)
        return [(int(m[1]), int(m[2])) for m in found if m]


def writable(folder: Path) -> None:
    """Make the folder, or say why it cannot be used, before any work is done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"out is {str(folder)!r}, but must be a folder that can be written ({error.strerror})."
        ) from error
