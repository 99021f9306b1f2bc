"""What many scores come to: their mean, and the mean of their middle half; under weights, as resampling needs them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hreach.errors import require
from hreach.statistics.scores import Array, Scores, equal_weights, strata_of

Parts = NDArray[np.float64] | NDArray[np.int64]
Aggregate = Callable[[Array], Array]  # weights (samples, runs) -> (samples, rows)


def mean_under_weights(values: Array) -> Aggregate:
    """sum_i w_i v_i of each row of weights w that sum to 1; values (runs, rows)."""
    return lambda weights: np.asarray(weights @ values)


def iqm_under_weights(values: Array) -> Aggregate:
    """The interquartile mean of values (runs, rows) under weights that sum to 1: the mean of the middle half of them.

    With v_1 <= ... <= v_n, C_i = w_1 + ... + w_i and H_i = C_i's place in the middle half, clip(2 C_i - 1/2, 0, 1), it
    is sum_i (H_i - H_{i-1}) v_i = v_n - sum_{i < n} H_i (v_{i+1} - v_i): one product for all samples.
    """
    order = np.argsort(values, axis=0, kind="stable")
    ascending = np.take_along_axis(values, order, axis=0)
    gaps = np.diff(ascending, axis=0)

    def aggregate(weights: Array) -> Array:
        found = np.empty((len(weights), values.shape[1]))
        parts, part = _in_parts(weights)
        for row in range(values.shape[1]):
            below = np.take(parts, order[:-1, row], axis=1)
            np.cumsum(below, axis=1, out=below)
            middle = np.multiply(below, 2 * part, dtype=np.float64)
            middle -= 0.5
            np.clip(middle, 0, 1, out=middle)
            found[:, row] = ascending[-1, row] - middle @ gaps[:, row]
        return found

    return aggregate


def _in_parts(weights: Array) -> tuple[Parts, float]:
    """(parts, part) with weights = parts times part; whole numbers of 1/runs where the weights are such.

    Those of bootstrap samples are, unless strata differ in size. A sum of whole numbers takes a tenth of the time: none
    of its steps waits for a rounding.
    """
    runs = weights.shape[1]
    whole = np.rint(weights * runs)
    if np.abs(weights * runs - whole).max() <= 1e-9:
        return whole.astype(np.int64), 1 / runs
    return weights, 1.0


AGGREGATES: dict[str, Callable[[Array], Aggregate]] = {"mean": mean_under_weights, "iqm": iqm_under_weights}


def aggregate_named(name: str) -> Callable[[Array], Aggregate]:
    """The aggregate of this name."""
    require(name in AGGREGATES, "statistic", name, f"one of {', '.join(AGGREGATES)}")
    return AGGREGATES[name]


def interquartile_mean(scores: Scores) -> float:
    """The mean of the middle half of all runs, the strata weighted alike (Agarwal et al., NeurIPS 2021).

    A quarter of the weight is cut off at either end; a run on the border counts with the part of it that is inside, so
    that of n runs, n a multiple of 4, n / 2 count in full, and of 5 runs the middle three, .75, 1 and .75 times.
    """
    strata = strata_of(scores)
    return float(iqm_under_weights(np.concatenate(strata)[:, None])(equal_weights(strata)[None])[0, 0])
