"""Least squares one sample at a time against least squares all at once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hreach import InputError
from hreach.models.features import ActionBlocks, Bias, Concat, Identity, Polynomial, Products, RandomFourier
from hreach.models.least_squares import Factor
from hreach.models.linear import LinearModel

Array = NDArray[np.float64]


class Data:
    """Random samples (s, a, s') in `n` state components and three actions."""

    def __init__(self, seed: int, n: int, count: int) -> None:
        rng = np.random.default_rng(seed)
        self.states, self.following = rng.normal(size=(count, n)), rng.normal(size=(count, n))
        self.actions = rng.integers(0, 3, count)

    def teach(self, model: LinearModel) -> LinearModel:
        for s, a, following in zip(self.states, self.actions, self.following, strict=True):
            model.update(s, int(a), following)
        return model


def quadratic_form(phi: Array, A: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", phi, np.linalg.solve(A, phi.T).T))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(0, 40), st.sampled_from([0.01, 1.0, 30.0]), st.booleans())
def test_one_by_one_equals_all_at_once(seed: int, n: int, count: int, ridge: float, blocks: bool) -> None:
    data, new = Data(seed, n, count), Data(seed + 1, n, 9)
    inner = Concat((Bias(n), Identity(n), Products(n)))
    features = ActionBlocks(inner, 3) if blocks else inner
    model = data.teach(LinearModel(features, ridge=ridge))
    X, phi = features(data.states, data.actions), features(new.states, new.actions)
    A = X.T @ X + ridge * np.eye(features.size)  # the full matrix, zeros of the blocks included
    theta = np.linalg.solve(A, X.T @ data.following)
    np.testing.assert_allclose(model.predict(new.states, new.actions), phi @ theta, rtol=1e-10, atol=1e-10)
    q = model.leverage(new.states, new.actions)
    assert q.shape == (9, n)
    np.testing.assert_allclose(q, np.tile(quadratic_form(phi, A)[:, None], n), rtol=1e-10)
    assert model.samples == count
    assert model.factors[0].repairs == 0


def test_learning_features_in_batches_is_learning_them_one_by_one() -> None:
    rng = np.random.default_rng(0)
    phi, y, actions = rng.normal(size=(50, 4)), rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    one, many = (LinearModel(ActionBlocks(Identity(4), 2), 3) for _ in range(2))
    for p, target, a in zip(phi, y, actions, strict=True):
        one.update_features(p, target, int(a))
    many.update_features(phi, y, actions)
    for name, array in one.state_dict().items():
        np.testing.assert_array_equal(array, many.state_dict()[name])


def test_residuals_are_measured_before_the_update() -> None:
    data = Data(3, 2, 30)
    model, errors = LinearModel(Identity(2), ridge=0.5), []
    for s, a, following in zip(data.states, data.actions, data.following, strict=True):
        errors.append(np.abs(following - model.predict(s[None], np.array([a]))[0]))
        model.update(s, int(a), following)
        np.testing.assert_allclose(model.error_mean, np.mean(errors, axis=0))
        np.testing.assert_allclose(model.error_max, np.max(errors, axis=0))


def test_nothing_learnt_predicts_zero_or_no_change() -> None:
    states, actions = np.ones((2, 3)), np.zeros(2, dtype=int)
    np.testing.assert_array_equal(LinearModel(Identity(3)).predict(states, actions), 0)
    np.testing.assert_array_equal(LinearModel(Identity(3), target="change").predict(states, actions), 1)
    np.testing.assert_allclose(LinearModel(Identity(3), ridge=2).leverage(states, actions), 1.5)
    np.testing.assert_array_equal(LinearModel(Identity(3)).error_mean, [0, 0, 0])


def test_changes_and_chosen_components_are_learnt() -> None:
    rng = np.random.default_rng(1)
    states = rng.normal(size=(200, 2))
    following = states + np.stack([states[:, 1], 0.3 * states[:, 0]], axis=1)
    model = LinearModel(Identity(2), ridge=1e-9, components=(1,), target="change")
    for s, after in zip(states, following, strict=True):
        model.update(s, 0, after)
    assert model.outputs == 1
    np.testing.assert_allclose(model.predict(states, np.zeros(200, dtype=int)), following[:, 1:], atol=1e-8)
    np.testing.assert_allclose(model.factor(0).weights()[0][:, 0], [0.3, 0], atol=1e-8)


def test_components_with_the_same_features_share_one_factor() -> None:
    model = LinearModel([Identity(3), Products(3), Identity(3)])
    assert model.factor(0) is model.factor(2)
    assert model.factor(0) is not model.factor(1)
    assert len(model.factors) == 2
    one = LinearModel(Identity(3))
    assert one.factor(0) is one.factor(1) is one.factor(2)
    data = Data(4, 3, 20)
    data.teach(model)
    for i, each in enumerate((Identity(3), Products(3), Identity(3))):
        X, y = each(data.states, data.actions), data.following[:, i]
        expected = X @ np.linalg.solve(X.T @ X + np.eye(each.size), X.T @ y)
        np.testing.assert_allclose(model.predict(data.states, data.actions)[:, i], expected, rtol=1e-10)
        expected_q = quadratic_form(X, X.T @ X + np.eye(each.size))
        np.testing.assert_allclose(model.leverage(data.states, data.actions)[:, i], expected_q, rtol=1e-10)


# --- numbers that are hard ------------------------------------------------------------------------------------


def scaled_rows(rng: np.random.Generator, count: int) -> Array:
    """Features of sizes 1e8 and 1: X'X has a condition number of 1e16."""
    return np.asarray(rng.normal(size=(count, 3)) * [1e8, 1.0, 1e4])


def test_condition_1e16_keeps_leverages_and_predictions_right() -> None:
    rng = np.random.default_rng(2)
    mix = np.linalg.qr(rng.normal(size=(3, 3)))[0]  # rotated, so that scaling the columns cannot help
    X = scaled_rows(rng, 60) @ mix
    truth = mix.T @ np.array([1e-8, 1.0, 1e-4])
    model = LinearModel(Identity(3), 1, ridge=1e-6)
    model.update_features(X, X @ truth)
    long = np.linalg.qr(np.vstack([X, 1e-3 * np.eye(3)]))[1]  # an oracle that never squares X
    q = np.square(np.linalg.solve(long.T, X.T)).sum(axis=0)
    np.testing.assert_allclose(model.leverage(X, np.zeros(60, dtype=int))[:, 0], q, rtol=1e-6)
    np.testing.assert_allclose(model.predict(X, np.zeros(60, dtype=int))[:, 0], X @ truth, rtol=1e-4, atol=1e-5)
    assert np.linalg.cond(X.T @ X) > 1e15
    assert model.factors[0].repairs == 0


def test_repairing_a_singular_matrix_warns_once_and_goes_on() -> None:
    X = np.outer(np.linspace(1, 2, 50), [1e9, 1e9, 1.0])  # of rank one, and the ridge is lost in rounding
    model = LinearModel(Identity(3), 1, ridge=1e-9)
    model.update_features(X, X[:, 2])
    with pytest.warns(RuntimeWarning, match="not positive definite"):
        model.factors[0].repair(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.factors[0].repair(0)  # warned already
    model.update_features(X, X[:, 2])
    assert model.factors[0].repairs == 2  # the enlarged diagonal does not count as drift
    for values in (model.leverage(X, np.zeros(50, dtype=int)), model.predict(X, np.zeros(50, dtype=int))):
        assert np.isfinite(values).all()
    np.testing.assert_allclose(model.predict(X, np.zeros(50, dtype=int))[:, 0], X[:, 2], rtol=1e-3)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e60])
def test_duplicated_and_zero_features_stay_finite(scale: float) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 1)) * scale
    X = np.hstack([x, x, np.zeros_like(x), np.zeros_like(x)])
    model = LinearModel(Identity(4), 1, ridge=1e-3)
    model.update_features(X, x)
    actions = np.zeros(400, dtype=int)
    everything = [model.leverage(X, actions), model.predict(X, actions), model.terms(X, actions)]
    assert all(np.isfinite(v).all() for v in (*everything, *model.state_dict().values(), *model.eigen().matrices()))
    np.testing.assert_allclose(model.leverage(np.eye(4)[2:], actions[:2]), 1e3, rtol=1e-12)


def test_a_million_updates_keep_the_factor_exact() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1_000_000, 5)) * [1e6, 1, 1e-3, 10, 1]
    theta = np.array([1e-6, 1.0, 1e3, 0.1, -1.0])
    model = LinearModel(Identity(5), 1, ridge=1e-6)
    model.update_features(X, X @ theta + 0.1 * rng.normal(size=len(X)))
    factor = model.factors[0]
    assert factor.repairs == 0
    R = np.linalg.qr(np.vstack([X, 1e-3 * np.eye(5)]))[1]
    q = np.square(np.linalg.solve(R.T, X[:100].T)).sum(axis=0)
    np.testing.assert_allclose(model.leverage(X[:100], np.zeros(100, dtype=int))[:, 0], q, rtol=1e-10)
    np.testing.assert_allclose(factor.weights()[0][:, 0] / theta, 1, atol=6e-4)  # 0.1 / sqrt(1e6), 6 standard errors
    assert model.error_mean[0] == pytest.approx(0.1 * np.sqrt(2 / np.pi), rel=0.02)


@pytest.mark.parametrize("harm", [1e-3, np.nan, -5.0])
def test_a_corrupted_root_is_noticed_and_repaired(harm: float) -> None:
    data = Data(5, 3, 40)
    model, sound = (data.teach(LinearModel(Polynomial(3, 2))) for _ in range(2))
    model.factors[0].root[0, 2, 4] += harm
    model.factors[0].rotated[0, 3, 0] += harm
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data.teach(model)
    assert model.factors[0].repairs == 1
    data.teach(sound)
    np.testing.assert_allclose(model.factors[0].root, sound.factors[0].root, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.factors[0].weights(), sound.factors[0].weights(), rtol=1e-8, atol=1e-10)


# --- eigenvalues ----------------------------------------------------------------------------------------------


def test_g_w_and_z_are_the_papers() -> None:
    X = np.diag([3.0, 1.0, 0.5, 0.0])
    model = LinearModel(Identity(4), 1, ridge=0.1)
    model.update_features(X, np.zeros(4))
    np.testing.assert_allclose(model.eigen().values, [[9, 1, 0.25, 0]], atol=1e-12)
    g, w, z = model.eigen().matrices(ridge=1.0)
    np.testing.assert_allclose(g[0], np.diag([1 / 9, 1, 0, 0]), atol=1e-12)  # an eigenvalue of exactly 1 is large
    np.testing.assert_allclose(w[0], np.diag([0, 0, 1, 1]), atol=1e-12)
    np.testing.assert_allclose(z[0], np.diag([1 / 10, 1 / 2, 1 / 1.25, 1]), atol=1e-12)
    small = model.eigen().matrices(ridge=1.0, rule="small")[2]
    np.testing.assert_allclose(small[0], np.diag([1 / 9, 1, 1 / 1.25, 1]), atol=1e-12)
    model.update_features(np.array([0, 0, 0, 0.1]), [0.0])
    regular = model.eigen().matrices()[2]
    np.testing.assert_allclose(regular[0], np.diag([1 / 9, 1, 4, 100]), rtol=1e-9, atol=1e-9)  # as printed
    states, actions = np.random.default_rng(0).normal(size=(5, 4)), np.zeros(5, dtype=int)
    expected = [
        np.square(states[:, :2]) @ [1 / 9, 1],
        np.linalg.norm(states * [1 / 9, 1, 4, 100], axis=1),
        np.linalg.norm(states[:, 2:], axis=1),
    ]
    np.testing.assert_allclose(model.terms(states, actions)[:, :, 0], expected, rtol=1e-9)


def test_eigenvalues_are_renewed_only_when_the_data_has_grown() -> None:
    rng = np.random.default_rng(6)
    model = LinearModel(Identity(3), 1, refresh_growth=0.05)
    model.update_features(rng.normal(size=(100, 3)), np.zeros(100))
    before = model.eigen().values.copy()
    model.update_features(rng.normal(size=(4, 3)), np.zeros(4))
    np.testing.assert_array_equal(model.eigen().values, before)
    model.update_features(rng.normal(size=(1, 3)), np.zeros(1))
    after = model.eigen().values
    assert (after > before).all()
    np.testing.assert_allclose(after[0], np.linalg.eigvalsh(model.factors[0].gram[0])[::-1])


# --- truncation -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("several", [False, True])
def test_a_truncated_model_predicts_no_change_beyond_those_seen(several: bool) -> None:
    features = [ActionBlocks(RandomFourier(3, 10), 3), *[Identity(3)] * 2] if several else Polynomial(3, 2)
    model, plain = LinearModel(features, truncate=True, target="change"), LinearModel(features, target="change")
    x, a = np.random.default_rng(3).uniform(-1, 1, size=(60, 3)), np.arange(60) % 3
    changes = np.sin(x) + np.array([0.0, 0.0, 2.0])  # the last one only grows
    for each in (model, plain):
        each.update(x, a, x + changes)
    least, most = np.minimum(changes.min(axis=0), 0), changes.max(axis=0)
    np.testing.assert_allclose(model.seen_changes, (least, most), rtol=1e-14)
    far = np.random.default_rng(4).uniform(-5, 5, size=(200, 3))
    free, cut = (m.predict(far, np.arange(200) % 3) - far for m in (plain, model))
    np.testing.assert_allclose(cut, np.clip(free, least, most), atol=1e-13)
    assert (cut != free).mean() > 0.1
    truth = np.sin(far) * [0.5, 0.5, 0.0] + [0.0, 0.0, 1.0]  # any change within the range
    truth = np.clip(truth, least, most)
    assert (np.abs(cut - truth) <= np.abs(free - truth) + 1e-13).all()
    np.testing.assert_array_equal(model.leverage(far, a[:1].repeat(200)), plain.leverage(far, a[:1].repeat(200)))
    copy = LinearModel(features, truncate=True, target="change")
    copy.load_state_dict(model.state_dict())
    np.testing.assert_array_equal(copy.seen_changes, model.seen_changes)


def test_a_truncated_model_without_data_predicts_no_change() -> None:
    model = LinearModel(Identity(2), truncate=True, target="change")
    np.testing.assert_array_equal(model.predict([[1.0, 2.0]], [0]), [[1.0, 2.0]])


# --- saving, and input that cannot be used --------------------------------------------------------------------


def test_a_saved_model_goes_on_as_if_nothing_had_happened() -> None:
    features = [ActionBlocks(RandomFourier(3, 10), 3), Identity(3), Identity(3)]
    model, copy = LinearModel(features), LinearModel(features)
    data, more = Data(7, 3, 50), Data(8, 3, 2)
    data.teach(model)
    model.eigen(0)
    copy.load_state_dict(model.state_dict())
    for each in (model, copy):
        more.teach(each)
    for compare in (model.predict, model.leverage, model.terms):
        other = getattr(copy, compare.__name__)
        np.testing.assert_array_equal(compare(data.states, data.actions), other(data.states, data.actions))
    np.testing.assert_array_equal(model.error_mean, copy.error_mean)
    assert model.samples == copy.samples == 52
    saved = model.state_dict()
    saved["0.gram"][:] = 0  # a copy, not the model's own
    assert model.factors[0].gram.any()


def test_a_state_of_another_model_is_refused_whole() -> None:
    model, other = Data(1, 2, 5).teach(LinearModel(Identity(2))), LinearModel(Identity(3))
    before = model.state_dict()
    with pytest.raises(InputError, match=r"^shape of 0\.gram"):
        model.load_state_dict(other.state_dict())
    with pytest.raises(InputError, match=r"^state_dict is"):
        model.load_state_dict({"0.gram": np.zeros((1, 2, 2))})
    with pytest.raises(InputError, match=r"^0\.root is .*finite"):
        model.load_state_dict({**before, "0.root": np.full((1, 2, 2), np.nan)})
    for name, array in model.state_dict().items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinearModel(Identity(2), ridge=0), "ridge is 0"),
        (lambda: LinearModel(Identity(2), 3), "components is"),
        (lambda: LinearModel(Identity(2), components=(2,)), "components is"),
        (lambda: LinearModel([Identity(2)], 2), "outputs is 2"),
        (lambda: LinearModel([]), "features is"),
        (lambda: LinearModel([Identity(2), Identity(3)]), "state components of the maps is"),
        (lambda: LinearModel(Identity(2), target="delta"), "target is"),  # type: ignore[arg-type]
        (lambda: LinearModel(Identity(2), refresh_growth=-1), "refresh_growth is"),
        (lambda: LinearModel(Identity(2), truncate=True), "truncate is True, but must be false unless target is"),
        (lambda: LinearModel(Identity(2)).update([1.0], 0, [1.0, 2.0]), "shape of states is"),
        (lambda: LinearModel(Identity(2)).update([1.0, 2.0], 0, [1.0]), "shape of next_state is"),
        (lambda: LinearModel(Identity(2)).update([1.0, np.nan], 0, [1.0, 2.0]), "states is"),
        (lambda: LinearModel(Identity(2)).update([1.0, 2.0], 0, [1.0, np.nan]), "y has a value that is not finite"),
        (lambda: LinearModel(Identity(2)).update([1e101, 2.0], 0, [1.0, 2.0]), "features has a value"),
        (lambda: LinearModel(Identity(2)).update_features([1.0, 2.0, 3.0], [1.0, 2.0]), "shape of phi is"),
        (lambda: LinearModel(Identity(2)).update_features([1.0, 2.0], [1.0]), "shape of y is"),
        (lambda: LinearModel(Identity(2), 1).update_features(np.ones((2, 2)), np.ones(3)), "shape of y is"),
        (lambda: LinearModel([Identity(2), Products(2)]).update_features([np.ones(2)], [1.0, 1.0]), "phi is 1"),
        (lambda: LinearModel(ActionBlocks(Identity(2), 2)).update([1.0, 2.0], 2, [1.0, 2.0]), "actions is .*below 2"),
        (lambda: LinearModel(ActionBlocks(Identity(2), 2)).update([1.0, 2.0], -1, [1.0, 2.0]), "actions is"),
    ],
)
def test_bad_input_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        make()


def test_a_refused_sample_leaves_nothing_behind() -> None:
    model = LinearModel([Identity(2), Products(2)])
    with pytest.raises(InputError, match=r"^shape of phi"):
        model.update_features([np.ones(2), np.ones(2)], [1.0, 1.0])
    assert model.samples == 0
    assert not any(f.gram.any() for f in model.factors)


@pytest.mark.parametrize("n", [1, 7, 24, 25, 40])
def test_leverages_of_few_and_of_many_features_are_the_same_formula(n: int) -> None:
    """Up to 24 features in our own code, eight rows at a time; beyond that by BLAS."""
    rng = np.random.default_rng(n)
    factor = Factor(n, 1, 3, 0.2, 1e-9)
    phi, block = rng.normal(size=(90, n)), rng.integers(3, size=90)
    factor.learn(phi, block, rng.normal(size=(90, 1)))
    for rows in (1, 5, 8, 33):
        asked, of = rng.normal(size=(rows, n)), rng.integers(3, size=rows)
        A = factor.gram + 0.2 * np.eye(n)
        exact = [p @ np.linalg.solve(A[b], p) for p, b in zip(asked, of, strict=True)]
        np.testing.assert_allclose(factor.leverage(asked, of), exact, rtol=1e-9)


@pytest.mark.parametrize("rule", ["small", "singular"])
@pytest.mark.parametrize("n", [3, 24, 25])
def test_terms_of_few_and_of_many_features_are_the_same_formula(n: int, rule: Any) -> None:
    """Against g, w and z themselves."""
    rng = np.random.default_rng(n)
    factor = Factor(n, 1, 2, 0.2, 1e-9)
    factor.learn(rng.normal(size=(60, n)), rng.integers(2, size=60), rng.normal(size=(60, 1)))
    spectrum = factor.spectrum(0.0)
    g, w, z = spectrum.matrices(1.0, rule)
    phi, block = rng.normal(size=(17, n)), rng.integers(2, size=17)
    exact = [
        (p @ g[b] @ p, np.linalg.norm(p @ z[b]), np.linalg.norm(w[b] @ p)) for p, b in zip(phi, block, strict=True)
    ]
    np.testing.assert_allclose(spectrum.terms(phi, block, 1.0, rule), np.transpose(exact), rtol=1e-9, atol=1e-9)
    known = spectrum.known_terms(phi, block)
    np.testing.assert_allclose(known, np.transpose(exact)[::2], rtol=1e-7, atol=1e-8 * float(np.abs(phi).max()))
