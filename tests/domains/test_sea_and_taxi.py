"""Deep sea against its rules step by step, the taxi against Gymnasium's own table, a long river, and their pictures."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.toy_text.taxi import TaxiEnv
from gymnasium.utils.env_checker import check_env

import hreach
from hreach.domains.deep_sea import DeepSea
from hreach.domains.riverswim import RiverSwim
from hreach.domains.taxi import STATES, Taxi, parts
from hreach.problems.saving import why_not_saved
from hreach.testing import check_domain


def dived(size: int, rightward: np.ndarray, stochastic: bool) -> hreach.TabularMDP:
    """The rules of the deep sea, one cell and one action at a time."""
    P, R = np.zeros((size * size, 2, size * size)), np.zeros((size * size, 2))
    end = np.zeros((size * size, 2))
    for row in range(size):
        for column in range(size):
            s = row * size + column
            for a in range(2):
                right = a == rightward[s]
                R[s, a] = -0.01 / size * right + (right and column == row == size - 1)
                if row == size - 1:
                    P[s, a, s], end[s, a] = 1, 1
                elif right:
                    fails = 1 / size if stochastic else 0
                    P[s, a, s + size] += fails
                    P[s, a, (row + 1) * size + min(column + 1, size - 1)] += 1 - fails
                else:
                    P[s, a, (row + 1) * size + max(column - 1, 0)] = 1
    return hreach.TabularMDP(P, R, 0.99, end=end)


@pytest.mark.parametrize("stochastic", [False, True])
@pytest.mark.parametrize("size", [2, 5])
def test_the_deep_sea_goes_by_its_rules(size: int, stochastic: bool) -> None:
    env = DeepSea(size=size, seed=3, stochastic=stochastic)
    rightward = np.random.default_rng(3).integers(2, size=size * size)
    mdp, rules = env.mdp(), dived(size, rightward, stochastic)
    np.testing.assert_allclose(mdp.transitions(), rules.transitions(), atol=1e-15)
    np.testing.assert_allclose(mdp.reward_table(), rules.reward_table(), atol=1e-15)
    np.testing.assert_array_equal(mdp.ending_chance, rules.ending_chance)
    np.testing.assert_array_equal(mdp.start, rules.start)


def test_one_policy_in_many_finds_the_treasure() -> None:
    """Of the 2^N sequences of actions from the start, one earns 1 - cost; what it is worth is in closed form."""
    size, gamma = 6, 0.9
    env = DeepSea(size=size, seed=1, gamma=gamma)
    earned = []
    for code in range(2**size):
        env.reset(seed=0)
        earned.append(sum(float(env.step(np.int64(code >> i & 1))[1]) for i in range(size)))
    assert sorted(earned)[-1] == pytest.approx(1 - 0.01)
    assert sorted(earned)[-2] <= 0
    costs = 0.01 / size * (1 - gamma**size) / (1 - gamma)
    assert env.mdp().optimal_value()[0] == pytest.approx(gamma ** (size - 1) - costs)
    assert env.step(np.int64(0))[2]


def test_without_flipping_action_1_goes_to_the_right() -> None:
    plain, flipped = DeepSea(size=8, flip=False).mdp(), DeepSea(size=8).mdp()
    assert (plain.expected_reward[:-1, 0] == 0).all()
    assert (plain.expected_reward[:-1, 1] < 0).all()
    assert 0 < (flipped.expected_reward[:, 0] != 0).mean() < 1


@pytest.mark.parametrize(("slip", "rainy"), [(0.0, False), (0.2, True), (0.5, True)])
def test_the_taxi_is_gymnasiums(slip: float, rainy: bool) -> None:
    theirs = TaxiEnv(is_rainy=rainy, rainy_probability=1 - slip)
    P, R, end = np.zeros((STATES, 6, STATES)), np.zeros((STATES, 6)), np.zeros((STATES, 6))
    for s, rows in theirs.P.items():
        for a, row in rows.items():
            for chance, following, reward, over in row:
                P[s, a, following] += chance
                R[s, a], end[s, a] = reward, over
    mdp = Taxi(slip=slip).mdp()
    np.testing.assert_allclose(mdp.transitions(), P, atol=1e-12)
    np.testing.assert_array_equal(mdp.reward_table(), R)
    np.testing.assert_array_equal(mdp.ending_chance, end)
    np.testing.assert_allclose(mdp.start, theirs.initial_state_distrib, atol=1e-15)


def test_the_taxis_states_are_gymnasiums() -> None:
    place, passenger, destination = parts(np.arange(STATES))
    codes = [list(TaxiEnv().decode(s)) for s in range(STATES)]
    np.testing.assert_array_equal(np.stack([place // 5, place % 5, passenger, destination], axis=1), codes)


def test_a_long_river_has_the_same_rows_as_a_short_one_inside() -> None:
    mdp, short = RiverSwim(length=200_000).mdp(), RiverSwim().mdp()
    pair = 2 * 123_456 + 1
    entries = slice(mdp.indptr[pair], mdp.indptr[pair + 1])
    assert mdp.next_state[entries].tolist() == [123_455, 123_456, 123_457]
    np.testing.assert_array_equal(mdp.probability[entries], short.transitions()[3, 1, 2:5])
    np.testing.assert_array_equal(mdp.expected_reward[[0, 1, -1]], short.expected_reward[[0, 1, -1]])
    assert mdp.reward.nonzero()[0].size == 2


NEW = ["DeepSea-v0", "Taxi-v0", "RiverSwim-v0"]


@pytest.mark.parametrize("name", NEW)
def test_gymnasium_makes_and_draws_them(name: str) -> None:
    env = gymnasium.make(f"hreach.domains:hreach/{name}", render_mode="rgb_array").unwrapped
    check_env(env)
    assert isinstance(env, DeepSea | Taxi | RiverSwim)
    env.reset(seed=1)
    before = env.render()
    env.step(np.int64(0))
    after = env.render()
    assert before is not None
    assert after is not None
    assert before.shape == after.shape
    assert (before != after).any()


def test_the_taxi_shows_who_rides() -> None:
    """The same place, passenger waiting, riding, and another destination: three pictures."""
    from hreach.drawing.canvas import pixels

    state = (7 * 5) * 4 + 1
    waits, rides, other = (pixels(Taxi().figure(s)) for s in (state, state + 16, state + 1))
    assert (waits != rides).any()
    assert (waits != other).any()


@pytest.mark.parametrize("env", [DeepSea(size=4, stochastic=True), Taxi(slip=0.2), RiverSwim(length=4)])
def test_they_do_what_they_say(env: DeepSea | Taxi | RiverSwim) -> None:
    assert why_not_saved(env) is None
    check_domain(env, steps=8000)


BAD = [
    ("deep-sea", {"size": 1}, r"^size is 1, but must be a whole number of at least 2\.$"),
    ("deep-sea", {"flip": 1}, r"^flip is 1, but must be True or False\.$"),
    ("deep-sea", {"stochastic": "yes"}, r"^stochastic is 'yes', but must be True or False\.$"),
    ("deep-sea", {"seed": -1}, r"^seed is -1, but must be a whole number of at least 0\.$"),
    ("deep-sea", {"size": 10**6}, r"^a deep sea of 1000000 x 1000000 cells .* needs .* GiB of memory"),
    ("taxi", {"slip": 1.1}, r"^slip is 1\.1, but must be a probability from 0 to 1\.$"),
    ("taxi", {"render_mode": "ansi"}, r"^render_mode is 'ansi', but must be None or one of"),
    ("riverswim", {"length": 10**12}, r"^a river of 1000000000000 states .* needs .* GiB of memory"),
]


@pytest.mark.parametrize(("name", "params", "message"), BAD)
def test_a_bad_parameter_is_refused_in_one_sentence(name: str, params: dict[str, object], message: str) -> None:
    with pytest.raises(hreach.InputError, match=message) as caught:
        hreach.make_domain(name, **params)
    assert "\n" not in str(caught.value)
