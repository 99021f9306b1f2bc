"""What studies cost beside their computing. `python benchmarks/studies.py` prints it and writes benchmarks/STUDIES.md.

Every time is the smallest of several, taken in turns. Workers are there before a study is timed: to start a process,
which imports numba, takes as long as a whole study of 200 short shards. The shards of the large stores are empty files
with the right names: what is measured there looks at names only.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Self

from hreach.studies.finish import Origin, begin, key_of
from hreach.studies.grid import cell_of
from hreach.studies.loading import parse
from hreach.studies.record import Record, write_record
from hreach.studies.runner import run_study
from hreach.studies.spec import Study
from hreach.studies.store import Store
from hreach.studies.work import simulated
from hreach.studies.workers import Workers, make_workers

TABLE = Path(__file__).parent / "STUDIES.md"
ROUNDS = 3
COMPUTE = "compute"  # the word with which this file is what `Alone` starts
FIRST = {1: float("inf"), 2: float("inf")}
Row = tuple[str, str, str]  # what, measured, goal


def text_of(rows: int, runs: int, steps: int, seed: int = 0) -> str:
    """A study of so many cells on the chain."""
    head = f'title = "Costs"\ndomain = "chain"\nsteps = {steps}\nruns = {runs}\nseed = {seed}\n\n[[agent]]\n'
    return head + f'agent = "mbie-eb"\ngrid = {{ beta = {[0.01 * (i + 1) for i in range(rows)]} }}\n'


def study_of(rows: int, runs: int, steps: int, seed: int = 0) -> Study:
    return parse(text_of(rows, runs, steps, seed), "costs.toml")[0]


def seconds(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def run_in(folder: Path, study: Study, workers: Workers) -> float:
    """Seconds of a study in a new folder, with workers that have worked before."""
    place = Path(tempfile.mkdtemp(dir=folder))
    return seconds(lambda: run_study(study, Store(place), workers=workers))


# --- overhead and scaling ------------------------------------------------------------------------------------------


def overheads(folder: Path) -> Iterator[Row]:
    """Time of a shard of ten steps beside its computing, with one worker; processes compute while others are kept."""
    shards, goals = 200, {"inline": 15, "processes": 30, "dask": 60}
    study = study_of(shards, 1, 10)
    cells = [cell_of(study, spec) for spec in study.agent]
    best = dict.fromkeys(goals, float("inf"))
    computing = min(seconds(lambda: [simulated(cell, 0, 1) for cell in cells]) for _ in range(ROUNDS))
    for executor in goals:
        with make_workers(executor, 1) as workers:
            run_in(folder, study_of(2, 1, 10, seed=1), workers)  # workers are there, and have compiled
            best[executor] = min(run_in(folder, study, workers) for _ in range(ROUNDS))
    for executor, goal in goals.items():
        each, own = 1000 * best[executor] / shards, 1000 * computing / shards
        measured = f"{each - own:.1f} ms ({each:.1f} ms of which {own:.1f} ms are the shard's own)"
        yield f"overhead per shard, {executor}", measured, f"under {goal} ms"


class Alone:
    """Two processes that compute shards and nothing else: what a second core of this machine can give at most."""

    def __init__(self) -> None:
        line = [sys.executable, __file__, COMPUTE]
        self._both = [subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in "12"]

    def __enter__(self) -> Self:
        self.seconds(4, 50, 2)  # they are there, and have compiled
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._both:
            process.communicate()

    def seconds(self, rows: int, steps: int, count: int) -> float:
        """Seconds of so many cells x 50 runs by one of the processes, or by both."""
        asked = list(zip(range(count), self._both, strict=False))
        began = time.perf_counter()
        for k, process in asked:
            print(rows, steps, k, count, file=process.stdin, flush=True)
        for _, process in asked:
            assert process.stdout is not None
            process.stdout.readline()
        return time.perf_counter() - began


def compute() -> None:
    """What such a process does: of each line, its share of the cells."""
    for line in sys.stdin:
        rows, steps, k, count = map(int, line.split())
        study = study_of(rows, 50, steps)
        for spec in study.agent[k::count]:
            simulated(cell_of(study, spec), 0, 50)
        print(flush=True)


def scaling(folder: Path) -> Iterator[Row]:
    """200 cells x 50 runs by one worker and by two, in turns with two processes that only compute the same shards."""
    for steps, executor in product((3000, 10_000), ("threads", "processes")):
        study, best, alone = study_of(200, 50, steps), dict(FIRST), dict(FIRST)
        with make_workers(executor, 1) as one, make_workers(executor, 2) as two, Alone() as bare:
            for workers in (one, two):
                run_in(folder, study_of(4, 50, 3000, seed=1), workers)
            for _ in range(ROUNDS):
                for count, workers in ((1, one), (2, two)):
                    best[count] = min(best[count], run_in(folder, study, workers))
                    alone[count] = min(alone[count], bare.seconds(200, steps, count))
        found, most = best[1] / best[2], alone[1] / alone[2]
        measured = f"{found:.2f}x ({best[1]:.1f} s with one, {best[2]:.1f} s with two)"
        here = f"two processes that only compute: {most:.2f}x, of which this is {found / most:.0%}"
        what = f"200 cells x 50 runs of {steps} steps, two workers against one, {executor}"
        yield what, f"{measured}; {here}", "at least 1.8x"


# --- large stores --------------------------------------------------------------------------------------------------


def large(folder: Path, cells: int, shards: int) -> tuple[Path, Path]:
    """(study, folder) of a finished study of so many cells with so many shards of one run each."""
    place, file = folder / f"{cells}x{shards}", folder / f"large-{cells}.toml"
    text = text_of(cells, shards, 1_500_000)
    file.write_text(text, "utf-8")
    store, study = Store(place), parse(text, file.name)[0]
    record = begin(file.stem, study, store, origin=Origin(key=key_of(text, None)))
    names = [f"{first}-{first + 1}-{first:016x}.parquet" for first in range(shards)]
    for cell in record.cells:
        where = store.shards / cell
        where.mkdir(parents=True)
        for name in names:
            os.close(os.open(where / name, os.O_CREAT | os.O_WRONLY))
    finished(place, record)
    return file, place


def finished(place: Path, record: Record) -> None:
    write_record(place, record.model_copy(update={"used": [record.runs] * len(record.cells)}))
    (place / "report.html").write_text("", "utf-8")


def command(*words: str | Path) -> float:
    """Seconds of a whole command, the smallest of several."""
    line = [sys.executable, "-m", "hreach", *map(str, words)]
    return min(seconds(lambda: subprocess.run(line, check=True, capture_output=True)) for _ in range(ROUNDS))


def stores(folder: Path) -> Iterator[Row]:
    for cells, shards in ((1000, 100), (20_000, 5)):
        _, place = large(folder, cells, shards)
        what = f"`hreach status`, 10^5 shards in {cells} cells"
        yield what, f"{command('status', place):.2f} s, the whole command", "under 5 s"
        shutil.rmtree(place)
    file, place = large(folder, 100, 100)
    what = "`hreach run` of a finished study of 10^4 shards"
    yield what, f"{command('run', file, '--out', place):.2f} s, the whole command", "under 3 s"


def million(folder: Path) -> Iterator[Row]:
    """A store of 10^6 shards: what finding out what is missing takes, and what it takes of the disk."""
    cells, shards = 10_000, 100
    _, place = large(folder, cells, shards)
    store = Store(place, writing=False)
    ids = store.cells()
    looking = min(seconds(lambda: [store.missing(cell, shards) for cell in ids]) for _ in range(ROUNDS))
    yield "10^6 shards in 10^4 cells: what is missing, all cells", f"{looking:.1f} s", ""
    yield "10^6 shards in 10^4 cells: `hreach status`", f"{command('status', place):.1f} s, the whole command", ""
    inodes = cells * shards + cells
    small, usual = study_of(1, 1, 10), study_of(1, 50, 3000)
    sizes = [len(simulated(cell_of(each, each.agent[0]), 0, each.runs).file) for each in (small, usual)]
    on_disk = f"{sizes[0] / 1e3:.1f} to {sizes[1] / 1e3:.0f} GB, {inodes} inodes"
    yield "10^6 shards: disk, if each is of one run of 10 steps, or of 50 runs with 100 marks", on_disk, ""


def main() -> None:
    rows: list[Row] = []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="hreach-costs-") as name:
        for part in (overheads, scaling, stores, million):
            for row in part(Path(name)):
                rows.append(row)
                print(": ".join(filter(None, row)), flush=True)
    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    busy = f"the load average was {load:.1f} at the beginning: with other work on the machine, times are too long"
    head = f"Made by `python benchmarks/studies.py` ({where}); each time is the smallest of {ROUNDS}; {busy}.\n\n"
    lines = ["| what | measured | goal |", "|---|---|---|", *(f"| {a} | {b} | {c or '–'} |" for a, b, c in rows)]
    TABLE.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    (compute if sys.argv[1:] == [COMPUTE] else main)()
