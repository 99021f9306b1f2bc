"""What an agent can say of itself at any time, without knowing the truth: `Agent.certificate`.

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
from hreach.protocols import AnyModel, AnyPlanner, State

Terms = tuple[float, float, float | None, float | None, Problem | None, tuple[str, ...]]


@dataclass(slots=True, init=False)
class Certificate:
    """What holds of an agent after `samples` samples; its fields are filled in one by one, which is quickest.

    state      where; the state with the largest gap if none was named
    internal   V~(state), what the agent acts on
    current    V_{h=0}(state), what its model says without optimism
    accuracy   how far the planner may have left the gap from that of the exact values (of a grid: of its fixed points)
    h          of V^{d*}: the least that the agent considers in any pair, for which Lemma 1 holds; None if it is not of
               that kind (MBIE, ...)
    h_most     the most that it considers in any pair, by which the bounds count
    problem    the table that the bounds are about; None for a continuous problem
    notes      where the agent is not quite what the statements are about

    The bounds are proved for an agent that stops learning a pair after m samples (`freeze_at="theory"`); `str` of a
    certificate, and its notes, say whether this is one.
    """

    samples: int
    state: State
    internal: float
    current: float
    accuracy: float
    eps: float
    delta: float
    h: float | None
    h_most: float | None
    problem: Problem | None
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
        if self.problem is None:
            raise InputError(
                "the theorem's numbers are for tables: those of a linear model depend on constants that nobody knows "
                "(hreach.guarantees.theory.linear computes them from guesses)."
            )
        return self.problem.sizes


class Certifier:
    """What the certificates of one agent have in common, looked up once, for they are made at every step."""

    def __init__(self, model: AnyModel, planner: AnyPlanner) -> None:
        self._model, self._planner, self._compare = model, planner, planner.compare
        self._counts = model if isinstance(model, Counts) and _schedule(planner) is None else None  # else h may change
        self._problem: Problem | None = None
        self._eps = self._delta = np.nan
        self._terms: Terms = (np.nan, np.nan, None, None, None, ())

    def certify(self, state: State | None, eps: float, delta: float) -> Certificate:
        """The certificate now, of a plan that is up to date."""
        counts = self._counts
        if counts is None or counts.problem is not self._problem or eps != self._eps or delta != self._delta:
            self._agree(eps, delta)
        found = Certificate()
        found.samples, found.state, found.internal, found.current, found.accuracy = self._compare(state)
        found.eps, found.delta, found.h, found.h_most, found.problem, found.notes = self._terms
        return found

    def _agree(self, eps: float, delta: float) -> None:
        """Check eps and delta, which takes longer than planning does, and bring `terms` up to date."""
        self._eps, self._delta = float(check_epsilon(eps)), float(check_delta(delta))
        self._problem = self._model.problem if isinstance(self._model, Counts) else None
        least, most = self._planner.reach() or (None, None)
        said = tuple(notes(self._model, self._planner))
        self._terms = (self._eps, self._delta, least, most, self._problem, said)


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
