"""The commands of a journal: ask for an action, tell what followed; each only collects its arguments."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from hreach.errors import InputError

File = Annotated[Path, typer.Argument(metavar="JOURNAL", help="A file that `hreach new` made.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Unit = Annotated[str | None, typer.Option(help="Whom it is about, such as patient-7; all units share one model.")]


def new(
    journal: Annotated[Path, typer.Argument(metavar="JOURNAL", help="The file to make, such as run.hreach.")],
    actions: Annotated[str, typer.Option(help="The actions' names, such as low,medium,high.")],
    states: Annotated[
        str | None, typer.Option(help="States known beforehand, such as morning,evening; others appear as they come.")
    ] = None,
    states_from: Annotated[Path | None, typer.Option(help="A text file of such states, one on each line.")] = None,
    h: Annotated[
        str | None, typer.Option(help="A number, growing, adaptive or lifetime (default: lifetime if given, else 4).")
    ] = None,
    gamma: Annotated[float, typer.Option(help="The discount.")] = 0.95,
    lifetime: Annotated[int | None, typer.Option(help="How many tells there will be, if that is known.")] = None,
    r_min: Annotated[float | None, typer.Option(help="The lowest reward there can be (default: 0, or told).")] = None,
    r_max: Annotated[
        float | None, typer.Option(help="The highest reward there can be (default: the highest told).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides between actions that are equally good.")] = 0,
) -> None:
    """Make a journal: one file for a process that is asked once a day, or whenever.

    Example: hreach new run.hreach --actions low,medium,high --h 4 --gamma 0.95
    """
    from hreach.errors import one_of
    from hreach.journal.journal import Journal

    one_of(**{"--states": states, "--states-from": states_from})
    known = names(states) if states_from is None else _lines(states_from.expanduser())
    with Journal.new(
        journal,
        names(actions),
        known,
        h=number_or_word(h),
        gamma=gamma,
        lifetime=lifetime,
        r_min=r_min,
        r_max=r_max,
        seed=seed,
    ) as made:
        of = made.settings
        actions_known = f"{len(of.actions)} action{'s' * (len(of.actions) != 1)}"
        print(f"{journal}: {actions_known}, {len(of.states)} states known, h = {of.h}, gamma = {of.gamma:g}")


def ask(
    journal: File,
    state: Annotated[str, typer.Option(help="Where the process is, by name or number.")],
    allow: Annotated[str | None, typer.Option(help="The actions that may be taken now, such as low,medium.")] = None,
    unit: Unit = None,
    as_json: Json = False,
) -> None:
    """Ask for the next action; its id is for `hreach tell`, today or in a week.

    Example: hreach ask run.hreach --state morning
    """
    from hreach.cli.journal_words import advice_as_text
    from hreach.journal.journal import Journal

    with Journal(journal) as opened:
        advice = opened.ask(state, None if allow is None else names(allow), unit)
        lifetime = opened.settings.lifetime
    print(json.dumps(asdict(advice)) if as_json else advice_as_text(advice, lifetime))


def tell(
    journal: File,
    reward: Annotated[float, typer.Option(help="What was paid.")],
    next: Annotated[
        str | None, typer.Option(help="The state that followed; not needed where the episode ended.")
    ] = None,
    id: Annotated[int | None, typer.Option(help="The id of the ask that this is about.")] = None,
    state: Annotated[str | None, typer.Option(help="Without an id: the state.")] = None,
    action: Annotated[str | None, typer.Option(help="Without an id: the action that was taken.")] = None,
    terminated: Annotated[bool, typer.Option("--terminated", help="The episode ended: nothing follows.")] = False,
    unit: Unit = None,
    as_json: Json = False,
) -> None:
    """Tell what followed an action; it is on the disk when this returns.

    Example: hreach tell run.hreach --id 1 --reward 3.2 --next evening
    """
    from hreach.cli.journal_words import told_as_text
    from hreach.journal.journal import Journal

    with Journal(journal) as opened:
        row = opened.tell(reward, next, id=id, state=state, action=action, terminated=terminated, unit=unit)
    print(json.dumps({"id": row}) if as_json else told_as_text(row, reward, opened.settings))


def void(
    journal: File,
    id: Annotated[int, typer.Argument(metavar="ID", help="The id of the row.")],
    because: Annotated[str, typer.Option(help="Why, in a few words.")],
) -> None:
    """Leave a row out of the model; it stays in the file.

    Example: hreach void run.hreach 17 --because "sensor fault"
    """
    from hreach.journal.journal import Journal

    with Journal(journal) as opened:
        opened.void(id, because)
    print(f"void, id {id}")


def undo(journal: File) -> None:
    """Take back what was done last: an ask, a tell or a void.

    Example: hreach undo run.hreach
    """
    from hreach.journal.journal import Journal

    with Journal(journal) as opened:
        print(f"undone: {opened.undo()}")


def show(
    journal: File,
    last: Annotated[int, typer.Option(help="How many rows to show.")] = 10,
    as_json: Json = False,
) -> None:
    """Show the last rows of a journal, what waits to be told, and what was learnt.

    Example: hreach show run.hreach --last 20
    """
    from hreach.cli.journal_words import journal_as_plain, journal_as_text
    from hreach.journal.journal import Journal

    with Journal(journal) as opened:
        print(json.dumps(journal_as_plain(opened, last), indent=2) if as_json else journal_as_text(opened, last))


def export(
    journal: File, file: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .parquet file.")]
) -> None:
    """Write all rows of a journal as CSV or Parquet.

    Example: hreach export run.hreach rows.csv
    """
    from hreach.journal.exporting import export as exported
    from hreach.journal.journal import Journal

    with Journal(journal) as opened:
        print(f"{file}: {exported(opened, file)} rows")


def names(text: str | None) -> list[str]:
    """Names between commas."""
    return [] if text is None else [name.strip() for name in text.split(",")]


def number_or_word(text: str | None) -> float | str | None:
    """A number, where the text is one."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--states-from is {str(path)!r}, but must be a text file that can be read.") from error
