"""Posterior sampling: draws against known distributions, times against a second writing, plans against iteration."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from scipy import stats

import hreach
from hreach import InputError
from hreach.kernels.posterior import gamma_variate
from hreach.optimism.posterior_sampling import doubling, geometric
from hreach.randomness.streams import agent_stream


def built(env: Any, seed: int = 1, **params: Any) -> Any:
    return hreach.make_agent("posterior-sampling", env, seed=seed, **params)


# --- draws ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [0.05, 0.2, 0.7, 1.0, 1.5, 6.0, 80.0])
def test_gamma_variates_have_their_distribution(shape: float) -> None:
    stream = agent_stream(7)
    drawn = np.array([gamma_variate(shape, stream) for _ in range(4000)])
    assert stats.kstest(drawn, stats.gamma(shape).cdf).pvalue > 1e-3
    assert stats.kstest(drawn, stats.gamma(1.15 * shape).cdf).pvalue < 1e-3  # a wrong shape is noticed


def test_no_weight_is_no_variate() -> None:
    assert gamma_variate(0.0, agent_stream(1)) == 0.0


def many_draws(agent: Any, s: int, a: int, count: int) -> np.ndarray:
    """Models of one pair, (count, S), each from a plan whose schedule is made due."""
    actions = agent.model.problem.actions
    i = s * actions + a
    rows = []
    for _ in range(count):
        agent.planner.table.due[0] = 0.0
        agent.planner.plan()
        rows.append(agent.planner.table.mean[i // 4, :, i % 4].copy())
    return np.array(rows)


def test_a_drawn_model_is_a_draw_from_the_dirichlet_posterior() -> None:
    env = hreach.make_domain("chain")
    agent = built(env)
    for following in (0, 0, 0, 1, 1, 4):
        agent.observe(0, 1, 0.0, following)
    drawn = many_draws(agent, 0, 1, 3000)
    alpha = agent.model.seen.counts[0, 1]
    np.testing.assert_allclose(drawn.sum(axis=1), 1.0, rtol=1e-12)
    share = alpha / alpha.sum()
    error = np.sqrt(share * (1 - share) / (alpha.sum() + 1) / len(drawn))
    assert (np.abs(drawn.mean(axis=0) - share) < 5 * error).all()
    for j in (0, 1, 2):  # each component is Beta(alpha_j, alpha - alpha_j)
        assert stats.kstest(drawn[:, j], stats.beta(alpha[j], alpha.sum() - alpha[j]).cdf).pvalue > 1e-3
    assert stats.kstest(drawn[:, 0], stats.beta(alpha[0] + 1, alpha.sum() - alpha[0]).cdf).pvalue < 1e-3


def test_a_learnt_reward_is_drawn_between_its_bounds_around_its_mean() -> None:
    env = hreach.make_domain("chain")
    agent = built(env, reward="learn", r_max=1.0)
    for _ in range(9):
        agent.observe(0, 1, 0.8, 0)
    many_draws(agent, 0, 1, 1)
    rewards = []
    for _ in range(2000):
        agent.planner.table.due[0] = 0.0
        agent.planner.plan()
        rewards.append(agent.planner.table.base[1])
    seen = agent.model.seen
    mean = float(seen.reward_sum[0, 1] / seen.total[0, 1])
    posterior = stats.beta(10 * mean, 10 * (1 - mean))
    assert stats.kstest(rewards, posterior.cdf).pvalue > 1e-3
    assert stats.kstest(rewards, stats.beta(5, 5).cdf).pvalue < 1e-3


# --- times ----------------------------------------------------------------------------------------------------------


def drawn_at(agent: Any, env: Any, steps: int) -> list[int]:
    """The steps before which a new model was drawn."""
    times, before = [], None
    state, _ = env.reset(seed=3)
    for t in range(steps):
        action = agent.act(state)
        now = agent.planner.table.mean.copy()
        if before is None or not np.array_equal(now, before):
            times.append(t)
        before = now
        following, reward, terminated, _, _ = env.step(action)
        agent.observe(state, action, reward, following, terminated)
        state = following
    return times


@pytest.mark.parametrize("length", [None, 4.0, 1.0])
def test_lengths_are_geometric(length: float | None) -> None:
    env = hreach.make_domain("chain")
    times = drawn_at(built(env, length=length), env, 3000)
    lengths, mean = np.diff(times), 20.0 if length is None else length
    assert times[0] == 0
    assert lengths.min() >= 1
    error = mean * np.sqrt(max(1 - 1 / mean, 0.0) / len(lengths)) + 1e-12
    assert abs(lengths.mean() - mean) < 4 * error


def test_a_model_is_drawn_when_a_count_doubles() -> None:
    env = hreach.make_domain("riverswim")
    agent = built(env, episodes="doubling")
    times = drawn_at(agent, env, 400)
    weight, last, expected = np.ones((6, 2)), np.ones((6, 2)), [0]
    twin = built(env, episodes="doubling")
    state, _ = env.reset(seed=3)
    for t in range(400):
        action = twin.act(state)
        following, reward, terminated, _, _ = env.step(action)
        twin.observe(state, action, reward, following, terminated)
        weight[state, action] += 1
        if (weight >= 2 * last).any():
            expected.append(t + 1)
            last = weight.copy()
        state = following
    assert times == [t for t in expected if t < 400]
    assert 10 < len(times) < 200


def test_both_schedules_as_written_are_those_that_are_compiled() -> None:
    """The compiled ones are run by every other test; in Python they say the same."""
    table, one = np.ones((2, 2, 1)), np.ones((2, 2))
    due, changed = geometric(5.0, 4 * table, one, one[0], one[0], 0.9, 0.0, table.copy(), agent_stream(1))
    assert due >= 6.0
    assert changed == 1.0
    assert doubling(3.0, table, one, one[0], one[0], 0.9, 0.0, table.copy(), agent_stream(1)) == (4.0, 0.0)
    assert doubling(3.0, table, 2 * one, one[0], one[0], 0.9, 0.0, table.copy(), agent_stream(1)) == (4.0, 1.0)


# --- plans ----------------------------------------------------------------------------------------------------------


def test_the_plan_is_that_of_the_drawn_model() -> None:
    env = hreach.make_domain("riverswim")
    agent = built(env, tolerance=1e-10)
    hreach.run(env, agent, 200, seed=1)
    agent.plan()
    table, reward = agent.planner.table, agent.planner.rule.reward[:, :, 0]
    drawn = np.array([table.mean[i // 4, :, i % 4] for i in range(12)]).reshape(6, 2, 6)
    value = np.zeros(6)
    for _ in range(5000):
        value = (reward + agent.model.problem.gamma * drawn @ value).max(axis=1)
    np.testing.assert_allclose(agent.internal_value(), value, atol=1e-7)


CASES = [
    ("chain", {}),
    ("chain", {"episodes": "doubling"}),
    ("riverswim", {"reward": "learn", "r_max": 1.0, "length": 7}),
    ("sixarms", {"episodes": "doubling", "prior": 0.5}),
]


@pytest.mark.parametrize(("domain", "params"), CASES)
def test_a_simulated_run_is_the_run_of_the_loop(domain: str, params: dict[str, Any]) -> None:
    env = hreach.make_domain(domain)
    many = hreach.simulate(domain, "posterior-sampling", params, runs=3, steps=400, seed=11)
    for i in range(3):
        env_seed, agent_seed = (int(s) for s in hreach.run_seeds(11, first=i, runs=1)[0])
        one = hreach.run(env, built(env, agent_seed, **params), 400, seed=env_seed)
        np.testing.assert_array_equal(many.reward[i], one.rewards)


def test_episodes_that_end() -> None:
    """On a frozen lake the goal is found and gone to; what ended there is drawn as the end of an episode."""
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    agent = built(env, reward="learn", r_max=1.0, gamma=0.95)
    hreach.run(env, agent, episodes=400, seed=2)
    late = hreach.run(env, agent.certainty_equivalent(), episodes=3, seed=5)
    assert late.terminated.all()
    assert late.episode_rewards.tolist() == [1.0, 1.0, 1.0]
    assert agent.model.seen.terminal.any()


def test_it_goes_on_from_a_saved_state_with_the_same_draw() -> None:
    env = hreach.make_domain("chain")
    agent = built(env, length=50)
    hreach.run(env, agent, 130, seed=1)
    other = built(env, 9, length=50)
    other.load_state_dict(agent.state_dict())
    one, two = hreach.run(env, agent, 200, seed=4), hreach.run(env, other, 200, seed=4)
    np.testing.assert_array_equal(one.actions, two.actions)
    np.testing.assert_array_equal(one.rewards, two.rewards)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"episodes": "never"}, r"^episodes is 'never', but must be 'geometric' or 'doubling'"),
        ({"length": 0.5}, r"^length is 0\.5, but must be "),
        ({"length": 5, "episodes": "doubling"}, r"^length is 5, but must be left out"),
        ({"prior": 0}, r"^prior is 0\.0, but must be above 0"),
    ],
)
def test_bad_parameters_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        built(hreach.make_domain("chain"), **params)


def test_it_has_no_h_and_no_bound() -> None:
    env = hreach.make_domain("chain")
    agent = built(env)
    hreach.run(env, agent, 50, seed=1)
    found = agent.exploration_gap(eps=1.0)
    assert found.h is None
    with pytest.raises(InputError, match="finite h"):
        found.sample_complexity()
