"""What an agent can say of itself at any time, without knowing the truth: `Agent.exploration_gap`.

    gap(s) = V~(s) - V_{h=0}(s),    explicit exploration is over at eps where |gap(s_t)| <= eps   (Paper: Definition 3)

V_{h=0} is the value of the model as it is, without optimism. The planner of tables keeps it beside its own value and
brings it up to date when it is asked for: after one more sample that is mostly a single sweep. Other planners plan once
more. What Theorem 1 and Corollary 2 promise for the agent's h is computed when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hreach.errors import InputError
from hreach.guarantees.theory import PROVED_FOR, Bound, Form, anytime_error, explicit_exploration_runtime
from hreach.guarantees.theory import sample_complexity as _theorem_1
from hreach.guarantees.theory.bound import check_delta, check_epsilon
from hreach.models.counts import Counts
from hreach.optimism.tabular import TabularOptimism
from hreach.problems.problem import Problem
from hreach.problems.sizes import Sizes
from hreach.protocols import AnyModel, AnyPlanner, Comparison, State


@dataclass(frozen=True, slots=True)
class Terms:
    """What the gaps of an agent at one eps and delta have in common.

    h          of V^{d*}: the least that the agent considers in any pair, for which Lemma 1 holds; None if it is not of
               that kind (MBIE, ...)
    h_most     the most that it considers in any pair, by which the bounds count
    problem    the table that the bounds are about; None for a continuous problem
    notes      where the agent is not quite what the statements are about
    """

    eps: float = np.nan
    delta: float = np.nan
    h: float | None = None
    h_most: float | None = None
    problem: Problem | None = None
    notes: tuple[str, ...] = ()


@dataclass(slots=True, init=False)
class ExplorationGap:
    """What holds of an agent after so many samples; it is made at every step, so its two fields are filled in at once.

    found   (samples, state, V~, V_{h=0}, accuracy), as the planner compared them
    terms   at which eps and delta, and what does not change from step to step

    The bounds are proved for an agent that stops learning a pair after m samples (`freeze_at="theory"`); `str` of a
    gap, and its notes, say whether this is one.
    """

    found: Comparison
    terms: Terms

    @property
    def samples(self) -> int:
        """How many samples the agent has learnt."""
        return self.found[0]

    @property
    def state(self) -> State:
        """Where; the state with the largest gap if none was named."""
        return self.found[1]

    @property
    def internal(self) -> float:
        """V~(state), what the agent acts on."""
        return self.found[2]

    @property
    def current(self) -> float:
        """V_{h=0}(state), what its model says without optimism."""
        return self.found[3]

    @property
    def accuracy(self) -> float:
        """How far the planner may have left the gap from that of the exact values (of a grid: of its fixed points)."""
        return self.found[4]

    @property
    def eps(self) -> float:
        """At which explicit exploration is over or not."""
        return self.terms.eps

    @property
    def delta(self) -> float:
        """The bounds hold with probability 1 - delta."""
        return self.terms.delta

    @property
    def h(self) -> float | None:
        """Of V^{d*}: `Terms`."""
        return self.terms.h

    @property
    def h_most(self) -> float | None:
        """By which the bounds count: `Terms`."""
        return self.terms.h_most

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the agent is not quite what the statements are about."""
        return self.terms.notes

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
        return _sample_complexity(self._sizes(), self.eps, self.delta, self._h(), form)

    def exploration_runtime(self, form: Form = "corrected") -> Bound:
        """At most so many steps have a gap above eps, with probability 1 - delta. Paper: Corollary 2."""
        return _exploration_runtime(self._sizes(), self.eps, self.delta, self._h(), form)

    def anytime_error(self, form: Form = "corrected") -> Bound:
        """eps_{t,h} after this many steps: Theorem 1 turned round. Paper: Corollary 1."""
        return anytime_error(self._sizes(), max(self.samples, 1), self.delta, self._h(), form)

    def __str__(self) -> str:
        word = "over" if self.over else "not over"
        where = np.array2string(np.asarray(self.state), precision=4, separator=", ")
        return (
            f"after {self.samples} samples, state {where}: V~ = {self.internal:.4g}, V(h=0) = {self.current:.4g}, "
            f"gap {self.gap:.3g} (+- {self.accuracy:.2g}); explicit exploration at eps = {self.eps:g} is {word}. "
            f"Its bounds: {self.notes[-1]}."
        )

    def _h(self) -> float:
        if self.h_most is None or not np.isfinite(self.h_most):
            raise InputError("the theorem's numbers are for agents with a finite h (pac-rmdp, bolt, greedy).")
        return self.h_most

    def _sizes(self) -> Sizes:
        problem = self.terms.problem
        if problem is None:
            raise InputError(
                "the theorem's numbers are for tables: those of a linear model depend on constants that nobody knows "
                "(hreach.guarantees.theory.linear computes them from guesses)."
            )
        return problem.sizes


class GapMeter:
    """What the gaps of one agent have in common, looked up once, for they are measured at every step."""

    def __init__(self, model: AnyModel, planner: AnyPlanner) -> None:
        self._model, self._planner, self._compare = model, planner, planner.compare
        self._counts = model if isinstance(model, Counts) and _schedule(planner) is None else None  # else h may change
        self._terms = Terms()

    def measure(self, state: State | None, eps: float, delta: float) -> ExplorationGap:
        """The gap now, of a plan that is up to date."""
        counts, terms = self._counts, self._terms
        if counts is None or counts.problem is not terms.problem or eps != terms.eps or delta != terms.delta:
            terms = self._agree(eps, delta)
        gap = ExplorationGap()
        gap.found, gap.terms = self._compare(state), terms
        return gap

    def _agree(self, eps: float, delta: float) -> Terms:
        """Check eps and delta, which takes longer than planning does, and bring the terms up to date."""
        ends = float(check_epsilon(eps)), float(check_delta(delta))
        problem = self._model.problem if isinstance(self._model, Counts) else None
        least, most = self._planner.reach() or (None, None)
        self._terms = Terms(*ends, least, most, problem, tuple(notes(self._model, self._planner)))
        return self._terms


def notes(model: AnyModel, planner: AnyPlanner) -> list[str]:
    """Where an agent of this model and planner is not quite what the statements are about."""
    optimism = planner.optimism
    if not isinstance(model, Counts) or not isinstance(optimism, TabularOptimism):
        return ["Theorem 2 has constants that nobody knows: there are none in numbers"]
    found = []
    if model.problem.reward is None:
        found.append("the agent learns its reward, which the statements take as known")
    if model.problem.prior > 0:
        found.append(f"the prior weighs {model.problem.prior:g} samples; the bounds are for the bare sample mean")
    if optimism.schedule is not None and not optimism.draws:
        found.append("h grows: a bound at a step is for the h of that step, totals are for the last one")
    found.append(_freezes(optimism))
    return found


def _freezes(optimism: TabularOptimism) -> str:
    """For which agent the bounds are proved, and whether this is it."""
    if "m" in optimism.facts and np.isfinite(optimism.freeze_at):
        m = optimism.facts["m"]
        return f"pairs are frozen after m = {m:.4g} samples: what is proved holds at the eps and delta of that m"
    return f"the bounds are proved for {PROVED_FOR}"


def _schedule(planner: AnyPlanner) -> object:
    optimism = planner.optimism
    return optimism.schedule if isinstance(optimism, TabularOptimism) else None


@lru_cache(maxsize=64)
def _sample_complexity(sizes: Sizes, eps: float, delta: float, h: float, form: Form) -> Bound:
    return _theorem_1(sizes, eps, delta, h, form)


@lru_cache(maxsize=64)
def _exploration_runtime(sizes: Sizes, eps: float, delta: float, h: float, form: Form) -> Bound:
    return explicit_exploration_runtime(sizes, eps, delta, h, form=form)
