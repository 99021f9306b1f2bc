"""R-max against a second writing of it in NumPy, action by action."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import hreach
from hreach import InputError
from hreach.optimism.r_max import known_after


class InNumpy:
    """R-max as Brafman and Tennenholtz define it: unknown pairs lead to a state of eternal bliss."""

    def __init__(self, env: Any, m: int, learnt: bool) -> None:
        mdp = env.mdp()
        self.m, self.gamma, self.learnt = m, mdp.gamma, learnt
        self.n = np.zeros((mdp.states, mdp.actions, mdp.states))
        self.paid = np.zeros((mdp.states, mdp.actions))
        self.known_reward = env.known_reward
        self.top = max(1.0 if learnt else float(env.known_reward.max()), 0.0) / (1 - mdp.gamma)

    def act(self, state: int) -> int:
        n = self.n.sum(axis=2)
        known = n >= self.m
        P = self.n / np.maximum(n, 1)[:, :, None]
        R = self.paid / np.maximum(n, 1) if self.learnt else self.known_reward
        value = np.full(len(n), self.top)
        moved = np.inf
        while moved > 1e-13:
            q = np.where(known, R + self.gamma * P @ value, self.top)
            moved, value = np.abs(q.max(axis=1) - value).max(), q.max(axis=1)
        best = q[state].max()
        return int(np.flatnonzero(q[state] >= best - 1e-9 * max(1.0, abs(best)))[0])

    def observe(self, state: int, action: int, reward: float, following: int, *rest: Any) -> None:
        if self.n[state, action].sum() < self.m:
            self.n[state, action, following] += 1
            self.paid[state, action] += reward


@pytest.mark.parametrize("learnt", [False, True])
@pytest.mark.parametrize("m", [1, 4])
def test_the_same_actions_as_a_second_writing(m: int, learnt: bool) -> None:
    env = hreach.make_domain("riverswim")
    params: dict[str, Any] = {"reward": "learn", "r_max": 1.0} if learnt else {}
    settings = {"m": m, "prior": 0, "tolerance": 1e-12, "ties": [0, 1], **params}
    agent = hreach.make_agent("r-max", env, **settings)
    one, two = hreach.run(env, agent, 150, seed=3), hreach.run(env, InNumpy(env, m, learnt), 150, seed=3)
    np.testing.assert_array_equal(one.actions, two.actions)
    wrong = hreach.run(env, InNumpy(env, m + 1, learnt), 150, seed=3)
    assert not np.array_equal(one.actions, wrong.actions)


def test_every_pair_is_tried_m_times_or_not_worth_reaching() -> None:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent("r-max", env, m=3)
    hreach.run(env, agent, 2000, seed=1)
    seen = agent.model.seen.total - agent.model.problem.prior
    assert (seen <= 3).all()  # and learnt no more
    assert (seen == 3).all()  # all of the chain can be reached


def test_unknown_pairs_are_worth_the_most_there_is() -> None:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent("r-max", env, m=2)
    np.testing.assert_allclose(agent.action_values(), agent.model.problem.values.high)
    agent.observe(0, 0, 0.0, 1)
    assert agent.action_values()[0, 0] == agent.model.problem.values.high
    agent.observe(0, 0, 0.0, 1)
    assert agent.action_values()[0, 0] < agent.model.problem.values.high


@pytest.mark.parametrize(
    ("domain", "params"), [("chain", {"m": 4}), ("riverswim", {"m": 9, "reward": "learn", "r_max": 1.0})]
)
def test_a_simulated_run_is_the_run_of_the_loop(domain: str, params: dict[str, Any]) -> None:
    env = hreach.make_domain(domain)
    many = hreach.simulate(domain, "r-max", params, runs=3, steps=500, seed=5)
    for i in range(3):
        env_seed, agent_seed = (int(s) for s in hreach.run_seeds(5, first=i, runs=1)[0])
        one = hreach.run(env, hreach.make_agent("r-max", env, seed=agent_seed, **params), 500, seed=env_seed)
        np.testing.assert_array_equal(many.reward[i], one.rewards)


def test_m_of_the_theory() -> None:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent("r-max", env, epsilon=0.5, delta=0.2, m_constant=2)
    p = agent.model.problem
    eps = 0.5 / (p.r_max - p.r_min)
    m = 2 * (5 + math.log(5 * 2 / 0.2)) / (eps**2 * (1 - p.gamma) ** 4)
    assert agent.describe()["m"] == pytest.approx(m)
    assert agent.describe()["origin"] == "theory"
    assert known_after(p, 0.25, 0.2) == pytest.approx(4 * known_after(p, 0.5, 0.2))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, r"^epsilon \(or m\) is None, but must be "),
        ({"m": 0}, r"^m is 0, but must be "),
        ({"m": 3, "epsilon": 1}, r"^epsilon is 1, but must be "),
        ({"m": 3, "delta": 0.1}, r"^delta is 0\.1, but must be "),
    ],
)
def test_bad_parameters_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        hreach.make_agent("r-max", hreach.make_domain("chain"), **params)
