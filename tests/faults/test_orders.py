"""Whoever computes, and in whichever order: one study leaves one store."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from faults.driving import digest, done_runs, ran, shards, started, table
from faults.figures import record
from faults.subject import mixed_study, slow_study

WORKERS, EXECUTORS = (1, 2, 4), ("threads", "processes", "dask")
ALL = list(product(EXECUTORS, WORKERS))


def digests(folder: Path, ways: list[tuple[str, int]], agent: str = "Slow") -> set[str]:
    """The digests of the stores that a study leaves, each way with its rows in an order of its own."""
    found = set()
    for i, (executor, count) in enumerate(ways):
        study = mixed_study(folder / str(i), random.Random(i), agent)
        code, said = ran(study, folder / str(i) / "out", "--executor", executor, "--jobs", str(count))
        assert code == 0, said
        found.add(digest(folder / str(i) / "out"))
    return found


@pytest.mark.faults
def test_one_study_leaves_one_store(tmp_path: Path) -> None:
    found = digests(tmp_path, [("inline", 1), *ALL])
    counts = ", ".join(str(n) for n in sorted({count for _, count in ALL}))
    names = "/".join(dict.fromkeys(name for name, _ in ALL))
    measured = f"{len(found)} SHA-256 over {1 + len(ALL)} stores ({counts} workers x {names}, and inline)"
    record("workers x executors x shuffled order", measured, "1 SHA-256")
    assert len(found) == 1


@pytest.mark.faults
def test_runs_that_depend_on_who_ran_before_are_seen(tmp_path: Path) -> None:
    """The twin: agents that share a generator."""
    assert len(digests(tmp_path, [("inline", 1), ("processes", 2)], "Shared")) == 2


def run_two(study: Path, out: Path, log: Path) -> list[tuple[int, str]]:
    """Two runners on one folder at once; (exit code, what was said) of each."""
    options = ["--executor", "processes", "--jobs", "1"]
    both = [started(study, out, *options, log=log) for _ in range(2)]
    return [(process.wait(), process.communicate()[1]) for process in both]


@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.faults)])
def test_two_runners_on_one_folder_lose_nothing_and_count_nothing_twice(times: int, tmp_path: Path) -> None:
    rows, runs = 2, 10
    study = slow_study(tmp_path / "project", rows, runs)
    code, said = ran(study, tmp_path / "undisturbed", "--executor", "inline")
    assert code == 0, said
    same, twice = 0, 0
    for i in range(times):
        out, log = tmp_path / str(i), tmp_path / f"{i}.log"
        for code, said in run_two(study, out, log):
            assert code == 0, said
        same += digest(out) == digest(tmp_path / "undisturbed") and table(out) == table(tmp_path / "undisturbed")
        twice += done_runs(log).total() - rows * runs
        assert len(shards(out)) == rows * runs
    measured = (
        f"{same} of {times} stores and tables byte-identical; {twice / times:.3g} of {rows * runs} runs done twice"
    )
    record("two runners on one folder at once", measured, "all: nothing lost, nothing twice in the table")
    assert same == times
