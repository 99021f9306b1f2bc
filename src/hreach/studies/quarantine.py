"""Shards that could not be computed, and why.

    DIR/quarantine/<cell id>/<first run>-<end>.json

A shard is put here when it fails, and taken out when it is computed after all.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hreach.files import write_text
from hreach.studies.identity import Identified

FOLDER = "quarantine"
Range = tuple[int, int]


@dataclass(frozen=True)
class Quarantined:
    """The runs [first, end) of a cell, why there are none, after how many tries."""

    cell: str
    first: int
    end: int
    why: str
    tries: int

    def __str__(self) -> str:
        tried = f" ({self.tries} tries)" if self.tries > 1 else ""
        runs = f"run {self.first}" if self.end == self.first + 1 else f"runs {self.first} to {self.end - 1}"
        why = "".join(letter if letter.isprintable() else " " for letter in self.why)  # an error may say anything
        return f"{runs}: {why}{tried}"


class Quarantine:
    """The folder of shards that failed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER

    def put(self, cell: Identified, runs: Range, why: str, tries: int) -> None:
        """Remember a failure, in place of an older one of the same shard."""
        path = self._path(cell.id, runs)
        path.parent.mkdir(parents=True, exist_ok=True)
        about = {"cell": cell.identity, "runs": list(runs), "why": why, "tries": tries}
        write_text(path, json.dumps(about, indent=1) + "\n")

    def release(self, cell_id: str, runs: Range) -> None:
        """The shard was computed."""
        if not self.folder.is_dir():
            return
        path = self._path(cell_id, runs)
        path.unlink(missing_ok=True)
        for folder in (path.parent, self.folder):
            with suppress(OSError):  # others are in it
                folder.rmdir()

    def of(self, cell_id: str) -> list[Quarantined]:
        """The failures of a cell, in the order of their runs; a file that is none is passed over."""
        found = []
        for path in (self.folder / cell_id).glob("*.json"):
            with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
                about = json.loads(path.read_text("utf-8"))
                first, end = map(int, about["runs"])
                found.append(Quarantined(cell_id, first, end, str(about["why"]), int(about["tries"])))
        return sorted(found, key=lambda each: each.first)

    def _path(self, cell_id: str, runs: Range) -> Path:
        return self.folder / cell_id / f"{runs[0]}-{runs[1]}.json"
