"""Shards: where they are cut depends on the cell alone, so that one study always leaves the same files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import content
from hreach.studies import work
from hreach.studies.grid import Cell, cell_of
from hreach.studies.results import Column, Result, joined
from hreach.studies.runner import run_study
from hreach.studies.shards import read_shard
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.store import Range, Store
from hreach.studies.until import LOOK
from hreach.studies.work import COMPILED_STEPS, STEPPED_STEPS, is_compiled, pending, shard_runs, simulated, stepped
from hreach.studies.workers import make_workers

CELL = Cell("chain", {}, "pac-rmdp", {"h": 8}, steps=3000, seed=3)
EPISODES = Cell("mountain-car", {}, "linear-pac-rmdp", {"h": 1}, steps=None, seed=3, episodes=6)


CUTS = st.lists(st.integers(0, 5000), unique=True, max_size=12).map(sorted)
GAPS = CUTS.map(lambda cuts: list(zip(cuts[::2], cuts[1::2], strict=False)))
STEPS = st.sampled_from([1, 100, 3000, 7001, 40_000, 10**7])


@settings(max_examples=200, deadline=None)
@given(gaps=GAPS, steps=STEPS, compiled=st.booleans(), looks=st.booleans())
def test_pieces_cover_what_is_missing_once_and_are_cut_at_multiples(
    gaps: list[Range], steps: int, compiled: bool, looks: bool
) -> None:
    cell = replace(CELL, steps=steps)
    pieces = pending(gaps, cell, compiled, looks)
    covered = [run for first, end in pieces for run in range(first, end)]
    assert covered == [run for first, end in gaps for run in range(first, end)]
    size = shard_runs(cell, compiled)
    size = min(size, LOOK) if looks else size
    ends = {number for gap in gaps for number in gap}
    assert all(number % size == 0 for piece in pieces for number in piece if number not in ends)
    assert all(0 < end - first <= size for first, end in pieces)


def test_a_shard_has_some_steps_and_at_least_one_run() -> None:
    sizes = [
        shard_runs(replace(CELL, steps=steps), compiled) for steps in (1, 3000, 10**8) for compiled in (False, True)
    ]
    assert sizes == [STEPPED_STEPS, COMPILED_STEPS, STEPPED_STEPS // 3000, COMPILED_STEPS // 3000, 1, 1]
    assert shard_runs(EPISODES, compiled=False) == 1


def test_what_the_kernels_can_run_is_compiled() -> None:
    assert is_compiled(CELL)
    assert not is_compiled(EPISODES)
    assert not is_compiled(replace(CELL, domain="mountain-car", agent="linear-pac-rmdp", params={"h": 1}))


def test_a_computed_shard_is_the_file_that_the_store_keeps(tmp_path: Path) -> None:
    cell, store = replace(CELL, steps=40), Store(tmp_path)
    code, runs, data, *_ = simulated(cell, 3, 7)
    assert (code, runs) == (cell.code, (3, 7))
    store.put(cell.id, runs, data)
    ((held, path),) = store.files(cell.id)
    assert (held, path.read_bytes()) == ((3, 7), data)
    assert read_shard(path, cell.id, held)[1]["runs"] == [3, 7]


def same(one: Result, two: Result) -> bool:
    """Whether two results are equal, bit by bit."""
    return _told(one) == _told(two)


def _told(result: Result) -> object:
    phases = [[_array(v) for v in (p.total, p.length, p.terminated)] for p in (result.learning, result.final)]
    makers = [dict(maker) for maker in result.makers]
    return result.by, _array(result.at), phases, result.agent, makers, _episode(result)


def _array(values: Column) -> object:
    return values.dtype.str, values.shape, values.tobytes()


def _episode(result: Result) -> object:
    return result.last and [values.tolist() for values in vars(result.last).values()]


@pytest.mark.parametrize("cell", [replace(CELL, steps=40), EPISODES], ids=["compiled", "stepped"])
def test_what_a_worker_gives_back_is_what_is_read_from_its_file(cell: Cell, tmp_path: Path) -> None:
    store, runs, compute = Store(tmp_path), 2 if cell is EPISODES else 7, stepped if cell is EPISODES else simulated
    done = [compute(cell, *piece) for piece in ((0, 1), (1, runs))]
    for _, held, data, *_ in done:
        assert store.put(cell.id, held, data)
    assert not store.put(cell.id, *done[0][1:3])  # it is there
    assert same(joined([each.result for each in done]), store.read(cell.id, runs))
    assert not same(done[0].result, store.read(cell.id, runs))


def test_a_study_gives_what_its_store_holds_however_it_was_come_by(tmp_path: Path) -> None:
    computed = run_study(STUDY, Store(tmp_path / "a"))
    read = run_study(STUDY, Store(tmp_path / "a"))
    run_study(STUDY, Store(tmp_path / "b"), runs=4)
    partly = run_study(STUDY, Store(tmp_path / "b"))
    for (_, one), (_, two), (_, three) in zip(computed, read, partly, strict=True):
        assert same(one, two)
        assert same(one, three)


# --- one study, one set of files ---------------------------------------------

STUDY = Study(
    title="T",
    domain="chain",
    steps=40,
    runs=11,
    seed=3,
    agent=[AgentSpec(agent="pac-rmdp", params={"h": h}) for h in (1, 8)],
)
CAR = Study(
    title="T",
    domain="mountain-car",
    domain_params={"max_steps": 15},
    episodes=2,
    runs=3,
    seed=3,
    settings={"grid": [6, 6]},
    agent=[AgentSpec(agent="linear-pac-rmdp", params={"h": 1})],
)
Files = dict[str, bytes]


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four runs of the study by steps."""
    monkeypatch.setattr(work, "COMPILED_STEPS", 4 * 40)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of both studies, computed without workers."""
    folder = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "COMPILED_STEPS", 4 * 40)
        for study in (STUDY, CAR):
            run_study(study, Store(folder))
    return content(folder / "shards")


def test_the_files_are_those_that_the_cells_say(alone: Files) -> None:
    names = sorted(name.rpartition("-")[0] for name in alone if name.endswith(".parquet"))
    cells = [cell_of(STUDY, spec).id for spec in STUDY.agent]
    by_steps = [f"{cell}/{runs}" for cell in cells for runs in ("0-4", "4-8", "8-11")]
    assert names == sorted(by_steps + [f"{cell_of(CAR, CAR.agent[0]).id}/{i}-{i + 1}" for i in range(3)])


WHO = [("inline", 1), (None, 2), *((name, jobs) for name in ("threads", "processes") for jobs in (1, 2, 4))]


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize(("executor", "jobs"), WHO)
def test_files_do_not_depend_on_who_computes(executor: str | None, jobs: int, alone: Files, tmp_path: Path) -> None:
    with make_workers(executor, jobs) as workers:
        for study in (STUDY, CAR):
            run_study(study, Store(tmp_path), workers=workers)
    assert content(tmp_path / "shards") == alone


@pytest.mark.usefixtures("small_shards")
def test_nor_on_the_order_of_rows_and_on_how_far_one_got(alone: Files, tmp_path: Path) -> None:
    backwards = STUDY.model_copy(update={"agent": STUDY.agent[::-1]})
    for study, runs in ((backwards, 4), (STUDY, 8), (CAR, 2), (backwards, 11), (CAR, 3)):
        run_study(study, Store(tmp_path), runs=runs)
    assert content(tmp_path / "shards") == alone


def test_shards_that_are_cut_elsewhere_are_other_files(
    alone: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: were shards cut by the number of workers, the tests above would see it."""
    monkeypatch.setattr(work, "COMPILED_STEPS", 3 * 40)
    for study in (STUDY, CAR):
        run_study(study, Store(tmp_path))
    assert content(tmp_path / "shards") != alone
