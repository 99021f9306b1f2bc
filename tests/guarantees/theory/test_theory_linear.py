"""`hreach.guarantees.theory.linear`: Lemma 2's sum, the orders with their powers, inverses, and the forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import decades
from hreach import InputError, TabularMDP
from hreach.guarantees.theory import linear as th
from hreach.guarantees.theory.bound import FORMS, Form
from hreach.guarantees.theory.linear import LinearSizes
from hreach.planners.tree import slope_between
from hreach.reach.interval import varsigma

MANY = settings(deadline=None, derandomize=True, max_examples=100)
CAR = LinearSizes(components=2, features=12, lipschitz=5.0, gamma=0.9)


sizes = st.builds(
    LinearSizes,
    components=st.integers(1, 50),
    features=st.floats(1, 300),
    lipschitz=decades(-2, 3),
    gamma=st.sampled_from([0.0, 0.5, 0.9, 0.99]),
    c1=decades(-1, 2),
    c2=decades(-1, 1),
    c3=decades(-1, 1),
    constant=decades(-1, 1),
)
deltas = st.floats(1e-6, 0.95)
hs = st.one_of(st.just(0.0), decades(0, 5))


# --- Assumption 1, Lemma 2 ------------------------------------------------------------------------------------------


def test_assumption_1_the_slope_is_the_smallest_constant_that_holds() -> None:
    rng = np.random.default_rng(0)
    states, value = rng.normal(size=(30, 2)), rng.normal(size=30)
    ratios = [abs(value[i] - value[j]) / np.linalg.norm(states[i] - states[j]) for i in range(30) for j in range(i)]
    assert slope_between(states, value) == pytest.approx(max(ratios))


@pytest.mark.parametrize("calls", [1, 2, 10, 3000])
@pytest.mark.parametrize(("components", "h", "delta"), [(1, 1, 0.5), (6, 10, 0.9), (2, 50, 0.01)])
def test_lemma_2_is_the_sum_over_calls_with_the_library_s_varsigma(
    calls: int, components: int, h: int, delta: float
) -> None:
    chance = sum(
        components * h / 2 * math.exp(-(float(varsigma(M, components, h, delta)) ** 2) / 2) for M in range(1, calls + 1)
    )
    assert float(th.interval_failure(calls, delta, h)) == pytest.approx(chance, rel=1e-9)


def test_lemma_2_all_calls_together_fail_with_half_of_delta() -> None:
    chances = th.interval_failure(np.logspace(0, 15, 16), 0.3)
    assert np.all(np.diff(chances) > 0)
    assert chances[-1] == pytest.approx(0.15)
    assert np.all(chances <= 0.15)
    assert float(th.interval_failure(10, 0.3, 0)) == 0


# --- Theorem 2: powers, written out ---------------------------------------------------------------------------------


def written_out(s: LinearSizes, eps: float, delta: float, h: float, m: float, form: Form) -> float:
    """Theorem 2 with the powers of `form`, term by term."""
    L = s.lipschitz / (1 - s.gamma) if form == "corrected" else s.lipschitz
    ln_m, ln = max(math.log(m), 4), math.log(s.components / delta)
    large = max(s.c2, s.c3) ** 2 * h**2 * (2 * ln_m + math.log(s.components * max(h, 1) / delta))
    small = s.c2 * s.c3**4 * L**2 * s.components * s.features * ln_m**2 * ln / eps ** (3 if form == "printed" else 2)
    steps = s.constant * max(large, small) * L**2 * s.components * s.features * ln_m**2 * ln**2 / eps**3
    if form == "printed":
        return steps * s.c1**2 / (1 - s.gamma) ** 2
    window = max(math.log(6 * s.top / eps), 0) / (1 - s.gamma) + 1 if form == "corrected" else 1
    return steps * s.c1 / (1 - s.gamma) * window


@given(sizes, decades(-4, 2), deltas, hs, decades(0, 20), st.sampled_from(FORMS))
@MANY
def test_theorem_2_is_the_formula_written_out(
    s: LinearSizes, eps: float, delta: float, h: float, m: float, form: Form
) -> None:
    got = float(th.linear_sample_complexity(s, eps, delta, h, m, form))
    assert got == pytest.approx(written_out(s, eps, delta, h, m, form), rel=1e-12)


@pytest.mark.parametrize("h", [0.25, 1.0, 1.5, 40.0])
@pytest.mark.parametrize("form", FORMS)
def test_theorem_2_is_the_formula_written_out_where_h_decides(h: float, form: Form) -> None:
    s = LinearSizes(2, 3, 1e-3, 0.5)
    assert written_out(s, 1.0, 0.1, h, 1e5, form) > 1.5 * written_out(s, 1.0, 0.1, h / 2, 1e5, form)
    got = float(th.linear_sample_complexity(s, 1.0, 0.1, h, 1e5, form))
    assert got == pytest.approx(written_out(s, 1.0, 0.1, h, 1e5, form), rel=1e-12)


@given(sizes, decades(-4, 2), deltas, hs, st.sampled_from(FORMS))
@MANY
def test_theorem_2_without_m_solves_for_it(s: LinearSizes, eps: float, delta: float, h: float, form: Form) -> None:
    steps = float(th.linear_sample_complexity(s, eps, delta, h, form=form))
    assert written_out(s, eps, delta, h, max(steps, 1), form) == pytest.approx(steps, rel=1e-9)
    samples = float(th.linear_h_star(s, eps, delta, form=form))
    again = float(th.linear_h_star(s, eps, delta, max(samples, 1), form))
    assert again == pytest.approx(samples, rel=1e-9)
    runtime = float(th.linear_exploration_runtime(s, eps, delta, h, form=form))
    given_m = float(th.linear_exploration_runtime(s, eps, delta, h, m=max(runtime, 1), form=form))
    assert given_m == pytest.approx(runtime, rel=1e-9)


def test_theorem_2_has_the_documented_powers_of_epsilon_and_the_horizon() -> None:
    def power(form: Form, h: float, **change: float) -> float:
        """The exponent of (1-gamma) or eps: from a hundredfold change, logarithms held fixed."""
        one = LinearSizes(2, 12, 5.0, 1 - 1e-3)
        other = LinearSizes(2, 12, 5.0, 1 - change.get("left", 1e-3))
        e = change.get("eps", 1e-3)
        a = float(th.linear_sample_complexity(one, 1e-3, 0.1, h, 1e9, form))
        b = float(th.linear_sample_complexity(other, e, 0.1, h, 1e9, form))
        return math.log(b / a) / math.log(100)

    assert power("printed", 0, eps=1e-5) == pytest.approx(6)
    assert power("proof", 0, eps=1e-5) == pytest.approx(5)
    assert power("printed", 1e30, eps=1e-5) == pytest.approx(3)
    assert power("proof", 1e30, eps=1e-5) == pytest.approx(3)
    assert power("printed", 0, left=1e-5) == pytest.approx(2)
    assert power("proof", 0, left=1e-5) == pytest.approx(1)
    assert power("corrected", 0, left=1e-5) == pytest.approx(
        6, abs=0.2
    )  # 4 from L^4, 1 from V, 1 and a logarithm from H'


def test_theorem_2_a_bonus_at_every_step_adds_up() -> None:
    """Point 4 of the module: with the same bonus b everywhere V~ is b/(1-gamma) above V, not b."""
    rng = np.random.default_rng(1)
    P, R, gamma, b = rng.dirichlet(np.ones(4), size=(4, 2)), rng.random((4, 2)), 0.9, 0.3
    gap = TabularMDP(P, R + b, gamma).optimal_value() - TabularMDP(P, R, gamma).optimal_value()
    np.testing.assert_allclose(gap, b / (1 - gamma))


def test_theorem_2_h_star_is_the_order_printed() -> None:
    expected = 5.0**4 * (2 * 12) ** 2 * math.log(1e9) ** 2 / 0.3**4 * math.log(2 / 0.1)
    assert float(th.linear_h_star(CAR, 0.3, 0.1, 1e9, "printed")) == pytest.approx(expected)
    assert float(th.linear_h_star(CAR, 0.3, 0.1, 1e9)) == pytest.approx(expected / 0.1**4)


def test_theorem_2_the_displays_of_its_proof() -> None:
    s = LinearSizes(3, 12, 5.0, 0.9, c2=0.5, c3=2.0)
    m, n, delta = 1e6, 9, 0.1
    error = 2 * 2 * math.sqrt(n * math.log(m)) / m**0.25 * (24 * 0.5 * math.log(8 * 3 / delta)) ** 0.25
    error += (2 * 2 * math.sqrt(math.log(m)) + 5) * math.sqrt(n) / math.sqrt(m)
    assert float(th.estimation_error(s, m, n, delta)) == pytest.approx(error)
    z = float(varsigma(m, 3, 7, delta))
    width = 7 * (20 * (0.5 + z * 0.2) * n * math.log(m) / m + 2 * 2 * math.sqrt(20 * n / m))
    assert float(th.interval_width(s, m, n, delta, 7, 0.2)) == pytest.approx(width)
    assert float(th.interval_width(s, m, n, delta, 0, 0.2)) == 0


# --- Corollaries 3 and 4, Lemma 3 -----------------------------------------------------------------------------------


@given(sizes, decades(-8, 2), deltas, hs, st.sampled_from(["proof", "corrected"]))
@MANY
def test_corollary_3_inverts_theorem_2(s: LinearSizes, eps: float, delta: float, h: float, form: Form) -> None:
    t = float(th.linear_sample_complexity(s, eps, delta, h, form=form))
    if t >= 1:
        assert float(th.linear_anytime_error(s, t, delta, h, form)) == pytest.approx(eps, rel=1e-9)


def test_corollary_3_as_printed() -> None:
    """A fifth root where h is small; no root at all where it is large."""
    t, delta = 1e9, 0.1
    ln, ln_t = math.log(2 / delta), math.log(t)
    small = (5.0**4 * 2**2 * 12**2 * ln_t**2 / (t * 0.1) * ln**3) ** 0.2
    assert float(th.linear_anytime_error(CAR, t, delta, 0, "printed")) == pytest.approx(small)
    large = 1e8**2 * 5.0**2 * 2 * 12 * ln_t**2 / (t * 0.1) * ln**2
    assert float(th.linear_anytime_error(CAR, t, delta, 1e8, "printed")) == pytest.approx(large)


def test_corollary_3_the_printed_form_and_the_proof_s_differ_by_the_documented_factors() -> None:
    t, delta, h = 1e9, 0.1, 1e8
    ln_t = math.log(t)
    small = [float(th.linear_anytime_error(CAR, t, delta, 0, form)) for form in FORMS]
    assert small[1] == pytest.approx(small[0] * (ln_t**2) ** 0.2)
    large = [float(th.linear_anytime_error(CAR, t, delta, h, form)) for form in FORMS]
    assert large[1] ** 3 == pytest.approx(large[0] * math.log(t**2 * 2 * h / delta))


def test_corollary_4_as_printed_and_with_the_powers_of_the_proof() -> None:
    eps, delta, h, m, p = 0.5, 0.1, 10, 1e7, 0.02
    printed = h**2 * 5.0**2 * 2 * 12 * math.log(m) / (eps**2 * p) * math.log(20) ** 2 * math.log(m**2 * 2 * h / delta)
    got = [float(th.linear_exploration_runtime(CAR, eps, delta, h, p, m, form)) for form in FORMS]
    assert got[0] == pytest.approx(printed)
    assert got[1] == pytest.approx(printed * math.log(m))
    assert got[2] == pytest.approx(got[1] / 0.1**2 * (math.log(60 / eps) / 0.1 + 1))
    without = float(th.linear_exploration_runtime(CAR, eps, delta, h, m=m, form="printed"))
    assert without == pytest.approx(printed * p / (eps * 0.1))
    assert float(th.linear_exploration_runtime(CAR, eps, delta, 0)) == 0


def test_lemma_3_is_the_order_printed() -> None:
    assert float(th.linear_pac_mdp_sample_complexity(CAR, 0.5)) == pytest.approx(2**2 * 12**2 / (0.5**5 * 0.1**10))
    assert th.linear_pac_mdp_sample_complexity(CAR, [9.9, 10]).vacuous.tolist() == [False, True]


# --- directions, vectors, vacuous, bad input ------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_the_orders_go_the_right_way(form: Form) -> None:
    eps, delta, h, t = (
        np.logspace(-5, 2, 50),
        np.linspace(0.01, 0.95, 50),
        np.linspace(0, 1e5, 50),
        np.logspace(0, 20, 50),
    )
    for s in (CAR, LinearSizes(1, 1, 0.01, 0.0, constant=0.1)):
        for steps in (th.linear_sample_complexity, th.linear_exploration_runtime):
            assert np.all(np.diff(steps(s, eps, 0.1, 3, form=form).value) < 0)
            assert np.all(np.diff(steps(s, 0.1, delta, 3, form=form).value) < 0)
            assert np.all(np.diff(steps(s, 0.1, 0.1, h, form=form).value) >= 0)
        assert np.all(np.diff(th.linear_h_star(s, eps, 0.1, form=form).value) < 0)
        assert np.all(np.diff(th.linear_h_star(s, 0.1, delta, form=form).value) < 0)
        assert np.all(np.diff(th.linear_anytime_error(s, t, 0.1, 0, form).value) < 0)
        assert np.all(np.diff(th.linear_anytime_error(s, 1e9, delta, 0, form).value) < 0)
        if form != "printed":  # without its root the printed second case is not comparable with the first
            assert np.all(np.diff(th.linear_anytime_error(s, t, 0.1, 3, form).value) < 0)
            assert np.all(np.diff(th.linear_anytime_error(s, 1e9, 0.1, h, form).value) >= 0)
    m = np.logspace(2, 12, 20)
    assert np.all(np.diff(th.estimation_error(CAR, m, 5, 0.1)) < 0)
    assert np.all(np.diff(th.interval_width(CAR, m, 5, 0.1, 3, 0.1)) < 0)


def test_vacuous_and_broadcast() -> None:
    bound = th.linear_sample_complexity(CAR, np.array([[1.0], [10.0]]), [0.1, 0.2, 0.3], 3)
    assert bound.value.shape == (2, 3)
    assert bound.vacuous.tolist() == [[False] * 3, [True] * 3]
    assert th.linear_h_star(CAR, [1, 10], 0.1).vacuous.tolist() == [False, True]
    assert th.linear_exploration_runtime(CAR, [1, 10], 0.1, 3).vacuous.tolist() == [False, True]
    assert th.linear_exploration_runtime(CAR, 1, 0.1, 3, escape=[0.1, 0.2]).why.tolist() == ["", ""]
    assert th.linear_anytime_error(CAR, [1, 1e30], 0.1, 3).vacuous.tolist() == [True, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"components": 0}, "components is 0, but must be a whole number of at least 1."),
        ({"features": 0.5}, "features is 0.5, but must be a finite number of at least 1."),
        ({"lipschitz": 0}, "lipschitz is 0, but must be a finite number above 0."),
        ({"gamma": 1}, "gamma is 1, but must be at least 0 and below 1."),
        ({"c1": 0}, "c1 is 0, but must be a finite number above 0."),
        ({"c2": -1}, "c2 is -1, but must be a finite number above 0."),
        ({"c3": math.inf}, "c3 is inf, but must be a finite number above 0."),
        ({"constant": 0}, "constant is 0, but must be a finite number above 0."),
    ],
)
def test_bad_sizes_are_refused(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"components": 2, "features": 12, "lipschitz": 5.0, "gamma": 0.9}
    with pytest.raises(InputError) as raised:
        LinearSizes(**{**given, **change})
    assert str(raised.value) == message


def test_bad_arguments_are_refused() -> None:
    for bad, message in (
        (lambda: th.linear_sample_complexity(CAR, 0, 0.1, 3), "epsilon is 0.0, but must be a finite number above 0."),
        (lambda: th.linear_sample_complexity(CAR, 1, 1, 3), "delta is 1.0, but must be above 0 and below 1."),
        (lambda: th.linear_sample_complexity(CAR, 1, 0.1, -3), "h is -3.0, but must be a finite number of at least 0."),
        (
            lambda: th.linear_sample_complexity(CAR, 1, 0.1, 3, m=0),
            "m is 0.0, but must be a finite number of at least 1.",
        ),
        (
            lambda: th.linear_sample_complexity(CAR, 1, 0.1, 3, form="best"),  # type: ignore[arg-type]
            "form is 'best', but must be 'printed' or 'proof' or 'corrected'.",
        ),
        (lambda: th.linear_anytime_error(CAR, 0, 0.1, 3), "t is 0.0, but must be a finite number of at least 1."),
        (
            lambda: th.linear_exploration_runtime(CAR, 1, 0.1, 3, escape=2),
            "escape is 2.0, but must be above 0 and at most 1.",
        ),
        (lambda: th.linear_pac_mdp_sample_complexity(CAR, -1), "epsilon is -1.0, but must be a finite number above 0."),
        (lambda: th.interval_failure(0, 0.1), "calls is 0.0, but must be a finite number of at least 1."),
    ):
        with pytest.raises(InputError) as raised:
            bad()
        assert str(raised.value) == message
