"""One test over everything that obeys an interface: every agent, its model, optimism and planner, and others' too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hreach
from hreach.agents import AGENTS, LINEAR_AGENTS
from hreach.agents.tables import TableAgent
from hreach.errors import InputError
from hreach.models.counts import Counts
from hreach.optimism.linear import LinearOptimism
from hreach.optimism.tabular import TabularOptimism
from hreach.planners.on_grid import OnGrid
from hreach.planners.on_tree import OnTree
from hreach.planners.sweeps import Sweeps
from hreach.protocols import Agent, AnyModel, AnyPlanner, Optimism, Pairs
from hreach.testing import check_agent, check_model, check_optimism, check_planner

OWN: dict[str, dict[str, Any]] = {
    "pac-rmdp": {"h": 4},
    "bolt": {"eta": 4},
    "mbie": {"m": 10, "delta": 0.1},
    "mbie-eb": {"beta": 1.0},
    "mbie-reach": {"m": 10},
    "vbe": {"beta": 1.0},
    "beb": {"beta": 1.0},
    "r-max": {"m": 5},
    "linear-pac-rmdp": {"h": 1},
    "linear-pac-mdp": {"epsilon": 50.0},
}
GRID = {"grid": (12, 12)}
VARIANTS = [
    *((name, "chain", OWN.get(name, {})) for name in AGENTS),
    ("pac-rmdp", "chain", {"h": "growing"}),
    ("pac-rmdp", "chain", {"h": "adaptive"}),
    ("pac-rmdp", "chain", {"h": 2, "reward": "learn", "r_max": 1.0}),
    *(
        (name, "riverswim", {**OWN.get(name, {}), "model": "sparse-counts"})
        for name in ("pac-rmdp", "bolt", "greedy", "epsilon-greedy", "mbie-eb", "vbe", "beb", "r-max", "mbie-reach")
    ),
    ("pac-rmdp", "riverswim", {"h": 2, "reward": "learn", "r_max": 1.0, "model": "sparse-counts"}),
    ("posterior-sampling", "chain", {"episodes": "doubling", "reward": "learn", "r_max": 1.0}),
    *((name, "mountain-car", {**OWN.get(name, {}), **GRID}) for name in LINEAR_AGENTS),
    ("linear-pac-rmdp", "mountain-car", {"h": "growing", "reward": "learn", **GRID}),
    ("linear-pac-rmdp", "mountain-car", {"h": 1, "optimism": "shift", **GRID}),
    ("linear-pac-mdp", "mountain-car", {"epsilon": 50.0, "store": "unknown", **GRID}),
    *((name, "hiv", {**OWN.get(name, {}), "segments": (5, 5)}) for name in LINEAR_AGENTS),
]
NAMES = [f"{name} on {domain} {i}" for i, (name, domain, _) in enumerate(VARIANTS)]


def built(name: str, domain: str, params: dict[str, Any], seed: int = 1) -> tuple[Any, Any]:
    env = hreach.make_domain(domain)
    return env, hreach.make_agent(name, env, seed=seed, **params)


def trained(name: str, domain: str, params: dict[str, Any], steps: int = 60) -> tuple[Any, Any, Any]:
    env, agent = built(name, domain, params)
    return env, agent, hreach.run(env, agent, steps, seed=2)


@pytest.mark.parametrize(("name", "domain", "params"), VARIANTS, ids=NAMES)
def test_every_agent_obeys_the_interface(name: str, domain: str, params: dict[str, Any]) -> None:
    env = hreach.make_domain(domain)
    check_agent(lambda env, seed: hreach.make_agent(name, env, seed=seed, **params), env, steps=40)


@pytest.mark.parametrize(("name", "domain", "params"), VARIANTS, ids=NAMES)
def test_every_part_obeys_its_interface(name: str, domain: str, params: dict[str, Any]) -> None:
    _, agent, done = trained(name, domain, params)
    states = done.states[:3]
    check_optimism(agent.optimism)
    check_model(agent.model, Pairs(states, np.zeros(3, dtype=np.int64)))
    check_planner(agent.planner, states)


@pytest.mark.parametrize(("name", "domain", "params"), VARIANTS, ids=NAMES)
def test_describe_tells_every_constant(name: str, domain: str, params: dict[str, Any]) -> None:
    """Whatever was given stands there, under its own name or in the constants computed from it."""
    _, agent = built(name, domain, params)
    told = agent.describe()
    assert {"origin", "constants", "slope", "settings"} <= set(told)
    assert {"gamma", "reward"} <= set(told["settings"])
    text = repr(told)
    for key, value in params.items():
        if isinstance(value, float | int | str) and key not in ("delta", "store", "r_max", "reward", "episodes"):
            assert repr(value) in text or repr(float(value)) in text if not isinstance(value, str) else value in text


def types_obey() -> None:
    """Checked by mypy, never run: each class is what the interface asks for."""

    def agents(one: Agent) -> None: ...
    def models(one: AnyModel) -> None: ...
    def optimisms(one: Optimism) -> None: ...
    def planners(one: AnyPlanner) -> None: ...

    def _(
        counts: Counts,
        tabular: TabularOptimism,
        linear: LinearOptimism,
        sweeps: Sweeps,
        grid: OnGrid,
        tree: OnTree,
        ours: TableAgent,
    ) -> None:
        agents(ours)
        models(counts)
        optimisms(tabular)
        optimisms(linear)
        for planner in (sweeps, grid, tree):
            planners(planner)


# --- the same checks refuse what is wrong ---------------------------------------------------------------------------


class Least:
    """All that an agent of your own needs."""

    def __init__(self, env: Any, seed: int) -> None:
        self.generator, self.actions = np.random.default_rng(seed), env.action_space.n

    def act(self, state: int) -> int:
        return int(self.generator.integers(self.actions))

    def observe(self, *step: Any) -> None:
        """Nothing."""


def test_an_agent_that_only_acts_and_observes_passes() -> None:
    check_agent(Least)


def test_an_agent_that_is_not_decided_by_its_seed_is_refused() -> None:
    with pytest.raises(AssertionError, match="the same seed gave different actions"):
        check_agent(lambda env, seed: Least(env, int(np.random.SeedSequence().generate_state(1)[0])))


class Wrong(Counts):
    """Weights that do not sum to 1."""

    def outcomes(self, pairs: Any, shift: Any = None) -> Any:
        found = super().outcomes(pairs, shift)
        return found._replace(weight=0.9 * found.weight)


def test_a_model_whose_outcomes_are_no_distribution_is_refused() -> None:
    _, agent = built("pac-rmdp", "chain", {"h": 1})
    with pytest.raises(AssertionError, match=r"sum to 0\.9, not to 1"):
        check_model(Wrong(agent.model.problem), Pairs(np.arange(3), np.zeros(3, dtype=np.int64)))


def test_a_planner_whose_best_action_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _, agent, done = trained("pac-rmdp", "chain", {"h": 1})
    worst = {int(s): int(np.argmin(agent.action_values()[s])) for s in range(5)}
    monkeypatch.setattr(Sweeps, "best_action", lambda self, state, stream: worst[int(state)])
    with pytest.raises(AssertionError, match="best_action is not the best one"):
        check_planner(agent.planner, done.states[:3])


# --- the parts agree with each other --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in AGENTS if n != "posterior-sampling"])
@pytest.mark.parametrize("reward", ["known", "learn"])
def test_upper_as_it_is_written_is_what_the_kernels_plan_with(name: str, reward: str) -> None:
    params = {**OWN.get(name, {}), "reward": reward, "r_max": 1.0}
    _, agent, _ = trained(name, "riverswim", params, steps=300)
    agent.plan()
    states, actions = agent.model.problem.states, agent.model.problem.actions
    pairs = Pairs(np.repeat(np.arange(states), actions), np.tile(np.arange(actions), states))
    upper, table = agent.optimism.upper(agent.model, pairs), agent.planner.table
    known = np.isfinite(upper.bonus)
    np.testing.assert_array_equal(table.reach[: len(known)][known], upper.reach[known])
    np.testing.assert_array_equal(table.radius[: len(known)][known], upper.radius[known])
    np.testing.assert_array_equal(table.base[: len(known)][~known], agent.planner.rule.v_max)


@pytest.mark.parametrize("h", ["growing", "adaptive"])
def test_a_schedule_as_it_is_written_is_what_the_kernels_do(h: str) -> None:
    _, agent, _ = trained("pac-rmdp", "riverswim", {"h": h, "tolerance": 1e-10}, steps=98)  # revised at every step
    agent.plan()
    pairs = Pairs(np.arange(6), np.ones(6, dtype=np.int64))
    upper = agent.optimism.upper(agent.model, pairs)
    np.testing.assert_allclose(agent.planner.table.reach[1:12:2], upper.reach, rtol=1e-9)


def test_counts_and_their_leverage() -> None:
    _, agent, _ = trained("pac-rmdp", "chain", {"h": 3, "prior": 0})
    pairs = Pairs(np.zeros(2, dtype=np.int64), np.arange(2))
    q = agent.model.leverage(pairs)[:, 0]
    n = agent.model.seen.total[0]
    np.testing.assert_array_equal(q, 1 / n)
    # w = h/(n + h) of counts and f = h q/(1 + h q) of least squares are one rule
    np.testing.assert_allclose(agent.optimism.upper(agent.model, pairs).reach, 3 * q / (1 + 3 * q), rtol=1e-15)


@pytest.mark.parametrize("name", ["pac-rmdp", "greedy", "posterior-sampling", "mbie"])
def test_a_certainty_equivalent_copy_of_a_table_has_the_value_without_optimism(name: str) -> None:
    _, agent, _ = trained(name, "riverswim", {**OWN.get(name, {}), "tolerance": 1e-9}, steps=150)
    copy, again = agent.certainty_equivalent(), agent.certainty_equivalent()
    certain = agent.planner.certain_value()
    np.testing.assert_allclose(copy.planner.internal_value(), certain, atol=1e-6)
    np.testing.assert_array_equal(again.planner.internal_value(), copy.planner.internal_value())
    agent.observe(0, 0, 0.0, 1)  # what is new reaches the agent's own plan though another planner has looked
    agent.certainty_equivalent()
    before = agent.planner.table.mean.copy()
    agent.plan()
    assert name == "posterior-sampling" or not np.array_equal(before, agent.planner.table.mean)


def test_exploration_gaps_of_continuous_agents() -> None:
    _, agent, done = trained("linear-pac-rmdp", "mountain-car", {"h": 1, **GRID}, steps=200)
    here, anywhere = agent.exploration_gap(done.last_state, eps=1.0), agent.exploration_gap(eps=1.0)
    assert here.gap >= -here.accuracy  # a bonus is never below 0
    assert abs(anywhere.gap) >= abs(here.gap) - 1e-9
    assert here.h == here.h_most == 1.0
    assert "gap" in str(here)
    with pytest.raises(InputError, match="for tables"):
        here.sample_complexity()
    greedy = trained("linear-epsilon-greedy", "mountain-car", {"epsilon": 0.0, **GRID}, steps=50)[1]
    assert greedy.exploration_gap(eps=0.1).gap == pytest.approx(0, abs=2 * greedy.exploration_gap(eps=0.1).accuracy)
    tree, done = trained("linear-pac-rmdp", "hiv", {"h": 1, "segments": (5, 5)}, steps=5)[1:]
    assert tree.exploration_gap(done.last_state, eps=1.0).accuracy == 0.0
    with pytest.raises(InputError, match=r"^state is None, but must be given: a tree"):
        tree.exploration_gap(eps=1.0)


def test_an_exploration_gap_of_a_tree_changes_no_action() -> None:
    env, agent = built("linear-pac-rmdp", "hiv", {"h": 1, "segments": (5, 5)})
    twin = agent.clone(1)
    plain = hreach.run(env, twin, 12, seed=3)

    class Asked:
        act = agent.act

        def observe(self, state: Any, action: int, reward: float, following: Any, *rest: Any) -> None:
            agent.observe(state, action, reward, following, *rest)
            agent.exploration_gap(following, eps=1.0)

    asked = hreach.run(env, Asked(), 12, seed=3)
    np.testing.assert_array_equal(asked.actions, plain.actions)


def test_an_adaptive_h_is_for_tables() -> None:
    with pytest.raises(InputError, match=r"^h is 'adaptive', but must be a number or 'growing'"):
        built("linear-pac-rmdp", "mountain-car", {"h": "adaptive"})


def test_a_task_learnt_from_a_measurement_says_so_if_it_is_missing() -> None:
    env, agent = built("linear-pac-rmdp", "hiv", {"h": 1, "segments": (5, 5)})
    state, _ = env.reset(seed=1)
    with pytest.raises(InputError, match=r"^info\['day_after'\] is None, but must be given"):
        agent.observe(state, 0, 1.0, state, False, {})
