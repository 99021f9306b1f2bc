"""`hreach.solve`: its certified error holds against exact policy iteration; a bound that is too small is found out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import hreach
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
