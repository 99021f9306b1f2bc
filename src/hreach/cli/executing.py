"""Studies from beginning to end: run with progress, kept, drawn."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hreach.cli.places import writing
from hreach.cli.progress import Bars, Lines, row_name
from hreach.errors import InputError, require, whole

if TYPE_CHECKING:
    from hreach.report.finished import Finished
    from hreach.studies.finish import Origin
    from hreach.studies.record import Record
    from hreach.studies.spec import Study
    from hreach.studies.store import Store
    from hreach.studies.workers import Workers

TABLES = ("chain", "modified-chain")  # of the paper's studies, those that are audited, and reproduced by default


@dataclass(frozen=True)
class How:
    """How studies are run: with which workers, and how it is told."""

    jobs: int | None = None
    executor: str | None = None
    scheduler: str | None = None
    every: float = 60.0
    part: tuple[int, int] = (1, 1)
    replace: bool = False
    as_json: bool = False

    def workers(self) -> Workers:
        """The workers."""
        from hreach.studies.workers import make_workers

        jobs = None if self.jobs is None else whole("--jobs", self.jobs, 1)
        return make_workers(self.executor, jobs, self.scheduler, self.every, self.part)


def part_of(text: str | None) -> tuple[int, int]:
    """`2/4` as (2, 4); all there is as (1, 1)."""
    if text is None:
        return 1, 1
    first, _, last = text.partition("/")
    ok = first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) <= 10**4
    require(ok, "--part", text, "k/n with 1 <= k <= n, such as 2/4")
    return int(first), int(last)


def checked_runs(runs: int | None) -> int | None:
    """The option --runs."""
    from hreach.studies.spec import MAX_RUNS

    runs = None if runs is None else whole("--runs", runs, 1)
    require(runs is None or runs <= MAX_RUNS, "--runs", runs, f"at most {MAX_RUNS}")
    return runs


def execute(studies: Sequence[tuple[str, Study]], out: Path, runs: int | None, how: How, origin: Origin) -> None:
    """Run the studies, write everything, print where the page is; exit code 1 if some runs failed."""
    from hreach.report.publish import check_folder
    from hreach.studies.finish import begin, other_code
    from hreach.studies.store import Store

    runs = checked_runs(runs)
    until = [study.until for _, study in studies if study.until is not None]
    require(
        not until or how.part[1] == 1, "--part", "/".join(map(str, how.part)), "left out where the study has `until`"
    )
    check_folder(out)
    crew = how.workers()  # before anything is written: its options may be wrong
    store = Store(out)
    with writing(out):
        for name, study in studies:
            if other_code(store, name, study):
                again = "computed again; what other code computed stays in the folder, apart"
                print(f"{name}: the code that decides results has changed, so its rows are {again}.", file=sys.stderr)
        records = [begin(name, study, store, runs, origin, how.replace) for name, study in studies]
        with crew as workers:
            done = [_finish(record, store, workers, how) for record in records]
        _conclude(done, store, out, how)


def _finish(record: Record, store: Store, workers: Workers, how: How) -> Finished:
    """Run one study, and audit it if it is one of the paper's tables."""
    from rich.console import Console

    from hreach.report.finished import Finished, audits_of
    from hreach.studies.finish import finish
    from hreach.studies.status import rows_of

    audited = record.paper and record.name in TABLES
    with Lines(record.name) if how.as_json else Bars(Console(stderr=True, highlight=False), record.study) as watch:
        record, results = finish(record, store, workers, watch, audited=audited)
    left = [row for row in rows_of(store, record) if not row.whole]
    return Finished(record, results, audits_of(store, record), left)


def _conclude(done: Sequence[Finished], store: Store, out: Path, how: How) -> None:
    """Draw the page, and say where it is and what is missing."""
    from hreach.report.publish import publish

    left = [(each.name, row) for each in done for row in each.left]
    if how.part[1] > 1:
        say(how, f"part {how.part[0]}/{how.part[1]} is done; when all are: hreach merge DIR... --out ALL", event="part")
        drawn = []
    else:
        drawn = [each for each in done if each.results]
    if drawn:
        if not how.as_json:
            print("drawing ...", file=sys.stderr)
        say_where(drawn, publish(out, drawn), out, how)
    failed = [(name, row) for name, row in left if row.failed]
    for name, row in failed:
        for each in row.failed:
            print(f"hreach: {name}, {row_name(row.spec)}: {each}", file=sys.stderr)
    if failed:
        print("hreach: the same command tries again what failed; the rest is kept.", file=sys.stderr)
        raise typer.Exit(1)


def say_where(finished: Sequence[Finished], page: Path, out: Path, how: How) -> None:
    """One line for each study, and where the files are."""
    if how.as_json:
        say(how, "", event="end", page=str(page), tables=str(out / "tables"), figures=str(out / "figures"))
        return
    for done in finished:
        print(f"{done.study.title}: {done.summary or 'done'} ({done.record.seconds:.1f} s)")
    print(f"page:   {page}\ntables: {out / 'tables'}\nfigures: {out / 'figures'}")


def say(how: How, text: str, **more: object) -> None:
    """A line for people, or for programs."""
    print(json.dumps(more | ({"text": text} if text else {})) if how.as_json else text, flush=True)


def dry_run(studies: Sequence[tuple[str, Study]], out: Path, runs: int | None, how: How) -> None:
    """What a run would compute, and an estimate of its time and size; nothing is written."""
    from hreach.studies.estimate import estimate
    from hreach.studies.store import Store

    runs, store = checked_runs(runs), Store(out, writing=False)
    with how.workers() as workers:
        count = workers.count
    found = {name: estimate(study, store, runs) for name, study in studies}
    if how.as_json:
        print(json.dumps({name: vars(each) | {"workers": count} for name, each in found.items()}, indent=1))
        return
    for name, each in found.items():
        print(
            f"{name}: {each.cells} of {each.all_cells} cells to do, {each.runs} runs in {each.shards} shards, about "
            f"{_duration(each.seconds / count)} with {count} workers and {each.bytes / 1e6:.3g} MB on disk"
        )


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s"


def names_for(base: str, studies: Sequence[Study]) -> list[tuple[str, Study]]:
    """A name for each study of a file: that of the file, with the domain's where there are several."""
    from hreach.report.pictures import file_name

    if len(studies) == 1:
        return [(base, studies[0])]
    named: dict[str, Study] = {}
    for number, study in enumerate(studies, start=1):
        label = file_name(study.title.rpartition(": ")[2])[:60]
        name = f"{base}-{label}" if label else f"{base}-{number}"
        named[name if name not in named else f"{name}-{number}"] = study
    if len(named) != len(studies):
        raise InputError("two domains of the study have one name; give them labels.")
    return list(named.items())
