"""Results on disk: one immutable Parquet file (a shard) for each cell and range of runs.

    DIR/shards/<cell id>/<first run>-<end>.parquet       columns run, step, total_reward (up to and with that step)

A shard is written under a temporary name and renamed, so it is whole or absent. A shard that is there is never
written again; more runs are more shards. The cell and the agent's constants stand in the file's own metadata.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hreach.errors import InputError
from hreach.studies.grid import Cell

CHECKPOINTS = 100


@dataclass(frozen=True)
class Result:
    """What a cell earned: total reward (runs, K) up to the steps (K,), and the agent's constants."""

    steps: NDArray[np.int64]
    total: NDArray[np.float64]
    agent: dict[str, Any]

    @property
    def average_reward(self) -> NDArray[np.float64]:
        """Reward per step up to each checkpoint, shape (runs, K)."""
        return self.total / self.steps


def checkpoints(steps: int) -> NDArray[np.int64]:
    """Steps at which the total reward is kept: evenly spread, the last one included."""
    return np.unique(np.ceil(np.linspace(0, steps, CHECKPOINTS + 1)[1:]).astype(np.int64))


class Store:
    """A folder of shards."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        writable(folder)

    def missing(self, cell: Cell, runs: int) -> list[tuple[int, int]]:
        """Ranges of runs in [0, runs) that no shard holds."""
        gaps, at = [], 0
        for first, end in sorted(self._shards(cell)):
            if first > at:
                gaps.append((at, min(first, runs)))
            at = max(at, end)
            if at >= runs:
                return gaps
        return [*gaps, (at, runs)]

    def write(self, cell: Cell, first: int, reward: NDArray[np.float64], agent: dict[str, Any]) -> None:
        """Keep the rewards (runs, steps) of the runs from `first` on."""
        runs = len(reward)
        at = checkpoints(cell.steps)
        total = np.cumsum(reward, axis=1)[:, at - 1]
        table = pa.table(
            {
                "run": np.repeat(np.arange(first, first + runs, dtype=np.int32), len(at)),
                "step": np.tile(at.astype(np.int32), runs),
                "total_reward": total.reshape(-1),
            }
        )
        about = {"cell": cell.__dict__, "agent": agent}
        table = table.replace_schema_metadata({"hreach": json.dumps(about)})
        folder = self._folder(cell)
        folder.mkdir(parents=True, exist_ok=True)
        shard = folder / f"{first}-{first + runs}.parquet"
        temporary = folder / f".{shard.name}.{os.getpid()}.tmp"
        try:
            pq.write_table(table, temporary, compression="zstd")
            if not shard.exists():
                os.replace(temporary, shard)
        finally:
            temporary.unlink(missing_ok=True)

    def read(self, cell: Cell, runs: int) -> Result:
        """The first `runs` runs of a cell; they must all be there."""
        if self.missing(cell, runs):
            raise InputError(f"runs is {runs}, but the store holds fewer runs of {cell.agent!r}; run the study first.")
        at = checkpoints(cell.steps)
        total = np.empty((runs, len(at)))
        agent: dict[str, Any] = {}
        for first, end in sorted(self._shards(cell)):
            table = pq.read_table(self._folder(cell) / f"{first}-{end}.parquet", columns=["total_reward"])
            agent = json.loads(table.schema.metadata[b"hreach"])["agent"]
            rows = table["total_reward"].to_numpy().reshape(end - first, len(at))
            total[first : min(end, runs)] = rows[: max(0, runs - first)]
        return Result(at, total, agent)

    def _folder(self, cell: Cell) -> Path:
        return self.folder / "shards" / cell.id

    def _shards(self, cell: Cell) -> list[tuple[int, int]]:
        names = self._folder(cell).glob("*.parquet") if self._folder(cell).is_dir() else []
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
