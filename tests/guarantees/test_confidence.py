"""Confidence sets of rows: the mixtures are exact, compiled equals defined, and rows stay in their sets for ever."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from numpy.typing import NDArray

from hreach import InputError
from hreach.guarantees.confidence import (
    chance,
    coin,
    known_successors,
    mean_interval,
    one_vector,
    support_mixture,
    whole_counts,
)
from hreach.kernels.radius import radii
from hreach.kernels.robust import widest

Array = NDArray[np.float64]
D = 0.1
TIMES = np.unique(np.round(np.geomspace(1, 1e5, 80)).astype(int))


def all_counts(n: int, outcomes: int) -> Array:
    """Every table of n samples of so many outcomes."""
    return np.array([c for c in product(range(n + 1), repeat=outcomes) if sum(c) == n], dtype=np.float64)


def mixture(beta: Array, counts: Array, d: float) -> Array:
    """Mix of beta = ln(1/d) + sum n_i ln(n_i/n) - ln Mix."""
    n = counts.sum(axis=1, keepdims=True)
    entropy = np.where(counts > 0, counts * np.log(np.maximum(counts, 1) / n), 0.0).sum(axis=1)
    return np.asarray(np.exp(np.log(1 / d) + entropy - beta))


@pytest.mark.parametrize("outcomes", [1, 2, 3, 4])
@pytest.mark.parametrize("radius", [support_mixture, known_successors])
def test_a_mixture_is_a_probability_of_all_sequences(radius: Callable[[Array, float], Array], outcomes: int) -> None:
    """Mix is the chance of a sequence when the row is drawn first: over all sequences of n samples it sums to 1."""
    for n in (1, 2, 5, 8):
        counts = all_counts(n, outcomes)
        sequences = np.array([factorial(n) / prod(factorial(int(k)) for k in row) for row in counts])
        total = float((sequences * mixture(radius(counts, D), counts, D)).sum())
        assert total == pytest.approx(1.0, rel=1e-10)


@pytest.mark.parametrize("outcomes", [1, 2, 5, 40, 400])
@pytest.mark.parametrize("known", [False, True])
def test_compiled_radii_are_the_defined_ones(outcomes: int, known: bool) -> None:
    rng = np.random.default_rng(outcomes)
    rows = np.array([rng.multinomial(n, rng.dirichlet(np.full(outcomes, 0.3))) for n in (0, 1, 2, 30, 2000, 10**6)])
    rows = rows.astype(np.float64)
    kept = np.ones(rows.shape, dtype=bool) if known else rows > 0
    first = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
    beta = np.empty(len(rows))
    radii(first, rows[kept], rows.sum(axis=1), outcomes, known, float(np.log(1 / D)), beta)
    expected = (known_successors if known else support_mixture)(rows, D)
    np.testing.assert_allclose(beta, expected, rtol=1e-7, atol=1e-6)


def test_leaving_terms_out_only_widens_the_set() -> None:
    """With very many outcomes not all terms of the mixture are added."""
    counts = np.zeros((1, 20_000))
    counts[0, 0] = 1
    beta = np.empty(1)
    radii(np.array([0, 1]), np.ones(1), np.ones(1), 20_000, False, float(np.log(1 / D)), beta)
    exact = float(support_mixture(counts, D)[0])
    assert exact <= beta[0] + 1e-9 <= exact + 0.01


# --- coverage: of 1000 rows sampled to n = 1e5, at most D may ever leave ----------------------------------------------

ROWS = {
    "certain": np.array([1.0, 0, 0, 0, 0]),
    "rare": np.array([0.99, 0.01, 0, 0, 0]),
    "two": np.array([0.8, 0.2, 0, 0, 0]),
    "even": np.full(5, 0.2),
    "many": np.full(20, 0.05),
}


def histories(p: Array, runs: int = 1000, seed: int = 0) -> Array:
    """Counts (runs, times, K) of rows of p at all `TIMES`."""
    rng = np.random.default_rng(seed)
    steps = np.diff(TIMES, prepend=0)
    return np.cumsum(rng.multinomial(steps, p, size=(runs, len(steps))), axis=1).astype(np.float64)


def divergence(counts: Array, p: Array) -> Array:
    """n KL(p^ || p)."""
    n = counts.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(counts > 0, counts * np.log(counts / n / p), 0.0).sum(axis=-1))


def leaving(counts: Array, p: Array, radius: Callable[[Array], Array]) -> float:
    """The share of histories that leave {n KL(p^ || p) <= beta} at some time."""
    return float((divergence(counts, p) > radius(counts)).any(axis=1).mean())


@pytest.mark.parametrize("name", list(ROWS))
def test_rows_stay_in_the_support_mixture(name: str) -> None:
    assert leaving(histories(ROWS[name]), ROWS[name], lambda n: support_mixture(n, D)) <= D


@pytest.mark.parametrize("name", list(ROWS))
def test_rows_stay_in_the_set_of_known_successors(name: str) -> None:
    p = ROWS[name][ROWS[name] > 0]
    assert leaving(histories(p), p, lambda n: known_successors(n, D)) <= D


def test_a_tenth_of_the_radius_is_left() -> None:
    counts = histories(ROWS["even"])
    assert leaving(counts, ROWS["even"], lambda n: 0.1 * support_mixture(n, D)) > D
    assert leaving(counts, ROWS["even"], lambda n: 0.1 * known_successors(n, D)) > D


def test_a_prior_left_in_the_counts_is_found_out() -> None:
    """What never follows seems to have been seen."""
    p = ROWS["rare"]
    assert leaving(histories(p) + 0.2, p, lambda n: support_mixture(n, D)) > D


def test_the_radius_of_one_vector_does_not_serve_all_vectors() -> None:
    p = ROWS["many"]
    assert leaving(histories(p), p, lambda n: one_vector(n.sum(axis=-1), D)) > D


def one_vector_misses(p: Array, v: Array, scale: float, runs: int = 300) -> float:
    """The share of histories in which p.v ever is above max {q.v: n KL(p^ || q) <= scale beta}, or below the least."""
    missed = 0
    for history in histories(p, runs, seed=1):
        beta = scale * one_vector(history.sum(axis=1), D)
        missed += any(_outside(row, v, b / row.sum(), float(p @ v)) for row, b in zip(history, beta, strict=True))
    return missed / runs


def _outside(counts: Array, v: Array, budget: float, mean: float) -> bool:
    for sign in (1.0, -1.0):
        gap = np.max(sign * v) - sign * v
        x, weight, _ = widest(counts, gap, 0, v.size, counts.sum(), budget, 0.0)
        if sign * mean > np.max(sign * v) + x - weight + 1e-12:
            return True
    return False


@pytest.mark.parametrize("name", ["rare", "even", "many"])
def test_one_fixed_vector_is_covered(name: str) -> None:
    p = ROWS[name]
    assert one_vector_misses(p, np.linspace(0.0, 1.0, p.size) ** 2, 1.0) <= D


def test_one_vector_with_a_tenth_of_its_radius_is_not() -> None:
    assert one_vector_misses(ROWS["even"], np.linspace(0.0, 1.0, 5), 0.1, 100) > D


def reward_misses(draw: Callable[[np.random.Generator, tuple[int, int]], Array], mean: float, scale: float) -> float:
    """The share of 400 histories to n = 2000 in which the mean of rewards in [0, 1] ever leaves its interval."""
    paid = np.cumsum(draw(np.random.default_rng(2), (400, 2000)), axis=1)
    n = np.arange(1, 2001)
    if scale == 1.0:
        low, high = mean_interval(paid / n, np.broadcast_to(n, paid.shape), D)
        return float(((mean < low) | (mean > high)).any(axis=1).mean())
    return float((n * coin(paid / n, np.full(paid.shape, mean)) > scale * one_vector(n, D)).any(axis=1).mean())


REWARDS: dict[str, tuple[Callable[[np.random.Generator, tuple[int, int]], Array], float]] = {
    "coin": (lambda rng, shape: (rng.random(shape) < 0.1).astype(np.float64), 0.1),
    "uniform": (lambda rng, shape: rng.random(shape), 0.5),
    "always 0": (lambda rng, shape: np.zeros(shape), 0.0),
}


@pytest.mark.parametrize("kind", list(REWARDS))
def test_mean_rewards_stay_in_their_interval(kind: str) -> None:
    assert reward_misses(*REWARDS[kind], 1.0) <= D


def test_mean_rewards_leave_a_tenth_of_it() -> None:
    assert reward_misses(*REWARDS["coin"], 0.1) > D


def test_nothing_seen_is_everything_possible() -> None:
    assert support_mixture(np.zeros(3), D) == np.inf
    assert known_successors(np.zeros(3), D) == np.inf
    assert one_vector(0, D) == np.inf
    low, high = mean_interval(np.array([0.3]), np.array([0]), D)
    assert (low[0], high[0]) == (0.0, 1.0)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, np.nan, "much"])
def test_delta_is_a_probability(delta: object) -> None:
    with pytest.raises(InputError, match=r"^delta is .*, but must be"):
        chance(delta)


@pytest.mark.parametrize("counts", [[-1.0], [0.5], [np.nan], [np.inf]])
def test_counts_are_whole(counts: list[float]) -> None:
    with pytest.raises(InputError, match=r"^counts is .*, but must be whole numbers of at least 0"):
        whole_counts("counts", counts)
