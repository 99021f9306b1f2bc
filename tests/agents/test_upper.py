"""The agent `certify`: it acts greedily on U over the sets of its own certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hreach
from helpers import random_env
from hreach.guarantees.audit.record import known_problem
from hreach.guarantees.confidence import support_mixture
from hreach.testing import check_agent
from hreach.testing.reference.robust_values import robust_value


def made(env: Any = None, **params: Any) -> Any:
    return hreach.make_agent("certify", hreach.make_domain("chain") if env is None else env, **params)


@pytest.mark.parametrize("params", [{}, {"growth": 0}, {"reward": "learn", "r_max": 1.0}])
def test_it_keeps_the_protocol(params: dict[str, Any]) -> None:
    check_agent(lambda env, seed: made(env, seed=seed, **params))


@pytest.mark.parametrize("per_transition", [False, True])
def test_its_values_are_the_best_over_the_sets(per_transition: bool) -> None:
    """Oracle: dense rows, a search for every row, value iteration."""
    env = random_env(3, per_transition=per_transition)
    agent = made(env, growth=0)
    hreach.run(env, agent, steps=300)
    counts = agent.model.seen.counts
    total = counts.sum(axis=2)
    beta = support_mixture(counts, 0.1 / total.size)
    budget = np.where(total > 0, beta / np.maximum(total, 1), np.inf)
    assert env.known_reward is not None
    slow = robust_value(counts, env.known_reward, env.mdp().gamma, budget, "upper")
    np.testing.assert_allclose(agent.internal_value(), slow, rtol=1e-6)
    assert (agent.internal_value() >= env.mdp().optimal_value()).all()
    half = robust_value(counts, env.known_reward, env.mdp().gamma, 0.5 * budget, "upper")
    assert np.abs(agent.internal_value() - half).max() > 1e-2  # the twin: another radius is seen


def test_it_takes_an_action_that_is_best() -> None:
    env = random_env(5)
    agent = made(env, growth=0)
    hreach.run(env, agent, steps=200)
    q = agent.action_values()
    for state in range(4):
        assert q[state, agent.act(state)] == pytest.approx(q[state].max())


def test_values_are_computed_anew_when_enough_is_new() -> None:
    env = random_env(5)
    agent = made(env, growth=0.5)
    for n in range(1, 31):
        agent.observe(0, 0, 0.0, 1)
        agent.act(0)
        known = agent.planner.state_dict()["known"][0, 0]
        assert known <= n < max(known + 1, 1.5 * known)
    every = made(env, growth=0)
    for n in range(1, 11):
        every.observe(0, 0, 0.0, 1)
        every.act(0)
        assert every.planner.state_dict()["known"][0, 0] == n


def test_episodes_that_end_after_all_are_seen_at_once() -> None:
    env = random_env(5)
    agent = made(env, growth=10.0)
    for _ in range(30):
        agent.observe(0, 0, 0.0, 1)
        agent.act(0)
    agent.observe(0, 0, 0.0, 1, True)
    agent.act(0)
    assert agent.planner.state_dict()["known"][0, 0] == 31


def test_many_runs_are_those_of_the_loop() -> None:
    runs = hreach.simulate("chain", "certify", runs=2, steps=150, seed=4, threads=1)
    for i, (env_seed, agent_seed) in enumerate(hreach.run_seeds(4, first=0, runs=2)):
        env = hreach.make_domain("chain")
        alone = hreach.run(env, made(env, seed=int(agent_seed)), steps=150, seed=int(env_seed))
        assert (runs.reward[i] == alone.rewards).all()


def test_it_certifies_the_optimum_with_fewer_steps_than_a_small_reach() -> None:
    """Medians of a few runs; the modified chain, where h = 1 gets stuck. What is certified is true."""
    gaps: dict[str, list[float]] = {"certify": [], "pac-rmdp": []}
    for name, params in (("certify", {}), ("pac-rmdp", {"h": 1})):
        for seed in range(5):
            env = hreach.make_domain("modified-chain")
            agent = hreach.make_agent(name, env, seed=seed, **params)
            done = hreach.run(env, agent, steps=8000, seed=seed)
            found = agent.certify(0.1, int(done.last_state))
            truth = known_problem(env.mdp(), agent)
            short = truth.optimal_value() - truth.policy_value(found.policy)
            assert (short <= found.bounds.gap + 1e-9).all()
            gaps[name].append(found.optimality_gap)
    assert np.median(gaps["certify"]) < 0.5 * np.median(gaps["pac-rmdp"])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"delta": 0}, "delta is 0, but must be above 0 and below 1."),
        ({"growth": -0.1}, "growth is -0.1, but must be a finite number of at least 0."),
        ({"h": 8}, "h"),
    ],
)
def test_bad_parameters_are_one_sentence(params: dict[str, Any], message: str) -> None:
    with pytest.raises(hreach.InputError) as error:
        made(**params)
    assert message in str(error.value)
