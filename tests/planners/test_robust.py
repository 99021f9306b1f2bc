"""Values over confidence sets: the inner problem against its primal and an oracle, fixed points against definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from hreach.guarantees.confidence import support_mixture
from hreach.guarantees.evidence import Evidence
from hreach.guarantees.sets import confidence_sets
from hreach.kernels.robust import Extreme, Rows, backup_pair, highest, widest
from hreach.planners.robust import Robust, Sets
from hreach.problems.ranges import ValueRange
from hreach.testing.reference import robust_values as reference

Array = NDArray[np.float64]


# --- the inner problem -----------------------------------------------------------------------------------------------


def random_row(rng: np.random.Generator) -> tuple[Array, Array, float]:
    """Counts, targets and a radius of every order of magnitude; some outcomes unseen, some targets equal or close."""
    size = int(rng.integers(1, 8))
    counts = rng.multinomial(rng.integers(1, 10 ** rng.integers(1, 6)), rng.dirichlet(np.full(size, 0.4)))
    u = rng.normal(size=size) * 10.0 ** rng.integers(-3, 4)
    if size > 2 and rng.random() < 0.3:
        u[1] = u[0] + 10.0 ** rng.integers(-14, -4) * rng.integers(0, 2)
    return counts.astype(np.float64), u, float(10.0 ** rng.uniform(-6, 1.5))


def dual(counts: Array, u: Array, budget: float, hint: float = 0.0) -> tuple[float, Array]:
    """The bound on q.u and the row that the kernel takes for the extreme one."""
    n = counts.sum()
    gap = u.max() - u
    x, weight, inverse = widest(counts, gap, 0, u.size, n, budget, hint)
    q = np.zeros(u.size)
    if inverse > 0:
        seen = counts > 0
        q[seen] = min(weight, 1 / inverse) * counts[seen] / n / (x + gap[seen])
    q[np.argmax(u)] += max(1 - q.sum(), 0.0)
    return float(u.max() + x - weight), q


def divergence(counts: Array, q: Array) -> float:
    seen = counts > 0
    p = counts[seen] / counts.sum()
    return float((p * np.log(p / q[seen])).sum())


def test_primal_equals_dual_in_ten_thousand_cases() -> None:
    """Every nu is an upper bound and every row in the ball a lower one: where they meet, both are the maximum."""
    rng = np.random.default_rng(0)
    for _ in range(10_000):
        counts, u, budget = random_row(rng)
        bound, q = dual(counts, u, budget, hint=float(rng.choice([0.0, 1e-9, 1.0, 1e6])))
        span = max(float(np.ptp(u)), 1e-300)
        assert abs(q.sum() - 1) < 1e-9
        if np.ptp(u[counts > 0]) > 0 or u[counts > 0].max() < u.max():
            assert divergence(counts, q) <= budget * (1 + 1e-6) + 1e-12
        assert abs(float(q @ u) - bound) <= 1e-7 * span


def test_the_inner_problem_against_a_general_solver() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        counts, u, _ = random_row(rng)
        if u.size < 2 or np.ptp(u) == 0:
            continue
        u, budget = (u - u.min()) / np.ptp(u), float(rng.uniform(0.02, 1.0))
        p = counts / counts.sum()
        ball = {"type": "ineq", "fun": lambda q, p=p, b=budget: b - reference_divergence(p, q)}
        simplex = {"type": "eq", "fun": lambda q: q.sum() - 1}
        start = 0.9 * p + 0.1 / p.size
        found = minimize(
            lambda q, u=u: -(q @ u), start, jac=lambda q, u=u: -u, bounds=[(1e-12, 1.0)] * p.size,
            constraints=[ball, simplex], method="SLSQP", options={"maxiter": 1000, "ftol": 1e-12},
        )  # fmt: skip
        bound, _ = dual(counts, u, budget)
        assert -found.fun <= bound + 1e-6
        if found.success:
            assert -found.fun >= bound - 1e-4


def reference_divergence(p: Array, q: Array) -> float:
    seen = p > 0
    return float((p[seen] * np.log(p[seen] / np.maximum(q[seen], 1e-12))).sum())


def inside(rng: np.random.Generator, counts: Array, budget: float) -> Array:
    """A random row in the ball: a random one, drawn towards p^ until it is inside."""
    p, q = counts / counts.sum(), rng.dirichlet(np.full(counts.size, 0.3))
    share = 1.0
    while divergence(counts, (1 - share) * p + share * q + 1e-300) > budget:
        share *= 0.7
    return np.asarray((1 - share) * p + share * q)


def test_any_nu_is_a_bound_and_that_of_a_smaller_ball_is_not() -> None:
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(2000):
        counts, u, budget = random_row(rng)
        p, q = counts / counts.sum(), inside(rng, counts, budget)
        gap, x = u.max() - u, np.ptp(u) * 10.0 ** rng.uniform(-6, 6) + 1e-12
        weight = np.exp((p * np.log(x + gap)).sum() - budget)
        tolerance = 1e-9 * (np.ptp(u) + x) + 1e-15 * np.abs(u).max()  # what doubles of this size round by
        assert q @ u <= u.max() + x - weight + tolerance
        too_small = u.max() + x - np.exp((p * np.log(x + gap)).sum() - 0.01 * budget)
        wrong += bool(dual(counts, u, budget)[1] @ u > too_small + tolerance)
    assert wrong > 100


def test_the_reference_agrees() -> None:
    rng = np.random.default_rng(3)
    for _ in range(500):
        counts, u, budget = random_row(rng)
        p = (counts / counts.sum())[None]
        slow = float(reference.extreme_mean(p, u[None], np.array([budget]))[0])
        assert dual(counts, u, budget)[0] == pytest.approx(slow, abs=1e-8 * max(np.ptp(u), 1e-300))


# --- fixed points ----------------------------------------------------------------------------------------------------


def random_evidence(seed: int, states: int = 6, actions: int = 3, per_transition: bool = False) -> Evidence:
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(states, 0.2), size=(states, actions))
    n = rng.integers(0, 10 ** rng.integers(1, 5), size=(states, actions))
    n[rng.random(n.shape) < 0.1] = 0
    counts = np.array([[rng.multinomial(n[s, a], rows[s, a]) for a in range(actions)] for s in range(states)])
    reward = rng.uniform(-0.5, 1.0, size=(states, actions, states if per_transition else 1))
    closed = np.zeros(states, dtype=np.bool_)
    return Evidence(counts.astype(np.float64), None, reward, None, ValueRange(-0.5, 1.0, 0.9), closed)


def solved(evidence: Evidence, delta: float = 0.1) -> tuple[Sets, NDArray[np.int64], dict[str, Any]]:
    sets = confidence_sets(evidence, delta)
    robust, states = Robust(sets), len(evidence.counts)
    policy = np.arange(states) % evidence.counts.shape[1]
    lower = robust.lower(policy)
    safest, chosen = robust.safest(policy, lower)
    upper, upper_q = robust.upper(policy)
    gap = robust.gap(policy, lower, np.maximum(lower, safest), upper, upper_q)
    found = {"lower": lower, "safest": safest, "upper": upper, "gap": gap, "upper_q": upper_q, "chosen": chosen}
    return sets, policy, found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("per_transition", [False, True])
def test_compiled_values_are_the_defined_ones(seed: int, per_transition: bool) -> None:
    evidence = random_evidence(seed, per_transition=per_transition)
    sets, policy, found = solved(evidence)
    assert evidence.reward is not None
    n = evidence.counts.sum(axis=2)
    budget = np.divide(support_mixture(evidence.counts, 0.1 / n.size), n, out=np.full(n.shape, np.inf), where=n > 0)
    np.testing.assert_allclose(sets.floor.reshape(n.shape), budget, rtol=1e-9)
    arguments = evidence.counts, evidence.reward, 0.9, budget
    lower = reference.robust_value(*arguments, "lower", policy)
    np.testing.assert_allclose(found["lower"][:-1], lower, atol=1e-6)
    assert (found["lower"][:-1] <= lower + 1e-10).all()
    np.testing.assert_allclose(found["safest"][:-1], reference.robust_value(*arguments, "safest"), atol=1e-6)
    upper = reference.robust_value(*arguments, "upper")
    np.testing.assert_allclose(found["upper"][:-1], upper, atol=1e-6)
    assert (found["upper"][:-1] >= upper - 1e-10).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_coupled_gap_is_the_defined_one(seed: int) -> None:
    evidence = random_evidence(seed)
    sets, policy, found = solved(evidence)
    states, actions = evidence.counts.shape[:2]
    budget = sets.floor.reshape(states, actions)
    floor = np.maximum(found["lower"], found["safest"])[:-1]
    total = evidence.counts.sum(axis=2, keepdims=True)
    p = np.divide(evidence.counts, total, out=np.zeros(evidence.counts.shape), where=total > 0)[range(states), policy]
    worst = -reference.extreme_mean(p, np.broadcast_to(-floor, p.shape), budget[range(states), policy])
    assert evidence.reward is not None
    floor_q = evidence.reward[range(states), policy, 0] + 0.9 * worst
    upper_q = found["upper_q"].reshape(states, actions)
    slow = reference.coupled_gap(evidence.counts, 0.9, budget, policy, upper_q, found["lower"][:-1], floor_q)
    np.testing.assert_allclose(found["gap"][:-1], slow, atol=2e-5)
    assert (found["gap"][:-1] >= slow - 1e-9).all()
    assert (found["gap"] <= found["upper"] - found["lower"] + 1e-12).all()


def test_sweeps_and_elimination_give_the_same() -> None:
    """Above 48 states systems are solved by sweeps."""
    large, small = random_evidence(9, states=60, actions=2), random_evidence(9, states=12, actions=2)
    for evidence in (large, small):
        sets, policy, found = solved(evidence)
        robust = Robust(sets)
        robust._matrix = np.empty((0, 0)) if len(policy) <= 48 else np.empty((60, 61))
        np.testing.assert_allclose(robust.lower(policy), found["lower"], atol=1e-6)
        np.testing.assert_allclose(robust.upper(policy)[0], found["upper"], atol=1e-6)


def test_numbering_the_states_anew_changes_nothing() -> None:
    evidence = random_evidence(4)
    assert evidence.reward is not None
    order = np.random.default_rng(5).permutation(6)
    moved = Evidence(
        np.ascontiguousarray(evidence.counts[order][:, :, order]), None, evidence.reward[order], None,
        evidence.values, evidence.closed,
    )  # fmt: skip
    policy = np.array([0, 1, 2, 0, 1, 2])
    here, there = Robust(confidence_sets(evidence, 0.1)), Robust(confidence_sets(moved, 0.1))
    np.testing.assert_allclose(here.lower(policy)[order], there.lower(policy[order])[:-1], atol=1e-7)
    np.testing.assert_allclose(here.upper(policy)[0][order], there.upper(policy[order])[0][:-1], atol=1e-7)


def test_which_unseen_state_it_is_does_not_matter() -> None:
    """Two states that nothing was seen of change places: the others' values stay, to the last digit."""
    evidence = random_evidence(6, states=7, actions=2)
    counts = evidence.counts.copy()
    counts[:, :, 5:] = 0
    counts[5:] = 0
    reward = np.array(evidence.reward)
    reward[5:] = reward[5]
    one = Evidence(counts, None, reward, None, evidence.values, evidence.closed)
    order = [0, 1, 2, 3, 4, 6, 5]
    other = Evidence(np.ascontiguousarray(counts[order][:, :, order]), None, reward, None, one.values, one.closed)
    policy = np.zeros(7, dtype=np.int64)
    for value in ("lower", "plain"):
        first, second = (getattr(Robust(confidence_sets(e, 0.1)), value)(policy) for e in (one, other))
        np.testing.assert_array_equal(first, second)


def test_an_unfinished_search_still_bounds() -> None:
    """A value that is far off and a single turn: the residual is taken off."""
    evidence = random_evidence(7)
    _, policy, found = solved(evidence)
    robust = Robust(confidence_sets(evidence, 0.1))
    robust._tolerance = 1e9
    rough = robust.lower(policy, np.append(np.full(6, 8.0), 0.0))
    assert (rough[:-1] <= found["lower"][:-1] + 1e-9).all()
    rough, _ = robust.upper(policy, np.append(np.full(6, -4.0), 0.0))
    assert (rough[:-1] >= found["upper"][:-1] - 1e-9).all()


@pytest.mark.parametrize("prior", [0.0, 1.0])
@pytest.mark.parametrize("h", [0.0, 1.0, 8.0, np.inf])
@pytest.mark.parametrize("per_transition", [False, True])
def test_what_h_more_samples_could_show_is_equation_1(h: float, prior: float, per_transition: bool) -> None:
    evidence = random_evidence(8, per_transition=per_transition)
    assert evidence.reward is not None
    alpha = evidence.counts + prior / 6
    n = alpha.sum(axis=2)
    value = np.zeros(6)
    for _ in range(800):
        u = evidence.reward + 0.9 * value
        u = np.broadcast_to(u, alpha.shape)
        mean = np.where(n[..., None] > 0, alpha / np.maximum(n, 1e-300)[..., None], 1 / 6)
        w = np.ones(n.shape) if np.isinf(h) else np.where(n + h > 0, h / np.maximum(n + h, 1e-300), 0.0)
        value = ((1 - w) * (mean * u).sum(axis=2) + w * u.max(axis=2)).max(axis=1)
    found = Robust(confidence_sets(evidence, 0.1)).reach(h, prior, np.zeros(6, dtype=np.int64))
    np.testing.assert_allclose(found[:-1], value, atol=1e-6)


def test_a_backup_of_an_ended_row_knows_the_end() -> None:
    """Half of the samples ended: the value is the reward and gamma times half of what follows, within the ball."""
    rows = Rows(
        first=np.array([0, 2]), following=np.array([0, 1]), seen=np.array([50.0, 50.0]), pays=np.zeros(2),
        total=np.array([100.0]), rewards=np.zeros((0, 0, 0)), closed=np.zeros(1, dtype=np.bool_), gamma=0.5,
        open=True, ends=True, copies=np.ones(1),
    )  # fmt: skip
    found = Extreme(np.zeros(1), np.zeros(1), np.zeros(2), np.zeros(1), np.zeros(1, np.int64), np.zeros(1), np.zeros(1))
    value = np.array([2.0, 0.0])
    for sign in (1.0, -1.0):
        best = highest(value, sign, 1, True)
        assert best == (0 if sign > 0 else 1)
        backup_pair(rows, 0, 1.0, 1e-12, sign, 1.0, value, best, found, np.empty(2))
        assert found.q[0] == pytest.approx(1.5, abs=1e-4)
        assert sign * found.q[0] >= sign * 1.5
