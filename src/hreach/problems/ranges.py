"""The range of values of a problem: one notion for agents, bounds, audits and choices of h.

Rewards are in [r_min, r_max]. A continuing problem pays for ever; where episodes can end, the rest may be worth 0:

    v_max = r_max/(1-gamma),     v_min = r_min/(1-gamma)            if episodes never end
    v_max = max(r_max, 0)/(1-gamma),   v_min = min(r_min, 0)/(1-gamma)   if they can

The paper's rewards are in [0, r_max] and its range is r_max/(1-gamma).

>>> costs = ValueRange(r_min=-1.0, r_max=-1.0, gamma=0.5, ends=True)
>>> costs.low, costs.high, costs.span
(-2.0, 0.0, 2.0)
"""

from __future__ import annotations

from dataclasses import dataclass

from hreach.errors import discount, finite, require


@dataclass(frozen=True)
class ValueRange:
    """[low, high] = [v_min, v_max]; `ends` says whether an episode can end."""

    r_min: float
    r_max: float
    gamma: float
    ends: bool = False

    def __post_init__(self) -> None:
        low, high = finite("r_min", self.r_min), finite("r_max", self.r_max)
        require(low <= high, "r_min", self.r_min, f"at most r_max, {high:g}")
        discount(self.gamma)

    @property
    def low(self) -> float:
        """v_min, the lowest value that a policy can have."""
        return (min(self.r_min, 0.0) if self.ends else self.r_min) / (1 - self.gamma)

    @property
    def high(self) -> float:
        """v_max, the highest value that a policy can have."""
        return (max(self.r_max, 0.0) if self.ends else self.r_max) / (1 - self.gamma)

    @property
    def reward_range(self) -> float:
        """(1 - gamma) times the span: the range of what a step can pay, an end counting as 0."""
        if self.ends:
            return max(self.r_max, 0.0) - min(self.r_min, 0.0)
        return self.r_max - self.r_min

    @property
    def span(self) -> float:
        """v_max - v_min: an error of this size says nothing."""
        return self.high - self.low
