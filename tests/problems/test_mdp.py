"""The exact values of a known MDP, against oracles that share no code with it."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

import hreach
from hreach import InputError, TabularMDP
from hreach.problems.tables import RowsWarning

Array = NDArray[np.float64]
SOME = settings(deadline=None, derandomize=True, max_examples=60)


class Tables(NamedTuple):
    P: Array
    R: Array
    gamma: float

    @property
    def mdp(self) -> TabularMDP:
        return TabularMDP(self.P, self.R, self.gamma)

    @property
    def expected(self) -> Array:
        """R(s, a), whichever form R has."""
        return self.R if self.R.ndim == 2 else np.einsum("sat,sat->sa", self.P, self.R)

    @property
    def csr(self) -> Any:
        return sparse.csr_array(self.P.reshape(-1, self.P.shape[2]))


def draw_tables(seed: int, states: int, actions: int, gamma: float, per_transition: bool) -> Tables:
    """Random rows, about half of their entries 0; rewards of both signs."""
    rng = np.random.default_rng(seed)
    P = rng.random((states, actions, states)) * rng.integers(0, 2, (states, actions, states))
    P[..., 0] += P.sum(axis=2) == 0
    P /= P.sum(axis=2, keepdims=True)
    R = rng.normal(size=(states, actions, states) if per_transition else (states, actions))
    return Tables(P, R, gamma)


tables = st.builds(
    draw_tables,
    st.integers(0, 10**6),
    st.integers(1, 6),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.3, 0.9, 0.95]),
    st.booleans(),
)


def stay_or_swap(gamma: float = 0.5) -> TabularMDP:
    """Two states; action 0 stays, action 1 swaps."""
    return TabularMDP(SWAP, np.zeros((2, 2)), gamma)


SWAP = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])


# --- two ways to give the same MDP ----------------------------------------------------------------------------


def facts(mdp: TabularMDP) -> dict[str, Array]:
    uniform = np.full((mdp.states, mdp.actions), 1 / mdp.actions)
    return {
        "sizes": np.array([mdp.states, mdp.actions, mdp.gamma]),
        "indptr": mdp.indptr.astype(float),
        "next_state": mdp.next_state.astype(float),
        "probability": mdp.probability,
        "reward": mdp.reward,
        "cumulative": mdp.cumulative,
        "transitions": mdp.transitions(),
        "expected": mdp.expected_reward,
        "backup": mdp.backup(np.arange(mdp.states, dtype=float)),
        "V*": mdp.optimal_value(),
        "pi*": mdp.optimal_policy().astype(float),
        "V^pi": mdp.policy_value(uniform),
        "average": np.array(mdp.average_reward(uniform)),
        "start": mdp.start,
    }


def assert_same(one: TabularMDP, other: TabularMDP) -> None:
    others = facts(other)
    for name, value in facts(one).items():
        np.testing.assert_array_equal(value, others[name], err_msg=name)


@SOME
@given(tables)
def test_sparse_and_dense_transitions_are_the_same_mdp(t: Tables) -> None:
    assert_same(t.mdp, TabularMDP(t.csr, t.R, t.gamma))


@SOME
@given(tables)
def test_a_sparse_reward_is_the_same_mdp_as_a_dense_one(t: Tables) -> None:
    R = np.broadcast_to(t.R.reshape(*t.P.shape[:2], -1), t.P.shape) * (t.P > 0)
    flat = sparse.csr_array(R.reshape(-1, t.P.shape[2]))
    assert_same(TabularMDP(t.P, R, t.gamma), TabularMDP(t.csr, flat, t.gamma))
    np.testing.assert_array_equal(TabularMDP(t.csr, flat, t.gamma).reward_table(), R)


def test_a_sparse_reward_counts_where_p_is_positive_whatever_else_it_holds() -> None:
    """Entries where P has none, duplicates, rows out of order, explicit zeros; and no entry at all."""
    P = np.array([[[0.5, 0.5, 0.0]], [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]]])
    entries = ([3.0, 2.0, 9.0, 0.0, 1.0], ([0, 0, 0, 1, 0], [1, 0, 2, 2, 0]))
    given = TabularMDP(P, sparse.coo_array(entries, shape=(3, 3)), 0.9)
    assert given.reward.tolist() == [3.0, 3.0, 0.0, 0.0]
    assert given.reward_table()[0, 0].tolist() == [3.0, 3.0, 9.0]
    assert TabularMDP(P, sparse.csr_array((3, 3)), 0.9).reward.tolist() == [0.0] * 4


def test_a_sparse_reward_and_sparse_ends_are_never_made_dense() -> None:
    """Dense, either would take 6.4 GB."""
    states = 20_000
    rows = np.arange(2 * states)
    P = sparse.csr_array((np.ones(2 * states), (rows, (rows // 2 + 1) % states)))
    R = sparse.csr_array((np.arange(2.0 * states), (rows, (rows // 2 + 1) % states)))
    tracemalloc.start()
    try:
        mdp = TabularMDP(P, R, 0.9, end=P * 0.5).with_(gamma=0.5)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert mdp.reward.tolist() == R.data.tolist()
    assert (mdp.end == 0.5).all()
    assert mdp.backup(np.zeros(states))[7].tolist() == [14.0, 15.0]


@pytest.mark.parametrize("form", ["coo", "csc", "lil"])
def test_other_sparse_formats_are_understood(form: str) -> None:
    t = draw_tables(3, 4, 2, 0.9, True)
    assert_same(t.mdp, TabularMDP(t.csr.asformat(form), t.R, t.gamma))


def test_repeated_entries_are_added_and_explicit_zeros_dropped() -> None:
    entries = ([0.5, 0.5, 0.0, 1.0], ([0, 0, 0, 1], [1, 1, 0, 0]))
    mdp = TabularMDP(sparse.coo_array(entries, shape=(2, 2)), np.zeros((2, 1)), 0.9)
    np.testing.assert_array_equal(mdp.next_state, [1, 0])
    np.testing.assert_array_equal(mdp.probability, [1, 1])


def test_unsorted_rows_are_put_in_order() -> None:
    rows = sparse.csr_array(([0.7, 0.3, 1.0], [1, 0, 1], [0, 2, 3]), shape=(2, 2))
    with pytest.warns(RowsWarning, match=r"^P has rows with columns out of order or repeated") as said:
        mdp = TabularMDP(rows, np.zeros((2, 1)), 0.9)
    assert len(said) == 1
    np.testing.assert_array_equal(mdp.next_state, [0, 1, 1])
    np.testing.assert_allclose(mdp.cumulative, [0.3, 1, 1])


def test_three_arrays_are_the_same_mdp_and_are_not_copied() -> None:
    t = draw_tables(3, 5, 2, 0.9, False)
    rows = (t.csr.indptr, t.csr.indices, t.csr.data)
    mdp = TabularMDP(rows, t.R, t.gamma)
    assert_same(t.mdp, mdp)
    assert np.shares_memory(mdp.probability, rows[2])
    with pytest.raises(InputError, match=r"^P indices is .*, but must be states from 0 to 4\.$"):
        TabularMDP((rows[0], rows[1] + 1, rows[2]), t.R, t.gamma)
    with pytest.raises(InputError, match=r"^P indptr is "):
        TabularMDP((rows[0][::-1].copy(), rows[1], rows[2]), t.R, t.gamma)
    with pytest.raises(InputError, match=r"^R is three arrays, but must be "):
        TabularMDP(rows, rows, t.gamma)


def test_a_dense_copy_larger_than_memory_is_refused_with_its_size() -> None:
    states = 3_000_000
    rows = (np.arange(states + 1), np.arange(states), np.ones(states))
    with pytest.raises(InputError, match=r"needs 6\.706e\+04 GiB of memory, but must fit into the "):
        TabularMDP(rows, np.zeros((states, 1)), 0.9).transitions()


def test_an_array_of_whole_numbers_is_a_transition_table() -> None:
    assert_same(stay_or_swap(), TabularMDP(SWAP.astype(int), np.zeros((2, 2), dtype=int), 0.5))


# --- what is given belongs to the caller ----------------------------------------------------------------------


def test_changing_a_sparse_p_later_does_not_change_the_mdp() -> None:
    P = sparse.csr_array(SWAP.reshape(4, 2))
    mdp = TabularMDP(P, np.zeros((2, 2)), 0.5)
    P.data[:] = 0.25
    np.testing.assert_array_equal(mdp.transitions(), SWAP)


def test_a_sparse_p_is_left_as_it_was() -> None:
    P = sparse.csr_array(([0.7, 0.3, 0.0, 1.0], [1, 0, 0, 1], [0, 2, 4]), shape=(2, 2))
    with pytest.warns(RowsWarning):
        TabularMDP(P, np.zeros((2, 1)), 0.9)
    np.testing.assert_array_equal(P.data, [0.7, 0.3, 0, 1])
    np.testing.assert_array_equal(P.indices, [1, 0, 0, 1])
    np.testing.assert_array_equal(P.indptr, [0, 2, 4])


def test_changing_a_dense_p_r_or_start_later_does_not_change_the_mdp() -> None:
    P, R, start = SWAP.copy(), np.zeros((2, 2)), np.array([0.5, 0.5])
    mdp = TabularMDP(P, R, 0.5, start)
    P[0, 0], R[0, 0], start[0] = [0, 1], 7, 0.9
    np.testing.assert_array_equal(mdp.transitions(), SWAP)
    np.testing.assert_array_equal(mdp.reward_table(), np.zeros((2, 2)))
    np.testing.assert_array_equal(mdp.start, [0.5, 0.5])


@pytest.mark.parametrize("name", ["optimal_value", "optimal_policy"])
def test_an_answer_cannot_be_spoilt_by_writing_into_an_earlier_one(name: str) -> None:
    mdp = draw_tables(0, 3, 2, 0.9, False).mdp
    first = getattr(mdp, name)()
    kept = first.copy()
    if first.flags.writeable:
        first += 1
    np.testing.assert_array_equal(getattr(mdp, name)(), kept)


# --- values ---------------------------------------------------------------------------------------------------


def value_by_linear_program(t: Tables) -> Array:
    """V* = the least V with V >= r + gamma P V for every action (Puterman, section 6.9)."""
    states, actions = t.P.shape[:2]
    stay = np.repeat(np.eye(states), actions, axis=0)
    bound = t.gamma * t.P.reshape(-1, states) - stay
    answer = linprog(np.ones(states), A_ub=bound, b_ub=-t.expected.reshape(-1), bounds=(None, None))
    assert answer.status == 0
    return np.asarray(answer.x)


@SOME
@given(tables)
def test_the_optimal_value_solves_the_linear_program(t: Tables) -> None:
    np.testing.assert_allclose(t.mdp.optimal_value(), value_by_linear_program(t), atol=1e-5)


@SOME
@given(tables)
def test_the_optimal_value_is_a_fixed_point_and_its_policy_earns_it(t: Tables) -> None:
    mdp = t.mdp
    best = mdp.optimal_value()
    np.testing.assert_allclose(mdp.backup(best).max(axis=1), best, atol=1e-10)
    np.testing.assert_allclose(mdp.policy_value(mdp.optimal_policy()), best, atol=1e-10)


def dense_policy_value(t: Tables, policy: Array) -> Array:
    chain = np.einsum("sa,sat->st", policy, t.P)
    reward = (policy * t.expected).sum(axis=1)
    return np.linalg.solve(np.eye(len(reward)) - t.gamma * chain, reward)


@SOME
@given(tables, st.integers(0, 10**6))
def test_the_value_of_a_random_policy_is_the_dense_solution(t: Tables, seed: int) -> None:
    policy = np.random.default_rng(seed).dirichlet(np.ones(t.P.shape[1]), size=t.P.shape[0])
    np.testing.assert_allclose(t.mdp.policy_value(policy), dense_policy_value(t, policy), atol=1e-10)


@SOME
@given(tables, st.integers(0, 10**6))
def test_a_policy_of_actions_is_the_policy_that_always_takes_them(t: Tables, seed: int) -> None:
    states, actions = t.P.shape[:2]
    chosen = np.random.default_rng(seed).integers(actions, size=states)
    mdp, certain = t.mdp, np.eye(actions)[chosen]
    np.testing.assert_allclose(mdp.policy_value(chosen), mdp.policy_value(certain), atol=1e-12)
    assert mdp.average_reward(chosen) == pytest.approx(mdp.average_reward(certain), abs=1e-12)


@SOME
@given(tables, st.integers(0, 10**6))
def test_no_policy_is_worth_more_than_the_optimal_value(t: Tables, seed: int) -> None:
    policy = np.random.default_rng(seed).dirichlet(np.ones(t.P.shape[1]), size=t.P.shape[0])
    assert np.all(t.mdp.policy_value(policy) <= t.mdp.optimal_value() + 1e-10)


def simulated_returns(t: Tables, policy: Array, gamma: float, runs: int = 20_000, steps: int = 90) -> Array:
    """Discounted returns of many walks from state 0 under a policy."""
    rng = np.random.default_rng(7)
    state, total = np.zeros(runs, dtype=int), np.zeros(runs)
    for k in range(steps):
        action = (rng.random(runs)[:, None] > policy.cumsum(axis=1)[state][:, :-1]).sum(axis=1)
        following = (rng.random(runs)[:, None] > t.P.cumsum(axis=2)[state, action][:, :-1]).sum(axis=1)
        total += gamma**k * t.R[state, action, following]
        state = following
    return total


def standard_errors_off(gamma: float) -> float:
    t = draw_tables(11, 3, 2, 0.8, True)
    policy = np.array([[0.3, 0.7], [0.5, 0.5], [0.9, 0.1]])
    returns = simulated_returns(t, policy, gamma)
    error = returns.std() / np.sqrt(returns.size)
    return float(abs(returns.mean() - t.mdp.policy_value(policy)[0]) / error)


def test_the_value_of_a_policy_is_what_walks_earn_on_average() -> None:
    assert standard_errors_off(gamma=0.8) < 4


def test_walks_with_another_discount_do_not_pass_the_same_check() -> None:
    assert standard_errors_off(gamma=0.82) > 4


def test_with_gamma_zero_only_the_next_reward_counts() -> None:
    t = draw_tables(5, 4, 3, 0.0, True)
    np.testing.assert_allclose(t.mdp.optimal_value(), t.expected.max(axis=1), atol=1e-14)


def test_one_state_and_one_action_earn_a_geometric_series() -> None:
    mdp = TabularMDP([[[1.0]]], [[3.0]], 0.75)
    assert mdp.optimal_value() == pytest.approx([12.0])
    assert mdp.policy_value([0]) == pytest.approx([12.0])
    assert mdp.average_reward([0]) == pytest.approx(3.0)


def test_one_action_leaves_nothing_to_choose() -> None:
    t = draw_tables(8, 5, 1, 0.9, False)
    np.testing.assert_array_equal(t.mdp.optimal_policy(), np.zeros(5))
    np.testing.assert_allclose(t.mdp.optimal_value(), t.mdp.policy_value(np.zeros(5, dtype=int)))


def test_policy_iteration_ends_when_all_actions_are_tied_near_gamma_one() -> None:
    rng = np.random.default_rng(2)
    P = rng.dirichlet(np.ones(6), size=(6, 3))
    mdp = TabularMDP(P, np.full((6, 3), 0.3), 1 - 1e-9)
    np.testing.assert_allclose(mdp.optimal_value(), 0.3e9, rtol=1e-6)


@SOME
@given(tables)
def test_the_backup_is_reward_plus_discounted_future(t: Tables) -> None:
    value = np.linspace(-1, 2, t.P.shape[0])
    np.testing.assert_allclose(t.mdp.backup(value), t.expected + t.gamma * (t.P @ value), atol=1e-12)


# --- average reward -------------------------------------------------------------------------------------------


def test_the_chain_earns_what_its_sources_say() -> None:
    mdp = hreach.make_domain("chain").mdp()
    np.testing.assert_array_equal(mdp.optimal_policy(), np.zeros(5))
    assert mdp.average_reward(mdp.optimal_policy()) == pytest.approx(0.3677, abs=5e-5)
    assert mdp.average_reward(np.ones(5, dtype=int)) == pytest.approx(0.1603, abs=5e-5)
    assert mdp.average_reward(np.full((5, 2), 0.5)) == pytest.approx(0.131, abs=5e-4)


def test_a_cycle_of_two_states_earns_the_mean_of_its_rewards() -> None:
    cycle = TabularMDP(SWAP[:, 1:], [[1.0], [4.0]], 0.9)
    assert cycle.average_reward([0, 0]) == pytest.approx(2.5, abs=1e-12)


@SOME
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_the_average_reward_is_that_of_the_stationary_distribution(seed: int, states: int) -> None:
    rng = np.random.default_rng(seed)
    P, R = rng.dirichlet(np.ones(states), size=(states, 1)), rng.normal(size=(states, 1))
    system = np.vstack([P[:, 0].T - np.eye(states), np.ones(states)])
    stationary = np.linalg.lstsq(system, np.eye(states + 1)[-1], rcond=None)[0]
    policy = np.zeros(states, dtype=int)
    assert TabularMDP(P, R, 0.9).average_reward(policy) == pytest.approx(float(stationary @ R[:, 0]), abs=1e-10)


@pytest.mark.parametrize(("start", "average"), [(0, 0.3 * 1 + 0.7 * 5), (1, 1), (2, 5), ([0.0, 0.5, 0.5], 3)])
def test_the_average_reward_depends_on_where_the_walk_ends_up(start: Any, average: float) -> None:
    P = np.array([[[0.0, 0.3, 0.7]], [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]])
    mdp = TabularMDP(P, [[100.0], [1.0], [5.0]], 0.9, start)
    assert mdp.average_reward([0, 0, 0]) == pytest.approx(average, abs=1e-12)


# --- rows to draw from ----------------------------------------------------------------------------------------


@SOME
@given(tables)
def test_cumulative_rows_list_the_possible_next_states_and_end_at_one(t: Tables) -> None:
    mdp, rows = t.mdp, t.P.reshape(-1, t.P.shape[2])
    for row, first, end in zip(rows, mdp.indptr[:-1], mdp.indptr[1:], strict=True):
        np.testing.assert_array_equal(mdp.next_state[first:end], np.flatnonzero(row))
        np.testing.assert_allclose(mdp.cumulative[first:end], np.cumsum(row[row > 0]), atol=1e-15)
        assert mdp.cumulative[end - 1] == pytest.approx(1)


@SOME
@given(tables)
def test_each_possible_transition_has_its_own_reward(t: Tables) -> None:
    table = np.broadcast_to(t.R.reshape(*t.P.shape[:2], -1), t.P.shape)
    np.testing.assert_array_equal(t.mdp.reward, table[t.P > 0])


# --- bad input ------------------------------------------------------------------------------------------------


def assert_one_sentence(error: BaseException) -> None:
    text = str(error)
    assert text.endswith(".")
    assert ". " not in text
    assert "\n" not in text


def altered(table: Array, where: tuple[int, ...], value: float) -> Array:
    result = table.copy()
    result[where] = value
    return result


ZERO = np.zeros((2, 2))
BAD_MDPS: list[tuple[dict[str, Any], str]] = [
    ({"P": SWAP * 0.9}, r"^P\[0, 0\] sums to 0\.9, but every row"),
    ({"P": altered(SWAP, (1, 0, 0), 1e-6)}, r"^P\[1, 0\] sums to 1\.000001, "),
    ({"P": altered(SWAP, (1, 1), 0)}, r"^P\[1, 1\] sums to 0, "),
    ({"P": np.broadcast_to([1.5, -0.5], (2, 2, 2))}, r"^P\[0, 0, 1\] is -0\.5, .* probability"),
    ({"P": altered(SWAP, (1, 0, 1), np.nan)}, r"^P\[1, 0, 1\] is nan.* probability"),
    ({"P": altered(SWAP, (0, 1, 1), np.inf)}, r"^P\[0, 1, 1\] is .*infinite.* probability"),
    ({"P": sparse.csr_array(altered(SWAP, (1, 0, 1), np.nan).reshape(4, 2))}, r"^P\[1, 0, 1\] is nan.* prob"),
    ({"P": sparse.csr_array(SWAP.reshape(4, 2) / 2)}, r"^P\[0, 0\] sums to 0\.5, "),
    ({"P": np.ones((2, 2))}, r"^P shape is \(2, 2\), .*\(S, A, S\)"),
    ({"P": np.ones((2, 2, 3)) / 3}, r"^P shape is \(2, 2, 3\), .*\(S, A, S\)"),
    ({"P": np.ones((0, 2, 0))}, r"^P shape is \(0, 2, 0\), .*at least 1"),
    ({"P": np.ones((2, 0, 2))}, r"^P shape is \(2, 0, 2\), .*at least 1"),
    ({"P": sparse.csr_array((3, 2))}, r"^P shape is \(3, 2\), .*\(S \* A, S\)"),
    ({"P": sparse.csr_array((0, 2))}, r"^P shape is \(0, 2\), .*at least 1"),
    ({"P": sparse.csr_array((0, 0))}, r"^P shape is \(0, 0\), .*at least 1"),
    ({"P": "chain"}, r"^P is 'chain', "),
    ({"P": [[[1.0, 0.0]], [[1.0]]]}, r"^P is \[\[\[1\.0, 0\.0\]\], \[\[1\.0\]\]\], "),
    ({"R": altered(ZERO, (0, 1), np.nan)}, r"^R\[0, 1\] is nan, .*finite"),
    ({"R": altered(ZERO, (1, 0), -np.inf)}, r"^R\[1, 0\] is -inf, .*finite"),
    ({"R": altered(np.zeros((2, 2, 2)), (1, 0, 1), np.inf)}, r"^R\[1, 0, 1\] is inf, .*finite"),
    ({"R": np.zeros(2)}, r"^R shape is \(2,\), .*\(2, 2\) or \(2, 2, 2\)"),
    ({"R": np.zeros((2, 3))}, r"^R shape is \(2, 3\), .*\(2, 2\) or \(2, 2, 2\)"),
    ({"R": sparse.csr_array((2, 2))}, r"^R shape is \(2, 2\), .*\(4, 2\)"),
    ({"R": sparse.csr_array(([np.inf], ([3], [1])), shape=(4, 2))}, r"^R\[1, 1, 1\] is inf, .*finite"),
    ({"end": sparse.csr_array(([0.5, 2.0], ([0, 2], [1, 0])), shape=(4, 2))}, r"^end\[1, 0, 0\] is 2, .*from 0 to 1"),
    ({"R": "high"}, r"^R is 'high', "),
    ({"gamma": 1}, r"^gamma is 1, but must be at least 0 and below 1\.$"),
    ({"gamma": -0.1}, r"^gamma is -0\.1, but must be at least 0 and below 1\.$"),
    ({"gamma": np.nan}, r"^gamma is nan, but must be a number\.$"),
    ({"gamma": "high"}, r"^gamma is 'high', but must be a number\.$"),
    ({"start": 2}, r"^start is 2, .*state from 0 to 1"),
    ({"start": -1}, r"^start is -1, .*state from 0 to 1"),
    ({"start": 0.5}, r"^start is 0\.5, .*state from 0 to 1"),
    ({"start": True}, r"^start is True, .*state from 0 to 1"),
    ({"start": [0.5, 0.6]}, r"^start is \[0\.5, 0\.6\], .*summing to 1"),
    ({"start": [1.5, -0.5]}, r"^start is \[1\.5, -0\.5\], .*at least 0"),
    ({"start": [np.nan, 1.0]}, r"^start is \[nan, 1\.0\], .*at least 0"),
    ({"start": [1.0]}, r"^start shape is \(1,\), but must be \(2,\)\.$"),
    ({"start": ["left", "right"]}, r"^start is \['left', 'right'\], "),
]


@pytest.mark.parametrize(("given_", "message"), BAD_MDPS)
def test_a_bad_mdp_is_refused_by_a_sentence_that_names_field_and_value(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(hreach.InputError, match=message) as caught:
        TabularMDP(**{"P": SWAP, "R": ZERO, "gamma": 0.5, **given_})
    assert_one_sentence(caught.value)


BAD_POLICIES: list[tuple[Any, str]] = [
    ([0], r"^policy shape is \(1,\), .*\(2,\) or \(2, 2\)"),
    ([0, 1, 0], r"^policy shape is \(3,\), .*\(2,\) or \(2, 2\)"),
    ([[1.0], [1.0]], r"^policy shape is \(2, 1\), .*\(2,\) or \(2, 2\)"),
    ([0, 2], r"^policy is \[0, 2\], but must be actions from 0 to 1\.$"),
    ([0, -1], r"^policy is \[0, -1\], but must be actions from 0 to 1\.$"),
    ([0.0, 1.0], r"^policy is \[0\.0, 1\.0\], but must be actions from 0 to 1\.$"),
    ([[0.5, 0.4], [1, 0]], r"^policy is \[\[0\.5, 0\.4\], \[1, 0\]\], .*summing to 1"),
    ([[0.5, 0.500005], [1, 0]], r"^policy is \[\[0\.5, 0\.500005\], \[1, 0\]\], .*summing to 1"),
    ([[1.5, -0.5], [1, 0]], r"^policy is \[\[1\.5, -0\.5\], \[1, 0\]\], .*at least 0"),
    ([[np.nan, 1], [1, 0]], r"^policy is \[\[nan, 1\], \[1, 0\]\], .*at least 0"),
    ([["a", "b"], ["c", "d"]], r"^policy is \[\['a', 'b'\], \['c', 'd'\]\], "),
]


@pytest.mark.parametrize("method", ["policy_value", "average_reward"])
@pytest.mark.parametrize(("policy", "message"), BAD_POLICIES)
def test_a_bad_policy_is_refused_by_a_sentence_that_names_it(policy: Any, message: str, method: str) -> None:
    with pytest.raises(hreach.InputError, match=message) as caught:
        getattr(stay_or_swap(), method)(policy)
    assert_one_sentence(caught.value)


# --- saved -------------------------------------------------------------------


def test_an_mdp_is_read_from_an_archive_of_arrays(tmp_path: Path) -> None:
    P = np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    R = np.array([[0.0, 0.2], [1.0, 0.0]])
    np.savez(tmp_path / "a.npz", P=P, R=R, gamma=0.9)
    loaded = TabularMDP.load(tmp_path / "a.npz")
    assert np.array_equal(loaded.transitions(), P)
    assert np.array_equal(loaded.optimal_value(), TabularMDP(P, R, 0.9).optimal_value())
    np.savez(tmp_path / "b.npz", P=P, R=R, gamma=0.9, start=1)
    assert TabularMDP.load(tmp_path / "b.npz").start.tolist() == [0, 1]


def test_what_is_no_archive_of_an_mdp_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "part.npz", P=np.eye(2))
    with pytest.raises(InputError, match=r"model is \['P'\], but must be an archive of P, R, gamma"):
        TabularMDP.load(tmp_path / "part.npz")
    (tmp_path / "text.npz").write_text("no archive")
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    for name in ("text.npz", "none.npz", "object.npy"):
        with pytest.raises(InputError, match=r"must be a NumPy archive"):
            TabularMDP.load(tmp_path / name)


# --- the long run ---------------------------------------------------------------------------------------------------


def test_the_average_reward_of_five_thousand_states_is_exact() -> None:
    """A ring of 5000 states, which takes 1 of them at a time and pays in the first: 1/5000 a step."""
    states = 5000
    P = sparse.csr_array((np.ones(states), (np.arange(states), (np.arange(states) + 1) % states)))
    R = np.zeros((states, 1))
    R[0] = 1
    mdp = TabularMDP(P, R, 0.9)
    assert mdp.average_reward(np.zeros(states, dtype=np.int64)) == pytest.approx(1 / states)


def test_the_long_run_is_the_mixture_of_the_classes_that_are_reached() -> None:
    """From 0 to {1} with .3, to the ring {2, 3} with .7; 4 is never reached."""
    P = np.zeros((5, 1, 5))
    P[0, 0, [1, 2]] = 0.3, 0.7
    P[1, 0, 1] = P[2, 0, 3] = P[3, 0, 2] = P[4, 0, 4] = 1
    mdp = TabularMDP(P, np.zeros((5, 1)), 0.9)
    np.testing.assert_allclose(mdp.long_run_shares([0] * 5), [0, 0.3, 0.35, 0.35, 0], atol=1e-12)
    brute = np.linalg.matrix_power((P[:, 0] + np.eye(5)) / 2, 2000)[0]
    np.testing.assert_allclose(mdp.long_run_shares([0] * 5), brute, atol=1e-9)
