"""Audits: every number against an exact computation, and every promise that can be broken."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hreach
from helpers import random_env, with_end_state
from hreach import InputError, Run, TabularMDP
from hreach.agents.agent import Agent
from hreach.agents.tables import TableAgent
from hreach.domains.tabular import TabularEnv
from hreach.guarantees import theory
from hreach.guarantees.audit import Audit, LemmaError, audit, picture
from hreach.guarantees.audit.checkpoint import action_weights
from hreach.guarantees.audit.result import COLUMNS, Total, optimal_to_go
from hreach.guarantees.audit.rollouts import Rollouts
from hreach.models.counts import predict
from hreach.randomness.seeding import run_seeds
from hreach.reach.nearest import reachable_value

Array = NDArray[np.float64]
Recorded = tuple[Run, TabularEnv, TableAgent]


def recorded(env: Any, name: str = "pac-rmdp", steps: int = 150, **params: Any) -> Recorded:
    agent = hreach.make_agent(name, env, seed=7, **params)
    return hreach.run(env, agent, steps, seed=3), env, agent


def audited(case: Recorded, **options: Any) -> Audit:
    run, env, agent = case
    return audit(run, env.mdp(), agent, **{"eps": 0.5, "delta": 0.1, "checkpoints": 20, "threads": 1, **options})


def test_an_audit_that_cannot_fit_into_memory_is_refused_with_the_size_it_needs(monkeypatch: Any) -> None:
    case = recorded(hreach.make_domain("chain"), h=2)
    monkeypatch.setattr("hreach.problems.memory.there", lambda: 4000)
    with pytest.raises(InputError, match=r"^auditing an MDP of 5 states and 2 actions.* needs .* GiB of memory"):
        audited(case)


class Watched:
    """An agent whose model and values are written down at every step, while it runs."""

    def __init__(self, agent: TableAgent) -> None:
        self.agent = agent
        self.internal: list[Array] = []
        self.counts: list[Array] = []
        self.q: list[Array] = []

    def act(self, state: int) -> int:
        action = self.agent.act(state)
        self.internal.append(self.agent.internal_value())
        self.counts.append(self.agent.model.seen.counts.copy())
        self.q.append(self.agent.action_values())
        return action

    def observe(self, *args: Any) -> None:
        self.agent.observe(*args)


def known_problem(env: Any, agent: TableAgent) -> TabularMDP:
    reward = agent.model.problem.reward
    assert reward is not None
    table = reward[:, :, 0] if reward.shape[2] == 1 else reward
    return TabularMDP(env.mdp().transitions(), table, env.mdp().gamma)


def greedy_weights(q: Array) -> Array:
    equal = q >= q.max(axis=1, keepdims=True) - 1e-9 * np.maximum(1, np.abs(q).max(axis=1, keepdims=True))
    return np.asarray(equal / equal.sum(axis=1, keepdims=True))


# --- values ---------------------------------------------------------------------------------------------------------

CASES: list[tuple[Any, str, dict[str, Any], int | None]] = [
    ("chain", "pac-rmdp", {"h": 8}, None),
    ("modified-chain", "pac-rmdp", {"h": 1, "prior": 0}, None),
    ("chain", "bolt", {"eta": 5}, None),
    ("chain", "mbie", {"epsilon": 1.0, "delta": 0.1}, 4),
    ("modified-chain", "mbie-eb", {"beta": 1.0, "value_cap": 20.0}, 2),
    ("chain", "greedy", {"ties": [1, 0]}, 0),
    (1, "pac-rmdp", {"h": 3, "prior": 0.7}, None),
    (2, "vbe", {"delta": 0.5}, 3),
]


@pytest.mark.parametrize(("domain", "name", "params", "h"), CASES)
def test_every_value_is_what_it_was_and_what_it_truly_is(
    domain: Any, name: str, params: dict[str, Any], h: int | None
) -> None:
    env = hreach.make_domain(domain) if isinstance(domain, str) else random_env(domain, per_transition=domain == 2)
    agent = hreach.make_agent(name, env, seed=7, **params)
    watched = Watched(agent)
    run = hreach.run(env, watched, 150, seed=3)
    result = audit(run, env.mdp(), agent, eps=0.5, h=h, checkpoints=15)
    mdp = known_problem(env, agent)
    np.testing.assert_array_equal(result.step, np.arange(15) * 10)
    np.testing.assert_array_equal(result.state, run.states[result.step])
    for i, (t, s) in enumerate(zip(result.step, result.state, strict=True)):
        counts, q = watched.counts[t], watched.q[t]
        assert result.internal[i] == watched.internal[t][s]
        assert result.optimal[i] == pytest.approx(mdp.optimal_value()[s], abs=1e-9)
        assert result.reachable[i] == pytest.approx(reachable_value(counts, int(result.h[i]), mdp)[s], abs=1e-9)
        model = predict(counts)
        now = TabularMDP(model / model.sum(axis=2, keepdims=True), mdp.reward_table(), mdp.gamma)
        assert result.current[i] == pytest.approx(now.optimal_value()[s], abs=1e-9)
        weights = np.eye(2)[[1 if row[1] >= row[0] - 1e-9 else 0 for row in q]] if "ties" in params else None
        own = mdp.policy_value(greedy_weights(q) if weights is None else weights)
        assert result.policy[i] == pytest.approx(own[s], abs=1e-9)
    np.testing.assert_array_equal(result.gap, result.internal - result.current)
    np.testing.assert_array_equal(result.slack, result.internal - result.reachable)
    np.testing.assert_array_equal(result.anytime_error, result.reachable - result.policy)


def test_a_random_action_is_part_of_the_policy() -> None:
    case = recorded(random_env(3), "epsilon-greedy", epsilon=0.3)
    result = audited(case, h=0, checkpoints=[149])
    run, env, _ = case
    agent = hreach.make_agent("epsilon-greedy", env, epsilon=0.3)
    for t in range(149):
        agent.plan()
        agent.observe(run.states[t], run.actions[t], run.rewards[t], run.states[t + 1])
    weights = 0.7 * greedy_weights(agent.action_values()) + 0.1
    assert result.policy[0] == pytest.approx(env.mdp().policy_value(weights)[result.state[0]], abs=1e-9)


def test_an_agent_that_learns_its_reward_is_judged_by_the_mdps() -> None:
    env = hreach.make_domain("chain")
    result = audited(recorded(env, h=3, reward="learn", r_max=1.0))
    np.testing.assert_allclose(result.optimal, env.mdp().optimal_value()[result.state])
    assert any("learns its reward" in note for note in result.notes)
    assert not any("known reward is another" in note for note in result.notes)


def test_the_chain_tells_another_reward_than_it_pays_and_the_modified_chain_does_not() -> None:
    notes = {name: audited(recorded(hreach.make_domain(name), h=1)).notes for name in ("chain", "modified-chain")}
    assert any("known reward is another" in note for note in notes["chain"])
    assert not any("known reward is another" in note for note in notes["modified-chain"])


# --- Lemma 1 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [0, 1, 8, 2.5, "growing"])
def test_lemma_1_holds_for_algorithm_1_at_every_step(h: Any) -> None:
    for domain in ("chain", "modified-chain"):
        result = audited(recorded(hreach.make_domain(domain), h=h, steps=200), checkpoints=200)
        assert result.violations == 0
        assert result.first_violation is None
        assert np.all(result.short <= result.shortfall)
        assert result.promised


def test_h_is_the_agents_own_rounded_down_and_may_grow() -> None:
    assert set(audited(recorded(hreach.make_domain("chain"), h=2.5)).h.tolist()) == {2}
    growing = audited(recorded(hreach.make_domain("chain"), h="growing", c=2.0), checkpoints=150)
    np.testing.assert_array_equal(growing.h[:90], np.floor(2 * np.log(np.arange(90) + 2.0)))
    assert any("h grows" in note for note in growing.notes)


def test_an_agent_of_less_optimism_breaks_lemma_1_and_it_is_counted() -> None:
    case = recorded(hreach.make_domain("modified-chain"), "greedy", steps=300)
    result = audited(case, h=50, checkpoints=300)
    assert result.violations > 100
    assert not result.promised
    assert result.first_violation is not None
    below = np.flatnonzero(result.short > result.shortfall)
    assert result.first_violation == result.step[below[0]]
    with pytest.raises(LemmaError, match=rf"^Lemma 1 is violated at step {result.first_violation}: ") as caught:
        audited(case, h=50, checkpoints=300, lemma=True)
    assert caught.value.step == result.first_violation


def test_a_planner_of_too_little_optimism_is_an_error_that_names_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: PAC-RMDP(8) whose plan, from step 40 on, falls short by more than its tolerance."""
    case = recorded(hreach.make_domain("modified-chain"), h=8, tolerance=1e-6)
    plan = Agent.plan

    def short(self: Any) -> None:
        plan(self)
        if self.model.seen.samples[0] >= 40:
            self.planner.table.value[:] *= 0.5

    assert audited(case, checkpoints=150).violations == 0
    monkeypatch.setattr(Agent, "plan", short)
    with pytest.raises(LemmaError, match=r"^Lemma 1 is violated at step 40: the internal value of state \d is"):
        audited(case, checkpoints=150)
    assert audited(case, checkpoints=[40], lemma=False).violations == 1


# --- totals ---------------------------------------------------------------------------------------------------------


def test_totals_are_those_of_the_theory_when_every_step_is_looked_at() -> None:
    case = recorded(hreach.make_domain("chain"), h=2, steps=120, tolerance=1e-8)
    result = audited(case, checkpoints=120)
    sizes = theory.Sizes(5, 2, 0.95, 1.0)
    assert result.sizes == sizes
    assert result.bad_steps.measured == theory.bad_steps(result.reachable, result.policy, 0.5)
    assert result.exploring_steps.measured == theory.exploring_steps(result.internal, result.current, 0.5)
    over = int(theory.measured_exploration_runtime(result.internal, result.current, 0.5))
    assert result.exploration_over == (over if over < 120 else None)
    assert result.average_loss.measured == pytest.approx(result.anytime_error.mean())
    printed = audited(case, checkpoints=120, form="printed")
    expected = theory.horizon_share(120, 0.95) @ result.anytime_error / 120
    assert printed.average_loss.measured == pytest.approx(expected)
    assert result.bad_steps.bound == float(theory.sample_complexity(sizes, 0.5, 0.1, 2))
    assert result.exploring_steps.bound == float(theory.explicit_exploration_runtime(sizes, 0.5, 0.1, 2))
    assert result.average_loss.bound == float(theory.average_loss(sizes, 120, 0.1, 2))
    bound = theory.anytime_error(sizes, np.arange(1.0, 121), 0.1, 2)
    np.testing.assert_array_equal(result.anytime_bound, bound.value)
    np.testing.assert_array_equal(result.anytime_promise, ~bound.vacuous)
    assert not any("checkpoints" in note for note in result.notes)


def test_the_end_of_exploration_is_found_between_checkpoints() -> None:
    case = recorded(hreach.make_domain("modified-chain"), h=1, steps=1000, tolerance=1e-8)
    few, all_of_them = audited(case, checkpoints=3, eps=1), audited(case, checkpoints=1000, eps=1)
    assert few.exploration_over == all_of_them.exploration_over
    assert few.exploration_over not in (None, 0, *few.step.tolist())
    assert few.exploring_steps == all_of_them.exploring_steps
    assert any("checkpoints" in note for note in few.notes)


def test_checkpoints_stand_for_the_steps_until_the_next() -> None:
    case = recorded(hreach.make_domain("modified-chain"), h=8, steps=1000)
    some, every = (audited(case, checkpoints=n).bad_steps.measured for n in (250, 1000))
    assert every > 20
    assert abs(some - every) < 0.2 * every
    assert some % 4 == 0


def test_a_promise_is_kept_unless_it_is_broken() -> None:
    assert Total(3, 4, "").kept
    assert not Total(5, 4, "").kept
    assert Total(5, 4, "nothing was promised").kept is None
    result = audited(recorded(hreach.make_domain("chain"), h=2))
    assert result.kept is None
    assert replace(result, bad_steps=Total(5, 4, "")).kept is False
    assert replace(result, bad_steps=Total(3, 4, "")).kept is True
    broken = replace(result, anytime_bound=np.full(20, -100.0), anytime_promise=np.full(20, True))
    assert broken.kept is False
    assert "shorter than this" in result.bad_steps.why


def test_a_bound_that_says_something_is_kept_on_an_easy_problem() -> None:
    """gamma = 0: a known reward leaves nothing to learn, and the bound is below the length of the run."""
    rng = np.random.default_rng(0)
    mdp = TabularMDP(rng.dirichlet(np.ones(2), size=(2, 1)), [[1.0], [0.5]], 0.0)
    env = TabularEnv(mdp, mdp.reward_table())
    result = audited(recorded(env, h=1, steps=3000), eps=0.9)
    assert result.bad_steps.why == ""
    assert result.bad_steps.measured == 0
    assert result.anytime_promise.any()
    assert result.kept is True


def test_no_promise_is_made_for_other_agents() -> None:
    result = audited(recorded(hreach.make_domain("chain"), "mbie-eb", beta=1.0), h=8)
    assert not result.promised
    assert not result.anytime_promise.any()
    assert "this agent is not" in result.bad_steps.why
    assert result.bad_steps.bound == float(theory.sample_complexity(result.sizes, 0.5, 0.1, 8))


def all_the_way_back(mdp: TabularMDP, states: NDArray[np.int64]) -> Array:
    value, result = np.zeros(mdp.states), np.empty(len(states))
    for t in range(len(states) - 1, -1, -1):
        value = mdp.backup(value).max(axis=1)
        result[t] = value[states[t]]
    return result


def test_regret_and_loss_are_against_the_best_of_as_many_steps() -> None:
    case = recorded(random_env(5), h=2, steps=700)
    run, env, _ = case
    best = all_the_way_back(env.mdp(), run.states)
    np.testing.assert_allclose(optimal_to_go(env.mdp(), run.states), best, atol=1e-11)
    result = audited(case)
    assert result.regret == pytest.approx(float(theory.regret(best[0], run.rewards, 0.9)))
    assert result.loss_of_run == pytest.approx(float(theory.average_loss_of_run(best, run.rewards, 0.9)))
    assert abs(env.mdp().optimal_value()[run.states[-1]] - best[-1]) > 1  # V* in its place would be noticed


# --- rollouts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params"), [("pac-rmdp", {"h": 8}), ("pac-rmdp", {"h": "growing"}), ("mbie-eb", {"beta": 1.0})]
)
def test_a_rollout_is_a_run_of_a_copy_of_the_agent(name: str, params: dict[str, Any]) -> None:
    run, env, agent = recorded(hreach.make_domain("modified-chain"), name, steps=60, **params)
    mdp, state, copies = env.mdp(), int(run.last_state), 5
    saved, rollouts = agent.state_dict(), Rollouts(env.mdp(), agent, copies, 0.05, seed=9, threads=1)
    returns = rollouts.returns(agent.planner.begin, state, step=60)
    there = TabularEnv(TabularMDP(mdp.transitions(), mdp.reward_table(), mdp.gamma, start=state), mdp.reward_table())
    for i, (env_seed, agent_seed) in enumerate(run_seeds((9, 60), 0, copies)):
        copy = hreach.make_agent(name, there, seed=int(agent_seed), **params)
        own = copy.stream.copy()
        copy.load_state_dict(saved)
        copy.stream[:] = own
        going_on = hreach.run(there, copy, rollouts.horizon, seed=int(env_seed))
        assert returns[i] == pytest.approx(going_on.rewards @ 0.95 ** np.arange(rollouts.horizon), abs=1e-12)


def coverage(shift: float) -> float:
    """Of 120 intervals for the value of the only policy there is, moved by `shift`, the share that cover it."""
    env = random_env(6, states=3, actions=1)
    result = audited(recorded(env, h=1, steps=120), checkpoints=120, rollouts=40, accuracy=1e-3)
    inside = (result.learning_low + shift <= result.policy) & (result.policy <= result.learning_high + shift)
    return float(inside.mean())


def test_intervals_of_rollouts_cover_the_value_as_often_as_they_say() -> None:
    assert 0.88 <= coverage(0.0) < 1
    assert coverage(0.3) < 0.5  # the twin


def test_rollouts_end_when_little_is_left() -> None:
    result = audited(recorded(hreach.make_domain("chain"), h=1), rollouts=2, accuracy=0.01)
    assert result.rollout_steps == 149
    assert audited(recorded(hreach.make_domain("chain"), h=1)).rollout_steps == 0
    width = result.learning_high - result.learning
    assert np.all(width >= 0.95**149 * 20)


def test_rollouts_do_not_depend_on_threads_and_do_on_the_seed() -> None:
    case = recorded(hreach.make_domain("chain"), h=1)
    one, two, other = (audited(case, rollouts=7, **o) for o in ({"threads": 1}, {"threads": 3}, {"seed": 1}))
    np.testing.assert_array_equal(one.learning, two.learning)
    assert np.any(one.learning != other.learning)


# --- output ---------------------------------------------------------------------------------------------------------


def test_json_and_csv_hold_the_same_numbers(tmp_path: Path) -> None:
    result = audited(recorded(hreach.make_domain("chain"), h=2))
    text = result.to_json(tmp_path / "audit.json")
    assert (tmp_path / "audit.json").read_text() == text
    data = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert data["checkpoints"]["learning"] == [None] * 20
    assert data["bad_steps"]["measured"] == result.bad_steps.measured
    result.to_csv(tmp_path / "audit.csv")
    rows = list(csv.DictReader((tmp_path / "audit.csv").read_text().splitlines()))
    assert len(rows) == 20
    for name in set(COLUMNS) - {"learning", "learning_low", "learning_high", "anytime_promise"}:
        column = [float(row[name]) for row in rows]
        theirs = result.certified.columns()
        assert column == (theirs[name] if name in theirs else getattr(result, name)).tolist()
        assert column == data["checkpoints"][name]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["audit.csv", "audit.json"]


def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = audited(recorded(hreach.make_domain("chain"), h=2))
    path = tmp_path / "audit.json"
    path.write_text("old")

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match=r"cannot be written: No space left on device\.$"):
        result.to_json(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["audit.json"]
    with pytest.raises(InputError, match=r"cannot be written: No such file or directory\.$"):
        result.to_csv(tmp_path / "missing" / "audit.csv")


@pytest.mark.parametrize("options", [{}, {"rollouts": 3}, {"h": 30}])
def test_the_picture_shows_the_bound_and_the_truth_on_one_logarithmic_axis(
    options: dict[str, Any], tmp_path: Path
) -> None:
    result = audited(recorded(hreach.make_domain("chain"), h=2), **options)
    figure = picture(result, tmp_path / "audit.png", title="A title")
    assert (tmp_path / "audit.png").read_bytes().startswith(b"\x89PNG")
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    drawn = {str(line.get_label()): np.asarray(line.get_ydata()) for line in axes.lines}
    (bound,) = [values for label, values in drawn.items() if label.startswith("bound")]
    np.testing.assert_array_equal(bound, result.anytime_bound)
    (error,) = [values for label, values in drawn.items() if label == r"truth: $V^{d*}_h - V^{\mathcal{A}_t}$"]
    seen = ~np.isnan(error)
    assert seen.any()
    np.testing.assert_array_equal(error[seen], result.anytime_error[seen])
    low, high = axes.get_ylim()
    assert np.all(result.anytime_error[~seen] <= low)
    assert high > result.anytime_bound.max()
    picture(result, tmp_path / "audit.svg")
    assert b"<svg" in (tmp_path / "audit.svg").read_bytes()


def test_an_audit_of_a_single_step_can_be_made_and_drawn() -> None:
    result = audited(recorded(hreach.make_domain("chain"), h=2, steps=1), rollouts=2)
    assert result.step.tolist() == [0]
    assert np.isnan(result.regret)
    assert json.loads(result.to_json())["regret"] is None
    picture(result)


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eps": 0}, r"^epsilon is 0\.0, but must be a finite number above 0\.$"),
        ({"eps": -1}, r"^epsilon is -1\.0, "),
        ({"delta": 0}, r"^delta is 0\.0, but must be above 0 and below 1\.$"),
        ({"delta": 1}, r"^delta is 1\.0, "),
        ({"h": -1}, r"^h is -1, but must be a whole number of at least 0\.$"),
        ({"h": 1.5}, r"^h is 1\.5, "),
        ({"h": np.inf}, r"^h is inf, "),
        ({"checkpoints": 0}, r"^checkpoints is 0, but must be a whole number of at least 1\.$"),
        ({"checkpoints": []}, r"^checkpoints is \[\], but must be steps from 0 to 149\.$"),
        ({"checkpoints": [3, 150]}, r"^checkpoints is \[3, 150\], "),
        ({"checkpoints": [-1]}, r"^checkpoints is -1, "),
        ({"rollouts": -1}, r"^rollouts is -1, "),
        ({"rollouts": 1}, r"^rollouts is 1, but must be 0, or at least 2"),
        ({"rollouts": 2, "accuracy": 0}, r"^accuracy is 0, "),
        ({"rollouts": 2, "threads": 0}, r"^threads is 0, "),
        ({"rollouts": 2, "seed": -1}, r"^seed is -1, "),
        ({"form": "loose"}, r"^form is 'loose', "),
    ],
)
def test_bad_input_is_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        audited(recorded(hreach.make_domain("chain"), h=2), **options)


def test_an_agent_without_an_h_of_its_own_needs_one() -> None:
    with pytest.raises(InputError, match=r"^h is not given, but must be: this agent has none of its own\.$"):
        audited(recorded(hreach.make_domain("chain"), "mbie-eb", beta=1.0))
    with pytest.raises(InputError, match=r"^h is inf, but must be finite: give the audit an h of its own\.$"):
        audited(recorded(hreach.make_domain("chain"), h=np.inf))


def test_a_run_must_be_of_this_mdp_and_this_agent() -> None:
    run, env, agent = recorded(hreach.make_domain("chain"), h=2)
    small = random_env(0).mdp()
    with pytest.raises(InputError, match=r"^agent's \(states, actions\) is \(5, 2\), but must be .* \(4, 3\)\.$"):
        audit(run, small, agent, eps=1)
    with pytest.raises(InputError, match=r"^run's largest state is 4, but must be one of the MDP's 4, from 0\.$"):
        audit(run, small, hreach.make_agent("pac-rmdp", small, h=2), eps=1)
    other = hreach.make_domain("modified-chain")
    with pytest.raises(InputError, match=r"^run's step \d+ went from \(\d, \d\) to \d, but that is impossible"):
        audit(run, other.mdp(), agent, eps=1)
    with pytest.raises(InputError, match=r"^run's action \d in step \d+ is not this agent's"):
        audit(run, env.mdp(), hreach.make_agent("pac-rmdp", env, h=200), eps=1)
    with pytest.raises(InputError, match=r"^agent's gamma is 0\.9, but must be that of the MDP, 0\.95\.$"):
        audit(run, env.mdp(), hreach.make_agent("pac-rmdp", env, h=2, gamma=0.9), eps=1)
    with pytest.raises(InputError, match=r"^mdp is 'Chain', but must be a TabularMDP"):
        audit(run, env, agent, eps=1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^agent is 'Watched', but must be a tabular agent"):
        audit(run, env.mdp(), Watched(agent), eps=1)  # type: ignore[arg-type]


def test_an_episode_that_ended_where_none_can_end_is_refused() -> None:
    run, env, agent = recorded(hreach.make_domain("chain"), h=2)
    wrong = replace(run, ended=np.array([50]), terminated=np.array([True]))
    with pytest.raises(InputError, match=r"^run's step 50 went from .* and ended the episode, but that is impossible"):
        audit(wrong, env.mdp(), agent, eps=1)


def test_an_episode_that_was_cut_off_has_no_regret() -> None:
    run, env, agent = recorded(hreach.make_domain("chain"), h=2)
    cut = replace(run, ended=np.array([50]), terminated=np.array([False]))
    result = audit(cut, env.mdp(), agent, eps=1)
    assert np.isnan(result.regret)
    assert np.isnan(result.loss_of_run)
    assert np.isfinite(audit(run, env.mdp(), agent, eps=1).regret)


def ending_env(seed: int = 0) -> TabularEnv:
    """Five states; a transition ends the episode with some chance, so that a state is both lived in and ended in."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(5), (5, 2))
    mdp = TabularMDP(P, rng.uniform(-1, 1, (5, 2)), 0.9, end=0.3 * rng.random((5, 2, 5)))
    return TabularEnv(mdp, mdp.reward_table())


@pytest.mark.parametrize("name", ["pac-rmdp", "greedy"])
def test_an_audit_of_episodes_that_end_measures_exact_values(name: str) -> None:
    env = ending_env()
    params = {"h": 4} if name == "pac-rmdp" else {}
    run, _, agent = recorded(env, name, steps=300, prior=0, tolerance=1e-9, **params)
    assert run.terminated.sum() > 10
    result = audit(run, env.mdp(), agent, eps=1, checkpoints=20)
    exact = with_end_state(env.mdp())
    np.testing.assert_allclose(result.optimal, exact.optimal_value()[result.state])
    policy = action_weights(agent_after(run, env, agent, int(result.step[-1])))
    acting = np.vstack([policy, [1.0, 0.0]])
    assert result.policy[-1] == pytest.approx(exact.policy_value(acting)[result.state[-1]])
    assert result.violations == 0
    assert (result.internal >= result.reachable - result.shortfall).all()
    assert result.current[-1] == pytest.approx(result.internal[-1] - result.gap[-1])


@pytest.mark.parametrize("knows", [True, False])
def test_exploring_steps_are_those_of_the_gap_also_where_ends_come_as_a_surprise(knows: bool) -> None:
    """An agent that was made for a problem without ends finds at the first one that there are some."""
    env = ending_env()
    mdp = env.mdp()
    made_for = mdp if knows else TabularMDP(mdp.transitions(), mdp.reward_table(), mdp.gamma)
    agent = hreach.make_agent("pac-rmdp", made_for, h=4, prior=0, tolerance=1e-9, seed=7)
    run = hreach.run(env, agent, 300, seed=3)
    result = audit(run, mdp, agent, eps=0.5, checkpoints=300)
    assert result.exploring_steps.measured == theory.exploring_steps(result.internal, result.current, 0.5)
    assert 50 < result.exploring_steps.measured < 120


def agent_after(run: hreach.Run, env: TabularEnv, agent: TableAgent, steps: int) -> TableAgent:
    """The agent as it was when it chose the action of this step."""
    again = agent.clone(0)
    ended = dict(zip(run.ended.tolist(), run.terminated.tolist(), strict=True))
    for t in range(steps):
        move = (int(run.states[t]), int(run.actions[t]), float(run.rewards[t]), int(run.next_states[t]))
        again.observe(*move, ended.get(t, False))
    again.plan()
    return again


def test_rollouts_stop_where_the_episode_does() -> None:
    """One action, so the value of the learning agent is that of the only policy."""
    rng = np.random.default_rng(3)
    mdp = TabularMDP(rng.dirichlet(np.ones(3), (3, 1)), rng.random((3, 1)), 0.9, end=np.full((3, 1, 3), 0.4))
    env = TabularEnv(mdp, mdp.reward_table())
    result = audited(recorded(env, h=1, steps=60), checkpoints=30, rollouts=100, accuracy=1e-3)
    inside = (result.learning_low <= result.policy) & (result.policy <= result.learning_high)
    assert inside.mean() >= 0.8
    forever = TabularMDP(mdp.transitions(), mdp.reward_table(), 0.9).policy_value(np.zeros(3, dtype=int))
    assert (result.learning_high < forever[result.state]).all()  # the twin: as if episodes did not end


def test_rewards_of_any_sign_are_audited_by_their_range() -> None:
    mdp = TabularMDP(np.full((2, 2, 2), 0.5), [[-1.0, 0.0], [1.0, 0.5]], 0.9)
    result = audited(recorded(TabularEnv(mdp, mdp.reward_table()), h=2))
    assert (result.sizes.r_min, result.sizes.r_max) == (-1, 1)
    assert result.violations == 0
