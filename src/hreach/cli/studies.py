"""Commands about studies: reproduce, run, report, status, watch, merge."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hreach.cli.executing import TABLES, How, dry_run, execute, names_for, part_of, say_where
from hreach.cli.places import expanded, file_name_of, writing
from hreach.errors import positive, require

if TYPE_CHECKING:
    from hreach.studies.spec import Study

QUICK_RUNS = 100
QUICK_EPISODE_RUNS, QUICK_EPISODES = 2, 10
QUICK_TEXT = "Made quick: {0} runs of {1} episodes instead of {2} of {3}, without claims that a run reaches something."

Out = Annotated[Path, typer.Option(help="Folder for results, tables, figures and the page.")]
Runs = Annotated[int | None, typer.Option(help="Runs for each algorithm (default: the study's own number).")]
Jobs = Annotated[
    int | None, typer.Option(help="Threads or processes (default: all cores). Numbers do not depend on it.")
]
Named = Annotated[
    str | None, typer.Option("--executor", help="threads, processes, dask or inline (default: what fits).")
]
Scheduler = Annotated[str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.")]
Every = Annotated[float, typer.Option("--checkpoint-every", help="Seconds between two checkpoints of a long run.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder in which studies were run.")]


def reproduce(
    studies: Annotated[
        list[str] | None, typer.Argument(help=f"Which of the paper's studies (default: {' and '.join(TABLES)}).")
    ] = None,
    out: Out = Path("results"),
    runs: Runs = None,
    jobs: Jobs = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help=f"For the impatient: only {QUICK_RUNS} runs, of continuous studies {QUICK_EPISODE_RUNS} runs "
            f"of {QUICK_EPISODES} episodes.",
        ),
    ] = False,
    executor: Named = None,
    scheduler: Scheduler = None,
    as_json: Json = False,
) -> None:
    """Reproduce the paper's tables and figures; finished parts are not computed again.

    Example: hreach reproduce chain mountain-car --quick --out results
    """
    from hreach.studies.finish import Origin
    from hreach.studies.loading import load_catalog

    require(not quick or runs is None, "--runs", runs, "left out when --quick is given")
    loaded = [(name, load_catalog(name)) for name in dict.fromkeys(studies or TABLES)]
    if quick:
        loaded = [(name, made_quick(study)) for name, study in loaded]
    how = How(jobs, executor, scheduler, replace=True, as_json=as_json)
    execute(loaded, expanded(out), runs, how, Origin(paper=True))


def made_quick(study: Study) -> Study:
    """The study made small; without claims that something is reached, which fewer episodes could only miss."""
    if study.episodes is None:
        return study.model_copy(update={"runs": QUICK_RUNS})
    small = {"runs": QUICK_EPISODE_RUNS, "episodes": min(QUICK_EPISODES, study.episodes)}
    said = QUICK_TEXT.format(*small.values(), study.runs, study.episodes)
    claims = [claim for claim in study.claim if claim.kind != "at least"]
    return study.model_copy(update=small | {"claim": claims, "text": f"{study.text.rstrip()}\n\n{said}"})


def run(
    study: Annotated[Path, typer.Argument(help="A study as a TOML file.")],
    out: Out,
    runs: Runs = None,
    jobs: Jobs = None,
    executor: Named = None,
    scheduler: Scheduler = None,
    part: Annotated[str | None, typer.Option(help="Compute part k of n only, such as 2/4; others do the rest.")] = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Estimate time and disk, and run nothing.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Go on although the definition has changed.")] = False,
    every: Every = 60.0,
    as_json: Json = False,
) -> None:
    """Run any agents on any domains, as a TOML file says; finished parts are not computed again.

    Agents and domains of your own, "module:name", are found where Python finds modules, and in the current folder.

    Example: hreach run my-study.toml --out results --jobs 8
    """
    from hreach.report.publish import page_of
    from hreach.studies.finish import Origin, finished_before, key_of
    from hreach.studies.loading import parse, read
    from hreach.studies.store import Store

    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # at the end: a file here replaces no module of anybody else
    out, text, base = expanded(out), read(study), file_name_of(study)
    how = How(jobs, executor, scheduler, positive("--checkpoint-every", every), part_of(part), replace, as_json)
    key = key_of(text, runs)
    names = [] if dry else finished_before(Store(out, writing=False), base, key)
    if names and (page := page_of(out, names)).is_file():
        told = f"{', '.join(names)}: finished before, nothing to do\npage:   {page}"
        print(json.dumps({"event": "end", "page": str(page), "studies": names}) if as_json else told)
        return
    studies = parse(text, study.name)
    if dry:
        dry_run(names_for(base, studies), out, runs, how)
        return
    execute(names_for(base, studies), out, runs, how, Origin(key=key, parts=len(studies)))


def report(
    folder: Folder,
    studies: Annotated[list[str] | None, typer.Argument(help="Which of its studies (default: all).")] = None,
) -> None:
    """Draw tables, figures and the page from what is there; nothing is run.

    Example: hreach report results
    """
    from hreach.report.finished import finished
    from hreach.report.publish import check_folder, publish
    from hreach.studies.record import names_in
    from hreach.studies.store import Store

    folder = expanded(folder)
    names = list(dict.fromkeys(studies or names_in(folder)))
    require(bool(names), "DIR", str(folder), "a folder in which a study was finished")
    check_folder(folder)
    with writing(folder):
        done = [finished(Store(folder), name) for name in names]
        drawn = [each for each in done if each.results]
        require(bool(drawn), "DIR", str(folder), "a folder in which a row of a study was finished")
        page = publish(folder, drawn)
    say_where(drawn, page, folder, How())


def status(
    folder: Folder,
    verify: Annotated[bool, typer.Option("--verify", help="Read every shard and check it.")] = False,
    as_json: Json = False,
) -> None:
    """Show how far studies are and what failed; exit code 1 if a shard is damaged or some runs failed.

    Example: hreach status results --verify
    """
    from hreach.cli.status import show

    if not show(expanded(folder), verify, as_json):
        raise typer.Exit(1)


def watch(
    folder: Folder,
    once: Annotated[bool, typer.Option("--once", help="Look once and end.")] = False,
    every: Annotated[float, typer.Option(help="Seconds between two looks.")] = 2.0,
) -> None:
    """Show a running study, from another terminal or machine: rows, runs done, means so far, time left.

    Example: hreach watch results
    """
    from hreach.cli.watching import look_on

    look_on(expanded(folder), once, positive("--every", every))


def merge(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders in which studies were run.")],
    out: Annotated[Path, typer.Option(help="The folder that gets all that is in them.")],
) -> None:
    """Put results of several folders into one: parts of a study, or studies.

    Example: hreach merge part1 part2 --out results
    """
    from hreach.studies.merging import merge as merged
    from hreach.studies.store import Store

    into = expanded(out)
    with writing(into):
        records = merged([expanded(folder) for folder in folders], Store(into, writing=False))
    for record in records:
        state = "finished" if record.used else "not finished: run it with this folder as --out"
        print(f"{record.name}: {state}")
    if any(record.used for record in records):
        print(f"page:   hreach report {into}")
