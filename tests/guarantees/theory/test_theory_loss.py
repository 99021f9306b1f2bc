"""The average loss of Corollary 1: the sum as printed, and the bound that holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hreach import TabularMDP
from hreach.guarantees.theory import Form, Sizes, average_loss, regret, sample_complexity
from hreach.guarantees.theory import anytime_error as eps_at

PRINTED: list[Form] = ["printed", "proof"]


@pytest.mark.parametrize("form", PRINTED)
@pytest.mark.parametrize("T", [1, 7, 1000])
def test_corollary_1_the_average_loss_is_the_sum_as_printed(form: Form, T: int) -> None:
    s = Sizes(2, 2, 0.9)
    eps = [float(eps_at(s, t, 0.1, 3, form)) for t in range(1, T + 1)]
    expected = sum((1 - 0.9 ** (T + 1 - t)) * e for t, e in enumerate(eps, start=1)) / T
    assert float(average_loss(s, T, 0.1, 3, form)) == pytest.approx(expected)


@pytest.mark.parametrize("form", PRINTED)
def test_corollary_1_the_average_loss_of_a_long_life_is_hardly_rounded_up(form: Form) -> None:
    s, T = Sizes(2, 2, 0.3), 200_000
    t = np.arange(1.0, T + 1)
    exact = np.sum((1 - 0.3 ** (T + 1 - t)) * eps_at(s, t, 0.1, 3, form).value) / T
    got = float(average_loss(s, T, 0.1, 3, form))
    assert exact <= got <= exact * 1.001


@pytest.mark.parametrize("form", ["printed", "proof", "corrected"])
def test_corollary_1_the_average_loss_falls_with_time_and_says_when_it_is_empty(form: Form) -> None:
    s = Sizes(2, 2, 0.5)
    start = math.floor(float(sample_complexity(s, s.top, 0.1, 3, form)))  # no error below V before this step
    bound = average_loss(s, [start - 1, 1000 * start, 10**5 * start, 10**9 * start], 0.1, 3, form)
    assert bound.vacuous.tolist() == [True, False, False, False]
    assert np.all(np.diff(bound.value) < 0)


def worst_errors(s: Sizes, T: int, delta: float, h: float, levels: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The largest errors (T,) that the counts of Theorem 1 allow at every level at once, delta shared among them."""
    edges = s.top * 2.0 ** (-np.arange(levels + 1) / 2)
    allowed = np.minimum(sample_complexity(s, edges[1:], delta / levels, h).value, T)
    errors = np.full(T, edges[-1])
    for i in range(levels, 0, -1):
        errors[: int(allowed[i - 1])] = edges[i - 1]
    return errors


@pytest.mark.parametrize("levels", [1, 4, 9])
def test_corollary_1_no_errors_that_the_counts_allow_lose_more(levels: int) -> None:
    """And with the last of them taken to be exact, as the printed sum takes it, they would."""
    s, T = Sizes(1, 2, 0.5), 3_000_000
    errors = worst_errors(s, T, 0.1, 3, levels)
    end = s.top * 0.5 ** np.arange(T, 0, -1.0)
    got = float(average_loss(s, T, 0.1, 3))
    assert got <= (errors.sum() + end.sum()) / T + 1e-9
    best = min((worst_errors(s, T, 0.1, 3, k).sum() + end.sum()) / T for k in range(1, 30))
    assert got == pytest.approx(best, rel=1e-6)


def test_corollary_1_an_agent_without_error_can_lose_over_the_last_steps() -> None:
    """Staying pays .5, going pays 0 and 1 for ever after: going is right, and at the last step it costs .5. An error of
    0 times 1 - gamma^(T+1-t) says 0; the corrected end is enough."""
    P = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    mdp = TabularMDP(P, [[0.5, 0.0], [1.0, 1.0]], 0.9)
    assert mdp.optimal_policy()[0] == 1
    lost = 0.5 - 0.0  # of the T-step loss at t = T in state 0
    assert float(regret(0.5, [0.0], 0.9)) == lost
    assert (1 - 0.9) * 0.0 < lost <= 0.9 * Sizes(2, 2, 0.9).top
