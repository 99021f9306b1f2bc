"""Folders and files of the command line, and what can stop long work."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from hreach.errors import InputError, TaskFailedError, WorkerDiedError

KEPT = "what was finished is kept and not computed again"


def expanded(path: Path) -> Path:
    """`~/x` as the shell would have it, which it leaves alone in `--out=~/x`."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise InputError(f"out is {str(path)!r}, but must begin with the name of a user after '~'.") from error


def file_name_of(path: Path) -> str:
    """A study's file name as a name for tables, figures and the page's anchors."""
    from hreach.report.html.page import CONTENTS, PROVENANCE
    from hreach.report.pictures import file_name
    from hreach.report.promises import ANCHOR as PROMISES
    from hreach.studies import catalog

    safe = file_name(path.stem) or "study"
    taken = {CONTENTS, PROVENANCE, PROMISES, *catalog.texts()}
    return f"study-{safe}" if safe in taken or safe.startswith("fig-") else safe


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """What can stop long work, each in one line."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise InputError(
            f"out is {str(out)!r}, but must be a folder that can be written ({reason}); {KEPT}."
        ) from error
    except KeyboardInterrupt:  # here and not in main: typer would end the process without a word
        print(f"hreach: stopped; {KEPT}. Go on with: {_command()}", file=sys.stderr)
        raise typer.Exit(130) from None
    except (TaskFailedError, WorkerDiedError) as error:
        print(f"hreach: {error}; {KEPT}.", file=sys.stderr)
        raise typer.Exit(1) from None


def _command() -> str:
    return shlex.join(["hreach", *sys.argv[1:]])
