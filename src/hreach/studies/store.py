"""Results on disk: one immutable Parquet file (a shard) for each cell and range of runs.

    DIR/shards/<cell id>/<first run>-<end>.parquet

    by steps       columns run, step, total_reward (up to and with that step)
    by episodes    columns run, phase ("learning" or "plain"), episode, total_reward (of it), length, terminated;
                   one run in each shard

A shard is whole or absent, and checked whenever it is read (`shards.py`). A shard that is there is never written
again; more runs are more shards. The cell, the agent's constants and who computed stand in the file's own metadata, as
does the last episode (states, actions, rewards) of run 0 if it had final episodes.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hreach.errors import InputError
from hreach.studies.episodes import Episode, EpisodeRun, Episodes
from hreach.studies.grid import Cell
from hreach.studies.shards import read_shard, write_shard

CHECKPOINTS = 100
LEARNING, PLAIN = "learning", "plain"


@dataclass(frozen=True)
class Result:
    """What a cell earned: total reward (runs, K) up to the steps (K,), the agent's constants, and who computed it."""

    steps: NDArray[np.int64]
    total: NDArray[np.float64]
    agent: dict[str, Any]
    makers: Sequence[Mapping[str, str]] = ()

    @property
    def average_reward(self) -> NDArray[np.float64]:
        """Reward per step up to each checkpoint, shape (runs, K)."""
        return self.total / self.steps

    @property
    def headline(self) -> str:
        """The one number that says most: reward per step, mean over runs."""
        return f"{self.average_reward[:, -1].mean():.4f}"


@dataclass(frozen=True)
class EpisodeResult:
    """What a cell by episodes earned: arrays (runs, episodes), run 0's last plain episode and its constants, makers."""

    learning: Episodes
    plain: Episodes
    last: Episode | None
    agent: dict[str, Any]
    makers: Sequence[Mapping[str, str]] = ()

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.learning.total)

    @property
    def headline(self) -> str:
        """The one number that says most: total reward of an episode, mean over runs and episodes."""
        return f"{self.learning.total.mean():.5g}"


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
        at = checkpoints(_steps(cell))
        total = np.cumsum(reward, axis=1)[:, at - 1]
        columns: dict[str, NDArray[Any]] = {
            "run": np.repeat(np.arange(first, first + runs, dtype=np.int32), len(at)),
            "step": np.tile(at.astype(np.int32), runs),
            "total_reward": total.reshape(-1),
        }
        held = (first, first + runs)
        write_shard(self._path(cell, *held), cell, held, columns, {"agent": agent})

    def write_episodes(self, cell: Cell, number: int, done: EpisodeRun) -> None:
        """Keep run `number` of a cell by episodes."""
        phases = [(LEARNING, done.learning), (PLAIN, done.plain)]
        columns = {
            "run": np.full(sum(len(e.total) for _, e in phases), number, dtype=np.int32),
            "phase": np.array([name for name, e in phases for _ in e.total]),
            "episode": np.concatenate([np.arange(1, len(e.total) + 1, dtype=np.int32) for _, e in phases]),
            "total_reward": np.concatenate([e.total for _, e in phases]),
            "length": np.concatenate([e.length.astype(np.int32) for _, e in phases]),
            "terminated": np.concatenate([e.terminated for _, e in phases]),
        }
        about: dict[str, Any] = {"agent": done.agent}
        if number == 0 and done.last is not None:
            about["last"] = {name: values.tolist() for name, values in done.last.__dict__.items()}
        held = (number, number + 1)
        write_shard(self._path(cell, *held), cell, held, columns, about)

    def read(self, cell: Cell, runs: int) -> Result:
        """The first `runs` runs of a cell; they must all be there."""
        at = checkpoints(_steps(cell))
        total = np.empty((runs, len(at)))
        abouts = []
        for first, end in self._complete(cell, runs):
            columns, about = read_shard(self._path(cell, first, end), cell, (first, end))
            rows = columns["total_reward"].reshape(end - first, len(at))
            total[first : min(end, runs)] = rows[: max(0, runs - first)]
            abouts.append(about)
        return Result(at, total, abouts[0]["agent"], _makers(abouts))

    def read_episodes(self, cell: Cell, runs: int) -> EpisodeResult:
        """The first `runs` runs of a cell by episodes; they must all be there."""
        ranges = [(first, end) for first, end in self._complete(cell, runs) if first < runs]
        shards = [read_shard(self._path(cell, *held), cell, held) for held in ranges]
        tables, abouts = [columns for columns, _ in shards], [about for _, about in shards]
        phases = (_phase(tables, LEARNING), _phase(tables, PLAIN))
        return EpisodeResult(*phases, _episode(abouts[0].get("last")), abouts[0]["agent"], _makers(abouts))

    def _complete(self, cell: Cell, runs: int) -> list[tuple[int, int]]:
        """The shards of a cell, in order, if they hold the first `runs` runs."""
        if self.missing(cell, runs):
            raise InputError(f"runs is {runs}, but the store holds fewer runs of {cell.agent!r}; run the study first.")
        return sorted(self._shards(cell))

    def _path(self, cell: Cell, first: int, end: int) -> Path:
        return self._folder(cell) / f"{first}-{end}.parquet"

    def _folder(self, cell: Cell) -> Path:
        return self.folder / "shards" / cell.id

    def _shards(self, cell: Cell) -> list[tuple[int, int]]:
        names = self._folder(cell).glob("*.parquet") if self._folder(cell).is_dir() else []
        found = (re.fullmatch(r"(\d+)-(\d+)", p.stem) for p in names)
        return [(int(m[1]), int(m[2])) for m in found if m]


def _steps(cell: Cell) -> int:
    assert cell.steps is not None
    return cell.steps


def _makers(abouts: Iterable[dict[str, Any]]) -> list[dict[str, str]]:
    """Who computed, each once."""
    made = [about["made"] for about in abouts]
    return [m for i, m in enumerate(made) if m not in made[:i]]


def _phase(tables: list[dict[str, NDArray[Any]]], phase: str) -> Episodes:
    """The episodes of one phase, (runs, episodes), from one table for each run."""

    def column(name: str) -> NDArray[Any]:
        return np.stack([t[name][t["phase"] == phase] for t in tables])

    return Episodes(column("total_reward"), column("length").astype(np.int64), column("terminated"))


def _episode(saved: dict[str, Any] | None) -> Episode | None:
    if saved is None:
        return None
    return Episode(np.array(saved["states"]), np.array(saved["actions"], dtype=np.int64), np.array(saved["rewards"]))


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
