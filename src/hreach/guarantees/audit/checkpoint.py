"""One checkpoint of an agent whose truth is known: the values of the paper's statements, exact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hreach.agents.tables import TableAgent
from hreach.errors import InputError, require, whole
from hreach.models.counts import outcome_counts, predict_outcomes
from hreach.planners.ties import best_actions
from hreach.problems.mdp import TabularMDP
from hreach.problems.solving import Optimum, solved
from hreach.reach.nearest import Ties, optimum, reachable_optimum

Array = NDArray[np.float64]
_ROUNDING = 1e-9  # relative to the largest value: what exact solves may be apart by


class LemmaError(Exception):
    """V~ was below V^{d*}_{L,t,h} where Lemma 1 says that it is not; `step` says when."""

    def __init__(self, step: int, state: int, short: float) -> None:
        super().__init__(
            f"Lemma 1 is violated at step {step}: the internal value of state {state} is {short:.6g} below the "
            "h-reachable optimal value, which is more than the planner's tolerance explains."
        )
        self.step, self.state, self.short = step, state, short


@dataclass(frozen=True)
class Reachability:
    """The h of V^{d*}: given, or the agent's own at the time; which of equally near models counts; and whether Lemma 1
    must hold."""

    fixed: int | None
    insist: bool | None
    known: bool
    ties: Ties = "largest"

    @classmethod
    def of(cls, agent: TableAgent, h: int | None, lemma: bool | None, ties: Ties = "largest") -> Reachability:
        """From what was given; h None is the agent's own."""
        fixed = None if h is None else whole("h", h, 0)
        if fixed is None and agent.planner.reach() is None:
            raise InputError("h is not given, but must be: this agent has none of its own.")
        known = agent.model.problem.reward is not None and not np.isfinite(agent.planner.rule.value_cap)
        return cls(fixed, lemma, known, ties)

    def h(self, agent: TableAgent) -> int:
        """The h of V^{d*} now."""
        own = agent.planner.reach()
        if self.fixed is not None or own is None:
            return int(self.fixed or 0)
        require(np.isfinite(own[0]), "h", own[0], "finite: give the audit an h of its own")
        return int(own[0])

    def must_hold(self, agent: TableAgent, h: int) -> bool:
        """Whether Lemma 1 is about this agent: considering h or more, with a known reward and no cap on values."""
        own = agent.planner.reach()
        return bool(self.insist) or (self.insist is None and self.known and own is not None and own[0] >= h)


class Checkpoint:
    """The values at a checkpoint; policies are remembered, because the next ones are near."""

    def __init__(self, truth: TabularMDP, reachability: Reachability) -> None:
        endings = truth.endings()
        self._goes_on = truth.transitions() - endings
        self._outcomes = np.concatenate([self._goes_on, endings], axis=2) if truth.ends else self._goes_on
        self._R, self._gamma = truth.reward_table(), truth.gamma
        self._paid = truth.expected_reward
        self._optimal = truth.optimal_value()
        self._reachability = reachability
        self._rounding = _ROUNDING * max(1.0, float(np.abs(self._R).max()) / (1 - truth.gamma))
        self._reachable: Optimum | None = None
        self._current: Optimum | None = None

    def __call__(self, agent: TableAgent, t: int, s: int) -> dict[str, float]:
        """The values in state s at step t; raises `LemmaError` where Lemma 1 must hold and does not."""
        h, closed = self._reachability.h(agent), agent.model.seen.terminal
        last = self._reachable.policy if self._reachable else None
        self._reachable = reachable_optimum(
            self._counts(agent), h, self._outcomes, self._R, self._gamma, last,
            ties=self._reachability.ties, worthless=closed,
        )  # fmt: skip
        last = self._current.policy if self._current else None
        model = predict_outcomes(agent.model.seen.counts, agent.model.seen.ended) * ~closed[:, None, None]
        self._current = optimum(model, self._reward(agent), self._gamma, last)
        shortfall = self._gamma / (1 - self._gamma) * agent.planner.residual + self._rounding
        short = self._reachable.value - agent.planner.table.value
        worst = int(np.argmax(short))
        if short[worst] > shortfall and self._reachability.must_hold(agent, h) and not self._closed_wrongly(agent):
            raise LemmaError(t, worst, float(short[worst]))
        own = agent.planner.reach()
        return {
            "h": h,
            "reach": np.nan if own is None else own[1],
            "promised": float(own is not None and own[0] >= h and np.isfinite(own[1])),
            "optimal": self._optimal[s],
            "reachable": self._reachable.value[s],
            "internal": agent.planner.table.value[s],
            "current": self._current.value[s],
            "policy": self._policy_value(agent)[s],
            "short": short[worst],
            "shortfall": shortfall,
        }

    def _counts(self, agent: TableAgent) -> Array:
        """What the agent counted of every outcome, shaped like those of the truth."""
        counts, ended = agent.model.seen.counts, agent.model.seen.ended
        return counts if self._outcomes.shape == counts.shape else outcome_counts(counts, ended)

    def _closed_wrongly(self, agent: TableAgent) -> bool:
        """Whether the agent takes a state for an end from which something can go on: Lemma 1 does not know such."""
        entered = self._goes_on.sum(axis=(0, 1)) > 0
        return bool((agent.model.seen.terminal & entered).any())

    def _reward(self, agent: TableAgent) -> Array:
        """What the agent believes to be paid, (S, A) or (S, A, S)."""
        return self._R if agent.model.problem.reward is not None else agent.model.mean_reward()[:, :, 0]

    def _policy_value(self, agent: TableAgent) -> Array:
        """The true value of what the agent does now, (S,): equally good actions are taken equally often."""
        weights = action_weights(agent)
        chain = np.einsum("ij,ijk->ik", weights, self._goes_on)
        return solved(chain, (weights * self._paid).sum(axis=1), self._gamma)


def action_weights(agent: TableAgent) -> Array:
    """pi(a|s), shape (S, A), of the last plan: the best action, ties and random actions as the agent has them."""
    actions: int = agent.model.problem.actions
    equal = best_actions(agent.planner.action_values()).astype(np.float64)
    preference = agent.planner.rule.preference
    if preference.size:
        first = np.argmax(equal[:, preference], axis=1)
        equal = np.eye(actions)[preference[first]]
    chance = agent.optimism.random_action
    return np.asarray((1 - chance) * equal / equal.sum(axis=1, keepdims=True) + chance / actions)
