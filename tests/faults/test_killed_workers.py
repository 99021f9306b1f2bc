"""Workers that are killed while a study runs, by somebody else or by what they compute."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from faults.driving import (
    PATIENCE,
    digest,
    done_runs,
    ended,
    killed,
    linux,
    ran,
    shards,
    started,
    table,
    wait_for_shards,
    workers_of,
)
from faults.figures import record
from faults.subject import NAME, slow_study

# A twin that gives a task up when its worker dies for the first time.
ONE_TRY = "import hreach.running.executors.processes as processes; processes.TRIES = 1"


def disturbed(study: Path, out: Path, options: list[str], before: str = "") -> tuple[int, str, int]:
    """(exit code, what was said, kills) of a study of which a random worker is killed every two seconds.

    On a busy machine more seldom: a worker needs so long to start that the same shard would lose three of them. So a
    few shards have to be done between two kills.
    """
    rng, kills, done = random.Random(1), 0, 0
    with ended(started(study, out, *options, before=before)) as process:
        wait_for_shards(process, out, 1)
        until = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < until:
            now = len(shards(out))
            if now >= done + 4 and (pids := workers_of(process.pid)):
                killed([rng.choice(pids)])
                kills, done = kills + 1, now
            time.sleep(2)
        return process.wait(1), process.communicate()[1], kills


@linux
@pytest.mark.faults
@pytest.mark.parametrize(("executor", "runs"), [("processes", 100), ("dask", 100)])
def test_a_study_whose_workers_are_killed_ends_unaided_with_the_same_bytes(
    executor: str, runs: int, tmp_path: Path
) -> None:
    study = slow_study(tmp_path / "project", 2, runs, pause=0.2)
    code, said = ran(study, tmp_path / "undisturbed", "--jobs", "2")
    assert code == 0, said
    options = ["--executor", executor, "--jobs", "2"]
    code, said, kills = disturbed(study, tmp_path / "killed", options)
    same = digest(tmp_path / "killed") == digest(tmp_path / "undisturbed")
    measured = f"{kills} kills among {2 * runs} shards, exit code {code}, {'same' if same else 'other'} bytes"
    record(f"kill -9 of a random worker every 2 s, {executor}", measured, "exit code 0, same bytes")
    assert (code, same) == (0, True), said
    assert kills >= 1
    assert table(tmp_path / "killed") == table(tmp_path / "undisturbed")
    assert not (tmp_path / "killed" / "quarantine").exists()


@linux
@pytest.mark.faults
def test_a_study_that_does_not_try_again_is_seen(tmp_path: Path) -> None:
    """The twin: with one try for each shard, the first kill costs a row."""
    study = slow_study(tmp_path / "project", 2, 15, pause=0.4)
    code, said, kills = disturbed(study, tmp_path / "out", ["--executor", "processes", "--jobs", "2"], ONE_TRY)
    assert kills >= 1
    assert code == 1
    assert "its worker process died (killed by signal 9)" in said


@pytest.mark.parametrize("executor", ["processes", pytest.param("dask", marks=pytest.mark.faults)])
def test_a_shard_that_kills_its_workers_is_put_aside_and_the_rest_is_finished(executor: str, tmp_path: Path) -> None:
    runs, deadly = 10, 7
    study, log = slow_study(tmp_path / "project", 2, runs, pause=0.01), tmp_path / "log"
    code, said = ran(study, tmp_path / "whole", "--executor", "inline", log=log)
    assert code == 0, said
    seeds = log.read_text("utf-8").split()  # one after the other, row by row
    (study.parent / "deadly").write_text(seeds[deadly], "utf-8")
    out = tmp_path / "deadly"
    code, said = ran(study, out, "--executor", executor, "--jobs", "2", log=tmp_path / "log2")
    there = {path.name for path in shards(out)}
    lacking = sorted({path.name for path in shards(tmp_path / "whole")} - there)
    [aside] = (out / "quarantine").rglob("*.json")
    tries = json.loads(aside.read_text("utf-8"))["tries"]
    measured = f"put aside after {tries} tries, {len(there)} of {2 * runs - 1} others finished, exit code {code}, named"
    record(f"a shard that always kills its worker, {executor}", measured, "3 tries, all others, exit code not 0, named")
    assert (code, tries, aside.stem) == (1, 3, f"{deadly}-{deadly + 1}")
    assert len(lacking) == 1
    assert lacking[0].startswith(f"{deadly}-{deadly + 1}-")
    assert f"hreach: {NAME}, subject_package:Slow(pause=0.01, row=0): run {deadly}: its worker process died" in said
    assert set(done_runs(tmp_path / "log2")) == set(seeds) - {seeds[deadly]}
    assert f"run {deadly}: its worker process died" in (out / "report.html").read_text("utf-8")
    (study.parent / "deadly").unlink()
    code, said = ran(study, out, "--executor", executor, "--jobs", "2")
    assert code == 0, said
    assert digest(out) == digest(tmp_path / "whole")
    assert not (out / "quarantine").exists()
