"""Results of several folders as one: the same bytes as if one machine had done it all, or nothing at all."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import content
from hreach import InputError
from hreach.studies import work
from hreach.studies.finish import begin, finish
from hreach.studies.grid import cell_of
from hreach.studies.merging import merge
from hreach.studies.record import Record, names_in, read_record
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.stepped import by_steps
from hreach.studies.store import Store
from hreach.studies.workers import make_workers

STUDY = Study(
    title="T",
    domain="chain",
    steps=40,
    runs=12,
    seed=3,
    agent=[AgentSpec(agent="pac-rmdp", params={"h": h}) for h in (1, 2, 3)],
)


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "COMPILED_STEPS", 2 * 40)


def changed(**fields: Any) -> Study:
    return STUDY.model_copy(update=fields)


def run(folder: Path, study: Study = STUDY, part: tuple[int, int] = (1, 1), name: str = "s") -> Record:
    store = Store(folder)
    with make_workers("inline", part=part) as workers:
        return finish(begin(name, study, store), store, workers)[0]


def merged(folder: Path, sources: Sequence[str]) -> list[Record]:
    return merge([folder / source for source in sources], Store(folder / "all", writing=False))


def data_of(record: Record) -> dict[str, Any]:
    """All of a record but how long it took."""
    return record.model_dump(exclude={"seconds"})


def refused(folder: Path, sources: Sequence[str]) -> str:
    """What a merge says that is refused; nothing was written."""
    before = content(folder)
    with pytest.raises(InputError) as error:
        merged(folder, sources)
    assert content(folder) == before
    return str(error.value)


def test_three_parts_are_the_study_that_one_machine_runs(tmp_path: Path) -> None:
    whole = run(tmp_path / "one")
    for k in (1, 2, 3):
        run(tmp_path / f"{k}", part=(k, 3))
    held = [len(list((tmp_path / f"{k}").rglob("*.parquet"))) for k in (1, 2, 3)]
    assert sum(held) == 18
    assert 18 not in held
    (record,) = merged(tmp_path, ["2", "1", "3"])
    assert content(tmp_path / "all" / "shards") == content(tmp_path / "one" / "shards")
    assert data_of(record) == data_of(whole) == data_of(read_record(tmp_path / "all", "s"))
    assert not list((tmp_path / "all").rglob("*.tmp"))


def test_merging_again_changes_nothing_and_parts_may_overlap(tmp_path: Path) -> None:
    run(tmp_path / "1", part=(1, 2))
    run(tmp_path / "one")
    merged(tmp_path, ["1", "one", "1"])
    before = data_of(read_record(tmp_path / "all", "s"))
    merged(tmp_path, ["one"])
    assert data_of(read_record(tmp_path / "all", "s")) == before
    assert content(tmp_path / "all" / "shards") == content(tmp_path / "one" / "shards")


def test_what_is_missing_is_still_to_be_run(tmp_path: Path) -> None:
    for k in (1, 3):
        run(tmp_path / f"{k}", part=(k, 3))
    (record,) = merged(tmp_path, ["1", "3"])
    assert record.used == []
    assert run(tmp_path / "all").used == [12, 12, 12]
    run(tmp_path / "one")
    assert content(tmp_path / "all" / "shards") == content(tmp_path / "one" / "shards")


def test_more_runs_and_rows_in_one_folder_are_kept(tmp_path: Path) -> None:
    run(tmp_path / "few", changed(agent=STUDY.agent[:1], runs=4))
    run(tmp_path / "many")
    for order in (["few", "many"], ["many", "few"]):
        (record,) = merged(tmp_path, order)
        assert (record.runs, len(record.cells), record.used) == (12, 3, [12, 12, 12])
        shutil.rmtree(tmp_path / "all")


def test_several_studies_are_put_beside_each_other(tmp_path: Path) -> None:
    run(tmp_path / "a", name="a")
    run(tmp_path / "b", changed(seed=4), name="b")
    assert [record.name for record in merged(tmp_path, ["a", "b"])] == ["a", "b"]
    assert sorted(names_in(tmp_path / "all")) == ["a", "b"]
    shards = content(tmp_path / "a" / "shards") | content(tmp_path / "b" / "shards")
    assert content(tmp_path / "all" / "shards") == shards


# --- refused, and nothing written --------------------------------------------


def other_numbers(folder: Path, by: float) -> None:
    """The first shard as a machine would leave it that computes differently."""
    store, cell = Store(folder), cell_of(STUDY, STUDY.agent[0])
    result = store.read(cell.id, 2)
    store.files(cell.id)[0][1].unlink()
    rewards = np.diff(result.learning.total, axis=1, prepend=0.0)
    store.write(cell, 0, by_steps(rewards + by, result.agent))


@pytest.mark.parametrize("already", [False, True])
def test_other_numbers_for_the_same_runs_are_refused(already: bool, tmp_path: Path) -> None:
    for name in ("a", "b"):
        run(tmp_path / name)
    other_numbers(tmp_path / "b", 1e-9)
    if already:
        merged(tmp_path, ["a"])
    said = refused(tmp_path, ["b"] if already else ["a", "b"])
    assert said.endswith("hold the same runs with other results; delete one of them.")
    assert said.count("/0-2-") == 2


def test_the_same_numbers_in_other_bytes_are_no_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: who computed stands in a shard too, and is not what is compared."""
    run(tmp_path / "a")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("hreach.studies.shards.maker", lambda: {"Machine": "another"})
        run(tmp_path / "b")
    merged(tmp_path, ["a", "b"])
    assert content(tmp_path / "all" / "shards") == content(tmp_path / "a" / "shards")


def test_another_definition_is_refused(tmp_path: Path) -> None:
    run(tmp_path / "a")
    run(tmp_path / "b", changed(seed=4))
    assert refused(tmp_path, ["a", "b"]) == "study 's' is not the same in all folders: seed was 3, is 4."


def test_results_of_other_code_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "a")
    with monkeypatch.context() as later:
        later.setattr("hreach.studies.grid.code_digest", lambda: "another")
        run(tmp_path / "b")
    assert refused(tmp_path, ["a", "b"]).endswith("in all folders: they were computed by other code.")


def test_a_damaged_shard_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        run(tmp_path / name, part=("ab".index(name) + 1, 2))
    path = sorted((tmp_path / "b").rglob("*.parquet"))[-1]
    path.write_bytes(path.read_bytes()[:-1])
    assert "is damaged (its bytes are not those that its name tells)" in refused(tmp_path, ["a", "b"])


def test_a_folder_without_studies_is_refused(tmp_path: Path) -> None:
    run(tmp_path / "a")
    (tmp_path / "empty").mkdir()
    assert refused(tmp_path, ["a", "empty"]).endswith("but must be a folder in which a study was begun.")
