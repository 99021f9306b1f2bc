"""Lemma 2 in simulation: real Gaussian samples leave the interval no more often than promised.

The least-squares fit after h samples at phi is computed anew from X'X + h phi phi' + ridge I, for many worlds at once;
only the interval comes from the library. The truth is as far from the model as Delta allows, the lemma's worst case.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from hreach.models.features import Identity
from hreach.models.linear import LinearModel
from hreach.reach.interval import Interval, noise_bound

Array = NDArray[np.float64]
WORLDS, CALLS, NS = 4000, 20, 2
SIGMA, DELTAS = np.array([0.3, 1.0]), [0.1, 0.9]


class World(NamedTuple):
    """A model after 30 samples, CALLS states to ask about, and the error Delta it has everywhere."""

    model: LinearModel
    states: Array  # (CALLS, 2)
    Delta: Array  # (2,)


def world(ridge: float = 0.2) -> World:
    rng = np.random.default_rng(9)
    model = LinearModel(Identity(NS), ridge=ridge)
    model.update_features(rng.normal(size=(30, NS)), rng.normal(size=(30, NS)))
    return World(model, rng.normal(size=(CALLS, NS)) * 2, np.array([0.1, 0.2]))


def shifts(w: World, h: int, seed: int) -> tuple[Array, Array]:
    """What h random samples do to the prediction, and the largest noise among them: (WORLDS, CALLS, NS) both.

    Each call asks about a state, and its h samples are drawn from N(prediction + Delta, sigma^2).
    """
    factor, rng = w.model.factors[0], np.random.default_rng(seed)
    A = factor.gram[0] + w.model.ridge * np.eye(NS)
    now = w.model.predict(w.states, np.zeros(CALLS, dtype=int))
    moved, largest = np.empty((2, WORLDS, CALLS, NS))
    for m, phi in enumerate(w.states):
        noise = rng.normal(size=(WORLDS, h, NS)) * SIGMA
        total = (now[m] + w.Delta + noise).sum(axis=1)  # (WORLDS, NS)
        moments = factor.moments[0] + phi[:, None] * total[:, None, :]  # (WORLDS, n, NS)
        theta = np.linalg.solve(A + h * np.outer(phi, phi), moments)
        moved[:, m] = phi @ theta - now[m]
        largest[:, m] = noise.max(axis=1)  # towards the truth; noise away from it brings nothing nearer
    return moved, largest


def intervals(w: World, interval: Interval) -> Array:
    """I_h of the M-th state at the M-th call: (CALLS, NS)."""
    actions = np.zeros(1, dtype=int)
    return np.concatenate([interval(w.model, s[None], actions, m + 1) for m, s in enumerate(w.states)])


def failure_rate(outside: NDArray[np.bool_]) -> tuple[float, float]:
    """How often any call in any component was outside, with a standard error."""
    rate = float(outside.any(axis=(1, 2)).mean())
    return rate, float(np.sqrt(rate * (1 - rate) / WORLDS))


@pytest.mark.parametrize("noise", ["mean", "any"])
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("h", [1, 2, 8])
def test_real_samples_stay_inside_the_hopeful_interval(noise: Literal["mean", "any"], delta: float, h: int) -> None:
    w = world()
    inside = intervals(w, Interval("exact", h, SIGMA, w.Delta, delta, noise))
    rate, error = failure_rate(np.abs(shifts(w, h, seed=h)[0]) > inside)
    assert rate <= delta / 2 + 3 * error


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("h", [1, 2, 8])
def test_real_samples_stay_inside_the_papers_interval(delta: float, h: int) -> None:
    w = world(ridge=1e-9)  # the paper has no ridge
    rate, error = failure_rate(
        np.abs(shifts(w, h, seed=h)[0]) > intervals(w, Interval("paper", h, SIGMA, w.Delta, delta))
    )
    assert rate <= delta / 2 + 3 * error


def best_shift(w: World, h: int, noise: Array) -> Array:
    """How far the prediction moves when it comes as near to the truth as h samples with noise up to `noise` allow.

    The samples may lie anywhere up to Delta + noise, so the prediction can be moved to anything in between.
    """
    A = w.model.factors[0].gram[0] + w.model.ridge * np.eye(NS)
    q = np.array([phi @ np.linalg.solve(A, phi) for phi in w.states])
    after = np.array([phi @ np.linalg.solve(A + h * np.outer(phi, phi), phi) for phi in w.states])
    share = 1 - after / q  # the weight of h samples, from the leverage after them
    return np.asarray(np.minimum(w.Delta, share[:, None] * (w.Delta + np.maximum(noise, 0))))


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("h", [1, 2, 8])
def test_lemma_2_the_best_reachable_model_is_inside(delta: float, h: int) -> None:
    """|best reachable prediction - prediction| <= I_h with probability at least 1 - delta / 2, all calls at once."""
    w = world()
    _, largest = shifts(w, h, seed=h)
    rate, error = failure_rate(
        best_shift(w, h, largest) > intervals(w, Interval("exact", h, SIGMA, w.Delta, delta, "any", "best")) + 1e-12
    )
    assert rate <= delta / 2 + 3 * error


def test_a_shrunk_interval_is_caught() -> None:
    """The twins: intervals that are too small fail the tests above, so those tests can fail."""
    w, h, delta = world(), 8, 0.9
    moved, largest = shifts(w, h, seed=h)
    without_noise = intervals(w, Interval("exact", h, 0.0, w.Delta, delta))
    quarter = intervals(w, Interval("exact", h, SIGMA / 4, w.Delta, delta))
    fewer = intervals(w, Interval("exact", 1, SIGMA / 3, w.Delta, delta))
    for small in (without_noise, quarter, fewer):
        rate, error = failure_rate(np.abs(moved) > small)
        assert rate > delta / 2 + 3 * error
    shrunk = intervals(w, Interval("exact", h, SIGMA / 4, w.Delta, delta, "any", "best"))
    rate, error = failure_rate(best_shift(w, h, largest) > shrunk + 1e-12)
    assert rate > delta / 2 + 3 * error


def test_the_promise_is_the_union_over_calls_components_and_samples() -> None:
    """sum over M of nS h / 2 exp(-varsigma^2 / 2) = delta / 2: the constant of varsigma, without simulation."""
    M = np.arange(1, 200_000)
    c = np.array([noise_bound(m, 8, np.ones(NS), 0.4, "any")[0] for m in M[:50]])
    exact = np.sqrt(2 * np.log(np.pi**2 * M.astype(float) ** 2 * NS * 8 / (6 * 0.4)))
    np.testing.assert_allclose(c, exact[:50])
    assert NS * 8 / 2 * np.exp(-np.square(exact) / 2).sum() == pytest.approx(0.4 / 2, abs=1e-5)
