"""The command line. Every command only collects its arguments and calls the library."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hreach import __version__
from hreach.cli import guarantees as commands
from hreach.errors import InputError, WorkerDiedError, require

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from hreach.report.finished import Finished
    from hreach.running.processes import Processes
    from hreach.studies.results import Result
    from hreach.studies.spec import AgentSpec, Study
    from hreach.studies.store import Store

QUICK_RUNS = 100
QUICK_EPISODE_RUNS, QUICK_EPISODES = 2, 10
TABLES = ("chain", "modified-chain")  # what is reproduced unless asked for more: the rest takes minutes

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Exploration whose guarantee you can choose, check and afford: PAC-RMDP(h) and its rivals.",
)

Out = Annotated[Path, typer.Option(help="Folder for results, tables, figures and the page.")]
Runs = Annotated[int | None, typer.Option(help="Runs for each algorithm (default: the study's own number).")]
Jobs = Annotated[
    int | None, typer.Option(help="Threads or processes (default: all cores). Numbers do not depend on it.")
]


@app.command(name="list")
def list_(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show the agents, domains and studies that come with hreach, and what installed distributions add to them.

    Example: hreach list --json
    """
    from hreach.cli.listing import OURS, everything

    entries = everything()
    if as_json:
        print(json.dumps(entries, indent=2))
        return
    width = max(len(line["name"]) for lines in entries.values() for line in lines)
    for kind, lines in entries.items():
        print(f"\n{kind.upper()}")
        for line in lines:
            foreign = f"  [{line['from']}]" if line["from"] != OURS else ""
            print(f"  {line['name']:<{width}}  {line['description']}{foreign}")
            detail = "; ".join(line[k] for k in ("parameters", "citation") if line.get(k))
            if detail:
                print(f"  {'':<{width}}    {detail}")


@app.command()
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
) -> None:
    """Reproduce the paper's tables and figures; finished parts are not computed again.

    Example: hreach reproduce chain mountain-car --quick --out results
    """
    from hreach.studies.loading import load_catalog

    require(not quick or runs is None, "--runs", runs, "left out when --quick is given")
    loaded = [(name, load_catalog(name)) for name in dict.fromkeys(studies or TABLES)]
    if quick:
        loaded = [(name, _quick(study)) for name, study in loaded]
    _execute(loaded, out, runs, jobs, paper=True)


def _quick(study: Study) -> Study:
    """The study made small."""
    if study.episodes is None:
        return study.model_copy(update={"runs": QUICK_RUNS})
    return study.model_copy(update={"runs": QUICK_EPISODE_RUNS, "episodes": min(QUICK_EPISODES, study.episodes)})


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="A study as a TOML file.")],
    out: Out,
    runs: Runs = None,
    jobs: Jobs = None,
) -> None:
    """Run any agents on any domain, as a TOML file says; finished parts are not computed again.

    Agents and domains of your own, "module:name", are found where Python finds modules, and in the current folder.

    Example: hreach run my-study.toml --out results
    """
    from hreach.studies.loading import load

    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # at the end: a file here replaces no module of anybody else
    _execute([(_file_name(study), load(study))], out, runs, jobs)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder in which studies were run.")],
    studies: Annotated[list[str] | None, typer.Argument(help="Which of its studies (default: all).")] = None,
) -> None:
    """Draw tables, figures and the page from finished results; nothing is run.

    Example: hreach report results
    """
    from hreach.report.finished import finished
    from hreach.report.publish import check_folder, publish
    from hreach.studies.record import names_in
    from hreach.studies.store import Store

    folder = _expanded(folder)
    names = list(dict.fromkeys(studies or names_in(folder)))
    require(bool(names), "DIR", str(folder), "a folder in which a study was finished")
    check_folder(folder)
    with _writing(folder):
        done = [finished(Store(folder), name) for name in names]
        page = publish(folder, done)
    _say_where(done, page, folder)


app.command()(commands.bound)
app.command()(commands.audit)
app.command(name="choose-h")(commands.choose_h)


def _execute(
    studies: list[tuple[str, Study]], out: Path, runs: int | None, jobs: int | None, paper: bool = False
) -> None:
    """Run the studies with progress on the error stream, write everything, print where the page is."""
    from rich.console import Console

    from hreach.errors import whole
    from hreach.report.publish import check_folder, publish
    from hreach.running.processes import Processes
    from hreach.studies.spec import MAX_RUNS
    from hreach.studies.store import Store

    runs = None if runs is None else whole("--runs", runs, 1)
    require(runs is None or runs <= MAX_RUNS, "--runs", runs, f"at most {MAX_RUNS}")
    jobs = None if jobs is None else whole("--jobs", jobs, 1)
    out = _expanded(out)
    check_folder(out)
    store = Store(out)
    console = Console(stderr=True, highlight=False)
    with _writing(out):
        with Processes(jobs) as processes:
            done = [_finish(name, study, store, runs, processes, console, paper) for name, study in studies]
        console.print("drawing ...")
        page = publish(out, done)
    _say_where(done, page, out)


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    """What can stop long work, each in one line."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise InputError(
            f"out is {str(out)!r}, but must be a folder that can be written ({reason}); "
            "what was finished is kept and not computed again."
        ) from error
    except KeyboardInterrupt:  # here and not in main: typer would end the process without a word
        print("hreach: stopped; what was finished is kept and not computed again.", file=sys.stderr)
        raise typer.Exit(130) from None
    except WorkerDiedError as error:
        print(f"hreach: {error}; what was finished is kept and not computed again.", file=sys.stderr)
        raise typer.Exit(1) from None


def _say_where(finished: list[Finished], page: Path, out: Path) -> None:
    for done in finished:
        print(f"{done.study.title}: {done.summary or 'done'} ({done.record.seconds:.1f} s)")
    print(f"page:   {page}\ntables: {out / 'tables'}\nfigures: {out / 'figures'}")


def _finish(
    name: str,
    study: Study,
    store: Store,
    runs: int | None,
    processes: Processes,
    console: Console,
    paper: bool,
) -> Finished:
    """Run one study, and audit it if it is one of the paper's tables."""
    from hreach.report.finished import Finished, audits_of
    from hreach.studies.finish import finish

    with _progress(console) as progress:
        watch = _Bars(progress, study)
        audited = paper and name in TABLES
        record, results = finish(name, study, store, runs, processes, watch, audited=audited, paper=paper)
    return Finished(record, results, audits_of(store, record))


def _progress(console: Console) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<34}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True)


class _Bars:
    """A bar for the row being simulated, one for the whole study, and a line for each finished row."""

    def __init__(self, progress: Progress, study: Study) -> None:
        self._progress = progress
        self._all = progress.add_task(study.title, total=len(study.agent))
        self._row: TaskID | None = None

    def begin(self, spec: AgentSpec, runs: int) -> Callable[[int], None]:
        task = self._progress.add_task(_name(spec), total=runs)
        self._row = task
        return lambda done: self._progress.advance(task, done)

    def end(self, spec: AgentSpec, result: Result) -> None:
        if self._row is not None:
            self._progress.remove_task(self._row)
        self._progress.advance(self._all)
        self._progress.console.print(f"{_name(spec):<34} {result.headline}", markup=False, emoji=False)

    def audits(self, left: int) -> Callable[[int], None]:
        task = self._progress.add_task("audits", total=left)
        return lambda done: self._progress.advance(task, done)


def _name(spec: AgentSpec) -> str:
    return f"{spec.label}, {spec.variant}" if spec.variant else spec.label


def _file_name(path: Path) -> str:
    """A study's file name as a name for tables, figures and the page's anchors."""
    from hreach.report.html.page import CONTENTS, PROVENANCE
    from hreach.report.pictures import file_name
    from hreach.report.promises import ANCHOR as PROMISES
    from hreach.studies import catalog

    safe = file_name(path.stem) or "study"
    taken = {CONTENTS, PROVENANCE, PROMISES, *catalog.texts()}
    return f"study-{safe}" if safe in taken or safe.startswith("fig-") else safe


def _expanded(path: Path) -> Path:
    """`~/x` as the shell would have it, which it leaves alone in `--out=~/x`."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise InputError(f"out is {str(path)!r}, but must begin with the name of a user after '~'.") from error


def _version(show: bool) -> None:
    if show:
        print(f"hreach {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run a command; bad input is one sentence on the error stream and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter gets a question mark
    try:
        app()
    except InputError as error:
        print(f"hreach: {error}", file=sys.stderr)
        raise SystemExit(2) from None
