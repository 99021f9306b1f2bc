"""How far a study is, from the store alone; and that no damage to a shard stays unseen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hreach.studies import shards
from hreach.studies.finish import begin, finish
from hreach.studies.grid import Cell, cell_of
from hreach.studies.quarantine import Quarantine
from hreach.studies.record import read_record
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.status import damaged, rows_of
from hreach.studies.stepped import by_steps
from hreach.studies.store import Store

STUDY = Study(
    title="T",
    domain="chain",
    steps=40,
    runs=10,
    seed=3,
    agent=[AgentSpec(agent="pac-rmdp", params={"h": 8}), AgentSpec(agent="greedy"), AgentSpec(agent="bolt")],
)
CELLS = [cell_of(STUDY, spec) for spec in STUDY.agent]


def keep(store: Store, cell: Cell, first: int, end: int) -> None:
    store.write(cell, first, by_steps(np.random.default_rng(first).random((end - first, 40)), {}))


def test_a_row_counts_the_runs_that_are_there(tmp_path: Path) -> None:
    store = Store(tmp_path)
    record = begin("s", STUDY, store)
    for first, end in ((2, 5), (4, 6), (8, 14)):
        keep(store, CELLS[0], first, end)
    keep(store, CELLS[1], 0, 10)
    rows = rows_of(store, record)
    assert [(row.done, row.runs, row.whole) for row in rows] == [(6, 10, False), (10, 10, True), (0, 10, False)]
    assert [row.spec for row in rows] == STUDY.agent
    assert [row.cell for row in rows] == [cell.id for cell in CELLS]


def test_failures_are_shown_until_the_runs_are_there(tmp_path: Path) -> None:
    store, quarantine = Store(tmp_path), Quarantine(tmp_path)
    record = begin("s", STUDY, store)
    keep(store, CELLS[0], 0, 4)
    quarantine.put(CELLS[0], (4, 10), "ValueError: x", 1)
    quarantine.put(CELLS[0], (10, 14), "of runs that nobody asks for", 1)
    failed = rows_of(store, record)[0].failed
    assert [str(each) for each in failed] == ["runs 4 to 9: ValueError: x"]
    keep(store, CELLS[0], 4, 10)
    assert rows_of(store, record)[0].failed == ()


def test_a_row_that_was_stopped_early_is_whole(tmp_path: Path) -> None:
    store, study = Store(tmp_path), STUDY.model_copy(update={"until": "ci_width < 0.9", "runs": 200})
    record = begin("s", study, store)
    assert [(row.done, row.runs) for row in rows_of(store, record)] == [(0, 200)] * 3
    finish(record, store)
    rows = rows_of(store, read_record(tmp_path, "s"))
    assert [(row.done, row.runs, row.whole) for row in rows] == [(50, 50, True)] * 3


# --- damage ------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Six shards."""
    store = Store(tmp_path)
    for cell in CELLS:
        for first in (0, 5):
            keep(store, cell, first, first + 5)
    return store


def wrong(store: Store) -> set[Path]:
    return {path for path, why in damaged(store) if why is not None}


def flips(store: Store, count: int) -> Iterator[Path]:
    """The shard in which one byte is another now, and again as it was when the next one is asked for."""
    rng, files = np.random.default_rng(5), sorted(store.shards.rglob("*.parquet"))
    for _ in range(count):
        path = files[rng.integers(len(files))]
        whole = path.read_bytes()
        at, by = int(rng.integers(len(whole))), int(rng.integers(1, 256))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ by]) + whole[at + 1 :])
        yield path
        path.write_bytes(whole)


def test_a_store_that_is_whole_has_no_damage(store: Store) -> None:
    found = list(damaged(store))
    assert len(found) == 6
    assert wrong(store) == set()


def test_every_one_of_300_wrong_bytes_is_found(store: Store) -> None:
    missed = [path for path in flips(store, 300) if wrong(store) != {path}]
    assert missed == []
    assert wrong(store) == set()


def test_a_check_that_trusts_the_checksum_inside_misses_some(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: the same bytes; the name of a file says nothing about its content."""
    monkeypatch.setattr(shards, "file_digest", lambda data: "")
    monkeypatch.setattr(Path, "stem", property(lambda path: f"{path.name}-"))
    assert sum(wrong(store) != {path} for path in flips(store, 300)) > 5


def test_every_one_of_100_truncations_is_found(store: Store) -> None:
    rng, files = np.random.default_rng(6), sorted(store.shards.rglob("*.parquet"))
    for _ in range(100):
        path = files[rng.integers(len(files))]
        whole = path.read_bytes()
        path.write_bytes(whole[: rng.integers(len(whole))])
        assert wrong(store) == {path}
        path.write_bytes(whole)
