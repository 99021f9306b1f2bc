"""`agent.exploration_gap()`: V~ and V_{h=0} against exact solves, the theorem's numbers, no trace in the actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hreach
from helpers import random_env
from hreach import InputError, TabularMDP
from hreach.agents.tables import TableAgent
from hreach.domains.tabular import TabularEnv
from hreach.guarantees import theory
from hreach.kernels.certainty import _solve
from hreach.models.counts import predict
from hreach.planners.sweeps import CertainValue

Array = NDArray[np.float64]

AGENTS: list[tuple[str, dict[str, Any]]] = [
    ("pac-rmdp", {"h": 8}),
    ("pac-rmdp", {"h": 0.5, "prior": 0}),
    ("pac-rmdp", {"h": "growing"}),
    ("pac-rmdp", {"h": 3, "reward": "learn", "r_max": 1.0}),
    ("pac-rmdp", {"h": 3, "value_cap": 5.0}),
    ("bolt", {"eta": 20}),
    ("mbie", {"epsilon": 1.0, "delta": 0.1}),
    ("mbie-eb", {"beta": 2.0, "prior": 0}),
    ("greedy", {}),
    ("epsilon-greedy", {"epsilon": 0.2}),
]


def certain_value(agent: TableAgent) -> Array:
    """V_{h=0} by exact policy iteration on what the agent has counted."""
    problem, seen = agent.model.problem, agent.model.seen
    if problem.reward is None:
        unseen = np.full(seen.total.shape, problem.r_max / 2)
        R = np.divide(seen.reward_sum, seen.total, out=unseen, where=seen.total > 0)
    else:
        R = problem.reward[:, :, 0] if problem.reward.shape[2] == 1 else problem.reward
    model = predict(seen.counts)
    return TabularMDP(model / model.sum(axis=2, keepdims=True), R, problem.gamma).optimal_value()


def largest_excess(env: TabularEnv, agent: TableAgent, steps: int, every: int = 1) -> float:
    """How far V_{h=0} is from the exact one beyond the accuracy that is claimed for it; asked for every so often."""
    spread = agent.model.problem.gamma / (1 - agent.model.problem.gamma)
    certain, excess = CertainValue(agent.planner), -np.inf
    state, _ = env.reset(seed=5)
    value = certain().copy()
    for t in range(steps):
        if t % every == 0:
            value = certain().copy()
        allowed = spread * certain.residual + 1e-9
        excess = max(excess, float(np.abs(value - certain_value(agent)).max()) - allowed)
        action = agent.act(int(state))
        following, reward, *_ = env.step(np.int64(action))
        agent.observe(int(state), action, reward, int(following))
        state = following
    return excess


@pytest.mark.parametrize("per_transition", [False, True])
@pytest.mark.parametrize(("name", "params"), AGENTS)
def test_the_certain_value_is_that_of_the_model_as_it_is(
    name: str, params: dict[str, Any], per_transition: bool
) -> None:
    env = random_env(1, per_transition=per_transition)
    assert largest_excess(env, hreach.make_agent(name, env, seed=2, **params), steps=120) <= 0


@pytest.mark.parametrize("per_transition", [False, True])
@pytest.mark.parametrize("states", [1, 2, 30])
def test_it_is_so_with_one_state_and_with_so_many_that_some_sweeps_are_cheaper_than_a_solve(
    states: int, per_transition: bool
) -> None:
    env = random_env(1, states, per_transition=per_transition)
    for params in ({"tolerance": 0.01}, {"tolerance": 1e-12}, {"tolerance": 1e-300}):
        assert largest_excess(env, hreach.make_agent("pac-rmdp", env, h=2, seed=2, **params), steps=60) <= 0


def test_one_solve_is_exact_where_there_is_nothing_to_choose() -> None:
    rng = np.random.default_rng(0)
    counts, reward = rng.integers(1, 9, size=(6, 1, 6)).astype(float), rng.random((6, 1, 1))
    total, value = counts.sum(axis=2), rng.random(6)
    backup = reward[:, 0] + 0.9 * (counts / total[:, :, None])[:, 0] @ value[:, None]
    matrix = np.hstack([np.zeros((6, 6)), backup])
    nothing = (np.zeros((6, 1)), np.zeros(6, dtype=bool))
    _solve(counts, 0 * counts, total, *nothing, reward, 1.0, 0.9, value, matrix, False)
    exact = TabularMDP(counts / total[:, :, None], reward[:, :, 0], 0.9).optimal_value()
    np.testing.assert_allclose(value, exact, rtol=1e-12)


def test_a_certain_value_that_is_not_kept_up_to_date_is_caught() -> None:
    env = random_env(1)
    assert largest_excess(env, hreach.make_agent("pac-rmdp", env, h=8, seed=2), steps=120, every=40) > 0.01


@pytest.mark.parametrize(("name", "params"), AGENTS)
def test_an_exploration_gap_is_what_the_agent_acts_on(name: str, params: dict[str, Any]) -> None:
    env = random_env(3)
    agent = hreach.make_agent(name, env, seed=2, **params)
    hreach.run(env, agent, 50)
    for state in range(4):
        c = agent.exploration_gap(state, eps=0.5)
        assert c.state == state
        assert c.samples == 50
        assert c.internal == agent.internal_value()[state]
        assert abs(c.current - certain_value(agent)[state]) <= c.accuracy + 1e-9
        assert c.gap == c.internal - c.current
        assert c.over == (abs(c.gap) <= 0.5)


def test_without_a_state_it_is_about_the_one_with_the_largest_gap() -> None:
    env = random_env(3)
    agent = hreach.make_agent("pac-rmdp", env, h=8)
    hreach.run(env, agent, 30)
    all_states = [agent.exploration_gap(s, eps=1) for s in range(4)]
    assert agent.exploration_gap(eps=1) == max(all_states, key=lambda c: abs(c.gap))


class Certified:
    """An agent that is asked for its exploration gap at every step, before and after it acts, or neither."""

    def __init__(self, agent: TableAgent) -> None:
        self.agent = agent

    def act(self, state: int) -> int:
        self.agent.exploration_gap(state, eps=0.1)
        action = self.agent.act(state)
        self.agent.exploration_gap(eps=1.0, delta=0.5)
        return action

    def observe(self, *args: Any) -> None:
        self.agent.observe(*args)


@pytest.mark.parametrize("domain", ["chain", "modified-chain"])
@pytest.mark.parametrize(("name", "params"), AGENTS)
def test_exploration_gaps_do_not_change_what_the_agent_does(name: str, params: dict[str, Any], domain: str) -> None:
    env = hreach.make_domain(domain)
    bare, asked = (hreach.make_agent(name, env, seed=4, **params) for _ in range(2))
    expected, got = hreach.run(env, bare, 400, seed=1), hreach.run(env, Certified(asked), 400, seed=1)
    np.testing.assert_array_equal(got.actions, expected.actions)
    for field, value in bare.state_dict().items():
        np.testing.assert_array_equal(asked.state_dict()[field], value, err_msg=field)


def test_a_gap_that_shrinks_ends_explicit_exploration() -> None:
    env = hreach.make_domain("modified-chain")
    agent = hreach.make_agent("pac-rmdp", env, h=1, seed=1)
    assert not agent.exploration_gap(0, eps=1).over
    hreach.run(env, agent, 2000)
    assert agent.exploration_gap(0, eps=1).over
    assert "is over" in str(agent.exploration_gap(0, eps=1))
    assert "is not over" in str(agent.exploration_gap(0, eps=1e-6))


def test_after_loading_another_state_the_gap_is_about_that_one() -> None:
    env = random_env(4)
    agents = [hreach.make_agent("pac-rmdp", env, h=2, tolerance=1e-9) for _ in range(2)]
    for agent, following in zip(agents, (0, 3), strict=True):  # the same totals, other counts
        for pair in range(12):
            agent.observe(pair // 3, pair % 3, 0.0, following)
        agent.exploration_gap(eps=1)
    expected = [agents[1].exploration_gap(s, eps=1).current for s in range(4)]
    before = [agents[0].exploration_gap(s, eps=1).current for s in range(4)]
    agents[0].load_state_dict(agents[1].state_dict())
    np.testing.assert_allclose([agents[0].exploration_gap(s, eps=1).current for s in range(4)], expected, atol=1e-7)
    assert np.abs(np.subtract(before, expected)).max() > 1e-3


def test_nothing_follows_a_terminal_state() -> None:
    env = random_env(5)
    agent = hreach.make_agent("pac-rmdp", env, h=2, prior=0, tolerance=1e-10)
    assert agent.exploration_gap(1, eps=1).current > 1
    for action in range(3):
        agent.observe(0, action, 0.0, 1, terminated=True)
    reward = agent.model.problem.reward[0, :, 0]
    assert agent.exploration_gap(1, eps=1).current == 0
    assert agent.exploration_gap(0, eps=1).current == pytest.approx(reward.max())


def test_a_state_that_is_found_terminal_when_nothing_more_is_learnt_counts_too() -> None:
    env = random_env(5)
    agent = hreach.make_agent("beb", env, beta=1.0, prior=1, freeze_at=1.0, tolerance=1e-10)
    before = agent.exploration_gap(1, eps=1)
    assert before.current > 1
    agent.observe(0, 0, 0.0, 1, terminated=True)
    after = agent.exploration_gap(1, eps=1)
    assert (after.samples, after.current) == (0, 0)
    assert before.current > 1  # what was said then is as it was


# --- the theorem's numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", theory.FORMS)
@pytest.mark.parametrize(
    ("name", "params", "h"),
    [("pac-rmdp", {"h": 8}, 8), ("bolt", {"eta": 20}, 20), ("greedy", {}, 0), ("pac-rmdp", {"h": 1.5}, 1.5)],
)
def test_the_theorems_numbers_are_the_theorys(name: str, params: dict[str, Any], h: float, form: theory.Form) -> None:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent(name, env, **params)
    hreach.run(env, agent, 70)
    c, sizes = agent.exploration_gap(0, eps=0.7, delta=0.2), theory.Sizes(5, 2, 0.95, 1.0)
    assert c.h == h
    assert float(c.sample_complexity(form)) == float(theory.sample_complexity(sizes, 0.7, 0.2, h, form))
    expected = theory.explicit_exploration_runtime(sizes, 0.7, 0.2, h, form=form)
    assert float(c.exploration_runtime(form)) == float(expected)
    assert float(c.anytime_error(form)) == float(theory.anytime_error(sizes, 70, 0.2, h, form))


def test_an_h_for_each_pair_promises_its_smallest_and_counts_with_its_largest() -> None:
    """Lemma 1 holds at an h that every pair has; optimism takes as long to fade as the largest h does."""
    table = np.arange(1.0, 11.0).reshape(5, 2)
    found = hreach.make_agent("pac-rmdp", hreach.make_domain("chain"), h=table).exploration_gap(0, eps=1)
    assert (found.h, found.h_most) == (1, 10)
    assert float(found.sample_complexity()) == float(
        theory.sample_complexity(theory.Sizes(5, 2, 0.95, 1.0), 1, 0.1, 10)
    )


def hidden_prize() -> TabularEnv:
    """State 0: stay for .01, or go with probability .5 to state 1, which pays 1 for ever."""
    P = np.zeros((2, 2, 2))
    P[0, 0, 0] = P[1, :, 1] = 1
    P[0, 1] = 0.5
    mdp = TabularMDP(P, [[0.01, 0.0], [1.0, 1.0]], 0.5)
    return TabularEnv(mdp, mdp.reward_table())


def test_an_agent_without_optimism_in_one_pair_can_break_the_promise_of_its_largest_h() -> None:
    """h = [[8, 0], [8, 8]]: some runs stay for ever and are eps-bad at every step for h = 8, and none for h = 0."""
    env, bad, kept = hidden_prize(), 0, 0
    for seed in range(12):
        agent = hreach.make_agent("pac-rmdp", env, h=np.array([[8.0, 0.0], [8.0, 8.0]]), prior=0, seed=seed)
        run = hreach.run(env, agent, 400, seed=seed)
        assert agent.exploration_gap(eps=0.5).h == 0
        bad += hreach.audit(run, env.mdp(), agent, eps=0.5, h=8, checkpoints=40, lemma=False).bad_steps.measured > 300
        kept += hreach.audit(run, env.mdp(), agent, eps=0.5, checkpoints=40).bad_steps.measured < 50
    assert bad > 0
    assert kept == 12


@pytest.mark.parametrize(
    ("params", "note"),
    [
        ({"h": 1, "prior": 1}, "the prior weighs 1 samples"),
        ({"h": 1, "reward": "learn", "r_max": 1}, "the agent learns its reward"),
        ({"h": "growing"}, "h grows"),
        ({"h": "adaptive"}, "h grows"),
    ],
)
def test_an_exploration_gap_notes_what_an_audit_notes(params: dict[str, Any], note: str) -> None:
    env = hidden_prize()
    agent = hreach.make_agent("pac-rmdp", env, **params)
    run = hreach.run(env, agent, 20)
    assert any(text.startswith(note) for text in agent.exploration_gap(eps=1).notes)
    assert set(agent.exploration_gap(eps=1).notes) <= set(hreach.audit(run, env.mdp(), agent, eps=1, h=0).notes)


def test_a_growing_h_promises_its_current_value() -> None:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent("pac-rmdp", env, h="growing", c=2.0)
    early = agent.exploration_gap(0, eps=1).h
    hreach.run(env, agent, 90)
    assert early == pytest.approx(2 * np.log(2))
    assert agent.exploration_gap(0, eps=1).h == pytest.approx(2 * np.log(92))


@pytest.mark.parametrize(
    ("name", "params"), [("mbie-eb", {"beta": 1.0}), ("epsilon-greedy", {}), ("pac-rmdp", {"h": np.inf})]
)
def test_an_agent_without_a_finite_h_has_values_but_no_theorem(name: str, params: dict[str, Any]) -> None:
    found = hreach.make_agent(name, hreach.make_domain("chain"), **params).exploration_gap(0, eps=1)
    assert np.isfinite(found.gap)
    with pytest.raises(InputError, match=r"^the theorem's numbers are for agents with a finite h"):
        found.sample_complexity()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eps": 0}, r"^epsilon is 0\.0, but must be a finite number above 0\.$"),
        ({"eps": -1.0}, r"^epsilon is -1\.0, "),
        ({"eps": np.nan}, r"^epsilon is nan, "),
        ({"eps": 1, "delta": 0}, r"^delta is 0\.0, but must be above 0 and below 1\.$"),
        ({"eps": 1, "delta": 1}, r"^delta is 1\.0, "),
        ({"eps": 1, "state": 5}, r"^state is 5, but must be a whole number from 0 to 4\.$"),
        ({"eps": 1, "state": -1}, r"^state is -1, "),
    ],
)
def test_bad_input_is_one_sentence(arguments: dict[str, Any], message: str) -> None:
    agent = hreach.make_agent("pac-rmdp", hreach.make_domain("chain"), h=1)
    with pytest.raises(InputError, match=message):
        agent.exploration_gap(**arguments)
