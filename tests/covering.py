"""How often an interval holds the truth, beside what chance allows: for tests of intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Law(NamedTuple):
    """Runs of a shape, their expectation, and the mean of the middle half of the distribution."""

    draw: Callable[[np.random.Generator, tuple[int, ...]], Array]
    mean: float
    iqm: float


LAWS = {
    "normal": Law(lambda rng, shape: rng.normal(3, 2, shape), 3.0, 3.0),
    # E[X; q1 < X < q3] / (1/2) with E[X; X < q] = 1 - (1 + q) exp(-q)
    "skewed": Law(lambda rng, shape: rng.exponential(1, shape), 1.0, 1.5 * np.log(4 / 3) + 1 - 0.5 * np.log(4)),
    "bernoulli": Law(lambda rng, shape: (rng.random(shape) < 0.3).astype(np.float64), 0.3, 0.1),
}


def least(level: float, repeats: int) -> float:
    """The share that an interval of this coverage hardly ever falls short of: three standard deviations below it."""
    return float(level - 3 * np.sqrt(level * (1 - level) / repeats))


def share_that_hold(intervals: Iterable[tuple[float, float]], truth: float) -> float:
    return float(np.mean([low <= truth <= high for low, high in intervals]))
