"""The command that certifies: what holds of a policy, by data alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hreach.cli.options import parameters
from hreach.errors import InputError, one_of, require, whole
from hreach.files import writable_picture

if TYPE_CHECKING:
    from hreach.cli.asked import Found


def certify(
    source: Annotated[
        str, typer.Argument(help="A domain; or a file: a journal, counts (CSV, npz), a recorded run (npz, checkpoint).")
    ],
    agent: Annotated[str | None, typer.Argument(help="A tabular agent, where the source is a domain.")] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter of the agent, as name=value; repeatable.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Steps of the run, at most (default: 10000).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of environment and agent.")] = 0,
    saved: Annotated[
        Path | None, typer.Option(help="A saved state of this agent (npz of its state_dict), instead of a run.")
    ] = None,
    domain: Annotated[str | None, typer.Option(help="Of a file: the domain whose reward and discount hold.")] = None,
    reward: Annotated[
        Path | None, typer.Option(help="Of a file: rewards, CSV (state, action, reward) or npz (reward).")
    ] = None,
    gamma: Annotated[float | None, typer.Option(help="Of a file: the discount.")] = None,
    policy: Annotated[
        Path | None, typer.Option(help="Of a file: the policy, CSV (state, action) or npz; default: the best guess.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Probability that anything said is false.")] = 0.1,
    state: Annotated[
        str | None,
        typer.Option(
            help="Where, a number, of a journal a name (default: where the run ended, or the gap is largest)."
        ),
    ] = None,
    h: Annotated[
        float | None, typer.Option(help="Further samples of each pair to compare with; inf: the optimum.")
    ] = None,
    freeze: Annotated[
        bool,
        typer.Option("--freeze", help="Only data after the policy was frozen count: as many steps more, or the file."),
    ] = False,
    until_certified: Annotated[
        str | None,
        typer.Option(
            help="Stop when the gap is at most this, 20% of the best or a number: to what h samples more could show, "
            "with --h inf to the optimum."
        ),
    ] = None,
    aim: Annotated[
        float | None, typer.Option(help="Stop when some policy is sure to be worth this, or none can be.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    picture_file: Annotated[
        Path | None, typer.Option("--picture", help="Draw the bounds over time and the curve over h.")
    ] = None,
) -> None:
    """What is certain of a policy by the data alone: what it is worth at least, what the best is worth at most.

    Example: hreach certify chain pac-rmdp --param h=8 --steps 10000 --picture certificate.png

    Example: hreach certify counts.csv --reward reward.csv --gamma 0.95 --state 0 --h 8
    """
    from hreach.cli import evidence
    from hreach.cli.asked import Asked
    from hreach.guarantees.certify import check_reach
    from hreach.guarantees.confidence import chance

    picture_file = writable_picture("--picture", picture_file)
    chance(delta)
    of_runs = {"--param": param, "--steps": steps, "--saved": saved, "--until-certified": until_certified, "--aim": aim}
    of_files = {"--domain": domain, "--reward": reward, "--gamma": gamma, "--policy": policy}
    if agent is None and evidence.is_journal(path := _file(source)):
        _left_out({**of_runs, **of_files, "--h": h, "--freeze": freeze or None}, "where the source is a journal")
        _tell(evidence.of_journal(path, delta, state), as_json, picture_file)
        return
    asked = Asked(
        delta,
        None if state is None else whole("--state", _number(state), 0),
        None if h is None else check_reach(h),
        picture_file is not None,
    )
    if agent is None:
        path = _file(source)
        _left_out(of_runs, "where the source is a file")
        found = evidence.of_file(path, domain, reward, gamma, policy, freeze, asked)
    else:
        of_a_file = Path(source).suffix != "" and Path(source).expanduser().is_file()
        require(not of_a_file, "agent", agent, "left out where the source is a file")
        _left_out(of_files, "where the source is a domain")
        options = parameters(param or [])
        if saved is not None:
            rest = {"--steps": steps, "--until-certified": until_certified, "--aim": aim, "--freeze": freeze or None}
            _left_out(rest, "where a saved agent is given")
            found = evidence.of_saved(source, agent, options, saved.expanduser(), asked)
        else:
            one_of(**{"--until-certified": until_certified, "--aim": aim})
            length = whole("--steps", 10_000 if steps is None else steps, 1)
            found = evidence.of_run(source, agent, options, length, seed, (until_certified, aim), freeze, asked)
    _tell(found, as_json, picture_file)


def _file(source: str) -> Path:
    path = Path(source).expanduser()
    if not path.is_file():
        raise InputError(f"source is {source!r}, but must be a file, or a domain that is followed by an agent.")
    return path


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _left_out(given: Mapping[str, object], where: str) -> None:
    """Options that would be ignored are refused."""
    for name, value in given.items():
        require(value is None or value == [], name, value, f"left out {where}")


def _tell(found: Found, as_json: bool, picture_file: Path | None) -> None:
    from hreach.cli.certificate_words import as_plain, as_text

    if picture_file is not None:
        from hreach.guarantees.certificate_picture import picture

        picture(found.certificate, found.looks, picture_file, title=found.title)
    print(json.dumps(as_plain(found), indent=2) if as_json else as_text(found))
