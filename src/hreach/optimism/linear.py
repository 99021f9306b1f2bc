"""What makes a linear agent: what it adds to its regression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Literal, Protocol

import numpy as np

from hreach.models.linear import LinearModel
from hreach.models.regression import Regression
from hreach.protocols import Floats, Ints, Pairs, Upper

Reach = Callable[[LinearModel, Floats, Ints, int], Floats]


class BonusRule(Protocol):
    """A bonus (N,) for each pair, given the slope L of the value; infinite: worth the most there is."""

    def __call__(self, model: LinearModel, states: Floats, actions: Ints, calls: int, slope: float) -> Floats:
        """The bonus (N,)."""


def certain(model: LinearModel, states: Floats, actions: Ints, calls: int, slope: float) -> Floats:
    """No bonus: the model as it is."""
    return np.zeros(len(states))


@dataclass(frozen=True)
class LinearOptimism:
    """The rules and constants of an algorithm.

    bonus           of each pair
    random_action   probability of an action drawn uniformly
    selective       whether it learns only from pairs that it does not know, those with an infinite bonus
    shift           how far a prediction may be moved, (N, L): the planner takes the best next state within it
    reward_reach    how far a learnt reward may be moved, (N, 1): added to it
    truth           plan with the task's true model instead of a learnt one
    constants       as they were given or computed, and by which `origin`
    reach           the least h after so many samples, if it is of that kind
    """

    bonus: BonusRule = certain
    random_action: float = 0.0
    selective: bool = False
    shift: Reach | None = None
    reward_reach: Reach | None = None
    truth: bool = False
    constants: Mapping[str, object] = field(default_factory=dict)
    origin: Literal["theory", "given"] = "given"
    reach: Callable[[int], float] | None = None

    def h(self, samples: int) -> float | None:
        """The h of its interval after so many samples; None for an algorithm without one."""
        return None if self.reach is None else self.reach(samples)

    def upper(self, model: Regression, pairs: Pairs[Floats], slope: float, calls: int) -> Upper:
        """What optimism adds to each pair; `calls` is the paper's M, how many pairs were asked about so far."""
        states, actions = pairs
        none = np.zeros(len(states))
        shift = np.zeros((len(states), 0))
        if not isinstance(model.linear, LinearModel):  # it learns nothing more
            return Upper(none, none, none, shift, none)
        bonus = self.bonus(model.linear, states, actions, calls, slope)
        if self.shift is not None:
            shift = self.shift(model.linear, states, actions, max(calls, 1))
        reward = none
        if self.reward_reach is not None and model.reward_model is not None:
            reward = self.reward_reach(model.reward_model, states, actions, calls)[:, 0]
        return Upper(none, bonus, none, shift, reward)

    def identity(self) -> dict[str, object]:
        """All that decides what it does, as plain data."""
        rule = self.bonus.__qualname__ if isinstance(self.bonus, FunctionType) else type(self.bonus).__qualname__
        constants = {name: plain(value) for name, value in self.constants.items()}
        return {"bonus": rule, **constants, "random_action": self.random_action, "selective": self.selective}

    def constants_in_force(self) -> dict[str, object]:
        """Constants as plain data."""
        return {"origin": self.origin, "constants": {name: plain(value) for name, value in self.constants.items()}}


def plain(value: object) -> object:
    """A constant as plain data: arrays and tuples as lists."""
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
