"""Paired comparisons: exact p-values, and Holm's correction that keeps its word over many of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy import stats

from covering import Array, least
from hreach import InputError
from hreach.statistics import holm, mean_interval, paired_comparisons
from hreach.statistics.paired import flip_p_values

REPEATS, ALPHA = 1500, 0.05
MOST = 1 - least(1 - ALPHA, REPEATS)


def by_all_flips(differences: Array) -> float:
    """The definition: every choice of signs."""
    signs = np.array(list(product([-1, 1], repeat=len(differences))))
    return float((np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9).mean())


def test_p_values_are_those_of_all_flips() -> None:
    rng = np.random.default_rng(2)
    differences = rng.normal([0.0, 0.5, 1.5], 1.0, (8, 3))
    found = flip_p_values(differences, np.random.default_rng(0))
    for p, column in zip(found, differences.T, strict=True):
        exact = by_all_flips(column)
        assert abs(p - exact) < 4 * np.sqrt(exact * (1 - exact) / 10_000) + 1e-4


def test_of_many_normal_runs_they_are_students() -> None:
    differences = np.random.default_rng(4).normal(0.1, 1, (400, 4))
    found = flip_p_values(differences, np.random.default_rng(0))
    np.testing.assert_allclose(found, stats.ttest_1samp(differences, 0).pvalue, rtol=0, atol=0.02)


@pytest.fixture
def fewer_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hreach.statistics.paired.RESAMPLES", 999)


# Differences of two agents that are alike, given the seed; and skewed ones of mean 0, which only many runs make up for
ALIKE: dict[str, tuple[int, Callable[[np.random.Generator, tuple[int, int]], Array]]] = {
    "normal": (10, lambda rng, shape: rng.normal(0, 1, shape)),
    "bernoulli": (10, lambda rng, shape: rng.choice([-1.0, 0.0, 1.0], shape, p=[0.25, 0.5, 0.25])),
    "skewed": (100, lambda rng, shape: rng.exponential(1, shape) - 1),
}


@pytest.mark.usefixtures("fewer_flips")
@pytest.mark.parametrize("name", ALIKE)
def test_equal_means_are_called_different_as_rarely_as_stated(name: str) -> None:
    runs, draw = ALIKE[name]
    p = flip_p_values(draw(np.random.default_rng(5), (runs, REPEATS)), np.random.default_rng(6))
    assert (p <= ALPHA).mean() <= MOST


def test_the_twin_that_takes_few_runs_for_many_is_seen() -> None:
    """The normal approximation calls five alike runs different too often."""
    d = np.random.default_rng(5).normal(0, 1, (5, REPEATS))
    p = 2 * stats.norm.sf(np.abs(d.mean(axis=0)) / stats.sem(d, axis=0))
    assert (p <= ALPHA).mean() > MOST


@pytest.mark.usefixtures("fewer_flips")
def test_holm_keeps_the_chance_of_any_false_verdict_and_the_uncorrected_twin_does_not() -> None:
    """Six rows: four alike, two better; all share what the seed does. False is a verdict on two of the four."""
    rng, families = np.random.default_rng(7), 400
    false, uncorrected = 0, 0
    alike = [i for i, (a, b) in enumerate((a, b) for a in range(6) for b in range(a + 1, 6)) if b < 4]
    for _ in range(families):
        runs = rng.normal(size=(12, 1)) + rng.normal(size=(12, 6)) + np.array([0, 0, 0, 0, 1, 2.0])
        pairs = np.column_stack([runs[:, a] - runs[:, b] for a in range(6) for b in range(a + 1, 6)])
        p = flip_p_values(pairs, rng)
        false += bool((holm(p)[alike] <= ALPHA).any())
        uncorrected += bool((p[alike] <= ALPHA).any())
    most = 1 - least(1 - ALPHA, families)
    assert false / families <= most < uncorrected / families


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == pytest.approx([1, 1])
    assert len(holm([])) == 0


def test_a_comparison_says_which_rows_by_how_much_and_how_surely() -> None:
    rng = np.random.default_rng(1)
    seed = rng.normal(size=30)
    rows = {"a": seed + 1, "b": seed + rng.normal(0, 0.1, 30), "c": rng.permutation(seed) + 1}
    found = paired_comparisons(rows)
    assert [(c.first, c.second) for c in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    first = found[0]
    alone = mean_interval(rows["a"] - rows["b"])
    assert (first.difference.low, first.difference.high) == pytest.approx((alone.low, alone.high), rel=1e-12)
    assert first.difference.high - first.difference.low < 0.1
    assert first.p == pytest.approx(1 / 10_001)
    assert first.adjusted == pytest.approx(3 / 10_001)
    assert found[1].adjusted == 1


def test_rows_that_cannot_be_paired_are_refused() -> None:
    with pytest.raises(InputError, match=r"rows is \{'a': 2, 'b': 3\}, but must be rows of as many runs each\."):
        paired_comparisons({"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="but must be at least two rows"):
        paired_comparisons({"a": [1.0, 2.0]})
    with pytest.raises(InputError, match=r"p is \[1\.5\], but must be numbers of at least 0 and at most 1\."):
        holm([1.5])
