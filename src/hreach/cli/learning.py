"""The command that learns from a log."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hreach.errors import InputError, require
from hreach.files import writable_file

if TYPE_CHECKING:
    from hreach.logs.learning import Learnt


def learn(
    log: Annotated[str, typer.Argument(help="A .csv, .csv.gz or .parquet file, or minari:ID.")],
    state: Annotated[str, typer.Option(help="The column of the state; several, between commas, make one state.")],
    action: Annotated[str, typer.Option(help="The column of the action.")],
    reward: Annotated[str, typer.Option(help="The column of the reward.")],
    next: Annotated[str, typer.Option(help="The column of the next state, or as many as the state has.")],
    terminated: Annotated[
        str | None, typer.Option(help="The column that says whether the episode ended, true or false.")
    ] = None,
    bins: Annotated[
        list[str] | None, typer.Option(help="Edges of a column of the state, as speed=0,5,10; repeatable.")
    ] = None,
    actions: Annotated[
        str | None, typer.Option(help="The actions' names, where others are mistakes (default: those that appear).")
    ] = None,
    gamma: Annotated[float, typer.Option(help="The discount.")] = 0.95,
    h: Annotated[
        str | None, typer.Option(help="A number, growing, adaptive or lifetime (default: lifetime if given, else 4).")
    ] = None,
    lifetime: Annotated[int | None, typer.Option(help="How many rows there will be in all, if that is known.")] = None,
    r_min: Annotated[float | None, typer.Option(help="The lowest reward there can be (default: 0, or seen).")] = None,
    r_max: Annotated[float | None, typer.Option(help="The highest reward there can be (default: seen).")] = None,
    seed: Annotated[int, typer.Option(help="Decides between actions that are equally good.")] = 0,
    delta: Annotated[float, typer.Option(help="Probability that anything said is false.")] = 0.1,
    at: Annotated[str | None, typer.Option(help="The state to speak of (default: where the gap is largest).")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out; else they are an error.")] = False,
    out: Annotated[
        list[Path] | None, typer.Option(help="Write an agent (.npz) or a journal (.hreach); repeatable.")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="Write the policy that is certified as CSV.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Learn from a log of any behaviour: what is certain, what is not covered, and where to try next.

    Example: hreach learn log.csv --state s --action a --reward r --next s2 --out run.hreach
    """
    from hreach.cli.journals import names, number_or_word
    from hreach.cli.learning_words import learnt_as_plain, learnt_as_text
    from hreach.logs.learning import BadRowsError
    from hreach.logs.learning import learn as learnt

    files = [_out(path) for path in out or []]
    policy = writable_file("--policy", policy)
    try:
        found = learnt(
            log, state=state, action=action, reward=reward, next=next, terminated=terminated,
            bins=dict(_edges(each) for each in bins or []), actions=None if actions is None else names(actions),
            gamma=gamma, h=number_or_word(h), lifetime=lifetime, r_min=r_min, r_max=r_max, seed=seed, delta=delta,
            at=at, skip_bad=skip_bad, progress=sys.stderr.isatty(),
        )  # fmt: skip
    except BadRowsError as error:
        for bad in error.bad:
            print(f"{error.word} {bad.line}: {bad.why}", file=sys.stderr)
        if error.total > len(error.bad):
            print(f"... and {error.total - len(error.bad):,} more", file=sys.stderr)
        raise InputError(f"{log} has {error.total:,} bad rows; --skip-bad leaves them out.") from None
    print(json.dumps(learnt_as_plain(found), indent=2) if as_json else learnt_as_text(found))
    for path in files:
        _write(found, path)
    if policy is not None:
        _write_policy(found, policy)
    for path in [*files, *([] if policy is None else [policy])]:
        print(f"written: {path}", file=sys.stderr)


def _out(path: Path) -> Path:
    require(path.suffix in (".npz", ".hreach"), "--out", str(path), "a file that ends in .npz or .hreach")
    checked = writable_file("--out", path)
    assert checked is not None
    require(path.suffix == ".npz" or not checked.exists(), "--out", str(path), "a new file, where it is a journal")
    return checked


def _write(found: Learnt, path: Path) -> None:
    if path.suffix == ".npz":
        found.save(path)
    else:
        found.to_journal(path).close()


def _write_policy(found: Learnt, path: Path) -> None:
    import csv
    import io

    from hreach.files import write_whole

    file = io.StringIO(newline="")
    csv.writer(file).writerows([("state", "action"), *found.policy.items()])
    write_whole(path, file.getvalue().encode("utf-8"))


def _edges(text: str) -> tuple[str, list[float]]:
    name, sign, edges = text.rpartition("=")
    try:
        found = [float(edge) for edge in edges.split(",")]
    except ValueError:
        found = []
    require(bool(sign and name and found), "--bins", text, "a column and its edges, such as speed=0,5,10")
    return name, found
