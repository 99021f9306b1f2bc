"""What a study will cost: cells, runs and shards are exact, time and disk are guesses, and nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers import content
from hreach.studies import estimate as estimating
from hreach.studies import work
from hreach.studies.estimate import Estimate, estimate
from hreach.studies.runner import run_study
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.store import Store

STUDY = Study(
    title="T",
    domain="chain",
    steps=40,
    runs=11,
    seed=3,
    agent=[AgentSpec(agent="pac-rmdp", params={"h": h}) for h in (1, 8)] + [AgentSpec(agent="greedy")],
)
CAR = Study(
    title="T",
    domain="mountain-car",
    domain_params={"max_steps": 15},
    episodes=2,
    final_episodes=1,
    runs=3,
    seed=3,
    settings={"grid": [6, 6]},
    agent=[AgentSpec(agent="linear-pac-rmdp", params={"h": 1}), AgentSpec(agent="linear-epsilon-greedy")],
)


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "COMPILED_STEPS", 4 * 40)


def changed(study: Study, **fields: Any) -> Study:
    return study.model_copy(update=fields)


def counts(found: Estimate) -> tuple[int, int, int, int]:
    return found.cells, found.all_cells, found.runs, found.shards


def shards(folder: Path) -> list[Path]:
    return list(folder.rglob("*.parquet"))


TWICE = changed(STUDY, agent=[*STUDY.agent, STUDY.agent[0].model_copy(update={"algorithm": "twin"})])


@pytest.mark.parametrize("study", [STUDY, CAR, TWICE])
def test_what_is_counted_is_what_is_then_computed(study: Study, tmp_path: Path) -> None:
    found = estimate(study, Store(tmp_path, writing=False))
    results = run_study(study, Store(tmp_path))
    cells = len(list((tmp_path / "shards").iterdir()))
    assert counts(found) == (cells, cells, cells * study.runs, len(shards(tmp_path)))
    assert {result.runs for _, result in results} == {study.runs}
    assert counts(estimate(study, Store(tmp_path, writing=False))) == (0, cells, 0, 0)


def test_of_a_study_that_was_begun_only_the_rest_is_counted(tmp_path: Path) -> None:
    run_study(changed(STUDY, agent=STUDY.agent[:2]), Store(tmp_path), runs=6)
    run_study(changed(STUDY, agent=STUDY.agent[1:2]), Store(tmp_path))
    before = len(shards(tmp_path))
    found = estimate(STUDY, Store(tmp_path, writing=False))
    assert counts(found) == (2, 3, 5 + 11, 2 + 3)
    assert counts(estimate(STUDY, Store(tmp_path, writing=False), runs=6)) == (1, 3, 6, 2)
    run_study(STUDY, Store(tmp_path))
    assert len(shards(tmp_path)) == before + found.shards


def test_nothing_is_written(tmp_path: Path) -> None:
    estimate(STUDY, Store(tmp_path / "none", writing=False))
    assert not (tmp_path / "none").exists()
    run_study(STUDY, Store(tmp_path / "some"), runs=2)
    before = content(tmp_path)
    estimate(STUDY, Store(tmp_path / "some", writing=False))
    assert content(tmp_path) == before


def test_time_and_disk_grow_with_what_is_to_do(tmp_path: Path) -> None:
    few, many = (estimate(STUDY, Store(tmp_path, writing=False), runs=runs) for runs in (1, 10**6))
    assert 0 < few.seconds < many.seconds
    assert 0 < few.bytes < many.bytes


def test_what_a_shard_takes_beside_its_runs_is_not_paid_once_for_each_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that a call of the kernels moves by 1 s and each of its steps by .1 ms."""
    now = 0.0

    def simulated(*args: Any, runs: int, steps: int, **options: Any) -> None:
        nonlocal now
        now += 1 + 1e-4 * runs * steps

    monkeypatch.setattr(estimating, "simulate", simulated)
    monkeypatch.setattr("hreach.studies.estimate.time.perf_counter", lambda: now)
    monkeypatch.setattr(work, "COMPILED_STEPS", 10**5)
    found = estimate(changed(STUDY, agent=STUDY.agent[:1]), Store(tmp_path, writing=False), runs=25_000)
    assert found.shards == 10
    assert found.seconds == pytest.approx(10 * (1 + 1e-4 * 10**5))


def test_the_disk_is_guessed_to_within_a_factor_of_ten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "COMPILED_STEPS", 50 * 3000)
    study = changed(STUDY, steps=3000, runs=50)
    found = estimate(study, Store(tmp_path, writing=False))
    run_study(study, Store(tmp_path))
    size = sum(path.stat().st_size for path in shards(tmp_path))
    assert size / 10 < found.bytes < 10 * size
