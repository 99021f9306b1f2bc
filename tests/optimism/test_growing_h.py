"""h = "growing" and h = "adaptive": what h is at each time, that runs go on from a saved state, and what they earn."""

from __future__ import annotations

import functools
import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

import hreach
from hreach.models.features import from_settings
from hreach.models.linear import LinearModel
from hreach.optimism.schedules import growing
from hreach.optimism.tabular import TabularOptimism
from hreach.reach.interval import Interval
from hreach.reach.weight import reach_formula
from hreach.testing import check_agent

Array = NDArray[np.float64]
FOUR = ("chain", "modified-chain", "riverswim", "sixarms")


def living(domain: str, steps: int, **params: Any) -> Any:
    """An agent after so many steps, which has planned with all that it saw."""
    env = hreach.make_domain(domain)
    agent = hreach.make_agent("pac-rmdp", env, seed=3, **params)
    hreach.run(env, agent, steps, seed=4)
    agent.plan()
    return agent


# --- what h is ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("c", "given"), [(0.5, {}), (2.0, {"c": 2})])
def test_a_growing_h_is_c_ln_t_to_one_percent_of_c(c: float, given: dict[str, Any]) -> None:
    env = hreach.make_domain("riverswim")
    agent = hreach.make_agent("pac-rmdp", env, h="growing", **given)
    state, _ = env.reset(seed=1)
    for t in range(600):
        action = agent.act(state)
        h = agent.planner.table.constants[..., 0]
        assert h.min() == h.max()
        assert -1e-12 <= c * math.log(t + 2) - h[0, 0] <= 0.01 * c
        following, reward, *_ = env.step(action)
        agent.observe(state, action, reward, following)
        state = following


def test_it_is_exact_as_long_as_one_percent_is_less_than_a_step() -> None:
    for steps in (1, 50, 97):
        assert living("chain", steps, h="growing").planner.table.constants[0, 0, 0] == pytest.approx(
            0.5 * math.log(steps + 2)
        )


def test_every_pair_is_judged_with_the_h_of_now() -> None:
    agent = living("sixarms", 700, h="growing", c=1)
    b, n = agent.planner.table, agent.model.seen.total
    h = b.constants[0, 0, 0]
    np.testing.assert_allclose(b.reach[: n.size], (h / (n + h)).reshape(-1), rtol=1e-12)
    w = b.reach[: n.size].reshape(n.shape)
    model = agent.model.seen.counts / n[..., None]
    best = b.value.max()
    reward = agent.model.problem.reward[..., 0]
    q = reward + 0.95 * ((1 - w) * (model @ b.value) + w * best)  # Eq. (1), with h_t
    np.testing.assert_allclose(b.value, q.max(axis=1), atol=0.02)


def certainty_equivalent_values(agent: Any) -> tuple[Array, Array]:
    """V, Q of the mean model, exactly."""
    mdp = hreach.TabularMDP(
        agent.model.seen.counts / agent.model.seen.counts.sum(axis=2, keepdims=True),
        agent.model.problem.reward[..., 0],
        agent.model.problem.gamma,
    )
    return mdp.optimal_value(), mdp.backup(mdp.optimal_value())


def share(V: Array, Q: Array, lowest: float) -> Array:
    """min(1, [(1 - gamma) (V - lowest) / (V - Q)]^2) for gamma = .95, (S, A)."""
    step, cost = 0.05 * (V - lowest)[:, None], V[:, None] - Q
    return np.minimum(1, (step / np.maximum(cost, step)) ** 2)


@pytest.mark.parametrize("domain", FOUR)
def test_an_adaptive_h_is_what_its_formula_says(domain: str) -> None:
    """Until t = 97 it is brought up to date at every step."""
    agent = living(domain, 90, h="adaptive", tolerance=1e-6)
    V, Q = certainty_equivalent_values(agent)
    expected = 2 * math.log(92) * share(V, Q, lowest=0.0)
    assert expected.min() < expected.max()
    np.testing.assert_allclose(agent.planner.table.constants[..., 0], expected, rtol=2e-3)
    assert agent.planner.table.constants.min() >= 2 * math.log(92) * 0.05**2 * (1 - 1e-9)


def test_a_reward_that_is_lower_everywhere_does_not_change_an_adaptive_agent() -> None:
    """Values count from the lowest: -1 everywhere is 0 everywhere, for what h is made of."""
    env = hreach.make_domain("chain")
    one, other = (
        hreach.make_agent("pac-rmdp", env, h="adaptive", reward=env.known_reward - shift, tolerance=1e-7)
        for shift in (1.0, 1.0 - 1e-9)
    )
    for agent in (one, other):
        agent.plan()
    np.testing.assert_allclose(one.planner.table.constants, other.planner.table.constants, rtol=1e-3)
    V, Q = certainty_equivalent_values(one)
    expected = 2 * math.log(2) * share(V, Q, lowest=-1.0 / 0.05)
    np.testing.assert_allclose(one.planner.table.constants[..., 0], expected, rtol=1e-3)


# --- the four verbs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{"h": "growing"}, {"h": "growing", "c": 3, "prior": 0}, {"h": "adaptive"}])
@pytest.mark.parametrize("steps", [40, 350])  # every step brings h up to date, and not every step does
def test_a_growing_agent_keeps_its_promises_and_goes_on_from_a_saved_state(params: dict[str, Any], steps: int) -> None:
    env = hreach.make_domain("sixarms")
    check_agent(lambda env, seed: hreach.make_agent("pac-rmdp", env, seed=seed, **params), env, steps=steps)


def test_what_an_agent_expects_depends_on_its_clock() -> None:
    """The twin of the test above: the same experience with an earlier clock makes another agent."""
    agent = living("sixarms", 350, h="growing", c=3)
    before = agent.planner.table.reach[0]
    agent.model.seen.samples[0], agent.planner.table.due[0] = 1.0, 0.0
    agent.plan()
    assert agent.planner.table.reach[0] < 0.5 * before


def test_an_agent_of_fixed_h_refuses_the_state_of_a_growing_one_and_the_other_way_round() -> None:
    env = hreach.make_domain("chain")
    grows, fixed = (hreach.make_agent("pac-rmdp", env, h=h) for h in ("growing", 3))
    with pytest.raises(hreach.InputError, match=r"^h of the saved agent is None, but must be this agent's, 3\.0\.$"):
        fixed.load_state_dict(grows.state_dict())
    with pytest.raises(hreach.InputError, match=r"^state_dict has no 'planner\.constants'"):
        grows.load_state_dict(fixed.state_dict())


@pytest.mark.parametrize("h", ["growing", "adaptive"])
def test_a_terminal_state_stays_worth_nothing_while_h_grows(h: str) -> None:
    env = gymnasium.make("hreach/Chain-v0")
    agent = hreach.make_agent("pac-rmdp", env, h=h)
    agent.observe(3, 0, 0.0, 4, terminated=True)
    for _ in range(300):
        agent.observe(0, 1, 0.2, 0)
    assert agent.internal_value()[4] == 0.0
    assert agent.internal_value()[0] > 0.0
    assert (agent.action_values()[4] == 0.0).all()


def test_a_formula_whose_constants_grow_cannot_freeze_pairs() -> None:
    with pytest.raises(hreach.InputError, match=r"^freeze_at is 5"):
        TabularOptimism(reach_formula, {"c": 1.0}, "given", freeze_at=5.0, schedule=growing)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"h": "growing", "c": 0}, r"^c is 0, but must be a finite number above 0\.$"),
        ({"h": "growing", "c": np.inf}, "^c is inf, "),
        ({"h": "growing", "c": "x"}, "^c is 'x', but must be a number"),
        ({"h": 8, "c": 1.0}, r"^c is 1\.0, but must be left out unless h is 'growing'\.$"),
        ({"h": "adaptive", "c": 1.0}, r"^c is 1\.0, but must be left out unless h is 'growing'\.$"),
        ({"h": "growin"}, "^h is 'growin', "),
    ],
)
def test_bad_parameters_get_one_sentence(params: dict[str, Any], message: str) -> None:
    with pytest.raises(hreach.InputError, match=message) as caught:
        hreach.make_agent("pac-rmdp", hreach.make_domain("chain"), **params)
    assert "\n" not in str(caught.value)


# --- what it earns --------------------------------------------------------------------------------------------

RUNS, STEPS = 200, 10_000
FIXED = (0, 0.5, 1, 4, 8, 16, 64, 128)


@functools.cache
def averages(domain: str, h: float | str, c: float | None = None) -> Array:
    params = {"h": h} if c is None else {"h": h, "c": c}
    return hreach.simulate(domain, "pac-rmdp", params, runs=RUNS, steps=STEPS, seed=7, threads=1).average_reward


def loss_interval(domain: str, h: float | str, c: float | None = None) -> tuple[float, float]:
    """1 - average / average of the best fixed h, less and more two standard errors; runs of the same seed are pairs."""
    best = max((averages(domain, fixed) for fixed in FIXED), key=lambda a: float(a.mean()))
    own = averages(domain, h, c)
    ratio = float(own.mean() / best.mean())
    error = float(np.std(own - ratio * best, ddof=1) / best.mean()) / math.sqrt(RUNS)
    return 1 - ratio - 2 * error, 1 - ratio + 2 * error


@pytest.mark.parametrize("domain", FOUR[:3])
def test_growing_is_within_five_percent_of_the_best_fixed_h(domain: str) -> None:
    assert loss_interval(domain, "growing")[1] < 0.05


@pytest.mark.parametrize("domain", FOUR)
def test_adaptive_cannot_be_told_from_five_percent_or_is_within_on_all_four(domain: str) -> None:
    """On SixArms it is too near to 5 % for so few runs: benchmarks/GROWING_H.md."""
    assert loss_interval(domain, "adaptive")[domain != "sixarms"] < 0.05


@pytest.mark.parametrize(
    ("domain", "h", "c"),
    [
        ("modified-chain", 1, None),
        ("riverswim", 16, None),
        ("sixarms", 1, None),
        ("sixarms", "growing", None),
        ("riverswim", "growing", 5.0),
    ],
)
def test_an_h_that_does_not_fit_is_clearly_not_within_five_percent(domain: str, h: Any, c: float | None) -> None:
    assert loss_interval(domain, h, c)[0] > 0.05


def stuck(domain: str, runs: int, **params: Any) -> float:
    """The share of runs that earn less than half of the optimum in the last tenth of 100,000 steps."""
    mdp = hreach.make_domain(domain).mdp()
    optimum = mdp.average_reward(mdp.optimal_policy())
    reward = hreach.simulate(domain, "pac-rmdp", params, runs=runs, steps=100_000, seed=9, threads=1).reward
    return float((reward[:, 90_000:].mean(axis=1) < optimum / 2).mean())


@pytest.mark.parametrize("domain", FOUR)
def test_growing_does_not_stay_stuck(domain: str) -> None:
    assert stuck(domain, 100, h="growing", c=1) < 0.02


@pytest.mark.parametrize("domain", ["modified-chain", "sixarms"])
def test_a_small_fixed_h_does(domain: str) -> None:
    assert stuck(domain, 40, h=1) > 0.5


# --- linear ---------------------------------------------------------------------------------------------------


def linear_model(samples: int) -> LinearModel:
    rng = np.random.default_rng(1)
    model = LinearModel(from_settings(hreach.make_domain("mountain-car").preset().features, 2, 3, 0), 2)
    if samples:
        model.update(rng.uniform(-0.05, 0.05, (samples, 2)), rng.integers(3, size=samples), rng.random((samples, 2)))
    return model


@pytest.mark.parametrize("kind", ["exact", "paper"])
@pytest.mark.parametrize("samples", [0, 1, 40])
def test_a_growing_interval_is_that_of_h_t(kind: Any, samples: int) -> None:
    model = linear_model(samples)
    states, actions = np.array([[-0.5, 0.01], [0.1, -0.03]]), np.array([0, 2])
    grows = Interval(kind, "growing", 0.1, Delta=0.5, c=2)
    fixed = Interval(kind, 2 * math.log(samples + 2), 0.1, Delta=0.5)
    np.testing.assert_array_equal(grows(model, states, actions, 7), fixed(model, states, actions, 7))
    default = Interval(kind, "growing", 0.1, Delta=0.5)(model, states, actions, 7)
    half = Interval(kind, 0.5 * math.log(samples + 2), 0.1, Delta=0.5)(model, states, actions, 7)
    np.testing.assert_array_equal(default, half)


def test_a_linear_agent_with_a_growing_h_goes_on_from_a_saved_state() -> None:
    car = hreach.make_domain("mountain-car", max_steps=60)
    check_agent(
        lambda env, seed: hreach.make_agent("linear-pac-rmdp", env, h="growing", grid=(10, 9), seed=seed),
        car,
        steps=120,
    )


def test_a_linear_growing_agent_begins_as_one_of_fixed_h_and_is_then_more_optimistic() -> None:
    car = hreach.make_domain("mountain-car", max_steps=60)
    c = 1 / math.log(2)
    grows, fixed = (
        hreach.make_agent("linear-pac-rmdp", car, grid=(10, 9), slope=1.0, **p)
        for p in ({"h": "growing", "c": c}, {"h": 1})
    )
    states = np.array([[-0.5, 0.0], [0.2, 0.03]])
    bonus = [a.optimism.bonus(a.model.linear, states, np.array([0, 1]), 5, 1.0) for a in (grows, fixed)]
    np.testing.assert_allclose(*bonus)
    rng = np.random.default_rng(0)
    for agent in (grows, fixed):
        agent.model.linear.update(rng.uniform(-0.05, 0.05, (50, 2)), rng.integers(3, size=50), rng.random((50, 2)))
    rng = np.random.default_rng(0)
    twice = [a.optimism.bonus(grows.model.linear, states, np.array([0, 1]), 5, 1.0) for a in (grows, fixed)]
    assert (twice[0] > twice[1]).all()


@pytest.mark.parametrize(("h", "c"), [(1, 2.0), ("growing", -1.0)])
def test_bad_linear_parameters_get_one_sentence(h: Any, c: float) -> None:
    with pytest.raises(hreach.InputError, match=r"^c is "):
        hreach.make_agent("linear-pac-rmdp", hreach.make_domain("mountain-car"), h=h, c=c)
