"""`hreach.explore`: PAC-RMDP(h) in any Gymnasium environment, and what was learnt there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from hreach.errors import InputError, one_of, whole
from hreach.exploring.bins import Bins, Edges
from hreach.exploring.explorer import Explorer, Settings
from hreach.exploring.folders import free_folder
from hreach.exploring.learnt import Learnt, Tally
from hreach.exploring.looking import Looks
from hreach.exploring.making import Gym, Place, is_seeded, made, place
from hreach.exploring.progress import line
from hreach.exploring.spaces import written
from hreach.guarantees.certificate import Certificate, short
from hreach.guarantees.certificate_picture import Look
from hreach.guarantees.stopping import Aim, Certified
from hreach.problems.problem import Problem
from hreach.problems.truth import core_of
from hreach.protocols import Environment, Floats, Ints, State
from hreach.randomness.seeding import check_seed
from hreach.registry import Params, Thing
from hreach.running.loop import run
from hreach.running.numbering import Name
from hreach.running.record import Run

UNSEEDED = (
    "the same seed and the same actions led to different states or rewards: this run cannot be repeated; pass the seed "
    "on, with super().reset(seed=seed), and draw from self.np_random"
)
ENDLESS = (
    "no episode ended in {0:,} steps; if they should, gymnasium.wrappers.TimeLimit(env, max_episode_steps=200) does"
)


@dataclass(frozen=True)
class Source:
    """How the environment was made: its name (None: it was given as an object), its arguments, the bins' edges."""

    name: str | None
    label: str
    params: Params
    edges: Sequence[Edges]


@dataclass(frozen=True)
class Exploration:
    """What was learnt. States and actions are numbered; `states` and `actions` say what they are called.

    run      every step; starts: (S,) how often an episode began in each state
    looks    what was certain on the way; certificate: at the end, or None where there are too many states
    notes    what a user should know
    """

    source: Source
    settings: Settings
    states: Sequence[Name]
    actions: Sequence[str]
    agent: Explorer
    run: Run
    starts: Ints
    earned: Floats
    looks: Sequence[Look]
    certificate: Certificate | None
    notes: Sequence[str]
    env: Place = field(repr=False)

    @cached_property
    def tally(self) -> Tally:
        """What was counted."""
        return self.agent.tally(len(self.states))

    @cached_property
    def learnt(self) -> Learnt:
        """The certainty-equivalent policy."""
        low, high = self.agent.range
        gamma, states = self.settings.gamma, len(self.states)
        problem = Problem(states, len(self.actions), gamma, None, high, 0.0, low, self.tally.ends)
        return Learnt(self.tally, problem)

    @property
    def policy(self) -> Ints:
        """(S,) the learnt action of each state: the best of those that were tried, for the frequencies as they are."""
        return self.learnt.policy

    @property
    def values(self) -> Floats:
        """(S,) what that is worth, if the frequencies are the truth."""
        return self.learnt.values

    @property
    def value(self) -> float:
        """The same where episodes begin, on average over those that did."""
        return float(self.starts @ self.values / self.starts.sum())

    @property
    def optimistic_values(self) -> Floats:
        """(S,) V~, what the agent explores with. Paper: Eq. (1)."""
        return self.agent.agent.internal_value(np.arange(len(self.states)))

    def act(self, observation: State) -> State:
        """The learnt action for an observation of the environment; in a state that was never met, the first one."""
        number = self.env.env.names.get(self.env.guarded.naming(observation))
        return self.env.actions[0 if number is None else int(self.policy[number])]

    @property
    def range_words(self) -> str:
        """The range of rewards, and where it comes from."""
        low, high = self.agent.range
        return f"rewards in [{low:g}, {high:g}], {'as given' if self.range_kept else 'the range seen so far'}"

    @property
    def range_kept(self) -> bool:
        """Whether the range of rewards is the one that was given: all of it was, and none was paid outside."""
        return self.settings.range_given and not self.agent.exceeded

    def sentence(self) -> str:
        """What was learnt, in one sentence."""
        worth = f"the learnt policy is worth {short(self.value)} where episodes begin, if the frequencies are the truth"
        return (
            f"{_many(len(self.run.rewards), 'step')}, {_many(len(self.earned), 'episode')}, "
            f"{_many(len(self.states), 'state')} met: {worth} "
            f"({self.range_words})."
        )

    def certain(self) -> str | None:
        """What is certain, in one sentence."""
        if self.certificate is None:
            return None
        return self.certificate.sentence(written(self.states[self.certificate.state]))

    def save(self, folder: str | Path) -> None:
        """Write everything into a folder that is new or empty: all of it, or nothing."""
        from hreach.exploring.folder import save

        save(self, free_folder(Path(folder)))


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def explore(
    env: Thing | Environment,
    steps: int,
    *,
    gamma: float = 0.99,
    h: float | str | None = None,
    lifetime: int | None = None,
    bins: Bins = None,
    r_min: float | None = None,
    r_max: float | None = None,
    v_max: float | None = None,
    until: Certified | Aim | None = None,
    seed: int = 0,
    progress: bool = False,
    out: str | Path | None = None,
    set: Params | None = None,
) -> Exploration:
    """Explore an environment with PAC-RMDP(h) for so many steps, and say what was learnt.

    env       a Gymnasium environment or its id, "module:Id-v0", "module:factory", a domain of hreach, or a factory
    h         a number (default 1), "growing" or "adaptive"; `lifetime` chooses it from that many steps
    bins      for numbers that are observed: how many, edges, or `hreach.Quantiles(n)` (`hreach.exploring.bins`)
    r_min, r_max   the range of rewards (default: that seen so far); v_max: no policy is worth more
    until     a rule that ends the run earlier: `hreach.Certified(...)` or `hreach.Aim(...)`
    out       a folder for everything, page included, that is new or empty
    set       arguments of the environment, where it is given by name

    >>> import hreach
    >>> found = hreach.explore("riverswim", steps=2000, gamma=0.95)
    >>> len(found.states), found.policy.tolist()
    (6, [1, 1, 1, 1, 1, 1])
    """
    steps, params = whole("steps", steps, 1), dict(set or {})
    check_seed(seed)
    one_of(lifetime=lifetime, h=h)
    chosen: float | str = "lifetime" if lifetime is not None else 1.0 if h is None else h
    settings = Settings(gamma, chosen, lifetime, r_min, r_max, v_max, seed)
    if lifetime is not None and steps > lifetime:
        raise InputError(f"steps is {steps}, but must be at most the lifetime, {lifetime}.")
    folder = None if out is None else free_folder(Path(out))
    inner = made(env, params)
    at = place(inner, bins, seed)
    notes = [] if is_seeded(at, seed) else [UNSEEDED]
    explorer = Explorer(settings, at.states, len(at.actions))
    source = Source(env if isinstance(env, str) else None, _label(env, inner), params, at.edges)
    looks = Looks(until)

    def found(lived: Run) -> Exploration:
        return _found(source, settings, at, explorer, lived, looks, notes)

    try:
        with line(progress, steps, at.guarded.course, at.env, looks) as told:
            lived = run(at.env, explorer, steps, seed, progress=told, until=looks)
    except KeyboardInterrupt as stopped:
        if folder is not None and at.guarded.course.steps > 0:
            found(stopped.run).save(folder)  # type: ignore[attr-defined]  # `hreach.run` put it there
        raise
    whole_run = found(lived)
    if folder is not None:
        whole_run.save(folder)
    return whole_run


def _found(
    source: Source, settings: Settings, at: Place, explorer: Explorer, lived: Run, looks: Looks, notes: Sequence[str]
) -> Exploration:  # fmt: skip
    names, course, said = at.names, at.guarded.course, list(notes)
    if len(lived.ended) == 0:
        said.append(ENDLESS.format(len(lived.rewards)))
    if explorer.exceeded:
        low, high = explorer.range
        said.append(f"rewards were paid outside the range that was given, so it was widened to [{low:g}, {high:g}]")
    starts = np.array([course.starts[name] for name in names], dtype=np.int64)
    certificate = looks.look(explorer)
    if certificate is None:
        said.append(f"no certificate: {explorer.met} states x {explorer.actions} actions are too many for one")
    return Exploration(
        source=source,
        settings=settings,
        states=names,
        actions=at.action_names,
        agent=explorer,
        run=lived,
        starts=starts,
        earned=lived.episode_rewards,
        looks=tuple(looks.looks),
        certificate=certificate,
        notes=tuple(said),
        env=at,
    )


def _label(env: Thing | Environment, inner: Gym) -> str:
    """What pages and messages call the environment."""
    return env if isinstance(env, str) else type(core_of(inner)).__name__
