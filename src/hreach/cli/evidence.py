"""Where the data of a certificate come from: a run, a saved agent, a file of counts or of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

from hreach.agents import make_agent
from hreach.agents.agent import Agent
from hreach.cli.asked import Asked, Found, times
from hreach.cli.counted import read_counts, read_policy, read_reward
from hreach.cli.frozen import frozen
from hreach.cli.options import gap_or_share
from hreach.cli.tables import read_arrays
from hreach.domains import make_domain
from hreach.errors import InputError, one_of, require
from hreach.guarantees.certificate import Certificate
from hreach.guarantees.certificate_picture import Look
from hreach.guarantees.certify import certify_counts
from hreach.guarantees.stopping import Aim, Certified
from hreach.journal import schema
from hreach.journal.journal import Journal
from hreach.models.counts import Counts
from hreach.models.sparse_counts import SparseCounts
from hreach.problems.truth import known_reward_of, truth_of
from hreach.protocols import Acts, AnyPlanner, Floats, Optimism, State, Until
from hreach.registry import Params
from hreach.running.loop import run

Learner = Agent[Counts | SparseCounts, Optimism, AnyPlanner]


class Noted:
    """A rule that keeps what is certain at every look; it is met where `rule` is."""

    def __init__(self, rule: Until | None, delta: float, h: float | None) -> None:
        self._rule, self._delta, self._h = rule, delta, h
        self.looks: list[Look] = []

    def met(self, agent: Acts, state: State) -> str | None:
        """What the rule says."""
        found = counting(agent).certify(self._delta, state, self._h)
        self.looks.append(Look(found.samples, found.bounds))
        return None if self._rule is None else self._rule.met(agent, state)


def stop_rule(until_certified: str | None, aim: float | None, asked: Asked, agent: Learner) -> Until | None:
    """The rule that the command line asks for; an agent without an h is compared with the optimum."""
    if aim is not None:
        return Aim(aim, delta=asked.delta, state=asked.state)
    if until_certified is None:
        return None
    by, size = gap_or_share("--until-certified", until_certified)
    own = asked.h is not None or agent.certify(asked.delta).reachable_gap is not None
    target: Literal["reachable", "optimum"] = "reachable" if own else "optimum"
    return Certified(**{by: size}, target=target, delta=asked.delta, state=asked.state, h=asked.h)


def of_run(
    domain: str, name: str, options: Params, steps: int, seed: int, until: tuple[str | None, float | None],
    freeze: bool, asked: Asked,
) -> Found:  # fmt: skip
    """An agent runs in a domain, and then, where it is frozen, as many steps more.

    `until` is what --until-certified and --aim say.
    """
    env, agent = _made(domain, name, options, seed)
    _check_fits(agent, asked, freeze)
    rule = stop_rule(*until, asked, agent)
    noted = Noted(rule, asked.delta, asked.h)
    done = run(env, agent, steps, seed, until=noted if asked.over_time else rule)
    title = f"{name} on {domain}"
    if freeze:
        return frozen(env, agent, len(done.rewards), seed, title, done.stopped, asked)
    where = int(done.last_state) if asked.state is None else asked.state
    found = agent.certify(asked.delta, where, asked.h)
    earlier = [look for look in noted.looks if look.samples < found.samples]
    return Found(found, [*earlier, Look(found.samples, found.bounds)], title, done.stopped)


def of_saved(domain: str, name: str, options: Params, path: Path, asked: Asked) -> Found:
    """An agent as it was saved."""
    _, agent = _made(domain, name, options, 0)
    try:
        agent.load_state_dict(read_arrays(path))
    except InputError as error:
        raise InputError(f"{path} is no saved state of this agent: {error}") from error
    found = agent.certify(asked.delta, asked.state, asked.h)
    return Found(found, [Look(found.samples, found.bounds)], f"{name} on {domain}, saved")


def of_file(
    path: Path, domain: str | None, reward: Path | None, gamma: float | None, policy: Path | None, freeze: bool,
    asked: Asked,
) -> Found:  # fmt: skip
    """Counts, or the steps of a run, from a file."""
    counted = read_counts(path)
    one_of(**{"--domain": domain, "--reward": reward})
    one_of(**{"--domain": domain, "--gamma": gamma})
    paid, discount, ends = _known(domain, reward, gamma)
    states, actions = paid.shape[:2]
    counted.check_sizes(states, actions)
    chosen = None if policy is None else read_policy(policy.expanduser(), states)
    require(chosen is not None or not freeze, "--policy", policy, "given where it was frozen")

    def certified(last: int) -> Certificate:
        counts, ended = counted.moves.table(states, actions, last)
        if ended is None and ends:
            ended = np.zeros(counts.shape)
        where = asked.state if asked.state is not None or not counted.in_order else int(counted.moves.following[-1])
        return certify_counts(
            counts, paid, discount, chosen, delta=asked.delta, state=where, h=asked.h, ended=ended, watched=freeze
        )

    moves = counted.moves.times.size
    found = [certified(last) for last in (times(moves, asked) if counted.in_order else [moves])]
    return Found(found[-1], [Look(one.samples, one.bounds) for one in found], path.name)


def is_journal(path: Path) -> bool:
    """Whether a file is a journal, by its first bytes."""
    return schema.is_journal(path)


def of_journal(path: Path, delta: float, state: str | None) -> Found:
    """What the told rows of a journal say."""
    with Journal(path) as journal:
        mind = journal.mind()
    found = mind.certify(delta, state)
    names = mind.names, mind.settings.actions
    return Found(found, [Look(found.samples, found.bounds)], path.name, names=names)


def _made(domain: str, name: str, options: Params, seed: int) -> tuple[Any, Learner]:
    env = make_domain(domain)
    return env, counting(make_agent(name, env, seed=seed, **options), name)


def counting(agent: object, name: str | None = None) -> Learner:
    """The agent, if it counts; `name` is what the user calls it."""
    if not isinstance(agent, Agent) or not isinstance(agent.model, Counts | SparseCounts):
        named = type(agent).__name__ if name is None else name
        raise InputError(f"agent is {named!r}, but must be one that counts transitions to be certified.")
    return agent


def _check_fits(agent: Learner, asked: Asked, freeze: bool) -> None:
    """Everything that a certificate would refuse after the run is refused before it."""
    agent.clone(agent.seed).certify(asked.delta, asked.state, asked.h)
    if freeze:
        learnt = agent.model.problem.reward is None
        require(not learnt, "--freeze", freeze, "left out where the reward is learnt")
        thin = isinstance(agent.model, SparseCounts)
        require(
            not thin, "--freeze", freeze, "left out with sparse counts: what is watched is counted in a dense table"
        )


def _known(domain: str | None, reward: Path | None, gamma: float | None) -> tuple[Floats, float, bool]:
    """Reward, discount, and whether episodes can end, by the domain or as given."""
    if domain is None:
        if reward is None or gamma is None:
            name = "--reward" if reward is None else "--gamma"
            raise InputError(f"{name} is not given, but must be, or --domain, where the source is a file.")
        return read_reward(reward.expanduser()), gamma, False
    env = make_domain(domain)
    known, truth = known_reward_of(env), truth_of(env)
    if known is None or truth is None:
        raise InputError(f"--domain is {domain!r}, but must be one with finitely many states that tells its reward.")
    return np.asarray(known, dtype=np.float64), truth.gamma, truth.ends
