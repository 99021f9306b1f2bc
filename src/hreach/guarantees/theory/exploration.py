"""Algorithm 1: the explicit exploration runtime (Corollary 2), with explicit constants.

Notation and forms are those of `hreach.guarantees.theory.discrete`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from hreach.guarantees.theory.bound import Array, Bound, Form, check_form, check_probability, too_coarse
from hreach.guarantees.theory.proof import checked_accuracy, horizon_of
from hreach.problems.sizes import Sizes


def exploration_threshold(
    sizes: Sizes, eps: ArrayLike, delta: ArrayLike, h: ArrayLike, form: Form = "corrected"
) -> Array:
    """m for which known pairs add eps/3 at most to |V~ - V_{h=0}|. Paper: Corollary 2.

    printed     h V/(6 eps)                     the m of Theorem 1 for large h, "z is replaced by h"
    proof       6 V h/eps
    corrected   6 kappa (h + b)/eps,   b = |S| ln(2|S|^2|A|/delta) max(1, 2 gamma/(1-gamma)),   and 0 for h = 0

    z cannot be replaced by h alone. The gap D = V~ - V_{h=0} spreads along the *model*, D <= kappa' h/m + gamma P^ D,
    and the escape event is one of the *true* dynamics; P^ may believe in a way to an unknown pair that is not there.
    For D >= 0 it is enough that P^(s') <= (1 + eta) P(s') + c/(lambda m), c = ln(2|S|^2|A|/delta), lambda = min(eta,
    1), for all s', all pairs and all numbers of samples from m on (Chernoff's E exp(lambda m P^) <= exp(m P (e^lambda
    - 1)), e^lambda - 1 <= lambda (1 + eta); Doob as for Lam), probability 1 - delta/2. With eta = (1-gamma)/(2 gamma)
    the discount gamma (1 + eta) = (1+gamma)/2 is still below 1, and D <= 2/(1-gamma) gamma V (h + |S| c/lambda)/m. So
    the message stands, h enters as it does in Theorem 1, but b is added to it.
    """
    e, d, x = checked_accuracy(eps, delta, h)
    check_form(form)
    with np.errstate(over="ignore"):
        if form == "printed":
            return np.asarray(x * sizes.top / (6 * e))
        believed = _believed(sizes, -np.log(d)) if form == "corrected" else 0.0
        return np.where(x > 0, 6 * sizes.error_scale(form) * (x + believed) / e, 0.0)


def explicit_exploration_runtime(
    sizes: Sizes,
    eps: ArrayLike,
    delta: ArrayLike,
    h: ArrayLike,
    escape: ArrayLike | None = None,
    form: Form = "corrected",
) -> Bound:
    """Steps with |V~(s_t) - V_{h=0}(s_t)| > eps, at most, with probability 1 - delta. Paper: Corollary 2.

    `escape` is Pr[A_K], or a number that it stays above until it is 0; without it the proof's eps/(3V) takes its
    place, for below that an escape costs eps/3 at most. With m from `exploration_threshold`:

    printed, proof   2m/Pr[A_K] |S||A| ln(2|S||A|/delta)
    corrected        (W + 1) 2/Pr[A_K] [|S||A|(m + 1) + ln(2/delta)],   W = 2/(1-gamma) ln(3V/eps) (or 0);   0 for h = 0

    W takes the place of H' because the discount is (1+gamma)/2 in the corrected argument.
    """
    e, d, x = checked_accuracy(eps, delta, h)
    m = exploration_threshold(sizes, e, d, x, form)
    p = check_probability("escape", escape) if escape is not None else e / (3 * sizes.top)
    with np.errstate(over="ignore"):
        if form == "corrected":
            window = 2 * horizon_of(sizes, e, 3.0) + 1
            steps = np.where(x > 0, window * 2 / p * (sizes.pairs * (m + 1) + np.log(2 / d)), 0.0)
        else:
            steps = 2 * m / p * sizes.pairs * (math.log(2 * sizes.pairs) - np.log(d))
    return Bound.of(steps, too_coarse(e, sizes.top))


def _believed(sizes: Sizes, y: Array) -> Array:
    """b of `exploration_threshold`."""
    steep = max(1.0, 2 * sizes.gamma / (1 - sizes.gamma))
    return np.asarray(sizes.states * steep * (math.log(2 * sizes.pairs) + math.log(sizes.states) + y))
