"""Appendix A3: T-step regret and average loss, and their h-reachable versions, measured on runs.

Time is t = 0, ..., T, rewards r_0, ..., r_T are on the last axis, and V(s_t, T) counts what is paid from t to T:

    V*(s_t, T) = E sum_{i=0..T-t} gamma^i r_{t+i} under the optimal policy,    V^A(s_t, T) the same under the agent.

The run's own discounted rewards from t on are an unbiased draw of V^A(s_t, T) for the agent that goes on learning;
average them over runs. For the h-reachable versions put V^{d*}_{L,t,h}(s_t, T) in the place of V*(s_t, T): the same
functions, other values. `regret` and `average_loss` as the appendix prints them; it sums T + 1 terms from t = 0 but
divides by T, and T terms from t = 1 for the h-reachable loss. `form="corrected"` is the mean over the terms there
are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hreach.errors import array, discount, positive, require
from hreach.guarantees.theory.bound import Array, check_form


def returns_to_go(rewards: ArrayLike, gamma: float) -> Array:
    """G_t = sum_{i=0..T-t} gamma^i r_{t+i} for all t, shape (..., T+1): draws of V^A(s_t, T).
    Paper: Appendix Eq. (2).
    """
    g = discount(gamma)
    result = _run("rewards", rewards)
    for t in range(result.shape[-1] - 2, -1, -1):
        result[..., t] += g * result[..., t + 1]
    return result


def regret(best: ArrayLike, rewards: ArrayLike, gamma: float) -> Array:
    """V*(s_0, T) - sum_{i=0..T} gamma^i r_i of each run, shape (...); its mean over runs is r(T).
    Paper: Appendix Eq. (1).

    best: V*(s_0, T), or V^{d*}_{L,0,h}(s_0, T) for the h-reachable regret.
    """
    achieved = returns_to_go(rewards, gamma)[..., 0]
    return np.asarray(_against("best", best, achieved.shape) - achieved)


def average_loss_of_run(
    best: ArrayLike, rewards: ArrayLike, gamma: float, first: int = 0, form: str = "corrected"
) -> Array:
    """Mean over t of V*(s_t, T) - G_t, shape (...); its mean over runs is l(T). Paper: Appendix Eq. (2).

    best: (..., T+1), V*(s_t, T) or V^{d*}_{L,t,h}(s_t, T) at the states of the run. first = 0 is the standard loss,
    first = 1 the sum that A3 prints for the h-reachable one. form="printed" divides by T always; "corrected" by the
    number of terms.
    """
    achieved = returns_to_go(rewards, gamma)
    return average_loss_from_values(_against("best", best, achieved.shape), achieved, first, form)


def average_loss_from_values(best: ArrayLike, achieved: ArrayLike, first: int = 0, form: str = "corrected") -> Array:
    """The same from V*(s_t, T) and V^A(s_t, T), both (..., T+1), where the second is known. Paper: Appendix Eq. (2)."""
    check_form(form, ("printed", "corrected"))
    require(first in (0, 1) and not isinstance(first, bool), "first", first, "0 or 1")
    own = _run("achieved", achieved)
    T = own.shape[-1] - 1
    require(T >= 1, "achieved shape", own.shape, "(..., T + 1) with T at least 1")
    loss = (_against("best", best, own.shape) - own)[..., first:]
    return np.asarray(loss.sum(axis=-1) / (T if form == "printed" else loss.shape[-1]))


def horizon_share(T: int, gamma: float) -> Array:
    """1 - gamma^(T+1-t) for t = 1, ..., T, by which Corollary 1 turns an error over all time into one over T + 1 - t
    steps. Paper: Corollary 1.

    It does so where the error is spread evenly over time, and not in general (`hreach.guarantees.theory.loss`).
    """
    require(isinstance(T, int | np.integer) and T >= 1, "T", T, "a whole number of at least 1")
    return np.asarray(1 - discount(gamma) ** (T + 1.0 - np.arange(1, T + 1)))


def truncation(T: int, gamma: float, r_max: float = 1.0) -> Array:
    """gamma^(T+1-t) r_max/(1-gamma), t = 0, ..., T: how much V(s_t) can exceed V(s_t, T), for rewards in [0, r_max].
    Paper: Appendix Eq. (2).

    With it values over all time, which `hreach.TabularMDP` gives, bound those over T steps: V - truncation <= V(., T)
    <= V.
    """
    require(isinstance(T, int | np.integer) and T >= 1, "T", T, "a whole number of at least 1")
    g = discount(gamma)
    return np.asarray(g ** (T + 1.0 - np.arange(T + 1)) * positive("r_max", r_max) / (1 - g))


def _run(field: str, value: ArrayLike) -> Array:
    x = array(field, value)
    require(x.ndim > 0 and x.shape[-1] > 0, f"{field} shape", x.shape, "(..., steps) with at least one step")
    require(bool(np.isfinite(x).all()), field, "nan or infinite", "finite numbers")
    return x


def _against(field: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    x = array(field, value)
    try:
        return np.broadcast_to(x, shape)
    except ValueError:
        require(False, f"{field} shape", x.shape, f"that of the run, {shape}")
        raise
