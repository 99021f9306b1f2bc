"""The tabular domains: exact tables, what the environments do against what they say, and how they are made."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

import hreach
from hreach import TabularMDP
from hreach.domains.tabular import TabularEnv
from hreach.testing import check_domain

Array = NDArray[np.float64]
NAMES = ["chain", "modified-chain"]


def domain(name: str, **params: Any) -> TabularEnv:
    env = hreach.make_domain(name, **params)
    assert isinstance(env, TabularEnv)
    return env


# --- exact tables ---------------------------------------------------------------------------------------------


def test_the_chain_moves_as_strens_says() -> None:
    forward = [
        [0.2, 0.8, 0.0, 0.0, 0.0],
        [0.2, 0.0, 0.8, 0.0, 0.0],
        [0.2, 0.0, 0.0, 0.8, 0.0],
        [0.2, 0.0, 0.0, 0.0, 0.8],
        [0.2, 0.0, 0.0, 0.0, 0.8],
    ]
    reset = [
        [0.8, 0.2, 0.0, 0.0, 0.0],
        [0.8, 0.0, 0.2, 0.0, 0.0],
        [0.8, 0.0, 0.0, 0.2, 0.0],
        [0.8, 0.0, 0.0, 0.0, 0.2],
        [0.8, 0.0, 0.0, 0.0, 0.2],
    ]
    np.testing.assert_allclose(domain("chain").mdp().transitions(), np.stack([forward, reset], axis=1), atol=1e-15)


def test_the_chain_pays_for_what_happened() -> None:
    paid = np.zeros((5, 2, 5))
    paid[:, :, 0] = 0.2
    paid[4, :, 4] = 1.0
    mdp = domain("chain").mdp()
    possible = mdp.transitions() > 0
    np.testing.assert_array_equal(mdp.reward_table()[possible], paid[possible])
    expected = [[0.04, 0.16]] * 4 + [[0.84, 0.36]]
    np.testing.assert_allclose(mdp.expected_reward, expected, atol=1e-15)


def test_the_modified_chain_moves_as_appendix_a5_says() -> None:
    forward = [
        [0.95, 0.05, 0.0, 0.0, 0.0],
        [0.01, 0.0, 0.99, 0.0, 0.0],
        [0.01, 0.0, 0.0, 0.99, 0.0],
        [0.01, 0.0, 0.0, 0.0, 0.99],
        [0.01, 0.0, 0.0, 0.0, 0.99],
    ]
    reset = [[1.0, 0.0, 0.0, 0.0, 0.0]] * 5
    P = domain("modified-chain").mdp().transitions()
    np.testing.assert_allclose(P, np.stack([forward, reset], axis=1), atol=1e-15)


NOMINAL = np.array([[0.0, 0.2]] * 4 + [[1.0, 0.2]])


def test_the_modified_chain_pays_for_the_action_taken() -> None:
    np.testing.assert_allclose(domain("modified-chain").mdp().expected_reward, NOMINAL, atol=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_walks_start_in_the_first_state_and_gamma_is_the_papers(name: str) -> None:
    env = domain(name)
    np.testing.assert_array_equal(env.mdp().start, [1, 0, 0, 0, 0])
    assert env.reset(seed=3)[0] == 0
    assert env.mdp().gamma == 0.95


@pytest.mark.parametrize("name", NAMES)
def test_the_known_reward_is_the_nominal_one(name: str) -> None:
    known = domain(name).known_reward
    assert known is not None
    np.testing.assert_array_equal(known, NOMINAL)


def test_on_the_chain_the_known_reward_is_not_what_is_paid_on_average() -> None:
    env = domain("chain")
    assert env.known_reward is not None
    np.testing.assert_allclose(env.known_reward - env.mdp().expected_reward, [[-0.04, 0.04]] * 4 + [[0.16, -0.16]])


def test_without_slips_the_chain_pays_its_known_reward() -> None:
    env = domain("chain", slip=0)
    np.testing.assert_array_equal(env.mdp().expected_reward, env.known_reward)


def test_riverswim_moves_as_strehl_and_littman_say() -> None:
    left = [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    ]
    right = [
        [0.7, 0.3, 0.0, 0.0, 0.0, 0.0],
        [0.1, 0.6, 0.3, 0.0, 0.0, 0.0],
        [0.0, 0.1, 0.6, 0.3, 0.0, 0.0],
        [0.0, 0.0, 0.1, 0.6, 0.3, 0.0],
        [0.0, 0.0, 0.0, 0.1, 0.6, 0.3],
        [0.0, 0.0, 0.0, 0.0, 0.7, 0.3],
    ]
    mdp = domain("riverswim").mdp()
    np.testing.assert_allclose(mdp.transitions(), np.stack([left, right], axis=1), atol=1e-15)
    np.testing.assert_array_equal(mdp.start, [0, 0.5, 0.5, 0, 0, 0])
    expected = np.zeros((6, 2))
    expected[0, 0], expected[5, 1] = 5 / 10_000, 0.3
    np.testing.assert_allclose(mdp.expected_reward, expected, atol=1e-15)
    assert mdp.reward_table()[5, 1].tolist() == [0, 0, 0, 0, 0, 1]
    np.testing.assert_array_equal(domain("riverswim").known_reward, mdp.expected_reward)


def test_riverswim_has_osbands_variant() -> None:
    osband = {"forward": 0.35, "back": 0.05, "first": 0.6, "last": 0.6, "small": 0.005, "start": (0,), "pays": "trying"}
    mdp = domain("riverswim", **osband).mdp()
    P = mdp.transitions()
    np.testing.assert_allclose(P[0, 1, :2], [0.4, 0.6])
    np.testing.assert_allclose(P[2, 1, 1:4], [0.05, 0.6, 0.35])
    np.testing.assert_allclose(P[5, 1, 4:], [0.4, 0.6])
    np.testing.assert_allclose(mdp.expected_reward[[0, 5], [0, 1]], [0.005, 1.0])
    np.testing.assert_array_equal(mdp.start, [1, 0, 0, 0, 0, 0])


def test_sixarms_moves_and_pays_as_strehl_and_littman_say() -> None:
    mdp = domain("sixarms").mdp()
    P, R = mdp.transitions(), mdp.reward_table()
    hall = [
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.85, 0.0, 0.15, 0.0, 0.0, 0.0, 0.0],
        [0.9, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0],
        [0.95, 0.0, 0.0, 0.0, 0.05, 0.0, 0.0],
        [0.97, 0.0, 0.0, 0.0, 0.0, 0.03, 0.0],
        [0.99, 0.0, 0.0, 0.0, 0.0, 0.0, 0.01],
    ]
    np.testing.assert_allclose(P[0], hall, atol=1e-15)
    stays = {1: [0, 1, 2, 3, 5], 2: [1], 3: [2], 4: [3], 5: [4], 6: [5]}
    pays = {1: 50, 2: 133, 3: 300, 4: 800, 5: 1660, 6: 6000}
    for room, actions in stays.items():
        for a in range(6):
            assert P[room, a, room if a in actions else 0] == 1
            assert R[room, a] * 6000 == pytest.approx(pays[room] if a in actions else 0)
    assert not R[0].any()
    np.testing.assert_array_equal(mdp.start, np.eye(7)[0])
    np.testing.assert_array_equal(domain("sixarms").known_reward, R)


@pytest.mark.parametrize(("name", "optimum"), [("riverswim", 0.06688), ("sixarms", 1.0)])
def test_what_the_optimal_policy_earns_in_the_long_run(name: str, optimum: float) -> None:
    """RiverSwim: swimming right, .3 / (sum over states of the stationary ratios), by detailed balance."""
    if name == "riverswim":
        weights = np.cumprod([1, 0.3 / 0.1, 3, 3, 3, 0.3 / 0.7])
        optimum = 0.3 * weights[5] / weights.sum()
    mdp = domain(name).mdp()
    assert mdp.average_reward(mdp.optimal_policy()) == pytest.approx(optimum, rel=1e-9)


@pytest.mark.parametrize("name", ["riverswim", "sixarms"])
def test_they_do_what_they_say(name: str) -> None:
    check_domain(domain(name), steps=8000)


def test_a_river_that_flows_otherwise_than_it_says_is_noticed() -> None:
    with pytest.raises(AssertionError, match="disagree"):
        check_domain(Swapped(domain("riverswim", first=0.4), domain("riverswim")), steps=8000)


def test_a_domain_that_ends_where_its_mdp_does_not_is_found_out() -> None:
    P, R = np.full((2, 1, 2), 0.5), np.zeros((2, 1))
    honest, never, always = (TabularEnv(TabularMDP(P, R, 0.9, end=[[0.0], [e]]), R) for e in (0.5, 0.0, 1.0))
    check_domain(honest)
    for says in (never, always):
        with pytest.raises(AssertionError, match=r"which is impossible in \.mdp\(\)"):
            check_domain(Swapped(honest, says))


class Swapped:
    """Steps of one environment, the word of another."""

    def __init__(self, does: TabularEnv, says: TabularEnv) -> None:
        self.reset, self.step, self.unwrapped = does.reset, does.step, says


# --- parameters -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_length_is_the_number_of_states(name: str) -> None:
    env = domain(name, length=7)
    assert env.mdp().states == 7
    assert env.observation_space == gymnasium.spaces.Discrete(7)
    assert env.action_space == gymnasium.spaces.Discrete(2)
    assert env.mdp().transitions()[5, 0, 6] == env.mdp().transitions()[6, 0, 6] > 0.5


def test_slip_is_the_probability_of_the_other_effect() -> None:
    P = domain("chain", slip=0.3).mdp().transitions()
    np.testing.assert_allclose(P[:, 0, 0], 0.3)
    np.testing.assert_allclose(P[:, 1, 0], 0.7)


def test_escape_is_the_probability_of_leaving_the_first_state() -> None:
    P = domain("modified-chain", escape=0.4).mdp().transitions()
    np.testing.assert_allclose(P[0, 0], [0.6, 0.4, 0, 0, 0])
    np.testing.assert_allclose(P[1:, 0], domain("modified-chain").mdp().transitions()[1:, 0])


def test_fall_is_the_probability_of_falling_back() -> None:
    P = domain("modified-chain", fall=0.25).mdp().transitions()
    np.testing.assert_allclose(P[1:, 0, 0], 0.25)
    np.testing.assert_allclose(P[0, 0], [0.95, 0.05, 0, 0, 0])


@pytest.mark.parametrize("name", NAMES)
def test_small_and_large_are_paid_and_told(name: str) -> None:
    env = domain(name, small=0.5, large=3.0)
    assert env.known_reward is not None
    np.testing.assert_array_equal(env.known_reward, [[0, 0.5]] * 4 + [[3, 0.5]])
    assert set(env.mdp().reward) == {0.0, 0.5, 3.0}


@pytest.mark.parametrize("name", NAMES)
def test_gamma_is_the_mdps(name: str) -> None:
    assert domain(name, gamma=0.5).mdp().gamma == 0.5


# --- what the environment does, against what it says ----------------------------------------------------------


def walk(env: TabularEnv, steps: int, seed: int) -> tuple[Array, Array]:
    """Counts of transitions and sums of rewards, (S, A, S), of a walk that mostly goes forward."""
    shape = (env.mdp().states, 2, env.mdp().states)
    count, paid = np.zeros(shape), np.zeros(shape)
    state, _ = env.reset(seed=seed)
    for back in np.random.default_rng([seed, 1]).random(steps) < 0.1:
        following, reward, terminated, truncated, _ = env.step(np.int64(back))
        assert not terminated
        assert not truncated
        count[state, int(back), following] += 1
        paid[state, int(back), following] += reward
        state = following
    return count, paid


def errors_off(count: Array, mdp: TabularMDP) -> float:
    """Largest distance of a transition count from its expectation, in standard deviations."""
    visits, P = count.sum(axis=2, keepdims=True), mdp.transitions()
    possible = (P > 0) & (P < 1)
    assert not count[P == 0].any()
    off = np.abs(count - visits * P) / np.sqrt(np.maximum(visits * P * (1 - P), 1))
    return float(off[possible].max())


@pytest.mark.parametrize("name", NAMES)
def test_steps_follow_the_transition_probabilities(name: str) -> None:
    env = domain(name)
    count, _ = walk(env, steps=30_000, seed=1)
    assert count.sum(axis=2).min() > 30
    assert errors_off(count, env.mdp()) < 4.5


@pytest.mark.parametrize(("name", "wrong"), [("chain", {"slip": 0.23}), ("modified-chain", {"fall": 0.03})])
def test_steps_do_not_pass_for_those_of_a_slightly_different_chain(name: str, wrong: dict[str, float]) -> None:
    count, _ = walk(domain(name), steps=30_000, seed=1)
    assert errors_off(count, domain(name, **wrong).mdp()) > 4.5


@pytest.mark.parametrize("name", NAMES)
def test_each_transition_pays_its_reward(name: str) -> None:
    env = domain(name)
    count, paid = walk(env, steps=5_000, seed=2)
    mdp = env.mdp()
    table = np.broadcast_to(mdp.reward_table().reshape(mdp.states, 2, -1), count.shape)
    np.testing.assert_allclose(paid, count * table, atol=1e-9)


def mean_reward_errors_off(expected: Array) -> float:
    """How far what the chain paid for each pair is from `expected`, in standard errors."""
    env = domain("chain")
    count, paid = walk(env, steps=30_000, seed=4)
    visits, P, R = count.sum(axis=2), env.mdp().transitions(), env.mdp().reward_table()
    variance = (P * R**2).sum(axis=2) - (P * R).sum(axis=2) ** 2
    return float(np.max(np.abs(paid.sum(axis=2) / visits - expected) / np.sqrt(variance / visits)))


def test_the_chain_pays_its_expected_reward_on_average() -> None:
    assert mean_reward_errors_off(domain("chain").mdp().expected_reward) < 4.5


def test_the_chain_does_not_pay_its_known_reward_on_average() -> None:
    assert mean_reward_errors_off(NOMINAL) > 4.5


def trajectory(name: str, seed: int) -> list[tuple[int, float]]:
    env = domain(name)
    env.reset(seed=seed)
    return [(int(s), r) for s, r, *_ in (env.step(np.int64(k % 5 == 0)) for k in range(300))]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_trajectory_and_another_seed_another(name: str) -> None:
    assert trajectory(name, seed=5) == trajectory(name, seed=5)
    assert trajectory(name, seed=5) != trajectory(name, seed=6)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_draws_one_uniform_number_and_takes_the_first_state_whose_cumulative_probability_exceeds_it(
    name: str,
) -> None:
    env = domain(name)
    env.reset(seed=9)
    rng = np.random.Generator(np.random.PCG64(9))
    rng.random()
    state = 0
    for _ in range(200):
        state = int(np.argmax(np.cumsum(env.mdp().transitions()[state, 0]) > rng.random()))
        assert env.step(np.int64(0))[0] == state


def test_a_start_distribution_is_drawn_from() -> None:
    mdp = TabularMDP(np.tile(np.eye(3)[:, None], (1, 1, 1)), np.zeros((3, 1)), 0.9, start=[0.0, 0.25, 0.75])
    env = TabularEnv(mdp, None)
    starts = np.array([env.reset(seed=i)[0] for i in range(2000)])
    assert set(starts) == {1, 2}
    assert abs((starts == 2).mean() - 0.75) < 4.5 * np.sqrt(0.75 * 0.25 / 2000)


@pytest.mark.parametrize("action", [2, -1, 7])
def test_an_action_that_does_not_exist_is_refused(action: int) -> None:
    env = domain("chain")
    env.reset(seed=0)
    with pytest.raises(hreach.InputError, match=rf"^action is .*{action}.*from 0 to 1"):
        env.step(np.int64(action))


# --- Gymnasium ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Chain-v0", "ModifiedChain-v0", "RiverSwim-v0", "SixArms-v0"])
def test_gymnasiums_own_checker_passes(name: str) -> None:
    env = gymnasium.make(f"hreach.domains:hreach/{name}").unwrapped
    assert isinstance(env, TabularEnv)
    check_env(env)


def test_gymnasium_hands_parameters_on() -> None:
    env = gymnasium.make("hreach.domains:hreach/Chain-v0", length=7).unwrapped
    assert isinstance(env, TabularEnv)
    assert env.mdp().states == 7


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(("env_id", "kind"), [("Chain-v0", "Chain"), ("ModifiedChain-v0", "ModifiedChain")])
def test_gymnasium_finds_the_domain_without_an_import_of_hreach(env_id: str, kind: str) -> None:
    code = f"import gymnasium; print(type(gymnasium.make('hreach.domains:hreach/{env_id}').unwrapped).__name__)"
    assert python(code) == kind


@pytest.mark.parametrize("imports", ["import gymnasium, hreach.domains", "import hreach.domains, gymnasium"])
def test_importing_the_domains_registers_them(imports: str) -> None:
    code = f"{imports}; print(gymnasium.make('hreach/Chain-v0').observation_space.n)"
    assert python(code) == "5"


# --- bad input ------------------------------------------------------------------------------------------------

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("chain", {"length": 1}, r"^length is 1, .*whole number of at least 2\.$"),
    ("chain", {"length": 2.5}, r"^length is 2\.5, .*whole number of at least 2\.$"),
    ("modified-chain", {"length": "5"}, r"^length is '5', but must be a number\.$"),
    ("chain", {"slip": -0.1}, r"^slip is -0\.1, .*probability from 0 to 1\.$"),
    ("chain", {"slip": 1.1}, r"^slip is 1\.1, .*probability from 0 to 1\.$"),
    ("modified-chain", {"escape": 2}, r"^escape is 2, .*probability from 0 to 1\.$"),
    ("modified-chain", {"fall": -1}, r"^fall is -1, .*probability from 0 to 1\.$"),
    ("modified-chain", {"fall": np.nan}, r"^fall is nan, but must be a number\.$"),
    ("chain", {"gamma": 1}, r"^gamma is 1, .*below 1\.$"),
    ("modified-chain", {"gamma": -0.5}, r"^gamma is -0\.5, .*below 1\.$"),
    ("riverswim", {"length": 1}, r"^length is 1, .*whole number of at least 2\.$"),
    ("riverswim", {"forward": 1.5}, r"^forward is 1\.5, .*probability from 0 to 1\.$"),
    ("riverswim", {"forward": 0.7, "back": 0.6}, r"^forward \+ back is 1\.2"),
    ("riverswim", {"start": ()}, r"^start is \(\), .*different states from 0 to 5\.$"),
    ("riverswim", {"start": (1, 6)}, r"^start is \(1, 6\), .*different states from 0 to 5\.$"),
    ("riverswim", {"start": "ab"}, r"^start is 'ab', .*different states from 0 to 5\.$"),
    ("riverswim", {"pays": "often"}, r"^pays is 'often', but must be 'staying' or 'trying'\.$"),
    ("riverswim", {"large": np.inf}, r"^large is inf, "),
    ("sixarms", {"chances": (0.5,)}, r"^chances is \(0\.5,\), .*two or more probabilities"),
    ("sixarms", {"chances": (0.5, 2)}, r"^chances is \(0\.5, 2\), .*two or more probabilities"),
    ("sixarms", {"pays": (1, 2)}, r"^pays is \(1, 2\), .*as many numbers as there are chances \(6\)\.$"),
    *[(name, {field: "x"}, rf"^{field} is 'x', ") for name in NAMES for field in ("small", "large")],
    *[(name, {field: np.nan}, rf"^{field} is nan, ") for name in NAMES for field in ("small", "large")],
    *[(name, {field: np.inf}, rf"^{field} is inf, ") for name in NAMES for field in ("small", "large")],
]


@pytest.mark.parametrize(("name", "params", "message"), BAD)
def test_a_bad_parameter_is_refused_by_its_name_and_value(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(hreach.InputError, match=message) as caught:
        hreach.make_domain(name, **params)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("wrong", "right"), [("chian", "chain"), ("modifed-chain", "modified-chain")])
def test_an_unknown_domain_is_answered_with_the_nearest_name(wrong: str, right: str) -> None:
    with pytest.raises(hreach.InputError, match=f"domain is '{wrong}', .*did you mean '{right}'"):
        hreach.make_domain(wrong)


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [("chain", "lenght", "length"), ("chain", "slp", "slip"), ("modified-chain", "escpae", "escape")],
)
def test_an_unknown_parameter_is_answered_with_the_nearest_one(name: str, wrong: str, right: str) -> None:
    message = f"parameter of domain '{name}' is '{wrong}', .*did you mean '{right}'"
    with pytest.raises(hreach.InputError, match=message):
        hreach.make_domain(name, **{wrong: 1})
