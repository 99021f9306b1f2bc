"""The reachable interval of linear models against what h real samples do, and against the paper's formula."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hreach import InputError
from hreach.models.feature_map import FeatureMap
from hreach.models.features import ActionBlocks, Bias, Concat, Identity, Products, RandomFourier
from hreach.models.linear import LinearModel
from hreach.reach.interval import Interval, noise_bound, reach_weight_linear, varsigma
from hreach.reach.weight import reach_weight

Array = NDArray[np.float64]
MAPS: dict[str, FeatureMap] = {
    "polynomial": Concat((Bias(3), Identity(3), Products(3))),
    "random Fourier": RandomFourier(3, 12, seed=1),
    "per action": ActionBlocks(Concat((Bias(3), Identity(3))), 3),
}


class Case(NamedTuple):
    """A model after some samples, and a place to ask about."""

    model: LinearModel
    state: Array  # (1, 3)
    action: NDArray[np.int64]  # (1,)
    rng: np.random.Generator


def case(seed: int, features: FeatureMap, ridge: float = 0.5, samples: int | None = None) -> Case:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 40)) if samples is None else samples
    model = LinearModel(features, ridge=ridge)
    for _ in range(count):
        model.update(rng.normal(size=3), int(rng.integers(0, 3)), rng.normal(size=3))
    return Case(model, rng.normal(size=(1, 3)), rng.integers(0, 3, 1), rng)


def rule(kind: str, h: Any, **given: Any) -> Interval:
    return Interval(kind, h, **{"sigma": 0.1, "Delta": 1.0, "delta": 0.9, **given})  # type: ignore[arg-type]


# --- the exact interval is what really happens ----------------------------------------------------------------


@pytest.mark.parametrize("features", MAPS.values(), ids=MAPS)
@settings(deadline=None, derandomize=True, max_examples=40)
@given(seed=st.integers(0, 10**6), h=st.integers(1, 12), ridge=st.sampled_from([1e-3, 0.1, 1.0, 10.0]))
def test_h_real_samples_move_the_prediction_by_f(features: FeatureMap, seed: int, h: int, ridge: float) -> None:
    """Any h targets move it by f (mean target - prediction), and the leverage q becomes q / (1 + h q)."""
    model, state, action, rng = case(seed, features, ridge)
    before, q = model.predict(state, action)[0], model.leverage(state, action)
    targets = rng.normal(size=(h, 3)) * 3
    for y in targets:
        model.update(state[0], int(action[0]), y)
    moved = model.predict(state, action)[0] - before
    f = reach_weight_linear(q, h)[0]
    np.testing.assert_allclose(moved, f * (targets.mean(axis=0) - before), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.leverage(state, action), q / (1 + h * q), rtol=1e-10)
    np.testing.assert_allclose(f, 1 - model.leverage(state, action)[0] / q[0], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("features", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("noise", ["mean", "any"])
@settings(deadline=None, derandomize=True, max_examples=25)
@given(seed=st.integers(0, 10**6), h=st.integers(1, 12))
def test_the_interval_is_reached_by_the_most_hopeful_samples(
    features: FeatureMap, noise: str, seed: int, h: int
) -> None:
    """Truth at prediction + Delta and all noise at +c: h updates move the prediction by exactly I_h, in each output."""
    model, state, action, _ = case(seed, features)
    Delta, sigma = np.array([0.5, 2.0, 0.0]), np.array([0.1, 0.0, 0.3])
    interval = rule("exact", h, Delta=Delta, sigma=sigma, noise=noise)
    expected = interval(model, state, action, calls=7)[0]
    z = np.sqrt(2 * np.log(np.pi**2 * 49 * 3 * h / (6 * 0.9)))
    c = z * sigma / (np.sqrt(h) if noise == "mean" else 1)
    before = model.predict(state, action)[0]
    for _ in range(h):
        model.update(state[0], int(action[0]), before + Delta + c)
    np.testing.assert_allclose(model.predict(state, action)[0] - before, expected, rtol=1e-10, atol=1e-10)
    best = rule("exact", h, Delta=Delta, sigma=sigma, noise=noise, shift="best")
    np.testing.assert_allclose(
        best(case(seed, features).model, state, action, 7)[0], np.minimum(Delta, expected), rtol=1e-12
    )


def test_one_sample_more_or_less_would_not_pass() -> None:
    model, state, action, _ = case(1, MAPS["polynomial"], samples=20)
    q = model.leverage(state, action)
    right = reach_weight_linear(q, 5)
    for h in (4, 6):
        assert np.abs(reach_weight_linear(q, h) - right).min() > 1e-3


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.lists(st.integers(0, 50), min_size=2, max_size=4), st.integers(0, 20))
def test_counts_are_one_hot_features_without_a_ridge(counts: list[int], h: int) -> None:
    """q = 1 / n and f = h / (n + h): Equation (1)."""
    model = LinearModel(ActionBlocks(Bias(1), len(counts)), ridge=1e-12)
    for a, n in enumerate(counts):
        model.update_features(np.ones((n, 1)), np.zeros((n, 1)), a)
    f = reach_weight_linear(model.leverage(np.zeros((len(counts), 1)), np.arange(len(counts)))[:, 0], h)
    np.testing.assert_allclose(f, reach_weight(counts, h), rtol=1e-10, atol=1e-10)


# --- beside the paper's interval ------------------------------------------------------------------------------


def nonsingular(seed: int) -> Case:
    """X'X nonsingular, its eigenvalues on both sides of 1, the ridge anything."""
    rng = np.random.default_rng(seed)
    ridge = 10 ** rng.uniform(-6, 1)
    model = LinearModel(Identity(3), ridge=ridge)
    scale = 10 ** rng.uniform(-1.5, 1, size=3)
    rows = rng.normal(size=(int(rng.integers(3, 12)), 3)) * scale
    model.update_features(rows, rng.normal(size=rows.shape))
    return Case(model, rng.normal(size=(4, 3)) * 10 ** rng.uniform(-2, 2), np.zeros(4, dtype=int), rng)


def test_the_exact_interval_is_never_above_the_papers() -> None:
    both, strictly = 0, 0
    for seed in range(2000):
        model, states, actions, rng = nonsingular(seed)
        values = model.eigen().values
        if values[0, -1] < 1e-9 * values[0, 0]:
            continue
        both += bool(values.min() < 1 <= values.max())
        h = float(rng.uniform(1, 50))
        given: dict[str, Any] = {"Delta": rng.uniform(0, 2, 3), "sigma": rng.uniform(0, 1, 3), "delta": 0.5}
        paper = rule("paper", h, **given)(model, states, actions, seed + 1)
        for noise in ("mean", "any"):
            exact = rule("exact", h, noise=noise, **given)(model, states, actions, seed + 1)
            assert (exact <= paper * (1 + 1e-9)).all()
            strictly += bool((exact < 0.9 * paper).all())
    assert both > 500  # the split of the eigenvalues was at work
    assert strictly > 500


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 10**6), st.floats(0, 30))
def test_the_papers_interval_is_the_printed_formula(seed: int, h: float) -> None:
    model, states, actions, rng = nonsingular(seed)
    Delta, sigma, M = rng.uniform(0, 2, 3), rng.uniform(0, 1, 3), 11
    XX = model.factors[0].gram[0]
    values, U = np.linalg.eigh(XX)
    g = U @ np.diag([1 / v if v >= 1 else 0 for v in values]) @ U.T
    w = U @ np.diag([0.0 if v >= 1 else 1.0 for v in values]) @ U.T
    z = np.linalg.inv(XX)
    inside = np.pi**2 * M**2 * 3 * h / (6 * 0.9)
    s = np.sqrt(2 * np.log(inside)) if inside > 1 else 0.0
    expected = [
        h * (Delta + s * sigma) * (abs(phi @ g @ phi) + np.linalg.norm(phi @ z) * np.linalg.norm(w @ phi))
        for phi in states
    ]
    got = rule("paper", h, Delta=Delta, sigma=sigma)(model, states, actions, M)
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    capped = rule("paper", h, Delta=Delta, sigma=sigma, shift="best")(model, states, actions, M)
    np.testing.assert_allclose(capped, np.minimum(expected, Delta), rtol=1e-6)


@pytest.mark.parametrize("kind", ["exact", "paper"])
@settings(deadline=None, derandomize=True, max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_the_interval_grows_with_h_with_calls_and_with_delta(kind: str, seed: int) -> None:
    """For noise="any"; the mean of more draws is nearer to the truth, so there c falls while f grows."""
    model, state, action, _ = case(seed, MAPS["polynomial"])
    hs = (0, 1e-3, 0.3, 1, 2, 10, 1e3, 1e6)
    values = [rule(kind, h, noise="any")(model, state, action, 3) for h in hs]
    assert (np.diff(values, axis=0) >= 0).all()
    assert (values[0] == 0).all()
    calls = [rule(kind, 2)(model, state, action, M) for M in (1, 10, 1e6, 1e15)]
    assert (np.diff(calls, axis=0) >= 0).all()
    assert (rule(kind, 2, delta=0.1)(model, state, action, 3) >= rule(kind, 2)(model, state, action, 3)).all()
    weights = reach_weight_linear(model.leverage(state, action), np.array([[0], [0.5], [1], [7], [np.inf]]))
    assert (np.diff(weights, axis=0) > 0).all()


def test_seen_directions_are_reached_less() -> None:
    model = LinearModel(Identity(3), ridge=1e-9)
    model.update_features(np.tile([1.0, 0, 0], (9, 1)), np.zeros((9, 3)))
    f = rule("exact", 1, sigma=0)(model, np.eye(3), np.zeros(3, dtype=int), 1)[:, 0]
    np.testing.assert_allclose(f, [0.1, 1, 1], rtol=1e-6)  # 1 / (9 + 1); a pseudo-inverse would give 0, 0 here


# --- corners --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "h", "f"),
    [
        *[(0, 0, 0), (2, 0, 0), (0, 5, 0), (0.5, 2, 0.5), (3, 1e-9, 3e-9)],
        *[(0, np.inf, 0), (1e-300, np.inf, 1), (1e300, 1e300, 1)],
    ],
)
def test_the_weight_at_its_corners(q: float, h: float, f: float) -> None:
    assert float(reach_weight_linear(q, h)) == pytest.approx(f, rel=1e-8)


def test_varsigma_never_takes_the_logarithm_of_nothing() -> None:
    assert float(varsigma(1, 2, 0, 0.9)) == 0
    assert float(varsigma(1, 1, 1e-9, 0.9)) == 0  # clamped
    assert float(varsigma(3, 2, 4, 0.5)) == pytest.approx(np.sqrt(2 * np.log(np.pi**2 * 9 * 8 / 3)))
    np.testing.assert_allclose(noise_bound(3, 4, np.array([1.0, 0]), 0.5), [float(varsigma(3, 2, 4, 0.5)) / 2, 0])
    assert noise_bound(1, 0.25, np.array([1.0]), 0.01)[0] == float(varsigma(1, 1, 0.25, 0.01))  # no 1 / sqrt(h < 1)
    np.testing.assert_array_equal(noise_bound(1, np.inf, np.array([1.0, 0]), 0.9), [0, 0])


@pytest.mark.parametrize("kind", ["exact", "paper"])
def test_with_h_zero_nothing_is_within_reach(kind: str) -> None:
    model, state, action, _ = case(2, MAPS["polynomial"], samples=0)
    np.testing.assert_array_equal(rule(kind, 0)(model, state, action, 1), np.zeros((1, 3)))


def test_with_infinite_h_the_truth_is_within_reach() -> None:
    model, state, action, _ = case(3, MAPS["polynomial"])
    np.testing.assert_array_equal(rule("exact", np.inf, Delta=[1, 2, 3])(model, state, action, 5), [[1, 2, 3]])


def test_h_may_differ_by_row_and_by_component() -> None:
    model, _, _, rng = case(4, MAPS["polynomial"], samples=10)
    states, actions = rng.normal(size=(2, 3)), np.zeros(2, dtype=int)
    for kind in ("exact", "paper"):
        rows = rule(kind, [1, 8])(model, states, actions, 2)
        for i, h in enumerate((1, 8)):
            np.testing.assert_allclose(rows[i], rule(kind, h)(model, states, actions, 2)[i])
        table = rule(kind, [[1, 8, 1], [8, 1, 1]])(model, states, actions, 2)
        np.testing.assert_allclose(table[1, 0], rows[1, 0])
        np.testing.assert_allclose(table[0, 0], rows[0, 0])


def test_delta_may_be_what_the_model_measured() -> None:
    model, state, action, _ = case(5, MAPS["polynomial"], samples=25)
    for name, value in (("mean", model.error_mean), ("max", model.error_max)):
        np.testing.assert_array_equal(rule("exact", 2, Delta=name).bound(model), value)
        got = rule("exact", 2, Delta=name, sigma=0)(model, state, action, 1)
        np.testing.assert_allclose(got, reach_weight_linear(model.leverage(state, action), 2) * value)
    assert (model.error_max >= model.error_mean).all()


def test_the_papers_interval_is_finite_before_and_after_the_features_span() -> None:
    model, state, action, rng = case(6, Identity(3), samples=0)
    for _ in range(6):
        for z_rule in ("singular", "small"):
            value = rule("paper", 4, z_rule=z_rule)(model, state, action, 1)
            assert np.isfinite(value).all()
            assert (value > 0).all()
        model.update(rng.normal(size=3), 0, rng.normal(size=3))
    fresh = LinearModel(Identity(3))
    norm2 = float(np.square(state).sum())
    got = rule("paper", 1, sigma=0, z_ridge=0.5)(fresh, state, action, 1)
    np.testing.assert_allclose(got, norm2 / 0.5)  # g = 0, w = I, z = I / lambda


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: rule("exakt", 1), "kind is 'exakt'"),
        (lambda m: rule("exact", 1, noise="none"), "noise is"),
        (lambda m: rule("exact", 1, shift="worst"), "shift is"),
        (lambda m: rule("exact", 1, z_rule="x"), "z_rule is"),
        (lambda m: rule("exact", 1, z_ridge=0), "z_ridge is 0"),
        (lambda m: rule("exact", 1, Delta="median"), "Delta is 'median'"),
        (lambda m: rule("exact", 1, Delta=-1), "Delta is -1"),
        (lambda m: rule("exact", 1, Delta=[1, np.nan, 1]), "Delta is nan"),
        (lambda m: rule("exact", 1, sigma=-0.1), "sigma is -0.1"),
        (lambda m: rule("exact", 1, sigma=np.inf), "sigma is inf"),
        (lambda m: rule("exact", 1, delta=0), "delta is 0"),
        (lambda m: rule("exact", -1), "h is -1"),
        (lambda m: rule("exact", np.nan), "h is nan"),
        (lambda m: rule("exact", "many"), "h is 'many'"),
        (lambda m: rule("paper", np.inf), "h is inf, but must be finite"),
        (lambda m: rule("exact", np.inf, noise="any"), "h is inf, but must be finite"),
        (lambda m: rule("exact", 1, sigma=[1, 2])(m, np.ones((1, 3)), [0], 1), "shape of sigma is"),
        (lambda m: rule("exact", 1, Delta=[1, 2])(m, np.ones((1, 3)), [0], 1), "shape of Delta is"),
        (lambda m: rule("exact", [1, 2])(m, np.ones((1, 3)), [0], 1), "shape of h is"),
        (lambda m: rule("exact", 1)(m, np.ones((1, 3)), [0], 0), "calls is 0"),
        (lambda m: rule("exact", 1)(m, np.ones((1, 2)), [0], 1), "shape of states is"),
        (lambda m: rule("exact", 1)(m, np.full((1, 3), np.nan), [0], 1), "states is"),
        (lambda m: reach_weight_linear(-1, 1), "q is -1"),
        (lambda m: reach_weight_linear(np.nan, 1), "q is nan"),
        (lambda m: reach_weight_linear(1, -1), "h is -1"),
    ],
)
def test_bad_input_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        make(LinearModel(Identity(3)))


@pytest.mark.parametrize("kind", ["exact", "paper"])
@pytest.mark.parametrize("shift", ["hopeful", "best"])
@pytest.mark.parametrize("noise", ["mean", "any"])
@pytest.mark.parametrize("h", [0.0, 0.3, 1.0, 50.0, 1e12])
def test_the_length_is_that_of_the_interval(kind: Any, shift: Any, noise: Any, h: float) -> None:
    """Also where it is computed without the interval of every output."""
    rng = np.random.default_rng(4)
    model = LinearModel(Identity(3), 2, 0.3)
    for _ in range(20):
        model.update(rng.normal(size=3), 0, rng.normal(size=3))
    states, actions = rng.normal(size=(30, 3)), np.zeros(30, dtype=np.int64)
    interval = Interval(kind, h, [0.1, 0.4], noise=noise, shift=shift)
    expected = np.linalg.norm(interval(model, states, actions, 17), axis=1)
    np.testing.assert_allclose(interval.length(model, states, actions, 17), expected, rtol=1e-12)
    assert (expected > 0).all() == (h > 0)
