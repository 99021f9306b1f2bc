"""Value iteration under optimism in plain NumPy: what `hreach.kernels.plan` computes, without its speed.

    Q(s, a) = b + (1 - w) max_{p' in B(p, e)} sum_s' p'(s') u(s') + w max_s' u(s'),   u(s') = R(s, a, s') + gamma V(s')
    T V(s)  = min(max_a Q(s, a), cap)

with the reach w, bonus b and radius e of each pair. T is a gamma-contraction: max |TV - TV'| <= gamma max |V - V'|.
So if max |TV - V| <= tolerance, TV is within gamma tolerance / (1 - gamma) of the fixed point V~.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Hopes:
    """What an agent holds possible: model (S, A, S); reach, bonus, radius (S, A); reward (S, A, 1) or (S, A, S)."""

    model: Array
    reach: Array
    bonus: Array
    radius: Array
    reward: Array
    gamma: float
    cap: float = np.inf


def hopes(formula: Any, counts: Array, reward: Array, parameters: Array, gamma: float, cap: float = np.inf) -> Hopes:
    """The hopes of an agent that knows the reward, pair by pair from its formula; parameters: (S, A, P)."""
    states, actions, _ = counts.shape
    total = counts.sum(axis=2)
    triple = np.array(
        [[formula(counts[s, a], total[s, a], 0.0, parameters[s, a]) for a in range(actions)] for s in range(states)]
    )
    model = np.divide(counts, total[..., None], out=np.full_like(counts, 1 / states), where=total[..., None] > 0)
    return Hopes(model, triple[..., 0], triple[..., 1], triple[..., 2], reward, gamma, cap)


def backup(given: Hopes, value: Array) -> Array:
    """Q, shape (S, A), of a value (S,)."""
    target = np.broadcast_to(given.reward + given.gamma * value, given.model.shape)
    mean = ball_maximum(given.model, given.radius, target)
    q = given.bonus + (1 - given.reach) * mean + given.reach * target.max(axis=2)
    return np.asarray(np.minimum(q, given.cap))


def ball_maximum(model: Array, radius: Array, target: Array) -> Array:
    """max of sum_s' p'(s') target(s') over distributions p' within L1 distance `radius` of `model`: shape (...).

    Half the radius moves to the best state, from the worst ones upward (Strehl & Littman 2008): exact.
    """
    order = np.argsort(target, axis=-1, kind="stable")
    p = np.take_along_axis(model, order, axis=-1)
    u = np.take_along_axis(target, order, axis=-1)
    moved = np.minimum(radius[..., None] / 2, 1 - p[..., -1:])
    lost = np.minimum(np.cumsum(p[..., :-1], axis=-1), moved)
    taken = np.diff(lost, axis=-1, prepend=0)
    gain = moved[..., 0] * u[..., -1] - (taken * u[..., :-1]).sum(axis=-1)
    return np.asarray((p * u).sum(axis=-1) + gain)


def value_iteration(given: Hopes, start: Array, tolerance: float) -> tuple[Array, Array, int, float]:
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
