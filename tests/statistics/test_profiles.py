"""Performance profiles: the shares, and a band that holds the whole curve."""

from __future__ import annotations

import numpy as np
import pytest

from covering import LAWS, Array, Law, least
from hreach import InputError
from hreach.statistics import performance_profile

REPEATS, LEVEL = 2000, 0.95
GRID = np.linspace(-4, 10, 281)


def truth(law: Law) -> Array:
    """P(score > tau) at the grid, from very many runs."""
    return performance_profile(law.draw(np.random.default_rng(0), (2_000_000,)), GRID).share


def coverage(low_high: list[tuple[Array, Array]], curve: Array) -> float:
    return float(np.mean([((low <= curve) & (curve <= high)).all() for low, high in low_high]))


def profiles(law: Law, runs: int) -> list[Array]:
    rng = np.random.default_rng(4)
    return [law.draw(rng, (runs,)) for _ in range(REPEATS)]


@pytest.mark.parametrize("runs", [10, 50])
@pytest.mark.parametrize("name", LAWS)
def test_the_band_holds_the_whole_curve_as_often_as_stated(name: str, runs: int) -> None:
    found = [performance_profile(scores, GRID, LEVEL) for scores in profiles(LAWS[name], runs)]
    assert coverage([(p.low, p.high) for p in found], truth(LAWS[name])) >= least(LEVEL, REPEATS)


@pytest.mark.parametrize("runs", [10, 50])
def test_the_twin_that_holds_each_point_by_itself_does_not(runs: int) -> None:
    """The normal band of each share, as if only one threshold were looked at."""

    def pointwise(scores: Array) -> tuple[Array, Array]:
        share = performance_profile(scores, GRID).share
        half = 1.96 * np.sqrt(share * (1 - share) / len(scores))
        return share - half, share + half

    found = [pointwise(scores) for scores in profiles(LAWS["normal"], runs)]
    assert coverage(found, truth(LAWS["normal"])) < least(LEVEL, REPEATS)


def test_strata_are_covered_and_the_twin_that_counts_runs_twice_is_not() -> None:
    rng = np.random.default_rng(8)
    curve = (truth(LAWS["normal"]) + truth(LAWS["skewed"])) / 2
    bands, narrow = [], []
    for _ in range(REPEATS):
        found = performance_profile([LAWS["normal"].draw(rng, (40,)), LAWS["skewed"].draw(rng, (25,))], GRID, LEVEL)
        bands.append((found.low, found.high))
        narrow.append(((found.low + found.share) / 2, (found.high + found.share) / 2))
    assert coverage(bands, curve) >= least(LEVEL, REPEATS)
    assert coverage(narrow, curve) < least(LEVEL, REPEATS)


def test_shares_are_of_runs_above_the_threshold_strata_weighted_alike() -> None:
    found = performance_profile([[1.0, 2.0], [2.0, 3.0, 4.0, 5.0]], np.array([0.0, 1.0, 2.0, 4.5, 5.0]))
    assert found.share == pytest.approx([1, 0.75, 0.375, 0.125, 0])
    assert (found.runs, found.level, found.low.min(), found.high.max()) == (6, 0.95, 0, 1)


def test_thresholds_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InputError, match=r"thresholds is array\(\[nan\]\), but must be numbers of shape"):
        performance_profile([1.0, 2.0], np.array([np.nan]))
