"""Shards are written beside the computing: none is lost, an error is told, and few wait at a time."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hreach.studies import runner
from hreach.studies.runner import run_study
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.store import Range, Store
from hreach.studies.work import Computed
from hreach.studies.work import simulated as computed
from hreach.studies.writing import Writer

CELL = "0123456789abcdef"
MANY = 40


class SlowStore(Store):
    """A disk that takes its time, the first of several writes the longest; it is full for the runs from `full` on."""

    full = MANY

    def put(self, cell_id: str, runs: Range, data: bytes) -> bool:
        if runs[0] >= self.full:
            raise OSError(28, "No space left on device")
        time.sleep(0.002 + 0.02 * (runs[0] % 4 == 0))
        return super().put(cell_id, runs, data)


def put_many(store: Store, most: int, known: list[int], end: type[BaseException] | None = None) -> None:
    with Writer(store, most) as writer:
        for number in range(MANY):
            writer.put(CELL, (number, number + 1), str(number).encode(), lambda new: known.append(len(known)))
        if end is not None:
            raise end


@pytest.mark.parametrize("most", [0, 1, 5])
def test_what_was_put_is_there_when_it_is_told_in_order_by_the_same_thread(most: int, tmp_path: Path) -> None:
    store, told = SlowStore(tmp_path), list[int]()

    def then(new: bool) -> None:
        assert new
        assert threading.current_thread() is threading.main_thread()
        assert (len(told), len(told) + 1) in store.held(CELL)
        told.append(len(told))

    with Writer(store, most) as writer:
        for number in range(MANY):
            writer.put(CELL, (number, number + 1), b"", then)
            assert number + 1 - len(told) <= most
        writer.settle()
        assert told == list(range(MANY))


def test_a_shard_that_is_there_already_is_said_to_be(tmp_path: Path) -> None:
    said: list[bool] = []
    with Writer(Store(tmp_path), 0) as writer:
        for _ in range(2):
            writer.put(CELL, (0, 1), b"same", said.append)
    assert said == [True, False]


def test_a_full_disk_is_told_and_what_was_written_before_is_there(tmp_path: Path) -> None:
    store, known = SlowStore(tmp_path), list[int]()
    store.full = 3
    with pytest.raises(OSError, match="No space left"):
        put_many(store, 2, known)
    assert known == [0, 1, 2]
    assert [first for first, _ in store.held(CELL)] == known


def test_what_was_computed_is_written_when_the_study_is_stopped(tmp_path: Path) -> None:
    store = SlowStore(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        put_many(store, MANY, [], KeyboardInterrupt)
    assert len(store.held(CELL)) == MANY


# --- in a study ------------------------------------------------------------------------------------------------------

ROWS = [AgentSpec(agent="mbie-eb", params={"beta": 1.0 + i}) for i in range(12)]
STUDY = Study(title="T", domain="chain", steps=20, runs=2, seed=3, agent=ROWS)


def fewest_there(folder: Path, monkeypatch: pytest.MonkeyPatch, long: float) -> int:
    """How many of the shards that were computed before it were not on the disk when a shard was begun, at most."""
    store, begun, worst = SlowStore(folder), 0, 0

    def watched(*task: Any) -> Computed:
        nonlocal begun, worst
        there = sum(len(store.held(cell)) for cell in store.cells())
        begun, worst = begun + 1, max(worst, begun - there)
        return computed(*task)

    monkeypatch.setattr(runner, "simulated", watched)
    monkeypatch.setattr(runner, "LONG", long)
    assert len(run_study(STUDY, store)) == len(STUDY.agent)
    return worst


def test_a_long_shard_is_on_the_disk_before_another_one_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fewest_there(tmp_path, monkeypatch, long=-1.0) == 0


def test_a_short_one_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < fewest_there(tmp_path, monkeypatch, long=float("inf")) <= 2


def test_rows_are_the_same_either_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, long in (("one", -1.0), ("other", float("inf"))):
        fewest_there(tmp_path / name, monkeypatch, long)
    files = [
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.parquet")}
        for name in ("one", "other")
    ]
    assert files[0] == files[1]
    assert len(files[0]) == len(STUDY.agent)
