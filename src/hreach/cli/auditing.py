"""The command `audit`: whether a run, and its certificates, kept what was promised."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hreach.cli.guarantees import Form, short
from hreach.cli.options import parameters
from hreach.errors import InputError, require, whole
from hreach.files import writable_file, writable_picture
from hreach.registry import Params

if TYPE_CHECKING:
    from hreach.guarantees.audit import Audit
    from hreach.problems.mdp import TabularMDP
    from hreach.protocols import Environment


def audit(
    domain: Annotated[
        str | None, typer.Argument(help="A domain with finitely many states; left out where --env is given.")
    ] = None,
    agent: Annotated[str | None, typer.Argument(help="A tabular agent (default with --env: pac-rmdp, h=4).")] = None,
    env: Annotated[
        str | None, typer.Option(help="Or: an environment of Gymnasium that carries its table, such as FrozenLake-v1.")
    ] = None,
    gamma: Annotated[float, typer.Option(help="With --env: the discount.")] = 0.95,
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter of the agent, as name=value; repeatable.")
    ] = None,
    steps: Annotated[int, typer.Option(help="Steps of the run.")] = 3000,
    seed: Annotated[int, typer.Option(help="Seed of environment and agent.")] = 0,
    eps: Annotated[float, typer.Option(help="Accuracy at which steps count as bad or as exploring.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Probability of failure of bounds and certificates.")] = 0.1,
    h: Annotated[float | None, typer.Option(help="Reach to audit (default: the agent's own h).")] = None,
    checkpoints: Annotated[int, typer.Option(help="Steps at which values are computed.")] = 100,
    runs: Annotated[
        int, typer.Option(help="Runs whose certificates are held against the truth; the first is shown.")
    ] = 1,
    rollouts: Annotated[int, typer.Option(help="Continuations of the learning agent at each checkpoint.")] = 0,
    form: Form = "corrected",
    ties: Annotated[
        str, typer.Option(help="Where nearest reachable models are not unique: the largest, least or first of them.")
    ] = "largest",
    json_file: Annotated[Path | None, typer.Option("--json", help="Write everything as JSON.")] = None,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write the checkpoints as CSV.")] = None,
    picture_file: Annotated[Path | None, typer.Option("--picture", help="Draw the bound and the truth.")] = None,
) -> None:
    """Run an agent where the truth is known and see whether the paper's promises and its certificates were kept.

    A certificate that is false in more than the share delta of the runs is an error.

    Example: hreach audit chain pac-rmdp --param h=8 --eps 2 --picture audit.png

    Example: hreach audit --env FrozenLake-v1 pac-rmdp --param h=4
    """
    from hreach.domains import make_domain
    from hreach.guarantees.audit import LemmaError, picture
    from hreach.guarantees.audit.certified import too_many_false
    from hreach.problems.truth import truth_of

    json_file, csv_file = writable_file("--json", json_file), writable_file("--csv", csv_file)
    picture_file = writable_picture("--picture", picture_file)
    name, agent = _named(domain, agent, env)
    place = make_domain(name)
    truth = truth_of(place, None if env is None else gamma)
    if truth is None:
        what = "one with finitely many states" if env is None else "one with a table, env.unwrapped.P"
        raise InputError(f"{'domain' if env is None else '--env'} is {name!r}, but must be {what}.")
    settings: Params = {"eps": eps, "delta": delta, "h": h, "checkpoints": checkpoints, "ties": ties, "form": form}
    given, seeds = parameters(param or []), range(seed, seed + whole("runs", runs, 1))
    if env is not None:
        usual = {"h": 4} if domain is None else {}
        given = {"gamma": gamma, "reward": truth.reward_table(), **usual, **given}
    try:
        shown = _audited((place, truth), agent, given, steps, seed, {**settings, "rollouts": rollouts})
        others = [_audited((place, truth), agent, given, steps, other, settings).certified for other in seeds[1:]]
    except LemmaError as error:
        typer.echo(f"hreach: {error}", err=True)
        raise typer.Exit(1) from None
    for path, write in ((json_file, shown.to_json), (csv_file, shown.to_csv)):
        if path is not None:
            write(path)
    if picture_file is not None:
        picture(shown, picture_file, title=f"{agent} on {name}")
    _print_audit(shown, agent, name)
    found = [shown.certified, *others]
    wrong = sum(each.violations > 0 for each in found)
    if runs > 1:
        print(f"{'runs with a false one':<26} {wrong:>12} {f'of {runs}':>12}")
    for note in shown.notes:
        print(f"note: {note}")
    if too_many_false(found, delta):
        typer.echo(f"hreach: certificates were false in {wrong} of {runs} runs, more than delta = {delta:g}.", err=True)
        raise typer.Exit(1)


def _named(domain: str | None, agent: str | None, env: str | None) -> tuple[str, str]:
    """Where, and which agent: with --env the only name is the agent's."""
    if env is not None:
        require(agent is None, "domain", domain, "left out where --env is given")
        return env, domain or "pac-rmdp"
    if domain is None or agent is None:
        missing = "domain" if domain is None else "agent"
        raise InputError(
            f"{missing} is not given, but must be: hreach audit DOMAIN AGENT, or hreach audit --env ID AGENT."
        )
    return domain, agent


def _audited(
    at: tuple[Environment, TabularMDP], name: str, given: Params, steps: int, seed: int, settings: Params
) -> Audit:
    """One run of a new agent, audited."""
    from hreach.agents import make_agent
    from hreach.guarantees.audit import audit as audited
    from hreach.running.loop import run

    env, truth = at
    agent = make_agent(name, env, seed=seed, **given)
    return audited(run(env, agent, steps, seed=seed), truth, agent, seed=seed, **settings)


def _print_audit(result: Audit, agent: str, domain: str) -> None:
    print(f"{agent} on {domain}, {result.steps} steps, eps = {result.eps:g}, delta = {result.delta:g}\n")
    print(f"{'':<26} {'measured':>12} {'bound':>12}")
    totals = {
        "eps-bad steps": result.bad_steps,
        "exploring steps": result.exploring_steps,
        "average loss": result.average_loss,
    }
    for words, total in totals.items():
        print(f"{words:<26} {short(total.measured):>12} {short(total.bound):>12}  {total.why}")
    over = result.exploration_over
    print(f"{'exploration over at step':<26} {'not yet' if over is None else over:>12}")
    print(f"{'regret':<26} {short(result.regret):>12}")
    print(f"{'Lemma 1 violated':<26} {result.violations:>12}")
    _print_certified(result)


def _print_certified(result: Audit) -> None:
    """The last certificate beside the truth, and how many were false."""
    found = result.certified
    lines = [
        ("worth of the policy", found.policy, found.lower, "at least"),
        ("optimum", result.optimal, found.upper, "at most"),
        (f"below what {result.h[-1]} more reach", found.reachable_error, found.reachable_gap, "at most"),
        ("below the optimum", found.optimality_error, found.optimality_gap, "at most"),
    ]
    print(f"\n{f'in state {result.state[-1]}, step {result.step[-1]}':<26} {'truth':>12} {'certified':>12}")
    for words, truth, certified, side in lines:
        print(f"{words:<26} {short(truth[-1]):>12} {short(certified[-1]):>12}  {side}")
    print(f"{'false certificates':<26} {found.violations:>12} {f'of {len(result.step)}':>12}")
