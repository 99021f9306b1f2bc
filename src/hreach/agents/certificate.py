"""What an agent can say of itself at any time, without knowing the truth: `TabularAgent.certificate`.

    gap(s) = V~(s) - V_{h=0}(s),    explicit exploration is over at eps where |gap(s_t)| <= eps   (Paper: Definition 3)

V_{h=0}, the value of the model as it is, is kept beside the agent's own value and brought up to date by the same
planner with nothing hoped for (reach, bonus and radius 0); after one more sample that is mostly a single sweep. What
Theorem 1 and Corollary 2 promise for the agent's h is computed when it is asked for.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hreach import kernels
from hreach.agents.greedy import plain
from hreach.compiling import Array, announcing, compiled
from hreach.errors import InputError
from hreach.kernels import Belief
from hreach.reach.counts import hopeful
from hreach.theory import Bound, Form, Sizes, anytime_error, explicit_exploration_runtime, sample_complexity
from hreach.theory.bound import check_delta, check_epsilon

if TYPE_CHECKING:
    from hreach.agents.tabular import Problem, TabularAgent

_OWN = ("mean", "reach", "base", "radius", "value", "q", "order", "target", "matrix")  # the rest is the agent's


@compiled
def _refresh(
    counts: Array, total: Array, income: Array, terminal: NDArray[np.bool_], reward: Array, r_max: float,
    seen: Array, mean: Array, base: Array,
) -> bool:  # fmt: skip
    """Mean model and reward of every pair that has changed since; False if none has.

    seen: (S, A), the total that each pair was last computed with (-1: never, -2: terminal, for good).
    """
    states, actions = total.shape
    changed = False
    for s in range(states):
        for a in range(actions):
            weight = -2.0 if terminal[s] else total[s, a]
            if weight == seen[s, a]:
                continue
            changed = True
            seen[s, a] = weight
            i = s * actions + a
            scale = 1.0 / weight if weight > 0.0 else 0.0
            uniform = 1.0 / states if weight == 0.0 else 0.0
            for j in range(states):
                mean[i // 4, j, i % 4] = scale * counts[s, a, j] + uniform
            if terminal[s]:
                base[i] = 0.0
            elif reward.shape[0] == 0:
                base[i] = income[s, a] * scale if weight > 0.0 else r_max / 2.0
            elif reward.shape[2] == 1:
                base[i] = reward[s, a, 0]
    return changed


@compiled
def _sweep(
    reward: Array, gamma: float, tolerance: float, actions: int, mean: Array, base: Array, value: Array, target: Array
) -> float:
    """value <- T value, unless max |T value - value|, which is returned, is above the tolerance."""
    states = value.size
    per_transition = reward.shape[2] > 1
    residual = 0.0
    for s in range(states):
        best = -np.inf
        for i in range(s * actions, s * actions + actions):
            future = 0.0
            income = base[i]
            for j in range(states):
                future += mean[i // 4, j, i % 4] * value[j]
            if per_transition:
                for j in range(states):
                    income += mean[i // 4, j, i % 4] * reward[s, i - s * actions, j]
            best = max(best, income + gamma * future)
        target[s] = best
        residual = max(residual, abs(best - value[s]))
    if residual <= tolerance:
        for s in range(states):
            value[s] = target[s]
    return residual


@compiled
def _renew(
    counts: Array, total: Array, income: Array, terminal: NDArray[np.bool_], reward: Array, r_max: float,
    seen: Array, mean: Array, base: Array, gamma: float, tolerance: float, value: Array, target: Array,
) -> float:  # fmt: skip
    """Refresh and one sweep, which is mostly all it takes; the residual, or -1 if nothing has changed."""
    if not _refresh(counts, total, income, terminal, reward, r_max, seen, mean, base):
        return -1.0
    return _sweep(reward, gamma, tolerance, total.shape[1], mean, base, value, target)


_try, _plan = announcing(_renew), announcing(kernels.plan)


class PlainValue:
    """V_{h=0} of an agent, warm from the last time it was asked for; nothing of the agent is changed."""

    def __init__(self, agent: TabularAgent, tolerance: float | None = None) -> None:
        rule = agent.rule if tolerance is None else agent.rule._replace(tolerance=tolerance)
        b: Belief = agent.belief._replace(**{name: getattr(agent.belief, name).copy() for name in _OWN})
        for name in ("reach", "base", "radius"):
            getattr(b, name)[:] = 0.0
        seen = np.full(b.total.shape, -1.0)
        self.residual = np.inf
        self._rule, self._belief = rule._replace(value_cap=np.inf), b
        self._arguments = (
            b.counts, b.total, b.income, agent.terminal, rule.reward, rule.r_max,
            seen, b.mean, b.base, rule.gamma, rule.tolerance, b.value, b.target,
        )  # fmt: skip

    def __call__(self) -> Array:
        """V_{h=0}, shape (S,), within gamma residual/(1-gamma); the next call writes over it."""
        residual = _try(*self._arguments)
        if residual > self._rule.tolerance:
            _, residual = _plan(self._rule, self._belief)
        if residual >= 0:
            self.residual = residual
        return self._belief.value


class Certificate(NamedTuple):
    """What holds of an agent after `samples` samples.

    state      where; the state with the largest gap if none was named
    internal   V~(state), what the agent acts on
    current    V_{h=0}(state), what its model says without hope
    accuracy   how far the planner may have left the gap from that of the exact values
    h          what the agent hopes for at most, in samples of each pair; None if it is not of that kind (MBIE, ...)
    """

    samples: int
    state: int
    internal: float
    current: float
    accuracy: float
    eps: float
    delta: float
    h: float | None
    problem: Problem

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
        return _sample_complexity(sizes_of(self.problem), self.eps, self.delta, self._h(), form)

    def exploration_runtime(self, form: Form = "corrected") -> Bound:
        """At most so many steps have a gap above eps, with probability 1 - delta. Paper: Corollary 2."""
        return _exploration_runtime(sizes_of(self.problem), self.eps, self.delta, self._h(), form)

    def anytime_error(self, form: Form = "corrected") -> Bound:
        """eps_{t,h} after this many steps: Theorem 1 turned round. Paper: Corollary 1."""
        return anytime_error(sizes_of(self.problem), max(self.samples, 1), self.delta, self._h(), form)

    def __str__(self) -> str:
        word = "over" if self.over else "not over"
        return (
            f"after {self.samples} samples, state {self.state}: V~ = {self.internal:.4g}, V(h=0) = {self.current:.4g}, "
            f"gap {self.gap:.3g} (+- {self.accuracy:.2g}); explicit exploration at eps = {self.eps:g} is {word}."
        )

    def _h(self) -> float:
        if self.h is None or not np.isfinite(self.h):
            raise InputError("the theorem's numbers are for agents that hope for a finite h (pac-rmdp, bolt, greedy).")
        return self.h


class Certifier:
    """Makes the certificates of one agent; what does not change is looked up once, for this is called every step."""

    def __init__(self, agent: TabularAgent) -> None:
        self._agent = agent
        self._problem = agent.problem
        self._value = agent.belief.value
        self._clock = agent.belief.clock
        self._plain = PlainValue(agent)
        self._spread = agent.problem.gamma / (1 - agent.problem.gamma)
        self._hopes = hopes(agent)
        self._h = None if self._hopes is None else float(agent.belief.constants.max()) if self._hopes else 0.0
        self._grows = bool(self._hopes) and agent.strategy.growing

    def __call__(self, state: int | None, eps: float, delta: float) -> Certificate:
        """`TabularAgent.certificate`, for a state that was checked."""
        self._agent.plan()
        hoped, now = self._value, self._plain()
        s = int(np.abs(hoped - now).argmax()) if state is None else state
        accuracy = self._spread * (self._agent.residual + self._plain.residual)
        h = float(self._agent.belief.constants.max()) if self._grows else self._h
        eps, delta = _checked(eps, delta)
        samples = int(self._clock.item(0))
        return Certificate(samples, s, hoped.item(s), now.item(s), accuracy, eps, delta, h, self._problem)


def hopes(agent: TabularAgent) -> bool | None:
    """True for Algorithm 1 with some h (PAC-RMDP, BOLT), False with h = 0 (greedy), None for any other agent."""
    if agent.strategy.random_action > 0:
        return None
    if agent.strategy.formula is hopeful:
        return True
    return False if agent.strategy.formula is plain else None


def sizes_of(problem: Problem) -> Sizes:
    """What the bounds need to know of a problem."""
    per_transition = problem.reward is not None and problem.reward.shape[2] > 1
    return Sizes(problem.states, problem.actions, problem.gamma, problem.r_max, per_transition)


@lru_cache(maxsize=64)
def _sample_complexity(sizes: Sizes, eps: float, delta: float, h: float, form: Form) -> Bound:
    return sample_complexity(sizes, eps, delta, h, form)


@lru_cache(maxsize=64)
def _exploration_runtime(sizes: Sizes, eps: float, delta: float, h: float, form: Form) -> Bound:
    return explicit_exploration_runtime(sizes, eps, delta, h, form=form)


@lru_cache(maxsize=64)
def _checked(eps: float, delta: float) -> tuple[float, float]:
    """Checking an array costs more than planning, so each pair is checked once."""
    return float(check_epsilon(eps)), float(check_delta(delta))
