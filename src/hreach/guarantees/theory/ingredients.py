"""The parts that the proof of Theorem 1 is made of: Lam, H', how far values are off, and m.

Notation and forms are those of `hreach.guarantees.theory.discrete`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hreach.errors import require
from hreach.guarantees.theory.bound import Array, Form, check_delta, check_epsilon, check_form, check_samples
from hreach.guarantees.theory.proof import checked_accuracy, horizon_of, known_threshold_at, log_models_at
from hreach.problems.sizes import Sizes


def log_models(sizes: Sizes, delta: ArrayLike) -> Array:
    """Lam = ln(2^(|S|+1) |S||A|/delta) = (|S|+1) ln 2 + ln(|S||A|) - ln delta. Paper: Theorem 1 (proof)."""
    return log_models_at(sizes, -np.log(check_delta(delta)))


def horizon(sizes: Sizes, eps: ArrayLike) -> Array:
    """H' = 1/(1-gamma) ln(6 r_max/(eps (1-gamma))), 0 where that is negative. Paper: Theorem 1 (proof).

    What comes after H' steps is worth gamma^H' V <= exp(-(1-gamma) H') V = eps/6.
    """
    return horizon_of(sizes, check_epsilon(eps), 6.0)


def optimism_gap(sizes: Sizes, n: ArrayLike, h: ArrayLike, form: Form = "corrected") -> Array:
    """How far V~ can be above the value with h = 0 when every pair has n samples or more. Paper: Theorem 1 (proof).

    printed, proof   V h/n                          infinite for n = 0 < h
    corrected        g V h/((1-gamma) n + h)        g = gamma for rewards R(s, a), 1 for R(s, a, s')

    Corrected: with w = h/(n+h) the gap is D <= w g V + (1 - w) gamma D, and the bound is attained. It never exceeds V;
    the printed one holds for R(s, a) if gamma <= 1/2, and for R(s, a, s') only while n <= h/gamma.
    """
    check_form(form)
    n_, h_ = np.broadcast_arrays(check_samples("n", n), check_samples("h", h))
    corrected = form == "corrected"
    below = (1 - sizes.gamma) * n_ + h_ if corrected else n_
    share = np.divide(h_, below, out=np.where(h_ > 0, np.inf, np.zeros(h_.shape)), where=below > 0)
    lead = sizes.gamma if corrected and not sizes.per_transition else 1.0
    return np.asarray(lead * sizes.top * share)


def estimation_gap(sizes: Sizes, n: ArrayLike, delta: ArrayLike, form: Form = "corrected") -> Array:
    """How far a policy's value under the sample mean can be from the truth, every pair having n > 0 samples or more.

    printed, proof   V sqrt(2 Lam/n)
    corrected        kappa/2 sqrt(2 Lam/n)      (a model at L1 distance e moves the mass e/2)

    With probability at least 1 - delta/2, for all later times as well. Paper: Theorem 1 (proof).
    """
    check_form(form)
    n_ = check_samples("n", n)
    require(bool(np.all(n_ > 0)), "n", n, "above 0")
    half = 0.5 if form == "corrected" else 1.0
    return np.asarray(half * sizes.error_scale(form) * np.sqrt(2 * log_models(sizes, delta) / n_))


def known_threshold(sizes: Sizes, eps: ArrayLike, delta: ArrayLike, h: ArrayLike, form: Form = "corrected") -> Array:
    """m: with m samples a pair is known, its part in the error of a value at most eps/3. Paper: Theorem 1 (proof).

    Both gaps have to be eps/6 at most; the larger number is that of the proof's case, h <= sqrt(2 m Lam) or not:

    printed     72 V^2 Lam/eps^2 if h <= 12 V Lam/eps, else h V/(6 eps)   falls by a factor of 36 there (point 2)
    proof       max(72 V^2 Lam/eps^2, 6 V h/eps)                          printed for small h, 36 times it for large
    corrected   max(18 kappa^2 Lam/eps^2, 6 kappa h/eps)                  proof times (kappa/(2V))^2, or kappa/V
    """
    e, d, x = checked_accuracy(eps, delta, h)
    check_form(form)
    return known_threshold_at(sizes, e, -np.log(d), x, form)
