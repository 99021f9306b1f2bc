"""h-reachability for models that count (sample mean and Dirichlet), in closed form.

After h more samples of (s, a) with frequencies y, the model has become (1 - w) P^ + w y, with

    w = h / (alpha(s, a) + h).

*Most optimistic*: all h samples are the best next state, y a point mass (Paper: Eq. (1)).
*Best*: the reachable model nearest to the true P in the L1 distance, which defines V^{d*}_{L,t,h}. The h samples
are whole and fall on next states that are possible, so it is an allocation of h units: with T = alpha(s, a) + h,
minimise sum_s' |alpha(s, a, s') + k(s') - T P(s'|s, a)|. A unit given where the deficit d = T P - alpha is at
least 1 gains 1; one given where only a part f < 1 is left gains 2 f - 1. The sum is convex in each k(s'), so taking
the largest gains first is exact: all whole units first, then the largest remainders. Neither the cost nor the
result depends on h being small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.errors import InputError, require, shown
from hreach.models.counts import predict

Array = NDArray[np.float64]
DIGITS = 9  # deficits that differ by less are equal: they are sums and products of doubles


def reach_weight(n: ArrayLike, h: ArrayLike) -> Array:
    """w = h / (n + h); 1 for h = inf, and 0 for n = h = 0, where the model stays uniform. Paper: Eq. (1)."""
    weight, extra = np.broadcast_arrays(np.asarray(n, dtype=np.float64), check_h(h))
    finite = np.where(np.isinf(extra), 1.0, extra)
    w = np.divide(finite, weight + finite, out=np.zeros(weight.shape), where=weight + finite > 0)
    return np.where(np.isinf(extra), 1.0, w)


def reach_formula(counts: Array, total: float, reward: float, parameters: Array) -> tuple[float, float, float]:
    """The formula of PAC-RMDP(h) and BOLT(h): (reach, bonus, radius) = (h / (alpha + h), 0, 0). Paper: Eq. (1)."""
    h = parameters[0]
    if np.isinf(h):
        return 1.0, 0.0, 0.0
    if total + h == 0.0:
        return 0.0, 0.0, 0.0
    return h / (total + h), 0.0, 0.0


def check_h(h: ArrayLike) -> Array:
    """h as an array of numbers of at least 0 (infinity allowed: every model is within reach)."""
    try:
        result = np.asarray(h)
    except ValueError:
        result = np.asarray("ragged")
    if result.dtype.kind not in "iuf":
        raise InputError(f"h is {shown(h)}, but must be a number, an array or a function of the counts.")
    result = result.astype(np.float64)
    require(bool(np.all(result >= 0)), "h", h, "at least 0 (infinity is allowed, nan is not)")
    return result


def most_optimistic_model(counts: Array, h: ArrayLike, target: Array) -> Array:
    """Reachable models that maximise sum_s' P~(s') target(s'): shapes (..., S). Paper: Eq. (1)."""
    w = reach_weight(counts.sum(axis=-1), h)[..., None]
    best = np.eye(counts.shape[-1])[np.argmax(np.broadcast_to(target, counts.shape), axis=-1)]
    return np.asarray((1 - w) * predict(counts) + w * best)


def best_reachable_model(counts: Array, h: ArrayLike, truth: Array) -> Array:
    """P^{d*}_{L,t,h}: reachable models nearest to `truth` in L1, shapes (..., S); h whole, or infinite.

    Where several are equally near, samples go to the states with the largest deficits, lowest index first; values do
    not depend on numbers in `hreach.reach.nearest`.
    """
    extra = np.broadcast_to(check_h(h), counts.shape[:-1])
    whole = np.isinf(extra) | (extra == np.floor(extra))
    require(bool(whole.all()), "h", h, "a whole number of samples, or infinite")
    rows = counts.reshape(-1, counts.shape[-1])
    result = predict(rows)
    for i, (row, p, h_i) in enumerate(zip(rows, truth.reshape(rows.shape), extra.reshape(-1), strict=True)):
        if np.isinf(h_i):
            result[i] = p
        elif h_i > 0:
            result[i] = (row + _allocate(row, int(h_i), p)) / (row.sum() + h_i)
    return result.reshape(counts.shape)


def _allocate(counts: Array, h: int, truth: Array) -> Array:
    """Number of samples (S,) for each possible next state; O(S log S)."""
    deficit = np.where(truth > 0, np.round((counts.sum() + h) * truth - counts, DIGITS), 0)
    units = np.maximum(np.floor(deficit), 0)
    spare = int(units.sum()) - h
    if spare >= 0:  # every unit gains the same: drop the surplus from the smallest deficits
        order = np.argsort(-deficit, kind="stable")
        kept = np.diff(np.minimum(np.cumsum(units[order]), h), prepend=0.0)
        return np.asarray(kept[np.argsort(order, kind="stable")])
    remainder = np.where(truth > 0, np.round(deficit - units, DIGITS), -np.inf)
    units[np.argsort(-remainder, kind="stable")[:-spare]] += 1
    return units
