"""Results on disk: one immutable Parquet file (a shard) for each cell and range of runs.

    DIR/shards/<cell id>/<first run>-<end>-<digest>.parquet

The id is a hash of all that produced the results: what was run, with which seed, by which code, in which columns. The
digest is that of the file itself (`shards.py`), so a shard is whole or absent, and any damage is found when it is read;
its columns are those of `results.py`. A shard that is there is never written again; more runs are more shards, and what
is pending is what is asked for less what is there. The cell, the agent's constants and who computed stand in the file's
own metadata. Audits of runs are cells of their own, with the columns of `audited.py`.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hreach.errors import InputError
from hreach.files import remove_leftovers, write_bytes
from hreach.studies.audited import AuditedRun, audited_of
from hreach.studies.identity import Data, Identified
from hreach.studies.results import Columns, Result, result_of
from hreach.studies.shards import encode_shard, file_digest, read_shard

SHARDS, CHECKPOINTS = "shards", "checkpoints"  # the latter of long runs that are not finished
_WRITTEN = (SHARDS, CHECKPOINTS, "studies", "tables", "figures")  # folders in which a killed process leaves files
_NAME = re.compile(r"(\d+)-(\d+)-[0-9a-f]{16}\.parquet")
Range = tuple[int, int]  # of runs: first, end


class Store:
    """A folder of shards, which are in `shards`; one that is only read need not be there, nor be writable."""

    def __init__(self, folder: Path, writing: bool = True) -> None:
        self.folder, self.shards = folder, folder / SHARDS
        if writing:
            writable(folder)
            for name in _WRITTEN:
                remove_leftovers(folder / name)

    def missing(self, cell_id: str, runs: int) -> list[Range]:
        """Ranges of runs in [0, runs) that no shard holds."""
        gaps, at = [], 0
        for first, end in self.held(cell_id):
            if first > at:
                gaps.append((at, min(first, runs)))
            at = max(at, end)
            if at >= runs:
                return gaps
        return [*gaps, (at, runs)]

    def lacking(self, cell_id: str, runs: int) -> list[int]:
        """Numbers of the runs in [0, runs) that no shard holds."""
        return [number for first, end in self.missing(cell_id, runs) for number in range(first, end)]

    def held(self, cell_id: str) -> list[Range]:
        """The runs that shards of a cell hold, in order."""
        return [runs for runs, _ in self._names(cell_id)]

    def files(self, cell_id: str) -> list[tuple[Range, Path]]:
        """The shards of a cell, in the order of their runs."""
        return [(runs, self.shards / cell_id / name) for runs, name in self._names(cell_id)]

    def _names(self, cell_id: str) -> list[tuple[Range, str]]:
        """(runs, name of the file) of the shards of a cell, in order."""
        try:
            names = os.listdir(f"{self.shards}/{cell_id}")
        except OSError:
            return []
        return sorted(((int(m[1]), int(m[2])), m[0]) for m in map(_NAME.fullmatch, names) if m)

    def cells(self) -> list[str]:
        """The ids of the cells of which there are shards."""
        return sorted(path.name for path in self.shards.iterdir() if path.is_dir()) if self.shards.is_dir() else []

    def write(self, cell: Identified, first: int, done: Result | AuditedRun) -> None:
        """Keep runs of a cell, numbered from `first` on."""
        held, data, *_ = encoded(cell, first, done)
        self.put(cell.id, held, data)

    def put(self, cell_id: str, runs: Range, data: bytes) -> bool:
        """Keep the file of a shard, unless these runs are there, which is told by False."""
        if runs in self.held(cell_id):
            return False
        path = self.shards / cell_id / f"{runs[0]}-{runs[1]}-{file_digest(data)}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, data, through=self.shards)
        return True

    def read(self, cell_id: str, runs: int) -> Result:
        """The first `runs` runs of a cell; they must all be there."""
        return result_of(list(self._read(cell_id, runs)))

    def read_audits(self, cell_id: str, runs: int) -> list[AuditedRun]:
        """The audits of the first `runs` runs; they must all be there."""
        return [audited_of(columns, about) for _, columns, about in self._read(cell_id, runs)]

    def _read(self, cell_id: str, runs: int) -> Iterator[tuple[slice, Columns, Data]]:
        """(which of its runs, columns, about) of the shards that hold the first `runs` runs, in order."""
        if self.missing(cell_id, runs):
            raise InputError(
                f"runs is {runs}, but the store holds fewer runs of cell {cell_id!r}; run the study first."
            )
        at = 0
        for (first, end), path in self.files(cell_id):
            if first < runs and at < end:
                columns, about = read_shard(path, cell_id, (first, end))
                yield slice(at - first, min(end, runs) - first), columns, about
                at = end


def encoded(cell: Identified, first: int, done: Result | AuditedRun) -> tuple[Range, bytes, Columns, Data]:
    """The range and the file of runs of a cell, numbered from `first` on, and what is read from it."""
    held = (first, first + (done.runs if isinstance(done, Result) else 1))
    columns = done.columns(first)
    data, about = encode_shard(cell, held, columns, done.about(first))
    return held, data, columns, about


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
