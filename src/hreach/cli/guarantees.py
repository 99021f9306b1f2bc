"""Commands about what a choice of h promises."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hreach.errors import InputError, require
from hreach.files import writable_picture

if TYPE_CHECKING:
    from hreach.guarantees.choose_h import Choice
    from hreach.problems.mdp import TabularMDP

LIKE_YOURS = "problems like yours are {0}, but must be: --domain or --model, or --states and --actions of random ones."

Gamma = Annotated[float, typer.Option(help="Discount.")]
States = Annotated[int, typer.Option(help="Number of states.")]
Actions = Annotated[int, typer.Option(help="Number of actions.")]
Form = Annotated[str, typer.Option(help="corrected, proof (as the paper's proof gives it) or printed.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def bound(
    states: States,
    actions: Actions,
    gamma: Gamma,
    r_max: Annotated[float, typer.Option(help="Largest reward.")] = 1.0,
    r_min: Annotated[float, typer.Option(help="Least reward; negative for costs.")] = 0.0,
    ends: Annotated[bool, typer.Option("--ends", help="Episodes can end: the rest is then worth 0.")] = False,
    eps: Annotated[float | None, typer.Option(help="Accuracy of the value.")] = None,
    delta: Annotated[float | None, typer.Option(help="Probability of failure.")] = None,
    h: Annotated[float | None, typer.Option(help="Further samples of each pair that optimism considers.")] = None,
    t: Annotated[float | None, typer.Option(help="Steps.")] = None,
    form: Form = "corrected",
    as_json: AsJson = False,
) -> None:
    """What PAC-RMDP(h) promises: of eps, delta, h and t give three (or eps and delta), the rest is computed.

    Example: hreach bound --states 5 --actions 2 --gamma 0.95 --eps 2 --delta 0.1 --h 8
    """
    from hreach.guarantees.theory import Sizes, promise
    from hreach.guarantees.theory.promise import FROM_DATA

    sizes = Sizes(states, actions, gamma, r_max, r_min=r_min, ends=ends)
    found = promise(sizes, eps=eps, delta=delta, h=h, t=t, form=form)  # type: ignore[arg-type]
    if as_json:
        print(json.dumps(found.to_dict(), indent=2))
        return
    for name, value in (("eps", found.eps), ("delta", found.delta), ("h", found.h), ("t", found.t)):
        mark = "  (computed)" if name in found.found else ""
        print(f"{name:<32} {short(value)}{mark}")
    for line in found.lines:
        print(f"{line.name:<32} {short(line.value):<10}  {line.source}{f'; empty: {line.why}' if line.why else ''}")
    print(f"\n{found.sentence}")
    if found.why or "t" in found.found:
        print(f"\n{FROM_DATA}")


def choose_h(
    lifetime: Annotated[
        list[int], typer.Option(help="Steps that the agent will live; repeatable, the longest is advised about.")
    ],
    gamma: Annotated[
        float | None, typer.Option(help="Discount (default: that of the domain or the model; .95 for random MDPs).")
    ] = None,
    states: Annotated[int | None, typer.Option(help="Number of states, for a family of random MDPs.")] = None,
    actions: Annotated[int | None, typer.Option(help="Number of actions, for a family of random MDPs.")] = None,
    domain: Annotated[list[str] | None, typer.Option(help="Or: a domain like yours; repeatable.")] = None,
    model: Annotated[list[Path] | None, typer.Option(help="Or: a saved TabularMDP; repeatable.")] = None,
    h: Annotated[
        list[str] | None, typer.Option(help="An h to compare, growing, adaptive or lifetime; repeatable.")
    ] = None,
    runs: Annotated[int, typer.Option(help="Simulated runs for each h.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of everything.")] = 0,
    eps: Annotated[float | None, typer.Option(help="Accuracy of the exploration bound.")] = None,
    delta: Annotated[float, typer.Option(help="Probability of failure in the bounds.")] = 0.1,
    as_json: AsJson = False,
    picture_file: Annotated[
        Path | None, typer.Option("--picture", help="Draw average reward over (h, lifetime).")
    ] = None,
) -> None:
    """Which h fits a lifetime: bounds and simulations of problems like yours, side by side.

    Example: hreach choose-h --lifetime 3000 --domain chain --domain modified-chain
    """
    from hreach.guarantees import choose_h as choosing
    from hreach.guarantees.theory.promise import FROM_DATA

    require((states is None) == (actions is None), "--actions", actions, "given together with --states")
    sizes = None if states is None or actions is None else (states, actions)
    given: list[str | TabularMDP] = [*(domain or []), *(_saved_model(path) for path in model or [])]
    if (sizes is None) == (not given):
        raise InputError(LIKE_YOURS.format("not given" if sizes is None else "given twice"))
    picture_file = writable_picture("--picture", picture_file)
    found = choosing.choose_h(
        max(lifetime),
        gamma,
        sizes=sizes,
        surrogates=given or None,
        hs=h or choosing.HS,
        runs=runs,
        seed=seed,
        epsilon=eps,
        delta=delta,
        lifetimes=lifetime if len(lifetime) > 1 else None,
        progress=True,
    )
    if picture_file is not None:
        choosing.picture(found, picture_file)
    if as_json:
        print(found.to_json())
        return
    if len(lifetime) > 1:
        _print_losses(found)
    shares = f"{'loss %':>7} {'stuck':>6} {'poor end':>9}"
    print(f"{'h':<12} {'average reward':<24} {shares}  {'exploration at most':>19}  {'error at T':>10}")
    for o in found.options:
        bounds = [short(math.nan if b is None else b) for b in (o.exploration, o.error)]
        interval = f"{o.average:.4f} [{o.low:.4f}, {o.high:.4f}]"
        shares = f"{_percent(o.loss):>7} {o.stuck:>6.0%} {o.poor_end:>9.0%}"
        mark = "  <- recommended" if o.h == found.recommended else ""
        print(f"{o.h:<12} {interval:<24} {shares}  {bounds[0]:>19}  {bounds[1]:>10}{mark}")
    print(
        f"(average reward per {found.unit}; loss: against the best fixed h; poor end: less than half of the optimum\n"
        "in the last tenth; – where a bound promises nothing in this lifetime; "
        f"the optimum earns {found.optimum:.4f};\n"
        f"bounds are proved for {found.proved_for})\n\n"
        f"{found.reason}"
    )
    if any(o.exploration is None or o.error is None for o in found.options):
        print(f"\n{FROM_DATA}")


def _print_losses(found: Choice) -> None:
    """The loss of every h against the best fixed one, for each lifetime."""
    print("Loss in % against the best fixed h, in hindsight, up to step")
    print(f"{'h':<12}" + "".join(f"{t:>21,}" for t in found.lifetimes))
    for option, row in zip(found.options, found.losses, strict=True):
        cells = (f"{_percent(x)} [{_percent(low)}, {_percent(high)}]" for x, low, high in row.tolist())
        print(f"{option.h:<12}" + "".join(f"{cell:>21}" for cell in cells))
    print()


def _saved_model(path: Path) -> TabularMDP:
    from hreach.problems.mdp import TabularMDP

    return TabularMDP.load(path)


def _percent(share: float | None) -> str:
    return "–" if share is None or math.isnan(share) else f"{100 * share:.1f}"


def short(value: float) -> str:
    """Four digits, or a dash for what is not finite."""
    return "–" if not math.isfinite(value) else f"{value:.4g}"
