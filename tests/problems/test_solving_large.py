"""`hreach.solve`: its certified error holds against linear programs and exact policy iteration; a bound that is too
small is found out. Its kernels equal the sweeps of NumPy and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import hreach
from hreach.kernels.large import evaluate, improve
from hreach.problems.certified import Solution, solve
from hreach.problems.solving import best_policy

CASES = range(60)


def drawn(seed: int) -> hreach.TabularMDP:
    """Rewards of any sign, gamma 0 to .995, R(s, a) or R(s, a, s'), absorbing states, ends in two of three."""
    rng = np.random.default_rng(seed)
    states, actions = int(rng.integers(1, 12)), int(rng.integers(1, 4))
    P = rng.random((states, actions, states)) * rng.integers(0, 2, (states, actions, states))
    P[..., 0] += P.sum(axis=2) == 0
    P /= P.sum(axis=2, keepdims=True)
    P[-1] = np.eye(states)[-1]
    R = rng.normal(rng.normal(), 1, (states, actions) if seed % 2 else (states, actions, states))
    end = None if seed % 3 == 0 else rng.random((states, actions)) * (rng.random((states, actions)) < 0.3)
    return hreach.TabularMDP(P, R, float(rng.choice([0.0, 0.3, 0.9, 0.99, 0.995])), end=end)


def off(mdp: hreach.TabularMDP, found: Solution) -> tuple[float, float]:
    """How far the value is from V*, and what the policy loses, by dense policy iteration and a dense solve."""
    going = np.asarray(mdp.transitions() - mdp.endings())
    best = best_policy(going.reshape(-1, mdp.states), mdp.expected_reward, mdp.gamma).value
    here = np.arange(mdp.states)
    system = np.eye(mdp.states) - mdp.gamma * going[here, found.policy]
    own = np.linalg.solve(system, mdp.expected_reward[here, found.policy])
    return float(np.abs(found.value - best).max()), float((best - own).max())


@pytest.mark.parametrize("storage", ["float64", "float32"])
def test_the_certified_error_holds_in_every_case(storage: str) -> None:
    for seed in CASES:
        mdp = drawn(seed)
        tolerance = 1e-6 if storage == "float64" else 0.5
        found = solve(mdp, tolerance, storage=storage)  # type: ignore[arg-type]
        error, loss = off(mdp, found)
        assert error <= found.error + 1e-9, seed  # the oracle's own rounding
        assert found.error <= tolerance
        assert loss <= found.loss + 1e-9, seed


def test_a_linear_program_agrees() -> None:
    """min sum V subject to V >= R(s, a) + gamma P(s, a) V for each pair."""
    for seed in range(20):
        mdp = drawn(seed)
        going = np.asarray(mdp.transitions() - mdp.endings()).reshape(-1, mdp.states)
        rows = mdp.gamma * going - np.repeat(np.eye(mdp.states), mdp.actions, axis=0)
        best = linprog(np.ones(mdp.states), rows, -mdp.expected_reward.reshape(-1), bounds=(None, None))
        assert best.status == 0
        found = solve(mdp, 1e-4)
        assert np.abs(found.value - best.x).max() <= found.error + 1e-5, seed  # what the program is solved to


def test_the_kernels_equal_sweeps_of_numpy() -> None:
    for seed in range(20):
        mdp = drawn(seed)
        rows, value = mdp.going_on, np.random.default_rng(seed).normal(size=mdp.states)
        result, change, policy = np.empty(mdp.states), np.empty(3), np.zeros(mdp.states, dtype=np.int64)
        reward, here = mdp.expected_reward, np.arange(mdp.states)
        arguments = (rows.indptr, rows.indices, rows.data, reward, mdp.gamma, value, result, policy, change)
        improve(*arguments, 0, mdp.states)
        q = mdp.backup(value)
        np.testing.assert_allclose(result, q.max(axis=1), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(q[here, policy], q.max(axis=1), rtol=1e-13, atol=1e-13)
        expected = [(result - value).min(), (result - value).max(), np.abs(value).max()]
        np.testing.assert_array_equal(change, expected)
        policy[:] = np.random.default_rng(seed).integers(mdp.actions, size=mdp.states)
        evaluate(*arguments, 0, mdp.states)
        np.testing.assert_allclose(result, q[here, policy], rtol=1e-13, atol=1e-13)


def test_a_tenth_of_the_bound_does_not_hold() -> None:
    """The twin: the bound is not so wide that any would pass."""
    wrong = [off(drawn(seed), found)[0] > 0.1 * found.error for seed in CASES if (found := solve(drawn(seed), 0.5))]
    assert any(wrong)


def test_the_result_does_not_depend_on_the_number_of_threads() -> None:
    states = 30_000
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(2 * states), 5)
    P = sparse.coo_array((np.full(rows.size, 0.2), (rows, rng.integers(states, size=rows.size))), (2 * states, states))
    mdp = hreach.TabularMDP(P, rng.random((states, 2)), 0.95)
    one, two = solve(mdp, 1e-3, threads=1), solve(mdp, 1e-3, threads=3)
    assert one.value.tobytes() == two.value.tobytes()
    assert one.policy.tobytes() == two.policy.tobytes()
    assert (one.error, one.sweeps) == (two.error, two.sweeps)


def test_what_rounding_cannot_reach_is_refused() -> None:
    with pytest.raises(hreach.InputError, match=r"^tolerance is 1e-15, but must be at least .*rounding allows"):
        solve(hreach.make_domain("riverswim").mdp(), 1e-15)
    with pytest.raises(hreach.InputError, match=r"^storage is 'half', but must be 'float64' or 'float32'\.$"):
        solve(hreach.make_domain("chain").mdp(), storage="half")  # type: ignore[arg-type]
