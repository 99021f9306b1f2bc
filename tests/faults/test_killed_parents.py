"""A study whose process is killed at random moments, and begun again until it is finished."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from faults.driving import all_gone, descendants, digest, done_runs, ended, linux, ran, started, table
from faults.figures import record
from faults.subject import slow_study

ROWS, RUNS, WORKERS = 3, 6, 2
PAUSE = 0.3  # a worker has a second task in line where one takes less than .2 s, and may then have done two

# A twin of hreach.files.write_bytes that is not whole or absent: half of it is visible for a while.
HALF = """
import hreach.files, hreach.studies.store, time
def in_two_halves(path, data, through=None):
    with open(path, "wb") as file:
        file.write(data[: len(data) // 2])
        file.flush()
        time.sleep(0.5)
        file.write(data[len(data) // 2 :])
hreach.studies.store.write_bytes = in_two_halves
"""


class Survived(NamedTuple):
    """What became of a study: how often it was killed, and the most shards for each worker that one kill undid."""

    kills: int
    undone: float
    code: int
    said: str


def survive(
    study: Path, out: Path, log: Path, options: list[str], rng: random.Random, longest: float, most: int
) -> Survived:
    """Kill the study at random moments, so many times at most, and begin it again, until it is finished."""
    kills, undone = 0, 0.0
    while kills < most:
        before = done_runs(log).total()
        with ended(started(study, out, *options, log=log)) as process:
            kept = len(stored(out))
            # The first time as soon as something is kept, for a machine that is quicker now would be done before.
            if not (kill_after(process, rng.uniform(0, longest)) if kills else kill_at_first_shard(process, out)):
                return Survived(kills, undone, process.returncode, process.communicate()[1])
        computed = done_runs(log).total() - before
        undone = max(undone, (computed - (len(stored(out)) - kept)) / WORKERS)
        kills += 1
    return Survived(kills, undone, *ran(study, out, *options, log=log))


def kill_after(process: subprocess.Popen[str], seconds: float) -> bool:
    """Kill a process after so many seconds, and wait for those that it had started; False if it ended before."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        below = descendants(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert all_gone(below)
        return True
    return False


def kill_at_first_shard(process: subprocess.Popen[str], out: Path) -> bool:
    """`kill_after` a shard is there."""
    while not stored(out) and process.poll() is None:
        time.sleep(0.01)
    return kill_after(process, 0)


def stored(out: Path) -> list[Path]:
    return [path for path in (out / "shards").rglob("*.parquet") if not path.name.startswith(".")]


def undisturbed(study: Path, out: Path, options: list[str]) -> float:
    """Run a study that nobody disturbs; the seconds that it took."""
    began = time.monotonic()
    code, said = ran(study, out, *options)
    assert code == 0, said
    return time.monotonic() - began


@linux
@pytest.mark.faults
@pytest.mark.parametrize(("executor", "times", "most"), [("processes", 50, 6), ("dask", 10, 6)])
def test_a_study_whose_process_is_killed_ends_with_the_same_bytes(
    executor: str, times: int, most: int, tmp_path: Path
) -> None:
    study, rng = slow_study(tmp_path / "project", ROWS, RUNS, PAUSE), random.Random(times)
    options = ["--executor", executor, "--jobs", str(WORKERS)]
    longest = undisturbed(study, tmp_path / "undisturbed", options)
    same, kills, undone = 0, 0, 0.0
    for i in range(times):
        out = tmp_path / str(i)
        found = survive(study, out, tmp_path / f"{i}.log", options, rng, longest, most)
        assert found.code == 0, found.said
        same += digest(out) == digest(tmp_path / "undisturbed") and table(out) == table(tmp_path / "undisturbed")
        kills, undone = kills + found.kills, max(undone, found.undone)
        assert not list(out.rglob(".*.tmp"))
        assert not (out / "quarantine").exists()
    measured = f"{same} of {times} byte-identical, {kills} kills, at most {undone:g} shards per worker done twice"
    record(f"kill -9 of the parent, {executor}", measured, "all byte-identical, at most 1 shard per worker done twice")
    assert same == times
    assert kills >= 1
    assert undone <= 1


@pytest.mark.faults
def test_files_that_are_not_whole_or_absent_are_seen(tmp_path: Path) -> None:
    """The twin: a store that is written in place, killed in the middle of a shard, is not the undisturbed one."""
    study = slow_study(tmp_path / "project", 1, 2)
    undisturbed(study, tmp_path / "undisturbed", ["--executor", "inline"])
    out = tmp_path / "half"
    with ended(started(study, out, "--executor", "inline", before=HALF)) as process:
        while not stored(out):
            assert process.poll() is None
            time.sleep(0.002)
        process.kill()
        process.communicate()
    code, _ = ran(study, out, "--executor", "inline")
    assert code != 0 or digest(out) != digest(tmp_path / "undisturbed")
