"""Sets that hold a row of the truth at all times at once, as functions of what was counted.

A row p of K outcomes is sampled again and again, n_i times with outcome i after n samples, p^ = n_i/n. Every function
here gives the radius beta of a set {p: n KL(p^ || p) <= beta} such that, whatever p is,

    P(p outside its set after some number n >= 1 of samples) <= d.

So it may be looked at after every sample, and also when looking decides to stop. In a Markov decision process the
samples of one pair, in the order in which they come, are such samples whatever rule chose the pairs, and of N pairs
with d = delta/N each, all rows are in their sets for ever with probability at least 1 - delta.

Why. Under p the likelihood ratio prod_i (q_i/p_i)^(n_i) of any fixed q, and of a mixture of such q, is a nonnegative
(super)martingale that begins at 1: it ever reaches 1/d with probability at most d (Ville 1939; `statistics.mixtures`).
With Mix the mixture of prod_i q_i^(n_i), "not yet 1/d" reads

    n KL(p^ || p) < ln(1/d) + sum_i n_i ln(n_i/n) - ln Mix.

Counts here are what was seen: a prior that is left in them makes the sets wrong, not cautious.

>>> import numpy as np
>>> counts = np.array([80.0, 20.0, 0.0, 0.0, 0.0])
>>> f"{support_mixture(counts, 0.01):.2f} {known_successors(counts[:2], 0.01):.2f} {one_vector(100, 0.01):.2f}"
'10.91 7.14 7.48'
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, logsumexp, rel_entr

from hreach.errors import array, number, require
from hreach.protocols import Floats


def chance(delta: object) -> float:
    """`delta` as a probability strictly between 0 and 1."""
    result = number("delta", delta)
    require(0 < result < 1, "delta", delta, "above 0 and below 1")
    return result


def whole_counts(field: str, value: object) -> Floats:
    """Numbers of samples: whole and at least 0."""
    counts = array(field, value)
    ok = bool(np.isfinite(counts).all()) and bool((counts >= 0).all()) and bool((counts == np.rint(counts)).all())
    require(ok, field, value, "whole numbers of at least 0")
    return counts


def support_mixture(counts: Floats, d: float) -> Floats:
    """beta of rows (..., S) of which it is not known what can follow: for any vector, chosen by looking or not.

        Mix = sum_{k=K..S} w_k C(S-K, k-K)/C(S, k) Gamma(k/2)/Gamma(n + k/2) prod_{n_i > 0} Gamma(n_i + 1/2)/Gamma(1/2),

    K outcomes seen: the number k of possible outcomes has the weight w_k = (S+1)/(S k (k+1)), which sum to 1, the
    possible ones are any k of S alike, and q is drawn from Dirichlet(1/2) on them (Krichevsky & Trofimov 1981). This is
    the exact mixture: nothing is bounded. Not knowing the support costs about ln C(S, K). Infinite where n = 0.
    """
    rows = np.asarray(counts, dtype=np.float64)
    size = rows.shape[-1]
    n, seen = rows.sum(axis=-1)[..., None], (rows > 0).sum(axis=-1)[..., None]
    k = np.arange(1, size + 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_weight = np.log((size + 1) / (size * k * (k + 1.0)))
        choose = _log_choose(size - seen, k - seen) - _log_choose(size, k)
        terms = log_weight + choose + gammaln(k / 2) - gammaln(n + k / 2)
    sizes = logsumexp(np.where(k >= np.maximum(seen, 1), terms, -np.inf), axis=-1)
    return _beta(rows, sizes, d)


def known_successors(counts: Floats, d: float) -> Floats:
    """beta of rows (..., k) whose k outcomes are all that can follow: Mix is Dirichlet(1/2) on them. For any vector."""
    rows = np.asarray(counts, dtype=np.float64)
    k = rows.shape[-1]
    return _beta(rows, gammaln(k / 2) - gammaln(rows.sum(axis=-1) + k / 2), d)


def one_vector(n: ArrayLike, d: float) -> Floats:
    """beta for one vector v that was fixed before the first sample: then p.v is among {q.v: n KL(p^ || q) <= beta}.

        beta = ln(1/d) + ln( sqrt(pi) Gamma(n + 1) / Gamma(n + 1/2) )

    q may have weight on the least and the largest entry of v, seen or not. No number of outcomes is in it. Why: with
    m = p.v and v in [low, high], a share c on (v_i - low)/(m - low) and 1 - c on (high - v_i)/(high - m) is a fair bet.
    The Dirichlet(1/2, 1/2) mixture of the shares, the universal portfolio of two assets, has at least the wealth of the
    best share in hindsight over sqrt(pi) Gamma(n+1)/Gamma(n+1/2) (Cover & Ordentlich 1996), and ln of that best wealth
    is n min {KL(p^ || q): q.v = m} (Honda & Takemura 2010). V* is such a vector. The value of a policy that was chosen
    by looking, or a value computed from the counts, is not.
    """
    samples = np.asarray(n, dtype=np.float64)
    beta = np.log(1 / d) + 0.5 * np.log(np.pi) + gammaln(samples + 1) - gammaln(samples + 0.5)
    return np.asarray(np.where(samples > 0, beta, np.inf))


def mean_interval(mean: Floats, n: ArrayLike, d: float) -> tuple[Floats, Floats]:
    """Ends of the mean of n numbers in [0, 1] whose sample mean is `mean`: both hold at all n at once but for d.

    {m: n kl(mean | m) <= beta}, beta of `one_vector`, kl between coins: no distribution of mean m is nearer to numbers
    of this sample mean than that (numbers turned into coins lose divergence), so the set of `one_vector` is inside.
    Ends are found by bisection, outwards.
    """
    samples = np.asarray(n, dtype=np.float64)
    budget = np.divide(one_vector(samples, d), samples, out=np.full(samples.shape, np.inf), where=samples > 0)
    centre = np.clip(mean, 0.0, 1.0)
    low, high = np.zeros(centre.shape), np.ones(centre.shape)
    inner_low, inner_high = centre.copy(), centre.copy()
    for _ in range(60):
        middle = (low + inner_low) / 2
        outside = coin(centre, middle) > budget
        low, inner_low = np.where(outside, middle, low), np.where(outside, inner_low, middle)
        middle = (high + inner_high) / 2
        outside = coin(centre, middle) > budget
        high, inner_high = np.where(outside, middle, high), np.where(outside, inner_high, middle)
    return low, high


def coin(p: Floats, q: Floats) -> Floats:
    """kl(p | q) between coins."""
    return np.asarray(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def _beta(rows: Floats, log_sizes: Floats, d: float) -> Floats:
    """ln(1/d) + sum n_i ln(n_i/n) - ln Mix, Mix = exp(log_sizes) prod_{n_i > 0} Gamma(n_i + 1/2)/Gamma(1/2)."""
    n = rows.sum(axis=-1, keepdims=True)
    share = np.divide(rows, n, out=np.ones(rows.shape), where=(n > 0) & (rows > 0))
    entropy = (rows * np.log(share)).sum(axis=-1)
    mix = np.where(rows > 0, gammaln(rows + 0.5) - gammaln(0.5), 0.0).sum(axis=-1) + log_sizes
    return np.asarray(np.where(n[..., 0] > 0, np.log(1 / d) + entropy - mix, np.inf))


def _log_choose(size: ArrayLike, k: ArrayLike) -> Floats:
    """ln C(size, k)."""
    all_of, some = np.asarray(size, dtype=np.float64), np.asarray(k, dtype=np.float64)
    return np.asarray(gammaln(all_of + 1) - gammaln(some + 1) - gammaln(all_of - some + 1))
