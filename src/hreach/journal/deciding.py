"""From a tally to an action: an agent that is made anew from the counts, so that the same rows give the same action.

The states are those that were declared, those that appeared in told rows, and the one that is asked about. The prior is
0: the model of a pair is the bare mean of what was seen, whatever |S| is. So |S| matters in one way only: optimism
looks for the best next state among these states, and one with an action that nobody has tried is worth the most.
Ties are drawn from a stream whose seed follows from the journal's seed, the number of samples and the state.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from hreach.agents.agent import Agent, Design
from hreach.agents.make import made_of
from hreach.agents.tables import TableAgent
from hreach.errors import require
from hreach.guarantees.certificate import Certificate
from hreach.journal.settings import Settings
from hreach.journal.tally import Tally
from hreach.models.counts import Counts
from hreach.optimism.greedy import greedy
from hreach.optimism.pac_rmdp import build
from hreach.optimism.tabular import TabularOptimism
from hreach.planners.sweeps import Sweeps
from hreach.planners.ties import best_actions
from hreach.problems.problem import Problem
from hreach.protocols import Floats, Stream
from hreach.randomness.streams import uniform

LARGEST = 3 * 10**7  # entries of a table (S, A, S)
PRECISION = 1e-4  # of the planner, relative to the range of values
DELTA = 0.1  # of what is said to be certain beside an action
UNSEEN = "there are no states but the {0} that were declared or have appeared"


@dataclass(frozen=True)
class Why:
    """An action, and what speaks for it in this state.

    internal    Q~, the value with optimism; certain: the value of the model as it is; tried: how often
    lower, upper   what the policy is worth here at least, and any policy at most, but for a probability DELTA
    """

    action: int
    internal: float
    certain: float
    tried: int
    lower: float
    upper: float


class Mind:
    """What the rows of a tally say, with these settings, when `state` (or nothing) is asked about."""

    def __init__(self, settings: Settings, tally: Tally, state: str | None = None) -> None:
        self.settings, self.tally = settings, tally
        self.names = tally.names if state is None or state in tally.numbers else [*tally.names, state]
        self.numbers = {name: i for i, name in enumerate(self.names)}
        self.range = reward_range(settings, tally)
        self.agent = _agent(settings, tally, max(len(self.names), 1), self.range, _seed(settings, tally, state))

    @property
    def past(self) -> bool:
        """Whether the lifetime is over."""
        return self.settings.lifetime is not None and self.tally.samples >= self.settings.lifetime

    def decide(self, state: str, allowed: list[int]) -> Why:
        """The best of the allowed actions, and why."""
        s, agent = self.numbers[state], self.agent
        q = agent.action_values(np.array([s]))[0]
        best = best_actions(np.where(np.isin(np.arange(q.size), allowed), q, -np.inf))
        ties = np.flatnonzero(best)
        action = int(ties[int(uniform(agent.stream) * ties.size)])
        sure = self.certify(DELTA, state)
        tried = agent.model.seen.total[s, action]
        certain = self.certain_values()[s, action]
        return Why(action, float(q[action]), float(certain), int(tried), sure.lower, sure.upper)

    def certain_values(self) -> Floats:
        """Q of the model as it is, (S, A)."""
        return self.agent.certainty_equivalent().planner.action_values()

    def certify(self, delta: float, state: str | None = None) -> Certificate:
        """What is certain of the policy that this agent follows now."""
        where = None
        if state is not None:
            require(state in self.numbers, "state", state, "one that has appeared")
            where = self.numbers[state]
        found = self.agent.certify(delta, where)
        return replace(found, assumes=(*found.assumes, UNSEEN.format(len(self.names))))


def reward_range(settings: Settings, tally: Tally) -> tuple[float, float]:
    """(r_min, r_max): as given, or 0; wider where rewards were told outside; 1 above where nothing else is known."""
    low = min(0.0 if settings.r_min is None else settings.r_min, tally.low)
    high = max(settings.r_max if settings.r_max is not None else max(0.0, low), tally.high)
    if settings.r_max is None and high <= low:
        high = low + 1.0
    return min(low, high), high


def _agent(settings: Settings, tally: Tally, states: int, paid: tuple[float, float], seed: int) -> TableAgent:
    actions = len(settings.actions)
    entries = states**2 * actions
    require(entries <= LARGEST, "states", states, f"so few that states x actions x states is at most {LARGEST}")
    ends = any(ended for _, ended in tally.moves.values())
    problem = Problem(states, actions, settings.gamma, None, paid[1], 0.0, paid[0], ends)
    optimism = _optimism(settings, tally, problem)
    tolerance = PRECISION * max(problem.values.span, 1e-12) * (1 - settings.gamma)

    def make(own_seed: int, stream: Stream) -> tuple[Counts, Sweeps]:
        model = make_model(problem, optimism, tally)
        return model, Sweeps(model, optimism, stream, tolerance=tolerance)

    return Agent(Design(optimism, actions, make, made_of(problem, None)), seed)


def _optimism(settings: Settings, tally: Tally, problem: Problem) -> TabularOptimism:
    """PAC-RMDP(h); where h follows from the lifetime and that is over, no optimism."""
    if settings.h != "lifetime":
        return build(problem, settings.h)
    if settings.lifetime is not None and tally.samples >= settings.lifetime:
        return greedy(problem)
    return build(problem, "lifetime", lifetime=settings.lifetime)


def make_model(problem: Problem, optimism: TabularOptimism, tally: Tally) -> Counts:
    """A model that has counted what the tally says: the one place that knows which kind of model it is."""
    model = Counts(problem, optimism.freeze_at)
    seen = model.seen
    for (s, a, t), (n, ended) in tally.moves.items():
        seen.counts[s, a, t], seen.ended[s, a, t] = n, ended
        seen.total[s, a] += n
        seen.open[s] = True
        seen.open[t] |= n > ended
    for (s, a), paid in tally.paid.items():
        seen.reward_sum[s, a] = paid
    seen.terminal[:] = (seen.ended.sum(axis=(0, 1)) > 0) & ~seen.open
    seen.samples[0] = tally.samples
    seen.news[0] = -1
    model.version = tally.samples
    return model


def _seed(settings: Settings, tally: Tally, state: str | None) -> int:
    """64 bits that follow from the history and the state."""
    said = f"{settings.seed}|{tally.samples}|{state}".encode()
    return int.from_bytes(hashlib.sha256(said).digest()[:8], "big")
