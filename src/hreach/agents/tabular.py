"""The tabular agent: counts, a formula for what to hope, a planner, a way of acting. Paper: Algorithm 1.

    for each time step:   act        take the best action under the internal value V~
                          observe    save the sufficient statistics, update the model of that pair

Agents differ in their `Strategy` only.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hreach import kernels
from hreach.agents import saving
from hreach.compiling import Array, announcing, compile_formula, resolved
from hreach.errors import InputError, number, positive, require, shown, whole
from hreach.kernels import Belief, Rule
from hreach.models.counts import Counts
from hreach.optimism.tabular import Strategy
from hreach.problems.problem import Problem
from hreach.randomness.streams import agent_stream

if TYPE_CHECKING:
    from hreach.guarantees.certificate import Certificate, Certifier

_refresh_all, _grow = announcing(kernels.refresh_all), announcing(kernels.grow)


class RewardWarning(UserWarning):
    """A learnt reward was outside [r_min, r_max]."""


class TabularAgent:
    """An agent for finite states and actions; `seed` decides its ties and coins.

    tolerance   the planner stops when max |TV - V| is at most this
    value_cap   values above it are cut off (None: no cap)
    ties        "random", or all actions in the order of preference
    """

    def __init__(
        self,
        problem: Problem,
        strategy: Strategy,
        *,
        tolerance: float = 0.01,
        value_cap: float | None = None,
        ties: str | Sequence[int] = "random",
        seed: int = 0,
    ) -> None:
        self.problem = problem
        self.strategy = strategy
        self.formula = compile_formula(strategy.formula)
        self.rule = _rule(problem, strategy, tolerance, value_cap, ties)
        self.belief = _belief(problem, self.rule)
        self.stream = agent_stream(seed)
        self.residual = np.inf  # max |TV - V| of the last plan
        self._stale = True
        self._warned = False
        if strategy.growing:
            _grow(self.formula, self.rule, self.belief, 0.0)
        else:
            _refresh_all(self.formula, self.rule, self.belief)

    def act(self, state: int) -> int:
        """The action to take in `state`; plans first if anything was learnt since."""
        s = self._checked("state", state, self.problem.states)
        self.plan()
        return self._act(self.rule, self.belief, s, self.stream)

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool = False) -> None:
        """Learn from one transition; one that `terminated` the episode led to its end, after which nothing follows."""
        s = self._checked("state", state, self.problem.states)
        a = self._checked("action", action, self.problem.actions)
        following = self._checked("next_state", next_state, self.problem.states)
        paid = float(reward)
        if not (self.problem.r_min <= paid <= self.problem.r_max):
            self._outside(paid)
        if terminated and not self.problem.ends:
            self.expect_ends()
        self._stale |= self._learn(
            self.formula.address, self.rule, self.belief, s, a, paid, following, bool(terminated)
        )  # fmt: skip

    def plan(self) -> None:
        """Bring the internal value up to date with the model."""
        while self._stale:  # a long plan comes back in pieces, so that Ctrl-C is heard
            _, self.residual, finished = self._plan(self.rule, self.belief)
            self._stale = not finished

    def _outside(self, paid: float) -> None:
        """A reward that is not in [r_min, r_max]: an error if it is no number; a warning if it is learnt."""
        require(math.isfinite(paid), "reward", paid, "a finite number")
        if self.problem.reward is None and not self._warned:
            self._warned = True
            low, high = self.problem.r_min, self.problem.r_max
            text = (
                f"reward is {paid:g}, outside [r_min, r_max] = [{low:g}, {high:g}]: optimism and bounds rely on them."
            )
            warnings.warn(text, RewardWarning, stacklevel=3)

    def expect_ends(self) -> None:
        """Episodes can end after all: from here on the end is an outcome of every pair, worth 0."""
        self.problem = replace(self.problem, ends=True)
        values = self.problem.values
        self.rule = self.rule._replace(ends=True, v_min=values.low, v_max=values.high)
        self._certifier = None
        b = self.belief
        entered = (b.counts > self.problem.prior / self.problem.states).any(axis=(0, 1))
        b.open[:] = entered | (b.total > self.problem.prior).any(axis=1)
        _refresh_all(self.formula, self.rule, self.belief)

    @property
    def internal_value(self) -> Array:
        """V~, shape (S,), within gamma residual / (1 - gamma) of the fixed point. Paper: Eq. (1)."""
        self.plan()
        return self.belief.value.copy()

    @property
    def action_values(self) -> Array:
        """Q~, shape (S, A)."""
        self.plan()
        pairs = self.belief.total.shape
        return self.belief.q[: self.belief.total.size].reshape(pairs).copy()

    @property
    def counts(self) -> Array:
        """alpha(s, a, s'), shape (S, A, S): prior weight and samples."""
        return self.belief.counts.copy()

    _certifier: Certifier | None = None

    def certificate(self, state: int | None = None, *, eps: float, delta: float = 0.1) -> Certificate:
        """V~, V_{h=0} and their gap in `state` (None: where it is largest), and what the theorem says at (eps, delta).

        Cheap enough for every step, and the actions that follow are the same as without it: it plans if `act` would
        have to, and keeps V_{h=0} apart. Paper: Definition 3, Theorem 1, Corollaries 1 and 2.
        """
        certifier = self._certifier
        if certifier is None:
            from hreach.guarantees.certificate import Certifier

            certifier = self._certifier = Certifier(self)
        s = -1 if state is None else self._checked("state", state, self.problem.states)
        if self._stale:
            self.plan()
        if eps != certifier.eps or delta != certifier.delta or certifier.grows:
            certifier.agree(eps, delta)
        found = certifier.blank()
        found.samples, found.state, found.internal, found.current, found.accuracy = certifier.compare(self.residual, s)
        found.eps, found.delta, found.h, found.h_most, found.problem, found.notes = certifier.terms
        return found

    def describe(self) -> dict[str, Any]:
        """Constants in force and where they come from, as plain numbers."""
        constants = {k: np.asarray(v).tolist() for k, v in self.strategy.constants.items()}
        return {"origin": self.strategy.origin, "constants": constants, **dict(self.strategy.facts)}

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Everything that changed since construction and what the agent was made with, as plain arrays."""
        return saving.state_dict(self)

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a saved state: the same actions follow as if the agent had never stopped.

        A state that is damaged, or of an agent that was made with something else, is refused; nothing changes then.
        """
        saving.load_state_dict(self, state)
        self._certifier = None
        _refresh_all(self.formula, self.rule, self.belief)

    def _checked(self, field_name: str, value: int, size: int) -> int:
        index = int(value)
        if 0 <= index < size and index == value:
            return index
        raise InputError(f"{field_name} is {shown(value)}, but must be a whole number from 0 to {size - 1}.")

    # The kernels for the types of this agent's arrays; found when first needed, for `simulate` needs none of them.

    @cached_property
    def _plan(self) -> Callable[[Rule, Belief], tuple[int, float, bool]]:
        return resolved(kernels.plan, self.rule, self.belief)

    @cached_property
    def _act(self) -> Callable[[Rule, Belief, int, NDArray[np.uint64]], int]:
        return resolved(kernels.act, self.rule, self.belief, 0, self.stream)

    @cached_property
    def _learn(self) -> Callable[[int, Rule, Belief, int, int, float, int, bool], bool]:
        return resolved(kernels.learn, self.formula.address, self.rule, self.belief, 0, 0, 0.0, 0, False)


def _rule(
    problem: Problem,
    strategy: Strategy,
    tolerance: float,
    value_cap: float | None,
    ties: str | Sequence[int],
) -> Rule:
    shape = (problem.states, problem.actions)
    columns = [np.broadcast_to(np.asarray(c, dtype=np.float64), shape) for c in strategy.constants.values()]
    parameters = np.stack(columns, axis=-1) if columns else np.zeros((*shape, 0))
    reward = np.zeros((0, 0, 0)) if problem.reward is None else problem.reward
    return Rule(
        reward=np.ascontiguousarray(reward),
        parameters=np.ascontiguousarray(parameters),
        preference=_preference(ties, problem.actions),
        gamma=problem.gamma,
        tolerance=positive("tolerance", tolerance),
        r_min=problem.r_min,
        r_max=problem.r_max,
        v_min=problem.values.low,
        v_max=problem.values.high,
        value_cap=np.inf if value_cap is None else number("value_cap", value_cap),
        freeze_at=float(strategy.freeze_at),
        random_action=float(strategy.random_action),
        reward_share=float(strategy.reward_share),
        adaptive=strategy.adaptive,
        ends=problem.ends,
    )


def _preference(ties: str | Sequence[int], actions: int) -> NDArray[np.int64]:
    if isinstance(ties, str) and ties == "random":
        return np.zeros(0, dtype=np.int64)
    ok = isinstance(ties, Sequence | np.ndarray) and len(ties) == actions and all(a in ties for a in range(actions))
    require(ok, "ties", ties, f"'random', or every action from 0 to {actions - 1} in the order of preference")
    return np.array([whole("ties", a, 0) for a in ties], dtype=np.int64)


def _belief(problem: Problem, rule: Rule) -> Belief:
    """The belief before any sample; rewards not yet seen count as the middle of [r_min, r_max]."""
    states, actions = problem.states, problem.actions
    model = Counts(states, actions, problem.prior)
    blocks = -(-states * actions // 4)
    return Belief(
        counts=model.counts,
        ended=np.zeros(model.counts.shape),
        total=model.total,
        income=model.total * ((problem.r_min + problem.r_max) / 2),
        mean=np.zeros((blocks, states, 4)),
        gone=np.zeros(4 * blocks),
        parting=np.zeros(4 * blocks),
        reach=np.zeros(4 * blocks),
        base=np.zeros(4 * blocks),
        radius=np.zeros(4 * blocks),
        value=np.zeros(states),
        q=np.zeros(4 * blocks),
        order=np.arange(states, dtype=np.int64),
        target=np.zeros(states),
        matrix=np.zeros((states, states + 1)),
        clock=np.array([0.0, np.inf]),
        constants=rule.parameters.copy(),
        plain=np.zeros(states),
        terminal=np.zeros(states, dtype=np.bool_),
        open=np.zeros(states, dtype=np.bool_),
    )
