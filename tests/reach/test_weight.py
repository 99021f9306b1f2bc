"""What h more samples can do to counts: closed forms against the definition, by brute force."""

from __future__ import annotations

from itertools import product
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import hreach
from helpers import distance
from hreach import TabularMDP
from hreach.models.counts import predict, updated
from hreach.reach.nearest import reachable_value
from hreach.reach.weight import best_reachable_model, hopeful, most_optimistic_model, reach_weight
from hreach.testing.reference.reachable_models import nearest, reachable_models

Array = NDArray[np.float64]


class Pair(NamedTuple):
    """What is known of one pair, and what is true of it."""

    counts: Array  # (S,)
    truth: Array  # (S,)
    target: Array  # (S,)


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """Counts seen where the truth allows them, plus a prior that is spread over all states."""
    states = draw(st.integers(1, 4))
    each = st.lists(st.integers(0, 6), min_size=states, max_size=states)
    weight = np.array(draw(each.filter(any)), dtype=float)
    if draw(st.booleans()):
        weight *= np.random.default_rng(draw(st.integers(0, 10**6))).random(states) + 0.01
    seen = np.array(draw(each), dtype=float) * (weight > 0)
    prior = draw(st.sampled_from([0.0, 0.0, 0.7, 1.0, 5.0]))
    target = draw(st.lists(st.floats(-5, 5), min_size=states, max_size=states))
    return Pair(prior / states + seen, weight / weight.sum(), np.array(target))


def all_models(counts: Array, h: int, possible: Any) -> Array:
    return reachable_models(counts, updated, predict, possible, h)


# --- the most hopeful model: Eq. (1) --------------------------------------------------------------------------


@settings(deadline=None, derandomize=True, max_examples=400)
@given(pairs(), st.integers(0, 5))
def test_equation_one_is_the_best_of_all_reachable_models(pair: Pair, h: int) -> None:
    models = all_models(pair.counts, h, range(pair.counts.size))
    closed = most_optimistic_model(pair.counts, h, pair.target)
    assert float(closed @ pair.target) == pytest.approx(float((models @ pair.target).max()), abs=1e-12)
    assert np.abs(models - closed).sum(axis=1).min() < 1e-12  # it is one of them
    np.testing.assert_array_equal(most_hopeful(models, pair.target), models[np.argmax(models @ pair.target)])


@settings(deadline=None, derandomize=True, max_examples=100)
@given(pairs(), st.integers(1, 5))
def test_one_sample_fewer_would_not_pass_for_equation_one(pair: Pair, h: int) -> None:
    spread = float(np.ptp(pair.target))
    fewer = float(most_optimistic_model(pair.counts, h - 1, pair.target) @ pair.target)
    best = float((all_models(pair.counts, h, range(pair.counts.size)) @ pair.target).max())
    room = spread > 0.1 and pair.counts.sum() > 0 and predict(pair.counts)[np.argmax(pair.target)] < 0.9
    assert (fewer < best - 1e-6) if room else (fewer <= best + 1e-12)


def test_equation_one_works_on_whole_tables_with_an_h_for_each_pair() -> None:
    counts = np.array([[[1.0, 1.0], [3.0, 0.0]], [[0.0, 0.0], [2.0, 2.0]]])
    h = np.array([[2.0, 1.0], [3.0, 0.0]])
    model = most_optimistic_model(counts, h, np.array([0.0, 1.0]))
    np.testing.assert_allclose(model, np.array([[[0.25, 0.75], [0.75, 0.25]], [[0, 1], [0.5, 0.5]]]))


def test_each_pair_may_have_its_own_target() -> None:
    counts, target = np.ones((2, 1, 2)), np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    np.testing.assert_allclose(most_optimistic_model(counts, 2, target), [[[0.75, 0.25]], [[0.25, 0.75]]])


def test_half_a_sample_counts_for_half() -> None:
    model = most_optimistic_model(np.array([1.0, 0.0]), 0.5, np.array([0.0, 1.0]))
    np.testing.assert_allclose(model, [2 / 3, 1 / 3])


def test_with_infinite_h_everything_is_hoped_for() -> None:
    model = most_optimistic_model(np.array([9.0, 1.0, 0.0]), np.inf, np.array([0.0, 0.0, 1.0]))
    np.testing.assert_array_equal(model, [0, 0, 1])


# --- the best reachable model ---------------------------------------------------------------------------------


@settings(deadline=None, derandomize=True, max_examples=500)
@given(pairs(), st.integers(0, 6))
def test_whole_allocation_is_as_near_to_the_truth_as_any_reachable_model(pair: Pair, h: int) -> None:
    models = all_models(pair.counts, h, np.flatnonzero(pair.truth))
    nearest_distance = distance(nearest(models, pair.truth), pair.truth)
    assert nearest_distance == pytest.approx(np.abs(models - pair.truth).sum(axis=1).min())
    closed = best_reachable_model(pair.counts, h, pair.truth)
    assert distance(closed, pair.truth) == pytest.approx(nearest_distance, abs=1e-12)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(pairs(), st.integers(1, 200))
def test_the_best_model_gives_out_h_whole_samples_where_they_can_happen(pair: Pair, h: int) -> None:
    model = best_reachable_model(pair.counts, h, pair.truth)
    given_out = model * (pair.counts.sum() + h) - pair.counts
    np.testing.assert_allclose(given_out, np.round(given_out), atol=1e-9)
    assert given_out.min() > -1e-9
    assert given_out.sum() == pytest.approx(h)
    assert np.abs(given_out[pair.truth == 0]).sum() < 1e-9


@settings(deadline=None, derandomize=True, max_examples=100)
@given(pairs(), st.integers(1, 6))
def test_giving_the_samples_to_the_most_likely_states_would_not_pass(pair: Pair, h: int) -> None:
    """The twin: all samples on the largest probability is never better, and worse in the case below."""
    naive = predict(pair.counts + h * np.eye(pair.truth.size)[np.argmax(pair.truth)])
    best = best_reachable_model(pair.counts, h, pair.truth)
    assert distance(naive, pair.truth) >= distance(best, pair.truth) - 1e-12
    half, counts = np.array([0.5, 0.5]), np.array([1.0, 1.0])
    assert distance(predict(np.array([3.0, 1.0])), half) > distance(best_reachable_model(counts, 2, half), half) + 0.4


def test_the_best_model_of_a_table_is_that_of_each_of_its_pairs() -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 5, (3, 2, 3)).astype(float)
    truth = rng.dirichlet(np.ones(3), size=(3, 2))
    h = np.array([[0.0, 1.0], [4.0, np.inf], [7.0, 2.0]])
    table = best_reachable_model(counts, h, truth)
    for s, a in product(range(3), range(2)):
        np.testing.assert_array_equal(table[s, a], best_reachable_model(counts[s, a], h[s, a], truth[s, a]))


def test_with_h_zero_nothing_but_the_current_model_is_reachable() -> None:
    counts, other = np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.9, 0.1]])
    np.testing.assert_array_equal(best_reachable_model(counts, 0, other), [[0.75, 0.25], [0.5, 0.5]])
    np.testing.assert_array_equal(most_optimistic_model(counts, 0, other), [[0.75, 0.25], [0.5, 0.5]])
    np.testing.assert_array_equal(all_models(counts[0], 0, [0, 1]), [[0.75, 0.25]])


def test_with_infinite_h_the_truth_itself_is_reachable() -> None:
    truth = np.array([0.1234, 0.8766])
    np.testing.assert_array_equal(best_reachable_model(np.array([50.0, 0.0]), np.inf, truth), truth)


def test_many_samples_come_as_near_as_rounding_allows() -> None:
    truth = np.array([0.2, 0.3, 0.5])
    model = best_reachable_model(np.array([7.0, 0.0, 1.0]), 10**9, truth)
    assert distance(model, truth) <= 3 / 10**9


def test_ties_go_to_the_largest_deficit_and_then_to_the_lowest_index() -> None:
    np.testing.assert_array_equal(best_reachable_model(np.zeros(2), 1, np.array([0.5, 0.5])), [1, 0])
    np.testing.assert_array_equal(best_reachable_model(np.zeros(2), 1, np.array([0.4, 0.6])), [0, 1])


def test_whole_numbers_are_counts_here_too() -> None:
    counts = np.array([1, 3])
    np.testing.assert_allclose(most_optimistic_model(counts, 4, np.array([1.0, 0.0])), [0.625, 0.375])
    np.testing.assert_allclose(best_reachable_model(counts, 4, np.array([0.5, 0.5])), [0.5, 0.5])


def test_arguments_are_left_as_they_were() -> None:
    counts, truth, target = np.array([1.0, 3.0]), np.array([0.4, 0.6]), np.array([1.0, 0.0])
    best_reachable_model(counts, 3, truth)
    most_optimistic_model(counts, 3, target)
    all_models(counts, 3, [0, 1])
    np.testing.assert_array_equal(counts, [1, 3])
    np.testing.assert_array_equal(truth, [0.4, 0.6])
    np.testing.assert_array_equal(target, [1, 0])


# --- the value of the best reachable models -------------------------------------------------------------------


def two_states(R: Array) -> TabularMDP:
    return TabularMDP([[[0.7, 0.3], [0.1, 0.9]], [[1.0, 0.0], [0.5, 0.5]]], R, 0.9)


@pytest.mark.parametrize("R", [np.array([[0.0, 0.1], [1.0, 0.3]]), np.arange(8.0).reshape(2, 2, 2) / 8])
def test_the_reachable_value_is_the_optimum_of_the_nearest_models(R: Array) -> None:
    mdp, counts = two_states(R), np.array([[[2.0, 1.0], [0.0, 3.0]], [[0.0, 0.0], [5.0, 0.0]]])
    models = np.zeros((2, 2, 2))
    for s, a in product(range(2), range(2)):
        truth = mdp.transitions()[s, a]
        models[s, a] = nearest(all_models(counts[s, a], 4, np.flatnonzero(truth)), truth)
    expected = TabularMDP(models, R, 0.9).optimal_value()
    np.testing.assert_allclose(reachable_value(counts, 4, mdp), expected, atol=1e-10)


def test_the_reachable_value_goes_from_certainty_equivalence_to_the_truth() -> None:
    mdp, counts = two_states(np.array([[0.0, 0.1], [1.0, 0.3]])), np.full((2, 2, 2), 3.0)
    now = TabularMDP(np.full((2, 2, 2), 0.5), mdp.reward_table(), 0.9).optimal_value()
    np.testing.assert_allclose(reachable_value(counts, 0, mdp), now, atol=1e-12)
    np.testing.assert_allclose(reachable_value(counts, np.inf, mdp), mdp.optimal_value(), atol=1e-12)
    assert np.abs(now - mdp.optimal_value()).max() > 0.1


def test_counts_of_another_shape_than_the_mdps_are_refused() -> None:
    with pytest.raises(hreach.InputError, match=r"^counts shape is \(2, 2, 3\), .*\(2, 2, 2\)"):
        reachable_value(np.zeros((2, 2, 3)), 1, two_states(np.zeros((2, 2))))


# --- the weight w = h / (n + h) -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "h", "w"),
    [(0, 0, 0), (5, 0, 0), (0, 3, 1), (1, 3, 0.75), (1, 0.5, 1 / 3), (0, np.inf, 1), (7, np.inf, 1), (0, 1e-300, 1)],
)
def test_the_weight_is_h_over_n_plus_h(n: float, h: float, w: float) -> None:
    assert float(reach_weight(n, h)) == pytest.approx(w, abs=1e-15)
    assert hopeful(np.zeros(1), n, 0.0, np.array([h])) == pytest.approx((w, 0, 0), abs=1e-15)


def test_weights_broadcast() -> None:
    w = reach_weight(np.array([[0.0], [1.0], [3.0]]), np.array([0.0, 1.0, np.inf]))
    np.testing.assert_allclose(w, np.array([[0, 1, 1], [0, 0.5, 1], [0, 0.25, 1]]))
    assert reach_weight(np.zeros((2, 3)), 1).shape == (2, 3)
    assert reach_weight(1, np.zeros((2, 3))).shape == (2, 3)


@pytest.mark.parametrize("h", [-1, -1e-12, np.nan, [1.0, -1.0], [np.nan, 2.0], -np.inf])
def test_a_negative_or_missing_h_is_refused(h: Any) -> None:
    truth = np.full((2, 2), 0.5)
    with pytest.raises(hreach.InputError, match=r"^h is .*, but must be at least 0"):
        reach_weight(np.ones(2), h)
    with pytest.raises(hreach.InputError, match=r"^h is .*, but must be at least 0"):
        most_optimistic_model(truth, h, truth)
    with pytest.raises(hreach.InputError, match=r"^h is .*, but must be at least 0"):
        best_reachable_model(truth, h, truth)


@pytest.mark.parametrize("h", ["many", object()])
def test_an_h_that_is_no_number_is_refused(h: Any) -> None:
    with pytest.raises(hreach.InputError, match=r"^h is .*, but must be a number"):
        reach_weight(1, h)


@pytest.mark.parametrize("h", [0.5, 2.000001, [1.0, 1.5]])
def test_the_best_model_needs_whole_samples_and_the_weight_does_not(h: Any) -> None:
    truth = np.full((2, 2), 0.5)
    with pytest.raises(hreach.InputError, match=r"^h is .*, but must be a whole number of samples, or infinite\.$"):
        best_reachable_model(truth, h, truth)
    np.testing.assert_allclose(reach_weight(1, h), np.asarray(h) / (1 + np.asarray(h)))


# --- the definition, for any learning method ------------------------------------------------------------------


def forget(model: Array, next_state: int) -> Array:
    """Exponential forgetting: the order of the samples matters."""
    return np.asarray(0.7 * model + 0.3 * np.eye(model.size)[next_state])


def same(model: Array) -> Array:
    return model


@pytest.mark.parametrize(("states", "h"), [(1, 3), (2, 4), (3, 3), (3, 0), (4, 2)])
def test_a_method_that_forgets_reaches_one_model_for_each_sequence(states: int, h: int) -> None:
    first = np.arange(1.0, states + 1) / np.arange(1.0, states + 1).sum()
    models = reachable_models(first, forget, same, range(states), h)
    expected = []
    for sequence in product(range(states), repeat=h):
        model = first
        for s in sequence:
            model = forget(model, s)
        expected.append(model)
    assert models.shape == (states**h, states)
    np.testing.assert_allclose(np.sort(models, axis=0), np.sort(np.array(expected), axis=0), atol=1e-15)
    target = np.arange(float(states))
    always_best = 0.7**h * first + (1 - 0.7**h) * np.eye(states)[-1]
    np.testing.assert_allclose(most_hopeful(models, target), always_best, atol=1e-12)


@pytest.mark.parametrize(("states", "h"), [(1, 5), (2, 5), (3, 4), (4, 5), (4, 0)])
def test_counting_reaches_one_model_for_each_way_to_share_out_the_samples(states: int, h: int) -> None:
    models = all_models(np.full(states, 1 / states), h, range(states))
    assert models.shape == (comb(h + states - 1, h), states)
    assert len(np.unique(models.round(12), axis=0)) == len(models)


def test_only_possible_next_states_are_sampled() -> None:
    models = all_models(np.zeros(3), 2, [0, 2])
    np.testing.assert_array_equal(models[:, 1], 0)
    assert len(models) == 3


@pytest.mark.parametrize("h", [-1, 1.5, np.inf, np.nan, True])
def test_enumeration_needs_a_whole_h(h: Any) -> None:
    with pytest.raises(hreach.InputError, match=r"^h is "):
        all_models(np.ones(2), h, [0, 1])
