"""The compiled planner against the plain NumPy reference, a linear program and the exact oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import hreach
from hreach import kernels
from hreach.problems.mdp import TabularMDP
from hreach.testing.reference.value_iteration import backup, ball_maximum, hopes, value_iteration

AGENTS: list[tuple[str, dict[str, Any]]] = [
    ("pac-rmdp", {"h": 3.5}),
    ("pac-rmdp", {"h": np.inf}),
    ("bolt", {"eta": 20}),
    ("mbie", {"epsilon": 1.0, "delta": 0.5}),
    ("mbie", {"radius": 0.8}),
    ("mbie-eb", {"beta": 2.0}),
    ("mbie-reach", {"epsilon": 10.0, "delta": 0.9}),
    ("vbe", {"delta": 0.5}),
    ("beb", {"beta": 300.0}),
    ("greedy", {}),
]
slow = settings(deadline=None, derandomize=True, max_examples=40)


def random_agent(seed: int, name: str, params: dict[str, Any], per_transition: bool, **shared: Any) -> Any:
    """An agent with random counts on a random problem of 1 to 7 states and 1 to 4 actions."""
    rng = np.random.default_rng(seed)
    states, actions = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    P = rng.dirichlet(np.full(states, 0.5), (states, actions))
    R = rng.random((states, actions, states) if per_transition else (states, actions))
    gamma = float(rng.choice([0.0, 0.5, 0.9, 0.95]))
    mdp = TabularMDP(P / P.sum(axis=2, keepdims=True), R, gamma)
    agent = hreach.make_agent(name, mdp, prior=float(rng.choice([0.5, 1, 5])), **params, **shared)
    for _ in range(int(rng.integers(0, 60))):
        s, a = int(rng.integers(states)), int(rng.integers(actions))
        agent.observe(s, a, 0.0, int(rng.choice(states, p=mdp.transitions()[s, a])))
    return agent


def reference(agent: Any) -> Any:
    rule = agent.planner.rule
    return hopes(
        agent.optimism.formula, agent.model.seen.counts, rule.reward, rule.parameters, rule.gamma, rule.value_cap
    )


@pytest.mark.parametrize(("name", "params"), AGENTS)
@pytest.mark.parametrize("per_transition", [False, True])
@given(seed=st.integers(0, 10**6))
@slow
def test_one_sweep_equals_the_reference(name: str, params: dict[str, Any], per_transition: bool, seed: int) -> None:
    agent = random_agent(seed, name, params, per_transition)
    value = np.random.default_rng(seed).normal(0, 20, agent.model.problem.states)
    agent.planner.table.value[:] = value
    sweeps, _, finished = kernels.plan(agent.planner.rule._replace(tolerance=1e300), agent.belief)
    expected = backup(reference(agent), value)
    assert finished
    assert sweeps == 1
    np.testing.assert_allclose(agent.planner.table.value, expected.max(axis=1), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(agent.planner.table.q[: expected.size], expected.ravel(), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize(("name", "params"), AGENTS)
@pytest.mark.parametrize("cap", [None, 3.0])
@given(seed=st.integers(0, 10**6))
@slow
def test_the_residual_bounds_the_error(name: str, params: dict[str, Any], cap: float | None, seed: int) -> None:
    agent = random_agent(seed, name, params, per_transition=bool(seed % 2), value_cap=cap, tolerance=0.01)
    given_hopes = reference(agent)
    exact, *_ = value_iteration(given_hopes, np.zeros(agent.model.problem.states), 1e-11)
    agent.planner.table.value[:] = np.random.default_rng(seed).normal(0, 100, agent.model.problem.states)
    agent.plan()
    gamma, scale = agent.model.problem.gamma, 1 + np.abs(exact).max()
    error = np.abs(agent.internal_value() - exact).max()
    assert agent.planner.residual <= 0.01
    assert error <= gamma * agent.planner.residual / (1 - gamma) + 1e-9 * scale


def test_a_residual_that_is_too_small_would_be_caught() -> None:
    """The twin of the test above: a claim of half the measured residual does not hold everywhere."""
    worst = 0.0
    for seed in range(20):
        agent = random_agent(seed, "pac-rmdp", {"h": 3.5}, per_transition=False)
        agent.planner.table.value[:] = 100.0
        _, residual, _ = kernels.plan(agent.planner.rule._replace(tolerance=1e300), agent.belief)
        exact, *_ = value_iteration(reference(agent), np.zeros(agent.model.problem.states), 1e-11)
        gamma = agent.model.problem.gamma
        bound = gamma * residual / (1 - gamma)
        worst = max(worst, np.abs(agent.planner.table.value - exact).max() / bound if bound > 0 else 0)
    assert 0.5 < worst <= 1 + 1e-9


@pytest.mark.parametrize(("name", "params"), [("beb", {"beta": 43808.0}), ("vbe", {"delta": 0.1})])
def test_large_bonuses_need_few_sweeps_where_plain_iteration_needs_many(name: str, params: dict[str, Any]) -> None:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent(name, env, **params)
    run = hreach.run(env, agent, 500)
    agent.observe(int(run.states[0]), int(run.actions[0]), 0.0, 0)
    start = agent.planner.table.value.copy()
    sweeps, residual, _ = kernels.plan(agent.planner.rule, agent.belief)
    *_, plain, _ = value_iteration(reference(agent), start, 0.01)
    assert residual <= 0.01
    assert sweeps <= 6
    assert plain > 10 * sweeps


@pytest.mark.parametrize(("name", "params"), AGENTS)
def test_planning_does_not_change_the_model(name: str, params: dict[str, Any]) -> None:
    agent = random_agent(7, name, params, per_transition=True)
    fields = ("counts", "total", "income", "mean", "reach", "base", "radius")
    before = {f: getattr(agent.belief, f).copy() for f in fields}
    agent.plan()
    assert all(np.array_equal(before[f], getattr(agent.belief, f)) for f in fields)


def test_a_tolerance_finer_than_doubles_ends() -> None:
    agent = random_agent(3, "beb", {"beta": 1e9}, per_transition=False, tolerance=1e-300)
    agent.plan()
    assert agent.planner.residual <= 1e-15 * np.abs(agent.internal_value()).max()


@given(seed=st.integers(0, 10**6), states=st.integers(2, 6), twentieths=st.integers(0, 50))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_the_ball_maximum_is_that_of_a_linear_program(seed: int, states: int, twentieths: int) -> None:
    """max p'u over distributions p' with |p' - p|_1 <= radius, as a linear program in (p', t), |p' - p| <= t."""
    rng = np.random.default_rng(seed)
    radius = twentieths / 20
    p, u = rng.dirichlet(np.full(states, 0.5)), rng.normal(0, 5, states)
    eye = np.eye(states)
    inequality = np.vstack([np.hstack([eye, -eye]), np.hstack([-eye, -eye]), np.r_[np.zeros(states), np.ones(states)]])
    bound = np.r_[p, -p, radius]
    best = linprog(
        np.r_[-u, np.zeros(states)],
        A_ub=inequality,
        b_ub=bound,
        A_eq=np.r_[np.ones(states), np.zeros(states)][None],
        b_eq=[1],
        bounds=(0, None),
    )
    assert best.status == 0
    mine = float(ball_maximum(p[None], np.array([radius]), u[None])[0])
    assert mine == pytest.approx(-best.fun, abs=1e-8)


def test_mbie_plans_with_the_ball_maximum_and_nothing_less_will_do() -> None:
    agent = random_agent(7, "mbie", {"radius": 0.6}, per_transition=False, tolerance=1e-9)
    model = reference(agent)
    agent.plan()
    full = backup(model, agent.internal_value())
    np.testing.assert_allclose(agent.action_values(), full, atol=1e-7)
    smaller = backup(type(model)(**{**model.__dict__, "radius": model.radius * 0.9}), agent.internal_value())
    assert (full > smaller + 1e-6).any()
