"""Costs, penalties and goals: every agent explores them as it explores rewards, for it knows the range of values."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest

import hreach
from hreach import InputError, TabularMDP
from hreach.agents.agent import Agent
from hreach.domains.tabular import TabularEnv
from hreach.guarantees import theory
from hreach.models.counts import Counts, RewardWarning
from hreach.optimism.tabular import TabularOptimism
from hreach.planners.sweeps import Sweeps

AGENTS: list[tuple[str, dict[str, Any]]] = [
    ("pac-rmdp", {"h": 2}),
    ("pac-rmdp", {"h": "growing"}),
    ("pac-rmdp", {"h": "adaptive"}),
    ("bolt", {"eta": 5}),
    ("mbie", {"epsilon": 1e4}),
    ("mbie-eb", {"beta": 1.0}),
    ("mbie-reach", {"epsilon": 1e5}),
    ("vbe", {"delta": 1e4}),
    ("beb", {"beta": 3.0}),
    ("greedy", {}),
]


def corridor(length: int = 3, reward: float = -1.0, gamma: float = 0.95) -> TabularEnv:
    """Left or right; the step to the right of the last state ends the episode, every step costs the same."""
    P, end = np.zeros((length, 2, length)), np.zeros((length, 2, length))
    for s in range(length):
        P[s, 0, max(s - 1, 0)] = P[s, 1, min(s + 1, length - 1)] = 1
    end[-1, 1, -1] = 1
    mdp = TabularMDP(P, np.full((length, 2), reward), gamma, end=end)
    return TabularEnv(mdp, mdp.reward_table())


def goals(name: str, env: Any, steps: int, **params: Any) -> int:
    agent = hreach.make_agent(name, env, **params)
    return int(hreach.run(env, agent, steps).terminated.sum())


@pytest.mark.parametrize("reward", ["known", "learn"])
@pytest.mark.parametrize(("name", "params"), AGENTS)
def test_a_corridor_of_costs_is_left_at_its_goal(name: str, params: dict[str, Any], reward: str) -> None:
    """The shortest way is 3 steps, so 200 of them have room for 66 goals; one that never learns finds some 15."""
    known = {"r_min": -1, "r_max": -1} if reward == "learn" else {}
    found = goals(name, corridor(), 600, prior=0, reward=reward, **params, **known)
    assert found > (40 if name in ("mbie", "mbie-reach") else 150)


def test_an_untried_pair_worth_the_least_would_find_few_goals() -> None:
    """The twin: with v_max = r_max/(1-gamma), that of a problem that never ends, an untried pair is no temptation."""
    env = corridor()
    agent = hreach.make_agent("mbie-eb", env, beta=1.0, prior=0)
    agent.planner.rule = agent.planner.rule._replace(v_max=-1 / 0.05)
    assert int(hreach.run(env, agent, 600).terminated.sum()) < 60


CLIFF = [case for case in AGENTS if case[0] not in ("mbie", "mbie-reach", "beb", "greedy")] + [("beb", {"beta": 60.0})]


@pytest.mark.parametrize(("name", "params"), CLIFF)
def test_cliff_walking_is_solved_with_learnt_rewards(name: str, params: dict[str, Any]) -> None:
    """13 steps along the edge are best; a fall costs 100 and goes back to the start. MBIE's theory explores for longer
    than this; greedy does not explore."""
    env = gymnasium.make("CliffWalking-v1")
    agent = hreach.make_agent(name, env, reward="learn", r_min=-100, r_max=-1, prior=0, gamma=0.99, **params)
    run = hreach.run(env, agent, 12_000)
    assert run.terminated.sum() > 100
    assert np.median(run.episode_rewards[-20:]) >= -30


# --- adaptive h ----------------------------------------------------------------------------------------------------


def always_paying_costs() -> TabularEnv:
    P = np.zeros((2, 2, 2))
    P[:, 0, 0] = P[:, 1, 1] = 1
    return TabularEnv(TabularMDP(P, [[-1.0, -2.0], [-1.0, -2.0]], 0.9), None)


@pytest.mark.parametrize("r_min", [-2.0, None])
def test_an_adaptive_h_stays_finite_with_learnt_costs(r_min: float | None) -> None:
    env = always_paying_costs()
    agent = hreach.make_agent("pac-rmdp", env, h="adaptive", reward="learn", r_max=0.1, r_min=r_min)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RewardWarning)
        run = hreach.run(env, agent, 200)
    assert (agent.planner.table.constants <= 2 * np.log(202)).all()
    assert (agent.internal_value() < -5).all()
    assert run.average_reward > -1.3


# --- ranges --------------------------------------------------------------------------------------------------------


def test_the_first_reward_outside_its_range_is_warned_of_once() -> None:
    env = always_paying_costs()
    agent = hreach.make_agent("pac-rmdp", env, h=1, reward="learn", r_max=1)
    with pytest.warns(RewardWarning, match=r"^reward is -1, outside \[r_min, r_max\] = \[0, 1\]") as caught:
        hreach.run(env, agent, 50)
    assert len(caught) == 1


@pytest.mark.parametrize("paid", [np.nan, np.inf, -np.inf])
def test_a_reward_that_is_no_number_is_refused(paid: float) -> None:
    agent = hreach.make_agent("greedy", corridor())
    with pytest.raises(InputError, match=r"^reward is .*, but must be a finite number\.$"):
        agent.observe(0, 0, paid, 1)


BAD_RANGES = [
    ({"r_max": np.inf}, r"^r_max is inf, but must be a finite number\.$"),
    ({"r_max": 1, "r_min": -np.inf}, r"^r_min is -inf, but must be a finite number\.$"),
    ({"r_max": 1, "r_min": 2}, r"^r_min is 2\.0, but must be at most r_max, 1\.$"),
    ({"r_max": -1}, r"^r_min is not given, but must be where r_max is -1: the least reward\.$"),
    ({}, r"^r_max is not given"),
]


@pytest.mark.parametrize(("given", "message"), BAD_RANGES)
def test_a_range_of_rewards_that_cannot_be_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        hreach.make_agent("vbe", always_paying_costs(), delta=0.1, reward="learn", **given)


@pytest.mark.parametrize(("name", "params"), [("vbe", {"delta": 0.1}), ("beb", {}), ("mbie-eb", {"epsilon": 1.0})])
def test_a_bonus_is_never_negative(name: str, params: dict[str, Any]) -> None:
    agent = hreach.make_agent(name, always_paying_costs(), reward="learn", r_max=-1, r_min=-2, **params)
    assert agent.describe()["constants"]["beta"] > 0


def test_vbe_from_theory_has_a_bonus_for_rewards_where_nothing_follows() -> None:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent("vbe", env, delta=0.1, gamma=0, reward="learn", r_max=1)
    constants = agent.describe()["constants"]
    assert constants["beta"] == 0
    assert constants["beta_reward"] == pytest.approx(np.sqrt(2 * 5**2 * 2**2 / 0.1))
    agent.observe(0, 0, 0.5, 0)
    assert agent.action_values()[0, 0] > 0.5


# --- bounds --------------------------------------------------------------------------------------------------------


def shifted_agent(shift: float) -> Agent[Counts, TabularOptimism, Sweeps]:
    P = [[[0.5, 0.5], [1, 0]], [[1, 0], [0, 1]]]
    R = np.array([[-10, -9], [0.1, -10]]) + shift
    agent = hreach.make_agent("pac-rmdp", TabularMDP(P, R, 0.9), h=2, prior=0)
    assert isinstance(agent, Agent)
    return agent


def test_the_bounds_of_a_gap_do_not_depend_on_where_zero_is() -> None:
    here, there = (shifted_agent(shift).exploration_gap(eps=0.5) for shift in (0.0, 10.0))
    assert float(here.sample_complexity()) == pytest.approx(float(there.sample_complexity()), rel=1e-6)
    assert float(here.sample_complexity()) > 1e14
    only_above = theory.Sizes(2, 2, 0.9, r_max=0.1)  # the twin: what lies below 0 is not seen
    assert float(theory.sample_complexity(only_above, 0.5, 0.1, 2)) < 1e8


# --- one constant of two --------------------------------------------------------------------------------------------

TWO = [
    ("mbie", {"epsilon": 1.0, "radius": 1.0}, "epsilon"),
    ("mbie", {"delta": 0.5, "radius": 1.0}, "delta"),
    ("mbie-eb", {"beta": 1.0, "epsilon": 1.0}, "epsilon"),
    ("mbie-eb", {"beta": 1.0, "delta": 0.5}, "delta"),
    ("bolt", {"eta": 1, "accuracy": 0.1}, "accuracy"),
    ("vbe", {"beta": 1.0, "delta": 0.1}, "delta"),
    ("beb", {"beta": 1.0, "accuracy": 0.1}, "accuracy"),
    ("pac-rmdp", {"h": 1, "epsilon": 1.0}, "epsilon"),
]


@pytest.mark.parametrize(("name", "params", "ignored"), TWO)
def test_of_two_constants_none_is_ignored(name: str, params: dict[str, Any], ignored: str) -> None:
    with pytest.raises(InputError, match=rf"^{ignored} is .*, but must be left out"):
        hreach.make_agent(name, hreach.make_domain("chain"), **params)


@pytest.mark.parametrize("h", [True, "8", None, [1, "2"]])
def test_an_h_that_is_no_number_is_refused(h: Any) -> None:
    with pytest.raises(InputError, match=r"^h is "):
        hreach.make_agent("pac-rmdp", hreach.make_domain("chain"), h=h)


def test_tables_that_do_not_fit_the_machine_are_refused_with_their_size() -> None:
    class Large(gymnasium.Env[Any, Any]):
        observation_space = gymnasium.spaces.Discrete(500_000)
        action_space = gymnasium.spaces.Discrete(4)

    with pytest.raises(InputError, match=r"^states is 500000 and actions is 4, whose tables need 2\.42e\+04 GiB"):
        hreach.make_agent("greedy", Large(), reward="learn", r_max=1, model="counts")


# --- the agent for which the bounds are proved ----------------------------------------------------------------------


def test_freezing_by_theory_stops_after_the_m_of_theorem_1() -> None:
    env = corridor()
    agent = hreach.make_agent("pac-rmdp", env, h=2, prior=0, freeze_at="theory", epsilon=15.0, delta=0.2)
    m = np.ceil(float(theory.known_threshold(agent.model.problem.sizes, 15.0, 0.2, 2)))
    assert agent.optimism.freeze_at == agent.describe()["m"] == m
    small = hreach.make_agent("pac-rmdp", env, h=2, prior=1, freeze_at=3)
    for _ in range(10):
        small.observe(0, 0, -1.0, 0)
    assert small.model.seen.total[0, 0] == 4  # the prior's weight and three samples
    assert "frozen after m = 3 samples" in " ".join(small.exploration_gap(eps=1).notes)


def test_what_a_gap_says_of_its_bounds_names_the_agent_they_are_proved_for() -> None:
    found = hreach.make_agent("pac-rmdp", corridor(), h=2).exploration_gap(eps=1)
    assert 'the bounds are proved for an agent that stops learning a pair after m samples: freeze_at="theory"' in str(
        found
    )


@pytest.mark.parametrize(
    "params",
    [
        {"h": "growing", "freeze_at": 5},
        {"h": 1, "freeze_at": "never"},
        {"h": 1, "freeze_at": "theory"},
        {"h": 1, "freeze_at": 0},
        {"h": 1, "delta": 0.1},
    ],
)
def test_freezing_that_cannot_be_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^(h|freeze_at|epsilon|delta) is "):
        hreach.make_agent("pac-rmdp", corridor(), **params)
