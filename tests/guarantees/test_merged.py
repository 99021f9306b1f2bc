"""Certificates of sparse counts: those of dense counts, wherever both can be computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

import hreach
from hreach import certify_counts
from hreach.guarantees.certificate import Certificate
from hreach.guarantees.certify import certify_model

Array = NDArray[np.float64]


def drawn(seed: int, states: int = 14, actions: int = 2) -> dict[str, Any]:
    """Counts of few of the states, R(s, a) of two kinds or all different, ends in half of the cases."""
    rng = np.random.default_rng(seed)
    met = rng.choice(states, size=6, replace=False)
    counts = np.zeros((states, actions, states))
    for s in met[:5]:
        for a in range(actions):
            n = int(rng.choice([0, 3, 40, 2000]))
            counts[s, a, met] = rng.multinomial(n, rng.dirichlet(np.full(6, 0.5)))
    kinds = rng.normal(size=(2, actions))
    reward = kinds[rng.integers(2, size=states)] if seed % 3 else rng.normal(size=(states, actions))
    ended = None if seed % 2 else np.floor(counts * rng.random(counts.shape) * (rng.random(counts.shape) < 0.3))
    return {"counts": counts, "ended": ended, "reward": reward, "gamma": float(rng.choice([0.8, 0.95]))}


def thinly(case: dict[str, Any], **more: Any) -> Certificate:
    """The certificate of the same counts as sparse tables."""
    flat = {k: None if case[k] is None else sparse.csr_array(case[k].reshape(-1, 14)) for k in ("counts", "ended")}
    return certify_counts(**{**case, **flat, **more})


def the_same(one: Certificate, other: Certificate) -> None:
    """As far as the searches go: to 1e-9 of the range of values, gaps to 1e-6, what a finite h could show to 1e-4."""
    width = one.sets.v_max - one.sets.v_min
    assert one.samples == other.samples
    np.testing.assert_array_equal(one.policy, other.policy)
    for name, fine in (("lower", 1e-7), ("upper", 1e-7), ("safest", 1e-7), ("gap", 1e-5)):
        found, expected = getattr(one.bounds, name), getattr(other.bounds, name)
        np.testing.assert_allclose(found, expected, atol=fine * width, err_msg=name)
    assert (one.bounds.reachable is None) == (other.bounds.reachable is None)
    if one.bounds.reachable is not None and other.bounds.reachable is not None:
        np.testing.assert_allclose(one.bounds.reachable, other.bounds.reachable, atol=1e-4 * width)


@pytest.mark.parametrize("h", [None, 0, 3, np.inf])
def test_sparse_tables_have_the_certificate_of_dense_ones(h: float | None) -> None:
    for seed in range(24):
        case = drawn(seed)
        prior = 0.0 if seed % 4 else 5.0
        policy = np.random.default_rng(seed).integers(2, size=14) if seed % 5 == 0 else None
        more: dict[str, Any] = {"h": h, "prior": prior, "policy": policy}
        the_same(certify_counts(**case, **more), thinly(case, **more))


def test_a_watched_policy_too() -> None:
    for seed in range(10):
        policy = np.random.default_rng(seed).integers(2, size=14)
        case = drawn(seed)
        the_same(certify_counts(**case, policy=policy, watched=True), thinly(case, policy=policy, watched=True))


def test_curve_and_limits_are_the_same() -> None:
    for seed in range(8):
        case = drawn(seed)
        state = int(np.argmax(case["counts"].sum(axis=(1, 2))))
        dense, thin = certify_counts(**case, state=state, h=2), thinly(case, state=state, h=2)
        assert dense.curve is not None
        assert thin.curve is not None
        width = dense.sets.v_max - dense.sets.v_min
        np.testing.assert_allclose(list(thin.curve.values()), list(dense.curve.values()), atol=1e-4 * width)
        tried = [limit for limit in dense.limits if limit.n > 0]
        of_thin = {(limit.state, limit.action): limit for limit in thin.limits}
        for limit in tried:
            other = of_thin[limit.state, limit.action]
            assert other.n == limit.n
            assert other.gain == pytest.approx(limit.gain, abs=1e-4)


def test_too_many_kinds_of_unseen_states_only_widen_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hreach.guarantees.merged.CLASSES", 1)
    wider = 0
    for seed in range(0, 24, 3):
        case = drawn(seed)
        policy = np.random.default_rng(seed).integers(2, size=14)
        dense = certify_counts(**case, h=3, policy=policy).bounds
        thin = thinly(case, h=3, policy=policy).bounds
        assert (thin.lower <= dense.lower + 1e-6).all()
        assert (thin.upper >= dense.upper - 1e-6).all()
        assert (thin.gap >= dense.gap - 1e-3).all()
        assert dense.reachable is not None
        assert thin.reachable is not None
        assert (thin.reachable >= dense.reachable - 1e-2).all()
        wider += bool((thin.gap > dense.gap + 1e-2).any())
    assert wider > 0


@pytest.mark.parametrize("domain", ["chain", "riverswim", "gridworld", "deep-sea"])
@pytest.mark.parametrize("reward", ["known", "learn"])
def test_an_agent_with_sparse_counts_certifies_what_dense_counts_say(domain: str, reward: str) -> None:
    """The same history, learnt by both models; the policy is that of the sparse agent."""
    env = hreach.make_domain(domain, **({"rows": 4, "columns": 4} if domain == "gridworld" else {}))
    dense, thin = (
        hreach.make_agent("greedy", env, seed=1, reward=reward, **more)
        for more in ({"prior": 0}, {"model": "sparse-counts", "planner": "local"})
    )
    rng = np.random.default_rng(0)
    state, _ = env.reset(seed=3)
    for _ in range(200):
        action = int(rng.integers(env.action_space.n))
        following, paid, over, *_ = env.step(action)
        for agent in (dense, thin):
            agent.observe(state, action, paid, following, over)
        state = env.reset()[0] if over else following
    h = 4.0 if reward == "known" else None
    found = thin.certify(h=h)
    the_same(found, certify_model(dense.model, found.policy, 0.1, h=h))
    assert set(found.assumes) == set(dense.certify(h=h).assumes)


def test_what_is_no_sparse_table_is_refused() -> None:
    case = drawn(1)
    table = sparse.csr_array(case["counts"].reshape(-1, 14))
    bad = [
        ({"counts": table[:5]}, r"^counts shape is \(5, 14\), but must be \(28, 14\)"),
        ({"counts": -table}, r"^counts has an entry that is no count"),
        ({"counts": table, "ended": 2 * table}, r"^ended is .* but must be at most the counts"),
        ({"counts": table, "ended": case["counts"]}, r"^ended is 'ndarray', but must be a scipy matrix"),
        ({"counts": table, "possible": np.ones((14, 2, 14))}, r"^possible is 'given', but must be left out"),
        ({"counts": table, "reward": np.zeros((14, 2, 14))}, r"^reward shape is .* but must be \(S, A\)"),
    ]
    for fields, message in bad:
        with pytest.raises(hreach.InputError, match=message):
            certify_counts(**{**case, **fields})
