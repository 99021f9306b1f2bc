"""Planning on a grid: interpolation that averages, a backup that contracts, and the fixed point of a finite MDP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.interpolate import RegularGridInterpolator

import hreach
from hreach.planners.grid import RBF_CELLS, Grid, GridPlanner
from hreach.problems.mdp import TabularMDP

Array = NDArray[np.float64]
Kind = Literal["multilinear", "rbf"]
KINDS: tuple[Kind, Kind] = ("multilinear", "rbf")
FREE = (-1e9, 1e9)  # bounds that cut nothing off
ONE_SWEEP = 1e15  # a tolerance that any sweep meets
some = settings(deadline=None, derandomize=True, max_examples=40)


def random_grid(seed: int, kind: Kind, dimensions: int | None = None) -> Grid:
    rng = np.random.default_rng(seed)
    d = dimensions or int(rng.integers(1, 4))
    low = rng.normal(0, 3, d)
    return Grid(low, low + rng.uniform(0.1, 4, d), tuple(int(n) for n in rng.integers(2, 6, d)), kind)


def somewhere(grid: Grid, rng: np.random.Generator, count: int, beyond: float = 0.5) -> Array:
    """States in the box and up to `beyond` of its width around it."""
    width = grid.high - grid.low
    return rng.uniform(grid.low - beyond * width, grid.high + beyond * width, (count, len(width)))


def matrix(grid: Grid, states: Array) -> Array:
    """The weight of every point for every state, (M, N)."""
    index, weight = grid.weights(states)
    result = np.zeros((len(states), len(grid.points)))
    np.add.at(result, (np.arange(len(states))[:, None], index), weight)
    return result


@dataclass(frozen=True)
class Case:
    """A random problem on a grid: what `plan` takes, and T and its MDP in plain NumPy."""

    grid: Grid
    actions: int
    gamma: float
    reward: Array  # (N A,)
    following: Array  # (J, N A, d)
    goes_on: Array  # (J, N A)
    chance: Array  # (J,)

    def planner(self, bounds: tuple[float, float] = FREE, tolerance: float = 1e-9) -> GridPlanner:
        return GridPlanner(self.grid, self.actions, self.gamma, bounds, tolerance)

    def plan(self, planner: GridPlanner, extra: float = 0.0) -> GridPlanner:
        planner.plan(self.reward + extra, self.following, self.goes_on, self.chance)
        return planner

    def swept(self, value: Array, bounds: tuple[float, float] = FREE) -> GridPlanner:
        planner = self.planner(bounds, ONE_SWEEP)
        planner.value[:] = value
        return self.plan(planner)

    def transitions(self) -> Array:
        """(N A, N), rows of what goes on only."""
        parts = [
            p * on[:, None] * matrix(self.grid, s)
            for p, on, s in zip(self.chance, self.goes_on, self.following, strict=True)
        ]
        return np.asarray(np.sum(parts, axis=0))

    def backup(self, value: Array, bounds: tuple[float, float] = FREE) -> Array:
        """Q of one application of T, (N, A)."""
        return np.clip(self.reward + self.gamma * self.transitions() @ value, *bounds).reshape(-1, self.actions)

    def optimum(self) -> Array:
        """V* of the MDP on the points and one more state where everything has ended."""
        n = len(self.grid.points)
        P = np.zeros((n + 1, self.actions, n + 1))
        P[:n, :, :n] = self.transitions().reshape(n, self.actions, n)
        P[:, :, n] = 1 - P[:, :, :n].sum(axis=2)
        P[:, :, n] = np.where(np.abs(P[:, :, n]) < 1e-12, 0.0, P[:, :, n])
        R = np.zeros((n + 1, self.actions))
        R[:n] = self.reward.reshape(n, self.actions)
        return TabularMDP(P, R, self.gamma).optimal_value()[:n]


def random_case(seed: int, kind: Kind, ends: bool = True, nodes: int | None = None) -> Case:
    grid = random_grid(seed, kind)
    rng = np.random.default_rng(seed + 1)
    actions, J = int(rng.integers(1, 4)), nodes or int(rng.integers(1, 4))
    rows = len(grid.points) * actions
    following = np.stack([somewhere(grid, rng, rows, 0.2) for _ in range(J)])
    goes_on = (rng.random((J, rows)) < (0.7 if ends else 2.0)).astype(np.float64)
    gamma = float(rng.choice([0.0, 0.5, 0.9, 0.97]))
    return Case(grid, actions, gamma, rng.normal(0, 3, rows), following, goes_on, rng.dirichlet(np.ones(J)))


# ---------------------------------------------------------------------------------------------------- interpolation


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dimensions", [1, 2, 3])
@given(seed=st.integers(0, 10**6))
@some
def test_an_interpolation_averages(kind: Kind, dimensions: int, seed: int) -> None:
    grid = random_grid(seed, kind, dimensions)
    rng = np.random.default_rng(seed)
    index, weight = grid.weights(np.concatenate([somewhere(grid, rng, 50, 3.0), grid.points]))
    assert weight.shape == index.shape == (50 + len(grid.points), grid.neighbours)
    assert (weight >= 0).all()
    np.testing.assert_allclose(weight.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert index.min() >= 0
    assert index.max() < len(grid.points)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6))
@some
def test_states_outside_count_as_on_the_border(kind: Kind, seed: int) -> None:
    grid = random_grid(seed, kind)
    states = somewhere(grid, np.random.default_rng(seed), 60, 2.0)
    inside = np.clip(states, grid.low, grid.high)
    assert (states != inside).any()
    np.testing.assert_allclose(matrix(grid, states), matrix(grid, inside), rtol=0, atol=1e-9)


@given(seed=st.integers(0, 10**6))
@some
def test_multilinear_is_exact_at_the_points(seed: int) -> None:
    grid = random_grid(seed, "multilinear")
    np.testing.assert_allclose(matrix(grid, grid.points), np.eye(len(grid.points)), rtol=0, atol=1e-9)


@given(seed=st.integers(0, 10**6))
@some
def test_multilinear_is_exact_for_multilinear_functions(seed: int) -> None:
    grid = random_grid(seed, "multilinear")
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(2, len(grid.shape)))

    def function(states: Array) -> Array:
        return np.asarray((factors[0] + factors[1] * states).prod(axis=1))

    states = somewhere(grid, rng, 50, 0.0)
    got = matrix(grid, states) @ function(grid.points)
    scale = max(1.0, np.abs(function(grid.points)).max())
    np.testing.assert_allclose(got, function(states), rtol=0, atol=1e-9 * scale)


@given(seed=st.integers(0, 10**6))
@some
def test_multilinear_equals_scipy(seed: int) -> None:
    grid = random_grid(seed, "multilinear")
    rng = np.random.default_rng(seed)
    value = rng.normal(size=len(grid.points))
    axes = [np.linspace(a, b, n) for a, b, n in zip(grid.low, grid.high, grid.shape, strict=True)]
    states = somewhere(grid, rng, 50, 0.0)
    expected = RegularGridInterpolator(axes, value.reshape(grid.shape))(states)
    np.testing.assert_allclose(matrix(grid, states) @ value, expected, rtol=0, atol=1e-9)


@given(seed=st.integers(0, 10**6), dimensions=st.integers(1, 2))
@some
def test_rbf_is_the_bump_that_it_says(seed: int, dimensions: int) -> None:
    """exp(-|s - c|^2 / 2) in grid spacings, over the points nearer than RBF_CELLS in every dimension."""
    rng = np.random.default_rng(seed)
    grid = Grid(np.full(dimensions, -2.0), np.full(dimensions, 1.5), (11, 9)[:dimensions], "rbf")
    states = somewhere(grid, rng, 40, 0.0)
    apart = np.abs(states[:, None] - grid.points[None]) / grid.spacing
    bumps = np.exp(-0.5 * (apart**2).sum(axis=2)) * (apart < RBF_CELLS).all(axis=2)
    np.testing.assert_allclose(matrix(grid, states), bumps / bumps.sum(axis=1, keepdims=True), rtol=0, atol=1e-9)


def test_points_are_listed_with_the_last_dimension_fastest() -> None:
    grid = Grid(np.array([0.0, 10.0]), np.array([1.0, 12.0]), (2, 3))
    assert grid.points.tolist() == [[0, 10], [0, 11], [0, 12], [1, 10], [1, 11], [1, 12]]
    assert grid.spacing.tolist() == [1, 1]


def test_neighbours_are_counted() -> None:
    for d in (1, 2, 3):
        assert random_grid(0, "multilinear", d).neighbours == 2**d
        assert random_grid(0, "rbf", d).neighbours == (2 * RBF_CELLS) ** d


def test_a_grid_covers_the_boxes_within_it() -> None:
    grid = Grid(np.array([-1.0, 0.0]), np.array([1.0, 2.0]), (4, 5))
    assert grid.covers([[-1, 0], [1, 2]])
    assert grid.covers([[-0.5, 0.5], [0.5, 1.9]])
    for row, column, by in ((0, 0, -0.1), (0, 1, -0.1), (1, 0, 0.1), (1, 1, 0.1)):
        box = np.array([[-1.0, 0.0], [1.0, 2.0]])
        box[row, column] += by
        assert not grid.covers(box)


# ---------------------------------------------------------------------------------------------------------- planning


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6))
@some
def test_one_sweep_equals_the_reference(kind: Kind, seed: int) -> None:
    case = random_case(seed, kind)
    value = np.random.default_rng(seed).normal(0, 20, len(case.grid.points))
    for bounds in (FREE, (-4.0, 3.0)):
        planner, q = case.swept(value, bounds), case.backup(value, bounds)
        np.testing.assert_allclose(planner.q, q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(planner.value, q.max(axis=1), rtol=0, atol=1e-9)
        assert planner.residual == pytest.approx(np.abs(q.max(axis=1) - value).max())


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6))
@some
def test_a_sweep_contracts_by_gamma(kind: Kind, seed: int) -> None:
    case = random_case(seed, kind)
    rng = np.random.default_rng(seed)
    one, other = rng.normal(0, 20, (2, len(case.grid.points)))
    for bounds in (FREE, (-10.0, 10.0)):
        apart = np.abs(case.swept(one, bounds).value - case.swept(other, bounds).value).max()
        assert apart <= case.gamma * np.abs(one - other).max() + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_the_contraction_is_no_better_than_gamma(kind: Kind) -> None:
    """Values that differ by a constant come nearer by gamma exactly, where everything goes on."""
    case = random_case(3, kind, ends=False)
    value = np.random.default_rng(0).normal(0, 20, len(case.grid.points))
    apart = case.swept(value + 7).value - case.swept(value).value
    np.testing.assert_allclose(apart, case.gamma * 7, rtol=0, atol=1e-9)
    assert case.gamma > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ends", [False, True])
@given(seed=st.integers(0, 10**6), tolerance=st.sampled_from([1e-8, 1e-3, 0.5, 5.0]))
@some
def test_the_fixed_point_is_that_of_the_mdp_on_the_points(kind: Kind, ends: bool, seed: int, tolerance: float) -> None:
    """And the residual bounds the distance from it."""
    case = random_case(seed, kind, ends)
    planner = case.plan(case.planner(tolerance=tolerance))
    error = np.abs(planner.value - case.optimum()).max()
    assert planner.residual <= tolerance
    assert error <= planner.residual * case.gamma / (1 - case.gamma) + 1e-9
    assert error <= tolerance / (1 - case.gamma) + 1e-9


def test_a_coarse_tolerance_leaves_an_error() -> None:
    """The twin of the test above: its bound is not met by a value that is always exact."""
    case = random_case(3, "multilinear", ends=False)
    assert case.gamma > 0
    exact = case.optimum()
    assert np.abs(case.plan(case.planner(tolerance=5.0)).value - exact).max() > 0.01
    assert np.abs(case.plan(case.planner(tolerance=1e-9)).value - exact).max() < 1e-6


def test_terminal_states_matter() -> None:
    case = random_case(3, "multilinear", ends=False)
    none = Case(**{**vars(case), "goes_on": np.zeros_like(case.goes_on)})
    best = case.reward.reshape(-1, case.actions).max(axis=1)
    np.testing.assert_allclose(none.plan(none.planner()).value, best, rtol=0, atol=1e-12)
    assert not np.allclose(case.plan(case.planner()).value, best)


@given(seed=st.integers(0, 10**6))
@some
def test_values_stay_within_the_bounds(seed: int) -> None:
    case = random_case(seed, "multilinear")
    bounds = (-1.0, 1.5)
    planner = case.plan(case.planner(bounds))
    for found in (planner.value, planner.q):
        assert found.min() >= bounds[0]
        assert found.max() <= bounds[1]
    again = case.backup(planner.value, bounds).max(axis=1)  # T contracts, so that it has one fixed point only
    np.testing.assert_allclose(planner.value, again, rtol=0, atol=2e-9)


def test_bounds_cut_off_at_both_ends() -> None:
    case = random_case(3, "multilinear")
    q = case.plan(case.planner((-1.0, 1.5))).q
    assert (q == -1.0).any()
    assert (q == 1.5).any()
    free = case.plan(case.planner()).q
    assert free.min() < -1.0
    assert free.max() > 1.5


@pytest.mark.parametrize(("bounds", "start"), [((-5.0, -1.0), -1.0), ((2.0, 3.0), 2.0), ((-1.0, 1.0), 0.0)])
def test_the_first_value_is_within_the_bounds(bounds: tuple[float, float], start: float) -> None:
    assert set(GridPlanner(random_grid(0, "multilinear"), 2, 0.9, bounds).value) == {start}


@given(seed=st.integers(0, 10**6))
@some
def test_a_warm_start_gives_the_same_answer(seed: int) -> None:
    case = random_case(seed, "multilinear")
    warm = case.plan(case.planner(), extra=5.0)
    before = warm.value.copy()
    case.plan(warm)
    cold = case.plan(case.planner())
    np.testing.assert_allclose(warm.value, cold.value, rtol=0, atol=2e-9 / (1 - case.gamma))
    assert np.abs(before - warm.value).max() > 1


def test_a_plan_starts_from_the_value_of_the_last_one() -> None:
    case = random_case(3, "multilinear")
    planner = case.plan(case.planner(tolerance=1e-6))
    planner.tolerance = ONE_SWEEP
    case.plan(planner)
    assert planner.residual <= 1e-6  # one sweep from where it was; from zero the residual is that of the reward
    assert case.swept(np.zeros(len(case.grid.points))).residual > 0.1


@pytest.mark.parametrize("nodes", [2, 3, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_quadrature_nodes_are_the_explicit_expectation(kind: Kind, nodes: int) -> None:
    case = random_case(11, kind, nodes=nodes)
    value = np.random.default_rng(1).normal(0, 5, len(case.grid.points))
    planner = case.swept(value)
    planner.value[:] = value
    expected = case.reward.copy()
    for p, on, states in zip(case.chance, case.goes_on, case.following, strict=True):
        expected += case.gamma * p * np.where(on > 0, planner.value_at(states), 0.0)
    assert case.gamma > 0
    np.testing.assert_allclose(planner.q.ravel(), expected, rtol=0, atol=1e-9)


def test_equal_nodes_are_one_node() -> None:
    case = random_case(11, "multilinear", nodes=1)
    twice = Case(
        **{
            **vars(case),
            "following": np.repeat(case.following, 2, axis=0),
            "goes_on": np.repeat(case.goes_on, 2, axis=0),
            "chance": np.array([0.3, 0.7]),
        }
    )
    np.testing.assert_allclose(twice.plan(twice.planner()).q, case.plan(case.planner()).q, rtol=0, atol=1e-7)


def test_pairs_are_every_point_with_every_action() -> None:
    states, actions = Grid(np.array([0.0]), np.array([2.0]), (3,)).pairs(2)
    assert states.ravel().tolist() == [0, 0, 1, 1, 2, 2]
    assert actions.tolist() == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_values_elsewhere_are_interpolated(kind: Kind) -> None:
    case = random_case(3, kind)
    planner = case.plan(case.planner())
    states = somewhere(case.grid, np.random.default_rng(0), 30)
    weights = matrix(case.grid, states)
    assert planner.action_values(states).shape == (30, case.actions)
    np.testing.assert_allclose(planner.action_values(states), weights @ planner.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(planner.value_at(states), weights @ planner.value, rtol=0, atol=1e-9)


def test_values_at_the_points_are_those_of_the_plan() -> None:
    case = random_case(3, "multilinear")
    planner = case.plan(case.planner())
    np.testing.assert_allclose(planner.action_values(case.grid.points), planner.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(planner.value_at(case.grid.points), planner.value, rtol=0, atol=1e-9)
    assert np.array_equal(planner.value, planner.q.max(axis=1))


# --------------------------------------------------------------------------------------------------------- bad input

BAD_GRIDS: list[tuple[Any, str]] = [
    (([0.0], [1.0], (1,)), r"grid shape is 1, but must be a whole number of at least 2"),
    (([0.0], [1.0], (2.5,)), r"grid shape is 2.5"),
    (([0.0], [1.0], ("many",)), r"grid shape is 'many'"),
    (([1.0], [0.0], (3,)), r"grid bounds is \(\[1.0\], \[0.0\]\), but must be low below high in 1 dimensions"),
    (([0.0, 1.0], [1.0, 1.0], (3, 3)), r"grid bounds is .*low below high in 2"),
    (([0.0, 0.0], [1.0, 1.0], (3,)), r"grid bounds is .*in 1 dimensions"),
    (([0.0], [float("nan")], (3,)), r"grid bounds is .*nan"),
    (([0.0], [1.0], (3,), "cubic"), r"interpolation is 'cubic', but must be one of multilinear, rbf, projection"),
]
BAD_PLANNERS: list[tuple[dict[str, Any], str]] = [
    ({"actions": 0}, r"actions is 0, but must be a whole number of at least 1"),
    ({"gamma": 1.0}, r"gamma is 1.0, but must be at least 0 and below 1"),
    ({"bounds": (1.0, 0.0)}, r"bounds is \(1.0, 0.0\), but must be the lower first"),
    ({"bounds": (float("nan"), 0.0)}, r"bounds is \(nan, 0.0\)"),
    ({"tolerance": 0.0}, r"tolerance is 0.0, but must be a finite number above 0"),
]


def one_sentence(error: BaseException) -> bool:
    return str(error).endswith(".") and "\n" not in str(error)


@pytest.mark.parametrize(("arguments", "message"), BAD_GRIDS)
def test_bad_grids_get_one_sentence(arguments: Any, message: str) -> None:
    with pytest.raises(hreach.InputError, match=message) as caught:
        Grid(*arguments)
    assert one_sentence(caught.value)


@pytest.mark.parametrize(("change", "message"), BAD_PLANNERS)
def test_bad_planners_get_one_sentence(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"actions": 2, "gamma": 0.9, "bounds": FREE, "tolerance": 0.1}
    GridPlanner(random_grid(0, "multilinear"), **good)
    with pytest.raises(hreach.InputError, match=message) as caught:
        GridPlanner(random_grid(0, "multilinear"), **{**good, **change})
    assert one_sentence(caught.value)


def test_too_large_a_plan_is_refused_with_its_size() -> None:
    grid = Grid(np.zeros(2), np.ones(2), (300, 300), "rbf")
    planner = GridPlanner(grid, 1, 0.9, FREE)
    nothing = np.zeros((20, 0, 2))
    with pytest.raises(hreach.InputError, match=r"\(300, 300\), 6.48e\+07 weights, .* at most 5e\+07") as caught:
        planner.plan(np.zeros(0), nothing, nothing[:, :, 0], np.full(20, 0.05))  # 300^2 points, 36 weights, 20 nodes
    assert one_sentence(caught.value)


# -------------------------------------------------------------------------------------------------------- projection


def line(points: int, kind: Any = "projection") -> Grid:
    return Grid(np.array([0.0]), np.array([1.0]), (points,), kind)


def test_a_projection_is_least_squares_on_the_radial_functions() -> None:
    grid = line(9)
    phi = matrix(grid, grid.points)
    assert phi.diagonal() == pytest.approx(np.ones(9))  # undivided: 1 at the centre
    assert not np.allclose(phi.sum(axis=1), 1)
    values = np.sin(5 * grid.points[:, 0])
    projection = grid.projection
    assert projection is not None
    by_solver = np.linalg.lstsq(np.vstack([phi, 1e-3 * np.eye(9)]), np.append(values, np.zeros(9)), rcond=None)[0]
    np.testing.assert_allclose(projection @ values, by_solver, atol=1e-8)
    assert line(9, "rbf").projection is None


def test_a_projection_plans_a_smooth_problem_as_an_averager_does() -> None:
    """Moving left or right on a line towards the reward at 1; gamma small enough for any method."""
    values = []
    for kind in ("multilinear", "projection"):
        grid = line(41, kind)
        states, actions = grid.pairs(2)
        following = np.clip(states + 0.1 * (2 * actions[:, None] - 1), 0, 1)
        planner = GridPlanner(grid, 2, 0.6, FREE, 1e-6)
        planner.plan(np.exp(-10 * (following[:, 0] - 1) ** 2), following[None], np.ones((1, 82)), np.ones(1))
        values.append(planner.value_at(np.linspace(0, 1, 30)[:, None]))
    assert np.abs(values[0] - values[1]).max() < 0.02 * np.ptp(values[0])


def test_a_projection_that_diverges_stays_finite_and_says_so_once() -> None:
    """All points jump to the border, where the fit is steepest and an average of rough values is none any more."""
    planners = {}
    for kind in ("rbf", "projection"):
        grid = line(12, kind)
        states, _ = grid.pairs(1)
        following: Array = 1 - 0.04 * (states < 0.5).astype(np.float64)
        planners[kind] = GridPlanner(grid, 1, 0.999, (-1e6, 1e6), 1e-9), following
    noise = np.random.default_rng(0).normal(size=12)
    planner, following = planners["rbf"]
    planner.plan(noise, following[None], np.ones((1, 12)), np.ones(1))
    assert planner.residual <= 1e-9
    planner, following = planners["projection"]
    with pytest.warns(RuntimeWarning, match="did not settle"):
        planner.plan(noise, following[None], np.ones((1, 12)), np.ones(1))
    assert np.isfinite(planner.value).all()
    planner.plan(noise, following[None], np.ones((1, 12)), np.ones(1))  # a second warning would be an error
