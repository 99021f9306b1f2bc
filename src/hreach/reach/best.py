"""The h-reachable models nearest to the truth and their value, for all pairs at once: V^{d*}_{L,t,h}.

    P^{d*}(.|s, a) = argmin ||P - truth(.|s, a)||_1   over the models P = (alpha + k)/(n + h),  n = sum_s' alpha(s'),

k(s') whole samples of next states that are possible, sum_s' k(s') = h: exactly h, as the paper's recursion has it, so
the truth can be nearer with fewer. With the deficit d = (n + h) truth - alpha the distance is sum_s' |k - d|/(n + h).
A unit of k gains 1 where 1 or more of d is left, 2 f - 1 where only f < 1 is left, and -1 after that: gains fall
within a state, so taking the largest first is exact. Deficits of possible states add up to h or more, so the floors
of the positive ones and the largest remainders are all it takes: one sort of a row, O(|S| log |S|), whatever h is.

Among models that are equally near, `hreach.reach.counts.best_reachable_model` (one pair at a time, in plain steps)
chooses the same: largest deficit first, then lowest index.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hreach.errors import require, whole
from hreach.models.counts import predict

Array = NDArray[np.float64]
Policy = NDArray[np.int64]
_IMPROVES = 1e-12  # relative gain below which another action does not count as better


class Optimum(NamedTuple):
    """value: (S,), policy: (S,) actions that attain it."""

    value: Array
    policy: Policy


def best_models(counts: Array, h: int, truth: Array) -> Array:
    """P^{d*}_{L,t,h} of every pair, shapes (..., S); h whole. Paper: definition of V^{d*}."""
    extra = whole("h", h, 0)
    require(counts.shape == truth.shape, "counts shape", counts.shape, f"that of the truth, {truth.shape}")
    if extra == 0:
        return predict(counts)
    samples = _allocation(counts, extra, truth)
    return np.asarray((counts + samples) / (counts.sum(axis=-1, keepdims=True) + extra))


def reachable_optimum(
    counts: Array, h: int, truth: Array, reward: Array, gamma: float, policy: Policy | None = None
) -> Optimum:
    """V^{d*}_{L,t,h} and an optimal policy under the best reachable models. Paper: definition of V^{d*}.

    counts, truth: (S, A, S); reward: (S, A) or (S, A, S). `policy` is where to begin; the result is exact from any.
    """
    return optimum(best_models(counts, h, truth), reward, gamma, policy)


def optimum(model: Array, reward: Array, gamma: float, policy: Policy | None = None) -> Optimum:
    """V(s) = max_a sum_s' model(s'|s, a) [R + gamma V(s')] by policy iteration, each policy solved exactly.

    model: (S, A, S); reward: (S, A) or (S, A, S).
    """
    income = reward if reward.ndim == 2 else np.einsum("ijk,ijk->ij", model, reward)
    states = np.arange(len(model))
    chosen = np.argmax(income, axis=1) if policy is None else policy
    while True:
        value = solved(model[states, chosen], income[states, chosen], gamma)
        q = income + gamma * (model @ value)
        best = q.max(axis=1)
        worse = q[states, chosen] < best - _IMPROVES * np.maximum(1.0, np.abs(best))
        if not worse.any():
            return Optimum(value, chosen)
        chosen = np.where(worse, q.argmax(axis=1), chosen)


def solved(chain: Array, income: Array, gamma: float) -> Array:
    """V = income + gamma chain V, shapes (S, S) and (S,): the value of one policy."""
    return np.asarray(np.linalg.solve(np.eye(len(chain)) - gamma * chain, income))


def _allocation(counts: Array, h: int, truth: Array) -> Array:
    """k, shape (..., S): how many of the h samples of each pair go to each next state."""
    possible = truth > 0
    total = counts.sum(axis=-1, keepdims=True) + h
    deficit = np.where(possible, total * truth - counts, 0.0)
    units = np.maximum(np.floor(deficit), 0.0)
    missing = h - units.sum(axis=-1, keepdims=True)
    enough = missing <= 0
    # Rows with enough whole units drop the surplus from the smallest deficits; the others hand out the rest to the
    # largest remainders. Either way it is a matter of who comes first.
    key = np.where(enough, deficit, np.where(possible, deficit - units, -np.inf))
    order = np.argsort(-key, axis=-1, kind="stable")
    sorted_units = np.take_along_axis(units, order, axis=-1)
    kept = np.diff(np.minimum(np.cumsum(sorted_units, axis=-1), h), axis=-1, prepend=0.0)
    topped = sorted_units + (np.arange(counts.shape[-1]) < missing)
    result = np.empty_like(units)
    np.put_along_axis(result, order, np.where(enough, kept, topped), axis=-1)
    return result
