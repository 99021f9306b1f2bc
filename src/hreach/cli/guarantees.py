"""Commands about guarantees: what a choice promises, and whether a run kept it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hreach.errors import InputError, require
from hreach.files import writable_file, writable_picture
from hreach.registry import Params

if TYPE_CHECKING:
    from hreach.guarantees.audit import Audit
    from hreach.guarantees.choose_h import Choice
    from hreach.problems.mdp import TabularMDP

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

    sizes = Sizes(states, actions, gamma, r_max, r_min=r_min, ends=ends)
    found = promise(sizes, eps=eps, delta=delta, h=h, t=t, form=form)  # type: ignore[arg-type]
    if as_json:
        print(json.dumps(found.to_dict(), indent=2))
        return
    for name, value in (("eps", found.eps), ("delta", found.delta), ("h", found.h), ("t", found.t)):
        mark = "  (computed)" if name in found.found else ""
        print(f"{name:<32} {_short(value)}{mark}")
    for line in found.lines:
        print(f"{line.name:<32} {_short(line.value):<10}  {line.source}{f'; empty: {line.why}' if line.why else ''}")
    print(f"\n{found.sentence}")


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
    h: Annotated[list[str] | None, typer.Option(help="An h to compare, growing or adaptive; repeatable.")] = None,
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

    require((states is None) == (actions is None), "--actions", actions, "given together with --states")
    sizes = None if states is None or actions is None else (states, actions)
    given: list[str | TabularMDP] = [*(domain or []), *(_saved_model(path) for path in model or [])]
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
        bounds = [_short(math.nan if b is None else b) for b in (o.exploration, o.error)]
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


def audit(
    domain: Annotated[str, typer.Argument(help="A domain with finitely many states.")],
    agent: Annotated[str, typer.Argument(help="A tabular agent.")],
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter of the agent, as name=value; repeatable.")
    ] = None,
    steps: Annotated[int, typer.Option(help="Steps of the run.")] = 3000,
    seed: Annotated[int, typer.Option(help="Seed of environment and agent.")] = 0,
    eps: Annotated[float, typer.Option(help="Accuracy at which steps count as bad or as exploring.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Probability of failure in the bounds.")] = 0.1,
    h: Annotated[float | None, typer.Option(help="Reach to audit (default: the agent's own h).")] = None,
    checkpoints: Annotated[int, typer.Option(help="Steps at which values are computed.")] = 100,
    rollouts: Annotated[int, typer.Option(help="Continuations of the learning agent at each checkpoint.")] = 0,
    form: Form = "corrected",
    ties: Annotated[
        str, typer.Option(help="Where nearest reachable models are not unique: the largest, least or first of them.")
    ] = "largest",
    json_file: Annotated[Path | None, typer.Option("--json", help="Write everything as JSON.")] = None,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write the checkpoints as CSV.")] = None,
    picture_file: Annotated[Path | None, typer.Option("--picture", help="Draw the bound and the truth.")] = None,
) -> None:
    """Run an agent where the truth is known and see whether it kept the paper's promises.

    Example: hreach audit chain pac-rmdp --param h=8 --eps 2 --picture audit.png
    """
    from hreach.agents import make_agent
    from hreach.domains import make_domain
    from hreach.guarantees.audit import LemmaError, picture
    from hreach.guarantees.audit import audit as audited
    from hreach.problems.truth import TellsTruth
    from hreach.running.loop import run

    json_file, csv_file = writable_file("--json", json_file), writable_file("--csv", csv_file)
    picture_file = writable_picture("--picture", picture_file)
    env = make_domain(domain)
    require(isinstance(env, TellsTruth), "domain", domain, "one with finitely many states")
    built = make_agent(agent, env, seed=seed, **_parameters(param or []))
    done = run(env, built, steps, seed=seed)
    settings: Params = {"eps": eps, "delta": delta, "h": h, "checkpoints": checkpoints, "ties": ties}
    try:
        result = audited(done, env.mdp(), built, **settings, rollouts=rollouts, seed=seed, form=form)  # type: ignore[arg-type]
    except LemmaError as error:
        typer.echo(f"hreach: {error}", err=True)
        raise typer.Exit(1) from None
    for path, write in ((json_file, result.to_json), (csv_file, result.to_csv)):
        if path is not None:
            write(path)
    if picture_file is not None:
        picture(result, picture_file, title=f"{agent} on {domain}")
    _print_audit(result, agent, domain)


def _print_audit(result: Audit, agent: str, domain: str) -> None:
    print(f"{agent} on {domain}, {result.steps} steps, eps = {result.eps:g}, delta = {result.delta:g}\n")
    print(f"{'':<26} {'measured':>12} {'bound':>12}")
    totals = {
        "eps-bad steps": result.bad_steps,
        "exploring steps": result.exploring_steps,
        "average loss": result.average_loss,
    }
    for words, total in totals.items():
        print(f"{words:<26} {_short(total.measured):>12} {_short(total.bound):>12}  {total.why}")
    over = result.exploration_over
    print(f"{'exploration over at step':<26} {'not yet' if over is None else over:>12}")
    print(f"{'regret':<26} {_short(result.regret):>12}")
    print(f"{'Lemma 1 violated':<26} {result.violations:>12}")
    for note in result.notes:
        print(f"note: {note}")


def _parameters(given: list[str]) -> Params:
    """name=value pairs; a value is read as JSON where it is some, else as text."""
    result = {}
    for entry in given:
        name, sign, text = entry.partition("=")
        require(bool(sign and name), "--param", entry, "name=value, such as h=8")
        try:
            result[name] = json.loads(text)
        except json.JSONDecodeError:
            result[name] = text
        if name in ("name", "env", "seed"):
            raise InputError(f"--param is {entry!r}, but must be a parameter of the agent.")
    return result


def _percent(share: float | None) -> str:
    return "–" if share is None or math.isnan(share) else f"{100 * share:.1f}"


def _short(value: float) -> str:
    return "–" if not math.isfinite(value) else f"{value:.4g}"
