"""Algorithm 1 (discrete domain): Theorem 1, its inverses and its second part, with explicit constants.

The parts of the proof are in `ingredients`, Corollary 2 in `exploration`, Propositions 1 and 2 in `propositions`, and
orders, whose constants are open, in `orders`, with the rivals of Remarks 1 and 2.

Notation: V = v_max - v_min, the range of values (`hreach.problems.ranges`), which is r_max/(1-gamma) for the paper's
rewards in [0, r_max]; the argument only uses that two values differ by V at most, so rewards of any sign and ends of
episodes change nothing else. Lam = ln(2^(|S|+1) |S||A| / delta), so that the first n samples of every pair, and all
later sample means as well, are within sqrt(2 Lam/n) of P in L1 with probability 1 - delta/2 (Weissman et al. 2003,
Theorem 2.1, and a union over pairs; "all later" costs nothing, because sample means are a reverse martingale and Doob's
inequality turns each Chernoff bound at n into one for all n' >= n: an agent that never stops learning loses nothing
here). 2^|S| is never computed.

Where the corrected form differs from the proof of Theorem 1:

1.  A model error counts at every step. The proof turns the error of one step (mass h/m moved by optimism, L1
    distance e) into V (h/m + e). A step's error is worth the range of gamma V~ at most, and it is made 1/(1-gamma)
    times over, so the value is off by
        kappa (h/(m+h) + e/2),    kappa = gamma V/(1-gamma) for rewards R(s, a), V/(1-gamma) for R(s, a, s').
    (Of the first part h/(m+h) kappa is not the least that can be said, see `optimism_gap`, but linear in h/m.)
    V h/m and h* as printed fail for gamma near 1 (tests/paper/test_optimism.py), and so do the counts of Theorem 1
    and Corollary 2 that follow, "printed" and "proof" alike: for large h, optimism fades only after some h/(1-gamma)
    vain steps (tests/guarantees/theory/test_theory_simulated.py). The corrected steps are checked in
    tests/guarantees/theory/test_theory_steps.py.
2.  m = h r_max/(6 eps (1-gamma)) is printed for large h where 2 V h/m = eps/3 needs m = 6 h r_max/(eps (1-gamma)), 36
    times as much ("proof" and "corrected" have it).
3.  An escape is seen after up to H' steps, and the H' windows that begin in one of them overlap, so a trial costs H'
    steps and not one. MBIE's complexity in Remark 1 has this factor, Theorem 1 has lost it.
4.  The union over pairs in the Chernoff step is not needed: all pairs together escape |S||A| m times at most.

What no form repairs: "all but at most tau steps" does not say that the bad steps come first, so "for all t >= tau" in
Definition 1 and Definition 3 and "at time t" in Corollary 1 read more into Theorem 1 than it says. And the argument
follows one policy through a window of H' steps. So Theorem 1 and its corollaries, in every form, are proved for an
agent that stops learning a pair after m samples, as MBIE does: `make_agent("pac-rmdp", ..., freeze_at="theory")`.
Algorithm 1 as printed keeps learning and may change its policy inside the window (`PROVED_FOR`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from hreach.guarantees.theory.bound import (
    Array,
    Bound,
    Form,
    check_delta,
    check_epsilon,
    check_form,
    check_samples,
    check_steps,
    largest_within,
    too_coarse,
)
from hreach.guarantees.theory.proof import (
    case_changes_at,
    checked_accuracy,
    few_samples,
    horizon_of,
    known_threshold_at,
    log_models_at,
)
from hreach.problems.sizes import Sizes

PROVED_FOR = 'an agent that stops learning a pair after m samples: freeze_at="theory"'
BELOW_HORIZON = "t is below the horizon H' of this error: no such error can have been seen yet"


def sample_complexity(sizes: Sizes, eps: ArrayLike, delta: ArrayLike, h: ArrayLike, form: Form = "corrected") -> Bound:
    """Steps tau: for all but tau steps V^{A_t}(s_t) >= V^{d*}_{L,t,h}(s_t) - eps, with probability 1 - delta.
    Paper: Theorem 1.

    With m from `known_threshold`, a step can be bad only if Pr[A_K], the chance of meeting an unknown pair in the
    next H' steps, exceeds p = eps/(3V): otherwise the truncation costs eps/6, the escape eps/3 and the known pairs
    eps/3.

    printed, proof: an event of probability p has happened k >= 4 times after (2k/p) ln(2/delta) steps, but for a
    probability of delta/2. With k = m for each of |S||A| pairs, each allowed to fail with delta/(2|S||A|),

        tau = 2m/p ln(2|S||A|/delta) |S||A| = 6 m |S||A| r_max/(eps (1-gamma)) ln(2|S||A|/delta).

    (Check: with l = ln(2/delta) the mean is mu = 2k l, and Chernoff's exp(-(mu-k)^2/(2 mu)) = exp(-k l (1 -
    1/(2l))^2) is delta/2 or less if k (1 - 1/(2l))^2 >= 1. k >= 4 does it only for l >= 1, delta <= 2/e = .74; k >=
    13 does it for every delta < 1, and the m of "proof" is above 13 wherever eps < V. So the constant stands, its
    condition does not.)

    corrected: choose bad steps at least W = ceil(H') apart, greedily; tau bad steps contain tau/W of them. Their
    windows are disjoint and each meets an unknown pair with probability above p, whatever happened before, while
    unknown pairs are visited k = |S||A| ceil(m) times at most. N trials have fewer than k successes with probability
    delta/2 or less if N p = 2(k + ln(2/delta)), since (N p - k)^2/(2 N p) = (k + 2l)^2/(4(k + l)) >= l. With ceil(x)
    <= x + 1,

        tau = (H' + 1) 6V/eps [|S||A|(m + 1) + ln(2/delta)],

    which is the proof's number times m_corrected/m_proof (H' + 1) [1 + 1/m + ln(2/delta)/(|S||A| m)] /
    ln(2|S||A|/delta).
    """
    e, d, x = checked_accuracy(eps, delta, h)
    check_form(form)
    return Bound.of(_steps(sizes, e, -np.log(d), x, form), too_coarse(e, sizes.top))


def anytime_error(sizes: Sizes, t: ArrayLike, delta: ArrayLike, h: ArrayLike, form: Form = "corrected") -> Bound:
    """eps_{t,h}: the smallest eps with `sample_complexity(eps, delta, h)` <= t. Paper: Corollary 1.

    printed, proof: closed, the roots of the order in Corollary 1 with their constants,

        eps = V max{ (432 |S||A| Lam ln(2|S||A|/delta)/t)^(1/3),  (36 h |S||A| ln(2|S||A|/delta)/t)^(1/2) }

    for "proof"; "printed" has h in the place of 36 h where the second root lies in its case, and stays at 12 V Lam/h
    where the printed m jumps. corrected: by bisection. At most t steps have a larger error; see the module on which.
    """
    t_, d, x = np.broadcast_arrays(check_steps("t", t), check_delta(delta), check_samples("h", h))
    check_form(form)
    y = -np.log(d)
    eps = _smallest_error(sizes, t_, y, x, form)
    return Bound.of(eps, too_coarse(eps, sizes.top), (BELOW_HORIZON, t_ < horizon_of(sizes, eps, 6.0)))


def affordable_h(sizes: Sizes, eps: ArrayLike, delta: ArrayLike, t: ArrayLike, form: Form = "corrected") -> Bound:
    """The largest h (not always whole) with `sample_complexity(eps, delta, h)` <= t; nan if there is none.
    Paper: Theorem 1.
    """
    e, d, t_ = np.broadcast_arrays(check_epsilon(eps), check_delta(delta), check_steps("t", t))
    check_form(form)
    y = -np.log(d)
    scale, trial = sizes.error_scale(form), 6 * sizes.top / e
    small = few_samples(sizes, e, y, form)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if form == "corrected":
            m = (t_ / (trial * (horizon_of(sizes, e, 6.0) + 1)) - math.log(2) - y) / sizes.pairs - 1
        else:
            m = t_ / (trial * sizes.pairs * (math.log(2 * sizes.pairs) + y))
        if form == "printed":
            corner, later = case_changes_at(sizes, e, y), 6 * m * e / scale
            h = np.where(later > corner, later, np.where(m >= small, corner, np.nan))
        else:
            h = np.where(m >= small, m * e / (6 * scale) if scale > 0 else np.inf, np.nan)
    too_few = "t is too small for any h at this epsilon and delta"
    return Bound.of(h, too_coarse(e, sizes.top), (too_few, np.isnan(h)))


def failure_probability(sizes: Sizes, eps: ArrayLike, h: ArrayLike, t: ArrayLike, form: Form = "corrected") -> Bound:
    """The smallest delta with `sample_complexity(eps, delta, h)` <= t; 1 if none below will do. Paper: Theorem 1."""
    e, x, t_ = np.broadcast_arrays(check_epsilon(eps), check_samples("h", h), check_steps("t", t))
    check_form(form)

    def steps(y: Array) -> Array:
        return np.where(y <= 0, 0.0, _steps(sizes, e, np.maximum(y, 0), x, form))

    delta = np.exp(-largest_within(steps, t_, np.zeros(e.shape)))
    return Bound.of(
        delta, too_coarse(e, sizes.top), ("t is too small: nothing is promised with any probability", delta >= 1)
    )


# --- Theorem 1, second part -----------------------------------------------------------------------------------------


def h_star(sizes: Sizes, eps: ArrayLike, delta: ArrayLike, form: Form = "corrected") -> Bound:
    """h*(eps, delta): |V* - V^{d*}_{L,t,h*}| <= eps at all times, with probability 1 - delta.
    Paper: Theorem 1 (part 2).

    printed, proof   2 V^2 Lam/eps^2
    corrected        kappa^2 Lam/(2 eps^2)     printed times (kappa/(2V))^2, kappa/V = gamma/(1-gamma) or 1/(1-gamma)
    """
    check_form(form)
    e, d = np.broadcast_arrays(check_epsilon(eps), check_delta(delta))
    half = 0.5 if form == "corrected" else 1.0
    with np.errstate(over="ignore"):
        value = 2 * (half * sizes.error_scale(form) / e) ** 2 * log_models_at(sizes, -np.log(d))
    return Bound.of(value, too_coarse(e, sizes.top))


def reachable_error(
    sizes: Sizes, h: ArrayLike, delta: ArrayLike, n_min: ArrayLike = 0, form: Form = "corrected"
) -> Bound:
    """What h gives away: |V* - V^{d*}_{L,t,h}| at most, every pair having n_min samples already.
    Paper: Theorem 1 (part 2).

    V sqrt(2 Lam/(n_min + h)) as printed, kappa/2 sqrt(2 Lam/(n_min + h)) corrected: the inverse of `h_star`.
    """
    check_form(form)
    x, d, n = np.broadcast_arrays(check_samples("h", h), check_delta(delta), check_samples("n_min", n_min))
    half = 0.5 if form == "corrected" else 1.0
    scale = half * sizes.error_scale(form)
    samples = x + n
    spread = np.sqrt(2 * log_models_at(sizes, -np.log(d)) / np.where(samples > 0, samples, 1.0))
    eps = np.where(samples > 0, scale * spread, np.inf if scale > 0 else 0.0)
    return Bound.of(eps, too_coarse(eps, sizes.top))


def _steps(sizes: Sizes, eps: Array, y: Array, h: Array, form: Form) -> Array:
    """`sample_complexity`, y = ln(1/delta)."""
    m = known_threshold_at(sizes, eps, y, h, form)
    with np.errstate(over="ignore", divide="ignore"):
        trial = 6 * sizes.top / eps
        if form == "corrected":
            return np.asarray((horizon_of(sizes, eps, 6.0) + 1) * trial * (sizes.pairs * (m + 1) + math.log(2) + y))
        return np.asarray(trial * m * sizes.pairs * (math.log(2 * sizes.pairs) + y))


def _smallest_error(sizes: Sizes, t: Array, y: Array, h: Array, form: Form) -> Array:
    """inf {eps : _steps(eps) <= t}, y = ln(1/delta)."""
    if form == "corrected":
        start = np.full(t.shape, -math.log(6 * sizes.top))
        return np.asarray(np.exp(-largest_within(lambda x: _steps(sizes, np.exp(-x), y, h, form), t, start)))
    base = sizes.pairs * (math.log(2 * sizes.pairs) + y) / t
    few = sizes.top * np.cbrt(432 * base * log_models_at(sizes, y))
    if form == "proof":
        return np.maximum(few, sizes.top * np.sqrt(36 * base * h))
    corner = 12 * sizes.top * log_models_at(sizes, y) / np.where(h > 0, h, 1)
    return np.where((h == 0) | (few <= corner), few, np.maximum(corner, sizes.top * np.sqrt(base * h)))
