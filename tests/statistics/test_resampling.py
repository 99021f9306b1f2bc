"""The one resampling: what is drawn, and what is drawn together."""

from __future__ import annotations

import numpy as np

from hreach.statistics import bootstrap, resampled_means


def test_a_bootstrap_sample_is_as_large_as_the_original_and_draws_every_run_alike() -> None:
    drawn = bootstrap(5, 20_000, np.random.default_rng(0))
    assert drawn.shape == (20_000, 5)
    shares = np.bincount(drawn.ravel(), minlength=5) / drawn.size
    assert np.abs(shares - 0.2).max() < 4 * np.sqrt(0.2 * 0.8 / drawn.size)
    assert np.unique(drawn[0]).size < 5 or np.unique(drawn[1]).size < 5  # with replacement


def test_resampled_means_are_the_means_of_the_runs_that_bootstrap_draws_in_each_stratum() -> None:
    values = np.random.default_rng(1).normal(size=(3, 7, 2, 4))
    found = resampled_means(values, 50, np.random.default_rng(2))
    rng = np.random.default_rng(2)
    expected = np.mean([stratum[bootstrap(7, 50, rng)].mean(axis=1) for stratum in values], axis=0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    assert found.shape == (50, 2, 4)


def test_strata_of_different_level_add_no_variance() -> None:
    """The twin that draws from all strata at once is as wide as they are apart."""
    values = np.random.default_rng(3).normal(size=(2, 40)) + np.array([[0.0], [100.0]])
    within = resampled_means(values, 500, np.random.default_rng(4)).std()
    at_once = resampled_means(values.reshape(1, 80), 500, np.random.default_rng(4)).std()
    assert within < 0.2 < 4 < at_once


def test_paired_numbers_stay_paired() -> None:
    own = np.random.default_rng(5).normal(size=(1, 30))
    means = resampled_means(np.stack([own, own + 1], axis=2), 100, np.random.default_rng(6))
    np.testing.assert_allclose(means[:, 1] - means[:, 0], 1.0)
