"""A journal whose writers are killed or meet: every row that was told is there, once."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from faults.figures import record
from hreach import Journal


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "run.hreach"
    Journal.new(path, ["low", "high"]).close()
    return path


TELLS = """
import sys
from hreach import Journal
with Journal(sys.argv[1]) as journal:
    for i in range(int(sys.argv[2])):
        print(journal.tell(float(i), "s", state="s", action="low", unit=sys.argv[3]), flush=True)
"""


def start(path: Path, rows: int, unit: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", TELLS, str(path), str(rows), unit]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_in_a_loop(path: Path, times: int) -> tuple[int, int]:
    """Kill a process that tells, so many times; no row that it said was told is lost, none is there twice.

    How many rows it said were told, and how many are there.
    """
    acknowledged: set[int] = set()
    rng = random.Random(7)
    for _ in range(times):
        process = start(path, 10**6, "killed")
        assert process.stdout is not None
        acknowledged.add(int(process.stdout.readline()))
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        said = process.communicate(timeout=60)[0]
        acknowledged |= {int(line) for line in said.splitlines(keepends=True) if line.endswith("\n")}
        with Journal(path) as journal:
            there = [entry.id for entry in journal.entries() if entry.told_at is not None]
            assert journal.tally().samples == len(there) == len(set(there))
        assert acknowledged <= set(there)
        assert len(there) - len(acknowledged) <= times  # at most one each that was written and not yet said
    return len(acknowledged), len(there)


def two_writers(path: Path, rows: int) -> None:
    processes = [start(path, rows, unit) for unit in ("a", "b")]
    for process in processes:
        assert process.communicate(timeout=600)[1] == ""
        assert process.returncode == 0
    with Journal(path) as journal:
        units = [entry.unit for entry in journal.entries()]
        assert journal.tally().samples == 2 * rows
    assert sorted(units) == ["a"] * rows + ["b"] * rows  # type: ignore[type-var]


def test_a_process_killed_while_it_tells_loses_nothing(journal: Path) -> None:
    assert kill_in_a_loop(journal, 3)[0] >= 3


@pytest.mark.faults
def test_a_process_killed_two_hundred_times_loses_nothing(journal: Path) -> None:
    said, there = kill_in_a_loop(journal, 200)
    assert said >= 200
    measured = (
        f"200 kills, {said:,} rows acknowledged, 0 lost, 0 twice, {there - said} written and not yet acknowledged"
    )
    record("kill -9 during tell", f"{measured}; it opened every time", "no told row lost, none twice")


def test_two_writers_wait_for_each_other(journal: Path) -> None:
    two_writers(journal, 40)


@pytest.mark.faults
def test_two_writers_of_a_thousand_rows_each(journal: Path) -> None:
    begun = time.perf_counter()
    two_writers(journal, 1000)
    seconds = time.perf_counter() - begun
    record("two writers of a journal, 1000 tells each", f"2000 rows, no error, {seconds:.0f} s", "2000 rows, no error")
