"""The best reachable models of all pairs at once, and their value: against the definition, by brute force."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
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
from hreach.problems.solving import solved
from hreach.reach.nearest import Ties, best_models, optimum, reachable_optimum, reachable_value
from hreach.reach.weight import best_reachable_model
from hreach.testing.reference.reachable_models import nearest, reachable_models

Array = NDArray[np.float64]
Chooses = Callable[[Array, int, Array], Array]


class Pairs(NamedTuple):
    counts: Array  # (pairs, S)
    truth: Array  # (pairs, S)


def draw_pairs(seed: int, states: int, prior: float, number: int = 3, rational: bool = False) -> Pairs:
    """Samples where the truth allows them, and a prior spread over all states."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, (number, states)).astype(float)
    weight[np.arange(number), rng.integers(states, size=number)] += 1
    if not rational:
        weight *= rng.random((number, states)) + 0.01
    seen = rng.integers(0, 7, (number, states)) * (weight > 0) * rng.integers(0, 2, (number, 1))
    return Pairs(np.asarray(prior / states + seen, dtype=np.float64), weight / weight.sum(axis=1, keepdims=True))


def cases() -> st.SearchStrategy[Pairs]:
    return st.builds(
        draw_pairs,
        seed=st.integers(0, 10**6),
        states=st.integers(1, 4),
        prior=st.sampled_from([0.0, 0.7, 1.0, 5.0]),
        rational=st.booleans(),
    )


def all_models(counts: Array, truth: Array, h: int) -> Array:
    return reachable_models(counts, updated, predict, np.flatnonzero(truth), h)


def farther_than_nearest(choose: Chooses, pairs: Pairs, h: int) -> float:
    """How much farther from the truth the chosen models are than the nearest that can be reached, at most."""
    extra = []
    for model, counts, truth in zip(choose(pairs.counts, h, pairs.truth), *pairs, strict=True):
        models = all_models(counts, truth, h)
        assert np.abs(models - model).sum(axis=1).min() < 1e-12, "not a reachable model"
        extra.append(distance(model, truth) - distance(nearest(models, truth), truth))
    return max(extra)


@settings(deadline=None, derandomize=True, max_examples=500)
@given(cases(), st.integers(0, 6))
def test_no_reachable_model_is_nearer_to_the_truth(pairs: Pairs, h: int) -> None:
    assert abs(farther_than_nearest(best_models, pairs, h)) < 1e-12


def by_probability(counts: Array, h: int, truth: Array) -> Array:
    """The twin, wrong on purpose: hands out h by the truth's largest remainders, whatever was seen already."""
    whole = np.floor(h * truth)
    order = np.argsort(-(h * truth - whole), axis=-1, kind="stable")
    ranks = np.argsort(order, axis=-1, kind="stable")
    return predict(counts + whole + (ranks < h - whole.sum(axis=-1, keepdims=True)))


def test_an_allocation_that_forgets_what_was_seen_is_caught() -> None:
    worst = [farther_than_nearest(by_probability, draw_pairs(seed, 3, 0.0), 4) for seed in range(20)]
    assert max(worst) > 0.1


@settings(deadline=None, derandomize=True, max_examples=300)
@given(cases(), st.integers(0, 40))
def test_all_pairs_at_once_are_the_pairs_one_by_one(pairs: Pairs, h: int) -> None:
    one_by_one = best_reachable_model(pairs.counts, h, pairs.truth)
    np.testing.assert_allclose(best_models(pairs.counts, h, pairs.truth), one_by_one, rtol=0, atol=1e-15)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 10**12))
def test_exactly_h_whole_samples_are_given_to_states_that_are_possible(seed: int, states: int, h: int) -> None:
    pairs = draw_pairs(seed, states, 1.0)
    model = best_models(pairs.counts, h, pairs.truth)
    given_out = model * (pairs.counts.sum(axis=1, keepdims=True) + h) - pairs.counts
    close = 1e-9 * max(1, h / 1e5)
    np.testing.assert_allclose(given_out, np.round(given_out), atol=close)
    np.testing.assert_allclose(given_out.sum(axis=1), h)
    assert np.abs(given_out[pairs.truth == 0]).max(initial=0) <= close


def test_h_zero_is_the_model_as_it_is() -> None:
    counts = np.array([[3.0, 1.0], [0.0, 0.0], [0.7, 0.7]])
    truth = np.array([[0.0, 1.0], [0.9, 0.1], [0.2, 0.8]])
    np.testing.assert_array_equal(best_models(counts, 0, truth), [[0.75, 0.25], [0.5, 0.5], [0.5, 0.5]])


def test_more_samples_are_not_always_nearer() -> None:
    """The paper's set has exactly h samples: two of two equally likely states are right, three cannot be."""
    counts, truth = np.zeros((1, 2)), np.array([[0.5, 0.5]])
    assert distance(best_models(counts, 2, truth), truth) == 0
    assert distance(best_models(counts, 3, truth), truth) == pytest.approx(1 / 3)


@pytest.mark.parametrize("h", [-1, 1.5, np.nan, np.inf, True, "many"])
def test_an_h_that_is_no_number_of_samples_is_refused(h: Any) -> None:
    with pytest.raises(hreach.InputError, match=r"^h is "):
        best_models(np.ones((1, 2)), h, np.full((1, 2), 0.5))


def test_counts_of_another_shape_are_refused() -> None:
    with pytest.raises(hreach.InputError, match=r"^counts shape is \(1, 3\), .*\(1, 2\)"):
        best_models(np.ones((1, 3)), 1, np.full((1, 2), 0.5))


# --- the value ------------------------------------------------------------------------------------------------------


def draw_mdp(seed: int, states: int, per_transition: bool, prior: float) -> tuple[TabularMDP, Array]:
    """An MDP and the counts of some samples of it."""
    pairs = draw_pairs(seed, states, prior, number=2 * states)
    rng = np.random.default_rng(seed + 1)
    shape = (states, 2, states)
    R = rng.random(shape if per_transition else shape[:2])
    return TabularMDP(pairs.truth.reshape(shape), R, 0.9), pairs.counts.reshape(shape)


mdps = st.builds(
    draw_mdp, st.integers(0, 10**6), st.integers(1, 4), st.booleans(), prior=st.sampled_from([0.0, 0.7, 1.0])
)


def equally_near(mdp: TabularMDP, counts: Array, h: int) -> list[list[Array]]:
    """All nearest models of each pair, by brute force."""
    found = []
    for s, a in product(range(mdp.states), range(mdp.actions)):
        truth = mdp.transitions()[s, a]
        models = np.unique(np.round(all_models(counts[s, a], truth, h), 12), axis=0)
        far = np.abs(models - truth).sum(axis=1)
        found.append(list(models[far < far.min() + 1e-9]))
    return found


def brute_force(mdp: TabularMDP, counts: Array, h: int, ties: Ties) -> Array:
    """V(s) = max_a opt_P sum_s' P(s') [R + gamma V(s')] over all nearest models, by value iteration."""
    models, table = equally_near(mdp, counts, h), mdp.reward_table()
    reward = np.broadcast_to(table.reshape(mdp.states, mdp.actions, -1), counts.shape).reshape(-1, mdp.states)
    opt = max if ties == "largest" else min
    value = np.zeros(mdp.states)
    for _ in range(300):
        target = reward + mdp.gamma * value
        q = [opt(float(p @ u) for p in some) for some, u in zip(models, target, strict=True)]
        value = np.array(q).reshape(mdp.states, mdp.actions).max(axis=1)
    return value


@settings(deadline=None, derandomize=True, max_examples=60)
@given(mdps, st.integers(0, 4), st.sampled_from(["largest", "least"]))
def test_the_value_is_that_of_the_nearest_models(case: tuple[TabularMDP, Array], h: int, ties: Ties) -> None:
    mdp, counts = case
    value = reachable_value(counts, h, mdp, ties)
    np.testing.assert_allclose(value, brute_force(mdp, counts, h, ties), atol=1e-9)


def tied_mdp() -> tuple[TabularMDP, Array]:
    """Three next states are equally near to two samples of (0, 0), and their values are far apart."""
    P = np.zeros((4, 1, 4))
    P[0, 0, 1:] = 1 / 3
    P[[1, 2, 3], 0, [1, 2, 3]] = 1
    return TabularMDP(P, [[0.0], [0.0], [0.5], [1.0]], 0.9), np.zeros((4, 1, 4))


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 3, 2, 1], [0, 2, 3, 1]])
def test_the_value_does_not_depend_on_how_states_are_numbered(order: list[int]) -> None:
    mdp, counts = tied_mdp()
    P, R = mdp.transitions()[np.ix_(order, [0], order)], mdp.reward_table()[order]
    renumbered = TabularMDP(P, R, mdp.gamma)
    ends = {ties: reachable_value(counts, 2, renumbered, ties)[0] for ties in ("largest", "least")}
    assert ends["largest"] == pytest.approx(9 * 0.75)  # two of the samples: the two best, .5 and 1 for ever
    assert ends["least"] == pytest.approx(9 * 0.25)
    assert reachable_optimum(counts, 2, P, R, mdp.gamma).value[0] == pytest.approx(9 * 0.75)


def test_the_rule_of_the_lowest_index_depends_on_it() -> None:
    """The twin."""
    mdp, counts = tied_mdp()
    back = [0, 3, 2, 1]
    other = TabularMDP(mdp.transitions()[np.ix_(back, [0], back)], mdp.reward_table()[back], mdp.gamma)
    assert reachable_value(counts, 2, mdp, "first")[0] == pytest.approx(9 * 0.25)
    assert reachable_value(counts, 2, other, "first")[0] == pytest.approx(9 * 0.75)


def test_a_rule_that_does_not_exist_is_refused() -> None:
    mdp, counts = tied_mdp()
    with pytest.raises(hreach.InputError, match=r"^ties is 'last', but must be 'largest' or 'least' or 'first'\.$"):
        reachable_value(counts, 2, mdp, "last")  # type: ignore[arg-type]


@pytest.mark.parametrize("ties", ["largest", "least", "first"])
@settings(deadline=None, derandomize=True, max_examples=50)
@given(mdps, st.integers(0, 20), st.integers(0, 10**6))
def test_the_value_is_exact_from_wherever_it_begins(
    ties: Ties, case: tuple[TabularMDP, Array], h: int, seed: int
) -> None:
    mdp, counts = case
    start = np.random.default_rng(seed).integers(0, 2, mdp.states)
    result = reachable_optimum(counts, h, mdp.transitions(), mdp.reward_table(), mdp.gamma, start, ties=ties)
    np.testing.assert_allclose(result.value, reachable_value(counts, h, mdp, ties), atol=1e-9)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(mdps)
def test_the_optimum_of_the_truth_is_the_mdps_own(case: tuple[TabularMDP, Array]) -> None:
    mdp, _ = case
    result = optimum(mdp.transitions(), mdp.reward_table(), mdp.gamma)
    np.testing.assert_allclose(result.value, mdp.optimal_value(), atol=1e-10)
    np.testing.assert_allclose(mdp.policy_value(result.policy), mdp.optimal_value(), atol=1e-10)
    chain = mdp.transitions()[np.arange(mdp.states), result.policy]
    income = mdp.expected_reward[np.arange(mdp.states), result.policy]
    np.testing.assert_allclose(solved(chain, income, mdp.gamma), mdp.optimal_value(), atol=1e-10)
