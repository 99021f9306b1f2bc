"""Value iteration under optimism in plain NumPy: what `hreach.kernels.plan` computes, without its speed.

    Q(s, a) = b + (1 - w) max_{p' in B(p, e)} sum_s' p'(s') u(s') + w max_s' u(s'),   u(s') = R(s, a, s') + gamma V(s')
    T V(s)  = min(max_a Q(s, a), cap)

with the reach w, bonus b and radius e of each pair. T is a gamma-contraction: max |TV - TV'| <= gamma max |V - V'|.
So if max |TV - V| <= tolerance, TV is within gamma tolerance / (1 - gamma) of the fixed point V~.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, Formula


@dataclass(frozen=True)
class Optimistic:
    """A model under optimism: model (S, A, K); reach, bonus, radius (S, A); reward (S, A, 1) or (S, A, S).

    K = S, or S + 1 where episodes can end: the last outcome is the end, which pays `parting` (S, A) (beyond a reward
    that does not depend on s') and at best `best_end`, and after which nothing follows.
    """

    model: Array
    reach: Array
    bonus: Array
    radius: Array
    reward: Array
    gamma: float
    cap: float = np.inf
    parting: Array | None = None
    best_end: Array | None = None


def optimistic(
    formula: Formula,
    counts: Array,
    reward: Array,
    parameters: Array,
    gamma: float,
    cap: float = np.inf,
    ended: Array | None = None,
    closed: NDArray[np.bool_] | None = None,
) -> Optimistic:
    """The model under the optimism of an agent that knows the reward, by its formula; parameters: (S, A, P).

    ended: (S, A, S), where episodes can end; closed: (S,), the states that are worth nothing.
    """
    states, actions, _ = counts.shape
    total = counts.sum(axis=2)
    triple = np.array(
        [[formula(counts[s, a], total[s, a], 0.0, parameters[s, a]) for a in range(actions)] for s in range(states)]
    )
    model = np.divide(counts, total[..., None], out=np.full_like(counts, 1 / states), where=total[..., None] > 0)
    given = Optimistic(model, triple[..., 0], triple[..., 1], triple[..., 2], reward, gamma, cap)
    return given if ended is None or closed is None else _with_end(given, total, ended, closed)


def _with_end(given: Optimistic, total: Array, ended: Array, closed: NDArray[np.bool_]) -> Optimistic:
    """Set the end apart: what ended in open states; closed states pay nothing and lead nowhere."""
    share = np.divide(ended * ~closed, total[..., None], out=np.zeros_like(ended), where=total[..., None] > 0)
    gone = share.sum(axis=2)
    pays = np.broadcast_to(given.reward, ended.shape)
    parting = np.divide((share * pays).sum(axis=2), gone, out=np.zeros_like(gone), where=gone > 0)
    model = np.concatenate([given.model - share, gone[..., None]], axis=2)
    reach, bonus, radius, reward = (x.copy() for x in (given.reach, given.bonus, given.radius, given.reward))
    best_end = pays.max(axis=2)
    for x in (model, reach, bonus, radius, reward, parting, best_end):
        x[closed] = 0.0
    if reward.shape[2] == 1:
        parting = best_end = reward[..., 0]
    return Optimistic(model, reach, bonus, radius, reward, given.gamma, given.cap, parting, best_end)


def backup(given: Optimistic, value: Array) -> Array:
    """Q, shape (S, A), of a value (S,)."""
    states, actions = given.reach.shape
    target = np.broadcast_to(given.reward + given.gamma * value, (states, actions, states))
    best = target.max(axis=2)
    if given.parting is not None and given.best_end is not None:
        target = np.concatenate([target, given.parting[..., None]], axis=2)
        best = np.maximum(best, given.best_end)
    mean = ball_maximum(given.model, given.radius, target, best)
    q = given.bonus + (1 - given.reach) * mean + given.reach * best
    return np.asarray(np.minimum(q, given.cap))


def ball_maximum(model: Array, radius: Array, target: Array, best: Array | None = None) -> Array:
    """max of sum_s' p'(s') target(s') over distributions p' within L1 distance `radius` of `model`: shape (...).

    Half the radius moves to the best outcome, worth max target or `best` (...) if that is given and more, from the
    worst ones upward (Strehl & Littman 2008): exact.
    """
    order = np.argsort(target, axis=-1, kind="stable")
    p = np.take_along_axis(model, order, axis=-1)
    u = np.take_along_axis(target, order, axis=-1)
    top = u[..., -1] if best is None else np.maximum(best, u[..., -1])
    lost = np.minimum(np.cumsum(p, axis=-1), radius[..., None] / 2)
    taken = np.diff(lost, axis=-1, prepend=0)
    return np.asarray((p * u).sum(axis=-1) + (taken * (top[..., None] - u)).sum(axis=-1))


def value_iteration(given: Optimistic, start: Array, tolerance: float) -> tuple[Array, Array, int, float]:
    """Sweep V <- TV from `start` until max |TV - V| <= tolerance: (TV, Q of V, sweeps, residual)."""
    value = start
    sweeps = 0
    while True:
        q = backup(given, value)
        following = q.max(axis=1)
        residual = float(np.abs(following - value).max())
        value = following
        sweeps += 1
        if residual <= tolerance:
            return value, q, sweeps, residual
