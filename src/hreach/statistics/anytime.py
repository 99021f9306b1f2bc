"""Confidence sequences for means of bounded numbers: intervals that may be looked at after every run.

For numbers x_i in [0, 1] with mean m the bets are (1 - c) + c x_i / m, that the numbers are larger than m, and
(1 - c) + c (1 - x_i) / (1 - m), that they are smaller, at stakes c in [0, 1]. Each is non-negative with expectation 1,
so the wealth

    W_n(m) = 1/2 sum_k w_k prod_i (1 - c_k + c_k x_i / m) + 1/2 sum_k w_k prod_i (1 - c_k + c_k (1 - x_i) / (1 - m))

is a martingale, and {m: W_n(m) < 1 / delta} holds the mean at all n at once (`hreach.statistics.mixtures`). The stakes
are c_k = 2^(-k/2), k = 0, 1, ..., with weights w_k = 10 / ((k + 10) (k + 11)), which sum to 1: one of them is near the
best stake for every n and variance, and those too small to matter yet are left out, which only lessens the wealth. The
logarithm of every product is convex in m, hence so is log W_n, and no product exceeds 1 where m is the mean of the
x_i: the set is an interval around it, and its ends are found by bisection, outwards.

Betting (Waudby-Smith & Ramdas, J. R. Stat. Soc. B 86, 2024; Orabona & Jun, IEEE Trans. Inf. Theory 70, 2024) adapts to
the variance without knowing it, as empirical Bernstein bounds do, with no constant to pay for it at few runs; mixtures
for Hoeffding's inequality take every variance for the largest, (b - a)^2 / 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from hreach.errors import array, finite, require
from hreach.statistics.mixtures import mixture_log_wealth, threshold
from hreach.statistics.scores import Array, confidence

Values = Array | Sequence[float]
SPREAD = 10  # stakes c_0 to c_10, for 1 to some 1000 runs, share half of the weight
PRECISION = 2.0**-30  # of an end, outwards, in units of high - low


def anytime_interval(values: Values, low: float, high: float, level: float = 0.95) -> tuple[float, float]:
    """An interval of the mean of numbers in [low, high], of which `values` (n,) are the first n, valid at any time.

    With probability at least `level` the intervals of all n = 1, 2, ... hold the mean: whoever stops when the interval
    is narrow, or when it excludes a number, is misled as rarely as one who did not look. The numbers are independent
    with the same mean, or at least each has this mean given the ones before. No values: [low, high].
    """
    x = _scaled(values, low, high)
    limit = threshold(1 - confidence(level))
    ends = _end(x, limit), 1 - _end(1 - x, limit)
    return low + (high - low) * ends[0], low + (high - low) * ends[1]


def anytime_difference(
    ours: Values, theirs: Values, low: float, high: float, level: float = 0.95
) -> tuple[float, float]:
    """An interval of E[ours] - E[theirs], both in [low, high], valid at any time: `anytime_interval` of differences.

    Number i of ours is set against number i of theirs, as far as both go. They may be independent, or dependent by a
    common seed, which makes the interval narrower where it makes them alike.
    """
    return anytime_interval(_differences(ours, theirs, low, high), low - high, high - low, level)


def separated(rows: Mapping[str, Values], low: float, high: float, level: float = 0.95) -> bool:
    """Whether the order of the means of all rows is settled: no pair's difference may still be 0.

    Each of the m pairs has the `anytime_difference` at level 1 - (1 - level) / m. With probability at least `level`, at
    no time is a pair of equal means settled, or one in the wrong order. Fewer than two rows are settled.
    """
    pairs = list(combinations(rows.values(), 2))
    limit = threshold((1 - confidence(level)) / max(len(pairs), 1))
    width = high - low
    scaled = (_scaled(_differences(a, b, low, high), -width, width) for a, b in pairs)
    return all(_log_wealth(x, 0.5) >= limit for x in scaled)


def _scaled(values: Values, low: float, high: float) -> Array:
    """The values as numbers in [0, 1], checked."""
    require(finite("low", low) < finite("high", high), "high", high, f"above low, which is {low:g}")
    x = array("values", values)
    require(x.ndim == 1, "values", x, "numbers of shape (n,)")
    outside = x[~((x >= low) & (x <= high))]
    require(len(outside) == 0, "values", outside[:1], f"numbers in [{low:g}, {high:g}]")
    return (x - low) / (high - low)


def _differences(ours: Values, theirs: Values, low: float, high: float) -> Array:
    """ours - theirs as far as both go, each checked to be in [low, high]."""
    both = min(len(ours), len(theirs))
    for values in (ours, theirs):
        _scaled(values, low, high)
    return array("values", ours)[:both] - array("values", theirs)[:both]


def _log_wealth(x: Array, m: float) -> float:
    """log W_n(m) of the numbers x in [0, 1], 0 < m < 1."""
    return float(np.logaddexp(_one_side(x, m), _one_side(1 - x, 1 - m)) - math.log(2))


def _one_side(x: Array, m: float) -> float:
    """The logarithm of the mixture of bets that the numbers are larger than m."""
    k = np.arange(2 * math.ceil(math.log2(len(x) + 2)) + 8)
    stakes, weights = 2.0 ** (-k / 2), SPREAD / ((k + SPREAD) * (k + SPREAD + 1))
    with np.errstate(divide="ignore"):  # log 0: ruin, which the other stakes survive
        log_wealth = np.log(1 - stakes[:, None] + stakes[:, None] * (x / m)).sum(axis=1)
    return float(mixture_log_wealth(log_wealth, np.log(weights)))


def _end(x: Array, limit: float) -> float:
    """The lower end of {m: log W_n(m) < limit}, from below to within `PRECISION`."""
    outside, inside = 0.0, float(x.mean()) if len(x) else 0.0
    while inside - outside > PRECISION:
        middle = (outside + inside) / 2
        if _log_wealth(x, middle) >= limit:
            outside = middle
        else:
            inside = middle
    return outside
