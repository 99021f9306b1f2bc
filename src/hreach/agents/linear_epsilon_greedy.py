"""Acting on a linear model as it is, with a random action now and then."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hreach.agents.linear import Hope, Task
from hreach.compiling import Array
from hreach.errors import number, require
from hreach.models.linear import LinearModel


@dataclass(frozen=True)
class Plain:
    """No bonus; everything counts as known."""

    def __call__(
        self, model: LinearModel, states: Array, actions: NDArray[np.int64], calls: int, slope: float
    ) -> tuple[Array, NDArray[np.bool_]]:
        """(zeros (N,), all True)."""
        return np.zeros(len(states)), np.ones(len(states), dtype=np.bool_)


def build(task: Task, epsilon: float = 0.1) -> Hope:
    """The best action under the model, but with probability epsilon one drawn uniformly."""
    chance = number("epsilon", epsilon)
    require(0 <= chance <= 1, "epsilon", epsilon, "a probability from 0 to 1")
    return Hope(Plain(), random_action=chance)
