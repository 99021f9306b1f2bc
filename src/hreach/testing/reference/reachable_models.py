"""The definition of h-reachable models, by brute force and for any learning method.

    M_0 = {P^},    M_h = { f(P, s') : P in M_{h-1}, s' a possible next state }         (Paper: Reachability)

Exponential in h: the oracle of the closed forms, not a way to plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from hreach.errors import whole

Array = NDArray[np.float64]


def reachable_models(
    statistics: Array,
    update: Callable[[Array, int], Array],
    predict: Callable[[Array], Array],
    possible: Iterable[int],
    h: int,
) -> Array:
    """All h-reachable models of one pair, shape (models, S).

    `statistics` is what the learning method remembers of the pair, `update(statistics, s')` what it remembers
    after one more sample, `predict(statistics)` its model, `possible` the next states that can happen.
    """
    successors = list(possible)
    frontier = [statistics]
    for _ in range(whole("h", h, 0)):
        following = (update(seen, s) for seen in frontier for s in successors)
        frontier = list({new.tobytes(): new for new in following}.values())
    return np.array([predict(seen) for seen in frontier])


def most_optimistic(models: Array, target: Array) -> Array:
    """The model with the largest sum_s' P(s') target(s'). Paper: Eq. (1)."""
    return np.asarray(models[np.argmax(models @ target)])


def nearest(models: Array, truth: Array) -> Array:
    """The model with the smallest L1 distance to `truth`. Paper: definition of P^{d*}."""
    return np.asarray(models[np.argmin(np.abs(models - truth).sum(axis=1))])
