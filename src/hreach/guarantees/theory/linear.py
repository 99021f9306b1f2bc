"""Algorithm 2 (continuous domain): Lemmas 2 and 3, Theorem 2 and its corollaries.

Except for Lemma 2 and two displays of the proof these are orders: what O() hides is `LinearSizes.constant`, 1 unless
given, and the paper's bounds c1 >= r_max, c2 >= Delta, c3 >= ||theta|| are 1 unless given. They enter as in the
proof: c1 by way of V = c1/(1-gamma), c2 c3^4 in m for small h, max(c2, c3)^2 in m for large h. So a number from here
is worth comparing, not trusting.

Logarithms of m stand for the number of samples. m may be given; left out, it is the number of steps itself (m = m',
the largest the theorem allows), solved for. ln m counts as 4 at least, below which ln^4(m)/m grows with m; h counts
as 1 at least inside a logarithm.

Where the forms differ (l = ln(n_S/delta), k = L^2 n_S nbar ln^2 m):

1.  Theorem 2 states  k z l^2/(eps^3 (1-gamma)^2),  z = max(h^2 ln(m^2 n_S h/delta), k l/eps^3):
    eps^-6 for small h. Its proof has m = k^2 l/eps^4 or k h^2 ln(..)/eps^2 samples and a chance of eps (1-gamma)/(3
    c1) to need one, so eps^-5 and (1-gamma)^-1:
    k z l^2 c1/(eps^3 (1-gamma)),  z = max(h^2 ln(..), k l/eps^2)  ("proof").
2.  Corollary 3 has the fifth root that belongs to 1., but ln^2 m for ln^4 m; in its second case a cube root is
    missing, and ln(m^2 n_S h/delta) ("printed"; "proof" inverts "proof" of Theorem 2).
3.  Corollary 4 (which the appendix numbers 6) has ln m for the ln^2 m of the proof.
4.  A bonus of L ||I_h|| is paid at every step, so V~ - V_{h=0} is up to L max ||I_h||/(1-gamma), not L max ||I_h||
    (equality if all bonuses are alike), and the same holds for the error of the model: L/(1-gamma) takes the place of
    L. And a trial costs H' steps, as in `hreach.guarantees.theory.discrete`, point 3: the factor H' + 1 ("corrected").

The proof of Theorem 2 says "satisfy Assumption 2" and "Assumptions 1 and 2"; there is one assumption, 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hreach.errors import at_least, discount, positive, whole
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
    too_coarse,
)

_LOG_FLOOR = 4.0


@dataclass(frozen=True)
class LinearSizes:
    """n_S state components with `features` features on average (nbar), |V~(s) - V~(s')| <= lipschitz ||s - s'||,
    gamma.
    """

    components: int
    features: float
    lipschitz: float
    gamma: float
    c1: float = 1.0
    c2: float = 1.0
    c3: float = 1.0
    constant: float = 1.0

    def __post_init__(self) -> None:
        whole("components", self.components, 1)
        at_least("features", self.features, 1)
        discount(self.gamma)
        positive("lipschitz", self.lipschitz)
        for field, given in (("c1", self.c1), ("c2", self.c2), ("c3", self.c3), ("constant", self.constant)):
            positive(field, given)

    @property
    def top(self) -> float:
        """V = c1/(1-gamma), the largest value; an error of this size says nothing."""
        return self.c1 / (1 - self.gamma)

    def slope(self, form: Form) -> float:
        """What a model error of one does to a value: L as printed, L/(1-gamma) when corrected (point 4)."""
        return self.lipschitz / (1 - self.gamma) if form == "corrected" else self.lipschitz


# --- Lemma 2 and the explicit displays of A6 ------------------------------------------------------------------------


def interval_failure(calls: ArrayLike, delta: ArrayLike, h: ArrayLike = 1) -> Array:
    """Chance that one of the first `calls` intervals I_h is wrong, at most. Paper: Lemma 2.

    The M-th fails with n_S h/2 exp(-varsigma(M)^2/2) = 3 delta/(pi^2 M^2) at most (varsigma:
    `hreach.reach.interval.varsigma`); the sum over M = 1, ..., calls tends to delta/2 from below. 0 for h = 0, where
    the interval is empty and right.
    """
    from scipy.special import zeta  # takes a tenth of a second to import

    M, d, x = np.broadcast_arrays(check_steps("calls", calls), check_any_delta(delta), check_samples("h", h))
    later = np.asarray(zeta(2.0, np.floor(M) + 1), dtype=np.float64)
    return np.where(x > 0, d / 2 * (1 - later * 6 / np.pi**2), 0.0)


def estimation_error(sizes: LinearSizes, m: ArrayLike, features: ArrayLike, delta: ArrayLike) -> Array:
    """|(theta_i - theta^_i)' Phi_i| for a known pair, at most, with probability 1 - delta/(4 n_S).
    Paper: Theorem 2 (proof).

    2 c3 sqrt(n_i ln m)/m^(1/4) (24 c2 ln(8 n_S/delta))^(1/4) + (2 c3 sqrt(ln m) + 5) sqrt(n_i)/sqrt(m), n_i =
    `features`.
    """
    m_, n, d = np.broadcast_arrays(check_steps("m", m), check_steps("features", features), check_delta(delta))
    log_m = np.log(m_)
    slow = 2 * sizes.c3 * np.sqrt(n * log_m) * (24 * sizes.c2 * np.log(8 * sizes.components / d) / m_) ** 0.25
    return np.asarray(slow + (2 * sizes.c3 * np.sqrt(log_m) + 5) * np.sqrt(n / m_))


def interval_width(
    sizes: LinearSizes, m: ArrayLike, features: ArrayLike, delta: ArrayLike, h: ArrayLike, sigma: ArrayLike
) -> Array:
    """I_h for a known pair, at most: h [20 (c2 + varsigma(m) sigma) n_i ln m/m + 2 c3 sqrt(20 n_i/m)].
    Paper: Theorem 2 (proof).

    varsigma(M) = sqrt(2 ln(pi^2 M^2 n_S h/(6 delta))) with M = m calls, the logarithm not below 0.
    """
    given = (check_steps("m", m), check_steps("features", features), check_delta(delta))
    m_, n, d, x, s = np.broadcast_arrays(*given, check_samples("h", h), check_samples("sigma", sigma))
    inside = np.pi**2 / 6 * m_**2 * sizes.components * x / d
    varsigma = np.sqrt(2 * np.log(np.maximum(inside, 1)))
    noisy = 20 * (sizes.c2 + varsigma * s) * n * np.log(m_) / m_
    return np.asarray(x * (noisy + 2 * sizes.c3 * np.sqrt(20 * n / m_)))


# --- Lemma 3 --------------------------------------------------------------------------------------------------------


def linear_pac_mdp_sample_complexity(sizes: LinearSizes, eps: ArrayLike) -> Bound:
    """The rival's order n_S^2 nbar^2/(eps^5 (1-gamma)^10), logarithms left out. Paper: Lemma 3."""
    e = check_epsilon(eps)
    with np.errstate(over="ignore"):
        steps = sizes.constant * (sizes.components * sizes.features) ** 2 / e**5 / (1 - sizes.gamma) ** 10
    return Bound.of(steps, too_coarse(e, sizes.top))


# --- Theorem 2 ------------------------------------------------------------------------------------------------------


def linear_sample_complexity(
    sizes: LinearSizes,
    eps: ArrayLike,
    delta: ArrayLike,
    h: ArrayLike,
    m: ArrayLike | None = None,
    form: Form = "corrected",
) -> Bound:
    """Steps m': for all but m' steps V^{A_t}(s_t) >= V^{d*}_{L,t,h}(s_t) - eps, with probability 1 - delta.
    Paper: Theorem 2.

    printed     V^2 k z l^2/eps^3,          z = max(h^2 ln(m^2 n_S h/delta), k l/eps^3)
    proof       V k z l^2/eps^3,            z = max(h^2 ln(m^2 n_S h/delta), k l/eps^2)
    corrected   V k z l^2/eps^3 (H' + 1),   the same z, with L/(1-gamma) in k;  H' = 1/(1-gamma) ln(6V/eps)

    where V = c1/(1-gamma), and h^2 and k l carry max(c2, c3)^2 and c2 c3^4.
    """
    e, d, x = np.broadcast_arrays(check_epsilon(eps), check_delta(delta), check_samples("h", h))
    check_form(form)
    steps = _with_logs(m, e.shape, lambda log_m: _steps(sizes, e, d, x, log_m, form))
    return Bound.of(steps, too_coarse(e, sizes.top))


def linear_h_star(
    sizes: LinearSizes, eps: ArrayLike, delta: ArrayLike, m: ArrayLike | None = None, form: Form = "corrected"
) -> Bound:
    """h*(eps, delta), of the order L^4 n_S^2 nbar^2 ln^2 m/eps^4 ln(n_S/delta). Paper: Theorem 2 (part 2).

    m stands for the samples there are with the h* more, and is h* itself unless given. corrected: L/(1-gamma) for L.
    """
    e, d = np.broadcast_arrays(check_epsilon(eps), check_delta(delta))
    check_form(form)

    def samples(log_m: Array) -> Array:
        few = (sizes.slope(form) ** 2 * sizes.components * sizes.features * log_m / e**2) ** 2
        return np.asarray(sizes.constant * sizes.c2 * sizes.c3**4 * few * np.log(sizes.components / d))

    return Bound.of(_with_logs(m, e.shape, samples), too_coarse(e, sizes.top))


# --- Corollaries 3 and 4 --------------------------------------------------------------------------------------------


def linear_anytime_error(
    sizes: LinearSizes, t: ArrayLike, delta: ArrayLike, h: ArrayLike, form: Form = "corrected"
) -> Bound:
    """eps_{t,h}, the logarithms taken at m = t. Paper: Corollary 3.

    printed     (L^4 n_S^2 nbar^2 ln^2 m l^3 V/t)^(1/5) where its condition holds, else h^2 k l^2 V/t
    proof       max{ (k^2 l^3 V/t)^(1/5), (k h^2 ln(m^2 n_S h/delta) l^2 V/t)^(1/3) }
    corrected   by bisection; this and "proof" are the inverses of `linear_sample_complexity`
    """
    t_, d, x = np.broadcast_arrays(check_steps("t", t), check_delta(delta), check_samples("h", h))
    check_form(form)
    log_m = np.maximum(np.log(t_), _LOG_FLOOR)
    k, many, few = _parts(sizes, d, x, log_m, form)
    base = sizes.constant * sizes.top * k * np.log(sizes.components / d) ** 2 / t_
    if form == "corrected":
        start = np.full(t_.shape, -math.log(6 * sizes.top))
        found = largest_within(lambda y: _steps(sizes, np.exp(-y), d, x, log_m, form), t_, start)
        eps = np.exp(-found)
    elif form == "proof":
        eps = np.maximum((base * few) ** 0.2, np.cbrt(base * many))
    else:
        small = (base * few / log_m**2) ** 0.2
        eps = np.where(many <= few / small**3, small, base * x**2 * max(sizes.c2, sizes.c3) ** 2)
    return Bound.of(np.asarray(eps), too_coarse(np.asarray(eps), sizes.top))


def linear_exploration_runtime(
    sizes: LinearSizes,
    eps: ArrayLike,
    delta: ArrayLike,
    h: ArrayLike,
    escape: ArrayLike | None = None,
    m: ArrayLike | None = None,
    form: Form = "corrected",
) -> Bound:
    """Steps of explicit exploration, with Pr[A_K] = `escape`, or eps (1-gamma)/c1 for it.
    Paper: Corollary 4 (A6: Corollary 6).

    printed     h^2 L^2 n_S nbar ln m/(eps^2 Pr[A_K]) l^2 ln(m^2 n_S h/delta)
    proof       ln^2 m for ln m
    corrected   ln^2 m, L/(1-gamma) for L, and the factor H' + 1; whether h alone suffices is as open as in Corollary 2
    """
    e, d, x = np.broadcast_arrays(check_epsilon(eps), check_delta(delta), check_samples("h", h))
    check_form(form)
    p = check_probability("escape", escape) if escape is not None else e / sizes.top

    def steps(log_m: Array) -> Array:
        k, many, _ = _parts(sizes, d, x, log_m, form)
        scale = sizes.constant * np.log(sizes.components / d) ** 2 / (e**2 * p) * _window(sizes, e, form)
        return np.asarray(k * many * scale / (log_m if form == "printed" else 1.0))

    return Bound.of(_with_logs(m, np.broadcast(e, p).shape, steps), too_coarse(e, sizes.top))


# --- shared ---------------------------------------------------------------------------------------------------------


def _parts(sizes: LinearSizes, delta: Array, h: Array, log_m: Array, form: Form) -> tuple[Array, Array, Array]:
    """k, and what z is the maximum of: the part of large h, and the part of small h but for its power of eps."""
    k = sizes.slope(form) ** 2 * sizes.components * sizes.features * log_m**2
    inside = 2 * log_m + np.log(sizes.components * np.maximum(h, 1) / delta)
    many = (max(sizes.c2, sizes.c3) * h) ** 2 * inside
    few = sizes.c2 * sizes.c3**4 * k * np.log(sizes.components / delta)
    return np.asarray(k), np.asarray(many), np.asarray(few)


def _steps(sizes: LinearSizes, eps: Array, delta: Array, h: Array, log_m: Array, form: Form) -> Array:
    k, many, few = _parts(sizes, delta, h, log_m, form)
    with np.errstate(over="ignore", divide="ignore"):
        z = np.maximum(many, few / eps ** (3 if form == "printed" else 2))
        trial = sizes.top ** (2 if form == "printed" else 1) / eps**3
        scale = sizes.constant * k * np.log(sizes.components / delta) ** 2
        return np.asarray(scale * z * trial * _window(sizes, eps, form))


def _window(sizes: LinearSizes, eps: Array, form: Form) -> Array:
    """H' + 1 when corrected, else 1."""
    if form != "corrected":
        return np.ones(eps.shape)
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(np.log(6 * sizes.top / eps), 0) / (1 - sizes.gamma) + 1)


def _with_logs(m: ArrayLike | None, shape: tuple[int, ...], steps: Callable[[Array], Array]) -> Array:
    """steps(ln m) for the m given, or the one number m with m = steps(ln m).

    It is one because steps grows more slowly than m from ln m = 4 on, and does not change below.
    """
    if m is not None:
        return steps(np.maximum(np.log(check_steps("m", m)), _LOG_FLOOR))

    def excess(x: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(x - np.log(steps(np.maximum(x, _LOG_FLOOR))))

    floor = steps(np.full(shape, _LOG_FLOOR))
    settled = floor <= math.exp(_LOG_FLOOR)  # the logarithms stay at their floor
    log_m = largest_within(
        lambda x: np.where(settled, x - _LOG_FLOOR, excess(x)), np.zeros(shape), np.full(shape, _LOG_FLOOR)
    )
    return np.where(settled, floor, steps(np.maximum(log_m, _LOG_FLOOR)))
