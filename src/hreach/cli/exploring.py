"""The commands that explore an environment and play what was learnt; each only collects its arguments."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hreach.cli.options import gap_or_share, pairs
from hreach.errors import one_of

if TYPE_CHECKING:
    from hreach.exploring.exploring import Exploration
    from hreach.guarantees.stopping import Aim, Certified

NOT_KEPT = "nothing is kept: --out DIR keeps it, with a page, tables and a policy that can be played"


def explore(
    env: Annotated[
        str, typer.Argument(metavar="ENV", help="A Gymnasium id, module:Id-v0, module:factory, or a domain of hreach.")
    ],
    steps: Annotated[int, typer.Option(help="How many steps, at most.")] = 20_000,
    gamma: Annotated[float, typer.Option(help="The discount.")] = 0.99,
    h: Annotated[
        str | None, typer.Option(help="A number, growing or adaptive (default: 1; with --lifetime, chosen from it).")
    ] = None,
    lifetime: Annotated[int | None, typer.Option(help="Choose h from a lifetime of so many steps.")] = None,
    bins: Annotated[
        str | None,
        typer.Option(help='Bins of observed numbers: 20, or "20; -1,0,1; quantiles 10", one for each dimension.'),
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="An argument of the environment, as name=value; repeatable.")
    ] = None,
    r_min: Annotated[float | None, typer.Option(help="The lowest reward there can be (default: seen so far).")] = None,
    r_max: Annotated[float | None, typer.Option(help="The highest reward there can be (default: seen so far).")] = None,
    v_max: Annotated[float | None, typer.Option(help="No policy is worth more than this.")] = None,
    aim: Annotated[
        float | None, typer.Option(help="Stop when some policy is sure to be worth this, or none can be.")
    ] = None,
    until_certified: Annotated[
        str | None, typer.Option(help="Stop when the gap to the optimum is at most this: 20%, or a number.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of environment and agent.")] = 0,
    out: Annotated[Path | None, typer.Option(help="A new or empty folder for everything, with a page.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Explore any Gymnasium environment, and say what was learnt and what is certain.

    Example: hreach explore FrozenLake-v1 --steps 20000 --gamma 0.99 --out lake
    """
    from hreach.exploring.bins import parse_bins
    from hreach.exploring.exploring import explore as explored

    one_of(**{"--aim": aim, "--until-certified": until_certified})
    try:
        found = explored(
            env, steps, gamma=gamma, h=_h(h), lifetime=lifetime, bins=None if bins is None else parse_bins(bins),
            r_min=r_min, r_max=r_max, v_max=v_max, until=_rule(aim, until_certified), seed=seed,
            progress=sys.stderr.isatty(), out=out, set=pairs("--set", set_ or []),
        )  # fmt: skip
    except KeyboardInterrupt:
        kept = "" if out is None else f"; what was learnt until then is in {out}"
        print(f"hreach: stopped{kept}", file=sys.stderr)
        raise typer.Exit(130) from None
    print(json.dumps(_as_plain(found, out), indent=2) if as_json else _as_text(found, out))


def play(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `hreach explore --out` made.")],
    episodes: Annotated[int, typer.Option(help="How many episodes.")] = 100,
    steps: Annotated[int, typer.Option(help="Steps of an episode, at most.")] = 1000,
    render: Annotated[bool, typer.Option("--render", help="Show it in a window.")] = False,
    record: Annotated[Path | None, typer.Option(help="Record the first episode, as .gif or .mp4.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the environment.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Play what was learnt: greedily, without exploring.

    Example: hreach play lake --episodes 1000
    """
    from hreach.exploring.playing import play as played

    found = played(folder, episodes=episodes, steps=steps, render=render, record=record, seed=seed)
    print(json.dumps(found.as_plain(), indent=2) if as_json else found.sentence())
    if record is not None and not as_json:
        print(f"recorded: {record}")


def _h(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _rule(aim: float | None, until_certified: str | None) -> Certified | Aim | None:
    from hreach.guarantees.stopping import Aim, Certified

    if aim is not None:
        return Aim(aim)
    if until_certified is None:
        return None
    by, size = gap_or_share("--until-certified", until_certified)
    gap, share = (size, None) if by == "gap" else (None, size)
    return Certified(gap=gap, share=share, target="optimum")


def _as_text(found: Exploration, out: Path | None) -> str:
    certain = found.certain()
    return "\n".join(
        [
            found.sentence(),
            *([] if certain is None else [certain]),
            *([f"stopped: {found.run.stopped}"] if found.run.stopped not in ("", certain) else []),
            *(f"note: {note}" for note in found.notes),
            NOT_KEPT if out is None else f"{out / 'index.html'} shows all of it; hreach play {out} plays it",
        ]
    )


def _as_plain(found: Exploration, out: Path | None) -> dict[str, object]:
    from hreach.exploring.folder import summary

    return {**summary(found), "out": None if out is None else str(out)}
