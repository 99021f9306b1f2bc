"""The size of a problem: what bounds know of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hreach.errors import require, whole
from hreach.problems.ranges import ValueRange


@dataclass(frozen=True)
class Sizes:
    """What the bounds know of a problem: |S|, |A|, gamma, rewards in [r_min, r_max], whether they are R(s, a, s'), and
    whether episodes can end."""

    states: int
    actions: int
    gamma: float
    r_max: float = 1.0
    per_transition: bool = False
    r_min: float = 0.0
    ends: bool = False

    def __post_init__(self) -> None:
        whole("states", self.states, 1)
        whole("actions", self.actions, 1)
        values = ValueRange(self.r_min, self.r_max, self.gamma, self.ends)
        above = "above 0" if self.r_min == 0 else f"above r_min, {self.r_min:g}, unless episodes can end"
        require(values.reward_range > 0, "r_max", self.r_max, above)
        for name, given in (("per_transition", self.per_transition), ("ends", self.ends)):
            require(isinstance(given, bool | np.bool_), name, given, "True or False")

    @property
    def pairs(self) -> float:
        """|S||A|."""
        return float(self.states) * float(self.actions)

    @property
    def top(self) -> float:
        """V = v_max - v_min; an error of this size says nothing."""
        return ValueRange(self.r_min, self.r_max, self.gamma, self.ends).span

    def error_scale(self, form: str = "corrected") -> float:
        """What a model error of one at every step does to a value: V as printed, kappa when corrected (point 1)."""
        if form != "corrected":
            return self.top
        return (1.0 if self.per_transition else self.gamma) * self.top / (1 - self.gamma)
