"""Orders: the statements with an open constant, as the paper prints them, to be compared with the rivals'.

The constant is 1 unless given. Rewards are in [0, 1]: eps is divided by r_max, or by what takes its place
(`hreach.guarantees.theory.discrete`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from hreach.errors import positive
from hreach.guarantees.theory.bound import (
    Array,
    Bound,
    check_any_delta,
    check_delta,
    check_epsilon,
    check_probability,
    check_samples,
    check_steps,
    no_probability,
    too_coarse,
)
from hreach.guarantees.theory.proof import checked_accuracy
from hreach.problems.sizes import Sizes


def sample_complexity_order(sizes: Sizes, eps: ArrayLike, delta: ArrayLike, h: ArrayLike, constant: float = 1) -> Bound:
    """z |S||A|/(eps^2 (1-gamma)^2) ln(|S||A|/delta), z = max(h, ln(2^|S| |S||A|/delta)/(eps (1-gamma))).
    Paper: Theorem 1.

    An order: the constant is open (1 unless given), and rewards are in [0, 1], eps being divided by r_max.
    """
    e, d, x = checked_accuracy(eps, delta, h)
    with np.errstate(over="ignore"):
        z = np.maximum(x, _log_order(sizes, d) * sizes.top / e)
        steps = positive("constant", constant) * z * _per_sample(sizes, d) * (sizes.top / e) ** 2
    return Bound.of(steps, too_coarse(e, sizes.top))


def anytime_error_order(sizes: Sizes, t: ArrayLike, delta: ArrayLike, h: ArrayLike, constant: float = 1) -> Bound:
    """The cube root and the square root of Corollary 1, whichever is larger. Paper: Corollary 1.

    The larger one belongs to the case that holds, so this is the exact inverse of `sample_complexity_order`.
    """
    t_, d, x = np.broadcast_arrays(check_steps("t", t), check_delta(delta), check_samples("h", h))
    base = positive("constant", constant) * _per_sample(sizes, d) / t_
    eps = sizes.top * np.maximum(np.cbrt(base * _log_order(sizes, d)), np.sqrt(base * x))
    return Bound.of(eps, too_coarse(eps, sizes.top))


def explicit_exploration_order(
    sizes: Sizes, eps: ArrayLike, delta: ArrayLike, h: ArrayLike, escape: ArrayLike | None = None, constant: float = 1
) -> Bound:
    """h |S||A|/(eps (1-gamma) Pr[A_K]) ln(|S||A|/delta), Pr[A_K] = eps (1-gamma) unless given. Paper: Corollary 2."""
    e, d, x = checked_accuracy(eps, delta, h)
    p = check_probability("escape", escape) if escape is not None else e / sizes.top
    with np.errstate(over="ignore"):
        steps = positive("constant", constant) * x * _per_sample(sizes, d) * sizes.top / e / p
    return Bound.of(steps, too_coarse(e, sizes.top))


def mbie_sample_complexity(sizes: Sizes, eps: ArrayLike, delta: ArrayLike, constant: float = 1) -> Bound:
    """MBIE's order, its constant open (1 unless given). Paper: Remark 1.

    |S||A|/(eps^3 (1-gamma)^6) (|S| + ln(|S||A|/(eps (1-gamma) delta))) ln(1/delta) ln(1/(eps (1-gamma)))

    for rewards in [0, 1]; eps is divided by r_max, and a factor that is negative counts as 0 (then it is vacuous).
    delta >= 1, as in the paper's experiments, is allowed and reported.
    """
    e, d = np.broadcast_arrays(check_epsilon(eps), check_any_delta(delta))
    ratio = sizes.top / e
    with np.errstate(over="ignore"):
        inner = np.maximum(sizes.states + math.log(sizes.pairs) + np.log(ratio) - np.log(d), 0)
        scale = sizes.pairs * (ratio / (1 - sizes.gamma)) ** 3
        steps = scale * inner * np.maximum(-np.log(d), 0) * np.maximum(np.log(ratio), 0)
    return Bound.of(positive("constant", constant) * steps, too_coarse(e, sizes.top), no_probability(d))


def bolt_sample_complexity(sizes: Sizes, eps: ArrayLike, delta: ArrayLike, H: ArrayLike, constant: float = 1) -> Bound:
    """BOLT's order H^2 |S||A|/(eps^2 (1-gamma)^2) ln(|S||A|/delta), its constant open (1 unless given).
    Paper: Remark 2.

    Steps that are not near-Bayes optimal; H is the planning horizon (`hreach.optimism.bolt.horizon`).
    """
    e, d, H_ = np.broadcast_arrays(check_epsilon(eps), check_any_delta(delta), check_steps("H", H))
    with np.errstate(over="ignore"):
        steps = H_**2 * np.maximum(_per_sample(sizes, d), 0) * (sizes.top / e) ** 2
    return Bound.of(positive("constant", constant) * steps, too_coarse(e, sizes.top), no_probability(d))


def _log_order(sizes: Sizes, delta: Array) -> Array:
    """ln(2^|S| |S||A|/delta), as the statement of Theorem 1 has it."""
    return np.asarray(sizes.states * math.log(2) + math.log(sizes.pairs) - np.log(delta))


def _per_sample(sizes: Sizes, delta: Array) -> Array:
    return np.asarray(sizes.pairs * (math.log(sizes.pairs) - np.log(delta)))
