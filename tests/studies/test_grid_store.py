"""Cells and shards: what is kept is found again, never changed, and independent of how it was computed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from helpers import content
from hreach import InputError
from hreach.running.runs import Runs
from hreach.running.simulate import simulate
from hreach.studies import work
from hreach.studies.code import code_digest
from hreach.studies.grid import Cell, cell_of
from hreach.studies.maker import maker
from hreach.studies.results import SCHEMA, Result, marks_of
from hreach.studies.runner import run_study
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.stepped import by_steps
from hreach.studies.store import Store
from hreach.studies.workers import make_workers

STEPS = 40
CELL = Cell("chain", {"length": 5}, "pac-rmdp", {"h": 8, "gamma": 0.9}, steps=STEPS, seed=3)
PAC = AgentSpec(agent="pac-rmdp", params={"h": 8})
STUDY = Study(
    title="T",
    domain="chain",
    steps=STEPS,
    runs=12,
    seed=3,
    settings={"gamma": 0.9},
    agent=[PAC, AgentSpec(agent="epsilon-greedy", params={"epsilon": 0.2})],
)

Shards = dict[Path, tuple[int, int, bytes]]


def changed(study: Study, **fields: Any) -> Study:
    return study.model_copy(update=fields)


def only(spec: AgentSpec, **fields: Any) -> Study:
    """The study with one row."""
    return changed(STUDY, agent=[spec], **fields)


def shards(folder: Path) -> Shards:
    """Everything that a rewritten file would change: inode, time of change, content."""
    files = [p for p in folder.rglob("*") if p.is_file()]
    return {p: (p.stat().st_ino, p.stat().st_mtime_ns, p.read_bytes()) for p in files}


def shard_of(folder: Path, cell: Cell, runs: str) -> Path:
    """The shard of these runs."""
    (found,) = (folder / "shards" / cell.id).glob(f"{runs}-*.parquet")
    return found


def totals(results: list[tuple[AgentSpec, Result]]) -> list[list[list[float]]]:
    return [result.learning.total.tolist() for _, result in results]


def rewards(runs: int, steps: int = STEPS) -> NDArray[np.float64]:
    return np.random.default_rng(runs).random((runs, steps))


def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """(first run, runs) of everything that is simulated from now on."""
    calls: list[tuple[int, int]] = []

    def simulate_and_note(*args: Any, **options: Any) -> Runs:
        calls.append((options["first_run"], options["runs"]))
        return simulate(*args, **options)

    monkeypatch.setattr(work, "simulate", simulate_and_note)
    return calls


def forbid_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **options: Any) -> Runs:
        raise AssertionError("simulated although everything is there")

    monkeypatch.setattr(work, "simulate", refuse)


# --- rows -> cells ------------------------------------------------------------


def test_results_of_other_code_are_computed_anew_and_both_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_study(only(PAC), Store(tmp_path))
    before = shards(tmp_path)
    monkeypatch.setattr("hreach.studies.grid.code_digest", lambda: "another")
    calls = counted(monkeypatch)
    run_study(only(PAC), Store(tmp_path))
    after = shards(tmp_path)
    assert calls == [(0, 12)]
    assert len(after) == 2
    assert {path: after[path] for path in before} == before


@pytest.mark.parametrize(("one", "other"), [({"h": 8}, {"h": 8.0, "prior": 1})])
def test_rows_written_in_other_ways_have_one_number(one: dict[str, Any], other: dict[str, Any], tmp_path: Path) -> None:
    rows = [AgentSpec(agent="pac-rmdp", params=params) for params in (one, other)]
    first = run_study(only(rows[0]), Store(tmp_path / "first"))
    second = run_study(only(rows[1]), Store(tmp_path / "second"))
    again = run_study(only(rows[1]), Store(tmp_path / "first"))
    assert totals(first) == totals(second) == totals(again)
    assert len(shards(tmp_path / "first")) == 1


def test_the_order_of_rows_changes_no_number(tmp_path: Path) -> None:
    there = run_study(STUDY, Store(tmp_path / "there"))
    back = run_study(changed(STUDY, agent=STUDY.agent[::-1]), Store(tmp_path / "back"))
    assert totals(there) == totals(back)[::-1]


def test_a_longer_study_begins_with_the_shorter_one(tmp_path: Path) -> None:
    short, long = (run_study(changed(STUDY, steps=n), Store(tmp_path)) for n in (20, 40))
    for (_, first), (_, second) in zip(short, long, strict=True):
        assert first.at.tolist() == second.at[:20].tolist()
        assert first.learning.total.tolist() == second.learning.total[:, :20].tolist()


def test_rows_that_ask_for_the_same_thing_are_simulated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    twin = PAC.model_copy(update={"algorithm": "twin", "variant": "other"})
    results = run_study(changed(STUDY, agent=[PAC, twin]), Store(tmp_path))
    assert calls == [(0, 12)]
    assert [spec.label for spec, _ in results] == ["pac-rmdp(h=8)", "twin"]
    assert totals(results)[0] == totals(results)[1]


# --- one shard ---------------------------------------------------------------


@given(steps=st.integers(1, 5000))
def test_checkpoints_increase_to_the_last_step_in_even_strides(steps: int) -> None:
    at = marks_of(steps, 100)
    assert len(at) == min(steps, 100)
    assert at[-1] == steps
    strides = np.diff(at, prepend=0)
    assert strides.min() >= 1
    assert strides.max() - strides.min() <= 1


@pytest.mark.parametrize("steps", [1, 40, 100, 250, 3000])
def test_what_is_read_is_the_cumulated_reward_that_was_written(steps: int, tmp_path: Path) -> None:
    cell, reward, store = replace(CELL, steps=steps), rewards(4, steps), Store(tmp_path)
    store.write(cell, 0, by_steps(reward, {"origin": "given", "constants": {"h": 8.0}}))
    result = store.read(cell.id, 4)
    assert (result.by, result.runs) == ("steps", 4)
    assert result.at.tolist() == marks_of(steps, 100).tolist()
    assert result.learning.total.tolist() == np.cumsum(reward, axis=1)[:, result.at - 1].tolist()
    assert result.learning.length.tolist() == [result.at.tolist()] * 4
    assert (result.final.total.shape, result.last) == ((4, 0), None)
    assert result.agent == {"origin": "given", "constants": {"h": 8.0}}
    np.testing.assert_allclose(result.average_reward[:, -1], reward.mean(axis=1), rtol=1e-12)


def test_a_shard_tells_its_cell_its_constants_and_its_runs(tmp_path: Path) -> None:
    run_study(only(PAC), Store(tmp_path))
    cell = cell_of(STUDY, PAC)
    table = pq.read_table(shard_of(tmp_path, cell, "0-12"))
    about = json.loads(table.schema.metadata[b"hreach"])
    params = {"h": 8, "gamma": 0.9, "prior": 1, "tolerance": 0.01}
    known = {name: value for name, value in asdict(cell).items() if name != "plugins"}
    assert about["cell"] == {**known, "params": params, "schema": SCHEMA, "code": code_digest()}
    assert about["runs"] == [0, 12]
    assert about["made"] == maker()
    assert about["agent"] == simulate("chain", "pac-rmdp", params, runs=1, steps=1).agent
    assert table.column_names == ["run", "phase", "at", "total_reward", "length", "terminated"]
    assert table["run"].to_pylist() == [run for run in range(12) for _ in range(40)]
    assert table["at"].to_pylist() == table["length"].to_pylist() == list(range(1, 41)) * 12
    assert set(table["phase"].to_pylist()) == {"learning"}


def test_a_later_shard_numbers_its_runs_from_its_first(tmp_path: Path) -> None:
    Store(tmp_path).write(CELL, 5, by_steps(rewards(2), {}))
    table = pq.read_table(shard_of(tmp_path, CELL, "5-7"))
    assert table["run"].to_pylist() == [5] * 40 + [6] * 40


def test_results_of_other_cells_are_not_found(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(CELL, 0, by_steps(rewards(4), {}))
    assert store.missing(replace(CELL, seed=4).id, 4) == [(0, 4)]


# --- ranges of runs ----------------------------------------------------------


def stretches(numbers: set[int]) -> list[tuple[int, int]]:
    """A set of numbers as ranges, each as long as it can be."""
    starts = sorted(n for n in numbers if n - 1 not in numbers)
    ends = sorted(n + 1 for n in numbers if n + 1 not in numbers)
    return list(zip(starts, ends, strict=True))


def missing_beside(ranges: list[tuple[int, int]], runs: int) -> list[tuple[int, int]]:
    """What a store with shards of these names lacks."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "shards" / CELL.id
        place.mkdir(parents=True)
        for first, end in ranges:
            (place / f"{first}-{end}-{'0' * 16}.parquet").touch()
        return Store(Path(folder)).missing(CELL.id, runs)


def oracle(ranges: list[tuple[int, int]], runs: int) -> list[tuple[int, int]]:
    held = {n for first, end in ranges for n in range(first, end)}
    return stretches(set(range(runs)) - held)


CUTS = st.lists(st.integers(0, 60), unique=True, max_size=12).map(sorted)
DISJOINT = CUTS.map(lambda cuts: list(zip(cuts[::2], cuts[1::2], strict=False)))
ANY = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda r: (r[0], r[0] + r[1])), max_size=6)


@settings(max_examples=100, deadline=None)
@given(ranges=DISJOINT, runs=st.integers(1, 70))
def test_missing_is_what_no_disjoint_shard_holds(ranges: list[tuple[int, int]], runs: int) -> None:
    assert missing_beside(ranges, runs) == oracle(ranges, runs)


@settings(max_examples=100, deadline=None)
@given(ranges=ANY, runs=st.integers(1, 70))
def test_missing_is_what_no_shard_holds_even_if_shards_overlap(ranges: list[tuple[int, int]], runs: int) -> None:
    assert missing_beside(ranges, runs) == oracle(ranges, runs)


NO_SHARDS = ["0-4.parquet", ".0-4.parquet.tmp", f"0-4-{16 * 'g'}.parquet", f"-1-4-{16 * '0'}.parquet"]


@pytest.mark.parametrize("name", NO_SHARDS)
def test_other_files_are_no_shards(name: str, tmp_path: Path) -> None:
    place = tmp_path / "shards" / CELL.id
    place.mkdir(parents=True)
    (place / name).write_text("nothing")
    assert Store(tmp_path).missing(CELL.id, 4) == [(0, 4)]


@pytest.mark.parametrize("runs", [1, 2, 3, 4, 9, 10])
def test_fewer_runs_than_are_stored_are_the_first_ones(runs: int, tmp_path: Path) -> None:
    store, reward = Store(tmp_path), rewards(10)
    store.write(CELL, 3, by_steps(reward[3:], {}))
    store.write(CELL, 0, by_steps(reward[:3], {}))
    assert store.read(CELL.id, runs).learning.total.tolist() == np.cumsum(reward, axis=1)[:runs].tolist()


@pytest.mark.parametrize("runs", range(1, 11))
def test_shards_that_overlap_are_read_once(runs: int, tmp_path: Path) -> None:
    """As two processes may leave them that began at the same time."""
    store, reward = Store(tmp_path), rewards(10)
    for first, end in ((0, 4), (2, 3), (1, 6), (5, 10), (6, 10)):
        store.write(CELL, first, by_steps(reward[first:end], {}))
    assert store.read(CELL.id, runs).learning.total.tolist() == np.cumsum(reward, axis=1)[:runs].tolist()


@pytest.mark.parametrize("runs", [3, 11])
def test_runs_that_are_not_there_cannot_be_read(runs: int, tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(CELL, 0, by_steps(rewards(2), {}))
    store.write(CELL, 4, by_steps(rewards(6), {}))
    with pytest.raises(InputError, match=rf"^runs is {runs}, but the store holds fewer runs of cell '{CELL.id}'"):
        store.read(CELL.id, runs)


# --- what is there stays -----------------------------------------------------


def test_running_again_computes_nothing_and_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_study(STUDY, Store(tmp_path))
    forbid_simulation(monkeypatch)
    assert totals(run_study(STUDY, Store(tmp_path))) == totals(first)


def test_fewer_runs_than_before_compute_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_study(STUDY, Store(tmp_path))
    forbid_simulation(monkeypatch)
    fewer = run_study(STUDY, Store(tmp_path), runs=5)
    assert totals(fewer) == [rows[:5] for rows in totals(first)]


def test_another_label_computes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_study(only(PAC), Store(tmp_path))
    forbid_simulation(monkeypatch)
    renamed = PAC.model_copy(update={"algorithm": "A", "variant": "B", "note": "C"})
    assert [spec.label for spec, _ in run_study(only(renamed, title="U"), Store(tmp_path))] == ["A"]


def test_more_runs_compute_only_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_study(STUDY, Store(tmp_path), runs=5)
    calls = counted(monkeypatch)
    more = run_study(STUDY, Store(tmp_path))
    assert calls == [(5, 7), (5, 7)]
    assert [rows[:5] for rows in totals(more)] == totals(first)


def test_a_shard_is_not_touched_by_later_runs(tmp_path: Path) -> None:
    run_study(STUDY, Store(tmp_path), runs=5)
    before = shards(tmp_path)
    run_study(STUDY, Store(tmp_path))
    after = shards(tmp_path)
    assert len(before) == 2
    assert len(after) == 4
    assert {path: after[path] for path in before} == before


def test_a_shard_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(CELL, 0, by_steps(rewards(4), {}))
    before = shards(tmp_path)
    store.write(CELL, 0, by_steps(2 * rewards(4), {}))
    assert shards(tmp_path) == before


def test_a_hole_between_shards_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run_study(only(PAC), Store(tmp_path / "whole"))
    cell, store = cell_of(STUDY, PAC), Store(tmp_path / "parts")
    part = simulate("chain", "pac-rmdp", cell.params, runs=4, steps=40, seed=cell.entropy, first_run=3)
    store.write(cell, 3, by_steps(part.reward, part.agent))
    calls = counted(monkeypatch)
    assert totals(run_study(only(PAC), store)) == totals(whole)
    assert calls == [(0, 3), (7, 5)]


def test_results_do_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    found = []
    for threads in (1, 3):
        with make_workers("threads", threads) as workers:
            found.append(totals(run_study(STUDY, Store(tmp_path / str(threads)), workers=workers)))
    assert found[0] == found[1]
    assert content(tmp_path / "1") == content(tmp_path / "3")


def test_results_do_not_depend_on_how_often_one_asked(tmp_path: Path) -> None:
    at_once = run_study(STUDY, Store(tmp_path / "once"))
    for runs in (1, 2, 7, 12):
        in_parts = run_study(STUDY, Store(tmp_path / "parts"), runs=runs)
    assert totals(in_parts) == totals(at_once)


def test_results_do_not_depend_on_the_size_of_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run_study(STUDY, Store(tmp_path / "whole"))
    monkeypatch.setattr(work, "COMPILED_STEPS", 5 * STEPS)
    assert totals(run_study(STUDY, Store(tmp_path / "small"))) == totals(whole)
    names = sorted(p.name.rpartition("-")[0] for p in (tmp_path / "small").rglob("*.parquet"))
    assert names == sorted(["0-5", "5-10", "10-12"] * 2)


def test_a_study_longer_than_a_shard_still_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "COMPILED_STEPS", 1)
    (_, result), *_ = run_study(STUDY, Store(tmp_path), runs=2)
    assert result.learning.total.shape == (2, 40)


class Diary:
    """A watch that remembers."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int]] = []
        self.told: list[int] = []
        self.ended: list[tuple[str, int]] = []

    def begin(self, spec: AgentSpec, runs: int) -> Callable[[int], None]:
        self.begun.append((spec.agent, runs))
        return self.told.append

    def end(self, spec: AgentSpec, result: Result) -> None:
        self.ended.append((spec.agent, result.runs))

    def failed(self, spec: AgentSpec, runs: tuple[int, int], why: str) -> None:
        raise AssertionError(why)

    def note(self, spec: AgentSpec, text: str) -> None:
        raise AssertionError(text)


def test_a_watch_is_told_of_what_is_left_and_of_every_row(tmp_path: Path) -> None:
    run_study(STUDY, Store(tmp_path), runs=5)
    diary = Diary()
    run_study(STUDY, Store(tmp_path), watch=diary)
    assert diary.begun == [("pac-rmdp", 7), ("epsilon-greedy", 7)]
    assert sum(diary.told) == 14
    assert diary.ended == [("pac-rmdp", 12), ("epsilon-greedy", 12)]


# --- whole or absent ---------------------------------------------------------


def break_writing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Files are from now on written by half, and then something happens."""
    write = Path.write_bytes

    def write_half(path: Path, data: bytes) -> int:
        write(path, data[: len(data) // 2])
        raise error

    monkeypatch.setattr(Path, "write_bytes", write_half)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failing_write_leaves_nothing_behind(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    break_writing(monkeypatch, error)
    with pytest.raises(type(error)):
        store.write(CELL, 0, by_steps(rewards(4), {}))
    assert shards(tmp_path) == {}
    assert store.missing(CELL.id, 4) == [(0, 4)]


def test_a_failing_write_leaves_finished_shards_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_study(STUDY, Store(tmp_path), runs=5)
    before = shards(tmp_path)
    with monkeypatch.context() as broken:
        break_writing(broken, OSError(28, "No space left on device"))
        with pytest.raises(OSError, match="No space left"):
            run_study(STUDY, Store(tmp_path))
    assert shards(tmp_path) == before
    undisturbed = run_study(STUDY, Store(tmp_path / "undisturbed"))
    assert totals(run_study(STUDY, Store(tmp_path))) == totals(undisturbed)


def test_a_folder_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"^out is '.*file/below', but must be a folder that can be written \(.+\)\.$"):
        Store(tmp_path / "file" / "below")


def test_making_a_store_leaves_its_folder_empty(tmp_path: Path) -> None:
    Store(tmp_path / "new" / "folder")
    assert list((tmp_path / "new" / "folder").iterdir()) == []
