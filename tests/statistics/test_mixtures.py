"""The core of what is valid at any time, on bets that are not those on bounded numbers: likelihood ratios."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import gammaln

from covering import least
from hreach.statistics.mixtures import mixture_log_wealth, threshold

DELTA, REPEATS, ROLLS = 0.1, 300, 600
TRUTH = np.array([0.6, 0.3, 0.1])


def test_a_mixture_is_the_weighted_sum_of_wealth() -> None:
    wealth, weights = np.array([[0.5, 2.0, 0.0], [1.0, 1.0, 1.0]]), np.array([0.2, 0.3, 0.5])
    with np.errstate(divide="ignore"):
        found = mixture_log_wealth(np.log(wealth), np.log(weights))
    assert np.exp(found) == pytest.approx([0.7, 1.0])
    assert mixture_log_wealth(np.array([5000.0, 0.0]), np.log([0.5, 0.5])) == pytest.approx(5000 - math.log(2))
    assert threshold(0.05) == pytest.approx(math.log(20))


def grid(steps: int) -> np.ndarray:
    """Distributions of three outcomes: the middles of small triangles, all of the same weight."""
    pairs = [(i, j) for i in range(steps) for j in range(steps - i)]
    return np.array([[i + 1 / 3, j + 1 / 3, steps - i - j - 2 / 3] for i, j in pairs]) / steps


def refuted(scale: float) -> float:
    """The share of sequences of rolls in which the truth is refuted at some time, at 1 / scale of the wealth needed."""
    others, rng = grid(12), np.random.default_rng(1)
    weights = np.full(len(others), -math.log(len(others)))
    wrong = 0
    for _ in range(REPEATS):
        counts = np.cumsum(rng.multinomial(1, TRUTH, size=ROLLS), axis=0)
        wealth = mixture_log_wealth(counts @ np.log(others / TRUTH).T, weights)
        wrong += bool((wealth >= threshold(DELTA) - math.log(scale)).any())
    return wrong / REPEATS


def test_the_true_categorical_row_is_refuted_as_rarely_as_stated_and_more_often_with_wealth_out_of_nothing() -> None:
    assert refuted(1.0) <= 1 - least(1 - DELTA, REPEATS)
    assert refuted(8.0) > 1 - least(1 - DELTA, REPEATS)


def test_with_many_bets_of_equal_weight_it_is_the_dirichlet_mixture() -> None:
    """Dirichlet(1, 1, 1): the integral of q_1^a q_2^b q_3^c is 2 a! b! c! / (a + b + c + 2)!."""
    counts, others = np.array([6, 3, 1]), grid(300)
    found = mixture_log_wealth(np.log(others) @ counts, np.full(len(others), -math.log(len(others))))
    assert float(found) == pytest.approx(math.log(2) + gammaln(counts + 1).sum() - gammaln(13), abs=0.01)
