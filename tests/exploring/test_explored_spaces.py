"""Observations become names that tell apart what is different, and every action is listed once."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

import hreach
from hreach.errors import InputError
from hreach.exploring.bins import Cut, Quantiles, dimensions, edges_of, parse_bins, readings
from hreach.exploring.spaces import actions_of, naming, states_of, written

FINITE = st.recursive(
    st.one_of(
        st.builds(lambda n, start: spaces.Discrete(n, start=start), st.integers(1, 4), st.integers(-3, 3)),
        st.lists(st.integers(1, 3), min_size=1, max_size=3).map(spaces.MultiDiscrete),
        st.builds(lambda: spaces.MultiDiscrete([2, 3], start=[-1, 5])),
        st.integers(1, 3).map(spaces.MultiBinary),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=2).map(spaces.Tuple),
        st.lists(inner, min_size=1, max_size=2).map(lambda some: spaces.Dict(dict(zip("ab", some, strict=False)))),
    ),
    max_leaves=3,
)


@settings(max_examples=60, deadline=None)
@given(FINITE, st.integers(0, 2**16))
def test_a_finite_space_has_as_many_names_as_elements_and_equal_ones_share_theirs(space: Any, seed: int) -> None:
    name, every = naming(space, []), actions_of(space)
    assert all(space.contains(value) for value in every)
    assert len({name(value) for value in every}) == len(every) == states_of(space, [])
    space.seed(seed)
    drawn = space.sample()
    assert name(drawn) in {name(value) for value in every}
    assert written(drawn)


def line(low: float = -1.0, high: float = 1.0) -> spaces.Box:
    return spaces.Box(low, high, (1,), dtype=np.float64)


def test_equal_bins_have_equal_widths_and_what_lies_outside_falls_into_the_outer_ones() -> None:
    edges = edges_of(line(), 4, lambda: np.zeros((0, 1)))
    assert edges == [(-0.5, 0.0, 0.5)]
    name = naming(line(), edges)
    found = [name(np.array([x])) for x in (-np.inf, -9, -0.75, -0.5, -0.01, 0.0, 0.49, 0.5, 9, np.inf)]
    assert found == [(0,), (0,), (0,), (1,), (1,), (2,), (2,), (3,), (3,), (3,)]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6, unique=True), st.floats(-9, 9))
def test_a_bin_is_the_number_of_edges_at_or_below_the_reading(edges: list[float], reading: float) -> None:
    cut = edges_of(line(), [sorted(edges)], lambda: np.zeros((0, 1)))
    assert naming(line(), cut)(np.array([reading])) == (sum(edge <= reading for edge in edges),)


def test_quantiles_share_out_what_random_actions_see() -> None:
    sample = np.random.default_rng(0).exponential(size=(4000, 1))
    (edges,) = edges_of(line(0, np.inf), Quantiles(4), lambda: sample)
    counts = np.histogram(sample, [-np.inf, *edges, np.inf])[0]
    assert counts.tolist() == [1000] * 4


def test_bins_of_a_nested_space_go_to_its_numbers_in_order() -> None:
    space = spaces.Dict({"place": spaces.Tuple([line(), spaces.Discrete(2)]), "speed": line(-2, 2)})
    assert [d.name for d in dimensions(space)] == ["observation['place'][0][0]", "observation['speed'][0]"]
    cuts: list[Cut] = [2, [-1.0, 1.0]]
    edges = edges_of(space, cuts, lambda: np.zeros((0, 2)))
    seen = {"place": (np.array([0.3]), 1), "speed": np.array([-1.5])}
    assert readings(space, seen) == [0.3, -1.5]
    assert naming(space, edges)(seen) == (((1,), 1), (0,))
    assert states_of(space, edges) == 2 * 2 * 3


def test_bins_as_they_are_written() -> None:
    assert parse_bins("20") == 20
    assert parse_bins("20; -1,0,1.5; quantiles 10") == [20, [-1.0, 0.0, 1.5], Quantiles(10)]
    assert parse_bins("0.5") == [[0.5]]
    for wrong in ("many", "1,x", "quantiles", "quantiles 1"):
        with pytest.raises(InputError):
            parse_bins(wrong)


@pytest.mark.parametrize(
    ("bins", "words"),
    [
        (None, "must be put into bins"),
        ([2, 3], "one entry for all, or one for each of the 1 dimensions"),
        ([[1.0, 0.0]], "edges that ascend"),
        (0, "at least 1"),
    ],
)
def test_bins_that_do_not_fit_are_refused(bins: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        edges_of(line(), bins, lambda: np.zeros((0, 1)))


def test_bins_without_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="left out: there is no Box"):
        hreach.explore("FrozenLake-v1", 100, bins=20)


def test_readings_that_are_nan_or_of_another_shape_are_refused() -> None:
    name = naming(line(), [(0.0,)])
    with pytest.raises(InputError, match="is nan"):
        name(np.array([np.nan]))
    with pytest.raises(InputError, match=r"has the shape \(2,\)"):
        name(np.array([0.0, 1.0]))
    with pytest.raises(InputError, match="must be numbers of the shape"):
        name(np.array(["a"]))


def test_infinitely_and_too_many_actions_are_refused_with_the_fix() -> None:
    with pytest.raises(InputError, match="DiscretizeAction"):
        actions_of(spaces.Tuple([spaces.Discrete(2), line()]))
    with pytest.raises(InputError, match="at most 10000 actions, not of 1048576"):
        actions_of(spaces.MultiBinary(20))


def test_actions_reach_the_environment_as_its_own() -> None:
    every = actions_of(spaces.Dict({"a": spaces.Discrete(2, start=5), "b": spaces.MultiBinary(2)}))
    assert [(v["a"], *v["b"].tolist()) for v in every] == list(itertools.product((5, 6), (0, 1), (0, 1)))
