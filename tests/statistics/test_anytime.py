"""Intervals that may be looked at at any time: the wealth behind them is fair, and looking does not mislead."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy.special import stdtrit

from covering import Array, least
from hreach import InputError
from hreach.statistics import anytime_difference, anytime_interval, separated
from hreach.statistics.anytime import _log_wealth, _one_side

LEVEL, REPEATS = 0.9, 300
LOOKS = np.unique(np.geomspace(1, 500, 30).astype(int))
SEQUENCES: dict[str, tuple[Callable[[np.random.Generator], Array], float]] = {
    "uniform": (lambda rng: rng.random(LOOKS[-1]), 0.5),
    "nearly normal": (lambda rng: rng.beta(20, 20, LOOKS[-1]), 0.5),
    "skewed": (lambda rng: rng.beta(0.5, 4.5, LOOKS[-1]), 0.1),
    "bernoulli": (lambda rng: (rng.random(LOOKS[-1]) < 0.3).astype(np.float64), 0.3),
    "rare": (lambda rng: (rng.random(LOOKS[-1]) < 0.02).astype(np.float64), 0.02),
}


def ever_wrong(name: str, wrong: Callable[[Array, float], bool]) -> float:
    """The share of sequences in which the truth is excluded at one of the looks."""
    rng, (draw, mean) = np.random.default_rng(1), SEQUENCES[name]
    found = [any(wrong(x[:n], mean) for n in LOOKS) for x in (draw(rng) for _ in range(REPEATS))]
    return float(np.mean(found))


def refuted(x: Array, mean: float) -> bool:
    """Whether `anytime_interval` excludes the mean, without looking for its ends."""
    return _log_wealth(x, mean) >= math.log(1 / (1 - LEVEL))


def fixed_time(x: Array, mean: float) -> bool:
    """Wrong on purpose where it is looked at often: Student's interval for a number of runs that was fixed."""
    far = stdtrit(len(x) - 1, (1 + LEVEL) / 2) * x.std(ddof=1) / math.sqrt(len(x)) if len(x) > 2 else 1.0
    return bool(abs(x.mean() - mean) > far)


def too_rich(x: Array, mean: float) -> bool:
    """Wrong on purpose: every bet has twelve times its weight."""
    return _log_wealth(x, mean) + math.log(12) >= math.log(1 / (1 - LEVEL))


@pytest.mark.parametrize("name", SEQUENCES)
def test_who_looks_often_is_misled_as_rarely_as_stated(name: str) -> None:
    assert ever_wrong(name, refuted) <= 1 - least(LEVEL, REPEATS)


@pytest.mark.parametrize("name", SEQUENCES)
def test_by_an_interval_for_one_look_more_often(name: str) -> None:
    assert ever_wrong(name, fixed_time) > 1 - least(LEVEL, REPEATS)


def test_and_by_wealth_out_of_nothing() -> None:
    assert ever_wrong("bernoulli", too_rich) > 1 - least(LEVEL, REPEATS)


@pytest.mark.parametrize("mean", [0.1, 0.5, 0.8])
def test_the_expected_wealth_under_the_true_mean_is_what_the_weights_sum_to(mean: float) -> None:
    """Over all sequences of five numbers 0, 1/4 or 1, exactly; of another mean the bets grow."""

    def expected(p: Array) -> float:
        sequences = [list(kinds) for kinds in product(range(3), repeat=5)]
        return math.fsum(p[kinds].prod() * math.exp(_log_wealth(support[kinds], mean)) for kinds in sequences)

    support, middle = np.array([0.0, 0.25, 1.0]), 0.1
    law = np.array([1 - middle - (mean - 0.25 * middle), middle, mean - 0.25 * middle])
    stakes = 2 * math.ceil(math.log2(5 + 2)) + 8
    assert law @ support == pytest.approx(mean)
    assert expected(law) == pytest.approx(1 - 10 / (10 + stakes), rel=1e-12)
    assert expected(np.array([0.45, 0.1, 0.45]) if mean != 0.5 else np.array([0.8, 0.1, 0.1])) > 1


@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("name", SEQUENCES)
def test_the_interval_is_the_set_of_means_that_are_not_refuted(name: str, n: int) -> None:
    x = SEQUENCES[name][0](np.random.default_rng(n))[:n]
    low, high = anytime_interval(x, 0, 1, LEVEL)
    assert 0 <= low <= x.mean() <= high <= 1
    for m in np.linspace(0.003, 0.997, 150):
        assert refuted(x, m) == (not low <= m <= high) or min(abs(m - low), abs(m - high)) < 1e-8


def test_wealth_is_logarithmically_convex_in_the_mean() -> None:
    """Hence what is not refuted is an interval."""
    x, m = SEQUENCES["skewed"][0](np.random.default_rng(2))[:50], np.linspace(0.01, 0.99, 99)
    for curve in ([_log_wealth(x, t) for t in m], [_one_side(x, t) for t in m]):
        assert (np.diff(curve, 2) > -1e-9).all()


def test_stopping_at_a_width_covers_and_the_normal_twin_does_not() -> None:
    """`until = "ci_width < .25"`, looked at every ten runs, of successes that happen once in ten times."""

    def stopped(x: Array, interval: Callable[[Array], tuple[float, float]]) -> bool:
        """Whether the truth is inside when the interval is first narrow enough."""
        ends = next(e for n in range(10, len(x) + 1, 10) if (e := interval(x[:n]))[1] - e[0] < 0.25)
        return ends[0] <= 0.1 <= ends[1]

    def normal(x: Array) -> tuple[float, float]:
        half = 1.645 * x.std() / np.sqrt(len(x))
        return x.mean() - half, x.mean() + half

    rng = np.random.default_rng(3)
    sequences = [(rng.random(400) < 0.1).astype(np.float64) for _ in range(100)]
    ours = np.mean([stopped(x, lambda part: anytime_interval(part, 0, 1, LEVEL)) for x in sequences])
    assert ours >= least(LEVEL, 100)
    assert np.mean([stopped(x, normal) for x in sequences]) < least(LEVEL, 100)


def test_the_interval_adapts_to_the_variance_and_shrinks() -> None:
    rng = np.random.default_rng(4)
    narrow, wide = rng.beta(200, 200, 1000), rng.integers(0, 2, 1000).astype(np.float64)
    widths = [np.diff(anytime_interval(x, 0, 1))[0] for x in (narrow, wide, narrow[:100], wide[:100])]
    assert widths[0] < widths[1] / 5
    assert widths[0] < widths[2] / 3
    assert widths[1] < widths[3] / 2
    assert widths[1] < 2.5 * 2 * 1.96 * 0.5 / np.sqrt(1000)
    hoeffding = np.sqrt(2 * np.log(2 / 0.05) / 100) / 2 * 2  # at one time only
    assert widths[2] < hoeffding / 4


def test_units_do_not_matter_and_nothing_known_is_everything() -> None:
    x = np.random.default_rng(5).random(40)
    low, high = anytime_interval(x, 0, 1)
    assert anytime_interval(10 * x - 3, -3, 7) == pytest.approx((10 * low - 3, 10 * high - 3), abs=1e-7)
    assert anytime_interval([], -3, 7) == (-3, 7)
    mirrored = anytime_interval(1 - x, 0, 1)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-8)
    assert anytime_interval([1.0] * 500, 0, 1)[0] > 0.98
    assert anytime_interval([0.0] * 500, 0, 1)[0] == 0.0


# --- two means ---------------------------------------------------------------------------------------------------


def pairs(common: bool) -> list[tuple[Array, Array]]:
    """Two rows of mean 1/2, which share three quarters of their chance or none."""
    rng = np.random.default_rng(6)
    drawn = rng.random((REPEATS, 3, LOOKS[-1]))
    if common:
        drawn[:, :2] = 0.25 * drawn[:, :2] + 0.75 * drawn[:, 2:]
    return [(x[0], x[1]) for x in drawn]


@pytest.mark.parametrize("common", [False, True])
def test_equal_means_are_separated_as_rarely_as_stated_and_more_often_by_students_test(common: bool) -> None:
    def ever(settled: Callable[[Array, Array], bool]) -> float:
        return float(np.mean([any(settled(a[:n], b[:n]) for n in LOOKS) for a, b in pairs(common)]))

    most = 1 - least(LEVEL, REPEATS)
    assert ever(lambda a, b: separated({"a": a, "b": b}, 0, 1, LEVEL)) <= most
    assert ever(lambda a, b: fixed_time(a - b, 0.0)) > most


def test_separated_is_that_every_interval_of_a_difference_excludes_zero() -> None:
    rng = np.random.default_rng(7)
    rows = {name: rng.beta(20, 20, 400) + shift for name, shift in (("a", 0.0), ("b", 0.06), ("c", -0.1))}
    settled = []
    for n in (5, 20, 50, 100, 200, 400):
        now = {name: x[:n] for name, x in rows.items()}
        ends = [anytime_difference(now[a], now[b], -1, 2, 1 - 0.05 / 3) for a, b in ("ab", "ac", "bc")]
        assert separated(now, -1, 2, 0.95) == all(low > 0 or high < 0 for low, high in ends)
        settled.append(separated(now, -1, 2, 0.95))
    assert settled[0] is False
    assert settled[-1] is True
    assert separated({"a": rows["a"]}, -1, 2) is True


def test_the_difference_is_held_and_common_seeds_make_it_narrower() -> None:
    (a, b), (c, d) = pairs(common=False)[0], pairs(common=True)[0]
    apart, shared = anytime_difference(0.8 * a + 0.2, 0.8 * b, 0, 1), anytime_difference(0.8 * c + 0.2, 0.8 * d, 0, 1)
    assert apart[0] < 0.2 < apart[1]
    assert shared[0] < 0.2 < shared[1]
    assert shared[1] - shared[0] < 0.5 * (apart[1] - apart[0])
    assert anytime_difference(a, b[:100], 0, 1) == anytime_difference(a[:100], b[:100], 0, 1)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: anytime_interval([0.5, 1.2], 0, 1), r"values is array\(\[1\.2\]\), but must be numbers in \[0, 1\]\."),
        (lambda: anytime_interval([np.nan], 0, 1), r"but must be numbers in \[0, 1\]"),
        (lambda: anytime_interval([0.5], 1, 1), "high is 1, but must be above low, which is 1"),
        (lambda: anytime_interval(np.array([[0.5]]), 0, 1), r"but must be numbers of shape \(n,\)"),
        (lambda: separated({"a": [0.5], "b": [2.0]}, 0, 1), r"values is array\(\[2\.\]\), but must be numbers in"),
        (lambda: anytime_interval([0.5], 0, 1, 0.0), r"level is 0\.0, but must be above 0 and below 1"),
    ],
)
def test_what_cannot_be_used_is_refused(call: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()
