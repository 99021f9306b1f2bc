"""Flat maps and followed models against the NumPy maps and `LinearModel`, which are the reference."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hreach import InputError
from hreach.models.feature_map import FeatureMap, Integers
from hreach.models.features import (
    ActionBlocks,
    ActionValue,
    Bias,
    Concat,
    Identity,
    Log10,
    Polynomial,
    Power10,
    Products,
    RandomFourier,
    Scaled,
    Select,
    Term,
    rbf_grid,
)
from hreach.models.flat import Flat, Follower
from hreach.models.flattening import flatten
from hreach.models.linear import LinearModel

Array = NDArray[np.float64]

CENTRE, SCALE = (5.5, 2.0, 2.0, 1.0, 3.0, 3.0), (0.7, 1.0, 0.8, 0.8, 1.5, 1.2)
HIV_163 = Concat((
    Scaled(RandomFourier(6, 150, 2.0), CENTRE, SCALE),
    Bias(6),
    Scaled(Identity(6), CENTRE, SCALE),
    Scaled(Power10(6), (6, 5, 4, 3, 6, 6), 1),
))  # fmt: skip
HIV_21 = Concat((Identity(6), Products(6)))
NINE = Concat((Power10(9), RandomFourier(9, 5, 3.0), Bias(9), Scaled(Polynomial(9, 2), 1, 2)))


def flat_of(features: FeatureMap) -> Flat:
    flat = flatten(features)
    assert flat is not None
    return flat


def values(features: FeatureMap, states: Array) -> Array:
    """The features of `states`, the two compiled ways, which must not differ at all."""
    n, flat = features.states, flat_of(features)
    idle = Follower(flat, np.zeros((1, features.size, n)), True, np.full(n, -1.0), np.full(n, 1.0))
    none = np.zeros(len(states), dtype=np.int64)
    phi = flat.values(states, none)
    assert np.array_equal(idle.follow(states, none, 1)[1], phi)
    return phi


def reference(features: FeatureMap, states: Array) -> Array:
    return features(states, np.zeros(len(states), dtype=int))


def some_numbers(n: int, low: float, high: float) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(*[st.floats(low, high)] * n)


def simple_maps(n: int) -> st.SearchStrategy[FeatureMap]:
    fourier = st.builds(RandomFourier, st.just(n), st.integers(1, 40), some_numbers(n, 0.5, 3), st.integers(0, 99))
    names, components = st.sampled_from(["cos", "sin"]), st.integers(0, n - 1)
    terms = st.builds(Term, st.just(n), names, components, st.floats(-5, 5))
    plain = [Bias(n), Identity(n), Polynomial(n, 1), Polynomial(n, 2), Power10(n), *([Products(n)] if n > 1 else [])]
    return fourier | terms | st.sampled_from(plain)


@st.composite
def maps(draw: Any, n: int, depth: int = 3) -> FeatureMap:
    kind = draw(st.sampled_from(["simple", "scaled", "select", "concat"])) if depth > 0 else "simple"
    if kind == "scaled":
        return Scaled(draw(maps(n, depth - 1)), draw(some_numbers(n, -2, 2)), draw(some_numbers(n, 0.5, 2)))
    if kind == "select":
        chosen = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n + 1))
        return Select(draw(maps(len(chosen), depth - 1)), n, tuple(chosen))
    if kind == "concat":
        return Concat(tuple(draw(st.lists(maps(n, depth - 1), min_size=1, max_size=3))))
    return draw(simple_maps(n))  # type: ignore[no-any-return]


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.integers(1, 8).flatmap(maps), st.integers(0, 10**6))
def test_flat_features_are_those_of_the_map_in_its_order(features: FeatureMap, seed: int) -> None:
    states = np.random.default_rng(seed).uniform(-3, 3, size=(5, features.states))
    np.testing.assert_allclose(values(features, states), reference(features, states), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("features", [HIV_163, HIV_21, NINE], ids=["163", "21", "nine"])
def test_flat_features_of_whole_models(features: FeatureMap) -> None:
    states = np.random.default_rng(1).uniform(-5, 8, size=(200, features.states))
    np.testing.assert_allclose(values(features, states), reference(features, states), rtol=1e-12, atol=1e-13)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.integers(1, 6).flatmap(lambda n: st.tuples(maps(n), maps(n), maps(n))), st.integers(0, 10**6))
def test_features_that_count_for_one_action_only(parts: tuple[FeatureMap, ...], seed: int) -> None:
    """Some shared by the actions and some not: the features, and what they predict."""
    rng = np.random.default_rng(seed)
    shared, own, other = parts
    features = Concat((ActionBlocks(own, 3), shared, ActionBlocks(other, 3)))
    states, actions = rng.uniform(-3, 3, size=(7, features.states)), rng.integers(0, 3, 7)
    flat, exact = flat_of(features), features(states, actions)
    np.testing.assert_allclose(flat.values(states, actions), exact, rtol=1e-12, atol=1e-12)
    weights = rng.normal(size=(features.size, features.states))
    limit = np.full(features.states, 1e300)
    path, phi = Follower(flat, weights[None], False, -limit, limit).follow(states, actions, 1)
    np.testing.assert_array_equal(phi, flat.values(states, actions))
    scale = np.abs(exact) @ np.abs(weights)
    assert (np.abs(path[0] - exact @ weights) <= 1e-11 * (1 + scale)).all()


@pytest.mark.parametrize(("reach", "error"), [(1e-3, 1e-14), (10, 1e-14), (1e3, 1e-14), (1e6, 1e-11), (1e15, 1e-14)])
def test_cosines_are_exact_near_and_far(reach: float, error: float) -> None:
    turns = np.pi / 2 * np.arange(-1000, 1001) * max(1.0, np.floor(reach / 1571))
    x = np.concatenate((np.random.default_rng(2).uniform(-reach, reach, 20000), turns[abs(turns) <= reach], [0, reach]))
    np.testing.assert_allclose(values(Term(1, "cos"), x[:, None])[:, 0], np.cos(x), rtol=0, atol=error)


def test_powers_are_exact_over_their_whole_range() -> None:
    x = np.concatenate((np.random.default_rng(3).uniform(-310, 110, 20000), np.arange(-320, 120), [1e300, -1e300]))
    phi = values(Power10(1), x[:, None])
    np.testing.assert_allclose(phi, reference(Power10(1), x[:, None]), rtol=1e-15)
    assert phi.min() > 0


def learnt(features: FeatureMap, target: Literal["next", "change"], truncate: bool = False) -> LinearModel:
    """A model of a state that is drawn to a place that depends on the action."""
    n, rng = features.states, np.random.default_rng(4)
    model = LinearModel(ActionBlocks(features, 4), target=target, truncate=truncate)
    x, a = rng.uniform(-1, 2, size=(600, n)), rng.integers(0, 4, 600)
    model.update(x, a, x + 0.3 * (0.5 * a[:, None] + 0.2 * np.sin(x[:, ::-1]) - x))
    return model


@pytest.mark.parametrize("target", ["next", "change"])
@pytest.mark.parametrize("features", [HIV_163, HIV_21, NINE], ids=["163", "21", "nine"])
def test_following_is_predicting_and_clipping_again_and_again(
    features: FeatureMap, target: Literal["next", "change"]
) -> None:
    model, n, rng = learnt(features, target), features.states, np.random.default_rng(5)
    low, high = np.full(n, -0.8), np.linspace(1.0, 2.0, n)
    follower = Follower(flat_of(features), model.factors[0].weights(), target == "change", low, high)
    states, actions = rng.uniform(-1, 2, size=(40, n)), rng.integers(0, 4, 40)
    path, phi = follower.follow(states, actions, 25)
    assert path.shape == (25, 40, n)
    np.testing.assert_allclose(phi, reference(features, states), rtol=1e-12, atol=1e-13)
    clipped, x = 0, states
    for after in path:
        predicted = model.predict(x, actions)
        x = np.clip(predicted, low, high)
        clipped += int((x != predicted).sum())
        np.testing.assert_allclose(after, x, rtol=0, atol=1e-10)
    assert 0 < clipped < path.size / 2  # the limits are met, and not only they


def test_following_a_truncated_model_keeps_to_the_changes_seen_as_they_grow() -> None:
    model, rng = learnt(HIV_163, "change", truncate=True), np.random.default_rng(5)
    low, high = np.full(6, -5.0), np.full(6, 5.0)
    weights, seen = model.factors[0].weights(), model.seen_changes
    follower = Follower(flat_of(HIV_163), weights, True, low, high, seen)
    free = Follower(flat_of(HIV_163), weights, True, low, high)
    x, actions = rng.uniform(-4, 4, size=(40, 6)), rng.integers(0, 4, 40)
    for _ in range(2):
        path, _ = follower.follow(x, actions, 1)
        np.testing.assert_allclose(path[0], np.clip(model.predict(x, actions), low, high), rtol=0, atol=1e-10)
        assert not np.allclose(path, free.follow(x, actions, 1)[0])
        seen[1][2] += 0.5  # as a sample does


def test_a_row_does_not_depend_on_the_others() -> None:
    rng = np.random.default_rng(6)
    weights = rng.normal(size=(4, HIV_163.size, 6)) * 0.1
    follower = Follower(flat_of(HIV_163), weights, True, np.full(6, -5.0), np.full(6, 8.0))
    states, actions = rng.uniform(-5, 8, size=(33, 6)), rng.integers(0, 4, 33)
    states[7] *= 1e8  # this one needs the slow cosine
    path, phi = follower.follow(states, actions, 12)
    for i in range(33):
        alone, features = follower.follow(states[i : i + 1], actions[i : i + 1], 12)
        np.testing.assert_array_equal(alone[:, 0], path[:, i])
        np.testing.assert_array_equal(features[0], phi[i])
    shuffled = follower.follow(states[::-1], actions[::-1], 5)[0]
    np.testing.assert_array_equal(shuffled[:, ::-1], path[:5])


def test_no_rows_are_followed_nowhere() -> None:
    follower = Follower(flat_of(HIV_21), np.zeros((1, 21, 6)), True, np.zeros(6), np.ones(6))
    path, phi = follower.follow(np.zeros((0, 6)), np.zeros(0, dtype=int), 3)
    assert path.shape == (3, 0, 6)
    assert phi.shape == (0, 21)


def test_overflow_ends_at_the_limits_and_nan_at_the_low_one() -> None:
    # theta' phi is inf - inf, inf and -inf
    weights = np.array([[[1e308, 1e308, -1e308], [-1e308, 1e308, -1e308], [0, 0, 0]]])
    follower = Follower(flat_of(Identity(3)), weights, False, np.array([-1.0, -2, -3]), np.array([1.0, 2, 3]))
    path, _ = follower.follow([[1e10, 1e10, 0.0]], [0], 1)
    np.testing.assert_array_equal(path[0, 0], [-1, 2, -3])
    # the arguments of the waves themselves overflow
    waves = Concat((RandomFourier(3, 5, 1e-3), Identity(3)))
    follower = Follower(flat_of(waves), np.ones((1, 8, 3)), False, np.zeros(3), np.ones(3))
    np.testing.assert_array_equal(follower.follow(np.full((1, 3), 1e307), [0], 1)[0], np.zeros((1, 1, 3)))


def test_weights_are_copied() -> None:
    weights = np.ones((1, 21, 6))
    follower = Follower(flat_of(HIV_21), weights, False, np.full(6, -99.0), np.full(6, 99.0))
    before = follower.follow(np.ones((1, 6)), [0], 1)[0]
    weights[:] = 0
    np.testing.assert_array_equal(before, follower.follow(np.ones((1, 6)), [0], 1)[0])
    np.testing.assert_allclose(before, 21)


class Doubled(Identity):
    """A class derived from a known one computes something else."""

    def _values(self, states: Array, actions: Integers) -> Array:
        return 2 * states


@pytest.mark.parametrize(
    "features",
    [
        Scaled(ActionBlocks(Identity(3), 2), 0, 1), Log10(Identity(3)), rbf_grid([-1] * 3, [1] * 3, 3),
        Polynomial(3, 3),
        Term(3, "tanh"), Term(3, lambda s, a: s[:, 0]), ActionValue(3, (1, 2)), Doubled(3),
        Concat((Identity(3), Select(Scaled(Term(1, "abs"), 0, 1), 3, (1,)))), Scaled(Power10(3), 1, 1e-310),
        Scaled(Scaled(RandomFourier(3, 2), 1, 1e-200), 1, 1e-200),
    ],
    ids=lambda m: type(m).__name__,
)  # fmt: skip
def test_other_maps_stay_as_they_are(features: FeatureMap) -> None:
    assert flatten(features) is None


def follower_of(**changes: Any) -> Follower:
    given: dict[str, Any] = {"weights": np.zeros((4, 21, 6)), "low": np.zeros(6), "high": np.ones(6)} | changes
    return Follower(flat_of(HIV_21), given["weights"], True, given["low"], given["high"], given.get("within"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: follower_of(weights=np.zeros((21, 6))), r"shape of weights is \(21, 6\), .* \(actions, 21, 6\)"),
        (lambda: follower_of(weights=np.zeros((4, 6, 21))), r"shape of weights is \(4, 6, 21\)"),
        (lambda: follower_of(weights=np.zeros((0, 21, 6))), r"shape of weights is \(0, 21, 6\)"),
        (lambda: follower_of(weights=np.full((4, 21, 6), np.nan)), "weights is .*finite"),
        (lambda: follower_of(weights="heavy"), "weights is 'heavy', .*numbers"),
        (lambda: follower_of(low=np.zeros(5)), r"shape of low is \(5,\), but must be \(6,\)"),
        (lambda: follower_of(high=1.0), r"shape of high is \(\), but must be \(6,\)"),
        (lambda: follower_of(high=np.full(6, np.inf)), "high is .*finite"),
        (lambda: follower_of(within=(np.zeros(5), np.zeros(6))), r"shapes of within is \(\(5,\), \(6,\)\)"),
        (lambda: follower_of(low=np.full(6, 2.0)), "low is .*at most high"),
        (lambda: follower_of().follow(np.zeros((3, 5)), [0, 0, 0], 1), r"shape of states is \(3, 5\)"),
        (lambda: follower_of().follow(np.zeros(6), [0], 1), r"shape of states is \(6,\)"),
        (lambda: follower_of().follow(np.full((1, 6), np.nan), [0], 1), "states is .*finite"),
        (lambda: follower_of().follow(np.zeros((3, 6)), [0, 0], 1), r"shape of actions is \(2,\)"),
        (lambda: follower_of().follow(np.zeros((3, 6)), [0, 4, 0], 1), "actions is .*below 4"),
        (lambda: follower_of().follow(np.zeros((3, 6)), [0, -1, 0], 1), "actions is .*at least 0"),
        (lambda: follower_of().follow(np.zeros((3, 6)), [0, 0.5, 0], 1), "actions is .*whole numbers"),
        (lambda: follower_of().follow(np.zeros((3, 6)), [0, 1, 0], 0), "steps is 0, .*at least 1"),
    ],
)
def test_bad_input_is_one_sentence(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        make()
