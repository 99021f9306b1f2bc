"""What an agent can say of itself at any time, without knowing the truth: `TabularAgent.certificate`.

    gap(s) = V~(s) - V_{h=0}(s),    explicit exploration is over at eps where |gap(s_t)| <= eps   (Paper: Definition 3)

V_{h=0}, the value of the model as it is, is kept beside the agent's own value and brought up to date when it is asked
for (`kernels.compare`): after one more sample that is mostly a single sweep. What Theorem 1 and Corollary 2 promise for
the agent's h is computed when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from hreach import kernels
from hreach.compiling import Array, resolved
from hreach.errors import InputError
from hreach.guarantees.theory import (
    PROVED_FOR,
    Bound,
    Form,
    Sizes,
    anytime_error,
    explicit_exploration_runtime,
    sample_complexity,
)
from hreach.guarantees.theory.bound import check_delta, check_epsilon
from hreach.optimism.greedy import plain
from hreach.reach.weight import hopeful

if TYPE_CHECKING:
    from hreach.agents.tabular import TabularAgent
from hreach.problems.problem import Problem

Terms = tuple[float, float, float | None, float | None, "Problem", tuple[str, ...]]


class PlainValue:
    """V_{h=0} of an agent, warm from the last time it was asked for; nothing of the agent is changed."""

    def __init__(self, agent: TabularAgent, tolerance: float | None = None) -> None:
        b, rule = agent.belief, agent.rule
        self._value = b.value.copy()
        self._known = np.array([-1.0, 0.0, np.inf])  # nothing yet
        arguments = (
            b.counts, b.ended, b.total, b.income, b.terminal, b.clock, b.value, rule.reward,
            (rule.r_min + rule.r_max) / 2, rule.gamma, rule.ends,
            rule.tolerance if tolerance is None else tolerance, self._value, b.matrix, self._known,
        )  # fmt: skip
        self.compare = partial(resolved(kernels.compare, *arguments, 0.0, 0), *arguments)

    def __call__(self) -> Array:
        """V_{h=0}, shape (S,), within gamma residual/(1-gamma); the next call writes over it."""
        self.compare(0.0, 0)
        return self._value

    @property
    def residual(self) -> float:
        """max |TV - V| of the last plan."""
        return float(self._known[2])


@dataclass(slots=True, init=False)
class Certificate:
    """What holds of an agent after `samples` samples; its fields are filled in one by one, which is quickest.

    state      where; the state with the largest gap if none was named
    internal   V~(state), what the agent acts on
    current    V_{h=0}(state), what its model says without hope
    accuracy   how far the planner may have left the gap from that of the exact values
    h          of V^{d*}: the least that the agent hopes for in any pair, for which Lemma 1 holds; None if it is not of
               that kind (MBIE, ...)
    h_most     the most that it hopes for in any pair, by which the bounds count
    notes      where the agent is not quite what the statements are about

    The bounds are proved for an agent that stops learning a pair after m samples (`freeze_at="theory"`); `str` of a
    certificate, and its notes, say whether this is one.
    """

    samples: int
    state: int
    internal: float
    current: float
    accuracy: float
    eps: float
    delta: float
    h: float | None
    h_most: float | None
    problem: Problem
    notes: tuple[str, ...]

    @property
    def gap(self) -> float:
        """V~ - V_{h=0}: what exploration is still worth to the agent. Paper: Definition 3."""
        return self.internal - self.current

    @property
    def over(self) -> bool:
        """Whether explicit exploration is over here, at eps: |V~ - V_{h=0}| <= eps. Paper: Definition 3.

        With `state` None it is over in every state. A new sample can begin it again.
        """
        return abs(self.gap) <= self.eps

    def sample_complexity(self, form: Form = "corrected") -> Bound:
        """At most so many steps are more than eps below V^{d*}_h, with probability 1 - delta. Paper: Theorem 1."""
        return _sample_complexity(self.problem.sizes, self.eps, self.delta, self._h(), form)

    def exploration_runtime(self, form: Form = "corrected") -> Bound:
        """At most so many steps have a gap above eps, with probability 1 - delta. Paper: Corollary 2."""
        return _exploration_runtime(self.problem.sizes, self.eps, self.delta, self._h(), form)

    def anytime_error(self, form: Form = "corrected") -> Bound:
        """eps_{t,h} after this many steps: Theorem 1 turned round. Paper: Corollary 1."""
        return anytime_error(self.problem.sizes, max(self.samples, 1), self.delta, self._h(), form)

    def __str__(self) -> str:
        word = "over" if self.over else "not over"
        return (
            f"after {self.samples} samples, state {self.state}: V~ = {self.internal:.4g}, V(h=0) = {self.current:.4g}, "
            f"gap {self.gap:.3g} (+- {self.accuracy:.2g}); explicit exploration at eps = {self.eps:g} is {word}. "
            f"Its bounds: {self.notes[-1]}."
        )

    def _h(self) -> float:
        if self.h_most is None or not np.isfinite(self.h_most):
            raise InputError("the theorem's numbers are for agents that hope for a finite h (pac-rmdp, bolt, greedy).")
        return self.h_most


class Certifier:
    """What the certificates of one agent have in common, looked up once, for they are made at every step.

    blank     a certificate to fill in
    compare   (residual of V~, state or -1) -> its samples, state, internal, current, accuracy
    terms     its eps and delta, those that were asked for last, h, h_most, problem and notes
    grows     whether h has changed since
    """

    def __init__(self, agent: TabularAgent) -> None:
        self.blank = Certificate
        self.compare = PlainValue(agent).compare
        self.eps = self.delta = np.nan
        self.terms: Terms = (np.nan, np.nan, None, None, agent.problem, tuple(notes(agent)))
        self._constants = agent.belief.constants
        self._hopes = hopes(agent)
        self.grows = bool(self._hopes) and agent.strategy.growing

    def agree(self, eps: float, delta: float) -> None:
        """Check eps and delta, which takes longer than planning does, and bring `terms` up to date."""
        self.eps, self.delta = float(check_epsilon(eps)), float(check_delta(delta))
        least = most = None if self._hopes is None else 0.0
        if self._hopes:
            least, most = float(self._constants.min()), float(self._constants.max())
        self.terms = (self.eps, self.delta, least, most, *self.terms[-2:])


def notes(agent: TabularAgent) -> list[str]:
    """Where the agent is not quite what the statements are about."""
    found = []
    if agent.problem.reward is None:
        found.append("the agent learns its reward, which the statements take as known")
    if agent.problem.prior > 0:
        found.append(f"the prior weighs {agent.problem.prior:g} samples; the bounds are for the bare sample mean")
    if agent.strategy.growing:
        found.append("h grows: a bound at a step is for the h of that step, totals are for the last one")
    found.append(_freezes(agent))
    return found


def _freezes(agent: TabularAgent) -> str:
    """For which agent the bounds are proved, and whether this is it."""
    facts = agent.strategy.facts
    if "m" in facts and np.isfinite(agent.strategy.freeze_at):
        return (
            f"pairs are frozen after m = {facts['m']:.4g} samples: what is proved holds at the eps and delta of that m"
        )
    return f"the bounds are proved for {PROVED_FOR}"


def hopes(agent: TabularAgent) -> bool | None:
    """True for Algorithm 1 with some h (PAC-RMDP, BOLT), False with h = 0 (greedy), None for any other agent."""
    if agent.strategy.random_action > 0:
        return None
    if agent.strategy.formula is hopeful:
        return True
    return False if agent.strategy.formula is plain else None


@lru_cache(maxsize=64)
def _sample_complexity(sizes: Sizes, eps: float, delta: float, h: float, form: Form) -> Bound:
    return sample_complexity(sizes, eps, delta, h, form)


@lru_cache(maxsize=64)
def _exploration_runtime(sizes: Sizes, eps: float, delta: float, h: float, form: Form) -> Bound:
    return explicit_exploration_runtime(sizes, eps, delta, h, form=form)
