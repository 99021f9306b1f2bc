"""Exhaustive search: against a plain enumeration of all sequences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import hreach
from hreach.planners.tree import Tree, slope_between

Array = NDArray[np.float64]
Actions = NDArray[np.int64]
some = settings(deadline=None, derandomize=True, max_examples=40)


def step(states: Array, actions: Actions) -> Array:
    """Some dynamics of two components that distinguish every history."""
    x, y = states.T
    return np.stack([0.7 * x + np.sin(y + actions), 0.5 * y - 0.3 * x * actions + 0.1], axis=1)


def paid(states: Array, actions: Actions, after: Array) -> Array:
    return np.asarray(after[:, 0] * after[:, 1] + 0.3 * actions - states[:, 1] ** 2)


def by_enumeration(root: Array, actions: int, lengths: tuple[int, ...], gamma: float) -> Array:
    """The best discounted sum for each first action, (A,), one sequence at a time."""
    best = np.full(actions, -np.inf)
    for sequence in itertools.product(range(actions), repeat=len(lengths)):
        held = [a for a, length in zip(sequence, lengths, strict=True) for _ in range(length)]
        state, total = root[None], 0.0
        for k, a in enumerate(held):
            action = np.array([a])
            after = step(state, action)
            total += gamma**k * float(paid(state, action, after)[0])
            state = after
        best[sequence[0]] = max(best[sequence[0]], total)
    return best


cases = st.tuples(st.integers(1, 4), st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(0, 10**6))


@some
@given(cases)
def test_the_search_is_exhaustive(case: tuple[int, list[int], int]) -> None:
    actions, lengths, seed = case
    root = np.random.default_rng(seed).normal(size=2)
    tree = Tree(actions, tuple(lengths), 0.9)
    states = tree.grow(root, step)
    assert len(states) == tree.size == len(tree.taken) == len(tree.parents)
    reward = paid(states, tree.taken, step(states, tree.taken))
    q, after = tree.back_up(reward)
    first_q = q[:actions]
    np.testing.assert_allclose(first_q, by_enumeration(root, actions, tuple(lengths), 0.9), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(q, reward + 0.9 * after, rtol=1e-12, atol=1e-12)
    # the sequence it names earns what it promises
    first = int(first_q.argmax())
    sequence = tree.sequence(q, first)
    assert len(sequence) == sum(lengths)
    state, total = root[None], 0.0
    for k, a in enumerate(sequence):
        action = np.array([a])
        following = step(state, action)
        total += 0.9**k * float(paid(state, action, following)[0])
        state = following
    assert total == pytest.approx(first_q[first])


def test_what_is_not_known_is_worth_the_best() -> None:
    tree = Tree(2, (1, 1), 0.5)
    reward = np.array([1.0, 2.0, 10.0, 0.0, 0.0, 0.0])
    known = np.array([True, True, True, True, False, True])
    q, _ = tree.back_up(reward, known, best=100.0)
    assert q[:2].tolist() == [1 + 5.0, 2 + 50.0]
    known[0] = False
    assert tree.back_up(reward, known, best=100.0)[0][:2].tolist() == [100.0, 52.0]


def test_a_tree_that_does_not_fit_is_refused_with_its_size() -> None:
    tree = Tree(4, (1,) * 14, 0.9)
    with pytest.raises(hreach.InputError, match=r"3\.58e\+08 nodes and 35\.8 GB, but must need at most 1 GB\."):
        tree.check_size(100)
    Tree(4, (1,) * 6, 0.9).check_size(100)


def test_slope_between_states() -> None:
    states = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0], [0.0, 0.0]])
    value = np.array([0.0, 10.0, 3.0, 100.0])  # the last one stands on the first: no slope between them
    expected = max(
        abs(value[i] - value[j]) / np.linalg.norm(states[i] - states[j])
        for i, j in itertools.combinations(range(4), 2)
        if (states[i] != states[j]).any()
    )
    assert slope_between(states, value) == pytest.approx(expected)
    assert slope_between(states[:1], value[:1]) == 0.0
