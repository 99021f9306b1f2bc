"""Algorithm 1 (discrete domain): Theorem 1, its corollaries, the rivals of Remarks 1 and 2, Propositions 1 and 2.

Notation: V = v_max - v_min, the range of values (`hreach.problems.ranges`), which is r_max/(1-gamma) for the paper's
rewards in [0, r_max]; the argument only uses that two values differ by V at most, so rewards of any sign and ends of
episodes change nothing else. Lam = ln(2^(|S|+1) |S||A| / delta), so that the first n samples of every pair, and all
later sample means as well, are within sqrt(2 Lam/n) of P in L1 with probability 1 - delta/2 (Weissman et al. 2003,
Theorem 2.1, and a union over pairs; "all later" costs nothing, because sample means are a reverse martingale and Doob's
inequality turns each Chernoff bound at n into one for all n' >= n: an agent that never stops learning loses nothing
here). 2^|S| is never computed.

Where the corrected form differs from the proof of Theorem 1:

1.  A model error counts at every step. The proof turns the error of one step (mass h/m hoped for, L1 distance e) into
    V (h/m + e). A step's error is worth the range of gamma V~ at most, and it is made 1/(1-gamma) times over, so the
    value is off by
        kappa (h/(m+h) + e/2),    kappa = gamma V/(1-gamma) for rewards R(s, a), V/(1-gamma) for R(s, a, s').
    (Of the first part h/(m+h) kappa is not the least that can be said, see `optimism_gap`, but linear in h/m.)
    V h/m and h* as printed fail for gamma near 1 (tests/paper/test_optimism.py), and so do the counts of Theorem 1
    and Corollary 2 that follow, "printed" and "proof" alike: for large h, hope fades only after some h/(1-gamma) vain
    steps (tests/theory/test_theory_simulated.py). The corrected steps are checked in tests/theory/test_theory_steps.py.
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
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hreach.errors import positive, require
from hreach.guarantees.theory.bound import (
    Array,
    Bound,
    Form,
    check_any_delta,
    check_delta,
    check_epsilon,
    check_form,
    check_probability,
    check_samples,
    check_steps,
    largest_within,
    no_probability,
    too_coarse,
)
from hreach.problems.sizes import Sizes

PROVED_FOR = 'an agent that stops learning a pair after m samples: freeze_at="theory"'
BELOW_HORIZON = "t is below the horizon H' of this error: no such error can have been seen yet"


# --- ingredients of the proof of Theorem 1 --------------------------------------------------------------------------


def log_models(sizes: Sizes, delta: ArrayLike) -> Array:
    """Lam = ln(2^(|S|+1) |S||A|/delta) = (|S|+1) ln 2 + ln(|S||A|) - ln delta. Paper: Theorem 1 (proof)."""
    return _log_models(sizes, -np.log(check_delta(delta)))


def horizon(sizes: Sizes, eps: ArrayLike) -> Array:
    """H' = 1/(1-gamma) ln(6 r_max/(eps (1-gamma))), 0 where that is negative. Paper: Theorem 1 (proof).

    What comes after H' steps is worth gamma^H' V <= exp(-(1-gamma) H') V = eps/6.
    """
    return _horizon(sizes, check_epsilon(eps), 6.0)


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
    e, d, x = _accuracy(eps, delta, h)
    check_form(form)
    return _known_threshold(sizes, e, -np.log(d), x, form)


# --- Theorem 1 and its inverses -------------------------------------------------------------------------------------


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
    e, d, x = _accuracy(eps, delta, h)
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
    return Bound.of(eps, too_coarse(eps, sizes.top), (BELOW_HORIZON, t_ < _horizon(sizes, eps, 6.0)))


def affordable_h(sizes: Sizes, eps: ArrayLike, delta: ArrayLike, t: ArrayLike, form: Form = "corrected") -> Bound:
    """The largest h (not always whole) with `sample_complexity(eps, delta, h)` <= t; nan if there is none.
    Paper: Theorem 1.
    """
    e, d, t_ = np.broadcast_arrays(check_epsilon(eps), check_delta(delta), check_steps("t", t))
    check_form(form)
    y = -np.log(d)
    scale, trial = sizes.error_scale(form), 6 * sizes.top / e
    small = _few(sizes, e, y, form)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if form == "corrected":
            m = (t_ / (trial * (_horizon(sizes, e, 6.0) + 1)) - math.log(2) - y) / sizes.pairs - 1
        else:
            m = t_ / (trial * sizes.pairs * (math.log(2 * sizes.pairs) + y))
        if form == "printed":
            corner, later = _corner(sizes, e, y), 6 * m * e / scale
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
        value = 2 * (half * sizes.error_scale(form) / e) ** 2 * _log_models(sizes, -np.log(d))
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
    spread = np.sqrt(2 * _log_models(sizes, -np.log(d)) / np.where(samples > 0, samples, 1.0))
    eps = np.where(samples > 0, scale * spread, np.inf if scale > 0 else 0.0)
    return Bound.of(eps, too_coarse(eps, sizes.top))


# --- Corollary 2 ----------------------------------------------------------------------------------------------------


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
    e, d, x = _accuracy(eps, delta, h)
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
    e, d, x = _accuracy(eps, delta, h)
    m = exploration_threshold(sizes, e, d, x, form)
    p = check_probability("escape", escape) if escape is not None else e / (3 * sizes.top)
    with np.errstate(over="ignore"):
        if form == "corrected":
            window = 2 * _horizon(sizes, e, 3.0) + 1
            steps = np.where(x > 0, window * 2 / p * (sizes.pairs * (m + 1) + np.log(2 / d)), 0.0)
        else:
            steps = 2 * m / p * sizes.pairs * (math.log(2 * sizes.pairs) - np.log(d))
    return Bound.of(steps, too_coarse(e, sizes.top))


# --- orders, to be compared with the rivals' ------------------------------------------------------------------------


def sample_complexity_order(sizes: Sizes, eps: ArrayLike, delta: ArrayLike, h: ArrayLike, constant: float = 1) -> Bound:
    """z |S||A|/(eps^2 (1-gamma)^2) ln(|S||A|/delta), z = max(h, ln(2^|S| |S||A|/delta)/(eps (1-gamma))).
    Paper: Theorem 1.

    An order: the constant is open (1 unless given), and rewards are in [0, 1], eps being divided by r_max.
    """
    e, d, x = _accuracy(eps, delta, h)
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
    e, d, x = _accuracy(eps, delta, h)
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


# --- Propositions 1 and 2 -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PacMdp:
    """V^{A_t}(s_t) >= V*(s_t) - eps for all but `steps` steps, with probability 1 - delta, by PAC-RMDP(`h`)."""

    h: Array
    steps: Bound


def pac_mdp(sizes: Sizes, eps: ArrayLike, delta: ArrayLike, form: Form = "corrected") -> PacMdp:
    """The PAC-MDP numbers of PAC-RMDP(h*): h* = h*(eps/2, delta/2), rounded up to whole samples. Paper: Proposition 1.

    Both conditions of Definition 1 at (eps/2, delta/2) give an error of 2 eps/2 and a failure probability of 2 delta/2.
    """
    e, d = np.broadcast_arrays(check_epsilon(eps), check_delta(delta))
    h = np.ceil(h_star(sizes, e / 2, d / 2, form).value)
    steps = sample_complexity(sizes, e / 2, d / 2, h, form)
    return PacMdp(h, Bound.of(steps.value, too_coarse(e, sizes.top)))


def near_bayes(
    sizes: Sizes, eps: ArrayLike, delta: ArrayLike, H: ArrayLike, assumed: ArrayLike = 0, form: Form = "corrected"
) -> Bound:
    """Steps without V^{A_t} >= V*_{b,H} - eps, at most, with probability 1 - delta, by PAC-RMDP(H).
    Paper: Proposition 2.

    `assumed` is the number of steps after which V*_{b,H} and V^{d*}_{L,t,H} are eps/2 apart at most: the
    proposition's assumption.
    """
    e, d, H_ = np.broadcast_arrays(check_epsilon(eps), check_delta(delta), check_steps("H", H))
    steps = sample_complexity(sizes, e / 2, d, H_, form).value + check_samples("assumed", assumed)
    return Bound.of(steps, too_coarse(e, sizes.top))


# --- the same in y = ln(1/delta), which neither overflows nor underflows --------------------------------------------


def _accuracy(eps: ArrayLike, delta: ArrayLike, h: ArrayLike) -> tuple[Array, ...]:
    return np.broadcast_arrays(check_epsilon(eps), check_delta(delta), check_samples("h", h))


def _log_models(sizes: Sizes, y: Array) -> Array:
    return np.asarray((sizes.states + 1.0) * math.log(2) + math.log(sizes.pairs) + y)


def _log_order(sizes: Sizes, delta: Array) -> Array:
    """ln(2^|S| |S||A|/delta), as the statement of Theorem 1 has it."""
    return np.asarray(sizes.states * math.log(2) + math.log(sizes.pairs) - np.log(delta))


def _per_sample(sizes: Sizes, delta: Array) -> Array:
    return np.asarray(sizes.pairs * (math.log(sizes.pairs) - np.log(delta)))


def _horizon(sizes: Sizes, eps: Array, parts: float) -> Array:
    """Steps after which the rest is worth eps/parts at most."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(np.log(parts * sizes.top / eps), 0) / (1 - sizes.gamma))


def _few(sizes: Sizes, eps: Array, y: Array, form: Form) -> Array:
    """m for small h."""
    constant = 18 if form == "corrected" else 72
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(constant * (sizes.error_scale(form) / eps) ** 2 * _log_models(sizes, y))


def _corner(sizes: Sizes, eps: Array, y: Array) -> Array:
    """The h at which the printed m changes its case: h = sqrt(2 m Lam) for the m of small h."""
    return np.asarray(12 * sizes.top / eps * _log_models(sizes, y))


def _known_threshold(sizes: Sizes, eps: Array, y: Array, h: Array, form: Form) -> Array:
    few = _few(sizes, eps, y, form)
    with np.errstate(over="ignore", divide="ignore"):
        if form == "printed":
            return np.where(h <= _corner(sizes, eps, y), few, h * sizes.top / (6 * eps))
        return np.maximum(few, 6 * sizes.error_scale(form) * h / eps)


def _steps(sizes: Sizes, eps: Array, y: Array, h: Array, form: Form) -> Array:
    m = _known_threshold(sizes, eps, y, h, form)
    with np.errstate(over="ignore", divide="ignore"):
        trial = 6 * sizes.top / eps
        if form == "corrected":
            return np.asarray((_horizon(sizes, eps, 6.0) + 1) * trial * (sizes.pairs * (m + 1) + math.log(2) + y))
        return np.asarray(trial * m * sizes.pairs * (math.log(2 * sizes.pairs) + y))


def _smallest_error(sizes: Sizes, t: Array, y: Array, h: Array, form: Form) -> Array:
    """inf {eps : _steps(eps) <= t}."""
    if form == "corrected":
        start = np.full(t.shape, -math.log(6 * sizes.top))
        return np.asarray(np.exp(-largest_within(lambda x: _steps(sizes, np.exp(-x), y, h, form), t, start)))
    base = sizes.pairs * (math.log(2 * sizes.pairs) + y) / t
    few = sizes.top * np.cbrt(432 * base * _log_models(sizes, y))
    if form == "proof":
        return np.maximum(few, sizes.top * np.sqrt(36 * base * h))
    corner = 12 * sizes.top * _log_models(sizes, y) / np.where(h > 0, h, 1)
    return np.where((h == 0) | (few <= corner), few, np.maximum(corner, sizes.top * np.sqrt(base * h)))


def _believed(sizes: Sizes, y: Array) -> Array:
    """b of `exploration_threshold`."""
    steep = max(1.0, 2 * sizes.gamma / (1 - sizes.gamma))
    return np.asarray(sizes.states * steep * (math.log(2 * sizes.pairs) + math.log(sizes.states) + y))
