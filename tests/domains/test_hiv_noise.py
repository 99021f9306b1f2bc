"""The noise of the HIV domain: two readings of A7, and what a day's noise has become at the next decision."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hreach
from hreach.domains.hiv import HIV, observed
from hreach.domains.hiv_noise import accumulated

Array = NDArray[np.float64]
SAMPLES = 4000


def steps(env: HIV, state: Array, action: int, seed: int) -> Array:
    """log10 (SAMPLES, 6) of the state after one decision, as the environment itself draws it."""
    env.reset(seed=seed)
    result = []
    for _ in range(SAMPLES):
        env.reset(options={"state": state})
        result.append(env.step(action)[0])
    return np.array(result)


def off(sample: Array, claimed: Array) -> float:
    """How far the spread is from `claimed`, worst component, in standard errors; 2 per cent are first order's due."""
    ratio = sample.std(axis=0, ddof=1) / claimed
    return float((np.abs(ratio - 1) - 0.02).max() * math.sqrt(2 * len(sample)))


@pytest.mark.parametrize("place", ["unhealthy", "healthy"])
@pytest.mark.parametrize("action", [0, 3])
def test_the_noise_of_a_step_is_what_it_is_said_to_be(place: str, action: int) -> None:
    """Against the environment's own steps; the noise of one day, and of five independent ones, must not pass."""
    env = HIV()
    state = getattr(env, place)
    sample, claimed = steps(env, state, action, seed=action), env.step_deviation(state, action)
    assert off(sample, claimed) < 4.5
    assert off(sample, np.full(6, 0.01)) > 4.5
    assert off(sample, np.full(6, 0.01 * math.sqrt(5))) > 4.5
    assert off(sample, 1.1 * claimed) > 4.5


def test_the_task_states_the_noise_at_the_start() -> None:
    """The root mean square over the actions; not the noise of one day, which is what a model of a day has."""
    env = HIV()
    sigma = env.task(model="step").sigma
    spread = np.array([steps(env, env.unhealthy, action, seed=10 + action).std(axis=0) for action in range(4)])
    measured = np.sqrt(np.square(spread).mean(axis=0))
    np.testing.assert_allclose(sigma, measured, rtol=0.02 + 4.5 / math.sqrt(8 * SAMPLES))
    assert (sigma > 0.012).all()
    np.testing.assert_allclose(env.task(model="day").sigma, 0.01)
    np.testing.assert_allclose(env.task(model="noisy-day").sigma, math.hypot(0.01, 0.1))


def test_the_table_of_the_docs_is_true() -> None:
    page = (Path(__file__).parents[2] / "docs" / "continuous.md").read_text("utf-8")
    env = HIV()
    rows = {"at the start": env.task(model="step").sigma, "in the healthy state": env.step_deviation(env.healthy, 0)}
    for name, numbers in rows.items():
        [row] = [line for line in page.splitlines() if line.startswith(f"| {name}")]
        printed = [float(cell) for cell in row.split("|")[2:-1]]
        np.testing.assert_allclose(printed, numbers, atol=0.0005001)


def test_a_linear_map_adds_up_exactly() -> None:
    """z' = A z + s N: C = s^2 sum_k A^k A'^k, without an approximation."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 3)) / 2
    powers = [np.linalg.matrix_power(A, k) for k in range(4)]
    expected = 0.3 * np.sqrt(np.diag(sum(p @ p.T for p in powers)))
    np.testing.assert_allclose(accumulated(lambda z: z @ A.T, rng.normal(size=3), 4, 0.3), expected, rtol=1e-9)


def test_one_day_has_the_noise_of_one_day() -> None:
    env = HIV(days_per_step=1)
    np.testing.assert_allclose(env.step_deviation(env.unhealthy, 1), 0.01, rtol=1e-9)


# ---------------------------------------------------------------------------------------------------- the two readings


def test_a_variance_is_the_square_of_a_standard_deviation() -> None:
    """The same draws: numbers read as variances are the environment with their square roots as standard deviations."""

    def days(**params: Any) -> tuple[Array, Array]:
        env = HIV(**params)
        env.reset(seed=3)
        info = env.step(1)[4]
        return info["trajectory"], info["day_after_noisy"]

    variance = days(process_noise=0.01, observation_noise=0.1, noise_is="variance")
    roots = days(process_noise=0.1, observation_noise=math.sqrt(0.1))
    as_usual, spelt_out = days(), days(noise_is="standard deviation")
    for a, b, c, d in zip(variance, roots, as_usual, spelt_out, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
        np.testing.assert_array_equal(c, d)
        assert not np.allclose(a, c)


def test_the_agent_is_told_the_noise_of_the_reading() -> None:
    env = hreach.make_domain("hiv", noise_is="variance")
    np.testing.assert_allclose(env.task().sigma, 0.1)
    np.testing.assert_allclose(env.task(model="noisy-day").sigma, math.sqrt(0.01 + 0.1))
    np.testing.assert_allclose(env.task(model="step").sigma, 10 * HIV().task(model="step").sigma, rtol=1e-6)


def test_the_noise_is_normal_with_the_variance_that_is_asked_for() -> None:
    """Residuals of the first day, in standard errors; the other reading must not pass."""
    env = HIV(noise_is="variance")
    env.reset(seed=5)
    mean = observed(env.noise_free_step(env.unhealthy[None], [0], days=1))[0]
    sample = []
    for _ in range(1000):
        env.reset(options={"state": env.unhealthy})
        sample.append(env.step(0)[4]["day_after"] - mean)
    variance = np.var(sample, axis=0)
    error = math.sqrt(2 / len(sample))
    assert np.abs(variance / 0.01 - 1).max() < 4.5 * error
    assert np.abs(variance / 0.01**2 - 1).min() > 4.5 * error


def test_another_reading_is_one_sentence() -> None:
    with pytest.raises(hreach.InputError, match="noise_is is 'sd', but must be 'standard deviation' or 'variance'"):
        hreach.make_domain("hiv", noise_is="sd")
