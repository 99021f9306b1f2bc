"""Learning by counting: the model is the mean of the prior and the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hreach
from hreach.models.counts import Counts, Dirichlet, SampleMean, predict, updated
from hreach.reach.weight import reach_weight

MANY = settings(deadline=None, derandomize=True, max_examples=100)
priors = st.sampled_from([0.0, 0.5, 1.0, 5.0])
samples = st.lists(st.integers(0, 2), max_size=12)


def learnt(prior: float, seen: list[int]) -> Counts:
    """Three states, two actions; every sample is of the pair (1, 0)."""
    model = Counts(3, 2, prior)
    for next_state in seen:
        model.update(1, 0, next_state)
    return model


def test_the_first_model_is_uniform_with_the_weight_of_the_prior() -> None:
    model = Dirichlet(4, 2, prior=2)
    np.testing.assert_array_equal(model.counts, np.full((4, 2, 4), 0.5))
    np.testing.assert_array_equal(model.total, np.full((4, 2), 2))
    np.testing.assert_array_equal(model.mean(), np.full((4, 2, 4), 0.25))


def test_without_prior_a_pair_never_seen_is_modelled_as_uniform() -> None:
    model = SampleMean(4, 2)
    assert not model.counts.any()
    assert not model.total.any()
    np.testing.assert_array_equal(model.mean(), np.full((4, 2, 4), 0.25))


def test_a_dirichlet_prior_weighs_one_sample_unless_told_otherwise() -> None:
    assert Dirichlet(5, 2).prior == 1
    np.testing.assert_allclose(Dirichlet(5, 2).total, 1)


@MANY
@given(samples)
def test_the_sample_mean_is_the_relative_frequency(seen: list[int]) -> None:
    model = SampleMean(3, 2)
    for next_state in seen:
        model.update(1, 0, next_state)
    frequency = np.bincount(seen, minlength=3) / len(seen) if seen else np.full(3, 1 / 3)
    np.testing.assert_allclose(model.mean()[1, 0], frequency, atol=1e-15)


@MANY
@given(st.sampled_from([0.5, 1.0, 5.0]), samples)
def test_the_dirichlet_model_is_the_posterior_mean(prior: float, seen: list[int]) -> None:
    posterior = (prior / 3 + np.bincount(seen, minlength=3)) / (prior + len(seen))
    np.testing.assert_allclose(learnt(prior, seen).mean()[1, 0], posterior, atol=1e-14)


@MANY
@given(priors, samples)
def test_totals_are_the_sums_of_the_counts_and_models_are_distributions(prior: float, seen: list[int]) -> None:
    model = learnt(prior, seen)
    np.testing.assert_allclose(model.counts.sum(axis=2), model.total, atol=1e-12)
    np.testing.assert_allclose(model.mean().sum(axis=2), 1, atol=1e-12)


@MANY
@given(priors, samples)
def test_a_sample_changes_its_own_pair_only(prior: float, seen: list[int]) -> None:
    model, untouched = learnt(prior, seen), learnt(prior, [])
    others = np.ones((3, 2), dtype=bool)
    others[1, 0] = False
    np.testing.assert_array_equal(model.counts[others], untouched.counts[others])
    np.testing.assert_array_equal(model.total[others], untouched.total[others])


@MANY
@given(priors, samples, st.integers(0, 9), st.integers(0, 2))
def test_after_h_equal_samples_the_model_has_moved_by_the_reach_weight(
    prior: float, seen: list[int], h: int, next_state: int
) -> None:
    before = learnt(prior, seen)
    after = learnt(prior, seen + [next_state] * h)
    w = reach_weight(before.total[1, 0], h)
    expected = (1 - w) * before.mean()[1, 0] + w * np.eye(3)[next_state]
    np.testing.assert_allclose(after.mean()[1, 0], expected, atol=1e-12, rtol=0)


@MANY
@given(priors, samples, st.integers(0, 2))
def test_the_update_rule_of_one_pair_does_what_the_model_does(prior: float, seen: list[int], one: int) -> None:
    row = learnt(prior, seen).counts[1, 0]
    kept = row.copy()
    np.testing.assert_array_equal(updated(row, one), learnt(prior, [*seen, one]).counts[1, 0])
    np.testing.assert_array_equal(row, kept)


def test_predict_normalises_every_row_on_its_own() -> None:
    counts = np.array([[1.0, 3.0], [0.0, 0.0], [0.0, 2.0]])
    np.testing.assert_array_equal(predict(counts), [[0.25, 0.75], [0.5, 0.5], [0, 1]])
    np.testing.assert_array_equal(counts, [[1, 3], [0, 0], [0, 2]])


def test_whole_numbers_are_counts() -> None:
    np.testing.assert_array_equal(predict(np.array([[1, 3], [0, 0]])), [[0.25, 0.75], [0.5, 0.5]])


def test_the_mean_is_a_copy() -> None:
    model = Dirichlet(2, 1)
    model.mean()[...] = 7
    np.testing.assert_array_equal(model.mean(), np.full((2, 1, 2), 0.5))


def test_sizes_may_be_given_as_whole_floats() -> None:
    states: Any = 3.0
    actions: Any = 2.0
    assert Counts(states, actions, prior=1).mean().shape == (3, 2, 3)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"states": 0}, r"^states is 0, but must be a whole number of at least 1\.$"),
    ({"states": 2.5}, r"^states is 2\.5, but must be a whole number of at least 1\.$"),
    ({"actions": -1}, r"^actions is -1, but must be a whole number of at least 1\.$"),
    ({"prior": -0.1}, r"^prior is -0\.1, but must be a finite number of at least 0\.$"),
    ({"prior": np.inf}, r"^prior is inf, but must be a finite number of at least 0\.$"),
    ({"prior": np.nan}, r"^prior is nan, but must be a number\.$"),
]


@pytest.mark.parametrize(("wrong", "message"), BAD)
def test_bad_sizes_and_priors_are_refused_by_name_and_value(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(hreach.InputError, match=message):
        Counts(**{"states": 2, "actions": 2, "prior": 1, **wrong})
