"""Linear agents that search a tree: what the HIV experiment needs."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hreach
from hreach.agents import LINEAR_AGENTS
from hreach.domains.hiv import observed
from hreach.planners.tree import slope_between
from hreach.testing import check_agent

Array = NDArray[np.float64]

USUAL: dict[str, dict[str, Any]] = {
    "linear-pac-rmdp": {"h": 1},
    "linear-pac-mdp": {"epsilon": 30.0**10, "by": "noise"},
    "linear-epsilon-greedy": {"epsilon": 0.3},
    "linear-true-model": {"epsilon": 0.2},
}
SMALL: dict[str, Any] = {"segments": (5, 10)}
FEW: dict[str, Any] = {
    "kind": "action-blocks", "map": {"kind": "concat", "maps": [{"kind": "bias"}, {"kind": "identity"}]}
}  # fmt: skip
STEP = {"model": "step"}


@functools.cache
def patient() -> Any:
    return hreach.make_domain("hiv", episode_days=60)


def make(name: str, **params: Any) -> Any:
    return hreach.make_agent(name, patient(), **{**SMALL, **params})


@functools.cache
def experience(steps: int = 60) -> list[tuple[Array, int, float, Array, bool, dict[str, Array]]]:
    env = hreach.make_domain("hiv", episode_days=100)
    rng = np.random.default_rng(3)
    result = []
    state, _ = env.reset(seed=3)
    for _ in range(steps):
        action = int(rng.integers(4))
        following, reward, _, truncated, info = env.step(np.int64(action))
        result.append((state, action, float(reward), following, False, info))
        state = env.reset()[0] if truncated else following
    return result


def taught(agent: Any) -> Any:
    for state, action, reward, following, terminated, info in experience():
        agent.observe(state, action, reward, following, terminated, info)
    agent.plan()
    return agent


def behaviour(agent: Any) -> Array:
    actions = []
    for state, action, reward, following, terminated, info in experience():
        actions.append(agent.act(state))
        agent.observe(state, action, reward, following, terminated, info)
    values = [agent.action_values(state[None])[0] for state, *_ in experience()[-5:]]
    return np.concatenate([actions, *values])


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two saved states agree to the last bit."""
    return set(one) == set(other) and all(one[name].tobytes() == other[name].tobytes() for name in one)


def test_every_registered_agent_is_tested_here() -> None:
    assert set(USUAL) == set(LINEAR_AGENTS)


@pytest.mark.parametrize("task", [None, STEP, {"model": "noisy-day"}, {"share": False}])
@pytest.mark.parametrize("name", USUAL)
def test_an_agent_keeps_the_protocol(name: str, task: Any) -> None:
    check_agent(
        lambda env, seed: hreach.make_agent(name, env, seed=seed, task=task, **SMALL, **USUAL[name]),
        env=patient(),
        steps=40,
    )


@pytest.mark.parametrize(
    "params", [{"replan": {"moved": 1.0}}, {"replan": {"steps": 3}}, {"commit": "all"}, {"reward": "learn"}]
)
def test_settings_keep_the_protocol(params: dict[str, Any]) -> None:
    check_agent(lambda env, seed: make("linear-pac-rmdp", h=1, seed=seed, **params), env=patient(), steps=40)


CHANGES: list[tuple[str, Any, Any]] = [
    ("task", None, STEP),
    ("task", None, {"model": "noisy-day"}),
    ("task", None, {"share": False}),
    ("task", None, {"truncate": False}),
    ("segments", (5, 10), (10, 5)),
    ("segments", (5, 10), (5, 10, 10)),
    ("commit", "first", "all"),
    ("reward", "known", "learn"),
    ("slope", "paper", 1e8),
    ("ridge", 0.1, 1.0),
]


@pytest.mark.parametrize(("parameter", "one", "other"), CHANGES)
def test_every_parameter_changes_behaviour(parameter: str, one: Any, other: Any) -> None:
    first, second = (behaviour(make("linear-pac-rmdp", h=1, **{parameter: value})) for value in (one, other))
    assert np.abs(first - second).max() > 1e-6


def test_the_same_setting_twice_is_the_same() -> None:
    """The twin of the test above: without a change there is no difference to see."""
    first, second = (behaviour(make("linear-pac-rmdp", h=1)) for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("task", [None, STEP, {"share": False}])
@pytest.mark.parametrize("reward", ["known", "learn"])
def test_the_compiled_way_is_the_plain_way(task: Any, reward: str) -> None:
    """Without the flat form of the features the model is followed in NumPy."""
    fast, plain = (taught(make("linear-pac-rmdp", h=2, task=task, reward=reward)) for _ in range(2))
    assert fast.planner._follower is not None
    plain.planner._follower = None
    for state, *_ in experience()[:10]:
        np.testing.assert_allclose(fast.action_values(state[None]), plain.action_values(state[None]), rtol=1e-8)
        assert fast.planner.slope == pytest.approx(plain.planner.slope, rel=1e-6)


def test_a_search_knows_the_last_sample() -> None:
    """By default; both ways to follow the model then see the same weights, sample after sample."""
    fast, plain, late = (make("linear-pac-rmdp", h=2, **more) for more in ({}, {}, {"replan": {"steps": 1000}}))
    assert fast.planner._follower is not None
    plain.planner._follower = None
    differs = 0
    for state, action, reward, following, terminated, info in experience()[:40]:
        for agent in (fast, plain, late):
            agent.act(state)
        new, same, old = (agent.action_values(state[None])[0] for agent in (fast, plain, late))
        np.testing.assert_allclose(new, same, rtol=1e-8)
        differs += bool(np.abs(new / old - 1).max() > 1e-3)
        for agent in (fast, plain, late):
            agent.observe(state, action, reward, following, terminated, info)
    assert fast.model.samples == 40
    assert fast.model.linear.samples == 39  # the last one is learnt when the next search needs it
    assert differs > 30


def test_values_by_hand() -> None:
    """One segment of one decision: r + L ||I_h||, with L from the children, whose value is 0 at the end of the tree."""
    agent = taught(make("linear-pac-rmdp", h=2, segments=(5,), slope=3e6))
    state = experience()[20][0]
    q = agent.action_values(state[None])[0]
    calls = agent.planner.calls + 4  # those of this search; to be asked for values is no search that counts
    env, actions = patient(), np.arange(4)
    x, total = np.tile(state, (4, 1)), np.zeros(4)
    for _ in range(5):
        x = np.clip(agent.model.predict(x, actions), -5, 6.5)
        total += env.known_reward(10.0**x, actions)
    root = np.tile(state, (4, 1))
    bonus = agent.optimism.bonus(agent.model.linear, root, actions, calls, 3e6)
    assert (bonus > 0).all()
    np.testing.assert_allclose(q, total + 5 * bonus, rtol=1e-9)  # five steps of the model


def test_the_slope_comes_from_the_children_of_the_root() -> None:
    agent = taught(make("linear-pac-rmdp", h=0))
    state = experience()[20][0]
    agent.act(state)
    children = np.array([_after_a_decision(agent, state, a) for a in range(4)])
    # gamma and the second segment only: the value of a child is that of a tree of its own
    below = taught(make("linear-pac-rmdp", h=0, segments=(10,)))
    value = below.internal_value(children)
    assert agent.planner.slope == pytest.approx(slope_between(children, value), rel=1e-9)


def _after_a_decision(agent: Any, state: Array, action: int) -> Array:
    x = state[None]
    for _ in range(5):
        x = np.clip(agent.model.predict(x, np.array([action])), -5, 6.5)
    return np.asarray(x[0])


def test_the_true_model_is_the_truth() -> None:
    agent = make("linear-true-model", segments=(5, 5))
    env, state = patient(), experience()[20][0]
    best = np.full(4, -np.inf)
    for first in range(4):
        for second in range(4):
            amounts, total = 10.0 ** state[None], 0.0
            for k, action in enumerate([first] * 5 + [second] * 5):
                amounts = 10.0 ** observed(env.noise_free_step(amounts, np.array([action]), 1.0))
                total += 0.98 ** (k // 5) * float(env.known_reward(amounts, np.array([action]))[0])
            best[first] = max(best[first], total)
    np.testing.assert_allclose(agent.action_values(state[None])[0], best, rtol=1e-6)


def test_a_whole_sequence_is_carried_out() -> None:
    """commit="all": decisions of one search are those that the search found best, then a new search follows."""
    agent = make("linear-true-model", segments=(5, 10), commit="all")
    state, _ = patient().reset(seed=0)
    searched = 0
    twin = agent.clone(0)
    expected = twin.planner.sequence(twin.act(state))
    taken = []
    for _ in range(3):
        before = agent.planner.calls
        action = agent.act(state)
        searched += agent.planner.calls > before
        taken.append(action)
        following, reward, *_, info = patient().step(np.int64(action))
        agent.observe(state, action, reward, following, False, info)
        state = following
    assert taken == expected
    assert searched == 1


def test_a_certainty_equivalent_copy_has_no_optimism_and_does_not_learn() -> None:
    agent = taught(make("linear-epsilon-greedy", epsilon=1.0))
    certain = agent.certainty_equivalent()
    before = {k: v.copy() for k, v in agent.state_dict().items()}
    greedy = taught(make("linear-epsilon-greedy", epsilon=0.0))
    states = [state for state, *_ in experience()[:15]]
    chosen = [certain.act(state) for state in states]
    for state, action, reward, following, *_ in experience():
        certain.observe(state, action, reward, following)
    assert chosen == greedy.action_values(np.array(states)).argmax(axis=1).tolist()
    after = agent.state_dict()
    assert same(before, after)
    optimistic = taught(make("linear-pac-rmdp", h=100, slope=1e9))
    assert [optimistic.certainty_equivalent().act(s) for s in states] == chosen
    assert [optimistic.act(s) for s in states] != chosen


def test_what_is_not_known_is_worth_the_most() -> None:
    agent = make("linear-pac-mdp", alpha1=0.0, alpha2=0.0)
    best = agent.model.task.values[1]
    np.testing.assert_allclose(agent.action_values(experience()[0][0][None]), best)
    healthy = patient().known_reward(patient().healthy[None], np.zeros(1, dtype=int))[0]
    assert best == pytest.approx(5 * healthy / 0.02)


def test_it_learns_from_what_is_measured() -> None:
    """One day after the decision, not at the next one; and the noisy measurement is another one."""
    state, action, _, following, _, info = experience()[7]
    for model, name in (("day", "day_after"), ("noisy-day", "day_after_noisy")):
        agent = make("linear-pac-rmdp", h=1, task={"model": model}, ridge=1e-6)
        assert agent.model.task.measured == name
        agent.observe(state, action, 0.0, following, False, info)
        agent.plan()
        predicted = agent.model.predict(state[None], np.array([action]))[0]
        np.testing.assert_allclose(predicted, info[name], atol=1e-4)
        assert np.abs(predicted - following).max() > 1e-2


BAD: list[tuple[dict[str, Any], str]] = [
    ({"segments": (5, 7)}, r"segments is \(5, 7\), but must be multiples of one decision \(5\)"),
    ({"segments": ()}, r"segments is \(\)"),
    ({"segments": 5}, r"segments is 5"),
    ({"segments": (5, 0)}, r"segments is 0, but must be a whole number of at least 1"),
    ({"segments": (5,) * 12}, r"a tree of 2.24e\+07 nodes and \d+(\.\d+)? GB, but must need at most 1 GB"),
    ({"commit": "some"}, r"commit is 'some', but must be 'first' or 'all'"),
    ({"optimism": "shift"}, r"optimism is 'shift', but must be 'bonus' for a tree search"),
    ({"task": {"model": "week"}}, r"model is 'week', but must be one of 'day', 'noisy-day', 'step'"),
    ({"task": {"share": "yes"}}, r"share is 'yes', but must be true or false"),
    ({"task": {"truncate": 1}}, r"truncate is 1, but must be true or false"),
    ({"task": {"modell": "day"}}, r"parameter of task is 'modell'.*did you mean 'model'"),
    ({"task": 3}, r"task is 3, but must be a Task, or a table"),
    ({"sigma": [0.01] * 5}, r"sigma is .*a number or 6"),
    ({"sigma": 0.0}, r"sigma is 0.0, but must be a finite number above 0"),
    ({"reward": "guess"}, r"reward is 'guess', but must be 'known' or 'learn'"),
    ({"grid": (5, 5)}, r"grid is \(5, 5\), but must be 6 whole numbers|model_steps is 5"),
]


@pytest.mark.parametrize(("params", "message"), BAD)
def test_bad_parameters_get_one_sentence(params: dict[str, Any], message: str) -> None:
    given = {"h": 1, **params}
    if "grid" in given:
        given["segments"] = None
    with pytest.raises(hreach.InputError, match=message) as caught:
        make("linear-pac-rmdp", **given)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_task_without_noise_or_reward_is_refused_where_it_matters() -> None:
    silent = hreach.make_domain("hiv", process_noise=0.0)
    with pytest.raises(hreach.InputError, match=r"sigma is 0.0"):
        hreach.make_agent("linear-pac-rmdp", silent, h=1)
    task = replace(patient().task(), reward=None)
    with pytest.raises(hreach.InputError, match=r"reward is 'known', but must be 'learn'"):
        make("linear-pac-rmdp", h=1, task=task)
    make("linear-pac-rmdp", h=1, task=task, reward="learn")
    blind = replace(patient().task(), truth=None)
    with pytest.raises(hreach.InputError, match=r"truth of the task is None"):
        make("linear-true-model", task=blind)


def test_a_missing_measurement_is_refused() -> None:
    state, action, reward, following, *_ = experience()[0]
    agent = make("linear-pac-rmdp", h=1)
    with pytest.raises(hreach.InputError, match=r"info\['day_after'\] is None"):
        agent.observe(state, action, reward, following)
    with pytest.raises(hreach.InputError, match=r"day_after is .*6 finite numbers"):
        agent.observe(state, action, reward, following, False, {"day_after": np.full(6, np.nan)})


def test_learnt_rewards_are_learnt() -> None:
    """A reward that is linear in the features is found, and the optimism about it shrinks with samples."""
    task = replace(patient().task(), reward=None)
    agent = hreach.make_agent(
        "linear-pac-rmdp", patient(), task=task, features=FEW, h=1, segments=(5,), reward="learn", ridge=1e-6
    )
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(4, 7))
    widths = []
    for n in range(200):
        state, action = rng.uniform(0, 5, 6), int(rng.integers(4))
        paid = weights[action] @ np.append(1.0, state)
        agent.observe(state, action, paid, state, False, {"day_after": state})
        if n in (30, 199):
            agent.plan()
            reach = agent.optimism.reward_reach(agent.model.reward_model, state[None], np.array([action]), 1)
            widths.append(float(reach[0, 0]))
    probe = rng.uniform(0, 5, 6)
    predicted = agent.model.reward_model.predict(np.tile(probe, (4, 1)), np.arange(4))[:, 0]
    np.testing.assert_allclose(predicted, weights @ np.append(1.0, probe), atol=1e-3)
    assert 0 <= widths[1] < widths[0]


def test_optimism_finds_what_the_first_model_does_not_see() -> None:
    """Four episodes of 1000 days: PAC-RMDP(1) leaves the unhealthy state (2e7 a thousand days) on every seed."""
    totals = []
    for seed in range(2):
        env = hreach.make_domain("hiv")
        agent = hreach.make_agent("linear-pac-rmdp", env, h=1, seed=seed)
        totals.append(hreach.run(env, agent, episodes=3, seed=seed).episode_rewards.max())
    assert min(totals) > 1e9
