"""Several folders of results as one: shards are copied, never changed, each checked first.

Parts of a study that were run on several machines (`hreach run --part 1/3`, `2/3`, `3/3`) become the whole. Two folders
may hold the same runs; if they differ, as on machines that do not compute alike, nothing is merged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from hreach.errors import InputError, require
from hreach.studies.definition import differences
from hreach.studies.record import Record, names_in, read_record, write_record
from hreach.studies.results import Columns
from hreach.studies.shards import read_shard
from hreach.studies.store import Range, Store, writable


def merge(sources: Sequence[Path], into: Store, told: Callable[[int], None] | None = None) -> list[Record]:
    """Copy all shards and records of `sources` into one store; the records of the studies that it has then.

    Everything is checked before the first byte is copied. `told` receives the number of shards as they are copied.
    """
    stores = [Store(folder, writing=False) for folder in sources]
    for store in stores:
        require(bool(names_in(store.folder)), "DIR", str(store.folder), "a folder in which a study was begun")
    records = _records([into, *stores])
    copies = [copy for store in stores for copy in _copies(store, into)]
    _check_alike(copies)
    writable(into.folder)
    for cell, runs, path in copies:
        into.put(cell, runs, path.read_bytes())
        if told is not None:
            told(1)
    merged = [_updated(record, into) for record in records]
    for record in merged:
        write_record(into.folder, record)
    return merged


def _records(stores: Sequence[Store]) -> list[Record]:
    """One record for each name, that with the most rows and runs; `InputError` where definitions differ."""
    found: dict[str, Record] = {}
    for store in stores:
        for name in names_in(store.folder):
            record = read_record(store.folder, name)
            other = found.setdefault(name, record)
            less, more = sorted((other, record), key=lambda each: (len(each.cells), each.runs))
            different = list(differences(less.study, more.study))
            if not different and not set(less.cells) <= set(more.cells):
                different = ["they were computed by other code"]
            if different:
                raise InputError(f"study {name!r} is not the same in all folders: {'; '.join(different[:5])}.")
            found[name] = more
    return list(found.values())


def _copies(store: Store, into: Store) -> list[tuple[str, Range, Path]]:
    """(cell, runs, file) of the shards that are not in `into` byte for byte, each read and found whole."""
    found = []
    for cell in store.cells():
        there = {path.name for _, path in into.files(cell)}
        for runs, path in store.files(cell):
            if path.name not in there:
                mine = _columns(cell, runs, path)
                for other in (p for r, p in into.files(cell) if r == runs):
                    _same(cell, runs, mine, path, other)
                found.append((cell, runs, path))
    return found


def _check_alike(copies: Sequence[tuple[str, Range, Path]]) -> None:
    """Shards of the same runs hold the same numbers."""
    first: dict[tuple[str, Range], Path] = {}
    for cell, runs, path in copies:
        other = first.setdefault((cell, runs), path)
        if other.name != path.name:
            _same(cell, runs, _columns(cell, runs, path), path, other)


def _same(cell: str, runs: Range, mine: Columns, path: Path, other: Path) -> None:
    theirs = _columns(cell, runs, other)
    if not all(np.array_equal(mine[name], theirs[name]) for name in mine):
        raise InputError(f"{str(path)!r} and {str(other)!r} hold the same runs with other results; delete one of them.")


def _columns(cell: str, runs: Range, path: Path) -> Columns:
    return read_shard(path, cell, runs)[0]


def _updated(record: Record, into: Store) -> Record:
    """The record of a study that is complete now, or still to be run."""
    whole = record.study.until is None and not any(into.missing(cell, record.runs) for cell in record.cells)
    known = bool(record.used) and 0 not in record.used  # 0: of a row that failed, or was another machine's in part
    if known and not any(into.missing(c, n) for c, n in zip(record.cells, record.used, strict=True)):
        return record
    return record.model_copy(update={"used": [record.runs] * len(record.cells) if whole else [], "audits": []})
