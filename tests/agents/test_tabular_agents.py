"""What every tabular agent promises, and that each of its parameters means something."""

from __future__ import annotations

import functools
import math
from typing import Any

import gymnasium
import numpy as np
import pytest

import hreach
from hreach.agents import AGENTS
from hreach.agents.agent import Agent, Design
from hreach.agents.make import SHARED
from hreach.models.counts import Counts
from hreach.optimism.tabular import TabularOptimism
from hreach.planners.sweeps import Sweeps
from hreach.problems.problem import Problem
from hreach.protocols import Stream
from hreach.registry import parameters_of
from hreach.testing import check_agent

# One working setting for each agent, with its constant given by hand and from theory.
BY_HAND: dict[str, dict[str, Any]] = {
    "pac-rmdp": {"h": 4},
    "bolt": {"eta": 4},
    "mbie": {"radius": 1.0},
    "mbie-eb": {"beta": 3.0},
    "mbie-reach": {"m": 10.0, "delta": 0.5},
    "vbe": {"beta": 5.0},
    "beb": {"beta": 5.0},
    "r-max": {"m": 3.0},
    "posterior-sampling": {"length": 10.0},
    "greedy": {},
    "epsilon-greedy": {"epsilon": 0.3},
}
THEORY: dict[str, dict[str, Any]] = {
    "bolt": {"accuracy": 0.5},
    "mbie": {"epsilon": 5.0, "delta": 0.5},
    "mbie-eb": {"epsilon": 5.0, "delta": 0.5},
    "mbie-reach": {"epsilon": 5.0, "delta": 0.5},
    "vbe": {"delta": 0.5},
    "beb": {"accuracy": 0.5},
    "r-max": {"epsilon": 5.0, "delta": 0.5},
    "posterior-sampling": {},
}


def make(name: str, env: Any = None, **params: Any) -> Any:
    return hreach.make_agent(name, env or hreach.make_domain("chain"), **params)


def test_every_registered_agent_is_tested_here() -> None:
    assert set(BY_HAND) == set(AGENTS)


@pytest.mark.parametrize("name", BY_HAND)
def test_an_agent_keeps_the_protocol(name: str) -> None:
    check_agent(lambda env, seed: make(name, env, seed=seed, **BY_HAND[name]))


@pytest.mark.parametrize("name", [n for n in BY_HAND if n not in ("greedy", "epsilon-greedy")])
def test_an_agent_keeps_the_protocol_with_unknown_rewards_and_no_prior(name: str) -> None:
    shared = {"reward": "learn", "r_max": 1.0, "prior": 1e-9 if name == "posterior-sampling" else 0}
    check_agent(lambda env, seed: make(name, env, seed=seed, **shared, **BY_HAND[name]))


def test_the_protocol_check_catches_agents_that_break_it() -> None:
    class Outside:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    class Forgetful(Outside):
        def load_state_dict(self, state: Any) -> None:
            pass

    class Unseeded(Outside):
        def act(self, state: int) -> int:
            return int(np.random.default_rng().integers(2))

    kinds: list[tuple[type[Outside], str]] = [(Forgetful, "saved and loaded"), (Unseeded, "same seed")]
    for broken, complaint in kinds:
        with pytest.raises(AssertionError, match=complaint):
            check_agent(functools.partial(wrapped, broken))


def wrapped(kind: Any, env: Any, seed: int) -> Any:
    return kind(make("pac-rmdp", env, seed=seed, h=4))


@pytest.mark.parametrize("name", THEORY)
def test_the_result_says_whether_constants_come_from_theory_or_by_hand(name: str) -> None:
    runs = hreach.simulate("chain", name, THEORY[name], runs=2, steps=5)
    assert runs.agent["origin"] == "theory"
    assert all(math.isfinite(c) for c in runs.agent["constants"].values())
    if name != "mbie-reach":
        assert hreach.simulate("chain", name, BY_HAND[name], runs=2, steps=5).agent["origin"] == "given"


class Twice(Counts):
    """Takes every sample for two."""

    def learn(self, *sample: Any) -> None:
        super().learn(*sample)
        super().learn(*sample)


class Lazy(Sweeps):
    """Plans at every tenth sample."""

    def plan(self) -> None:
        if self.model.samples % 10 == 0:
            super().plan()


# (agent, fixed parameters, two values of one parameter): behaviour must differ.
CHANGES: list[tuple[str, dict[str, Any], str, Any, Any]] = [
    ("pac-rmdp", {}, "h", 1, 8),
    ("pac-rmdp", {}, "h", 2, "growing"),
    ("pac-rmdp", {}, "h", "growing", "adaptive"),
    ("pac-rmdp", {"h": "growing"}, "c", 0.5, 3.0),
    ("pac-rmdp", {"h": "lifetime"}, "lifetime", 400, 800),
    ("pac-rmdp", {"h": "lifetime", "lifetime": 400}, "models", 2, 32),
    ("pac-rmdp", {"h": "lifetime", "lifetime": 400}, "belief", 0.01, 0.9),
    ("pac-rmdp", {"h": 1}, "gamma", 0.5, 0.95),
    ("pac-rmdp", {"h": 8}, "prior", 0, 20),
    ("pac-rmdp", {"h": 8}, "tolerance", 0.01, 50.0),
    ("pac-rmdp", {"h": 8}, "value_cap", None, 2.0),
    ("pac-rmdp", {"h": 8, "model": "sparse-counts"}, "successors", None, "known"),
    ("pac-rmdp", {"h": 8, "value_cap": 1.0}, "ties", "random", [1, 0]),
    ("pac-rmdp", {"h": 8, "value_cap": 1.0}, "ties", [0, 1], [1, 0]),
    ("pac-rmdp", {"h": 8}, "freeze_at", 1.0, 50.0),
    ("pac-rmdp", {"h": 8, "freeze_at": "theory"}, "epsilon", 1e4, 5e3),
    ("pac-rmdp", {"h": 1, "freeze_at": "theory", "epsilon": 2e3}, "delta", 1e-9, 0.9),
    ("pac-rmdp", {"h": 8}, "reward", "known", "learn"),
    ("pac-rmdp", {"h": 8, "reward": "learn"}, "r_max", 1.0, 10.0),
    ("pac-rmdp", {"h": 8, "reward": "learn"}, "reward_share", 0.01, 1.0),
    ("pac-rmdp", {"h": 8, "reward": "learn", "prior": 5}, "r_min", 0.0, -10.0),
    ("bolt", {}, "eta", 1, 100),
    ("bolt", {}, "accuracy", 0.01, 5.0),
    ("mbie", {"delta": 0.5}, "epsilon", 0.01, 1e4),
    ("mbie", {"epsilon": 20.0}, "delta", 1e-6, 0.99),
    ("mbie", {"delta": 0.5}, "m", 1.0, 1e9),
    ("mbie", {"epsilon": 20.0}, "m_constant", 1e-3, 1e6),
    ("mbie", {}, "radius", 0.1, 5.0),
    ("mbie", {"m": 20.0}, "freeze", False, True),
    ("mbie", {"epsilon": 20.0}, "reward", "known", "learn"),
    ("mbie-eb", {"delta": 0.5}, "epsilon", 0.01, 20.0),
    ("mbie-eb", {"epsilon": 20.0}, "delta", 1e-6, 0.99),
    ("mbie-eb", {}, "beta", 0.5, 20.0),
    ("mbie-eb", {"delta": 0.5}, "m", 1.0, 1e9),
    ("mbie-eb", {"epsilon": 20.0}, "m_constant", 1.0, 1e9),
    ("mbie-reach", {"delta": 0.5}, "epsilon", 20.0, 1e4),
    ("mbie-reach", {"epsilon": 1e4}, "delta", 1e-3, 0.99),
    ("mbie-reach", {"delta": 0.5}, "m", 0.01, 1e3),
    ("mbie-reach", {"epsilon": 1e4}, "m_constant", 1.0, 1e3),
    ("vbe", {}, "delta", 0.1, 1e4),
    ("vbe", {}, "beta", 0.5, 50.0),
    ("vbe", {"beta": 5.0}, "reward", "known", "learn"),
    ("beb", {}, "beta", 0.5, 100.0),
    ("beb", {}, "accuracy", 0.01, 15.0),
    ("beb", {"beta": 20.0}, "freeze_at", None, 5.0),
    ("epsilon-greedy", {}, "epsilon", 0.0, 0.9),
    ("r-max", {}, "m", 1.0, 20.0),
    ("r-max", {}, "epsilon", 200.0, 800.0),
    ("r-max", {"epsilon": 400.0}, "delta", 1e-9, 0.9),
    ("r-max", {"epsilon": 400.0}, "m_constant", 1.0, 5.0),
    ("posterior-sampling", {}, "length", 1.0, 50.0),
    ("posterior-sampling", {}, "episodes", "geometric", "doubling"),
    ("pac-rmdp", {"h": 8}, "model", "counts", Twice),
    ("pac-rmdp", {"h": 8}, "planner", "sweeps", Lazy),
]


@pytest.mark.parametrize(("name", "fixed", "parameter", "one", "other"), CHANGES)
def test_every_parameter_changes_behaviour(
    name: str, fixed: dict[str, Any], parameter: str, one: Any, other: Any
) -> None:
    first, second = (
        hreach.simulate("chain", name, {**fixed, parameter: value}, runs=20, steps=400) for value in (one, other)
    )
    assert not np.array_equal(first.reward, second.reward)


def test_the_list_of_changes_covers_every_parameter() -> None:
    covered = {(name, parameter) for name, _, parameter, _, _ in CHANGES}
    for name, entry in AGENTS.items():
        for parameter in parameters_of(entry.load())[1:]:
            assert (name, parameter) in covered
    assert {p for _, p in covered} >= SHARED - {"seed"}


def test_the_same_setting_twice_is_the_same() -> None:
    """The twin of the test above: without a change there is no difference to see."""
    one, other = (hreach.simulate("chain", "beb", {"beta": 5.0}, runs=20, steps=400) for _ in range(2))
    assert np.array_equal(one.reward, other.reward)


def test_h_may_be_an_array_or_a_function_of_the_counts() -> None:
    def constant(n: float) -> float:
        return 8.0

    def falling(n: float) -> float:
        return 100.0 / (1.0 + n)

    runs = {
        key: hreach.simulate("chain", "pac-rmdp", {"h": h}, runs=5, steps=500).reward
        for key, h in {"number": 8, "array": np.full((5, 2), 8.0), "function": constant, "falling": falling}.items()
    }
    assert np.array_equal(runs["number"], runs["array"])
    assert np.array_equal(runs["number"], runs["function"])
    assert not np.array_equal(runs["number"], runs["falling"])


def test_unknown_rewards_follow_the_same_rule_with_r_max() -> None:
    """(n r + c h r_max) / (n + c h) for the pair's reward, here with gamma = 0 so that Q is that reward alone."""
    for params, extra in (({"reward_share": 1}, 3.0), ({"reward_share": 0}, 0.0), ({}, 0.3)):
        agent = make("pac-rmdp", h=3, gamma=0.0, prior=0, reward="learn", r_max=2.0, **params)
        for reward in (0.1, 0.5, 0.3):
            agent.observe(0, 1, reward, 2)
        q = agent.action_values()
        assert q[0, 1] == pytest.approx((0.9 + extra * 2.0) / (3 + extra))
        assert q[1, 0] == pytest.approx(2.0)


def test_a_known_reward_has_no_share() -> None:
    with pytest.raises(hreach.InputError, match=r"^reward_share is 0\.5, but must be left out: rewards are known\.$"):
        make("pac-rmdp", h=3, reward_share=0.5)


def test_no_samples_and_h_zero_means_a_uniform_model() -> None:
    agent = make("pac-rmdp", h=0, prior=0, tolerance=1e-12)
    uniform = hreach.TabularMDP(np.full((5, 2, 5), 0.2), hreach.make_domain("chain").known_reward, 0.95)
    np.testing.assert_allclose(agent.internal_value(), uniform.optimal_value(), atol=1e-9)


def test_an_untried_pair_is_worth_the_most_there_is() -> None:
    for name in ("mbie-eb", "vbe"):
        agent = make(name, prior=0, r_max=1.0, **BY_HAND[name])
        assert agent.action_values() == pytest.approx(np.full((5, 2), 20.0))


def test_infinite_h_expects_the_best_state_for_ever() -> None:
    agent = make("pac-rmdp", h=np.inf, tolerance=1e-10)
    for _ in range(50):
        agent.observe(0, 1, 0.2, 0)
    assert agent.action_values()[0, 1] == pytest.approx(0.2 + 0.95 * agent.internal_value().max())


def test_frozen_pairs_learn_no_more() -> None:
    agent = make("beb", beta=5.0, freeze_at=3.0, prior=1)
    for _ in range(10):
        agent.observe(0, 0, 0.0, 1)
    assert agent.model.seen.total[0, 0] == 3.0


def test_ties_are_broken_at_random_or_as_preferred() -> None:
    drawn = {make("greedy", prior=1, value_cap=-100.0, seed=s).act(0) for s in range(30)}
    assert drawn == {0, 1}
    for order in ([0, 1], [1, 0]):
        assert {make("greedy", value_cap=-100.0, seed=s, ties=order).act(0) for s in range(10)} == {order[0]}


def test_ties_at_random_are_even() -> None:
    actions = [make("greedy", value_cap=-100.0, seed=s).act(0) for s in range(400)]
    assert abs(np.mean(actions) - 0.5) < 5 * 0.5 / math.sqrt(400)
    assert abs(np.mean(actions) - 0.7) > 5 * 0.5 / math.sqrt(400)  # a coin of .7 would be noticed


def test_epsilon_greedy_tosses_as_often_as_it_says() -> None:
    agent = make("epsilon-greedy", epsilon=0.3, ties=[1, 0], seed=5)
    moved = np.mean([agent.act(0) == 0 for _ in range(4000)])
    greedy = int(np.argmax(agent.action_values()[0]))
    rate = moved if greedy == 1 else 1 - moved
    error = math.sqrt(0.15 * 0.85 / 4000)
    assert abs(rate - 0.15) < 5 * error
    assert abs(rate - 0.3) > 5 * error  # epsilon is the chance of a toss, half of which fall on the greedy action


def test_a_terminal_state_is_worth_nothing() -> None:
    agent = make("pac-rmdp", h=8, tolerance=1e-10)
    agent.observe(0, 0, 0.0, 3, terminated=True)
    assert agent.internal_value()[3] == 0
    assert agent.internal_value()[0] > 0
    copy = make("pac-rmdp", h=8, tolerance=1e-10)
    copy.load_state_dict(agent.state_dict())
    assert np.array_equal(copy.internal_value(), agent.internal_value())


def test_an_episodic_gymnasium_environment_is_learnt() -> None:
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    agent = hreach.make_agent("pac-rmdp", env, h=1, gamma=0.9, reward="learn", r_max=1.0, seed=1)
    run = hreach.run(env, agent, 4000, seed=1)
    assert len(run.ended) > 100
    assert run.rewards[-600:].sum() >= 60  # the shortest way takes six steps


def agent_of(problem: Problem, optimism: TabularOptimism) -> Agent[Counts, TabularOptimism, Sweeps]:
    """An agent put together from its parts."""

    def make(seed: int, stream: Stream) -> tuple[Counts, Sweeps]:
        model = Counts(problem, optimism.freeze_at)
        return model, Sweeps(model, optimism, stream)

    return Agent(Design(optimism, problem.actions, make, {}))


def test_a_formula_of_ones_own_needs_no_registry() -> None:
    def bonus(counts: Any, total: float, reward: float, parameters: Any) -> tuple[float, float, float]:
        return 0.0, parameters[0] / (total + 1.0), 0.0

    own = agent_of(Problem(5, 2, 0.95, np.zeros((5, 2, 1)), 1.0, 1.0), TabularOptimism(bonus, {"beta": 7.0}, "given"))
    named = hreach.make_agent("beb", hreach.make_domain("chain"), beta=7.0, reward=np.zeros((5, 2)))
    assert np.array_equal(own.action_values(), named.action_values())


def test_a_formula_that_cannot_be_compiled_is_named() -> None:
    def odd(counts: Any, total: float, reward: float, parameters: Any) -> Any:
        return {"reach": open("x")}

    with pytest.raises(hreach.InputError, match="formula 'odd' cannot be compiled"):
        agent_of(Problem(2, 1, 0.9, np.zeros((2, 1, 1)), 1.0, 1.0), TabularOptimism(odd, {}, "given"))


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("pac-rmdp", {"h": -1}, r"h is -1, but must be at least 0"),
    ("pac-rmdp", {"h": float("nan")}, r"h is nan"),
    ("pac-rmdp", {"h": "many"}, r"h is 'many'"),
    ("pac-rmdp", {"h": np.ones((2, 2))}, r"h shape is \(2, 2\)"),
    ("pac-rmdp", {}, r"agent 'pac-rmdp' needs the parameter 'h'"),
    ("pac-rmdp", {"hh": 1}, r"parameter of agent 'pac-rmdp' is 'hh'.*did you mean 'h'"),
    ("pac-rmdp", {"h": 1, "gamma": 1.0}, r"gamma is 1.0, but must be at least 0 and below 1"),
    ("pac-rmdp", {"h": 1, "tolerance": 0}, r"tolerance is 0"),
    ("pac-rmdp", {"h": 1, "prior": -1}, r"prior is -1"),
    ("pac-rmdp", {"h": 1, "ties": [0, 0]}, r"ties is \[0, 0\]"),
    ("pac-rmdp", {"h": 1, "ties": "first"}, r"ties is 'first'"),
    ("pac-rmdp", {"h": 1, "reward": "guess"}, r"reward is 'guess'"),
    ("pac-rmdp", {"h": 1, "reward": np.zeros((3, 2))}, r"reward shape is \(3, 2\)"),
    ("pac-rmdp", {"h": 1, "seed": -1}, r"seed is -1"),
    ("pac-rmdp", {"h": 1, "value_cap": "high"}, r"value_cap is 'high'"),
    ("pac-rmpd", {"h": 1}, r"agent is 'pac-rmpd'.*did you mean 'pac-rmdp'"),
    ("mbie", {}, r"epsilon \(or m\) is None"),
    ("mbie", {"epsilon": 1.0, "delta": 0.0}, r"delta is 0.0"),
    ("mbie-eb", {"epsilon": 1e4, "delta": 0.2}, r"no real beta"),
    ("vbe", {}, r"delta \(or beta\) is None"),
    ("beb", {"beta": -1.0}, r"beta is -1.0"),
    ("epsilon-greedy", {"epsilon": 1.5}, r"epsilon is 1.5, but must be a probability"),
]


@pytest.mark.parametrize(("name", "params", "message"), BAD)
def test_bad_parameters_get_one_sentence(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(hreach.InputError, match=message) as caught:
        make(name, **params)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((9, 0, 0.0, 0), "state is 9"),
        ((0, 2, 0.0, 0), "action is 2"),
        ((0, 0, float("nan"), 0), "reward is nan"),
        ((0, 0, 0.0, -1), "next_state is -1"),
    ],
)
def test_bad_observations_are_refused_and_change_nothing(arguments: Any, message: str) -> None:
    agent = make("pac-rmdp", h=1)
    before = agent.model.seen.counts.copy()
    with pytest.raises(hreach.InputError, match=message):
        agent.observe(*arguments)
    assert np.array_equal(agent.model.seen.counts, before)


def test_an_environment_without_known_reward_must_say_what_to_do() -> None:
    env = gymnasium.make("FrozenLake-v1")
    with pytest.raises(hreach.InputError, match="reward is 'known', but this environment tells none"):
        hreach.make_agent("pac-rmdp", env, h=1)
    with pytest.raises(hreach.InputError, match="r_max is not given"):
        hreach.make_agent("pac-rmdp", env, h=1, reward="learn")
    with pytest.raises(hreach.InputError, match="observation_space is Box"):
        hreach.make_agent("pac-rmdp", gymnasium.make("CartPole-v1"), h=1)


def test_a_saved_state_of_another_size_is_refused() -> None:
    agent, other = make("greedy"), make("greedy", hreach.make_domain("chain", length=7))
    with pytest.raises(hreach.InputError, match=r"^model\.counts shape"):
        agent.load_state_dict(other.state_dict())
    with pytest.raises(hreach.InputError, match="state_dict has no 'seed'"):
        agent.load_state_dict({})
