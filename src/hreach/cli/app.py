"""The command line. Every command only collects its arguments and calls the library."""

from __future__ import annotations

import atexit
import gc
import io
import json
import sys
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


for command in (studies.reproduce, studies.run, studies.report, studies.status, studies.watch, studies.merge):
    app.command()(command)
app.command()(commands.bound)
app.command()(auditing.audit)
app.command()(certifying.certify)
app.command()(exploring.explore)
app.command()(exploring.play)
app.command()(journals.new)
app.command()(journals.ask)
app.command()(journals.tell)
app.command()(journals.void)
app.command()(journals.undo)
app.command()(journals.show)
app.command()(journals.export)
app.command()(learning.learn)
app.command(name="new-plugin")(plugins.new_plugin)
app.command(name="choose-h")(commands.choose_h)


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
