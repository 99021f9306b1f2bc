"""Bootstrap intervals of mean and interquartile mean: as scipy has them, and covering as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from covering import LAWS, Array, Law, least, share_that_hold
from hreach import InputError
from hreach.statistics import estimates, interquartile_mean, iqm_interval, mean_interval
from hreach.statistics.aggregates import AGGREGATES
from hreach.statistics.ends import bca_ends, percentile_ends
from hreach.statistics.intervals import METHODS
from hreach.statistics.resampling import jackknife_weights
from hreach.statistics.scores import equal_weights

LEVEL, REPEATS = 0.95, 1500


def coverage(law: Law, runs: int, statistic: str, method: str) -> float:
    """How often the interval holds what it is about; the rows of one call are the repetitions."""
    values = law.draw(np.random.default_rng(7), (REPEATS, runs))
    found = estimates({str(i): row for i, row in enumerate(values)}, statistic, LEVEL, method)
    return share_that_hold([(e.low, e.high) for e in found.values()], law.mean if statistic == "mean" else law.iqm)


# What docstrings say of the share of intervals that hold: (law, runs, statistic, method).
STATED = {
    ("normal", 10, "mean", "studentised"): 0.95,
    ("bernoulli", 10, "mean", "studentised"): 0.95,
    ("skewed", 10, "mean", "studentised"): 0.94,
    ("skewed", 100, "mean", "studentised"): 0.95,
    ("normal", 10, "mean", "expanded"): 0.95,
    ("bernoulli", 10, "mean", "expanded"): 0.95,
    ("normal", 100, "mean", "bca"): 0.94,
    ("bernoulli", 100, "mean", "bca"): 0.95,
    ("normal", 100, "mean", "percentile"): 0.94,
    ("bernoulli", 100, "mean", "percentile"): 0.95,
    ("normal", 10, "iqm", "expanded"): 0.95,
    ("skewed", 10, "iqm", "expanded"): 0.95,
    ("bernoulli", 10, "iqm", "expanded"): 0.95,
    ("normal", 30, "iqm", "percentile"): 0.94,
    ("normal", 30, "iqm", "bca"): 0.94,
}


@pytest.mark.usefixtures("fewer_resamples")
@pytest.mark.parametrize("setting", STATED, ids=lambda setting: "-".join(map(str, setting)))
def test_an_interval_covers_as_often_as_is_stated(setting: tuple[str, int, str, str]) -> None:
    name, *rest = setting
    assert coverage(LAWS[name], *rest) >= least(STATED[setting], REPEATS)  # type: ignore[arg-type]


FALL_SHORT = [
    ("normal", 10, "mean", "percentile"),
    ("normal", 10, "mean", "bca"),
    ("skewed", 10, "mean", "expanded"),
    ("skewed", 5, "iqm", "percentile"),
    ("bernoulli", 100, "iqm", "bca"),
]


@pytest.mark.usefixtures("fewer_resamples")
@pytest.mark.parametrize("setting", FALL_SHORT, ids=lambda setting: "-".join(map(str, setting)))
def test_twins_that_fall_short_are_seen(setting: tuple[str, int, str, str]) -> None:
    """The intervals of few runs that docstrings warn of are found to cover less than 95 %."""
    name, *rest = setting
    assert coverage(LAWS[name], *rest) < least(LEVEL, REPEATS)  # type: ignore[arg-type]


def strata(rng: np.random.Generator) -> Array:
    """Ten runs each of three tasks at levels 0, 10 and 30: their mean is 40 / 3."""
    return rng.normal(np.array([[0.0], [10.0], [30.0]]), np.array([[1.0], [3.0], [0.5]]), (3, 10))


@pytest.mark.usefixtures("fewer_resamples")
@pytest.mark.parametrize("method", ["studentised", "expanded"])
def test_strata_are_covered_and_the_twin_that_pools_them_is_far_too_wide(method: str) -> None:
    rng = np.random.default_rng(3)
    rows = {str(i): strata(rng) for i in range(REPEATS)}
    found = estimates(rows, "mean", LEVEL, method).values()
    assert least(LEVEL, REPEATS) <= share_that_hold([(e.low, e.high) for e in found], 40 / 3) < 0.99
    pooled = estimates({name: row.ravel() for name, row in rows.items()}, "mean", LEVEL, method).values()
    assert np.mean([e.high - e.low for e in pooled]) > 5 * np.mean([e.high - e.low for e in found])


def mean_over_strata(*parts: Array, axis: int) -> Array:
    return np.asarray(np.mean([part.mean(axis=axis) for part in parts], axis=0))


def iqm(sample: Array, axis: int) -> Array:
    return np.apply_along_axis(interquartile_mean, axis, sample)


@pytest.mark.parametrize("sizes", [(25,), (12, 30)])
@pytest.mark.parametrize("statistic", ["mean", "iqm"])
def test_the_ends_are_scipys_for_the_same_samples(sizes: tuple[int, ...], statistic: str) -> None:
    rng = np.random.default_rng(11)
    values = [rng.exponential(1, runs) for runs in sizes if statistic == "mean" or runs == sizes[0]]
    sizes = tuple(len(part) for part in values)
    function = mean_over_strata if statistic == "mean" else iqm
    aggregate = AGGREGATES[statistic](np.concatenate(values)[:, None])
    left_out = np.split(aggregate(jackknife_weights(list(sizes)))[:, 0], np.cumsum(sizes)[:-1])
    for method in ("BCa", "percentile"):
        found = stats.bootstrap(values, function, method=method, n_resamples=500, rng=rng)
        samples = found.bootstrap_distribution
        value = float(aggregate(equal_weights(values)[None])[0, 0])
        ours = bca_ends(samples, value, left_out, 0.95) if method == "BCa" else percentile_ends(samples, 0.95)
        assert ours == pytest.approx(tuple(found.confidence_interval), rel=1e-9)


@pytest.mark.parametrize("sizes", [(25,), (12, 30)])
def test_the_samples_are_spread_as_scipys(sizes: tuple[int, ...]) -> None:
    """Both draw at random; an end of 10,000 samples is off by some hundredth of the width."""
    rng = np.random.default_rng(11)
    values = [rng.exponential(1, runs) for runs in sizes]
    found = stats.bootstrap(values, mean_over_strata, method="percentile", n_resamples=20_000, rng=rng)
    low, high = found.confidence_interval
    ours = mean_interval(values, 0.95, "percentile")
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=0.03 * (high - low))


def test_bca_and_percentile_intervals_of_skewed_runs_differ_by_more_than_that() -> None:
    values = np.random.default_rng(11).exponential(1, 25)
    bca, percentile = (mean_interval(values, 0.95, method) for method in ("bca", "percentile"))
    assert bca.high - percentile.high > 0.06 * (bca.high - bca.low)


def test_the_expanded_interval_of_normal_runs_is_nearly_students() -> None:
    values = stats.norm.ppf((np.arange(12) + 0.5) / 12)
    student = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert mean_interval(values, 0.95, "expanded").high == pytest.approx(student.high, rel=0.03)
    assert mean_interval(values, 0.95, "percentile").high < 0.88 * student.high


@pytest.mark.parametrize("method", METHODS)
def test_a_row_has_the_interval_that_it_has_alone(method: str) -> None:
    rng = np.random.default_rng(5)
    rows = {"a": rng.normal(size=20), "b": rng.normal(size=(2, 9)), "c": rng.normal(size=20)}
    together = estimates(rows, "mean", 0.9, method)
    assert list(together) == ["a", "b", "c"]
    for name, scores in rows.items():
        alone = mean_interval(scores, 0.9, method)
        assert (together[name].low, together[name].high) == pytest.approx((alone.low, alone.high), rel=1e-12)


def test_an_estimate_says_what_it_is() -> None:
    found = mean_interval([[1.0, 2.0, 4.0], [5.0, 6.0, 9.0]])
    assert found.value == pytest.approx((7 / 3 + 20 / 3) / 2)
    assert (found.level, found.runs, found.kind) == (0.95, 6, "stratified bootstrap, studentised")
    assert iqm_interval([1.0, 2.0, 4.0]).kind == "bootstrap, expanded"


@pytest.mark.parametrize("value", [0.1, -1800.0])
def test_without_variance_the_interval_is_the_value(value: float) -> None:
    for method in METHODS:
        found = mean_interval(np.full(7, value), method=method)
        assert (found.low, found.high) == pytest.approx((value, value), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: mean_interval([1.0]), r"scores is array\(\[1\.\]\), but must be at least 2 numbers in each stratum\."),
        (lambda: mean_interval([]), r"scores is \[\], but must be at least one number for each run\."),
        (lambda: mean_interval([1.0, np.nan]), "but must be finite numbers"),
        (lambda: mean_interval([1.0, 2.0], level=1.0), r"level is 1\.0, but must be above 0 and below 1\."),
        (lambda: mean_interval([1.0, 2.0], method="bc"), "method is 'bc', but must be one of studentised, expanded"),
        (lambda: iqm_interval([1.0, 2.0], method="studentised"), "one of expanded, bca, percentile for 'iqm'"),
        (lambda: estimates({"a": [1.0, 2.0]}, "median"), "statistic is 'median', but must be one of mean, iqm"),
    ],
)
def test_what_cannot_be_used_is_refused(call: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()  # type: ignore[operator]
