"""The HIV patient: the integrator against SciPy's, published numbers, noise, and what Gymnasium expects."""

from __future__ import annotations

import itertools
import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray
from scipy.integrate import odeint, solve_ivp

import hreach
from hreach.domains import hiv_dynamics
from hreach.domains.hiv import HIV, observed
from hreach.domains.hiv_dynamics import TOLERANCE, derivative, integrate, simulate

Array = NDArray[np.float64]

ROUNDED = (163573.0, 11945.0, 5.0, 46.0, 63919.0, 24.0)
TREATMENTS = ((0.0, 0.0), (0.7, 0.0), (0.0, 0.3), (0.7, 0.3))
CONSTANTS = HIV().parameters
# The valid box: T1, T1*, T2, T2*, V, E.
LOW = np.array([1e2, 1e-2, 1e-2, 1e-3, 1e-3, 1e0])
HIGH = np.array([1.2e6, 1e5, 4e3, 1e3, 1e7, 1e6])


def slope(t: float, x: Array, e1: float, e2: float) -> list[float]:
    """Adams et al. (2004), with the numbers put in, written without a look at the library."""
    T1, T1s, T2, T2s, V, E = x.tolist()
    infected = T1s + T2s
    k1, k2 = (1 - e1) * 8e-7, (1 - 0.34 * e1) * 1e-4
    return [
        10000 - 0.01 * T1 - k1 * V * T1,
        k1 * V * T1 - 0.7 * T1s - 1e-5 * E * T1s,
        31.98 - 0.01 * T2 - k2 * V * T2,
        k2 * V * T2 - 0.7 * T2s - 1e-5 * E * T2s,
        (1 - e2) * 100 * 0.7 * infected - 13 * V - (k1 * T1 + k2 * T2) * V,
        1 + 0.3 * infected / (infected + 100) * E - 0.25 * infected / (infected + 500) * E - 0.1 * E,
    ]


def box(n: int, seed: int) -> Array:
    """Log-uniform states of the valid box."""
    return np.asarray(np.exp(np.random.default_rng(seed).uniform(np.log(LOW), np.log(HIGH), (n, 6))))


def worst(got: Array, truth: Array) -> float:
    """The largest error in units of what is promised: relative 1e-5, or 1e-8 where less than 1e-6 is left."""
    got = np.where(np.isfinite(got), got, np.inf)
    error = np.where(truth < 1e-6, np.abs(got - truth) / 1e-8, np.abs(got - truth) / (1e-5 * np.abs(truth)))
    return float(error.max())


# --- the integrator -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def references() -> tuple[Array, dict[tuple[float, float], Array]]:
    """160 states and what LSODA makes of them in 5 days under each treatment."""
    x = box(160, seed=1)
    options = {"rtol": 1e-11, "atol": 1e-15, "tfirst": True, "mxstep": 100_000}
    return x, {e: np.array([odeint(slope, row, [0, 5], args=e, **options)[1] for row in x]) for e in TREATMENTS}


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_five_days_agree_with_lsoda(references: Any, treatment: tuple[float, float]) -> None:
    x, truth = references
    assert worst(simulate(x, treatment, 5, CONSTANTS), truth[treatment]) < 1


def test_five_days_agree_with_radau() -> None:
    for row, e in zip(box(8, seed=2), TREATMENTS * 2, strict=True):
        truth = solve_ivp(slope, (0, 5), row, method="Radau", rtol=1e-10, atol=1e-14, args=e).y[:, -1]
        assert worst(simulate(row[None], e, 5, CONSTANTS)[0], truth) < 1


def runge_kutta(x: Array, e: tuple[float, float], days: float, h: float) -> Array:
    """The classical fixed-step method, all rows at once."""
    efficacies = np.tile(e, (len(x), 1))

    def f(y: Array) -> Array:
        return derivative(y, efficacies, CONSTANTS)

    with np.errstate(all="ignore"):
        for _ in range(round(days / h)):
            k1 = f(x)
            k2 = f(x + h / 2 * k1)
            k3 = f(x + h / 2 * k2)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(x + h * k3))
    return x


def test_a_fixed_explicit_step_does_not_pass(references: Any) -> None:
    x, truth = references
    assert worst(runge_kutta(x, TREATMENTS[0], 5, 0.1), truth[TREATMENTS[0]]) > 1e3
    calm = np.array([ROUNDED])  # where nothing is stiff the same method is right: it is the stiffness
    assert worst(runge_kutta(calm, TREATMENTS[0], 5, 0.1), simulate(calm, TREATMENTS[0], 5, CONSTANTS)) < 1


def fixed_steps(steps: int) -> tuple[Array, Array]:
    """State after .4 days in equal steps without control, and the error estimate of the first step."""
    rates = hiv_dynamics._rates(0.7, 0.3, CONSTANTS)
    y, first = ROUNDED, None
    for _ in range(steps):
        y, error = hiv_dynamics._step(y, 0.4 / steps, rates)
        first = error if first is None else first
    return np.array(y), np.array(first)


def test_the_method_has_order_4_and_its_estimate_order_3() -> None:
    """Halving the step divides the error by 2^4, the estimate of one step by 2^4: a wrong coefficient would not."""
    truth = fixed_steps(512)[0]
    (coarse, one), (fine, two) = fixed_steps(32), fixed_steps(64)
    pairs = ((coarse - truth, fine - truth), (one, two))
    order, estimate = (np.log2(np.linalg.norm(a / truth) / np.linalg.norm(b / truth)) for a, b in pairs)
    assert abs(order - 4) < 0.05
    assert abs(estimate - 4) < 0.25


def test_the_linear_systems_use_the_exact_jacobian() -> None:
    rng = np.random.default_rng(3)
    rates = hiv_dynamics._rates(0.7, 0.3, CONSTANTS)
    for x in box(20, seed=4):
        g, b = float(rng.uniform(5, 500)), rng.normal(size=6) * x
        W = g * np.eye(6)
        for j in range(6):
            up, down = x.astype(complex), 1e-30 * x[j]
            up[j] += 1j * down  # the derivative along j without rounding: Im f(x + i d) / d
            W[:, j] -= complex_slope(up) / down
        k = hiv_dynamics._solve(hiv_dynamics._eliminate(tuple(x.tolist()), g, rates), tuple(b.tolist()))
        np.testing.assert_allclose(np.array(k) / x, np.linalg.solve(W * x / x[:, None], b / x), rtol=1e-9, atol=1e-12)


def complex_slope(x: NDArray[np.complex128]) -> Array:
    """Imaginary part of the equations with both drugs at a complex state."""

    class Listed:
        def tolist(self) -> list[complex]:
            return [complex(v) for v in x]

    return np.array([complex(v).imag for v in slope(0.0, Listed(), 0.7, 0.3)])  # type: ignore[arg-type]


def test_the_five_day_test_vectors() -> None:
    expected = [
        [163572.059, 11945.057, 4.9954, 45.6110, 63919.299, 23.9127],
        [199141.457, 1219.631, 38.0415, 33.1471, 6943.333, 25.8484],
        [184285.209, 5050.392, 15.4799, 42.7111, 19184.787, 24.3885],
        [200992.284, 859.797, 56.1284, 27.0339, 3460.876, 26.3453],
    ]
    np.testing.assert_allclose(simulate([ROUNDED] * 4, TREATMENTS, 5, CONSTANTS), expected, rtol=1e-6, atol=6e-5)


def test_no_state_of_the_box_leads_to_nan_or_below_zero() -> None:
    corners = np.array(list(itertools.product(*np.stack([np.zeros(6), LOW, HIGH], axis=1))))
    x = np.concatenate([corners, box(2000, seed=5)])
    for e in TREATMENTS:
        for days in (0.01, 5.0, 30.0):
            after = simulate(x, e, days, CONSTANTS)
            assert np.isfinite(after).all()
            assert (after >= 0).all()


def test_without_virus_there_is_no_infection() -> None:
    after = simulate([[1e5, 0, 10, 0, 0, 50]], (0, 0), 500, CONSTANTS)[0]
    np.testing.assert_array_equal(after[[1, 3, 4]], 0)
    decay = math.exp(-0.01 * 500)  # T' = l - d T and E' = lE - deltaE E have closed solutions
    np.testing.assert_allclose(after[[0, 2]], [1e6 + (1e5 - 1e6) * decay, 3198 + (10 - 3198) * decay], rtol=1e-5)
    np.testing.assert_allclose(after[5], 10 + 40 * math.exp(-50), rtol=1e-5)


def test_five_days_are_five_times_one_day_and_no_day_changes_nothing() -> None:
    x = box(50, seed=6)
    e = np.array(TREATMENTS * 13)[:50]
    y = x
    for _ in range(5):
        y = simulate(y, e, 1, CONSTANTS)
    np.testing.assert_allclose(y, simulate(x, e, 5, CONSTANTS), rtol=1e-5, atol=1e-8)
    np.testing.assert_array_equal(simulate(x, e, 0, CONSTANTS), x)


def test_rows_do_not_depend_on_each_other_and_out_may_be_the_input() -> None:
    x = box(8, seed=7)
    e1, e2 = np.array(TREATMENTS * 2).T.copy()
    alone = np.array([simulate(x[i : i + 1], (e1[i], e2[i]), 5, CONSTANTS)[0] for i in range(8)])
    assert integrate(x, e1, e2, 5.0, CONSTANTS, TOLERANCE, x) == 0
    np.testing.assert_array_equal(x, alone)


def test_what_cannot_be_followed_is_nan_and_counted() -> None:
    out = np.empty((2, 6))
    x = np.array([ROUNDED, ROUNDED])
    x[0, 4] = np.nan
    assert integrate(x, np.zeros(2), np.zeros(2), 5.0, CONSTANTS, TOLERANCE, out) == 1
    assert np.isnan(out[0]).all()
    assert np.isfinite(out[1]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": [[1, 2, 3]]}, r"^states is \(1, 3\), .*\(N, 6\)"),
        ({"states": [[-1, 0, 0, 0, 0, 0]]}, r"^states is .*not negative"),
        ({"states": [[math.nan] * 6]}, r"^states is .*finite"),
        ({"efficacies": (0, 0, 0)}, r"^efficacies is \(3,\), "),
        ({"efficacies": (1.2, 0)}, r"^efficacies is \(1\.2, 0\), .*from 0 to 1"),
        ({"days": -1}, r"^days is -1, "),
        ({"parameters": CONSTANTS[:5]}, r"^parameters is \(5,\), "),
    ],
)
def test_bad_arguments_of_simulate_are_refused(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"states": [ROUNDED], "efficacies": (0, 0), "days": 1, "parameters": CONSTANTS}
    with pytest.raises(hreach.InputError, match=message):
        simulate(**arguments | change)


# --- steady states and rewards --------------------------------------------------------------------------------


def test_the_steady_states_are_the_published_ones_and_steady() -> None:
    env = HIV()
    np.testing.assert_allclose(env.unhealthy, [163572.75, 11944.94, 4.995, 45.60, 63918.60, 23.54], rtol=2e-4)
    np.testing.assert_allclose(env.healthy, [967839, 76, 621, 6, 415, 353108], rtol=2e-2)
    for state in (env.unhealthy, env.healthy):
        np.testing.assert_allclose(np.array(slope(0, state, 0, 0)) / state, 0, atol=1e-9)
        np.testing.assert_allclose(simulate(state[None], (0, 0), 100, CONSTANTS)[0], state, rtol=1e-5)


def test_other_parameters_have_other_steady_states() -> None:
    env = HIV(c=14, delta=0.6)
    rate = derivative(env.unhealthy[None], np.zeros((1, 2)), env.parameters)[0] / env.unhealthy
    np.testing.assert_allclose(rate, 0, atol=1e-9)
    assert not np.allclose(env.unhealthy, HIV().unhealthy, rtol=1e-2)


def test_parameters_without_infection_need_a_start() -> None:
    with pytest.raises(hreach.InputError, match="no unhealthy steady state"):
        HIV(k1=0, k2=0)
    env = HIV(k1=0, k2=0, start=ROUNDED, process_noise=0, render_mode="rgb_array")
    env.reset(seed=0)
    env.step(np.int64(0))
    assert env.render() is not None  # no healthy lines to be drawn


def test_the_reward_of_the_test_vectors() -> None:
    x = simulate([ROUNDED] * 4, TREATMENTS, 5, CONSTANTS)
    np.testing.assert_allclose(HIV().known_reward(x, np.arange(4)), [17520.80, 15354.04, 22290.02, 16019.23], atol=0.5)


@pytest.mark.parametrize(("model", "times"), [("day", 1), ("step", 5)])
def test_a_planner_is_told_the_reward_of_the_patient(model: str, times: int) -> None:
    env, rng = HIV(Q=0.3, R1=1e4), np.random.default_rng(5)
    told, amounts, actions = env.task(model).reward, 10 ** rng.uniform(-2, 6, size=(40, 6)), rng.integers(0, 4, 40)
    assert told is not None
    planned = told(np.zeros((40, 6)), actions, np.log10(amounts))
    np.testing.assert_allclose(planned, times * env.known_reward(amounts, actions), rtol=1e-11, atol=1e-6)


def total(env: HIV, action: int, seed: int = 0) -> float:
    env.reset(seed=seed)
    result = 0.0
    for _ in range(10_000):
        _, reward, terminated, truncated, _ = env.step(np.int64(action))
        assert not terminated
        result += reward
        if truncated:
            return result
    raise AssertionError("the episode does not end")


@pytest.mark.parametrize(
    ("action", "every", "expected"), [(0, 1, 1.716e7), (0, 5, 3.432e6), (3, 1, 3.508e7), (3, 5, 7.022e6)]
)
def test_the_reference_totals_of_1000_days(action: int, every: int, expected: float) -> None:
    env = HIV(process_noise=0, reward_every=every, start=ROUNDED)
    np.testing.assert_allclose(total(env, action), expected, rtol=3e-4)


def test_1000_healthy_days_earn_what_the_paper_calls_the_bound() -> None:
    env = HIV(process_noise=0, start=HIV().healthy)
    np.testing.assert_allclose(total(env, 0), 3.53e11, rtol=1e-3)


# --- the environment ------------------------------------------------------------------------------------------


def test_a_step_shows_what_appendix_a7_says() -> None:
    env = HIV(process_noise=0, observation_noise=0)
    first, info = env.reset(seed=0)
    np.testing.assert_allclose(first, np.log10(env.unhealthy))
    np.testing.assert_array_equal(info["state"], env.unhealthy)
    seen, reward, _, _, info = env.step(np.int64(3))
    days = info["trajectory"]
    assert days.shape == (6, 6)
    np.testing.assert_array_equal(days[0], env.unhealthy)
    for day in range(1, 6):
        np.testing.assert_allclose(days[day], simulate(days[:1], (0.7, 0.3), day, CONSTANTS)[0], rtol=1e-5)
    np.testing.assert_array_equal(info["state"], days[5])
    np.testing.assert_array_equal(seen, np.log10(days[5]))
    np.testing.assert_array_equal(info["day_after"], np.log10(days[1]))
    np.testing.assert_array_equal(info["day_after_noisy"], info["day_after"])
    np.testing.assert_allclose(reward, env.known_reward(days[1:], [3] * 5).sum())


def test_the_reward_sums_the_measured_days() -> None:
    for every, measured in ((1, [1, 2, 3, 4, 5, 6]), (2, [2, 4, 6]), (3, [3, 6]), (6, [6])):
        env = HIV(days_per_step=6, reward_every=every)
        env.reset(seed=1)
        _, reward, _, _, info = env.step(np.int64(1))
        np.testing.assert_allclose(reward, env.known_reward(info["trajectory"][measured], [1] * len(measured)).sum())


def test_an_episode_is_1000_days() -> None:
    env = HIV()
    env.reset(seed=0)
    assert [env.step(np.int64(0))[2:4] for _ in range(200)] == [(False, False)] * 199 + [(False, True)]
    short = HIV(episode_days=7, days_per_step=3)
    short.reset(seed=0)
    assert [short.step(np.int64(0))[3] for _ in range(3)] == [False, False, True]


def residuals(env: HIV) -> tuple[Array, Array]:
    """Differences in log10 between what happened and the equations, day by day, and of the noisy measurement."""
    env.reset(seed=3)
    process, observation = [], []
    for k in range(200):
        info = env.step(np.int64(k % 4))[4]
        days = info["trajectory"]
        predicted = env.noise_free_step(days[:-1], np.full(5, k % 4), days=1)
        process.append(np.log10(days[1:] / predicted))
        observation.append(info["day_after_noisy"] - info["day_after"])
    return np.concatenate(process), np.array(observation)


def sd_off(sample: Array, claimed: float) -> float:
    """How far the spread is from `claimed`, worst component, in standard errors."""
    return float(np.max(np.abs(sample.std(axis=0) / claimed - 1)) * math.sqrt(2 * len(sample)))


def test_the_noise_has_the_standard_deviations_that_are_asked_for() -> None:
    for process_sd, observation_sd in ((0.01, 0.1), (0.03, 0.2)):
        process, observation = residuals(HIV(process_noise=process_sd, observation_noise=observation_sd))
        assert sd_off(process, process_sd) < 4.5
        assert sd_off(observation, observation_sd) < 4.5
        # Components are independent and the mean is 0.
        assert np.abs(np.corrcoef(process.T) - np.eye(6)).max() < 4.5 / math.sqrt(len(process))
        assert np.abs(process.mean(axis=0)).max() < 4.5 * process_sd / math.sqrt(len(process))


@pytest.mark.parametrize("factor", [0.75, math.log(10), 1.3])
def test_the_noise_does_not_pass_for_another_one(factor: float) -> None:
    process, observation = residuals(HIV())
    assert sd_off(process, 0.01 * factor) > 4.5
    assert sd_off(observation, 0.1 * factor) > 4.5


def episode(seed: int, **params: Any) -> tuple[Array, Array]:
    env = HIV(**params)
    env.reset(seed=seed)
    steps = [env.step(np.int64(k % 4)) for k in range(30)]
    return np.array([s[0] for s in steps]), np.array([[s[1], *s[4]["day_after_noisy"]] for s in steps])


def test_the_same_seed_gives_the_same_trajectory_and_another_seed_another() -> None:
    first, again, other = episode(5), episode(5), episode(6)
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.allclose(first[0], other[0])


def test_the_observation_noise_does_not_change_what_happens() -> None:
    np.testing.assert_array_equal(episode(5, observation_noise=0)[0], episode(5, observation_noise=1)[0])


def test_observations_are_clipped_and_nothing_is_seen_as_the_lowest() -> None:
    np.testing.assert_array_equal(observed(np.array([0, 1e-9, 1e-5, 1, 1e8, 1e12])), [-5, -5, -5, 0, 8, 8])
    env = HIV()
    seen, info = env.reset(seed=0, options={"state": (1e6, 0, 3198, 0, 0, 10)})
    np.testing.assert_allclose(seen, [6, -5, math.log10(3198), -5, -5, 1])
    np.testing.assert_array_equal(info["state"][[1, 3, 4]], 0)
    assert env.step(np.int64(0))[0] in env.observation_space


def test_parameters_are_used() -> None:
    env = HIV(rti_efficacy=0.5, pi_efficacy=0.25, Q=1, R1=2, R2=3, S=4, gamma=0.9)
    np.testing.assert_array_equal(env.efficacies, [[0, 0], [0.5, 0], [0, 0.25], [0.5, 0.25]])
    assert env.gamma == 0.9
    np.testing.assert_allclose(env.known_reward([[0, 0, 0, 0, 10, 100]], [3]), [-10 - 2 / 4 - 3 / 16 + 400])


@pytest.mark.parametrize("name", hiv_dynamics.PARAMETER_NAMES)
def test_every_constant_of_the_equations_matters(name: str) -> None:
    usual = HIV(process_noise=0)
    value = float(usual.parameters[hiv_dynamics.PARAMETER_NAMES.index(name)])
    changed: Any = {name: 0.9 * value}
    other = HIV(process_noise=0, start=usual.unhealthy, **changed)
    after = [env.noise_free_step([usual.unhealthy], [3], days=5) for env in (usual, other)]
    assert not np.allclose(after[0], after[1], rtol=1e-5, atol=0)


def test_what_agents_are_told() -> None:
    env = hreach.make_domain("hiv")
    assert (env.actions, env.gamma) == (4, 0.98)
    assert env.state_names == ("T1", "T1*", "T2", "T2*", "V", "E")
    np.testing.assert_array_equal(env.efficacies, TREATMENTS)
    np.testing.assert_array_equal(env.bounds, [[-5] * 6, [8] * 6])
    np.testing.assert_array_equal(env.is_terminal(np.ones((3, 6))), [False] * 3)


def test_gymnasiums_own_checker_passes() -> None:
    env = gymnasium.make("hreach.domains:hreach/HIV-v0", render_mode="rgb_array").unwrapped
    assert isinstance(env, HIV)
    check_env(env)


def test_the_picture_shows_the_drugs_that_were_given() -> None:
    env = HIV(render_mode="rgb_array", episode_days=20)
    env.reset(seed=0)
    for action in (1, 0, 2, 3):
        env.step(np.int64(action))
    picture = env.render()
    assert picture is not None
    assert picture.shape == (560, 840, 3)
    assert picture.dtype == np.uint8
    column = [round(840 * (0.085 + 0.84 * (k + 0.5) / 4)) for k in range(4)]
    rti, pi = (round(560 * (0.9 - 0.115 * share)) for share in (0.75, 0.25))
    dark = [[bool(picture[row, c].max() < 160) for c in column] for row in (rti, pi)]
    assert dark == [[True, False, False, True], [False, False, True, True]]
    assert HIV().render() is None


BAD: list[tuple[dict[str, Any], str]] = [
    ({"days_per_step": 0}, r"^days_per_step is 0, "),
    ({"days_per_step": 2.5}, r"^days_per_step is 2\.5, "),
    ({"reward_every": 2}, r"^reward_every is 2, but must be a divisor of days_per_step \(5\)\.$"),
    ({"episode_days": 0}, r"^episode_days is 0, "),
    ({"process_noise": -0.01}, r"^process_noise is -0\.01, but must be a finite number of at least 0\.$"),
    ({"observation_noise": "x"}, r"^observation_noise is 'x', "),
    ({"start": (1, 2, 3)}, r"^start is \(1, 2, 3\), but must be six amounts"),
    ({"start": (1, 2, 3, -4, 5, 6)}, r"^start\[3\] is -4, "),
    ({"gamma": 1}, r"^gamma is 1, "),
    ({"rti_efficacy": 1.1}, r"^rti_efficacy is 1\.1, but must be a number from 0 to 1\.$"),
    ({"pi_efficacy": -0.1}, r"^pi_efficacy is -0\.1, "),
    ({"Q": math.nan}, r"^Q is nan, "),
    ({"S": math.inf}, r"^S is inf, "),
    ({"Kb": 0}, r"^Kb is 0, but must be a finite number above 0\.$"),
    ({"render_mode": "human"}, r"^render_mode is 'human', .*rgb_array"),
    *[({name: -1}, rf"^{name} is -1, ") for name in hiv_dynamics.PARAMETER_NAMES],
]


@pytest.mark.parametrize(("params", "message"), BAD)
def test_a_bad_parameter_is_refused_by_its_name_and_value(params: dict[str, Any], message: str) -> None:
    with pytest.raises(hreach.InputError, match=message) as caught:
        HIV(**params)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("action", [4, -1])
def test_an_action_that_does_not_exist_is_refused(action: int) -> None:
    env = HIV()
    env.reset(seed=0)
    with pytest.raises(hreach.InputError, match=rf"^action is .*{action}.*from 0 to 3\.$"):
        env.step(np.int64(action))


@pytest.mark.parametrize("model", ["day", "step"])
def test_the_truth_that_a_planner_asks_is_true_to_a_thousandth(model: str) -> None:
    """Of log10, in states that treatment leads to, with a coarse stepper as the twin that is not."""
    env = hreach.make_domain("hiv")
    rng = np.random.default_rng(8)
    states = [env.reset(seed=8)[0]]
    for _ in range(150):
        states.append(env.step(int(rng.integers(4)))[0])
    x, actions = np.array(states), rng.integers(4, size=len(states))
    days = 1.0 if model == "day" else 5.0
    exact = observed(env.noise_free_step(10.0**x, actions, days))
    truth = env.task(model).truth(x, actions)
    assert np.abs(truth - exact).max() < 1e-3
    coarse = simulate(10.0**x, env.efficacies[actions], days, env.parameters, tolerance=0.1)
    assert np.abs(observed(coarse) - exact).max() > 1e-3
