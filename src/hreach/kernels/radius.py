"""The radius of the confidence set of each row of counts, n KL(p^ || p) <= beta: `hreach.guarantees.confidence`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled, inner

TERMS = (
    512  # of the mixture over sizes of the support; what is left out makes the set larger, by at most 1/TERMS in Mix
)
ENOUGH = 1e-13


@inner
def _log_sizes(n: float, seen: int, outcomes: int) -> float:
    """ln of the sum over k = seen .. outcomes of w_k C(S-K, k-K)/C(S, k) Gamma(k/2)/Gamma(n + k/2), S = outcomes.

    The ratio of two terms is (k/(k+2)) ((k+1)/(k+1-K)) rho_k, rho_k rho_{k+1} = k/(2n + k): no more logarithms.
    """
    choose = math.lgamma(outcomes + 1.0) - math.lgamma(seen + 1.0) - math.lgamma(outcomes - seen + 1.0)
    first = math.log((outcomes + 1.0) / (outcomes * seen * (seen + 1.0))) - choose
    first += math.lgamma(seen / 2.0) - math.lgamma(n + seen / 2.0)
    rho = math.lgamma((seen + 1.0) / 2.0) + math.lgamma(n + seen / 2.0)
    rho = math.exp(rho - math.lgamma(seen / 2.0) - math.lgamma(n + (seen + 1.0) / 2.0))
    total = term = 1.0
    for k in range(seen, min(outcomes, seen + TERMS)):
        term *= k / (k + 2.0) * (k + 1.0) / (k + 1.0 - seen) * rho
        total += term
        if term * k <= ENOUGH * total:
            break
        rho = k / ((2.0 * n + k) * rho)
    return first + math.log(total)


@compiled
def radii(
    first: NDArray[np.int64], count: Array, total: Array, outcomes: int, known: bool, log_inverse: float, beta: Array
) -> None:
    """beta (N,) of every row; infinite where nothing was seen.

    outcomes      how many there may be; `known`: those that have an entry and no others
    log_inverse   ln(1/d), d the probability that a row may leave its set
    """
    for i in range(total.size):
        n = total[i]
        seen = 0
        entropy = mix = 0.0
        for k in range(first[i], first[i + 1]):
            if count[k] > 0.0:
                seen += 1
                entropy += count[k] * math.log(count[k] / n)
                mix += math.lgamma(count[k] + 0.5) - math.lgamma(0.5)
        if seen == 0:
            beta[i] = np.inf
            continue
        size = first[i + 1] - first[i]
        mix += math.lgamma(size / 2.0) - math.lgamma(n + size / 2.0) if known else _log_sizes(n, seen, outcomes)
        beta[i] = log_inverse + entropy - mix


@inner
def _least_share(p: float, b: float) -> float:
    """The lower root q of kl(p | q) = b: the least weight of an outcome of frequency p in its set.

    kl is convex in q: Newton's method from the left stays there, so that any number of steps gives a lower bound.
    """
    if p >= 1.0:
        return math.exp(-b)
    q = p * math.exp(((1.0 - p) * math.log(1.0 - p) - b) / p)
    for _ in range(30):
        if q <= 0.0:
            return 0.0
        above = p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) - b
        if above <= 1e-9 * b:
            break
        q += above * q * (1.0 - q) / (p - q)
    return q


@compiled
def spreads(
    first: NDArray[np.int64],
    count: Array,
    total: Array,
    budget: Array,
    h: float,
    prior: float,
    units: float,
    rho: Array,
) -> None:  # fmt: skip
    """rho (N,) of `hreach.planners.robust.Robust.reachable`; units = min(h, K/4)."""
    for i in range(total.size):
        n, b = total[i], budget[i]
        weight = n + prior + h
        moved = 0.0
        for k in range(first[i], first[i + 1]):
            if count[k] > 0.0:
                moved += max(count[k] / weight - _least_share(count[k] / n, b), 0.0)
        far = n / weight * math.sqrt(b / 2.0) if n > 0.0 else 0.0
        rho[i] = min(moved, far) + (prior + units) / weight if weight > 0.0 else 1.0
