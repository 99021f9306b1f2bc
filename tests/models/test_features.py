"""Feature maps against their formulas, written out row by row."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kstest

from hreach import InputError
from hreach.models.feature_map import FeatureMap
from hreach.models.features import (
    RBF,
    ActionBlocks,
    ActionValue,
    Bias,
    Concat,
    Identity,
    Log10,
    Polynomial,
    Power10,
    Products,
    RandomFourier,
    Scaled,
    Select,
    Term,
    from_settings,
    rbf_grid,
)

Array = NDArray[np.float64]
RNG = np.random.default_rng(5)
S3, A3 = RNG.normal(size=(7, 3)), RNG.integers(0, 3, 7)


def every_map() -> list[FeatureMap]:
    return [
        Bias(3), Identity(3), Products(3), Polynomial(3, 3), Power10(3),
        rbf_grid([-1] * 3, [1] * 3, 3, normalised=True), RandomFourier(3, 8), Term(3, "cos", 1, 3.0),
        ActionValue(3, (-1, 0, 1)), Concat((Bias(3), Identity(3))),
        Select(Identity(2), 3, (2, 0)), Scaled(Identity(3), 1, 2), Log10(Identity(3)), ActionBlocks(Identity(3), 3),
    ]  # fmt: skip


@pytest.mark.parametrize("each", every_map(), ids=lambda m: type(m).__name__)
def test_every_map_keeps_the_contract(each: FeatureMap) -> None:
    phi = each(S3, A3)
    assert phi.shape == (7, each.size)
    assert phi.dtype == np.float64
    np.testing.assert_array_equal(phi[2:4], each(S3[2:4], A3[2:4]))  # rows do not influence each other
    assert each(np.zeros((0, 3)), np.zeros(0, dtype=int)).shape == (0, each.size)
    assert each == next(m for m in every_map() if type(m) is type(each))
    assert hash(each) == hash(next(m for m in every_map() if type(m) is type(each)))


def test_hiv_has_six_states_and_fifteen_products() -> None:
    hiv, states = Concat((Identity(6), Products(6))), RNG.normal(size=(4, 6))
    assert hiv.size == 21
    expected = [[*s, *(s[i] * s[j] for i, j in combinations(range(6), 2))] for s in states]
    np.testing.assert_allclose(hiv(states, np.zeros(4, dtype=int)), expected, rtol=1e-15)


def test_polynomials_hold_every_monomial_once() -> None:
    phi = Polynomial(2, 3)(np.array([[2.0, 3.0]]), np.array([0]))
    np.testing.assert_allclose(phi, [[2, 3, 4, 6, 9, 8, 12, 18, 27]])


def test_powers_of_ten_stay_within_what_a_model_takes() -> None:
    states = np.array([[-1e9, -300.0, -2.5], [0.0, 3.25, 7.0], [99.0, 100.0, 1e9]])
    phi = Power10(3)(states, np.zeros(3, dtype=int))
    expected = [[10.0 ** min(max(v, -300.0), 100.0) for v in s] for s in states.tolist()]
    np.testing.assert_allclose(phi, expected, rtol=1e-15)
    assert phi.min() > 0
    assert phi.max() <= 1e100
    inner = Scaled(Power10(3), (1, 2, 3), 1)
    np.testing.assert_allclose(inner(S3, A3), 10 ** (S3 - [1, 2, 3]), rtol=1e-14)


@pytest.mark.parametrize("normalised", [False, True])
def test_radial_basis_functions_on_a_grid(normalised: bool) -> None:
    centres, widths = ((-1.0, 0.0, 2.0), (0.5, 1.0)), (0.7, 0.3)
    states = RNG.normal(size=(5, 2))
    rows = []
    for s in states:
        row = [
            math.exp(-sum((x - c) ** 2 / (2 * b**2) for x, c, b in zip(s, node, widths, strict=True)))
            for node in product(*centres)
        ]
        rows.append([v / sum(row) for v in row] if normalised else row)
    np.testing.assert_allclose(RBF(centres, widths, normalised)(states, np.zeros(5, dtype=int)), rows, rtol=1e-12)


def test_an_even_grid_is_as_wide_as_its_spacing() -> None:
    grid = rbf_grid((-1.2, -0.07), (0.6, 0.07), 30)
    assert grid.size == 900
    assert grid.widths == pytest.approx((1.8 / 29, 0.14 / 29))  # 0.0621 and 0.00483 (spec, section 7)
    assert grid.centres[0][0] == -1.2
    assert grid.centres[1][-1] == 0.07


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.floats(-1e300, 1e300), st.floats(-1e6, 1e6))
def test_normalised_functions_sum_to_one_however_far_away(x: float, y: float) -> None:
    phi = rbf_grid((-1, -1), (1, 1), 4, normalised=True)(np.array([[x, y]]), np.array([0]))
    assert phi.sum() == pytest.approx(1, abs=1e-12)
    assert phi.min() >= 0


def test_random_fourier_features_approach_the_gaussian_kernel_and_depend_on_the_seed_alone() -> None:
    fourier, states = RandomFourier(2, 20000, (0.5, 2.0), seed=3), RNG.normal(size=(6, 2))
    actions = np.zeros(6, dtype=int)
    phi = fourier(states, actions)
    np.testing.assert_allclose(phi, np.sqrt(2 / 20000) * np.cos(states @ fourier.omega + fourier.phase))
    gap = (states[:, None] - states[None]) / np.array([0.5, 2.0])
    np.testing.assert_allclose(phi @ phi.T, np.exp(-np.square(gap).sum(axis=2) / 2), atol=0.05)
    np.testing.assert_array_equal(phi, RandomFourier(2, 20000, (0.5, 2.0), seed=3)(states, actions))
    assert not np.array_equal(phi, RandomFourier(2, 20000, (0.5, 2.0), seed=4)(states, actions))


def test_waves_come_in_pairs_at_right_angles_and_no_state_is_longer_than_another() -> None:
    waves = RandomFourier(3, 24, 0.7, seed=5)
    phi = waves(RNG.normal(size=(50, 3)) * 9, np.zeros(50, dtype=int))
    np.testing.assert_allclose(np.square(phi).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(waves.omega[:, :12], waves.omega[:, 12:])
    for block in np.split(waves.omega[:, :12], 4, axis=1):
        square = block.T @ block
        np.testing.assert_allclose(square, np.diag(square.diagonal()), atol=1e-12)
    alone = RandomFourier(3, 23, 0.7, seed=5)
    np.testing.assert_array_equal(alone.omega, waves.omega[:, :23])
    assert RandomFourier(3, 1).size == 1


def test_right_angles_bring_the_kernel_nearer_than_independent_waves() -> None:
    states, actions = np.random.default_rng(8).normal(size=(12, 6)), np.zeros(12, dtype=int)
    kernel = np.exp(-np.square(states[:, None] - states[None]).sum(axis=2) / 18)

    def error(phi: np.ndarray) -> float:
        return float(np.square(phi @ phi.T - kernel).mean())

    ours, theirs, paired = [], [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        omega, phase = rng.normal(size=(6, 60)) / 3, rng.uniform(0, 2 * np.pi, 60)
        ours.append(error(RandomFourier(6, 60, 3.0, seed)(states, actions)))
        theirs.append(error(np.sqrt(2 / 60) * np.cos(states @ omega + phase)))
        turn = states @ omega[:, :30]
        paired.append(error(np.sqrt(1 / 30) * np.concatenate((np.cos(turn), np.sin(turn)), axis=1)))
    for other in (theirs, paired):
        gain = np.array(other) - ours
        assert gain.mean() > 4 * gain.std() / np.sqrt(200)
    lucky = np.array(paired[:100]) - paired[100:]  # the twin: the same waves are not nearer than themselves
    assert lucky.mean() < 4 * lucky.std() / np.sqrt(100)


def test_each_wave_is_normal_by_itself() -> None:
    """By the test of Kolmogorov and Smirnov; its twins are too long, and always of the sign that LAPACK chooses."""
    columns = np.concatenate([RandomFourier(3, 12, 1.0, seed).omega[:, :6] for seed in range(4000)], axis=1)
    for row in columns:
        assert kstest(row, "norm").pvalue > 1e-4
        assert kstest(row[::6], "norm").pvalue > 1e-4
        assert kstest(1.1 * row, "norm").pvalue < 1e-4
        assert kstest(-np.abs(row[::6]), "norm").pvalue < 1e-4


def test_known_terms_by_name_and_by_function() -> None:
    np.testing.assert_allclose(Term(3, "cos", 1, 3)(S3, A3)[:, 0], np.cos(3 * S3[:, 1]))
    own = Term(3, lambda s, a: s[:, 0] * a)
    np.testing.assert_allclose(own(S3, A3)[:, 0], S3[:, 0] * A3)
    np.testing.assert_allclose(ActionValue(3, (-1, 0, 1))(S3, A3)[:, 0], A3 - 1)
    np.testing.assert_allclose(ActionValue(3, ((0, 0), (0.7, 0), (0, 0.3)))(S3, np.full(7, 2)), [[0, 0.3]] * 7)


def test_action_blocks_hold_the_inner_map_in_the_block_of_the_action() -> None:
    phi = ActionBlocks(Concat((Bias(3), Identity(3))), 3)(S3, A3)
    for row, s, a in zip(phi, S3, A3, strict=True):
        np.testing.assert_array_equal(row, [v for b in range(3) for v in ([1, *s] if b == a else [0] * 4)])


def test_transforms_compose() -> None:
    raw = np.array([[1e3, 0.0], [1e9, 10.0], [-5.0, 1e-7]])
    logs = np.array([[3, -5], [6.5, 1], [-5, -5]], dtype=float)
    actions = np.zeros(3, dtype=int)
    np.testing.assert_allclose(Log10(Identity(2), -5, 6.5)(raw, actions), logs)
    both = Log10(Scaled(Identity(2), (1, 2), (3, 4)), -5, 6.5)
    np.testing.assert_allclose(both(raw, actions), (logs - [1, 2]) / [3, 4])
    np.testing.assert_allclose(Select(Products(2), 3, (2, 0))(S3, A3)[:, 0], S3[:, 2] * S3[:, 0])


def test_plain_settings_build_the_same_maps() -> None:
    inner = {"kind": "rbf-grid", "components": [1], "low": -0.07, "high": 0.07, "count": 10}
    car = {
        "kind": "action-blocks",
        "map": {"kind": "concat", "maps": [{"kind": "bias"}, {"kind": "term", "function": "cos", "scale": 3}, inner]},
    }
    parts = (Bias(2), Term(2, "cos", 0, 3), Select(rbf_grid(-0.07, 0.07, 10), 2, (1,)))
    assert from_settings(car, states=2, actions=3) == ActionBlocks(Concat(parts), 3)
    fourier = {"kind": "random-fourier", "count": 5, "length_scale": [1, 2]}
    hiv = {"kind": "log10", "low": -5, "high": 6.5, "map": {"kind": "scaled", "centre": 1, "scale": 2, "map": fourier}}
    assert from_settings(hiv, 2, 4, seed=7) == Log10(Scaled(RandomFourier(2, 5, (1, 2), 7), 1, 2), -5, 6.5)
    assert from_settings({"kind": "power10", "components": [1]}, 2, 1) == Select(Power10(1), 2, (1,))
    assert from_settings({"kind": "rbf", "centres": [[0, 1]], "widths": 1}, 1, 1) == RBF(((0, 1),), 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "fourier"}, r"kind of features is 'fourier', .*did you mean 'random-fourier'"),
        ({}, "kind of features is None"),
        ({"kind": "random-fourier", "cuont": 3}, r"setting of 'random-fourier' is 'cuont', .*did you mean 'count'"),
        ({"kind": "random-fourier"}, "without count"),
        ({"kind": "term", "function": "sine"}, "did you mean 'sin'"),
        ({"kind": "identity", "components": [0, 2]}, "components is"),
        ({"kind": "rbf-grid", "low": 0, "high": 1, "count": 3}, "name its components"),
        ({"kind": "identity", "states": 2}, "setting of 'identity' is 'states'"),
        ({"kind": "concat", "maps": []}, "maps is"),
        ([], "features is"),
    ],
)
def test_settings_that_mean_nothing_are_refused(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        from_settings(given, states=2, actions=3)


@pytest.mark.parametrize("each", every_map(), ids=lambda m: type(m).__name__)
def test_bad_states_and_actions_are_refused_by_every_map(each: FeatureMap) -> None:
    with pytest.raises(InputError, match=r"^shape of states is \(7, 2\), but must be \(N, 3\)"):
        each(S3[:, :2], A3)
    with pytest.raises(InputError, match=r"^shape of states"):
        each(S3[0], A3[:1])
    with pytest.raises(InputError, match=r"^states is .*finite"):
        each(np.where(np.eye(7, 3) > 0, np.nan, S3), A3)
    with pytest.raises(InputError, match=r"^shape of actions"):
        each(S3, A3[:2])
    with pytest.raises(InputError, match=r"^actions is .*at least 0"):
        each(S3, A3 - 3)
    with pytest.raises(InputError, match=r"^actions is .*whole"):
        each(S3, A3 + 0.5)
    with pytest.raises(InputError, match=r"^states is"):
        each([["a", "b", "c"]], [0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ActionBlocks(Identity(3), 2)(S3, np.full(7, 2)), "actions is .*below 2"),
        (lambda: ActionValue(3, (1, 2))(S3, np.full(7, 2)), "actions is .*below 2"),
        (lambda: ActionValue(3, ((1, 2), (3,))), "value is"),
        (lambda: rbf_grid(1, 0, 3), "low is 1"),
        (lambda: rbf_grid(0, 1, 1), "count is"),
        (lambda: RBF(((0.0,),), 0.0), "widths is"),
        (lambda: RBF((), 1.0), "centres is"),
        (lambda: RandomFourier(2, 3, (1, 2, 3)), "length_scale is"),
        (lambda: RandomFourier(2, 3, -1), "length_scale is"),
        (lambda: Scaled(Identity(2), 0, (1, 0)), "scale is 0"),
        (lambda: Scaled(Identity(2), np.nan, 1), "centre is"),
        (lambda: Log10(Identity(2), 3, 2), "low is"),
        (lambda: Select(Identity(2), 3, (0,)), "components is"),
        (lambda: Concat((Bias(1), Bias(2))), "maps is"),
        (lambda: Polynomial(2, 0), "degree is"),
        (lambda: Power10(0), "states is 0"),
        (lambda: Term(3, lambda s, a: s)(S3, A3), "shape of the term is"),
        (lambda: Term(3, lambda s, a: s[:, 0] * np.nan)(S3, A3), "value of the term is"),
    ],
)
def test_bad_settings_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        make()
