"""PAC-RMDP(h) where neither the states nor the range of rewards are known beforehand.

Rewards are learnt, with the range that was given, wider where rewards were paid outside, or the range seen so far. That
includes 0, and 1 as long as no reward was below 0: otherwise the first small payment would be the best there is, and
whoever has found it would look no further. When the range grows, a new agent is made that goes on from the same counts.

With h a number, states count once they were met: optimism is about the best state that was met, an untried action in it
included. Elsewhere V~ would stay at r_max/(1 - gamma) for ever because of states that cannot be reached at all (of the
500 of the taxi 96), and nothing that was learnt could calm it. With an h that changes ("growing", "adaptive",
"lifetime") a table of all states is kept, as the paper has it: these are for small spaces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hreach.agents.agent import Agent, Design
from hreach.errors import InputError, discount, finite, number, require
from hreach.exploring.learnt import Learnt, Tally, counted, tally_of
from hreach.guarantees.certificate import Certificate
from hreach.guarantees.certify import certify_model
from hreach.models.counts import Counts
from hreach.models.sparse_counts import SparseCounts
from hreach.optimism.pac_rmdp import build
from hreach.optimism.tabular import TabularOptimism
from hreach.planners.local import Local
from hreach.planners.sweeps import Sweeps
from hreach.problems.problem import Problem
from hreach.protocols import Info, State, Stream

ExploringAgent = Agent[SparseCounts, TabularOptimism, Local] | Agent[Counts, TabularOptimism, Sweeps]
LARGEST = 3 * 10**7  # entries of a table (S, A, S), for an h that changes
CERTIFIABLE = 2 * 10**6  # entries of a table (S, A, S) of the states that were met
REWARD_SHARE = 1.0
TOLERANCE = 0.001  # of the planner, relative to the range of rewards
UNSEEN = "there are no states but the {0} that have appeared"
CAPPED = "no policy is worth more than {0:g}, as given"
SO_FAR = "the range of rewards is the one seen so far"


@dataclass(frozen=True)
class Settings:
    """What is explored with; None: not given.

    h          a number, "growing", "adaptive", or "lifetime", which needs `lifetime`
    v_max      no policy is worth more than this, as the user knows
    """

    gamma: float = 0.99
    h: float | str = 1.0
    lifetime: int | None = None
    r_min: float | None = None
    r_max: float | None = None
    v_max: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        discount(self.gamma)
        if isinstance(self.h, str):
            ways = ("growing", "adaptive", "lifetime")
            require(self.h in ways, "h", self.h, "a number, 'growing', 'adaptive', or left out where lifetime is given")
        else:
            require(number("h", self.h) >= 0, "h", self.h, "at least 0")
        asked = self.h == "lifetime"
        require(asked == (self.lifetime is not None), "lifetime", self.lifetime, "given where h is 'lifetime', only")
        low, high = (None if r is None else finite(n, r) for n, r in (("r_min", self.r_min), ("r_max", self.r_max)))
        require(low is None or high is None or low <= high, "r_min", low, f"at most r_max, {high}")
        if self.v_max is not None:
            finite("v_max", self.v_max)

    @property
    def range_given(self) -> bool:
        """Whether the whole range of rewards was."""
        return self.r_min is not None and self.r_max is not None


class Explorer:
    """Acts and observes for `hreach.run`; states are whole numbers below `states`, which are met as they come."""

    def __init__(self, settings: Settings, states: int, actions: int) -> None:
        self.settings, self.states, self.actions = settings, states, actions
        self.sparse = not isinstance(settings.h, str)
        entries = states**2 * actions
        if not self.sparse and entries > LARGEST:
            raise InputError(
                f"h is {settings.h!r}, which needs a table of all {states} states, but must be a number where "
                f"states x actions x states is above {LARGEST}."
            )
        low, high = settings.r_min, settings.r_max
        self.seen = (0.0 if low is None else float(low), 0.0 if high is None else float(high))
        self.agent = self._made(None)

    @property
    def range(self) -> tuple[float, float]:
        """(r_min, r_max) as it is taken to be."""
        low, high = self.seen
        if self.settings.r_max is None and low >= 0:
            high = max(high, low + 1.0)
        return (low if low < high else high - 1.0), high

    def act(self, state: State) -> int:
        """The action that PAC-RMDP(h) takes."""
        return self.agent.act(state)

    def observe(
        self, state: State, action: int, reward: float, next_state: State, terminated: bool = False,
        info: Info | None = None,
    ) -> None:  # fmt: skip
        """Learn from one step."""
        if not self.seen[0] <= reward <= self.seen[1]:
            self._widen(reward)
        self.agent.observe(state, action, reward, next_state, terminated, info)

    @property
    def met(self) -> int:
        """How many states count: those that were met, or all of a table."""
        model = self.agent.model
        return len(model.met) if isinstance(model, SparseCounts) else self.states

    @property
    def exceeded(self) -> bool:
        """Whether rewards were paid outside the range that was given."""
        of, (low, high) = self.settings, self.seen
        return (of.r_min is not None and low < of.r_min) or (of.r_max is not None and high > of.r_max)

    def tally(self, states: int) -> Tally:
        """What was counted, of the first so many states."""
        return tally_of(self.agent.model, states)

    def certify(self, delta: float = 0.1, state: State | None = None, h: float | None = None) -> Certificate:
        """What holds of the learnt policy: the best one for the frequencies as they are."""
        require(h is None, "h", h, "left out where the reward is learnt")
        states = self.met
        if states**2 * self.actions > CERTIFIABLE:
            raise InputError(
                f"A certificate is asked for, but {states} states x {self.actions} actions are too many: states x "
                f"actions x states must be at most {CERTIFIABLE}."
            )
        tally, (low, high) = self.tally(states), self.range
        problem = Problem(len(tally.closed), self.actions, self.settings.gamma, None, high, 0.0, low, tally.ends)
        policy = Learnt(tally, problem).policy
        assumes = (UNSEEN.format(problem.states),) if self.sparse else ()
        notes = () if self.settings.range_given else (SO_FAR,)
        found = certify_model(counted(tally, problem), policy, delta, state, notes=notes, assumes=assumes)
        return found if self.settings.v_max is None else _capped(found, float(self.settings.v_max))

    def _widen(self, reward: float) -> None:
        before = self.range
        self.seen = min(self.seen[0], reward), max(self.seen[1], reward)
        if self.range != before:
            self.agent = self._made(self.agent)

    def _made(self, before: ExploringAgent | None) -> ExploringAgent:
        """An agent for the range as it is now, which goes on from the one before."""
        of, (low, high) = self.settings, self.range
        ends = before is not None and before.model.problem.ends
        problem = Problem(self.states, self.actions, of.gamma, None, high, 0.0, low, ends, self.sparse)
        extra = {"lifetime": of.lifetime} if of.h == "lifetime" else {}
        optimism = build(problem, of.h, reward_share=REWARD_SHARE, **extra)
        settings = {"gamma": of.gamma, "v_max": of.v_max, "states": self.states}
        tolerance = TOLERANCE * (high - low)
        agent: ExploringAgent
        if self.sparse:

            def locally(seed: int, stream: Stream) -> tuple[SparseCounts, Local]:
                model = SparseCounts(problem)
                return model, Local(model, optimism, stream, tolerance=tolerance, value_cap=of.v_max)

            agent = Agent(Design(optimism, self.actions, locally, settings), of.seed)
        else:

            def swept(seed: int, stream: Stream) -> tuple[Counts, Sweeps]:
                model = Counts(problem)
                return model, Sweeps(model, optimism, stream, tolerance=tolerance, value_cap=of.v_max)

            agent = Agent(Design(optimism, self.actions, swept, settings), of.seed)
        if before is not None:
            _go_on(before, agent)
        return agent


def _capped(found: Certificate, v_max: float) -> Certificate:
    """The same where no policy is worth more than `v_max`, which is then taken for granted."""
    bounds = found.bounds
    upper = np.maximum(np.minimum(bounds.upper, v_max), bounds.lower)  # not below what is certain, if v_max is
    capped = replace(bounds, upper=upper, gap=np.minimum(bounds.gap, upper - bounds.lower))
    return replace(found, bounds=capped, assumes=(*found.assumes, CAPPED.format(v_max)))


def _go_on(before: ExploringAgent, agent: ExploringAgent) -> None:
    """The same counts and random numbers; all is planned anew."""
    agent.stream[...] = before.stream
    agent.model.load_state_dict(before.model.state_dict())
    if isinstance(agent.model, SparseCounts):
        agent.model.arena.news[0] = -1
    else:
        agent.planner.load_state_dict(before.planner.state_dict())  # an h that changes stays as it is
        agent.model.seen.news[0] = -1
