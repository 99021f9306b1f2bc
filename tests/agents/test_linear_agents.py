"""What every linear agent promises, that each of its parameters means something, and its optimism and plans."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hreach
from hreach.agents import LINEAR_AGENTS
from hreach.agents.agent import Agent, Design
from hreach.agents.make import make_linear
from hreach.agents.replan import Replan, replan_rule
from hreach.models.features import from_settings
from hreach.models.linear import LinearModel
from hreach.models.regression import Regression
from hreach.optimism.kwik import KnownByThresholds, KnownWithin
from hreach.optimism.linear import LinearOptimism
from hreach.optimism.linear_pac_rmdp import Bonus
from hreach.planners.on_grid import OnGrid
from hreach.problems.task import Preset, Task
from hreach.protocols import Stream
from hreach.reach.interval import Interval
from hreach.registry import parameters_of
from hreach.testing import check_agent

Array = NDArray[np.float64]
Experience = list[tuple[Array, int, float, Array, bool]]

# One working setting for each agent.
USUAL: dict[str, dict[str, Any]] = {
    "linear-pac-rmdp": {"h": 1},
    "linear-pac-mdp": {"epsilon": 5.0},
    "linear-epsilon-greedy": {"epsilon": 0.3},
    "linear-true-model": {"epsilon": 0.2},
}
SMALL: dict[str, Any] = {"grid": (10, 9)}
PROBES = np.random.default_rng(0).uniform([-1.2, -0.07], [0.6, 0.07], (40, 2))
GREEDY: dict[str, Any] = {"epsilon": 0.0}


@functools.cache
def car() -> Any:
    return hreach.make_domain("mountain-car")


def make(name: str, **params: Any) -> Any:
    return hreach.make_agent(name, car(), **{**SMALL, **params})


@functools.cache
def experience(steps: int = 150, swinging: float = 0.7) -> Experience:
    """Pushing with the motion most of the time, from two starts."""
    env = hreach.make_domain("mountain-car", max_steps=100)
    rng = np.random.default_rng(3)
    result: Experience = []
    state, _ = env.reset(seed=3)
    for _ in range(steps):
        action = int(rng.integers(3)) if rng.random() > swinging else 2 if state[1] >= 0 else 0
        following, reward, terminated, truncated, _ = env.step(np.int64(action))
        result.append((state, action, float(reward), following, bool(terminated)))
        state = env.reset()[0] if terminated or truncated else following
    return result


def taught(agent: Any, acting: bool = False) -> Any:
    """The agent after the experience and a plan; `acting` asks for an action before each step."""
    for state, action, reward, following, terminated in experience():
        if acting:
            agent.act(state)
        agent.observe(state, action, reward, following, terminated)
    agent.plan()
    return agent


def behaviour(agent: Any) -> Array:
    """Actions along the fixed experience and the Q~ that is left at the end."""
    actions = []
    for state, action, reward, following, terminated in experience():
        actions.append(agent.act(state))
        agent.observe(state, action, reward, following, terminated)
    actions.append(agent.act(PROBES[0]))
    return np.concatenate([actions, agent.action_values(PROBES).ravel()])


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two saved states agree to the last bit."""
    return set(one) == set(other) and all(one[name].tobytes() == other[name].tobytes() for name in one)


def greedy_actions(agent: Any) -> NDArray[np.int64]:
    return np.asarray(agent.planner.action_values(PROBES).argmax(axis=1))


# --------------------------------------------------------------------------------------------------------- protocol


def test_every_registered_agent_is_tested_here() -> None:
    assert set(USUAL) == set(LINEAR_AGENTS)


@pytest.mark.parametrize("name", USUAL)
def test_an_agent_keeps_the_protocol(name: str) -> None:
    check_agent(lambda env, seed: hreach.make_agent(name, env, seed=seed, **USUAL[name]), env=car(), steps=150)


def test_an_agent_keeps_the_protocol_where_nothing_known_is_learnt() -> None:
    params: dict[str, Any] = {"alpha1": 0.5, "alpha2": 0.5, "store": "unknown", "replan": {"steps": 7}}
    check_agent(lambda env, seed: make("linear-pac-mdp", seed=seed, **params), env=car(), steps=150)


@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize("replan", [None, {"growth": 0.5}, {"steps": 40}])
def test_a_saved_agent_goes_on_as_if_it_had_never_stopped(name: str, replan: Any) -> None:
    """In the middle of an episode, between two plans, to the last bit."""
    kept = make(name, replan=replan, **USUAL[name])
    steps = experience()
    for state, action, reward, following, terminated in steps[:70]:
        kept.act(state)
        kept.observe(state, action, reward, following, terminated)
    loaded = make(name, replan=replan, seed=8, **USUAL[name])
    loaded.load_state_dict({key: np.array(value) for key, value in kept.state_dict().items()})
    for state, action, reward, following, terminated in steps[70:]:
        assert kept.act(state) == loaded.act(state)
        assert np.array_equal(kept.planner.values.q, loaded.planner.values.q)
        for agent in (kept, loaded):
            agent.observe(state, action, reward, following, terminated)
    one, other = kept.state_dict(), loaded.state_dict()
    assert same(one, other)


def test_a_saved_state_is_a_copy_and_complete() -> None:
    agent = taught(make("linear-pac-rmdp", h=1), acting=True)
    saved = agent.state_dict()
    before = {key: value.copy() for key, value in saved.items()}
    agent.observe(*experience()[0])
    agent.plan()
    agent.act(PROBES[0])
    assert same(saved, before)
    for key in saved:
        with pytest.raises(hreach.InputError, match=f"state_dict has no '{key}'"):
            agent.load_state_dict({name: value for name, value in saved.items() if name != key})


# ------------------------------------------------------------------------------------- parameters change behaviour

BUMPS: dict[str, Any] = {"kind": "rbf-grid", "components": [1], "low": -0.07, "high": 0.07, "count": 10}
COSINE: dict[str, Any] = {"kind": "term", "function": "cos", "component": 0, "scale": 3.0}
FEWER: dict[str, Any] = {
    "kind": "concat", "maps": [{"kind": "action-blocks", "map": {**BUMPS, "count": 4}}, COSINE]
}  # fmt: skip
HALF: dict[str, Any] = {"alpha1": 0.5, "alpha2": 0.5}


# (agent, fixed parameters, two values of one parameter): behaviour must differ.
class Deaf(Regression):
    """Learns from every other sample."""

    def learn(self, *sample: Any) -> None:
        if self.samples % 2 == 0 or not self._unlearnt:
            super().learn(*sample)


def Coarse(model: Regression, optimism: LinearOptimism, stream: Stream) -> OnGrid:  # noqa: N802
    """A grid of few points."""
    return OnGrid(model, optimism, grid=(4, 4))


CHANGES: list[tuple[str, dict[str, Any], str, Any, Any]] = [
    ("linear-pac-rmdp", {}, "h", 0, 1),
    ("linear-pac-rmdp", {}, "h", 1, 5),
    ("linear-pac-rmdp", {"h": 2}, "interval", "exact", "paper"),
    ("linear-pac-rmdp", {"h": 2}, "Delta", "mean", "max"),
    ("linear-pac-rmdp", {"h": 2}, "Delta", 0.0, 0.01),
    ("linear-pac-rmdp", {"h": 2}, "delta", 0.9, 0.01),
    ("linear-pac-rmdp", {"h": 2}, "noise", "mean", "any"),
    ("linear-pac-rmdp", {"h": 2, "interval": "paper", "Delta": 0.01}, "z_rule", "small", "singular"),
    ("linear-pac-rmdp", {"h": 2}, "optimism", "bonus", "shift"),
    ("linear-pac-rmdp", {"h": "growing"}, "c", 0.1, 1.0),
    ("linear-pac-rmdp", {"h": 2, "reward": "learn"}, "reward_sigma", 0.0, 0.5),
    ("linear-pac-rmdp", {"h": 2}, "reward", "known", "learn"),
    ("linear-pac-rmdp", {"h": 2}, "sigma", None, 0.01),
    ("linear-true-model", {}, "epsilon", 0.0, 0.5),
    ("linear-pac-mdp", {"slope": 1.0, "epsilon": 200.0}, "by", "slope", "noise"),
    ("linear-pac-mdp", {"slope": 1.0}, "epsilon", 20.0, 200.0),
    ("linear-pac-mdp", {"slope": 1.0, "epsilon": 200.0, "Delta": 0.5}, "delta", 0.9, 1e-6),
    ("linear-pac-mdp", {"slope": 1.0, "epsilon": 200.0}, "Delta", None, 0.5),
    ("linear-pac-mdp", {"slope": 1.0, "epsilon": 200.0}, "c3", 1.0, 0.1),
    ("linear-pac-mdp", {"alpha2": 0.5}, "alpha1", 0.05, 0.9),
    ("linear-pac-mdp", {"alpha1": 0.5}, "alpha2", 0.01, 0.9),
    ("linear-pac-mdp", HALF, "store", "all", "unknown"),
    ("linear-epsilon-greedy", {}, "epsilon", 0.0, 0.5),
    ("linear-epsilon-greedy", {"epsilon": 0.5}, "seed", 0, 1),
    ("linear-pac-rmdp", {"h": 1}, "features", None, FEWER),
    ("linear-pac-rmdp", {"h": 1}, "ridge", 0.1, 1.0),
    ("linear-pac-rmdp", {"h": 1}, "grid", (10, 9), (12, 12)),
    ("linear-pac-rmdp", {"h": 1}, "interpolation", "multilinear", "rbf"),
    ("linear-pac-rmdp", {"h": 1}, "interpolation", "rbf", "projection"),
    ("linear-pac-rmdp", {"h": 1}, "quadrature", 1, 3),
    ("linear-pac-rmdp", {"h": 1}, "tolerance", 0.05, 5.0),
    ("linear-pac-rmdp", {"h": 1}, "slope", "paper", 10.0),
    ("linear-pac-rmdp", {"h": 1}, "slope", 10.0, 50.0),
    ("linear-pac-rmdp", {"h": 1}, "target", "next", "change"),
    ("linear-pac-rmdp", {"h": 1}, "model", "least-squares", Deaf),
    ("linear-pac-rmdp", {"h": 1}, "planner", None, Coarse),
    ("linear-pac-rmdp", {"h": 1}, "replan", {"episode": True}, {"steps": 10}),
    ("linear-pac-rmdp", {"h": 1}, "replan", {"episode": True}, {"growth": 0.05}),
    ("linear-pac-rmdp", {"h": 1}, "replan", {"episode": True}, {"moved": 0.01}),
]
ON_A_TREE = {"task", "truncate", "segments", "commit"}  # changed in test_linear_agents_on_a_tree.py


@pytest.mark.parametrize(("name", "fixed", "parameter", "one", "other"), CHANGES)
def test_every_parameter_changes_behaviour(
    name: str, fixed: dict[str, Any], parameter: str, one: Any, other: Any
) -> None:
    first, second = (behaviour(make(name, **{**fixed, parameter: value})) for value in (one, other))
    assert first.shape == second.shape
    assert np.abs(first - second).max() > 1e-6


def test_the_list_of_changes_covers_every_parameter() -> None:
    covered = {(name, parameter) for name, _, parameter, _, _ in CHANGES}
    for name, entry in LINEAR_AGENTS.items():
        for parameter in parameters_of(entry.load())[1:]:
            assert (name, parameter) in covered
    assert {p for _, p in covered} >= set(parameters_of(make_linear)) - {"build", "label", "env", "params"} - ON_A_TREE


@pytest.mark.parametrize("name", USUAL)
def test_the_same_setting_twice_is_the_same(name: str) -> None:
    """The twin of the test above: without a change there is no difference to see."""
    one, other = (behaviour(make(name, **USUAL[name])) for _ in range(2))
    assert np.array_equal(one, other)


def test_what_is_not_given_comes_from_the_domain() -> None:
    agent = hreach.make_agent("linear-pac-rmdp", car(), h=1)
    assert agent.planner.values.grid.shape == car().preset().grid
    assert agent.planner.values.gamma == car().gamma
    assert agent.model.linear.features(PROBES, np.zeros(40, dtype=np.int64))[0][0].shape == (40, 31)
    given = make("linear-pac-rmdp", h=1, features=car().preset().features)
    assert np.array_equal(behaviour(given), behaviour(make("linear-pac-rmdp", h=1)))


# ------------------------------------------------------------------------------------------------------------ optimism


class Plane:
    """Two learnt components in the unit square, pulled towards the middle or pushed right; ends at x >= 1."""

    sigma = np.array([0.05, 0.02])
    values = (0.0, 10.0)

    def task(self) -> Task:
        return Task(
            bounds=np.array([[0.0, 0.0], [1.0, 1.0]]), actions=2, gamma=0.9, learnt=(0, 1), sigma=self.sigma,
            reward=self.known_reward, values=self.values, complete=self.complete, terminal=self.is_terminal,
        )  # fmt: skip

    def preset(self) -> Preset:
        linear = {"kind": "concat", "maps": [{"kind": "bias"}, {"kind": "identity"}]}
        return Preset(features={"kind": "action-blocks", "map": linear}, grid=(6, 7))

    def complete(self, states: Array, actions: NDArray[np.int64], predicted: Array) -> Array:
        return np.clip(predicted, 0, 1)

    def known_reward(self, states: Array, actions: NDArray[np.int64], following: Array) -> Array:
        return np.asarray(following[:, 1] ** 2)

    def is_terminal(self, states: Array) -> NDArray[np.bool_]:
        return np.asarray(states[:, 0] >= 1)


def on_the_plane(name: str, samples: int = 30, **params: Any) -> Any:
    agent = hreach.make_agent(name, Plane(), **params)
    rng = np.random.default_rng(5)
    for _ in range(samples):
        state, action = rng.random(2), int(rng.integers(2))
        mean = 0.5 + 0.5 * (state - 0.5) if action == 0 else state + np.array([0.2, 0.0])
        agent.observe(state, action, 0.0, np.clip(mean + rng.normal(0, Plane.sigma), 0, 1))
    agent.model.settle()
    return agent


@pytest.mark.parametrize("h", [0, 0.5, 1, 4, 100])
def test_the_bonus_is_l_times_the_length_of_the_interval(h: float) -> None:
    """By hand from the leverage: f (Delta + c), f = h q / (1 + h q), c = sqrt(2 ln(pi^2 M^2 nS h / 6 delta)) ..."""
    agent = on_the_plane("linear-pac-rmdp", h=h, Delta=[0.3, 0.1], delta=0.2, slope=7.0)
    states, actions = agent.planner.pairs
    calls = 11
    bonus = agent.optimism.bonus(agent.model.linear, states, actions, calls, 7.0)
    assert (bonus < np.inf).all()
    q = agent.model.linear.leverage(states, actions)
    inside = np.pi**2 * calls**2 * 2 * h / (6 * 0.2)
    c = np.sqrt(2 * np.log(max(inside, 1.0))) * Plane.sigma / np.sqrt(max(h, 1))
    reach = h * q / (1 + h * q) * (np.array([0.3, 0.1]) + c)
    np.testing.assert_allclose(bonus, 7.0 * np.linalg.norm(reach, axis=1), rtol=1e-9)
    assert (bonus == 0).all() if h == 0 else (bonus > 0).all()


def test_the_bonus_is_added_to_the_reward_of_every_pair() -> None:
    agent = on_the_plane("linear-pac-rmdp", h=3, Delta=0.2, slope=2.0)
    states, actions = agent.planner.pairs
    certain = agent.planner._believed(optimistic=False)
    optimistic = agent.planner._believed()
    bonus = agent.optimism.bonus(agent.model.linear, states, actions, len(states), 2.0)
    np.testing.assert_allclose(optimistic[0], certain[0] + bonus, rtol=1e-12)
    assert np.array_equal(optimistic[1], certain[1])
    assert np.array_equal(optimistic[2], certain[2])


def test_calls_count_the_pairs_that_were_asked_about() -> None:
    agent = make("linear-pac-rmdp", h=1)
    agent.plan()
    agent.plan()
    assert agent.planner.calls == 2 * 10 * 9 * 3


@pytest.mark.parametrize("steps", ["nothing", "experience"])
def test_h_zero_is_certainty_equivalence(steps: str) -> None:
    zero, greedy = make("linear-pac-rmdp", h=0), make("linear-epsilon-greedy", **GREEDY)
    if steps == "nothing":
        zero.plan()
        greedy.plan()
        assert np.array_equal(zero.planner.values.q, greedy.planner.values.q)
    else:
        assert np.array_equal(behaviour(zero), behaviour(greedy))


def test_the_value_is_that_of_planning_with_the_truth_when_the_truth_is_learnt() -> None:
    """Certainty equivalence: with the true weights the plan is that of the noise-free step, quadrature = 1."""
    agent = make("linear-epsilon-greedy", quadrature=1, tolerance=1e-6, **GREEDY)
    states, actions = agent.planner.pairs
    truth = car().noise_free_step(states, actions)
    agent.model.predict = lambda s, a: truth[:, 1:]
    agent.plan()
    value = agent.planner.values.value
    following = agent.planner.values.grid.weights(truth)
    ahead = (following[1] * value[following[0]]).sum(axis=1) * ~car().is_terminal(truth)
    q = car().known_reward(states, actions, truth) + 0.99 * ahead
    np.testing.assert_allclose(value, q.reshape(-1, 3).max(axis=1), atol=1e-5)
    assert value.min() < -20


@pytest.mark.parametrize("interval", ["exact", "paper"])
def test_more_optimism_is_more_value(interval: str) -> None:
    """With the same experience, L and bound on the noise, V~ grows with h."""
    shared: dict[str, Any] = {"interval": interval, "noise": "any", "tolerance": 1e-9}
    agents = [on_the_plane("linear-pac-rmdp", h=h, slope=0.5, **shared) for h in (0, 0.25, 1, 4)]
    for agent in agents:
        agent.plan()
    for less, more in itertools.pairwise(agents):
        assert (more.planner.values.q >= less.planner.values.q - 1e-7).all()
        assert more.planner.values.value.mean() > less.planner.values.value.mean() + 1e-3
    assert agents[-1].planner.values.value.max() < Plane.values[1]


def test_more_optimism_is_more_value_on_the_mountain() -> None:
    values = [
        taught(make("linear-pac-rmdp", h=h, noise="any", slope=20.0, tolerance=1e-3)).planner.values.value
        for h in (0, 0.25, 1, 4)
    ]
    for less, more in itertools.pairwise(values):
        assert (more >= less - 2 * 1e-3 / (1 - 0.99)).all()
        assert more.mean() > less.mean() + 0.5


def test_more_samples_are_less_bonus() -> None:
    agent = on_the_plane("linear-pac-rmdp", h=2, Delta=0.1, slope=1.0)
    states, actions = agent.planner.pairs
    before = agent.optimism.bonus(agent.model.linear, states, actions, 1, 1.0)
    for _ in range(20):
        agent.observe(states[0], int(actions[0]), 0.0, states[0])
    agent.model.settle()
    after = agent.optimism.bonus(agent.model.linear, states, actions, 1, 1.0)
    assert (after <= before + 1e-12).all()
    assert after[0] < 0.5 * before[0]


def test_no_slope_no_optimism() -> None:
    flat, greedy = make("linear-pac-rmdp", h=5, slope=0), make("linear-epsilon-greedy", **GREEDY)
    assert np.array_equal(behaviour(flat), behaviour(greedy))


def test_the_slope_is_the_steepest_that_the_value_ever_was() -> None:
    agent = make("linear-pac-rmdp", h=1, tolerance=1e-9)
    certain = make("linear-epsilon-greedy", tolerance=1e-9, **GREEDY)
    certain.plan()
    agent.plan()
    steepest = max(a.planner.values.grid.slope(a.planner.values.value) for a in (certain, agent))
    assert agent.planner.slope == pytest.approx(steepest)
    assert agent.planner.slope > 0
    assert agent.describe()["slope"] == agent.planner.slope
    agent.planner.slope = 1e6
    agent.plan()
    assert agent.planner.slope == 1e6
    by_hand = make("linear-pac-rmdp", h=1, slope=3.0)
    by_hand.plan()
    assert by_hand.planner.slope == 3.0


# -------------------------------------------------------------------------------------------------------------- KWIK


@pytest.mark.parametrize("params", [{"epsilon": 1.0}, {"alpha1": 0.1, "alpha2": 0.1}])
def test_without_data_nothing_is_known(params: dict[str, Any]) -> None:
    agent = make("linear-pac-mdp", **params)
    agent.plan()
    assert (agent.planner.values.q == car().task().values[1]).all()
    assert {make("linear-pac-mdp", seed=s, **params).act(PROBES[0]) for s in range(20)} == {0, 1, 2}


@pytest.mark.parametrize("params", [{"epsilon": 1e9}, {"alpha1": 1e9, "alpha2": 1e9}])
def test_with_a_huge_epsilon_everything_is_known(params: dict[str, Any]) -> None:
    assert np.array_equal(
        behaviour(make("linear-pac-mdp", **params)), behaviour(make("linear-epsilon-greedy", **GREEDY))
    )


def test_thresholds_are_those_of_the_spectrum() -> None:
    """||q||^2 and ||u|| from the eigenvalues of X'X of each action, split at 1."""
    agent = on_the_plane("linear-pac-mdp", alpha1=0.4, alpha2=0.3, samples=12)
    states, actions = agent.planner.pairs
    known = agent.optimism.bonus(agent.model.linear, states, actions, 1, 1.0) < np.inf
    eigen = agent.model.linear.eigen()
    phi, block = agent.model.linear.features(states, actions)[0]
    for row in range(len(states)):
        X, U = eigen.values[block[row]], eigen.vectors[block[row]]
        along = U.T @ phi[row]
        q = np.sqrt((along[X >= 1] ** 2 / X[X >= 1]).sum())
        u = np.linalg.norm(along[X < 1])
        assert known[row] == (q <= 0.4 and u <= 0.3)
    assert 0 < known.sum() < len(known)


def test_known_needs_both_thresholds() -> None:
    agent = on_the_plane("linear-pac-mdp", alpha1=1.0, alpha2=1.0, samples=12)
    states, actions = agent.planner.pairs
    gain, _, w = agent.model.linear.terms(states, actions)
    for alpha1, alpha2 in ((0.4, 1e9), (1e9, 0.3), (0.4, 0.3)):
        known = KnownByThresholds(alpha1, alpha2)(agent.model.linear, states, actions, 1, 1.0) < np.inf
        expected = (np.sqrt(gain) <= alpha1).all(axis=1) & (w <= alpha2).all(axis=1)
        assert np.array_equal(known, expected)
        assert 0 < known.sum() < len(known)


@pytest.mark.parametrize("Delta", [None, 0.7])
def test_known_from_epsilon_by_hand(Delta: float | None) -> None:
    """Delta ||q|| sqrt(2 ln(2 nS / delta)) + 2 c3 ||u|| <= eps (1 - gamma) / (L sqrt(nS)) for every component."""
    agent = on_the_plane("linear-pac-mdp", epsilon=1.0, samples=25)
    states, actions = agent.planner.pairs
    gain, _, w = agent.model.linear.terms(states, actions)
    size = agent.model.linear.error_mean if Delta is None else Delta
    error = size * np.sqrt(gain) * np.sqrt(2 * np.log(4 / 0.3)) + 2 * 1.5 * w
    slope, shares = 5.0, []
    for eps in (5.0, 25.0, 60.0, 400.0):
        known = KnownWithin(eps, 0.3, Delta, 1.5, 0.9)(agent.model.linear, states, actions, 1, slope) < np.inf
        assert np.array_equal(known, (error <= eps * 0.1 / (slope * np.sqrt(2))).all(axis=1))
        shares.append(known.mean())
    assert shares == sorted(shares)
    assert any(0 < share < 1 for share in shares)


def test_an_unknown_pair_is_worth_the_most_there_is_and_ends() -> None:
    agent = on_the_plane("linear-pac-mdp", alpha1=0.4, alpha2=0.3, samples=12)
    states, actions = agent.planner.pairs
    known = agent.optimism.bonus(agent.model.linear, states, actions, 1, 1.0) < np.inf
    agent.plan()
    q = agent.planner.values.q.ravel()
    assert (q[~known] == Plane.values[1]).all()
    assert (q[known] < Plane.values[1]).any()


def test_only_unknown_pairs_are_learnt_if_asked() -> None:
    everything = taught(make("linear-pac-mdp", store="all", **HALF), acting=True)
    fewer = taught(make("linear-pac-mdp", store="unknown", **HALF), acting=True)
    assert everything.model.samples == len(experience())
    assert 10 < fewer.model.samples < 0.7 * len(experience())
    none = taught(make("linear-pac-mdp", store="unknown", alpha1=1e9, alpha2=1e9))
    assert none.model.samples == 0


# ------------------------------------------------------------------------------------------------------------- shift


def test_shift_takes_the_best_next_state_inside_the_interval() -> None:
    """Q(s, a) = max over the box's points of r(s') + gamma V(s'), recomputed from the model and the value."""
    agent = on_the_plane("linear-pac-rmdp", h=3, Delta=[0.1, 0.2], optimism="shift", quadrature=1, tolerance=1e-9)
    agent.plan()
    states, actions = agent.planner.pairs
    reach = agent.optimism.shift(agent.model.linear, states, actions, agent.planner.calls)
    assert (reach > 0).all()
    mean, best = agent.model.predict(states, actions), np.full(len(states), -np.inf)
    for way in itertools.product((-1, 0, 1), repeat=2):
        following = np.clip(mean + reach * np.array(way), 0, 1)
        value = agent.planner.values.value_at(following) * (following[:, 0] < 1)
        best = np.maximum(best, np.clip(following[:, 1] ** 2 + 0.9 * value, 0, 10))
    q = agent.action_values(agent.planner.values.grid.points)
    np.testing.assert_allclose(q.ravel(), best, atol=1e-6)


def test_a_shift_adds_more_than_nothing_and_less_than_the_bonus() -> None:
    """The bonus pays L times the whole interval, of which the best next state is one point."""
    params: dict[str, Any] = {"Delta": [0.05, 0.05], "tolerance": 1e-6, "quadrature": 1}
    certain = on_the_plane("linear-pac-rmdp", h=0, **params)
    shifted = on_the_plane("linear-pac-rmdp", h=2, optimism="shift", **params)
    for agent in (certain, shifted):
        agent.plan()
    grid = shifted.planner.values.grid
    steep = grid.slope(shifted.planner.values.value) * np.sqrt(2) / 0.9  # and r(s') = y^2 has slope 2
    bonus = on_the_plane("linear-pac-rmdp", h=2, slope=0.9 * steep + 2, **params)
    bonus.plan()
    assert (shifted.planner.values.value >= certain.planner.values.value - 1e-5).all()
    assert shifted.planner.values.value.mean() > certain.planner.values.value.mean() + 0.01
    assert (bonus.planner.values.value >= shifted.planner.values.value - 1e-5).all()


def test_a_shift_needs_no_slope() -> None:
    one, other = (make("linear-pac-rmdp", h=2, optimism="shift", slope=slope) for slope in (0.0, 1e6))
    assert np.array_equal(behaviour(one), behaviour(other))


# ------------------------------------------------------------------------------------------------------ learnt reward


def test_a_learnt_reward_is_what_is_planned_with() -> None:
    agent = make("linear-epsilon-greedy", reward="learn", quadrature=1, **GREEDY)
    taught(agent)
    reward, _, _ = agent.planner._believed(optimistic=False)
    states, actions = agent.planner.pairs
    np.testing.assert_array_equal(reward, agent.model.reward_model.predict(states, actions)[:, 0])
    phi = np.concatenate([agent.model.linear.features(s[None], np.array([a]))[0][0] for s, a, *_ in experience()])
    paid = np.array([r for _, _, r, *_ in experience()])
    exact = np.linalg.solve(phi.T @ phi + 0.1 * np.eye(phi.shape[1]), phi.T @ paid)
    np.testing.assert_allclose(agent.model.reward_model.factors[0].weights()[0, :, 0], exact, atol=1e-6)


# ------------------------------------------------------------------------------------------------------- grid and box


def test_a_grid_may_be_larger_than_the_box_but_not_smaller() -> None:
    wide = {"shape": [10, 9], "low": [-1.3, -0.08], "high": [0.7, 0.08]}
    assert make("linear-pac-rmdp", h=1, grid=wide).planner.values.grid.low.tolist() == [-1.3, -0.08]
    with pytest.raises(hreach.InputError, match=r"grid is .*-1\.0.* but must be a box that covers the states, \[-1\.2"):
        make("linear-pac-rmdp", h=1, grid={**wide, "low": [-1.0, -0.08]})
    with pytest.raises(hreach.InputError, match=r"setting of grid is 'hihg'.*did you mean 'high'"):
        make("linear-pac-rmdp", h=1, grid={"shape": [10, 9], "hihg": [1, 1]})


# -------------------------------------------------------------------------------------------------------- replanning


@pytest.mark.parametrize("new_episode", [False, True])
@pytest.mark.parametrize(("rule", "samples", "planned_with", "within", "at_start"), [
    (Replan(), 105, 100, False, True),
    (Replan(), 106, 100, True, True),
    (Replan(), 0, 0, False, True),
    (Replan(), 1, 0, True, True),
    (Replan(growth=None), 10_000, 1, False, True),
    (Replan(episode=False), 105, 100, False, False),
    (Replan(episode=False), 106, 100, True, True),
    (Replan(episode=False, growth=0.0), 100, 100, False, False),
    (Replan(episode=False, growth=0.0), 101, 100, True, True),
    (Replan(episode=False, growth=1.0), 200, 100, False, False),
    (Replan(episode=False, growth=1.0), 201, 100, True, True),
    (Replan(episode=False, growth=None, steps=7), 106, 100, False, False),
    (Replan(episode=False, growth=None, steps=7), 107, 100, True, True),
    (Replan(growth=None, steps=7), 106, 100, False, True),
    (Replan(growth=0.5, steps=7), 107, 100, True, True),
    (Replan(growth=0.05, steps=70), 106, 100, True, True),
])  # fmt: skip
def test_when_a_plan_is_due(
    rule: Replan, samples: int, planned_with: int, within: bool, at_start: bool, new_episode: bool
) -> None:
    assert rule.due(new_episode, samples, planned_with) is (at_start if new_episode else within)


def test_a_table_names_all_that_makes_a_plan_due() -> None:
    assert replan_rule(None) is None
    assert make("linear-epsilon-greedy", **GREEDY).replan == Replan(True, 0.05, None)
    assert replan_rule({"steps": 5}) == Replan(False, None, 5)
    assert replan_rule({"growth": 0.5}) == Replan(False, 0.5, None)
    assert replan_rule({"episode": True, "growth": 0.1}) == Replan(True, 0.1, None)
    rule = Replan(steps=3)
    assert replan_rule(rule) is rule


def plans(rule: dict[str, Any], steps: Experience) -> list[int]:
    """Before which of the steps the agent planned."""
    agent = make("linear-epsilon-greedy", replan=rule, **GREEDY)
    original: Callable[[], None] = agent.plan
    when: list[int] = []
    now = 0

    def plan() -> None:
        when.append(now)
        original()

    agent.plan = plan
    for now, (state, action, reward, following, terminated) in enumerate(steps):  # noqa: B007 (plan reads it)
        agent.act(state)
        agent.observe(state, action, reward, following, terminated)
    return when


def test_an_episode_starts_where_the_state_jumps_or_the_last_one_ended() -> None:
    steps = experience()[:30]
    state, action, reward, following, _ = steps[19]
    ended = [*steps[:19], (state, action, reward, following, True), *steps[20:]]
    assert plans({"episode": True}, steps) == [0]
    assert plans({"episode": True}, ended) == [0, 20]
    assert plans({"episode": True}, [*steps[:12], *steps[15:]]) == [0, 12]
    assert 100 in plans({"episode": True}, experience())  # truncated by the environment, which the agent does not know


def test_plans_follow_the_rule() -> None:
    steps = experience()[:60]
    assert plans({"steps": 20}, steps) == [0, 20, 40]
    assert plans({"growth": 1.0}, steps) == [0, 1, 3, 7, 15, 31]
    assert plans({"growth": 0}, steps) == list(range(60))


# -------------------------------------------------------------------------------------------------------- quadrature


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_nodes_integrate_over_the_noise_of_every_component(nodes: int) -> None:
    agent = on_the_plane("linear-epsilon-greedy", quadrature=nodes, epsilon=0.0)
    noise, chance = agent.model.noise, agent.model.chance
    assert noise.shape == (nodes**2, 2)
    assert chance.sum() == pytest.approx(1)
    np.testing.assert_allclose(chance @ noise, 0, atol=1e-12)
    np.testing.assert_allclose((noise * chance[:, None]).T @ noise, np.eye(2) * (nodes > 1), atol=1e-12)
    if nodes == 3:
        np.testing.assert_allclose(chance @ noise**4, 3)  # the fourth moment of a standard normal


def test_one_node_plans_with_the_mean() -> None:
    one, three = (on_the_plane("linear-epsilon-greedy", quadrature=n, epsilon=0.0) for n in (1, 3))
    states, actions = one.planner.pairs
    mean = np.clip(one.model.predict(states, actions), 0, 1)
    reward, following, chance = one.planner._believed(optimistic=False)
    np.testing.assert_allclose(following[0], mean)
    np.testing.assert_allclose(reward, mean[:, 1] ** 2)
    assert np.array_equal(chance[0], mean[:, 0] < 1)
    reward, following, _ = three.planner._believed(optimistic=False)
    middle = ((mean > 0.1) & (mean < 0.9)).all(axis=1)  # where nothing is clipped: E y^2 = mean^2 + sigma^2
    assert middle.sum() > 10
    np.testing.assert_allclose(reward[middle], mean[middle, 1] ** 2 + 0.02**2)
    spread = np.einsum("j,jnd->nd", three.model.chance, (following - mean) ** 2)
    np.testing.assert_allclose(spread[middle], np.broadcast_to(Plane.sigma**2, (middle.sum(), 2)))


# ------------------------------------------------------------------------------------------------------------ acting


def test_epsilon_is_the_chance_of_a_draw() -> None:
    agent = taught(make("linear-epsilon-greedy", epsilon=0.3, replan={"steps": 10_000}))
    best = int(np.argmax(agent.action_values(PROBES[1:2])))
    moved = np.mean([agent.act(PROBES[1]) != best for _ in range(3000)])
    error = np.sqrt(0.2 * 0.8 / 3000)
    assert abs(moved - 0.2) < 5 * error  # a third of the draws falls on the best action
    assert abs(moved - 0.3) > 5 * error


def test_the_action_is_the_best_under_the_internal_value() -> None:
    agent = taught(make("linear-pac-rmdp", h=1, slope=1.0, replan={"steps": 10_000}))
    chosen = [agent.act(state) for state in PROBES]
    assert chosen == greedy_actions(agent).tolist()
    assert len(set(chosen)) > 1
    np.testing.assert_allclose(agent.internal_value(PROBES), agent.planner.values.value_at(PROBES))
    for state, q in zip(PROBES, agent.planner.action_values(PROBES), strict=True):
        np.testing.assert_allclose(agent.action_values(state[None])[0], q)


def test_an_agent_of_ones_own_needs_no_registry() -> None:
    env = car()
    task, preset = env.task(), env.preset()

    def novelty(model: LinearModel, states: Array, actions: NDArray[np.int64], calls: int, slope: float) -> Array:
        return Bonus(Interval("exact", 1, task.sigma))(model, states, actions, calls, slope)

    optimism = LinearOptimism(novelty)

    def parts(seed: int, stream: Stream) -> tuple[Regression, OnGrid]:
        model = Regression(task, from_settings(preset.features, task.width, task.actions, seed))
        return model, OnGrid(model, optimism, grid=(10, 9))

    own = Agent(Design(optimism, task.actions, parts, {}, Replan()))
    assert np.array_equal(behaviour(own), behaviour(make("linear-pac-rmdp", h=1)))


# ---------------------------------------------------------------------------------------------------------- learning

SEEDS = range(5)


def reached(name: str, seed: int, episodes: int, **params: Any) -> int:
    """In how many episodes of at most 600 steps the car came to the goal."""
    env = hreach.make_domain("mountain-car", max_steps=600)
    agent = hreach.make_agent(name, env, seed=seed, **params)
    run = hreach.run(env, agent, episodes=episodes, seed=seed)
    return int((run.rewards[run.ended] == 0).sum())


def test_optimism_reaches_the_goal_and_random_actions_seldom_do() -> None:
    optimistic = [reached("linear-pac-rmdp", seed, 10, h=1) for seed in SEEDS]
    tossing = [reached("linear-epsilon-greedy", seed, 3, epsilon=0.1) for seed in SEEDS]
    assert min(optimistic) >= 8
    # All or nothing: without optimism it stays in the cheap valley unless the first noisy model sends it out by chance.
    assert sum(count == 0 for count in tossing) >= 3


# --------------------------------------------------------------------------------------------------------- bad input

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("linear-pac-rmpd", {"h": 1}, r"agent is 'linear-pac-rmpd'.*did you mean 'linear-pac-rmdp'"),
    ("linear-pac-rmdp", {}, r"agent 'linear-pac-rmdp' needs the parameter 'h'"),
    ("linear-pac-rmdp", {"h": 1, "intervall": "exact"}, r"parameter of .* 'intervall'.*did you mean 'interval'"),
    ("linear-pac-rmdp", {"h": 1, "quadratur": 3}, r"'quadratur'.*did you mean 'quadrature'"),
    ("linear-pac-rmdp", {"h": 1, "sigma": 0}, r"sigma is 0"),
    ("linear-pac-rmdp", {"h": 1, "sigma": [0.1, 0.1]}, r"sigma is \[0.1, 0.1\], but must be a number or 1"),
    ("linear-pac-rmdp", {"h": 1, "sigma": -0.1}, r"sigma is -0.1"),
    ("linear-pac-rmdp", {"h": -1}, r"h is -1, but must be at least 0"),
    ("linear-pac-rmdp", {"h": float("nan")}, r"h is nan"),
    ("linear-pac-rmdp", {"h": "many"}, r"h is 'many'"),
    ("linear-pac-rmdp", {"h": np.inf, "noise": "any"}, r"h is inf, but must be finite"),
    ("linear-pac-rmdp", {"h": 1, "interval": "short"}, r"is 'short', but must be 'exact' or 'paper'"),
    ("linear-pac-rmdp", {"h": 1, "Delta": "median"}, r"Delta is 'median', but must be 'mean' or 'max'"),
    ("linear-pac-rmdp", {"h": 1, "Delta": -1.0}, r"Delta is -1.0"),
    ("linear-pac-rmdp", {"h": 1, "delta": 0}, r"delta is 0, but must be a finite number above 0"),
    ("linear-pac-rmdp", {"h": 1, "noise": "none"}, r"noise is 'none', but must be 'mean' or 'any'"),
    ("linear-pac-mdp", {}, r"epsilon \(or alpha1 and alpha2\) is None"),
    ("linear-pac-mdp", {"epsilon": 0}, r"epsilon \(or alpha1 and alpha2\) is 0, but must be a finite number above 0"),
    ("linear-pac-mdp", {"epsilon": -1.0}, r"epsilon .* is -1.0"),
    ("linear-pac-mdp", {"epsilon": 1.0, "delta": -0.1}, r"delta is -0.1"),
    ("linear-pac-mdp", {"epsilon": 1.0, "Delta": -0.1}, r"Delta is -0.1"),
    ("linear-pac-mdp", {"epsilon": 1.0, "c3": 0}, r"c3 is 0"),
    ("linear-pac-mdp", {"alpha1": 0.1}, r"alpha2 is None"),
    ("linear-pac-mdp", {"alpha2": 0.1}, r"alpha1 is None"),
    ("linear-pac-mdp", {"alpha1": -0.1, "alpha2": 0.1}, r"alpha1 is -0.1"),
    ("linear-pac-mdp", {"epsilon": 1.0, "store": "some"}, r"store is 'some', but must be 'all' or 'unknown'"),
    ("linear-epsilon-greedy", {"epsilon": 1.5}, r"epsilon is 1.5, but must be a probability from 0 to 1"),
    ("linear-epsilon-greedy", {"epsilon": -0.1}, r"epsilon is -0.1"),
    ("linear-epsilon-greedy", {"features": {"kind": "rbf-gird"}}, r"features is 'rbf-gird'.*did you mean 'rbf-grid'"),
    ("linear-epsilon-greedy", {"features": "rbf"}, r"features is 'rbf', but must be a table with a kind"),
    ("linear-epsilon-greedy", {"ridge": 0}, r"ridge is 0, but must be a finite number above 0"),
    ("linear-epsilon-greedy", {"grid": (5, 5, 5)}, r"grid"),
    ("linear-epsilon-greedy", {"grid": (5,)}, r"grid"),
    ("linear-epsilon-greedy", {"grid": 30}, r"grid is 30"),
    ("linear-epsilon-greedy", {"grid": (5, 1)}, r"grid shape is 1"),
    ("linear-epsilon-greedy", {"interpolation": "cubic"}, r"interpolation is 'cubic'"),
    ("linear-epsilon-greedy", {"quadrature": 0}, r"quadrature is 0, but must be a whole number of at least 1"),
    ("linear-epsilon-greedy", {"tolerance": 0}, r"tolerance is 0"),
    ("linear-epsilon-greedy", {"slope": -1}, r"slope is -1, but must be a finite number of at least 0"),
    ("linear-epsilon-greedy", {"seed": -1}, r"seed is -1"),
    ("linear-epsilon-greedy", {"replan": "often"}, r"replan is 'often', but must be a table"),
    ("linear-epsilon-greedy", {"replan": {"step": 3}}, r"parameter of replan is 'step'.*did you mean 'steps'"),
    ("linear-epsilon-greedy", {"replan": {}}, r"replan is Replan.*at least one of episode, growth, steps and moved"),
    ("linear-epsilon-greedy", {"replan": {"growth": -1}}, r"growth is -1"),
    ("linear-epsilon-greedy", {"replan": {"steps": 0}}, r"steps is 0, but must be a whole number of at least 1"),
]


@pytest.mark.parametrize(("name", "params", "message"), BAD)
def test_bad_parameters_get_one_sentence(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(hreach.InputError, match=message) as caught:
        make(name, **params)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_domain_with_negative_noise_is_refused() -> None:
    env = Plane()
    env.sigma = np.array([-0.1, 0.1])
    with pytest.raises(hreach.InputError, match=r"sigma is .*-0.1"):
        hreach.make_agent("linear-pac-rmdp", env, h=1)


def test_an_environment_that_tells_too_little_is_refused() -> None:
    with pytest.raises(hreach.InputError, match=r"env is \w+, which has no task\(\); a linear agent needs") as caught:
        hreach.make_agent("linear-pac-rmdp", hreach.make_domain("chain"), h=1)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_too_large_a_grid_is_refused_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hreach.planners.grid._LARGEST", 3239)
    with pytest.raises(hreach.InputError, match=r"grid shape is \(10, 9\), 3.24e\+03 weights"):
        make("linear-pac-rmdp", h=1).act(PROBES[0])  # 90 points, 3 actions, 4 corners, 3 nodes
    monkeypatch.setattr("hreach.planners.grid._LARGEST", 3240)
    make("linear-pac-rmdp", h=1).act(PROBES[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((PROBES[0], 3, 0.0, PROBES[1]), "action"),
        ((PROBES[0], -1, 0.0, PROBES[1]), "action"),
        ((PROBES[0], 0, 0.0, np.array([0.0, np.nan])), "next_state"),
        ((np.array([0.0, np.inf]), 0, 0.0, PROBES[1]), "state"),
        ((PROBES[0], 0, 0.0, np.zeros(3)), "next_state"),
        ((np.zeros(1), 0, 0.0, PROBES[1]), "state"),
    ],
)
def test_bad_observations_are_refused_and_change_nothing(arguments: Any, message: str) -> None:
    agent = taught(make("linear-pac-rmdp", h=1))
    before = agent.state_dict()
    with pytest.raises(hreach.InputError, match=message):
        agent.observe(*arguments)
    after = agent.state_dict()
    assert same(before, after)


@pytest.mark.parametrize("state", [np.array([0.0, np.nan]), np.array([np.inf, 0.0]), np.zeros(1), np.zeros(3)])
def test_no_action_is_taken_in_a_state_that_is_none(state: Array) -> None:
    agent = taught(make("linear-pac-rmdp", h=1))
    with pytest.raises(hreach.InputError, match="state"):
        agent.act(state)


def test_a_saved_state_of_another_size_is_refused_and_changes_nothing() -> None:
    agent, other = taught(make("linear-pac-rmdp", h=1)), make("linear-pac-rmdp", h=1, grid=(5, 6))
    before = agent.state_dict()
    with pytest.raises(hreach.InputError, match="value"):
        agent.load_state_dict(other.state_dict())
    after = agent.state_dict()
    assert same(before, after)


def test_a_flat_value_makes_everything_known_whatever_epsilon() -> None:
    """L = 0: no error of the model can change the value."""
    for epsilon in (1e-9, 1e12):
        agent = make("linear-pac-mdp", epsilon=epsilon, slope=0)
        known = agent.optimism.bonus(agent.model.linear, *agent.planner.pairs, 1, 0.0) < np.inf
        assert known.all()
