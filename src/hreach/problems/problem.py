"""A tabular problem as an agent knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hreach.errors import at_least, whole
from hreach.problems.ranges import ValueRange
from hreach.problems.sizes import Sizes


class Successors(NamedTuple):
    """Which next states are possible: of pair i = s A + a, next_state[first[i]] .. next_state[first[i + 1] - 1]."""

    first: NDArray[np.int64]
    next_state: NDArray[np.int64]


@dataclass(frozen=True)
class Problem:
    """What an agent knows: sizes, gamma, the reward if it is known (S, A, 1 or S), its range, the prior's weight.

    ends         whether an episode can end
    open         whether states count once they were met: what nobody has seen is no reason for optimism, and |S| only
                 a limit
    successors   the possible next states of every pair, if they are known
    """

    states: int
    actions: int
    gamma: float
    reward: NDArray[np.float64] | None
    r_max: float
    prior: float
    r_min: float = 0.0
    ends: bool = False
    open: bool = False
    successors: Successors | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", whole("states", self.states, 1))
        object.__setattr__(self, "actions", whole("actions", self.actions, 1))
        object.__setattr__(self, "prior", at_least("prior", self.prior, 0))

    @property
    def values(self) -> ValueRange:
        """The range of values."""
        return ValueRange(self.r_min, self.r_max, self.gamma, self.ends)

    @property
    def sizes(self) -> Sizes:
        """What the bounds need to know of it."""
        per_transition = self.reward is not None and self.reward.shape[2] > 1
        return Sizes(self.states, self.actions, self.gamma, self.r_max, per_transition, self.r_min, self.ends)
