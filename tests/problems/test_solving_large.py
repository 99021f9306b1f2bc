"""`hreach.solve`: its certified error holds against linear programs and exact policy iteration; a bound that is too
small is found out. Its kernels equal the sweeps of NumPy and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import hreach
from hreach.kernels.large import Large, Packed, evaluate, improve, pack, room
from hreach.problems import mdp as mdp_module
from hreach.problems.arrays import Array, Ints
from hreach.problems.certified import Solution, _Model, solve
from hreach.problems.row_facts import few, many
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


def kernel_arguments(mdp: hreach.TabularMDP, policy: Ints) -> tuple[Large, Packed]:
    """Rows of an MDP, and this policy packed."""
    rows = Large(mdp.going_on.indptr, mdp.going_on.indices, mdp.going_on.data, mdp.expected_reward, mdp.gamma)
    begin = np.empty(mdp.states + 1, dtype=np.int64)
    room(rows.first, mdp.actions, begin)
    following = np.empty(begin[-1], dtype=rows.following.dtype)
    full = np.full(mdp.states, np.inf)
    own = Packed(policy, begin, following, np.empty(begin[-1]), np.empty(mdp.states), full)
    for s in range(mdp.states):
        pack(rows, own, s, policy[s])
    return rows, own


def test_the_kernels_equal_sweeps_of_numpy() -> None:
    for seed in range(20):
        mdp = drawn(seed)
        rng, here = np.random.default_rng(seed), np.arange(mdp.states)
        value, policy = rng.normal(size=mdp.states), rng.integers(mdp.actions, size=mdp.states)
        result, change = np.empty(mdp.states), np.empty(8)
        rows, own = kernel_arguments(mdp, policy)
        q = mdp.backup(value)
        evaluate(mdp.gamma, own, value, result, change, 0, mdp.states)
        np.testing.assert_allclose(result, q[here, policy], rtol=1e-13, atol=1e-13)
        expected = [(result - value).min(), (result - value).max(), np.abs(value).max()]
        np.testing.assert_array_equal(change[:3], expected)
        improve(rows, own, 0.0, False, value, result, change, 0, mdp.states)
        np.testing.assert_allclose(result, q.max(axis=1), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(q[here, policy], q.max(axis=1), rtol=1e-13, atol=1e-13)
        if mdp.actions > 1:
            np.testing.assert_allclose(own.most, np.sort(q, axis=1)[:, -2], rtol=1e-13, atol=1e-13)
        evaluate(mdp.gamma, own, value, result, change, 0, mdp.states)
        np.testing.assert_allclose(result, q.max(axis=1), rtol=1e-13, atol=1e-13)


def test_actions_that_are_left_out_could_not_have_been_better() -> None:
    """Values move, and the policy's action comes first: TV is that of all actions. Without the rise it would not be."""
    skipped = wrong = 0
    for seed in range(200):
        mdp = drawn(seed)
        rng = np.random.default_rng(seed)
        rows, own = kernel_arguments(mdp, np.zeros(mdp.states, dtype=np.int64))
        value, result, change = rng.normal(size=mdp.states), np.empty(mdp.states), np.empty(8)
        improve(rows, own, 0.0, False, value, result, change, 0, mdp.states)
        later = value + 0.3 * rng.normal(size=mdp.states)
        sums = np.asarray(mdp.going_on.sum(axis=1))
        most = float((later - value).max())
        risen = mdp.gamma * most * float(sums.max() if most >= 0 else sums.min()) + 1e-12
        kept = own.most.copy(), own.policy.copy()
        improve(rows, own, risen, True, later, result, change, 0, mdp.states)
        skipped += int(change[3])
        best = mdp.backup(later).max(axis=1)
        np.testing.assert_allclose(result, best, rtol=1e-12, atol=1e-12)
        rows, own = kernel_arguments(mdp, kept[1])
        own.most[:] = kept[0]
        improve(rows, own, -1.0, True, later, result, change, 0, mdp.states)
        wrong += bool((result < best - 1e-9).any())
    assert skipped > 100
    assert wrong > 10


def test_values_in_4_bytes_count_in_the_error() -> None:
    """At a coarse tolerance values have 4 bytes: nothing but the certificate says how far they are off."""
    for seed in CASES:
        mdp = drawn(seed)
        if _Model.of(mdp, "float64").stored(0.05) is np.float32:
            found = solve(mdp, 0.05)
            assert off(mdp, found)[0] <= found.error + 1e-9
            assert found.error <= 0.05


def test_rows_are_looked_at_alike_by_numpy_and_compiled() -> None:
    faults = [lambda d, i: d, _negative, _missing, _swapped, _outside, _zero]
    for seed in range(10):
        for fault in faults:
            matrix = sparse.csr_array(drawn(seed).going_on, copy=True)
            fault(matrix.data, matrix.indices)
            slow, fast = few(matrix), many(matrix)
            assert slow[1:] == fast[1:], (seed, fault)
            assert slow.off == fast.off or abs(slow.off - fast.off) < 1e-14


def _negative(data: Array, indices: Ints) -> None:
    data[data.size // 2] *= -1


def _missing(data: Array, indices: Ints) -> None:
    data[0] = np.nan


def _swapped(data: Array, indices: Ints) -> None:
    indices[:2] = indices[1], indices[0]


def _outside(data: Array, indices: Ints) -> None:
    indices[-1] = -1 if data.size % 2 else 10**6


def _zero(data: Array, indices: Ints) -> None:
    data[-1] = 0


def test_of_many_states_values_are_those_of_linear_solves(monkeypatch: pytest.MonkeyPatch) -> None:
    """`TabularMDP` of more than 2000 states solves by sweeps; here all sizes do, and are held against linear solves."""
    for seed in range(30):
        exact, closely = drawn(seed), drawn(seed)
        policy = np.random.default_rng(seed).integers(exact.actions, size=exact.states)
        mixed = np.full((exact.states, exact.actions), 1 / exact.actions)
        expected = exact.optimal_value(), exact.policy_value(policy), exact.policy_value(mixed)
        with monkeypatch.context() as patch:
            patch.setattr(mdp_module, "EXACT", 0)
            found = closely.optimal_value(), closely.policy_value(policy), closely.policy_value(mixed)
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-7, atol=1e-7)


def test_of_a_large_random_mdp_the_optimum_needs_no_factors() -> None:
    """20,000 states with 5 random successors: the factors of the linear system would need gigabytes."""
    mdp = hreach.make_domain("garnet", states=20_000, actions=2).mdp()
    value = mdp.optimal_value()
    np.testing.assert_allclose(mdp.backup(value).max(axis=1), value, atol=1e-8)
    np.testing.assert_allclose(mdp.policy_value(mdp.optimal_policy()), value, atol=1e-7)


def test_a_tenth_of_the_bound_does_not_hold() -> None:
    """The twin: the bound is not so wide that any would pass."""
    wrong = [off(drawn(seed), found)[0] > 0.1 * found.error for seed in CASES if (found := solve(drawn(seed), 0.5))]
    assert any(wrong)


def test_the_result_does_not_depend_on_the_number_of_threads() -> None:
    states = 60_000
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
