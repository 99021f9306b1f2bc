"""The one exact solver: dense and sparse agree, and no policy is better than the one that it finds."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hreach.problems.solving import best_policy, solved

GAMMA = 0.9


def problem(seed: int, states: int = 4, actions: int = 3) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """goes_on (S A, S), a part of which ends, and reward (S, A)."""
    rng = np.random.default_rng(seed)
    goes_on = rng.dirichlet(np.ones(states), size=states * actions) * rng.uniform(0.5, 1, (states * actions, 1))
    return goes_on, rng.normal(size=(states, actions))


def test_a_solved_chain_satisfies_its_equation_dense_and_sparse() -> None:
    goes_on, reward = problem(0)
    chain, paid = goes_on[::3], reward[:, 0]
    value = solved(chain, paid, GAMMA)
    np.testing.assert_allclose(value, paid + GAMMA * chain @ value, atol=1e-12)
    np.testing.assert_allclose(solved(sparse.csr_array(chain), paid, GAMMA), value, atol=1e-12)


def test_no_policy_is_better_in_any_state() -> None:
    for seed in range(5):
        goes_on, reward = problem(seed)
        found = best_policy(goes_on, reward, GAMMA)
        rows = np.arange(4) * 3
        values = [
            solved(goes_on[rows + policy], reward.reshape(-1)[rows + policy], GAMMA)
            for policy in itertools.product(range(3), repeat=4)
        ]
        np.testing.assert_allclose(found.value, np.max(values, axis=0), atol=1e-10)
        np.testing.assert_allclose(
            solved(goes_on[rows + found.policy], reward.reshape(-1)[rows + found.policy], GAMMA), found.value
        )


def test_the_result_is_the_same_from_any_beginning_and_of_a_sparse_model() -> None:
    goes_on, reward = problem(7, states=20)
    found = best_policy(goes_on, reward, GAMMA)
    worst = np.argmin(reward, axis=1)
    for again in (best_policy(goes_on, reward, GAMMA, worst), best_policy(sparse.csr_array(goes_on), reward, GAMMA)):
        np.testing.assert_allclose(again.value, found.value, atol=1e-10)
        assert np.array_equal(again.policy, found.policy)
