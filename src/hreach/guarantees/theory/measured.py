"""What the definitions and Lemma 1 speak of, measured along a run: functions of arrays over its steps.

A run is given by values at the states it visited: V^{d*}_{L,t,h}(s_t) (`hreach.reach.nearest.reachable_value`),
V~(s_t), V_{h=0}(s_t) and V^{A_t}(s_t). Steps are on the last axis; what stands before it (runs) is kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.errors import array, at_least, require
from hreach.guarantees.theory.bound import Array, check_epsilon


def measured_anytime_error(reachable: ArrayLike, achieved: ArrayLike) -> Array:
    """V^{d*}_{L,t,h}(s_t) - V^{A_t}(s_t), the smallest eps_{t,h}; negative where the agent does better.
    Paper: Definition 2.
    """
    best, own = _alike("reachable", reachable, "achieved", achieved)
    return np.asarray(best - own)


def bad_steps(reachable: ArrayLike, achieved: ArrayLike, eps: ArrayLike) -> NDArray[np.int64]:
    """Number of steps with V^{A_t}(s_t) < V^{d*}_{L,t,h}(s_t) - eps, which Theorem 1 bounds. Paper: Definition 1."""
    error = measured_anytime_error(reachable, achieved)
    return np.asarray((error > check_epsilon(eps)[..., None]).sum(axis=-1), dtype=np.int64)


def optimism_slack(internal: ArrayLike, reachable: ArrayLike) -> Array:
    """V~(s_t) - V^{d*}_{L,t,h}(s_t), never negative for Algorithm 1 with that h. Paper: Lemma 1.

    A planner that stops at max |TV - V| < tol may be short by gamma tol/(1-gamma).
    """
    above, best = _alike("internal", internal, "reachable", reachable)
    return np.asarray(above - best)


def first_violation(slack: ArrayLike, tolerance: float = 1e-9) -> int | None:
    """The first step at which `optimism_slack` is below -tolerance, None if there is none. Paper: Lemma 1."""
    below = _steps("slack", slack) < -at_least("tolerance", tolerance, 0)
    require(below.ndim == 1, "slack shape", below.shape, "(steps,), one run")
    return int(np.argmax(below)) if below.any() else None


def measured_exploration_runtime(internal: ArrayLike, current: ArrayLike, eps: ArrayLike) -> NDArray[np.int64]:
    """The smallest tau with |V~(s_t) - V_{h=0}(s_t)| <= eps for all t >= tau, t = 0, 1, ...; the number of steps seen
    if it is not over at the last of them. Paper: Definition 3.
    """
    above, now = _alike("internal", internal, "current", current)
    apart = np.abs(above - now) > check_epsilon(eps)[..., None]
    steps = apart.shape[-1]
    last = steps - 1 - np.argmax(apart[..., ::-1], axis=-1)
    return np.asarray(np.where(apart.any(axis=-1), last + 1, 0), dtype=np.int64)


def exploring_steps(internal: ArrayLike, current: ArrayLike, eps: ArrayLike) -> NDArray[np.int64]:
    """Number of steps with |V~(s_t) - V_{h=0}(s_t)| > eps, which is what the proof of Corollary 2 bounds.
    Paper: Corollary 2.
    """
    above, now = _alike("internal", internal, "current", current)
    return np.asarray((np.abs(above - now) > check_epsilon(eps)[..., None]).sum(axis=-1), dtype=np.int64)


def _alike(one: str, a: ArrayLike, other: str, b: ArrayLike) -> tuple[Array, Array]:
    x, y = _steps(one, a), _steps(other, b)
    require(x.shape == y.shape, f"{other} shape", y.shape, f"that of {one}, {x.shape}")
    return x, y


def _steps(field: str, value: ArrayLike) -> Array:
    x = array(field, value)
    require(x.ndim > 0 and x.shape[-1] > 0, f"{field} shape", x.shape, "(..., steps) with at least one step")
    require(not bool(np.isnan(x).any()), field, "nan", "numbers")
    return x
