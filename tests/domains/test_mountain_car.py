"""The mountain car against its formulas written down again, its noise, and what Gymnasium expects."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

import hreach
from hreach.domains.mountain_car import MountainCar

Array = NDArray[np.float64]


def expected_step(x: float, v: float, action: int, noise: float = 0.0) -> tuple[float, float]:
    """Sutton and Barto (1998), section 8.4, one state at a time."""
    v = v + 0.001 * (-1, 0, 1)[action] - 0.0025 * math.cos(3 * x) + noise
    v = max(-0.07, min(0.07, v))
    x = x + v
    if x <= -1.2:
        return -1.2, 0.0
    return min(x, 0.6), v


def states(n: int, seed: int) -> Array:
    low, high = MountainCar().bounds
    return np.random.default_rng(seed).uniform(low, high, (n, 2))


def test_the_noise_free_step_is_suttons() -> None:
    s, a = states(3000, 1), np.random.default_rng(2).integers(3, size=3000)
    expected = [expected_step(x, v, k) for (x, v), k in zip(s.tolist(), a.tolist(), strict=True)]
    np.testing.assert_allclose(MountainCar().noise_free_step(s, a), expected, rtol=0, atol=1e-15)


def test_some_of_those_steps_met_every_bound() -> None:
    after = MountainCar().noise_free_step(states(3000, 1), np.random.default_rng(2).integers(3, size=3000))
    for column, bound in ((0, -1.2), (0, 0.6), (1, -0.07), (1, 0.07)):
        assert (after[:, column] == bound).any()


def test_the_wall_takes_the_speed() -> None:
    np.testing.assert_array_equal(MountainCar().noise_free_step([[-1.19, -0.05]], [0]), [[-1.2, 0.0]])


def test_step_without_noise_is_the_noise_free_step_and_pays_the_known_reward() -> None:
    env = MountainCar(noise=0)
    rng = np.random.default_rng(3)
    for s in states(300, 4):
        if s[0] >= env.goal:
            continue
        a = int(rng.integers(3))
        env.reset(options={"state": s})
        after, reward, terminated, truncated, info = env.step(np.int64(a))
        np.testing.assert_allclose(after, env.noise_free_step(s[None], [a])[0], atol=1e-15)
        assert reward == env.known_reward(s[None], [a], after[None])[0]
        assert terminated == env.is_terminal(after[None])[0]
        assert not truncated
        assert info == {}


def test_the_noise_is_added_to_the_velocity_before_clipping() -> None:
    env = MountainCar(noise=0.02)  # so much that clipping and the wall are met
    env.reset(seed=7)
    draws = np.random.Generator(np.random.PCG64(7))
    x, v = -0.5, 0.0
    for k in range(500):
        x, v = expected_step(x, v, k % 3, 0.02 * draws.standard_normal())
        after, _, terminated, _, _ = env.step(np.int64(k % 3))
        np.testing.assert_allclose(after, [x, v], atol=1e-12)
        if terminated:
            x, v = -0.5, 0.0
            env.reset()


def noise_off(claimed: float) -> float:
    """How far the spread of 4000 velocities is from standard deviation `claimed`, in standard errors."""
    env = MountainCar()
    env.reset(seed=11)
    kicks = []
    for _ in range(4000):
        env.reset()
        kicks.append(env.step(np.int64(1))[0][1] + 0.0025 * math.cos(-1.5))
    kicks_ = np.array(kicks)
    assert abs(kicks_.mean()) < 4.5 * 0.001 / math.sqrt(4000)
    return abs(float(kicks_.std()) / claimed - 1) * math.sqrt(2 * 4000)


def test_the_noise_has_the_standard_deviation_of_appendix_a7() -> None:
    assert noise_off(0.001) < 4.5


@pytest.mark.parametrize("wrong", [0.00108, 0.00092])
def test_the_noise_does_not_pass_for_another_one(wrong: float) -> None:
    assert noise_off(wrong) > 4.5


def test_the_reward_is_paid_for_where_the_step_ends() -> None:
    x = np.array([-1.2, -0.601, -0.6, -0.5, -0.4, -0.399, 0.499, 0.5, 0.6])
    after = np.stack([x, np.zeros(9)], axis=1)
    before = np.tile([0.55, 0.0], (9, 1))  # would all be goals, if it were the state before
    expected = [-1, -1, -0.9, -0.9, -0.9, -1, -1, 0, 0]
    np.testing.assert_array_equal(MountainCar().known_reward(before, np.zeros(9), after), expected)
    np.testing.assert_array_equal(MountainCar().is_terminal(after), x >= 0.5)


def swing(env: MountainCar, seed: int) -> tuple[Array, list[float], bool, bool]:
    """Pushing the way the car moves gets it out of the valley."""
    s, _ = env.reset(seed=seed)
    path, rewards = [s], []
    while True:
        s, reward, terminated, truncated, _ = env.step(np.int64(2 if s[1] >= 0 else 0))
        path.append(s)
        rewards.append(reward)
        if terminated or truncated:
            return np.array(path), rewards, terminated, truncated


def test_swinging_reaches_the_goal_and_the_last_step_is_free() -> None:
    path, rewards, terminated, truncated = swing(MountainCar(), seed=1)
    assert terminated
    assert not truncated
    assert 90 < len(rewards) < 250
    assert path[-1][0] >= 0.5
    assert (path[:-1, 0] < 0.5).all()
    assert rewards[-1] == 0
    assert set(rewards[:-1]) == {-0.9, -1.0}


def test_pushing_right_never_gets_out_and_is_truncated_after_2000_steps() -> None:
    env = MountainCar(noise=0)
    env.reset(seed=0)
    ends = [env.step(np.int64(2))[2:4] for _ in range(2000)]
    assert ends == [(False, False)] * 1999 + [(False, True)]


def test_the_same_seed_gives_the_same_trajectory_and_another_seed_another() -> None:
    first, again, other = (swing(MountainCar(), seed)[0] for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first[:20], other[:20])


def test_parameters_are_used() -> None:
    env = MountainCar(
        noise=0, start=(-0.3, 0.01), cheap_zone=(-0.35, -0.25), cheap_cost=3, cost=5, goal=0.4,
        position_bounds=(-1.0, 0.45), speed_limit=0.05, power=0.002, gravity=0.003, max_steps=1, gamma=0.9,
    )  # fmt: skip
    np.testing.assert_array_equal(env.bounds, [[-1.0, -0.05], [0.45, 0.05]])
    assert env.gamma == 0.9
    np.testing.assert_array_equal(env.reset(seed=0)[0], [-0.3, 0.01])
    after, reward, _, truncated, _ = env.step(np.int64(2))
    v = 0.01 + 0.002 - 0.003 * math.cos(-0.9)
    np.testing.assert_allclose(after, [-0.3 + v, v])
    assert reward == -3
    assert truncated
    np.testing.assert_array_equal(env.known_reward([[0.0, 0.0]] * 2, [0, 0], [[0.0, 0.0], [0.42, 0.0]]), [-5, 0])


def test_what_agents_are_told() -> None:
    env = hreach.make_domain("mountain-car")
    assert (env.actions, env.gamma, env.state_names) == (3, 0.99, ("position", "velocity"))
    np.testing.assert_array_equal(env.bounds, [[-1.2, -0.07], [0.6, 0.07]])
    assert env.observation_space.dtype == np.float64


def test_gymnasiums_own_checker_passes() -> None:
    env = gymnasium.make("hreach.domains:hreach/MountainCar-v0", render_mode="rgb_array").unwrapped
    assert isinstance(env, MountainCar)
    check_env(env)


def test_the_picture_shows_the_car_where_it_is() -> None:
    env = MountainCar(render_mode="rgb_array")
    env.reset(options={"state": (-0.9, 0.0)})
    left = env.render()
    env.reset(options={"state": (0.2, 0.0)})
    right = env.render()
    assert left is not None
    assert right is not None
    assert left.shape == right.shape == (400, 600, 3)
    assert left.dtype == np.uint8
    blue = [np.argwhere((np.abs(p - np.array([0, 114, 178])) < 12).all(axis=2))[:, 1].mean() for p in (left, right)]
    np.testing.assert_allclose(blue, [0.3 / 1.8 * 600, 1.4 / 1.8 * 600], atol=15)
    assert MountainCar().render() is None


BAD: list[tuple[dict[str, Any], str]] = [
    ({"noise": -0.1}, r"^noise is -0\.1, but must be a finite number of at least 0\.$"),
    ({"noise": math.inf}, r"^noise is inf, "),
    ({"start": (-0.5,)}, r"^start is \(-0\.5,\), but must be two numbers\.$"),
    ({"start": (0.5, 0.0)}, r"^start is \(0\.5, 0\.0\), .* below 0\.5 "),
    ({"start": (-0.5, 0.1)}, r"^start is .* \|v\| at most 0\.07\.$"),
    ({"cheap_zone": (-0.4, -0.6)}, r"^cheap_zone is \(-0\.4, -0\.6\), .* the first below the second\.$"),
    ({"cheap_zone": "ab"}, r"^cheap_zone is 'ab', "),
    ({"cheap_cost": math.nan}, r"^cheap_cost is nan, "),
    ({"cost": math.inf}, r"^cost is inf, "),
    ({"goal": 0.7}, r"^goal is 0\.7, but must be above -1\.2 and at most 0\.6\.$"),
    ({"position_bounds": (0.6, -1.2)}, r"^position_bounds is \(0\.6, -1\.2\), "),
    ({"speed_limit": 0}, r"^speed_limit is 0, "),
    ({"power": -1}, r"^power is -1, "),
    ({"gravity": "x"}, r"^gravity is 'x', "),
    ({"max_steps": 0}, r"^max_steps is 0, "),
    ({"gamma": 1}, r"^gamma is 1, "),
    ({"render_mode": "human"}, r"^render_mode is 'human', .*rgb_array"),
]


@pytest.mark.parametrize(("params", "message"), BAD)
def test_a_bad_parameter_is_refused_by_its_name_and_value(params: dict[str, Any], message: str) -> None:
    with pytest.raises(hreach.InputError, match=message) as caught:
        MountainCar(**params)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("action", [3, -1])
def test_an_action_that_does_not_exist_is_refused(action: int) -> None:
    env = MountainCar()
    env.reset(seed=0)
    with pytest.raises(hreach.InputError, match=rf"^action is .*{action}.*from 0 to 2\.$"):
        env.step(np.int64(action))


def test_a_start_outside_the_valley_is_refused() -> None:
    with pytest.raises(hreach.InputError, match=r"^options\['state'\] is \(-2, 0\), "):
        MountainCar().reset(options={"state": (-2, 0)})
