"""Runs that cannot be computed: their row is left out and named, the rest is finished, and they are tried again."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import hreach
from hreach.cli.app import app
from hreach.studies import work
from hreach.studies.finish import begin, finish
from hreach.studies.grid import cell_of
from hreach.studies.loading import load
from hreach.studies.quarantine import Quarantine, Quarantined
from hreach.studies.record import read_record
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.status import rows_of
from hreach.studies.store import Store

MODULE = "fragile_agent"
CODE = r'''
from pathlib import Path

class Fragile:
    """Breaks in every run whose seed can be divided by three, as long as its tool is missing."""

    def __init__(self, env, seed=0):
        self.broken = seed % 3 == 0 and not (Path(__file__).parent / "tool").exists()

    def act(self, state):
        if self.broken:
            raise RuntimeError("no tool\nfor <b>this</b>")
        return 0

    def observe(self, *sample):
        pass
'''
STUDY = f"""\
title = "T"
domain = "chain"
steps = 20
runs = 12
seed = 3

[[agent]]
agent = "{MODULE}:Fragile"
algorithm = "fragile"

[[agent]]
agent = "greedy"
"""
WHY = "RuntimeError: no tool for <b>this</b>"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with an agent of its own; a shard of it has two runs."""
    (tmp_path / f"{MODULE}.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "s.toml").write_text(STUDY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(work, "STEPPED_STEPS", 2 * 20)
    yield tmp_path
    sys.modules.pop(MODULE, None)


def broken_shards(study: Study) -> list[tuple[int, int]]:
    """The oracle: the shards of two runs in which a seed can be divided by three."""
    seeds = hreach.run_seeds(cell_of(study, study.agent[0]).entropy, first=0, runs=12)[:, 1]
    return [(i, i + 2) for i in range(0, 12, 2) if any(int(s) % 3 == 0 for s in seeds[i : i + 2])]


class Diary:
    """A watch that remembers failures and complete rows."""

    def __init__(self) -> None:
        self.failures: list[tuple[str, tuple[int, int], str]] = []
        self.whole: list[str] = []

    def begin(self, spec: AgentSpec, runs: int) -> Callable[[int], None]:
        return lambda done: None

    def end(self, spec: AgentSpec, result: object) -> None:
        self.whole.append(spec.label)

    def failed(self, spec: AgentSpec, runs: tuple[int, int], why: str) -> None:
        self.failures.append((spec.label, runs, why))

    def note(self, spec: AgentSpec, text: str) -> None:
        raise AssertionError(text)

    def audits(self, left: int) -> Callable[[int], None]:
        raise AssertionError("nothing is audited")


def test_a_row_with_failures_is_left_out_and_the_others_are_finished(folder: Path) -> None:
    study, store, diary = load(folder / "s.toml"), Store(folder / "out"), Diary()
    broken = broken_shards(study)
    assert 0 < len(broken) < 6
    record, results = finish(begin("s", study, store), store, watch=diary)
    assert [spec.label for spec, _ in results] == diary.whole == ["greedy"]
    assert diary.failures == [("fragile", runs, WHY) for runs in broken]
    assert record.used == [0, 12]
    cell = cell_of(study, study.agent[0])
    found = Quarantine(store.folder).of(cell.id)
    assert found == [Quarantined(cell.id, *runs, WHY, 1) for runs in broken]
    assert store.held(cell.id) == [(i, i + 2) for i in range(0, 12, 2) if (i, i + 2) not in broken]
    row = rows_of(store, read_record(store.folder, "s"))[0]
    assert (row.done, row.runs, row.failed) == (12 - 2 * len(broken), 12, tuple(found))


def test_what_failed_is_tried_again_and_then_released(folder: Path) -> None:
    study, store = load(folder / "s.toml"), Store(folder / "out")
    finish(begin("s", study, store), store)
    (folder / "tool").touch()
    before = {path: path.read_bytes() for path in store.shards.rglob("*.parquet")}
    record, results = finish(begin("s", study, store), store)
    assert ([spec.label for spec, _ in results], record.used) == (["fragile", "greedy"], [12, 12])
    assert {path: path.read_bytes() for path in before} == before
    assert not (store.folder / "quarantine").exists()
    assert all(row.whole and not row.failed for row in rows_of(store, record))


def test_a_file_that_is_no_failure_is_passed_over(tmp_path: Path) -> None:
    cell = cell_of(Study(title="T", domain="chain", steps=5, runs=1, seed=1, agent=[GREEDY]), GREEDY)
    quarantine = Quarantine(tmp_path)
    quarantine.put(cell, (0, 1), "x", 3)
    for name, text in {"a": "{", "b": "[]", "c": '{"runs": [1]}', "d": '{"runs": [1, 2], "why": "y"}'}.items():
        (quarantine.folder / cell.id / f"{name}.json").write_text(text)
    assert [str(each) for each in quarantine.of(cell.id)] == ["run 0: x (3 tries)"]
    quarantine.release(cell.id, (0, 1))
    quarantine.release(cell.id, (0, 1))
    assert quarantine.of(cell.id) == []
    assert (quarantine.folder / cell.id / "a.json").exists()


GREEDY = AgentSpec(agent="greedy")


# --- on the command line -----------------------------------------------------


def hreach_says(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


RUN = ("run", "s.toml", "--out", "out", "--executor", "inline")


def test_failures_are_named_by_run_status_and_report_with_exit_code_1(folder: Path) -> None:
    broken = broken_shards(load(folder / "s.toml"))
    named = [f"runs {first} to {end - 1}: {WHY}" for first, end in broken]
    done = hreach_says(*RUN)
    assert done.exit_code == 1
    said = done.stderr.splitlines()
    assert said[-len(named) - 1 : -1] == [f"hreach: s, fragile: {each}" for each in named]
    assert said[-1] == "hreach: the same command tries again what failed; the rest is kept."
    status = hreach_says("status", "out")
    assert status.exit_code == 1
    there = 12 - 2 * len(broken)
    assert status.stdout.splitlines() == [
        f"s: 1 of 2 rows, {12 + there} of 24 runs",
        f"  {'fragile':<34} {there} of 12 runs",
        *(f"    failed, {each}" for each in named),
    ]
    page = (folder / "out" / "report.html").read_text("utf-8")
    assert f"Not shown: fragile, of which {there} of 12 runs are there." in page
    assert "RuntimeError: no tool for &lt;b&gt;this&lt;/b&gt;" in page
    table = (folder / "out" / "tables" / "s.csv").read_text("utf-8")
    assert ("greedy" in table, "fragile" in table) == (True, False)
    assert hreach_says("report", "out").exit_code == 0


def test_an_agent_that_was_mended_is_another_one_and_has_all_its_runs(folder: Path) -> None:
    assert hreach_says(*RUN).exit_code == 1
    path = folder / f"{MODULE}.py"
    path.write_text(path.read_text("utf-8").replace("if self.broken", "if False"), encoding="utf-8")
    sys.modules.pop(MODULE)
    importlib.invalidate_caches()
    assert hreach_says(*RUN).exit_code == 0
    status = hreach_says("status", "out")
    assert (status.exit_code, status.stdout) == (0, "s: 2 of 2 rows, 24 of 24 runs\n")
    assert "Not shown" not in (folder / "out" / "report.html").read_text("utf-8")
