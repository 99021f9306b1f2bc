"""An episode ends by a transition, not by a state: every agent against exact solutions and against a wrapper that
gives the end a state of its own."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

import hreach
from helpers import with_end_state
from hreach import TabularMDP, kernels
from hreach.domains.tabular import TabularEnv
from hreach.randomness.seeding import run_seeds
from hreach.testing.reference.value_iteration import backup, hopes

Array = NDArray[np.float64]
AGENTS: list[tuple[str, dict[str, Any]]] = [
    ("pac-rmdp", {"h": 3}),
    ("pac-rmdp", {"h": "growing"}),
    ("pac-rmdp", {"h": "adaptive"}),
    ("bolt", {"eta": 5}),
    ("mbie", {"epsilon": 20.0, "delta": 0.9}),
    ("mbie-eb", {"beta": 2.0}),
    ("mbie-reach", {"epsilon": 100.0}),
    ("vbe", {"delta": 10.0}),
    ("beb", {"beta": 3.0}),
    ("greedy", {}),
    ("epsilon-greedy", {"epsilon": 0.3}),
]


def ending_mdp(seed: int, per_transition: bool = False, states: int = 4, actions: int = 2) -> TabularMDP:
    """Random, with rewards of both signs; transitions end for sure, by chance, or never."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(states, 0.5), (states, actions))
    R = rng.uniform(-1, 1, (states, actions, states) if per_transition else (states, actions))
    end = rng.choice([0.0, 0.0, 0.4, 1.0], (states, actions, states))
    return TabularMDP(P, R, 0.9, end=end)


# --- the truth ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_transition", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_a_problem_with_an_end_state(seed: int, per_transition: bool) -> None:
    mdp = ending_mdp(seed, per_transition)
    exact = with_end_state(mdp)
    np.testing.assert_allclose(mdp.optimal_value(), exact.optimal_value()[:-1], rtol=1e-12)
    policy = np.array([seed % 2] * 4)
    np.testing.assert_allclose(mdp.policy_value(policy), exact.policy_value(np.append(policy, 0))[:-1], rtol=1e-12)


def test_the_long_run_average_starts_again_after_an_end() -> None:
    """Two steps an episode: 1 is paid for the second."""
    P = np.array([[[0.0, 1.0]], [[1.0, 0.0]]])
    mdp = TabularMDP(P, [[0.0], [1.0]], 0.9, end=[[0.0], [1.0]])
    assert mdp.average_reward([0, 0]) == pytest.approx(0.5)


def test_an_end_that_is_no_probability_is_refused() -> None:
    with pytest.raises(hreach.InputError, match=r"^end\[0, 1\] is 1\.5, but must be a probability from 0 to 1\.$"):
        TabularMDP([[[1.0], [1.0]]], [[0.0, 0.0]], 0.9, end=[[0.0, 1.5]])


# --- every agent ----------------------------------------------------------------------------------------------------


def test_a_reward_that_ends_the_episode_is_earned_once() -> None:
    agent = hreach.make_agent("greedy", TabularMDP(np.full((2, 2, 2), 0.5), np.zeros((2, 2)), 0.95), reward="learn",
                              r_max=1, prior=0, tolerance=1e-9)  # fmt: skip
    for _ in range(100):
        agent.observe(0, 1, 1.0, 0, True)
    assert agent.action_values()[0, 1] == pytest.approx(1.0)


@pytest.mark.parametrize("per_transition", [False, True])
@pytest.mark.parametrize(("name", "params"), [case for case in AGENTS if case[0] != "epsilon-greedy"])
def test_a_sweep_equals_the_reference(name: str, params: dict[str, Any], per_transition: bool) -> None:
    for seed in range(12):
        mdp = ending_mdp(seed, per_transition)
        agent = hreach.make_agent(name, mdp, prior=float(seed % 3), **params)
        wander(agent, mdp, seed)
        b, rule = agent.belief, agent.planner.rule
        value = np.random.default_rng(seed).normal(0, 10, mdp.states)
        if agent.optimism.growing:
            agent.plan()
        b.value[:] = value
        kernels.plan(rule._replace(tolerance=1e300), b)
        given = hopes(
            agent.optimism.formula, b.counts, rule.reward, b.constants, rule.gamma, rule.value_cap, b.ended, b.terminal
        )
        untried = (b.total == 0) & np.isinf(given.bonus)
        expected = np.where(untried, rule.v_max, backup(given, value))
        expected[b.terminal] = 0.0
        np.testing.assert_allclose(agent.planner.table.q[: expected.size], expected.ravel(), rtol=1e-9, atol=1e-9)


def wander(agent: TabularAgent, mdp: TabularMDP, seed: int) -> None:
    """Samples of random pairs, some of which end an episode."""
    rng = np.random.default_rng(seed)
    P, ends = mdp.transitions(), mdp.endings()
    for _ in range(int(rng.integers(1, 60))):
        s, a = int(rng.integers(mdp.states)), int(rng.integers(mdp.actions))
        following = int(rng.choice(mdp.states, p=P[s, a]))
        over = rng.random() < ends[s, a, following] / P[s, a, following]
        agent.observe(s, a, 0.0, following, bool(over))


@pytest.mark.parametrize(("name", "params"), AGENTS)
@pytest.mark.parametrize("reward", ["known", "learn"])
def test_a_simulation_equals_the_loop_bit_for_bit(name: str, params: dict[str, Any], reward: str) -> None:
    mdp = ending_mdp(3)
    given = {**params, "reward": reward}
    runs = hreach.simulate(mdp, name, given, runs=3, steps=150, seed=5)
    for i, (env_seed, agent_seed) in enumerate(run_seeds(5, 0, 3)):
        env = TabularEnv(mdp, mdp.reward_table())
        agent = hreach.make_agent(name, env, seed=int(agent_seed), **given)
        done = hreach.run(env, agent, 150, seed=int(env_seed))
        assert len(done.ended) > 5
        assert np.array_equal(done.rewards, runs.reward[i])


@pytest.mark.parametrize(("name", "params"), AGENTS)
def test_the_value_is_exact_where_the_solve_is(name: str, params: dict[str, Any]) -> None:
    """Solving the greedy model and sweeping plainly find the same fixed point."""
    for seed in range(6):
        mdp = ending_mdp(seed, per_transition=seed % 2 == 0)
        agent = hreach.make_agent(name, mdp, tolerance=1e-10, **params)
        wander(agent, mdp, seed)
        value = agent.internal_value()
        b, rule = agent.belief, agent.planner.rule
        b.value[:] = 50.0
        for _ in range(600):
            kernels.plan(rule._replace(tolerance=1e300), b)
        np.testing.assert_allclose(b.value, value, atol=1e-7)


# --- which states are closed ----------------------------------------------------------------------------------------


def four_states() -> TabularAgent:
    agent = hreach.make_agent("pac-rmdp", TabularMDP(np.full((4, 2, 4), 0.25), np.zeros((4, 2)), 0.9), h=2,
                              reward="learn", r_max=1)  # fmt: skip
    assert isinstance(agent, TabularAgent)
    return agent


def test_a_state_in_which_episodes_only_end_is_worth_nothing() -> None:
    agent = four_states()
    agent.observe(0, 0, 0.0, 1, True)
    assert agent.internal_value()[1] == 0.0
    assert agent.internal_value()[2] > 1.0


def test_a_state_that_is_left_or_entered_is_open_and_what_ended_there_still_ended() -> None:
    left, entered = four_states(), four_states()
    for agent in (left, entered):
        agent.observe(0, 0, 0.0, 1, True)
    left.observe(1, 0, 1.0, 0)
    entered.observe(2, 0, 0.0, 1)
    for agent in (left, entered):
        assert agent.internal_value()[1] > 1.0
        again = four_states()
        again.load_state_dict(agent.state_dict())
        np.testing.assert_array_equal(again.internal_value(), agent.internal_value())
        assert agent.planner.table.gone[0] > 0.1  # of pair (0, 0)


def test_an_agent_that_expects_no_end_learns_that_there_is_one() -> None:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent("pac-rmdp", env, h=2)
    agent.observe(0, 0, 0.0, 1)
    agent.observe(1, 0, 0.0, 2, True)
    ending = TabularMDP(env.mdp().transitions(), env.known_reward, 0.95, end=[[0, 1e-9]] * 5)
    told = hreach.make_agent("pac-rmdp", ending, h=2)
    told.observe(0, 0, 0.0, 1)
    told.observe(1, 0, 0.0, 2, True)
    np.testing.assert_allclose(agent.internal_value(), told.internal_value, atol=0.5)
    assert agent.internal_value()[2] == 0.0


# --- problems of other people ---------------------------------------------------------------------------------------


def stopping(offers: int = 6, gamma: float = 0.9) -> TabularMDP:
    """An offer of 1 .. K a day, equally likely: take it, which ends the episode, or wait for the next one. The episode
    ends in the state of the offer, where one also waits."""
    P, R, end = np.full((offers, 2, offers), 1 / offers), np.zeros((offers, 2)), np.zeros((offers, 2))
    P[:, 1] = np.eye(offers)
    R[:, 1] = np.arange(1, offers + 1)
    end[:, 1] = 1
    return TabularMDP(P, R, gamma, start=np.full(offers, 1 / offers), end=end)


def worth_of_waiting(offers: int, gamma: float) -> float:
    """w = gamma E max(offer, w), by bisection: the exact solution of optimal stopping."""
    low, high = 0.0, float(offers)
    for _ in range(100):
        middle = (low + high) / 2
        better = gamma * np.maximum(np.arange(1, offers + 1), middle).mean() > middle
        low, high = (middle, high) if better else (low, middle)
    return low


def test_optimal_stopping_has_its_exact_solution() -> None:
    """Of the MDP, and of an agent that saw every pair 300 times."""
    mdp, wait = stopping(), worth_of_waiting(6, 0.9)
    np.testing.assert_allclose(mdp.optimal_value(), np.maximum(np.arange(1, 7), wait), rtol=1e-9)
    agent = hreach.make_agent("greedy", mdp, reward="learn", r_max=6, prior=0, tolerance=1e-9)
    rng = np.random.default_rng(0)
    for s in range(6):
        for _ in range(300):
            agent.observe(s, 1, s + 1.0, s, True)
            agent.observe(s, 0, 0.0, int(rng.integers(6)))
    np.testing.assert_allclose(agent.action_values()[:, 1], np.arange(1, 7))
    np.testing.assert_allclose(agent.action_values()[:, 0], wait, rtol=0.05)


EXPLORERS = [case for case in AGENTS if case[0] in ("pac-rmdp", "bolt", "mbie-eb", "beb")]


@pytest.mark.parametrize(("name", "params"), EXPLORERS)
@pytest.mark.parametrize("reward", ["known", "learn"])
def test_optimal_stopping_is_learnt(name: str, params: dict[str, Any], reward: str) -> None:
    mdp = stopping()
    env = TabularEnv(mdp, mdp.reward_table() if reward == "known" else None)
    agent = hreach.make_agent(name, env, seed=1, reward=reward, r_max=6, prior=0, **params)
    hreach.run(env, agent, 3000, seed=1)
    chosen = mdp.policy_value(np.argmax(agent.action_values(), axis=1))
    assert chosen.mean() > 0.97 * mdp.optimal_value().mean()


def blackjack() -> TabularMDP:
    """Gymnasium's Blackjack-v1 (infinite deck, no naturals) solved by enumeration; state (sum, dealer, ace) as
    sum * 22 + dealer * 2 + ace, sums up to 31."""
    cards = np.array([0] + [1] * 9 + [4]) / 13
    S = 32 * 22
    P, R, end = np.zeros((S, 2, S)), np.zeros((S, 2)), np.zeros((S, 2, S))
    P[:, :, 0] = 1
    for total in range(4, 22):
        for dealer in range(1, 11):
            for ace in (0, 1):
                s = total * 22 + dealer * 2 + ace
                P[s] = 0
                P[s, 0, s] = end[s, 0, s] = 1
                R[s, 0] = stick(total, dealer, cards)
                for card in range(1, 11):
                    hard = total - 10 * ace + card
                    soft = ace or card == 1
                    new, usable = (hard + 10, 1) if soft and hard + 10 <= 21 else (hard, 0)
                    to = new * 22 + dealer * 2 + usable
                    P[s, 1, to] += cards[card]
                    if new > 21:
                        end[s, 1, to] = 1
                        R[s, 1] -= cards[card]
    return TabularMDP(P, R, 0.999999, end=end)


def stick(total: int, dealer: int, cards: Array) -> float:
    """Expected reward of sticking: the dealer draws to 17 or more."""
    chances: dict[tuple[int, bool], float] = {(dealer, dealer == 1): 1.0}
    worth = 0.0
    first = True
    while chances:
        after: dict[tuple[int, bool], float] = {}
        for (hard, ace), p in chances.items():
            shown = hard + 10 if ace and hard + 10 <= 21 else hard
            if shown >= 17 and not first:
                worth += p * (1 if shown > 21 else np.sign(total - shown))
                continue
            for card in range(1, 11):
                key = (hard + card, ace or card == 1)
                after[key] = after.get(key, 0.0) + p * cards[card]
        chances, first = after, False
    return worth


def learnt_blackjack(told_of_ends: bool) -> float:
    """What the policy learnt from random play is worth short of the best, from a usual hand, exactly."""
    env, rng = gymnasium.make("Blackjack-v1"), np.random.default_rng(0)
    truth = blackjack()
    spaces = TabularEnv(TabularMDP(truth.transitions(), truth.reward_table(), 0.95), None)
    agent = hreach.make_agent("greedy", spaces, reward="learn", r_max=1, r_min=-1, prior=0)
    (total, dealer, ace), _ = env.reset(seed=1)
    for _ in range(30_000):
        action = int(rng.integers(2))
        (new, _, usable), reward, over, _, _ = env.step(action)
        agent.observe(total * 22 + dealer * 2 + ace, action, float(reward), new * 22 + dealer * 2 + usable,
                      bool(over and told_of_ends))  # fmt: skip
        total, ace = new, usable
        if over:
            (total, dealer, ace), _ = env.reset()
    policy = np.argmax(agent.action_values(), axis=1)
    hands = [total * 22 + dealer * 2 for total in range(12, 21) for dealer in range(1, 11)]
    return float((truth.optimal_value() - truth.policy_value(policy))[hands].mean())


def test_blackjack_is_learnt_and_is_not_where_ends_are_not_counted() -> None:
    assert learnt_blackjack(told_of_ends=True) < 0.03
    assert learnt_blackjack(told_of_ends=False) > 0.1


class Bins(gymnasium.Wrapper[Any, Any, Any, Any]):
    """CartPole in 3 x 3 x 6 x 3 bins; with `own_end` the end has a state of its own."""

    EDGES: tuple[list[float], ...] = (
        [-0.8, 0.8], [-0.5, 0.5], [math.radians(x) for x in (-6, -1, 0, 1, 6)], [-0.87, 0.87],
    )  # fmt: skip

    def __init__(self, own_end: bool) -> None:
        super().__init__(gymnasium.make("CartPole-v1"))
        self.own_end = own_end
        self.observation_space = Discrete(163 if own_end else 162)

    def reset(self, **options: Any) -> Any:
        observed, info = self.env.reset(**options)
        return self.bin(observed), info

    def step(self, action: Any) -> Any:
        observed, reward, terminated, truncated, info = self.env.step(action)
        return 162 if terminated and self.own_end else self.bin(observed), reward, terminated, truncated, info

    def bin(self, observed: Any) -> int:
        index = 0
        for x, edges in zip(observed, self.EDGES, strict=True):
            index = index * (len(edges) + 1) + int(np.searchsorted(edges, x))
        return index


def balancing(own_end: bool, seed: int) -> hreach.Run:
    env = Bins(own_end)
    agent = hreach.make_agent("pac-rmdp", env, h=4, reward="learn", r_max=1, prior=0, seed=seed)
    return hreach.run(env, agent, steps=8000, seed=seed)


@pytest.mark.parametrize("seed", range(3))
def test_binned_cart_pole_is_balanced_as_with_an_end_state_of_its_own(seed: int) -> None:
    """Not just as long: with the bare sample mean the same actions are taken, all 8000 of them."""
    ours, theirs = balancing(False, seed), balancing(True, seed)
    assert np.diff(ours.ended)[-20:].mean() > 200
    np.testing.assert_array_equal(ours.actions, theirs.actions)
