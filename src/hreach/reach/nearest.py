"""The h-reachable models nearest to the truth and their value, for all pairs at once: V^{d*}_{L,t,h}.

    P^{d*}(.|s, a) = argmin ||P - truth(.|s, a)||_1   over the models P = (alpha + k)/(n + h),  n = sum_s' alpha(s'),

k(s') whole samples of next states that are possible, sum_s' k(s') = h: exactly h, as the paper's recursion has it, so
the truth can be nearer with fewer. With the deficit d = (n + h) truth - alpha the distance is sum_s' |k - d|/(n + h).
A unit of k gains 1 where 1 or more of d is left, 2 f - 1 where only f < 1 is left, and -1 after that: gains fall
within a state, so taking the largest first is exact. Deficits of possible states add up to h or more, so the floors
of the positive ones and the largest remainders are all it takes: one sort of a row, O(|S| log |S|), whatever h is.

The nearest model is not always unique, and then V^{d*} is not either: units that gain the same can go to different
states, whose values differ. All nearest models of a pair are

    k = shared + x,   0 <= x <= spare,   sum_s' x(s') = left,

and `ties` says which of them counts. None of the first two depends on how the states are numbered:

    "largest"   the one of the largest value: Lemma 1 and Theorem 1 hold for it, hence for all of them
    "least"     the one of the least value
    "first"     largest deficit first, then lowest index, as `hreach.reach.weight.best_reachable_model` has it

An outcome is a next state or, where episodes can end, one of K = 2 |S|: going on to each state, then ending there.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.errors import require, whole
from hreach.models.counts import predict
from hreach.problems.mdp import TabularMDP
from hreach.problems.solving import IMPROVES, Optimum, Policy, best_policy, solved
from hreach.reach.weight import DIGITS

Array = NDArray[np.float64]
Ties = Literal["largest", "least", "first"]
TIES: tuple[Ties, ...] = get_args(Ties)


class NearestModels:
    """All reachable models nearest to the truth; counts and truth (..., K), h whole. Paper: definition of V^{d*}."""

    def __init__(self, counts: Array, h: int, truth: Array) -> None:
        extra = whole("h", h, 0)
        require(counts.shape == truth.shape, "counts shape", counts.shape, f"that of the truth, {truth.shape}")
        self._counts = counts.reshape(-1, counts.shape[-1])
        self._shape, self._weight = counts.shape, self._counts.sum(axis=1, keepdims=True) + extra
        nearest = _allocations(self._counts, extra, truth.reshape(self._counts.shape))
        self._shared, self._spare, self._left = nearest.shared, nearest.spare, nearest.left
        self._open = np.flatnonzero(self._spare.sum(axis=1) > self._left)
        given = _filled(self._spare, self._left, np.argsort(-nearest.rank, axis=1, kind="stable"))
        models = (self._counts + self._shared + given) / self._weight if extra else predict(self._counts)
        self.first = models.reshape(counts.shape)

    @property
    def unique(self) -> bool:
        """Whether every pair has one nearest model only."""
        return self._open.size == 0

    def toward(self, target: Array) -> Array:
        """The nearest models of the largest sum_s' P(s') target(s'), shapes (..., K)."""
        if self.unique:
            return self.first
        wanted = np.broadcast_to(target, self._shape).reshape(self._counts.shape)[self._open]
        order = np.argsort(-wanted, axis=1, kind="stable")
        given = _filled(self._spare[self._open], self._left[self._open], order)
        flat = self.first.reshape(self._counts.shape).copy()
        flat[self._open] = (self._counts + self._shared)[self._open] + given
        flat[self._open] /= self._weight[self._open]
        return flat.reshape(self._shape)


def best_models(counts: Array, h: int, truth: Array) -> Array:
    """P^{d*}_{L,t,h} of every pair, shapes (..., K), ties "first"; h whole. Paper: definition of V^{d*}."""
    return NearestModels(counts, h, truth).first


def reachable_value(counts: Array, h: float, mdp: TabularMDP, ties: Ties = "largest") -> Array:
    """V^{d*}_{L,t,h}, (S,), of counts (S, A, S) in an MDP whose episodes do not end; h whole, or infinite: V*."""
    truth = mdp.transitions()
    require(counts.shape == truth.shape, "counts shape", counts.shape, f"the MDP's (S, A, S) = {truth.shape}")
    if h == np.inf:
        return mdp.optimal_value()
    return reachable_optimum(counts, whole("h", h, 0), truth, mdp.reward_table(), mdp.gamma, ties=ties).value


def reachable_optimum(
    counts: Array,
    h: int,
    truth: Array,
    reward: Array,
    gamma: float,
    policy: Policy | None = None,
    *,
    ties: Ties = "largest",
    worthless: ArrayLike = False,
) -> Optimum:
    """V^{d*}_{L,t,h} and an optimal policy under the best reachable models. Paper: definition of V^{d*}.

    counts, truth: (S, A, K), K = S or 2 S; reward: (S, A) or (S, A, S). `worthless` (S,): states that nothing follows.
    `policy` is where to begin; the result is exact from any.
    """
    require(ties in TIES, "ties", ties, " or ".join(repr(t) for t in TIES))
    nearest = NearestModels(counts, h, truth)
    goes_on = ~np.broadcast_to(np.asarray(worthless, dtype=np.bool_), (len(counts),))[:, None]
    if nearest.unique or ties == "first":
        return optimum(nearest.first * goes_on[..., None], reward, gamma, policy)
    return _among(nearest, goes_on, _per_outcome(reward, counts.shape), gamma, policy, 1 if ties == "largest" else -1)


def _among(
    nearest: NearestModels, goes_on: NDArray[np.bool_], reward: Array, gamma: float, policy: Policy | None, sign: int
) -> Optimum:
    """Policy iteration in which the models are chosen too: for the actions (sign 1), or against them (-1).

    reward: (S, A, K), or (S, A, 1). For: every step improves model and action at once. Against: for each policy the
    worst models are found first (Hoffman & Karp 1966), so the values of the policies rise.
    """
    states = np.arange(len(reward))
    model = nearest.first * goes_on[..., None]
    chosen = np.argmax((model * reward).sum(axis=2), axis=1) if policy is None else policy
    while True:
        here = model[states, chosen]
        value = solved(here[:, : states.size], (here * reward[states, chosen]).sum(axis=1), gamma)
        worth = np.pad(value, (0, model.shape[2] - states.size))
        target = reward + gamma * worth
        model = nearest.toward(sign * target) * goes_on[..., None]
        q = (model * target).sum(axis=2)
        gain = (q[states, chosen] - value) * sign
        close = IMPROVES * np.maximum(1.0, np.abs(value))
        if sign < 0 and (gain > close).any():
            continue
        worse = q.max(axis=1) > value + close
        if not worse.any():
            return Optimum(value, chosen)
        chosen = np.where(worse, q.argmax(axis=1), chosen)


def optimum(model: Array, reward: Array, gamma: float, policy: Policy | None = None) -> Optimum:
    """V(s) = max_a sum_s' model(s'|s, a) [R + gamma V(s')], exact.

    model: (S, A, K), K = S, or 2 S if the second half ends the episode; reward: (S, A) or (S, A, S).
    """
    states = len(model)
    mean = model.sum(axis=2) * reward if reward.ndim == 2 else (model * _per_outcome(reward, model.shape)).sum(axis=2)
    return best_policy(model[..., :states].reshape(-1, states), mean, gamma, policy)


def _per_outcome(reward: Array, shape: tuple[int, ...]) -> Array:
    """The reward of each outcome, (S, A, K), or (S, A, 1): ending in s' pays what going on to it does."""
    return reward[..., None] if reward.ndim == 2 else np.tile(reward, shape[2] // reward.shape[2])


class _Allocations(NamedTuple):
    """Where the h samples of a nearest model may go; shapes (N, K), left (N,). `rank`: who comes first, if "first"."""

    shared: Array
    spare: Array
    left: Array
    rank: Array


def _allocations(counts: Array, h: int, truth: Array) -> _Allocations:
    """Of each row; counts and truth (N, K).

    Rows with h whole units or more share none of them and may take any; the others share all whole units and the
    remainders above the last that is needed, and may take any of those equal to it.
    """
    possible = truth > 0
    deficit = np.where(possible, np.round((counts.sum(axis=1, keepdims=True) + h) * truth - counts, DIGITS), 0.0)
    units = np.maximum(np.floor(deficit), 0.0)
    missing = h - units.sum(axis=1)
    remainder = np.where(possible, np.round(deficit - units, DIGITS), -np.inf)
    falling = -np.sort(-remainder, axis=1)
    last = np.take_along_axis(falling, np.clip(missing, 1, truth.shape[1]).astype(np.int64)[:, None] - 1, axis=1)
    enough = (missing <= 0)[:, None]
    above = remainder > last
    return _Allocations(
        shared=np.where(enough, 0.0, units + above),
        spare=np.where(enough, units, remainder == last),
        left=np.where(enough[:, 0], h, missing - above.sum(axis=1)),
        rank=np.where(enough, deficit, 0.0),
    )


def _filled(spare: Array, left: Array, order: NDArray[np.int64]) -> Array:
    """x, (N, K): `left` units, first come first served in this order."""
    taken = np.minimum(np.cumsum(np.take_along_axis(spare, order, axis=1), axis=1), left[:, None])
    result = np.empty_like(spare)
    np.put_along_axis(result, order, np.diff(taken, axis=1, prepend=0.0), axis=1)
    return result
