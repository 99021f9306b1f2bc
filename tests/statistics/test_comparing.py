"""The probability of improvement: scipy's U, and an interval that covers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from covering import Array, least, share_that_hold
from hreach import InputError
from hreach.statistics import Estimate, probability_of_improvement

REPEATS, LEVEL = 1500, 0.95
Draw = Callable[[np.random.Generator, int], Array]


def bernoulli(p: float) -> Draw:
    return lambda rng, runs: (rng.random(runs) < p).astype(np.float64)


def normal(mean: float, deviation: float) -> Draw:
    return lambda rng, runs: rng.normal(mean, deviation, runs)


# Ours, theirs, P(X > Y) + P(X = Y) / 2, runs of ours and of theirs, stated coverage
SETTINGS: dict[str, tuple[Draw, Draw, float, int, int, float]] = {
    "normal, five runs": (normal(0, 1), normal(0, 1), 0.5, 5, 5, 0.95),
    "normal, ten runs": (normal(1.2, 1), normal(0, 1), float(stats.norm.cdf(1.2 / np.sqrt(2))), 10, 10, 0.95),
    "unequal variances": (normal(0, 1), normal(0, 5), 0.5, 10, 30, 0.95),
    "skewed": (lambda rng, n: rng.exponential(2, n), lambda rng, n: rng.exponential(1, n), 2 / 3, 10, 30, 0.95),
    "bernoulli": (bernoulli(0.5), bernoulli(0.3), 0.6, 10, 10, 0.95),
    "many": (normal(1, 1), normal(0, 1), float(stats.norm.cdf(1 / np.sqrt(2))), 50, 50, 0.95),
    "near 1": (normal(2.5, 1), normal(0, 1), float(stats.norm.cdf(2.5 / np.sqrt(2))), 10, 30, 0.93),
}


def found(name: str, repeats: int = REPEATS) -> list[tuple[Array, Array, Estimate]]:
    rng = np.random.default_rng(3)
    ours, theirs, _, n, m, _ = SETTINGS[name]
    drawn = [(ours(rng, n), theirs(rng, m)) for _ in range(repeats)]
    return [(x, y, probability_of_improvement(x, y, LEVEL)) for x, y in drawn]


@pytest.mark.parametrize("name", SETTINGS)
def test_the_interval_covers_as_often_as_stated(name: str) -> None:
    ends = [(e.low, e.high) for _, _, e in found(name)]
    assert share_that_hold(ends, SETTINGS[name][2]) >= least(SETTINGS[name][5], REPEATS)


@pytest.mark.parametrize("name", ["normal, five runs", "unequal variances", "near 1"])
def test_the_twin_that_takes_every_pair_of_runs_for_a_trial_of_its_own_does_not(name: str) -> None:
    def binomial(x: Array, y: Array, p: float) -> tuple[float, float]:
        half = 1.96 * np.sqrt(p * (1 - p) / (len(x) * len(y)))
        return p - half, p + half

    ends = [binomial(x, y, e.value) for x, y, e in found(name)]
    assert share_that_hold(ends, SETTINGS[name][2]) < least(SETTINGS[name][5], REPEATS)


def test_strata_are_covered_and_the_twin_that_pools_them_is_not() -> None:
    """Ours wins in 60 % of the runs of either task; the tasks have different numbers of runs on both sides."""
    rng, shift = np.random.default_rng(5), float(np.sqrt(2) * stats.norm.ppf(0.6))
    ends, pooled = [], []
    for _ in range(REPEATS):
        x = [rng.normal(shift, 1, 10), rng.normal(100 + shift, 1, 20)]
        y = [rng.normal(0, 1, 20), rng.normal(100, 1, 10)]
        inside, at_once = probability_of_improvement(x, y), probability_of_improvement(np.hstack(x), np.hstack(y))
        ends.append((inside.low, inside.high))
        pooled.append((at_once.low, at_once.high))
    assert share_that_hold(ends, 0.6) >= least(LEVEL, REPEATS)
    assert share_that_hold(pooled, 0.6) < least(LEVEL, REPEATS)


def test_the_value_is_scipys_u() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 6, 17).astype(float), rng.integers(0, 8, 12).astype(float)
    u = stats.mannwhitneyu(x, y).statistic
    one, other = probability_of_improvement(x, y), probability_of_improvement(y, x)
    assert one.value == pytest.approx(u / (17 * 12))
    assert (other.value, other.low, other.high) == pytest.approx((1 - one.value, 1 - one.high, 1 - one.low))
    assert (one.runs, one.level, one.kind) == (29, 0.95, "Wilson interval of the placements")


def test_where_every_run_wins_the_interval_is_no_point() -> None:
    found = probability_of_improvement(np.arange(10.0) + 100, np.arange(10.0))
    assert (found.value, found.high) == (1, 1)
    assert 0.5 < found.low < 0.8


def test_sides_of_different_strata_are_refused() -> None:
    with pytest.raises(InputError, match="but must be runs of 2 strata, as ours"):
        probability_of_improvement([[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0])
