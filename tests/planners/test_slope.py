"""L on a grid: both rules against a look at every pair of points, and how far they can be apart."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import hreach
from hreach.planners.grid import Grid
from hreach.planners.slope import steepest
from hreach.planners.tree import slope_between

Array = NDArray[np.float64]
some = settings(deadline=None, derandomize=True, max_examples=150)


def random_case(seed: int) -> tuple[Grid, Array]:
    """A grid of one to three dimensions and values on it: noise, a plane, a cliff or a smooth hill."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    low = rng.normal(0, 3, d)
    grid = Grid(low, low + 10 ** rng.uniform(-2, 1, d), tuple(int(n) for n in rng.integers(2, 7, d)))
    plane = grid.points @ rng.normal(size=d)
    values = (rng.normal(size=len(plane)), plane, np.where(plane > np.median(plane), 5.0, 0.0), np.sin(plane))
    return grid, values[seed % 4]


def by_brute_force(grid: Grid, value: Array, axis: bool) -> float:
    """Every pair of points, or those that differ in one coordinate by one step."""
    places = list(itertools.product(*[range(n) for n in grid.shape]))
    largest = 0.0
    for (i, one), (j, other) in itertools.combinations(enumerate(places), 2):
        if not axis or sum(abs(a - b) for a, b in zip(one, other, strict=True)) == 1:
            distance = float(np.linalg.norm(grid.points[i] - grid.points[j]))
            largest = max(largest, abs(float(value[i] - value[j])) / distance)
    return largest


@given(seed=st.integers(0, 10**6))
@some
def test_both_rules_equal_a_look_at_every_pair(seed: int) -> None:
    grid, value = random_case(seed)
    assert grid.slope(value) == pytest.approx(by_brute_force(grid, value, axis=False), rel=1e-9)
    assert grid.slope(value, "axis") == pytest.approx(by_brute_force(grid, value, axis=True), rel=1e-9)


@given(seed=st.integers(0, 10**6))
@some
def test_the_axis_rule_is_at_most_the_root_of_the_dimensions_below(seed: int) -> None:
    grid, value = random_case(seed)
    axis, paper = grid.slope(value, "axis"), grid.slope(value)
    assert axis <= paper <= axis * np.sqrt(len(grid.shape)) * (1 + 1e-12)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_the_root_of_the_dimensions_is_attained(dimensions: int) -> None:
    grid = Grid(np.zeros(dimensions), np.full(dimensions, 2.0), (3,) * dimensions)
    value = grid.points.sum(axis=1)
    assert grid.slope(value, "axis") == pytest.approx(1.0)
    assert grid.slope(value) == pytest.approx(np.sqrt(dimensions))


def test_points_far_apart_can_be_the_steepest_pair() -> None:
    """Up a plane with gradient (2, 1) no pair within a cell is as steep as (2, 1) itself."""
    grid = Grid(np.zeros(2), np.full(2, 4.0), (5, 5))
    value = grid.points @ np.array([2.0, 1.0])
    within_a_cell = max(2.0, 3 / np.sqrt(2))
    assert grid.slope(value) == pytest.approx(np.sqrt(5))
    assert grid.slope(value) > within_a_cell + 0.1


def test_a_flat_value_has_no_slope() -> None:
    assert steepest(np.full((3, 4), 7.0), np.array([1.0, 0.1])) == 0.0


@pytest.mark.parametrize("rule", ["paper", "axis"])
def test_an_agent_uses_the_rule_it_is_given_and_tells_it(rule: str) -> None:
    agent = hreach.make_agent("linear-pac-rmdp", hreach.make_domain("mountain-car"), h=0, grid=(8, 7), slope=rule)
    agent.plan()
    grid, value = agent.planner.values.grid, agent.planner.values.value
    assert agent.planner.slope == pytest.approx(by_brute_force(grid, value, axis=rule == "axis"), rel=1e-6)
    said = agent.describe()
    assert said["slope"] == agent.planner.slope
    assert ("any two points" in said["settings"]["slope_rule"]) == (rule == "paper")


def test_the_paper_s_rule_is_the_default_of_a_grid_and_of_a_tree() -> None:
    """The tree's Omega is the root's children; the same formula over all pairs of them."""
    agent = hreach.make_agent("linear-pac-rmdp", hreach.make_domain("mountain-car"), h=0, grid=(8, 7))
    agent.plan()
    values = agent.planner.values
    assert agent.planner.slope == pytest.approx(slope_between(values.grid.points, values.value), rel=1e-6)
    said = hreach.make_agent("linear-pac-rmdp", hreach.make_domain("hiv"), h=1).describe()
    assert said["settings"]["slope_rule"] == "the largest slope between the root's children"


def test_on_mountain_car_both_rules_give_the_same_run() -> None:
    """So the docs say; on the plane of `test_the_root_of_the_dimensions_is_attained` they do not."""
    env, rewards = hreach.make_domain("mountain-car", max_steps=300), []
    for rule in ("paper", "axis"):
        agent = hreach.make_agent("linear-pac-rmdp", env, h=1, slope=rule)
        rewards.append(hreach.run(env, agent, episodes=4, seed=2).rewards)
    assert np.array_equal(rewards[0], rewards[1])


def test_a_slope_by_hand_says_so() -> None:
    agent = hreach.make_agent("linear-pac-rmdp", hreach.make_domain("mountain-car"), h=1, slope=3)
    said = agent.describe()
    assert (said["origin"], said["slope"], said["settings"]["slope_rule"]) == ("given", 3.0, "given")


@pytest.mark.parametrize(
    ("domain", "slope", "words"),
    [
        ("mountain-car", "steep", "slope is 'steep', but must be a number of at least 0, or 'paper' or 'axis'"),
        ("mountain-car", -1, "slope is -1, but must be a finite number of at least 0"),
        ("mountain-car", None, "slope is None, but must be a number"),
        ("hiv", "axis", "slope is 'axis', but must be a number of at least 0, or 'paper'"),
    ],
)
def test_a_bad_slope_is_one_sentence(domain: str, slope: object, words: str) -> None:
    with pytest.raises(hreach.InputError) as raised:
        hreach.make_agent("linear-pac-rmdp", hreach.make_domain(domain), h=1, slope=slope)
    assert words in str(raised.value)
