"""Summaries and the interquartile mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from hreach.statistics import interquartile_mean, summarise
from hreach.statistics.aggregates import iqm_under_weights


def test_a_summary_has_the_three_quantiles_and_the_middle_half() -> None:
    values = np.array([9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 100.0])
    found = summarise(values)
    assert (found.p10, found.p50, found.p90) == pytest.approx(tuple(np.quantile(values, [0.1, 0.5, 0.9])))
    assert found.iqm == pytest.approx((3 + 4 + 5 + 6) / 4)
    assert found.runs == 8
    assert found.se == pytest.approx(stats.sem(values))


@pytest.mark.parametrize("runs", [4, 8, 400])
def test_of_a_multiple_of_four_runs_it_is_scipys_trimmed_mean(runs: int) -> None:
    values = np.random.default_rng(runs).exponential(1, runs)
    assert interquartile_mean(values) == pytest.approx(stats.trim_mean(values, 0.25), rel=1e-12)


def test_runs_on_the_border_count_in_part() -> None:
    values = np.array([-1e6, 1.0, 2.0, 4.0, 1e6])
    assert interquartile_mean(values) == pytest.approx((0.75 * 1 + 2 + 0.75 * 4) / 2.5)
    assert interquartile_mean([3.0]) == 3.0


def test_strata_count_alike() -> None:
    """Two strata of different sizes: the smaller one's runs weigh more, as if each were there several times."""
    one, other = np.array([1.0, 5.0]), np.array([2.0, 3.0, 7.0, 9.0, 11.0, 20.0])
    assert interquartile_mean([one, other]) == pytest.approx(interquartile_mean(np.r_[np.repeat(one, 3), other]))


def test_weights_are_repetitions() -> None:
    rng = np.random.default_rng(3)
    values, counts = rng.normal(size=(12, 2)), rng.multinomial(12, np.full(12, 1 / 12), size=50)
    found = iqm_under_weights(values)(counts / 12)
    expected = [[stats.trim_mean(np.repeat(v, c), 0.25) for v in values.T] for c in counts]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
