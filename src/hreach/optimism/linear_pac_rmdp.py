"""Linear PAC-RMDP(h), Algorithm 2 of the paper: a bonus for what h more samples could do to the prediction.

    r~(s, a) = r(s, a) + L || I_h(s, a) ||_2

I_h is the h-reachable interval of each learnt component (`hreach.reach.interval`), L the slope of the value. Without L:
the value of (s, a) is that of the best next state inside the interval ("shift"), of which the bonus is an upper bound.

h = "growing" is h_t = c ln(t + 2), t the number of samples when a plan is made. As h_t passes every bound, f of a pair
that is left alone tends to 1 and the exact interval to Delta, where the truth lies by assumption: nothing is given up
on a few samples. More is not claimed: the argument for phases in `hreach.optimism.pac_rmdp` needs an interval that only
grows with h, and with noise="mean" the part for the noise shrinks; the paper's interval grows with h without end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.compiling import Array
from hreach.errors import InputError, at_least, require
from hreach.models.linear import LinearModel
from hreach.models.spectrum import ZRule
from hreach.optimism.linear import LinearOptimism
from hreach.problems.task import Task
from hreach.reach.growing import growth, is_growing
from hreach.reach.interval import Interval


@dataclass(frozen=True)
class Bonus:
    """L times the length of the interval."""

    interval: Interval

    def __call__(
        self, model: LinearModel, states: Array, actions: NDArray[np.int64], calls: int, slope: float
    ) -> Array:
        """L ||I_h||, (N,). Paper: Algorithm 2."""
        return slope * self.interval.length(model, states, actions, calls)


def build(
    task: Task,
    h: ArrayLike,
    interval: Literal["exact", "paper"] = "exact",
    Delta: ArrayLike = "mean",
    delta: float = 0.9,
    noise: Literal["mean", "any"] = "mean",
    z_rule: ZRule = "small",
    optimism: Literal["bonus", "shift"] = "bonus",
    reward_sigma: float = 0.0,
    c: float | None = None,
) -> LinearOptimism:
    """h a number of at least 0, or "growing" (c ln(t + 2), c = .5 unless given).

    interval       "exact" or "paper", see `Interval`
    Delta          given, or the running "mean" or "max" of the residuals
    z_rule         for "paper": adding 1 to eigenvalues below 1 ("small"), or only where X'X is singular ("singular"),
                   which follows the print more closely but explodes while X'X is ill-conditioned
    optimism       "bonus" (L ||I_h||), or "shift": the planner takes the best next state inside the interval
    reward_sigma   where the reward is learnt: the standard deviation of its noise, for an interval of its own
    """
    if isinstance(h, str) and h == "adaptive":
        raise InputError(
            "h is 'adaptive', but must be a number or 'growing': what one try costs is known of every pair of a table, "
            "and of a linear model only where it plans."
        )
    require(optimism in ("bonus", "shift"), "optimism", optimism, "'bonus' or 'shift'")
    reach = Interval(interval, h, task.sigma, Delta=Delta, delta=delta, noise=noise, z_rule=z_rule, c=c)
    about = at_least("reward_sigma", reward_sigma, 0)
    estimated = Delta if isinstance(Delta, str) else "mean"  # a Delta given for the state says nothing of the reward
    reward = Interval(interval, h, about, Delta=estimated, delta=delta, noise=noise, z_rule=z_rule, c=c)
    constants = {"h": h, "interval": interval, "Delta": Delta, "delta": delta, "noise": noise, "optimism": optimism}
    constants |= {"z_rule": z_rule, "reward_sigma": about} | ({"c": growth(c)} if is_growing(h) else {})
    base = LinearOptimism(constants=constants, reward_reach=reward, reach=reach.least_h)
    return replace(base, shift=reach) if optimism == "shift" else replace(base, bonus=Bonus(reach))
