"""Theorem 1, its corollaries and its rivals: identities, directions, forms, exact integers and 60-digit decimals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, getcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import decades
from hreach import InputError
from hreach.guarantees import theory as th
from hreach.guarantees.theory.bound import FORMS, Bound, Form, largest_within
from hreach.guarantees.theory.loss import average_loss
from hreach.guarantees.theory.proof import case_changes_at
from hreach.optimism.mbie import known_threshold as mbie_threshold
from hreach.problems.sizes import Sizes

getcontext().prec = 60
MANY = settings(deadline=None, derandomize=True, max_examples=150)
forms = st.sampled_from(FORMS)
CHAIN = Sizes(5, 2, 0.95)


sizes = st.builds(
    Sizes,
    states=st.integers(1, 300),
    actions=st.integers(1, 20),
    gamma=st.sampled_from([0.0, 0.3, 0.9, 0.95, 0.999]),
    r_max=decades(-3, 3),
    per_transition=st.booleans(),
)
deltas = st.floats(1e-6, 0.99)
hs = st.one_of(st.just(0.0), decades(-1, 9))


def near(a: Any, b: Any, relative: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(a, dtype=float), np.asarray(b, dtype=float), rtol=relative)


# --- Theorem 1 against an oracle: exact integers inside, 60 digits outside ------------------------------------------


class Oracle:
    """The printed formulas in decimals, 2^(|S|+1) |S||A| as a whole number."""

    def __init__(self, s: Sizes, eps: str, delta: str) -> None:
        self.S, self.A = s.states, s.actions
        self.gamma, self.r = Decimal(repr(s.gamma)), Decimal(repr(s.r_max))
        self.eps, self.delta = Decimal(eps), Decimal(delta)
        self.V = self.r / (1 - self.gamma)
        lead = 1 if s.per_transition else self.gamma
        self.kappa = lead * self.r / (1 - self.gamma) ** 2
        self.lam = (Decimal(2 ** (self.S + 1) * self.S * self.A) / self.delta).ln()
        self.union = (Decimal(2 * self.S * self.A) / self.delta).ln()

    def m(self, h: int, form: Form) -> Decimal:
        e = self.eps
        if form == "corrected":
            return max(18 * self.kappa**2 * self.lam / e**2, 6 * self.kappa * h / e)
        few = 72 * self.r**2 * self.lam / (e**2 * (1 - self.gamma) ** 2)
        if h <= (2 * few * self.lam).sqrt():
            return few
        return h * self.r / (6 * e * (1 - self.gamma)) * (36 if form == "proof" else 1)

    def steps(self, h: int, form: Form) -> Decimal:
        m, pairs = self.m(h, form), self.S * self.A
        if form != "corrected":
            return 6 * m * pairs * self.r / (self.eps * (1 - self.gamma)) * self.union
        window = max((6 * self.V / self.eps).ln(), Decimal(0)) / (1 - self.gamma) + 1
        return window * 6 * self.V / self.eps * (pairs * (m + 1) + (2 / self.delta).ln())


CASES = [
    (Sizes(1, 1, 0.5), "0.1", "0.05"),
    (Sizes(5, 2, 0.95), "0.01", "0.1"),
    (Sizes(7, 3, 0.9, 2.5, per_transition=True), "1.5", "0.9"),
    (Sizes(400, 12, 0.999, 0.25), "3.25", "0.001"),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("h", [0, 8, 10**4, 10**12])
@pytest.mark.parametrize("case", CASES)
def test_theorem_1_agrees_with_exact_arithmetic(case: tuple[Sizes, str, str], h: int, form: Form) -> None:
    s, eps, delta = case
    oracle = Oracle(s, eps, delta)
    near(th.log_models(s, float(delta)), oracle.lam, 1e-13)
    near(th.known_threshold(s, float(eps), float(delta), h, form), oracle.m(h, form), 1e-12)
    near(th.sample_complexity(s, float(eps), float(delta), h, form), oracle.steps(h, form), 1e-12)
    half = oracle.kappa / 2 if form == "corrected" else oracle.V
    near(th.h_star(s, float(eps), float(delta), form), 2 * half**2 * oracle.lam / oracle.eps**2, 1e-12)


@given(sizes, decades(-6, 0))
@MANY
def test_theorem_1_the_horizon_leaves_a_sixth_of_epsilon(s: Sizes, part: float) -> None:
    eps = part * s.top
    H = float(th.horizon(s, eps))
    assert math.exp(-(1 - s.gamma) * H) * s.top == pytest.approx(eps / 6)
    assert s.gamma**H * s.top <= eps / 6 * (1 + 1e-9)


@given(sizes, decades(-4, 0), deltas, hs, st.sampled_from(["proof", "corrected"]))
@MANY
def test_theorem_1_both_gaps_are_a_sixth_of_epsilon_at_m(
    s: Sizes, part: float, delta: float, h: float, form: Form
) -> None:
    """What m is for: optimism and estimation together cost eps/3 of a known pair, and one of them all of its half."""
    eps = part * s.top
    m = float(th.known_threshold(s, eps, delta, h, form))
    if m == 0:  # gamma = 0 and R(s, a): no value depends on the model
        assert s.gamma == 0
        return
    scale = s.error_scale(form)
    optimism, estimation = scale * h / m, float(th.estimation_gap(s, m, delta, form))
    assert max(optimism, estimation) == pytest.approx(eps / 6)
    assert float(th.optimism_gap(s, m, h, form)) <= optimism * (1 + 1e-12)


def test_theorem_1_the_printed_m_for_large_h_leaves_36_times_as_much() -> None:
    h = 1e9
    m = float(th.known_threshold(CHAIN, 1, 0.1, h, "printed"))
    assert 2 * float(th.optimism_gap(CHAIN, m, h, "printed")) == pytest.approx(36 * 1 / 3)


# --- inverse functions ----------------------------------------------------------------------------------------------


@given(sizes, decades(-9, 1), deltas, hs, st.sampled_from(["proof", "corrected"]))
@MANY
def test_corollary_1_the_anytime_error_inverts_the_sample_complexity(
    s: Sizes, part: float, delta: float, h: float, form: Form
) -> None:
    eps = part * s.top
    t = float(th.sample_complexity(s, eps, delta, h, form))
    near(th.anytime_error(s, t, delta, h, form), eps)


@given(sizes, decades(0, 30), deltas, hs, forms)
@MANY
def test_corollary_1_the_sample_complexity_inverts_the_anytime_error(
    s: Sizes, t: float, delta: float, h: float, form: Form
) -> None:
    """As the printed m jumps, its inverse is the smallest error: t steps are enough above it and not below."""
    eps = float(th.anytime_error(s, t, delta, h, form))
    if form != "printed":
        near(th.sample_complexity(s, eps, delta, h, form), t)
    assert float(th.sample_complexity(s, eps * (1 + 1e-9), delta, h, form)) <= t * (1 + 1e-12)
    assert float(th.sample_complexity(s, eps * (1 - 1e-9), delta, h, form)) >= t * (1 - 1e-12)


@given(sizes, decades(-9, 1), deltas, hs)
@MANY
def test_corollary_1_the_orders_are_inverse_as_well(s: Sizes, part: float, delta: float, h: float) -> None:
    t = float(th.sample_complexity_order(s, part * s.top, delta, h, 3))
    if t >= 1:
        near(th.anytime_error_order(s, t, delta, h, 3), part * s.top)


@given(sizes, decades(-5, 0), deltas, decades(0, 10), st.sampled_from(["proof", "corrected"]))
@MANY
def test_theorem_1_the_affordable_h_inverts_the_sample_complexity(
    s: Sizes, part: float, delta: float, factor: float, form: Form
) -> None:
    eps = part * s.top
    least = float(th.sample_complexity(s, eps, delta, 0, form))
    bound = th.affordable_h(s, eps, delta, factor * least * (1 + 1e-12), form)
    h = float(bound)
    if s.error_scale(form) == 0:
        assert h == math.inf
        return
    near(th.sample_complexity(s, eps, delta, h, form), factor * least)
    assert float(th.sample_complexity(s, eps, delta, h * 1.001, form)) > factor * least
    short = th.affordable_h(s, eps, delta, max(least * 0.99, 1), form)
    assert math.isnan(float(short))
    assert bool(short.vacuous)


@given(sizes, decades(-5, 0), deltas, decades(0, 30))
@MANY
def test_theorem_1_the_affordable_h_of_the_printed_form_is_the_largest(
    s: Sizes, part: float, delta: float, t: float
) -> None:
    eps = part * s.top
    h = float(th.affordable_h(s, eps, delta, t, "printed"))
    grid = np.logspace(-2, 40, 2000)
    affordable = grid[th.sample_complexity(s, eps, delta, grid, "printed").value <= t]
    if math.isnan(h):
        assert len(affordable) == 0
    else:
        assert float(th.sample_complexity(s, eps, delta, h * (1 - 1e-12), "printed")) <= t * (1 + 1e-9)
        assert affordable.max(initial=0) <= h * (1 + 1e-9)


@given(
    st.builds(Sizes, st.integers(1, 50), st.integers(1, 5), st.sampled_from([0.3, 0.9])),
    decades(-4, 0),
    decades(-10, -0.01),
    hs,
    forms,
)
@MANY
def test_theorem_1_the_failure_probability_inverts_the_sample_complexity(
    s: Sizes, part: float, delta: float, h: float, form: Form
) -> None:
    eps = part * s.top
    t = float(th.sample_complexity(s, eps, delta, h, form))
    found = float(th.failure_probability(s, eps, h, t, form))
    assert float(th.sample_complexity(s, eps, min(found * (1 + 1e-9), 1 - 1e-15), h, form)) <= t * (1 + 1e-12)
    closer = float(th.sample_complexity(s, eps, delta * math.exp(-1e-3), h, form))
    slope = (closer - t) / 1e-3  # for large h, t hardly depends on delta, and 52 bits of t are few, or none
    in_the_jump = form == "printed" and abs(h / float(case_changes_at(s, np.asarray(eps), -np.log(delta))) - 1) < 1e-9
    if slope > 0 and not in_the_jump:
        near(found, delta, max(1e-9, 8 * 2**-52 * t / slope))


@given(sizes, decades(-9, 1), deltas, forms)
@MANY
def test_theorem_1_the_reachable_error_inverts_h_star(s: Sizes, part: float, delta: float, form: Form) -> None:
    eps = part * s.top
    h = float(th.h_star(s, eps, delta, form))
    if h > 0:
        near(th.reachable_error(s, h, delta, form=form), eps)
        near(th.reachable_error(s, h / 4, delta, n_min=3 * h / 4, form=form), eps)


def test_theorem_1_no_samples_promise_nothing_about_the_reachable_value() -> None:
    bound = th.reachable_error(CHAIN, 0, 0.1)
    assert float(bound) == math.inf
    assert bool(bound.vacuous)
    assert float(th.reachable_error(Sizes(5, 2, 0.0), 0, 0.1)) == 0  # no value depends on the model


def test_the_root_finder_finds_the_largest_of_several() -> None:
    found = largest_within(lambda x: np.floor(x), np.array([2.0, -7.0, 1e6]), np.zeros(3))
    np.testing.assert_allclose(found, [3, -6, 1e6 + 1], rtol=1e-15)
    assert np.all(np.floor(found) <= [2, -7, 1e6])


# --- directions -----------------------------------------------------------------------------------------------------


Function = Callable[..., Any]
RISES, FALLS = 1, -1
DIRECTIONS: list[tuple[Function, str, int]] = [
    (lambda s, a, f: th.horizon(s, a["eps"]), "eps", FALLS),
    *[
        (lambda s, a, f: th.known_threshold(s, a["eps"], a["delta"], a["h"], f), name, way)
        for name, way in [("eps", FALLS), ("delta", FALLS), ("h", RISES)]
    ],
    *[
        (lambda s, a, f: th.sample_complexity(s, a["eps"], a["delta"], a["h"], f).value, name, way)
        for name, way in [("eps", FALLS), ("delta", FALLS), ("h", RISES)]
    ],
    *[
        (lambda s, a, f: th.anytime_error(s, a["t"], a["delta"], a["h"], f).value, name, way)
        for name, way in [("t", FALLS), ("delta", FALLS), ("h", RISES)]
    ],
    *[
        (lambda s, a, f: np.nan_to_num(th.affordable_h(s, a["eps"], a["delta"], a["t"], f).value, nan=-1), name, way)
        for name, way in [("eps", RISES), ("delta", RISES), ("t", RISES)]
    ],
    *[
        (lambda s, a, f: th.failure_probability(s, a["eps"], a["h"], a["t"], f).value, name, way)
        for name, way in [("eps", FALLS), ("h", RISES), ("t", FALLS)]
    ],
    *[
        (lambda s, a, f: th.explicit_exploration_runtime(s, a["eps"], a["delta"], a["h"], form=f).value, name, way)
        for name, way in [("eps", FALLS), ("delta", FALLS), ("h", RISES)]
    ],
    (
        lambda s, a, f: th.explicit_exploration_runtime(s, a["eps"], a["delta"], a["h"], 1 / (1 + a["t"]), f).value,
        "t",
        RISES,
    ),
    *[
        (lambda s, a, f: th.h_star(s, a["eps"], a["delta"], f).value, n, w)
        for n, w in [("eps", FALLS), ("delta", FALLS)]
    ],
    *[
        (lambda s, a, f: th.reachable_error(s, a["h"], a["delta"], form=f).value, name, way)
        for name, way in [("h", FALLS), ("delta", FALLS)]
    ],
    *[(lambda s, a, f: th.optimism_gap(s, a["t"], a["h"], f), n, w) for n, w in [("t", FALLS), ("h", RISES)]],
    *[(lambda s, a, f: th.estimation_gap(s, a["t"], a["delta"], f), n, w) for n, w in [("t", FALLS), ("delta", FALLS)]],
    *[
        (lambda s, a, f: th.sample_complexity_order(s, a["eps"], a["delta"], a["h"]).value, name, way)
        for name, way in [("eps", FALLS), ("delta", FALLS), ("h", RISES)]
    ],
    *[
        (lambda s, a, f: th.anytime_error_order(s, a["t"], a["delta"], a["h"]).value, name, way)
        for name, way in [("t", FALLS), ("delta", FALLS), ("h", RISES)]
    ],
    *[
        (lambda s, a, f: th.explicit_exploration_order(s, a["eps"], a["delta"], a["h"]).value, name, way)
        for name, way in [("eps", FALLS), ("delta", FALLS), ("h", RISES)]
    ],
    *[
        (lambda s, a, f: th.mbie_sample_complexity(s, a["eps"], a["delta"]).value, name, way)
        for name, way in [("eps", FALLS), ("delta", FALLS)]
    ],
    *[
        (lambda s, a, f: th.bolt_sample_complexity(s, a["eps"], a["delta"], 1 + a["h"]).value, name, way)
        for name, way in [("eps", FALLS), ("delta", FALLS), ("h", RISES)]
    ],
    *[(lambda s, a, f: th.pac_mdp(s, a["eps"], a["delta"], f).steps.value, n, w) for n, w in [("delta", FALLS)]],
    *[
        (lambda s, a, f: th.near_bayes(s, a["eps"], a["delta"], 1 + a["h"], form=f).value, name, way)
        for name, way in [("eps", FALLS), ("delta", FALLS), ("h", RISES)]
    ],
]
GRIDS = {
    "eps": np.logspace(-6, 2, 41),
    "delta": np.linspace(1e-4, 0.999, 41),
    "h": np.concatenate([[0.0], np.logspace(-1, 10, 40)]),
    "t": np.logspace(0, 25, 41),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("which", range(len(DIRECTIONS)))
def test_every_function_goes_the_right_way_in_every_argument(which: int, form: Form) -> None:
    function, name, way = DIRECTIONS[which]
    moved = False
    for s in (CHAIN, Sizes(30, 4, 0.5, 2.0, per_transition=True), Sizes(1, 1, 0.99)):
        for eps, delta, h, t in [(0.1, 0.1, 8.0, 1e9), (1e-3, 0.6, 1e6, 1e14), (1.0, 0.3, 50.0, 1e13)]:
            point: dict[str, Any] = {"eps": eps, "delta": delta, "h": h, "t": t, name: GRIDS[name]}
            change = way * np.diff(np.asarray(function(s, point, form), dtype=float))
            change = change[~np.isnan(change)]  # inf - inf
            if form == "printed" and name == "h" and np.any(change < 0):
                falls = np.flatnonzero(change < -1e-12 * np.abs(change).max())
                assert np.all(np.diff(falls) == 1)  # one dip: the printed m falls where its case changes
                moved = True
                continue
            assert np.all(change >= -1e-12 * np.abs(change).max(initial=0)), (s, point, name)
            moved |= bool(np.any(change > 0))
    assert moved


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("field", ["states", "actions", "gamma", "r_max"])
def test_larger_problems_need_more(field: str, form: Form) -> None:
    values: dict[str, list[Any]] = {
        "states": [1, 2, 5, 50, 10**4],
        "actions": [1, 2, 9, 100],
        "gamma": [0.1, 0.5, 0.9, 0.99],
        "r_max": [0.5, 1, 2, 10],
    }
    base: dict[str, Any] = {"states": 5, "actions": 2, "gamma": 0.9, "r_max": 1.0}
    problems = [Sizes(**{**base, field: value}) for value in values[field]]
    functions: list[Callable[[Sizes], Bound]] = [
        lambda s: th.sample_complexity(s, 0.01, 0.1, 8, form),
        lambda s: th.anytime_error(s, 1e12, 0.1, 8, form),
        lambda s: th.explicit_exploration_runtime(s, 0.01, 0.1, 8, form=form),
        lambda s: th.h_star(s, 0.01, 0.1, form),
        lambda s: th.mbie_sample_complexity(s, 0.01, 0.1),
        lambda s: th.bolt_sample_complexity(s, 0.01, 0.1, 50),
    ]
    for f in functions:
        assert np.all(np.diff([float(f(s)) for s in problems]) > 0)


# --- the forms differ by what is documented -------------------------------------------------------------------------


@given(sizes, decades(-4, 0), deltas, hs)
@MANY
def test_theorem_1_the_forms_differ_by_the_documented_factors(s: Sizes, part: float, delta: float, h: float) -> None:
    eps = part * s.top
    few = h <= 12 * s.top / eps * float(th.log_models(s, delta))
    ratio = s.error_scale("corrected") / s.top
    lead = 1.0 if s.per_transition else s.gamma
    assert ratio == pytest.approx(lead / (1 - s.gamma))

    printed, proof, corrected = (float(th.known_threshold(s, eps, delta, h, f)) for f in FORMS)
    near(proof, printed * (1 if few else 36))
    no_h = [float(th.known_threshold(s, eps, delta, 0, f)) for f in FORMS]
    near(no_h[2], no_h[1] * (ratio / 2) ** 2)
    large = [float(th.known_threshold(s, eps, delta, 1e30, f)) for f in FORMS]
    near(large[2], large[1] * ratio)

    near(th.h_star(s, eps, delta, "corrected"), float(th.h_star(s, eps, delta, "printed")) * (ratio / 2) ** 2)
    near(
        th.reachable_error(s, 1 + h, delta, form="corrected"),
        float(th.reachable_error(s, 1 + h, delta, form="printed")) * ratio / 2,
    )
    sharp = lead * 7 / ((1 - s.gamma) * 7 + h)
    near(th.optimism_gap(s, 7, h, "corrected"), float(th.optimism_gap(s, 7, h, "printed")) * sharp)
    assert float(th.optimism_gap(s, 7, h, "corrected")) <= s.error_scale("corrected") * h / (7 + h) * (1 + 1e-12)
    near(th.estimation_gap(s, 7, delta, "corrected"), float(th.estimation_gap(s, 7, delta, "proof")) * ratio / 2)

    if corrected > 0:
        steps = {f: float(th.sample_complexity(s, eps, delta, h, f)) for f in FORMS}
        near(steps["proof"] / steps["printed"], proof / printed)
        more = 1 + 1 / corrected + math.log(2 / delta) / (s.pairs * corrected)
        factor = corrected / proof * (float(th.horizon(s, eps)) + 1) * more / math.log(2 * s.pairs / delta)
        near(steps["corrected"] / steps["proof"], factor)


def test_theorem_1_the_corrected_numbers_of_the_paper_s_notes() -> None:
    """gamma r_max/(1-gamma) h/((1-gamma) n + h), and gamma^2 r_max^2 ln(..)/(2 eps^2 (1-gamma)^4)."""
    s = Sizes(3, 2, 0.9, 2.0)
    near(th.optimism_gap(s, 40, 5), 0.9 * 2 / 0.1 * 5 / (0.1 * 40 + 5))
    near(th.h_star(s, 0.7, 0.2), 0.9**2 * 4 * math.log(2**4 * 6 / 0.2) / (2 * 0.7**2 * 0.1**4))


@given(sizes, decades(-4, 0), deltas, decades(-1, 9))
@MANY
def test_corollary_2_the_forms_differ_by_the_documented_factors(s: Sizes, part: float, delta: float, h: float) -> None:
    eps = part * s.top
    printed, proof, corrected = (float(th.exploration_threshold(s, eps, delta, h, f)) for f in FORMS)
    near(proof, 36 * printed)
    steep = max(1, 2 * s.gamma / (1 - s.gamma))
    b = s.states * steep * math.log(2 * s.states**2 * s.actions / delta)
    near(corrected, proof * s.error_scale("corrected") / s.top * (h + b) / h)
    runtimes = [float(th.explicit_exploration_runtime(s, eps, delta, h, form=f)) for f in FORMS]
    near(runtimes[1], 36 * runtimes[0])
    near(runtimes[1], 36 * h * s.pairs * (s.top / eps) ** 2 * math.log(2 * s.pairs / delta))


def test_corollary_2_a_given_escape_probability_takes_the_place_of_the_smallest() -> None:
    p = 1 / (3 * CHAIN.top)  # eps = 1
    for form in FORMS:
        default = float(th.explicit_exploration_runtime(CHAIN, 1, 0.1, 8, form=form))
        near(th.explicit_exploration_runtime(CHAIN, 1, 0.1, 8, p, form), default)
        near(
            th.explicit_exploration_runtime(CHAIN, 1, 0.1, 8, [p, 2 * p, 1.0], form).value,
            [default, default / 2, default * p],
        )
    near(th.explicit_exploration_order(CHAIN, 1, 0.1, 8, 0.25), 8 * 10 * 20 / 0.25 * math.log(100))
    near(th.explicit_exploration_order(CHAIN, 1, 0.1, 8), 8 * 10 * 20**2 * math.log(100))


@pytest.mark.parametrize("form", FORMS)
def test_corollary_2_an_agent_that_hopes_for_nothing_does_not_explore(form: Form) -> None:
    assert float(th.explicit_exploration_runtime(CHAIN, 1, 0.1, 0, form=form)) == 0


def test_corollary_2_grows_more_slowly_with_accuracy_than_theorem_1() -> None:
    """The paper's message, eps^-2 against eps^-3, in all forms (up to the logarithm in the horizon)."""
    for form in FORMS:
        power = [
            math.log(float(f(CHAIN, 1e-6, 0.1, 8, form=form)) / float(f(CHAIN, 1e-5, 0.1, 8, form=form))) / math.log(10)
            for f in (th.explicit_exploration_runtime, th.sample_complexity)
        ]
        assert power == pytest.approx([2, 3], abs=0.06)


# --- Propositions and remarks ---------------------------------------------------------------------------------------


@given(sizes, decades(-3, 0), deltas, forms)
@MANY
def test_proposition_1_h_star_gives_the_pac_mdp_numbers(s: Sizes, part: float, delta: float, form: Form) -> None:
    """Both conditions hold at half the error and half the failure probability, so their sums are what is asked for."""
    eps = part * s.top
    result = th.pac_mdp(s, eps, delta, form)
    h = float(result.h)
    assert h == math.ceil(h)
    first = float(th.anytime_error(s, max(float(result.steps), 1), delta / 2, h, form))
    second = float(th.reachable_error(s, h, delta / 2, form=form)) if s.error_scale(form) > 0 else 0.0
    assert first + second <= eps * (1 + 1e-9)
    near(result.steps, th.sample_complexity(s, eps / 2, delta / 2, h, form))
    if h > 1:
        assert float(th.reachable_error(s, h - 1, delta / 2, form=form)) > eps / 2 * (1 - 1e-12)


@pytest.mark.parametrize("form", ["proof", "corrected"])
def test_proposition_1_a_smaller_error_needs_more_hope_and_more_steps(form: Form) -> None:
    result = th.pac_mdp(CHAIN, np.logspace(-6, 1, 50), 0.1, form)
    assert np.all(np.diff(result.h) < 0)
    assert np.all(np.diff(result.steps.value) < 0)


def test_proposition_1_promises_nothing_for_a_coarse_epsilon_and_says_so_at_its_own_epsilon() -> None:
    assert th.pac_mdp(CHAIN, [19, 20, 39], 0.1).steps.vacuous.tolist() == [False, True, True]


@pytest.mark.parametrize("form", FORMS)
def test_proposition_2_is_theorem_1_at_half_the_error_and_the_assumption(form: Form) -> None:
    steps = float(th.sample_complexity(CHAIN, 0.5, 0.1, 148, form))
    near(th.near_bayes(CHAIN, 1, 0.1, 148, form=form), steps)
    near(th.near_bayes(CHAIN, 1, 0.1, 148, assumed=1e9, form=form), steps + 1e9)


def test_remark_1_is_m_times_the_pairs_over_the_chance_of_an_escape_in_a_horizon() -> None:
    """|S||A| m/(eps (1-gamma)) 1/(1-gamma) ln(1/(eps (1-gamma))) ln(1/delta), with the library's m of MBIE."""
    for eps, delta in [(0.01, 0.1), (3.0, 0.5)]:
        m = mbie_threshold(5, 2, 0.95, eps, delta, 1.0)
        H = math.log(1 / (eps * 0.05)) / 0.05
        near(th.mbie_sample_complexity(CHAIN, eps, delta), m * 10 / (eps * 0.05) * H * math.log(1 / delta))
    scaled = Sizes(5, 2, 0.95, 7.0)
    near(th.mbie_sample_complexity(scaled, 0.07, 0.1), th.mbie_sample_complexity(CHAIN, 0.01, 0.1))
    near(
        th.mbie_sample_complexity(CHAIN, 0.01, 0.1, constant=4), 4 * float(th.mbie_sample_complexity(CHAIN, 0.01, 0.1))
    )


def test_remark_1_the_rival_s_settings_of_the_paper_promise_nothing() -> None:
    """MBIE(20, .9) and MBIE(10^4, .2) have eps >= V; VBE's delta of 10^3 is no probability."""
    bound = th.mbie_sample_complexity(CHAIN, [0.01, 20, 1e4, 1], [0.1, 0.9, 0.2, 1e3])
    assert bound.vacuous.tolist() == [False, True, True, True]
    assert "range of values" in bound.why[1]
    assert "probability" in bound.why[3]
    assert np.all(bound.value >= 0)


def test_remark_1_pac_rmdp_needs_fewer_steps_than_mbie_as_long_as_the_paper_says() -> None:
    """At least when h <= |S| (1-gamma)^-3, in orders. It is the logarithms that decide at eps near V."""
    for s in (CHAIN, Sizes(100, 4, 0.9)):
        h = s.states / (1 - s.gamma) ** 3
        assert float(th.sample_complexity_order(s, 0.01, 0.1, h)) < float(th.mbie_sample_complexity(s, 0.01, 0.1))


def test_remark_2_is_theorem_1_with_z_the_squared_horizon() -> None:
    near(th.bolt_sample_complexity(CHAIN, 1, 0.1, 149), th.sample_complexity_order(CHAIN, 1, 0.1, 149.0**2))
    assert th.bolt_sample_complexity(CHAIN, [1, 20], [0.1, 0.1], 149).vacuous.tolist() == [False, True]
    assert bool(th.bolt_sample_complexity(CHAIN, 1, 2.0, 149).vacuous)


# --- rewards of any sign --------------------------------------------------------------------------------------------


@given(sizes, decades(-4, 0), deltas, hs, st.floats(-100, 100))
@MANY
def test_theorem_1_only_the_range_of_values_counts(s: Sizes, part: float, delta: float, h: float, shift: float) -> None:
    """A continuing problem with every reward shifted is the same problem."""
    moved = replace(s, r_min=shift, r_max=shift + s.r_max)
    near(moved.top, s.top, 1e-6)
    eps = part * s.top
    for form in FORMS:
        near(th.sample_complexity(moved, eps, delta, h, form), th.sample_complexity(s, eps, delta, h, form).value, 1e-4)


def test_theorem_1_where_episodes_can_end_nothing_is_worth_nothing_too() -> None:
    costs = Sizes(5, 2, 0.9, r_max=-1.0, r_min=-1.0, ends=True)
    assert costs.top == pytest.approx(10)
    assert Sizes(5, 2, 0.9, r_max=2.0, r_min=1.0, ends=True).top == pytest.approx(20)
    with pytest.raises(InputError, match=r"^r_max is -1\.0, but must be above r_min, -1, unless episodes can end\.$"):
        Sizes(5, 2, 0.9, r_max=-1.0, r_min=-1.0)


# --- sizes that do not fit a float as 2^|S| -------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("states", [10**6, 10**9, 10**15])
def test_large_problems_do_not_overflow(states: int, form: Form) -> None:
    s = Sizes(states, 10, 0.99)
    lam = (states + 1) * math.log(2) + math.log(states * 10 / 0.1)
    near(th.log_models(s, 0.1), lam, 1e-14)
    t = float(th.sample_complexity(s, 0.1, 0.1, 8, form))
    assert math.isfinite(t)
    near(th.anytime_error(s, t, 0.1, 8, form), 0.1)
    for bound in (
        th.h_star(s, 0.1, 0.1, form),
        th.explicit_exploration_runtime(s, 0.1, 0.1, 8, form=form),
        th.mbie_sample_complexity(s, 0.1, 0.1),
        th.bolt_sample_complexity(s, 0.1, 0.1, 100),
        th.pac_mdp(s, 0.1, 0.1, form).steps,
        average_loss(s, 10**6, 0.1, 8, form),
        th.failure_probability(s, 0.1, 8, t, form),
    ):
        assert np.isfinite(bound.value).all()


def test_values_beyond_floats_are_infinite_without_a_warning() -> None:
    for form in FORMS:
        assert float(th.sample_complexity(CHAIN, 1e-300, 0.1, 8, form)) == math.inf
    assert float(th.mbie_sample_complexity(CHAIN, 1e-300, 0.1)) == math.inf


# --- vacuous, vectors, bad input ------------------------------------------------------------------------------------


def test_an_epsilon_no_smaller_than_the_range_of_values_promises_nothing() -> None:
    eps = [19.999, 20.0, 1e4]
    for form in FORMS:
        for bound in (
            th.sample_complexity(CHAIN, eps, 0.1, 8, form),
            th.h_star(CHAIN, eps, 0.1, form),
            th.explicit_exploration_runtime(CHAIN, eps, 0.1, 8, form=form),
            th.near_bayes(CHAIN, eps, 0.1, 8, form=form),
            th.affordable_h(CHAIN, eps, 0.1, 1e15, form),
            th.failure_probability(CHAIN, eps, 8, 1e15, form),
            th.sample_complexity_order(CHAIN, eps, 0.1, 8),
        ):
            assert bound.vacuous.tolist() == [False, True, True]
            assert "20" in bound.why[1]


def test_too_few_steps_promise_nothing() -> None:
    for form in FORMS:
        t = float(th.sample_complexity(CHAIN, 19.99, 0.1, 8, form))
        assert th.anytime_error(CHAIN, [1, t / 2, 2 * t], 0.1, 8, form).vacuous.tolist() == [True, True, False]
        bound = th.failure_probability(CHAIN, 1, 8, [1, 1e20], form)
        assert bound.value[0] == 1
        assert bound.vacuous.tolist() == [True, False]


def test_an_error_over_more_steps_than_there_were_promises_nothing() -> None:
    """gamma near 1, one state: the order of Theorem 1 gives an eps below V before the horizon of that eps is over."""
    s = Sizes(1, 1, 1 - 1e-9)
    bound = th.anytime_error(s, 1e6, 0.5, 0, "printed")
    assert float(bound) < s.top
    assert "horizon" in str(bound.why)
    assert not bool(th.anytime_error(s, 1e12, 0.5, 0, "printed").vacuous)


def test_arguments_broadcast() -> None:
    eps, delta, h = np.array([0.1, 1.0])[:, None, None], np.array([0.1, 0.2, 0.3])[:, None], np.array([0, 1, 8, 64])
    for form in FORMS:
        steps = th.sample_complexity(CHAIN, eps, delta, h, form)
        assert steps.value.shape == steps.why.shape == steps.vacuous.shape == (2, 3, 4)
        near(steps.value[1, 2, 3], th.sample_complexity(CHAIN, 1, 0.3, 64, form))
        error = th.anytime_error(CHAIN, steps.value, delta, h, form).value
        if form != "printed":
            near(error, np.broadcast_to(eps, error.shape))
        loss = average_loss(CHAIN, [[10], [100]], [0.1, 0.2, 0.3], 8, form)
        assert loss.value.shape == (2, 3)


def call(**changes: Any) -> None:
    given = {"states": 5, "actions": 2, "gamma": 0.95, "r_max": 1.0, "eps": 1, "delta": 0.1, "h": 8, "t": 10, **changes}
    s = Sizes(*(given[k] for k in ("states", "actions", "gamma", "r_max")))
    form = given.get("form", "corrected")
    th.sample_complexity(s, given["eps"], given["delta"], given["h"], form)
    th.anytime_error(s, given["t"], given["delta"], given["h"], form)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eps": 0}, "epsilon is 0.0, but must be a finite number above 0."),
        ({"eps": -1}, "epsilon is -1.0, but must be a finite number above 0."),
        ({"eps": math.nan}, "epsilon is nan, but must be a number."),
        ({"eps": math.inf}, "epsilon is inf, but must be a finite number above 0."),
        ({"eps": "1"}, "epsilon is '1', but must be a number."),
        ({"eps": [1, 2, -3]}, "epsilon is -3.0, but must be a finite number above 0."),
        ({"eps": [1, math.nan]}, "epsilon is nan, but must be a finite number above 0."),
        ({"eps": [[1], [1, 2]]}, "epsilon is [[1], [1, 2]], but must be an array of numbers."),
        ({"delta": 0}, "delta is 0.0, but must be above 0 and below 1."),
        ({"delta": 1}, "delta is 1.0, but must be above 0 and below 1."),
        ({"delta": [0.1, 1000]}, "delta is 1000.0, but must be above 0 and below 1."),
        ({"h": -1}, "h is -1.0, but must be a finite number of at least 0."),
        ({"h": math.inf}, "h is inf, but must be a finite number of at least 0."),
        ({"t": 0}, "t is 0.0, but must be a finite number of at least 1."),
        ({"states": 0}, "states is 0, but must be a whole number of at least 1."),
        ({"states": 2.5}, "states is 2.5, but must be a whole number of at least 1."),
        ({"actions": 0}, "actions is 0, but must be a whole number of at least 1."),
        ({"gamma": 1}, "gamma is 1, but must be at least 0 and below 1."),
        ({"gamma": -0.1}, "gamma is -0.1, but must be at least 0 and below 1."),
        ({"r_max": 0}, "r_max is 0, but must be above 0."),
        ({"form": "best"}, "form is 'best', but must be 'printed' or 'proof' or 'corrected'."),
    ],
)
def test_bad_input_is_one_sentence(change: dict[str, Any], message: str) -> None:
    call()
    with pytest.raises(InputError) as error:
        call(**change)
    assert str(error.value) == message


def test_other_bad_input_is_refused_too() -> None:
    for bad, message in (
        (lambda: Sizes(5, 2, 0.9, per_transition="yes"), "per_transition is 'yes', but must be True or False."),  # type: ignore[arg-type]
        (lambda: average_loss(CHAIN, 1.5, 0.1, 8), "T is 1.5, but must be a whole number of steps."),
        (lambda: average_loss(CHAIN, 0, 0.1, 8), "T is 0.0, but must be a finite number of at least 1."),
        (
            lambda: th.explicit_exploration_runtime(CHAIN, 1, 0.1, 8, 0),
            "escape is 0.0, but must be above 0 and at most 1.",
        ),
        (
            lambda: th.explicit_exploration_runtime(CHAIN, 1, 0.1, 8, 1.1),
            "escape is 1.1, but must be above 0 and at most 1.",
        ),
        (lambda: th.estimation_gap(CHAIN, 0, 0.1), "n is 0, but must be above 0."),
        (lambda: th.bolt_sample_complexity(CHAIN, 1, 0.1, 0), "H is 0.0, but must be a finite number of at least 1."),
        (lambda: th.mbie_sample_complexity(CHAIN, 1, 0), "delta is 0.0, but must be a finite number above 0."),
        (
            lambda: th.mbie_sample_complexity(CHAIN, 1, 0.1, constant=-1),
            "constant is -1, but must be a finite number above 0.",
        ),
        (
            lambda: th.near_bayes(CHAIN, 1, 0.1, 5, assumed=-1),
            "assumed is -1.0, but must be a finite number of at least 0.",
        ),
        (
            lambda: th.reachable_error(CHAIN, 1, 0.1, n_min=-1),
            "n_min is -1.0, but must be a finite number of at least 0.",
        ),
        (lambda: th.affordable_h(CHAIN, 1, 0.1, 0.5), "t is 0.5, but must be a finite number of at least 1."),
    ):
        with pytest.raises(InputError) as raised:
            bad()
        assert str(raised.value) == message
