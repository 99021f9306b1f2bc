"""What makes a linear agent: how it hopes. Everything else (`hreach.agents.linear`) is the same for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array
from hreach.models.linear import LinearModel

Reach = Callable[[LinearModel, Array, NDArray[np.int64], int], Array]


class Optimism(Protocol):
    """How to hope: changes the reward (N,) and which pairs go on (N,) of pairs, given the slope L of the value."""

    def __call__(
        self, model: LinearModel, states: Array, actions: NDArray[np.int64], calls: int, slope: float
    ) -> tuple[Array, NDArray[np.bool_]]:
        """(bonus (N,), known (N,)); a pair that is not known is worth the most there is."""


@dataclass(frozen=True)
class Plain:
    """No hope: no bonus, and everything counts as known."""

    def __call__(
        self, model: LinearModel, states: Array, actions: NDArray[np.int64], calls: int, slope: float
    ) -> tuple[Array, NDArray[np.bool_]]:
        """(zeros (N,), all True)."""
        return np.zeros(len(states)), np.ones(len(states), dtype=np.bool_)


@dataclass(frozen=True)
class Hope:
    """What an agent of its own is made of.

    optimism        changes the reward of pairs, or ends them
    random_action   probability of an action drawn uniformly
    learn_known     whether it learns from pairs that it knows already
    shift           how far a prediction may be moved, (N, L): the planner chooses the most hopeful next state within it
    reward_reach    how far a learnt reward may be moved, (N, 1): added to it
    truth           plan with the task's true model instead of a learnt one
    """

    optimism: Optimism
    random_action: float = 0.0
    learn_known: bool = True
    shift: Reach | None = None
    reward_reach: Reach | None = None
    truth: bool = False
