"""The command line. Every command only collects its arguments and calls the library."""

from __future__ import annotations

import atexit
import gc
import io
import json
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from hreach import __version__
from hreach.cli import auditing, certifying, exploring, journals, learning, plugins, studies
from hreach.cli import guarantees as commands
from hreach.errors import InputError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Exploration whose guarantee you can choose, check and afford: PAC-RMDP(h) and its rivals.",
)


@app.command(name="list", short_help="Show the agents, domains and studies that there are.")
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


# In `hreach --help` a command has the rest of a line of 80 letters: a longer sentence would be cut off.
COMMANDS: dict[Callable[..., None], str] = {
    studies.reproduce: "Reproduce the paper's tables and figures.",
    studies.run: "Run a study: any agents on any domains, as a TOML file says.",
    studies.report: "Draw tables, figures and the page from what is there.",
    studies.status: "Show how far studies are and what failed.",
    studies.watch: "Show a study while it runs, from another terminal.",
    studies.merge: "Put results of several folders into one.",
    commands.bound: "What the theorems promise before the first step.",
    commands.choose_h: "Which h fits a lifetime, by simulations side by side.",
    auditing.audit: "Run an agent where the truth is known; were promises kept?",
    certifying.certify: "What is certain of a policy by the data alone.",
    exploring.explore: "Explore any Gymnasium environment; say what is certain.",
    exploring.play: "Play what `explore` learnt, without exploring.",
    learning.learn: "Learn from a log of any behaviour; say what is certain.",
    journals.new: "Make a journal, for a process outside Python.",
    journals.ask: "Ask a journal for the next action.",
    journals.tell: "Tell a journal what followed an action.",
    journals.void: "Leave a row of a journal out of the model.",
    journals.undo: "Take back the last ask, tell or void of a journal.",
    journals.show: "Show the last rows of a journal and what was learnt.",
    journals.export: "Write all rows of a journal as CSV or Parquet.",
    plugins.new_plugin: "Write a small package with an agent, a domain and tests.",
}
for command, in_short in COMMANDS.items():
    app.command(short_help=in_short)(command)


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
    # To look for cycles among all objects takes half a second: more seldom while it runs, and not at the end.
    gc.set_threshold(20_000, 20, 20)
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter gets a question mark
    try:
        app()
    except InputError as error:
        print(f"hreach: {error}", file=sys.stderr)
        raise SystemExit(2) from None
