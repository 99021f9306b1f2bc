"""The noise of the HIV domain: what the paper's N(0, .01) may mean, and how the noise of each day adds up.

Every day ends with z = log10 x + s N(0, I). With F(z) what a day makes of z without noise and J_d its derivative on day
d of the path without noise, the deviations of the days before are carried on and a new one is added:

    C_0 = 0,     C_{d+1} = J_d C_d J_d' + s^2 I

to first order in s. After D days the components have the standard deviations sqrt(diag C_D): at least s, and more
where a day enlarges a deviation.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hreach.errors import at_least, require

Array = NDArray[np.float64]
READINGS = ("standard deviation", "variance")
_STEP = 1e-3  # of the difference quotients, in log10; a day is followed to some 1e-6


def deviation(field: str, value: object, reading: str) -> float:
    """The standard deviation that `value` stands for."""
    require(reading in READINGS, "noise_is", reading, " or ".join(map(repr, READINGS)))
    given = at_least(field, value, 0)
    return math.sqrt(given) if reading == "variance" else given


def accumulated(day: Callable[[Array], Array], start: Array, days: int, s: float) -> Array:
    """sqrt(diag C_D) after `days` from log10 amounts `start` (n,); `day` maps (N, n) to what follows, (N, n)."""
    z, covariance = start, np.zeros((start.size, start.size))
    around = _STEP * np.concatenate([np.eye(start.size), -np.eye(start.size), np.zeros((1, start.size))])
    for _ in range(days):
        after = day(z + around)
        up, down = np.split(after[:-1], 2)
        J = (up - down).T / (2 * _STEP)
        covariance = J @ covariance @ J.T + s * s * np.eye(start.size)
        z = after[-1]
    return np.asarray(np.sqrt(np.diag(covariance)))
