"""MDPs go to other libraries and come from them with their values unchanged."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TransformReward
from scipy import sparse

import hreach
from hreach import InputError, TabularMDP
from hreach.problems.exchange import from_gymnasium, from_quantecon, to_arrays, to_quantecon
from hreach.problems.gymnasium_table import from_table
from hreach.problems.truth import truth_of


def random_mdp(ends: bool, seed: int = 0) -> TabularMDP:
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(6, 0.3), size=(6, 3)) * (rng.random((6, 3, 6)) < 0.8)
    P[..., 0] += 1 - P.sum(axis=2)
    end = rng.random((6, 3, 6)) * (rng.random((6, 3, 6)) < 0.3) if ends else None
    return TabularMDP(P, rng.normal(size=(6, 3, 6)), 0.9, rng.dirichlet(np.ones(6)), end)


def values_of(P: Any, gamma: float, rounds: int = 4000) -> np.ndarray:
    """The oracle: value iteration on Gymnasium's own lists."""
    value = np.zeros(len(P))
    for _ in range(rounds):
        value = np.array(
            [
                max(sum(p * (r + gamma * (not over) * value[t]) for p, t, r, over in P[s][a]) for a in P[s])
                for s in range(len(P))
            ]
        )
    return value


@pytest.mark.parametrize("ends", [False, True])
def test_arrays_there_and_back(ends: bool, tmp_path: Any) -> None:
    mdp = random_mdp(ends)
    again = TabularMDP(*to_arrays(mdp))
    mdp.save(tmp_path / "model.npz")
    for other in (again, TabularMDP.load(tmp_path / "model.npz")):
        assert np.array_equal(other.transitions(), mdp.transitions())
        assert np.array_equal(other.start, mdp.start)
        assert np.array_equal(other.endings(), mdp.endings())
        assert other.ends == mdp.ends
        assert np.allclose(other.optimal_value(), mdp.optimal_value(), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "given"),
    [("FrozenLake-v1", {}), ("FrozenLake-v1", {"map_name": "8x8"}), ("CliffWalking-v1", {"is_slippery": True})],
)
def test_gymnasiums_tables_are_the_truth(name: str, given: dict[str, Any]) -> None:
    env = gymnasium.make(name, **given)
    mdp = from_gymnasium(env, 0.9)
    core: Any = env.unwrapped
    assert np.abs(mdp.optimal_value() - values_of(core.P, 0.9, 400)).max() < 1e-9
    assert np.allclose(mdp.start, core.initial_state_distrib)
    assert (mdp.states, mdp.actions) == (len(core.P), 4)


def test_what_the_environment_does_is_what_its_table_says() -> None:
    env: Any = gymnasium.make("Taxi-v4")
    mdp = from_gymnasium(env, 0.95)
    state, rng = int(env.reset(seed=0)[0]), np.random.default_rng(0)
    ends = 0
    for _ in range(3000):
        action = int(mdp.optimal_policy()[state]) if rng.random() < 0.5 else int(rng.integers(6))
        following, reward, over, cut, _ = env.step(action)
        entries = range(int(mdp.indptr[state * 6 + action]), int(mdp.indptr[state * 6 + action + 1]))
        [k] = [k for k in entries if mdp.next_state[k] == following]
        assert (mdp.reward[k], bool(mdp.end[k])) == (reward, over)
        ends += over
        state = int(env.reset()[0]) if over or cut else int(following)
    assert ends > 10


def test_a_table_is_no_truth_where_it_may_be_untrue() -> None:
    lake = gymnasium.make("FrozenLake-v1")
    assert truth_of(lake) is None  # it knows no discount
    assert truth_of(lake, 0.9) is not None
    for env in (
        TransformReward(lake, lambda reward: float(reward) + 1),
        gymnasium.make("Taxi-v4", fickle_passenger=True),
        gymnasium.make("Blackjack-v1"),
    ):
        assert truth_of(env, 0.9) is None
        with pytest.raises(InputError, match=r"env has no table env\.unwrapped\.P, or a wrapper or an option that may"):
            from_gymnasium(env, 0.9)


def test_entries_of_one_next_state_are_merged() -> None:
    P: Any = {
        0: {0: [(0.25, 0, 4.0, False), (0.25, 0, 0.0, True), (0.5, 1, 1.0, False)]},
        1: {0: [(1.0, 1, 0.0, True)]},
    }
    mdp = from_table(P, 0.5)
    assert mdp.transitions()[0, 0].tolist() == [0.5, 0.5]
    assert mdp.endings()[0, 0].tolist() == [0.25, 0.0]
    assert np.abs(mdp.optimal_value() - values_of(P, 0.5, 100)).max() < 1e-12
    with pytest.raises(InputError, match=r"P\[1\]\[0\] is missing, but every state must have 1 actions"):
        from_table({0: P[0], 1: {}}, 0.5)


def test_a_truth_with_another_discount() -> None:
    env = hreach.make_domain("chain")
    found = truth_of(env, 0.5)
    assert found is not None
    assert found.gamma == 0.5
    assert np.array_equal(found.optimal_value(), env.mdp().with_(gamma=0.5).optimal_value())


# --- QuantEcon: a stand-in with its attributes -------------------------------------------------------------------


def quantecon_values(ddp: Any, rounds: int = 2000) -> np.ndarray:
    """The oracle: value iteration by pairs, whatever the form."""
    Q = ddp.Q.toarray() if sparse.issparse(ddp.Q) else np.asarray(ddp.Q)
    if ddp.s_indices is None:
        n, m = ddp.R.shape
        value = np.zeros(n)
        for _ in range(rounds):
            value = (ddp.R + ddp.beta * Q.reshape(n, m, n) @ value).max(axis=1)
        return value
    value = np.zeros(Q.shape[1])
    for _ in range(rounds):
        q = ddp.R + ddp.beta * Q @ value
        value = np.array([q[ddp.s_indices == s].max() for s in range(len(value))])
    return value


def dense_form() -> SimpleNamespace:
    """Some actions are not allowed: -inf."""
    rng = np.random.default_rng(1)
    R = rng.normal(size=(4, 3))
    R[0, 0] = R[2, 1] = R[2, 2] = -np.inf
    return SimpleNamespace(R=R, Q=rng.dirichlet(np.ones(4), size=(4, 3)), beta=0.8, s_indices=None, a_indices=None)


def pair_form(kind: str) -> SimpleNamespace:
    one = dense_form()
    s, a = np.nonzero(np.isfinite(one.R))
    Q = one.Q[s, a]
    return SimpleNamespace(
        R=one.R[s, a], Q=sparse.csr_matrix(Q) if kind == "sparse" else Q, beta=0.8, s_indices=s, a_indices=a
    )


@pytest.mark.parametrize("ddp", [dense_form(), pair_form("dense"), pair_form("sparse")])
def test_quantecons_problems_keep_their_values(ddp: Any) -> None:
    mdp = from_quantecon(ddp)
    assert (mdp.states, mdp.actions) == (4, 3)
    assert np.abs(mdp.optimal_value() - quantecon_values(ddp)).max() < 1e-9


def test_a_state_without_an_action_is_refused() -> None:
    ddp = dense_form()
    ddp.R[1] = -np.inf
    with pytest.raises(InputError, match=r"state without an action is \[1\], but must be none"):
        from_quantecon(ddp)


@pytest.mark.parametrize("ends", [False, True])
def test_there_and_back_by_quantecon(ends: bool) -> None:
    mdp = random_mdp(ends)
    R, Q, beta, s, a = to_quantecon(mdp)
    ddp: Any = SimpleNamespace(R=R, Q=Q, beta=beta, s_indices=s, a_indices=a)
    expected = np.append(mdp.optimal_value(), [0.0] * ends)
    assert np.abs(quantecon_values(ddp, 500) - expected).max() < 1e-9
    assert np.abs(from_quantecon(ddp).optimal_value() - expected).max() < 1e-9


def test_quantecon_itself() -> None:
    """Where it is installed: `make bench-peers` has it, the tests need not."""
    qe = pytest.importorskip("quantecon")
    mdp = random_mdp(True)
    ddp = qe.markov.DiscreteDP(*to_quantecon(mdp))
    found = ddp.solve(method="policy_iteration")
    assert np.abs(found.v[:-1] - mdp.optimal_value()).max() < 1e-9
    assert np.abs(from_quantecon(ddp).optimal_value()[:-1] - mdp.optimal_value()).max() < 1e-9
