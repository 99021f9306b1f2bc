"""The local planner: residuals recomputed from the counts alone by plain NumPy, and the actions of the dense agent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hreach
from hreach.domains import DOMAINS
from hreach.domains.tabular import TabularEnv
from hreach.errors import InputError
from hreach.kernels.local_state import SLOW, SWEPT
from hreach.planners import local as local_planner
from hreach.planners.local_parts import WAYS
from hreach.problems.mdp import TabularMDP
from hreach.problems.truth import truth_of
from hreach.testing.reference.sparse_residual import residual_of

OWN: dict[str, dict[str, Any]] = {
    "pac-rmdp": {"h": 4},
    "bolt": {"eta": 3},
    "greedy": {},
    "epsilon-greedy": {},
    "mbie-eb": {"beta": 1.0},
    "vbe": {"beta": 1.0},
    "beb": {"beta": 1.0},
    "r-max": {"m": 3},
    "mbie-reach": {"m": 10},
}
SPARSE_ONLY: dict[str, Any] = {"model": "sparse-counts"}
SPARSE: dict[str, Any] = {**SPARSE_ONLY, "planner": "local"}


def garnet(states: int, actions: int, branching: int, seed: int, ends: bool, gamma: float) -> TabularMDP:
    """Random rows of a few successors, rewards of both signs."""
    draw = np.random.default_rng(seed)
    P = np.zeros((states, actions, states))
    for row in P.reshape(-1, states):
        row[draw.choice(states, branching, replace=False)] = draw.dirichlet(np.ones(branching))
    end = (draw.random((states, actions)) < 0.1) * 0.5 if ends else None
    return TabularMDP(P, draw.uniform(-1, 1, (states, actions)), gamma, end=end)


def lived(name: str, seed: int, steps: int, share: float = 0.01, **more: Any) -> Any:
    """An agent after some steps in a random MDP, its plan up to date; tolerance: this share of the range of values."""
    draw = np.random.default_rng(seed)
    gamma = float(draw.choice([0.9, 0.95, 0.99]))
    mdp = garnet(int(draw.integers(8, 30)), 3, 3, seed, bool(draw.integers(2)), gamma)
    env = TabularEnv(mdp, None if more.get("reward") == "learn" else mdp.reward_table())
    params = {**OWN[name], **SPARSE, "tolerance": share * mdp.values.span, **more}
    agent = hreach.make_agent(name, env, seed=seed, **params)
    hreach.run(env, agent, steps, seed=seed)
    agent.plan()
    return agent


def only(way: Any) -> Any:
    """A planner that goes one way."""

    def make(*parts: Any, **settings: Any) -> local_planner.Local:
        return local_planner.Local(*parts, way=way, **settings)

    return make


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", OWN)
def test_no_residual_is_above_the_claimed_one(name: str, way: str) -> None:
    for seed, share in enumerate((0.01, 1e-4, 1e-7)):
        agent = lived(name, seed, 100 + 70 * seed, planner=only(way), share=share)
        assert residual_of(agent) <= agent.planner.residual + 1e-9
        assert agent.planner.residual <= agent.planner.rule.tolerance * (1 + 1e-9)


@pytest.mark.parametrize("own", [{"h": 3}, {"h": 0}, {"h": "growing"}])
@pytest.mark.parametrize("more", [{}, {"successors": "known"}, {"successors": "known", "value_cap": 2.0}])
def test_known_next_states_and_an_h_that_grows(own: dict[str, Any], more: dict[str, Any]) -> None:
    for seed in range(3):
        agent = lived("pac-rmdp", seed, 150, **own, **more)
        assert residual_of(agent) <= agent.planner.residual + 1e-9
        assert agent.planner.residual <= agent.planner.rule.tolerance * (1 + 1e-9)


@pytest.mark.parametrize("name", OWN)
def test_known_next_states_of_every_agent(name: str) -> None:
    learnt: dict[str, Any] = {"reward": "learn", "r_max": 1.0, "r_min": -1.0}
    for more in ({}, learnt):
        agent = lived(name, 2, 200, successors="known", **more)
        assert residual_of(agent) <= agent.planner.residual + 1e-9
        assert agent.planner.residual <= agent.planner.rule.tolerance * (1 + 1e-9)


def test_known_next_states_make_optimism_no_larger_and_no_smaller_than_what_follows() -> None:
    """Eq. (1) with the best of the possible next states, solved by plain value iteration."""
    agent = lived("pac-rmdp", 1, 120, successors="known", share=1e-9)
    known, model = agent.model.problem, agent.model
    shape = (known.states, known.actions, known.states)
    going, n, possible = np.zeros(shape), np.zeros(shape[:2]), np.zeros(shape, dtype=bool)
    for s, a in np.ndindex(shape[:2]):
        following, times, ended = model.row(s, a)
        going[s, a, following], n[s, a] = times - ended, times.sum()
        possible[s, a, model.possible(s, a)] = True
    closed, value = model.closed(np.arange(known.states)), np.zeros(known.states)
    for _ in range(4000):
        best = np.where(possible, value, 0.0 if known.ends else -np.inf).max(axis=2)
        q = known.reward[:, :, 0] + known.gamma * (going @ value + 4 * best) / (n + 4)
        value = np.where(closed, 0.0, q.max(axis=1))
    np.testing.assert_allclose(agent.internal_value(), value, atol=1e-5)


def test_what_is_told_of_next_states_is_checked() -> None:
    env = hreach.make_domain("riverswim")
    first, following = np.arange(13), np.zeros(12, dtype=int)
    agent = hreach.make_agent("pac-rmdp", env, h=1, successors=(first, following))
    agent.observe(0, 1, 0.0, 1)  # which was said to be impossible
    assert agent.model.possible(0, 1).tolist() == [0, 1]
    wrong: list[tuple[Any, str]] = [
        ("all", "successors is 'all', but must be 'known'"),
        ((first[:-1], following[:-1]), "successors first is"),
        ((first, following + 6), "successors next_state is"),
        ((np.minimum(first, 3) * 4, following), "successors first is .*ascending"),
        ((first, following / 2), "successors is .* whole numbers"),
    ]
    for told, message in wrong:
        with pytest.raises(InputError, match=message):
            hreach.make_agent("pac-rmdp", env, h=1, successors=told)
    with pytest.raises(InputError, match="successors is 'known', but must be left out with model='counts'"):
        hreach.make_agent("pac-rmdp", env, h=1, successors="known", model="counts")


def test_sweeps_are_taken_where_the_queue_takes_long_and_only_there() -> None:
    tight, loose = (lived("greedy", 3, 150, share=share) for share in (1e-9, 1e-2))
    assert tight.planner.lines.tick[SWEPT] > 20
    assert loose.planner.lines.tick[SWEPT] == 0


@pytest.mark.parametrize("more", [{}, {"successors": "known"}])
@pytest.mark.parametrize("name", OWN)
def test_a_solve_leaves_hardly_anything_to_sweeps(name: str, more: dict[str, Any]) -> None:
    """Policy iteration ends after a few solves; one that is a little wrong would go on until there are no more."""
    solves = 0
    for seed in range(9):
        agent = lived(name, seed, 2 + 10 * seed, planner=only("sweeps"), share=1e-8, **more)
        agent.planner.lines.tick[SLOW] = 40
        agent.model.arena.news[0] = -1
        for s, a in np.ndindex(agent.model.problem.states // (seed % 2 + 1), seed % 3 + 1):
            agent.observe(s, a, 0.3, max(s - a, 0), False)
        agent.plan()
        assert agent.planner.lines.tick[SLOW] >= 25
        solves += 40 - agent.planner.lines.tick[SLOW]
        assert residual_of(agent) <= agent.planner.residual + 1e-9
        assert agent.planner.residual <= agent.planner.rule.tolerance * (1 + 1e-9)
    assert solves > 0 or name == "mbie-reach"  # of a pair that was not tried m times nothing is to be solved


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("counts", "sweeps", 1)),
        ({"planner": "auto"}, ("counts", "sweeps", 0)),
        ({"planner": "local"}, ("sparse-counts", "local", 0)),
        ({"successors": "known"}, ("sparse-counts", "local", 0)),
        ({"model": "sparse-counts"}, ("sparse-counts", "local", 0)),
    ],
)
def test_a_small_table_stays_a_table(given: dict[str, Any], expected: tuple[str, str, float]) -> None:
    assert parts_of(hreach.make_domain("riverswim"), h=1, **given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"h": 1}, ("sparse-counts", "local", 0)),
        ({"h": 1, "planner": "auto"}, ("sparse-counts", "local", 0)),
        ({"h": 1, "planner": "auto", "prior": 2}, ("counts", "sweeps", 2)),
        ({"h": 1, "prior": 1}, ("counts", "sweeps", 1)),
        ({"h": 1, "planner": "sweeps"}, ("counts", "sweeps", 1)),
        ({"h": 1, "model": "counts"}, ("counts", "sweeps", 1)),
        ({"h": "growing"}, ("sparse-counts", "local", 0)),
        ({"h": "adaptive"}, ("counts", "sweeps", 1)),
    ],
)
def test_a_large_table_is_sparse_unless_that_is_not_what_was_asked_for(
    given: dict[str, Any], expected: tuple[str, str, float]
) -> None:
    assert parts_of(hreach.make_domain("gridworld", rows=23, columns=23), **given) == expected


def test_a_large_table_stays_a_table_where_only_sweeps_can_plan() -> None:
    env = hreach.make_domain("gridworld", rows=23, columns=23)
    cases: list[tuple[str, dict[str, Any]]] = [("posterior-sampling", {}), ("greedy", {"value_cap": 3.0})]
    for name, params in cases:
        settings: Any = hreach.make_agent(name, env, **params).describe()["settings"]
        assert (settings["model"], settings["prior"]) == ("'counts'", 1)


def parts_of(env: Any, **params: Any) -> tuple[str, str, float]:
    """Model, planner and prior, as an agent describes itself."""
    settings: Any = hreach.make_agent("pac-rmdp", env, **params).describe()["settings"]
    return settings["model"].strip("'"), settings["planner"].strip("'"), settings["prior"]


@pytest.mark.parametrize("more", [{"reward": "learn", "r_max": 1.0, "r_min": -1.0}, {"value_cap": 3.0}, {"h": 64}])
def test_learnt_rewards_caps_and_large_h(more: dict[str, Any]) -> None:
    for seed in range(3):
        agent = lived("pac-rmdp", seed, 250, **more)
        assert residual_of(agent) <= agent.planner.residual + 1e-9
        assert agent.planner.residual <= agent.planner.rule.tolerance * (1 + 1e-9)


def little(*parts: Any, **settings: Any) -> local_planner.Local:
    return local_planner.Local(*parts, budget=1, **settings)


def test_a_budget_says_how_far_it_is() -> None:
    agent = lived("pac-rmdp", 4, 150, planner=little)
    assert residual_of(agent) <= agent.planner.residual + 1e-9
    for _ in range(2000):
        agent.plan()
    assert agent.planner.finished
    assert residual_of(agent) <= agent.planner.rule.tolerance


def test_a_value_that_was_not_pushed_is_caught() -> None:
    """The twin that is wrong on purpose: a value changes, and its predecessors are not told."""
    agent = lived("pac-rmdp", 1, 200)
    agent.planner.lines.value[0, 0] += 5 * agent.planner.rule.tolerance
    assert residual_of(agent) > agent.planner.residual


SMALL = {"garnet": {"states": 12}, "gridworld": {"rows": 4, "columns": 4}}


def tables() -> list[str]:
    """Every domain that is a table."""
    return [name for name in DOMAINS if truth_of(hreach.make_domain(name, **SMALL.get(name, {}))) is not None]


@pytest.mark.parametrize("domain", tables())
@pytest.mark.parametrize("name", [*OWN, "growing"])
def test_the_dense_and_the_sparse_agent_take_the_same_actions(name: str, domain: str) -> None:
    own = OWN.get(name, {"h": "growing"})
    name = name if name in OWN else "pac-rmdp"
    env = hreach.make_domain(domain, **SMALL.get(domain, {}))
    if env.mdp().reward_table().ndim == 3:
        more: dict[str, Any] = {"reward": "learn", "r_max": float(env.mdp().reward.max())}
    else:
        more = {}
    params = {**own, "prior": 0, "tolerance": 1e-11, **more}
    dense, sparse = (hreach.make_agent(name, env, seed=3, **params, **kind) for kind in ({}, SPARSE))
    one, two = (hreach.run(env, agent, 200, seed=4) for agent in (dense, sparse))
    np.testing.assert_array_equal(one.actions, two.actions)


@pytest.mark.parametrize("more", [{}, {"share": 1e-6}, {"h": "growing"}, {"successors": "known"}])
def test_saved_and_loaded_it_goes_on_bit_for_bit(more: dict[str, Any]) -> None:
    kept = lived("pac-rmdp", 2, 150, **more)
    other = kept.clone(9)
    other.load_state_dict(kept.state_dict())
    mdp = garnet(kept.model.problem.states, 3, 3, 2, kept.model.problem.ends, kept.model.problem.gamma)
    env = TabularEnv(mdp, mdp.reward_table())
    one, two = hreach.run(env, kept, 100, seed=5), hreach.run(env, other, 100, seed=5)
    np.testing.assert_array_equal(one.actions, two.actions)
    mine, theirs = kept.planner.lines.q, other.planner.lines.q
    rows = min(len(mine), len(theirs))
    np.testing.assert_array_equal(mine[:rows], theirs[:rows])


def test_a_state_after_an_end_that_nobody_expected_is_loaded() -> None:
    """The model has one column more then."""
    mdp = garnet(6, 2, 2, 1, False, 0.9)
    env = TabularEnv(mdp, mdp.reward_table())
    agent = hreach.make_agent("pac-rmdp", env, h=2, seed=1, **SPARSE)
    hreach.run(env, agent, 30, seed=1)
    agent.observe(0, 0, 0.0, 3, True)
    agent.plan()
    other = agent.clone(5)
    other.load_state_dict(agent.state_dict())
    one, two = hreach.run(env, agent, 50, seed=5), hreach.run(env, other, 50, seed=5)
    np.testing.assert_array_equal(one.actions, two.actions)
    other.plan()
    assert residual_of(other) <= other.planner.residual + 1e-9


@pytest.mark.parametrize("name", ["link", "queue", "calendar", "heap", "tick"])
def test_a_plan_whose_links_are_forged_is_refused(name: str) -> None:
    """Every number of the links is changed in turn; compiled code would follow them."""
    agent = next(found for seed in range(40) if not (found := lived("bolt", seed, 60, planner=little)).planner.finished)
    saved = agent.planner.state_dict()
    agent.planner.check_state_dict(saved)
    refused = 0
    entries = np.flatnonzero(saved[name]) if name in ("link", "queue", "calendar") else np.arange(2)
    for k in entries[:40]:
        forged = {**saved, name: saved[name].copy()}
        forged[name].flat[k] += 1
        try:
            agent.planner.check_state_dict(forged)
        except InputError:
            refused += 1
    unused = [] if name != "link" else [k for k in entries[:40] if not _used(agent, saved, int(k))]
    assert refused >= len(entries[:40]) - len(unused) > 0


def _used(agent: Any, saved: Any, k: int) -> bool:
    """Whether an entry of `link` is one that a list, or the heap, is made of now."""
    i, column = divmod(k, 8)
    line, numbers = saved["line"][i], saved["number"]
    if column in (4, 5):
        return bool(line[2] > numbers[4])
    if column in (6, 7):
        return bool(line[3] < numbers[5])
    return bool(column == 3 or column == 2 or saved["link"][i, 2] > 0)


def test_what_cannot_be_planned_locally_is_refused_in_one_sentence() -> None:
    env = hreach.make_domain("riverswim")
    with pytest.raises(InputError, match=r"^prior is 1\.0, but must be 0"):
        hreach.make_agent("pac-rmdp", env, h=1, prior=1, **SPARSE)
    with pytest.raises(InputError, match=r"^model is 'Counts', but must be 'sparse-counts'"):
        hreach.make_agent("pac-rmdp", env, h=1, model="counts", planner="local")
    river = TabularEnv(env.mdp(), np.zeros((6, 2, 6)))
    with pytest.raises(InputError, match=r"^reward is 'one for each next state', but .* model='counts' takes it as"):
        hreach.make_agent("pac-rmdp", river, h=1, **SPARSE)
    others: list[tuple[str, dict[str, Any]]] = [
        ("mbie", {"m": 10}),
        ("pac-rmdp", {"h": "adaptive"}),
        ("pac-rmdp", {"h": "lifetime", "lifetime": 100}),
    ]
    for name, params in others:
        with pytest.raises(InputError, match=r"^planner is 'local', but must be 'sweeps'"):
            hreach.make_agent(name, env, **params, **SPARSE)
    with pytest.raises(InputError, match=r"^planner is 'sweeps', but must be 'local'"):
        hreach.make_agent("pac-rmdp", env, h=1, model="sparse-counts", planner="sweeps")


@pytest.mark.parametrize("gamma", [0.9, 0.99, 0.999])
def test_sweeps_end_where_all_is_new_at_once(gamma: float) -> None:
    """A grid whose every pair was tried before the first plan: what constant parts and leaps promise may not be so."""
    mdp = hreach.make_domain("gridworld", rows=20, columns=20, gamma=gamma).mdp()
    env = TabularEnv(mdp, mdp.reward_table())
    agent = hreach.make_agent("greedy", env, tolerance=1e-4 * mdp.values.span, planner=only("sweeps"), **SPARSE_ONLY)
    draw = np.random.default_rng(1)
    for s, a in np.ndindex(mdp.states, mdp.actions):
        for u in draw.random(5):
            following, paid, _ = mdp.drawn(s, a, u)
            agent.observe(s, a, paid, following, False)
    agent.plan()
    assert 0 < agent.planner.lines.tick[SWEPT] < 5
    assert residual_of(agent) <= agent.planner.residual + 1e-9 <= agent.planner.rule.tolerance * (1 + 1e-6)
