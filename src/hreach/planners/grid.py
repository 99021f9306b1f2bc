"""Fitted value iteration on a grid of points, with interpolation that averages.

A value function on a box is represented by its values v_1 .. v_N at grid points; elsewhere V(s) = sum_k w_k(s) v_k with
weights w >= 0 that sum to 1 (an *averager*, Gordon 1995). With the model's next states s'(i, a) of every point and
action, and possibly the nodes of a quadrature over its noise,

    (T v)_i = clip( max_a [ r(i, a) + gamma sum_k w_k(s'(i, a)) v_k ], low, high )

is a gamma-contraction in the maximum norm, so that iterating cannot diverge, and max |Tv - v| <= tolerance bounds the
error by tolerance / (1 - gamma).

    multilinear   the 2^d corners of the cell that holds s
    rbf           exp(-|s - c|^2 / (2 b^2)) with b one grid spacing in each dimension, cut off after `RBF_CELLS` cells
                  and divided by its sum (the paper's "residual basis functions" read as radial ones)
    projection    the same functions undivided, V(s) = sum_k w_k phi_k(s) with w by least squares from the values at the
                  points. Not an averager: iterating can diverge (Boyan & Moore 1995; Tsitsiklis & Van Roy 1996). The
                  cut-off of the values keeps them finite; a RuntimeWarning says, once, that they did not settle.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.compiling import Array, announcing, compiled
from hreach.errors import InputError, discount, positive, require, whole
from hreach.kernels.acting import choose
from hreach.planners.slope import steepest

Index = NDArray[np.int64]
RBF_CELLS = 3
Interpolation = Literal["multilinear", "rbf", "projection"]
KINDS = ("multilinear", "rbf", "projection")
_LARGEST = 50_000_000  # weights held at once: 800 MB with their indices
_RIDGE = 1e-6  # of the projection: radial functions one spacing wide are nearly dependent
_SWEEPS = 2000  # of the projection, which need not settle


@dataclass(frozen=True)
class Grid:
    """shape[d] points from low[d] to high[d] in each dimension; `interpolation` between them."""

    low: Array
    high: Array
    shape: tuple[int, ...]
    interpolation: Interpolation = "multilinear"
    points: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        low, high = np.asarray(self.low, dtype=np.float64), np.asarray(self.high, dtype=np.float64)
        shape = tuple(whole("grid shape", n, 2) for n in self.shape)
        ok = low.shape == high.shape == (len(shape),) and bool((low < high).all())
        require(ok, "grid bounds", (low.tolist(), high.tolist()), f"low below high in {len(shape)} dimensions")
        require(self.interpolation in KINDS, "interpolation", self.interpolation, f"one of {', '.join(KINDS)}")
        axes = [np.linspace(a, b, n) for a, b, n in zip(low, high, shape, strict=True)]
        points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        for name, value in (("low", low), ("high", high), ("shape", shape), ("points", points)):
            object.__setattr__(self, name, value)

    @cached_property
    def spacing(self) -> Array:
        """Distance of neighbouring points in each dimension, (d,)."""
        return np.asarray((self.high - self.low) / (np.array(self.shape) - 1))

    def covers(self, box: ArrayLike) -> bool:
        """Whether the box (2, d) lies within the grid."""
        low, high = np.asarray(box, dtype=np.float64)
        return bool((low >= self.low - 1e-12).all() and (high <= self.high + 1e-12).all())

    def pairs(self, actions: int) -> tuple[Array, Index]:
        """Every point with every action: states (N A, d), actions (N A,), the action running fastest."""
        return np.repeat(self.points, actions, axis=0), np.tile(np.arange(actions), len(self.points))

    @cached_property
    def _sizes(self) -> Index:
        return np.array(self.shape, dtype=np.int64)

    @cached_property
    def neighbours(self) -> int:
        """Points that have a weight for a state."""
        return int((2 if self.interpolation == "multilinear" else 2 * RBF_CELLS) ** len(self.shape))

    def weights(self, states: Array) -> tuple[Index, Array]:
        """Points and their weights for states (M, d): (M, K) each; states outside count as on the border."""
        index = np.empty((len(states), self.neighbours), dtype=np.int64)
        weight = np.empty((len(states), self.neighbours))
        cells = 1 if self.interpolation == "multilinear" else RBF_CELLS
        averages = self.interpolation != "projection"
        points = np.ascontiguousarray(states)
        _weights_announced(points, self.low, self.spacing, self._sizes, cells, averages, index, weight)
        return index, weight

    @cached_property
    def projection(self) -> Array | None:
        """(Phi'Phi + ridge)^-1 Phi', which makes weights of values at the points, (N, N); None for an averager."""
        if self.interpolation != "projection":
            return None
        index, weight = self.weights(self.points)
        phi = np.zeros((len(self.points), len(self.points)))
        np.add.at(phi, (np.arange(len(phi))[:, None], index), weight)
        return np.asarray(np.linalg.solve(phi.T @ phi + _RIDGE * np.eye(len(phi)), phi.T))

    def slope(self, value: Array, rule: str = "paper") -> float:
        """L of the values (N,) at the points, by a rule of `hreach.planners.slope`."""
        return steepest(value.reshape(self.shape), self.spacing, rule)


@compiled
def _weights(
    states: Array, low: Array, spacing: Array, shape: Index, cells: int, averages: bool, index: Index, weight: Array
) -> None:
    """Fill index and weight (M, K) for states (M, d): tents if cells = 1, else bumps cut off after that many cells.

    If it `averages`, the weights are divided by their sum.
    Column k counts the neighbours in each dimension, the last fastest, from `cells - 1` cells below the state's own.
    """
    near = 2 * cells
    for m in range(states.shape[0]):
        total = 0.0
        for k in range(index.shape[1]):
            place, product_of_weights = 0, 1.0
            stride, rest = 1, k
            for d in range(shape.size - 1, -1, -1):
                scaled = min(max((states[m, d] - low[d]) / spacing[d], 0.0), shape[d] - 1.0)
                cell = min(int(scaled), shape[d] - 2)
                point = cell + rest % near - (cells - 1)
                rest = rest // near
                distance = abs(scaled - point)
                if point < 0 or point > shape[d] - 1:
                    product_of_weights = 0.0
                elif cells == 1:
                    product_of_weights *= max(1.0 - distance, 0.0)
                else:
                    product_of_weights *= np.exp(-0.5 * distance * distance)
                place += min(max(point, 0), shape[d] - 1) * stride
                stride *= shape[d]
            index[m, k] = place
            weight[m, k] = product_of_weights
            total += product_of_weights
        if averages:
            for k in range(index.shape[1]):
                weight[m, k] /= total


_weights_announced = announcing(_weights)


@compiled
def _best_action(
    state: Array, low: Array, spacing: Array, shape: Index, cells: int, averages: bool,
    q: Array, index: Index, weight: Array, values: Array, stream: NDArray[np.uint64],
) -> int:  # fmt: skip
    """The action with the largest interpolated q (N, A C), C = q.shape[1] / values.size; ties are drawn."""
    _weights(state.reshape((1, state.size)), low, spacing, shape, cells, averages, index, weight)
    choices = q.shape[1] // values.size
    for a in range(values.size):
        values[a] = -np.inf
        for c in range(choices):
            total = 0.0
            for k in range(index.shape[1]):
                total += weight[0, k] * q[index[0, k], a * choices + c]
            values[a] = max(values[a], total)
    return choose(values, 0, values.size, 0.0, index[0, :0], stream)


_best_action_announced = announcing(_best_action)


@compiled
def _iterate(
    reward: Array, index: Index, weight: Array, gamma: float, low: float, high: float,
    tolerance: float, sweeps: int, value: Array, q: Array, policy: Index,
) -> tuple[int, float]:  # fmt: skip
    """Modified policy iteration in place: one sweep over all actions, then `sweeps` over the chosen ones.

    reward, q: (N, A); index, weight: (N A, K), weights of what goes on only.
    Stops when a sweep over all actions changes no value by more than `tolerance`; (sweeps over all, residual).
    """
    points, actions = reward.shape
    neighbours = index.shape[1]
    count = 0
    while True:
        residual = 0.0
        for i in range(points):
            best = -np.inf
            for a in range(actions):
                row = i * actions + a
                expected = 0.0
                for k in range(neighbours):
                    expected += weight[row, k] * value[index[row, k]]
                q[i, a] = min(max(reward[i, a] + gamma * expected, low), high)
                if q[i, a] > best:
                    best = q[i, a]
                    policy[i] = a
        for i in range(points):
            residual = max(residual, abs(q[i, policy[i]] - value[i]))
            value[i] = q[i, policy[i]]
        count += 1
        if residual <= tolerance:
            return count, residual
        for _ in range(sweeps):
            change = 0.0
            for i in range(points):
                row = i * actions + policy[i]
                expected = 0.0
                for k in range(neighbours):
                    expected += weight[row, k] * value[index[row, k]]
                new = min(max(reward[i, policy[i]] + gamma * expected, low), high)
                change = max(change, abs(new - value[i]))
                value[i] = new
            if change <= 0.1 * tolerance:
                break


_iterate_announced = announcing(_iterate)


class GridPlanner:
    """Values at the points of a grid, kept from plan to plan (a warm start).

    choices     every action comes in so many kinds, of which the best one counts: `plan` is told of all of them, the
                choices running fastest
    bounds      values are cut off at (low, high): without it a bonus that is estimated from the value feeds itself
    tolerance   max |Tv - v| at which planning stops
    """

    def __init__(
        self,
        grid: Grid,
        actions: int,
        gamma: float,
        bounds: tuple[float, float],
        tolerance: float = 0.01,
        choices: int = 1,
    ) -> None:
        self.grid = grid
        self.choices = whole("choices", choices, 1)
        self.actions = whole("actions", actions, 1) * self.choices
        self.gamma = discount(gamma)
        self.low, self.high = bounds
        require(self.low <= self.high, "bounds", bounds, "the lower first")
        self.tolerance = positive("tolerance", tolerance)
        self.value = np.full(len(grid.points), min(max(0.0, self.low), self.high))
        self.q = np.zeros((len(grid.points), self.actions))
        self.residual = np.inf
        self._policy = np.zeros(len(grid.points), dtype=np.int64)
        self._warned = False
        # Work space of `best_action`: a state's points and weights, and the value of each action.
        self._one = (
            np.empty((1, grid.neighbours), dtype=np.int64),
            np.empty((1, grid.neighbours)),
            np.empty(self.actions // self.choices),
        )

    def action_values(self, states: Array) -> Array:
        """Q(s, a) of states (M, d), (M, A): that of the last plan, interpolated."""
        index, weight = self.grid.weights(states)
        each = np.matmul(weight[:, None, :], self._fitted(self.q)[index])[:, 0]
        return np.asarray(each.reshape(len(each), -1, self.choices).max(axis=2))

    def best_action(self, state: Array, stream: NDArray[np.uint64]) -> int:
        """The best action in one state (d,), one of several drawn from the stream; choices of an action run fastest.

        `action_values` and an argmax in one compiled call, since a run asks it at every step.
        """
        grid, cells = self.grid, 1 if self.grid.interpolation == "multilinear" else RBF_CELLS
        averages = grid.interpolation != "projection"
        q = self._fitted(self.q) if grid.projection is not None else self.q
        index, weight, values = self._one
        return int(
            _best_action_announced(
                state, grid.low, grid.spacing, grid._sizes, cells, averages, q, index, weight, values, stream
            )
        )

    def plan(self, reward: Array, next_states: Array, chance: Array) -> None:
        """Plan with reward (N A,), next states (J, N A, d) and the chances (J, N A) to go on in them.

        J = 1 plans with the mean; more are the nodes of a quadrature over the noise.
        """
        self.check_size(len(chance))
        if self.grid.interpolation == "projection":
            self._plan_projected(reward, next_states, chance)
            return
        index, weight = self._mixed(next_states, chance)
        shape = (len(self.value), self.actions)
        _, self.residual = _iterate_announced(
            np.ascontiguousarray(reward.reshape(shape)), index, weight, self.gamma, self.low, self.high,
            self.tolerance, 30, self.value, self.q, self._policy,
        )  # fmt: skip

    def _mixed(self, next_states: Array, chance: Array) -> tuple[Index, Array]:
        """Points and weights (N A, J K) of the nodes of a quadrature together."""
        parts = [self.grid.weights(states) for states in next_states]
        weight = [part * p[:, None] for (_, part), p in zip(parts, chance, strict=True)]
        index = np.ascontiguousarray(np.concatenate([i for i, _ in parts], axis=1))
        return index, np.ascontiguousarray(np.concatenate(weight, axis=1))

    def _plan_projected(self, reward: Array, next_states: Array, chance: Array) -> None:
        """Back up all points, then project, until nothing changes or `_SWEEPS` are over."""
        index, weight = self._mixed(next_states, chance)
        for _ in range(_SWEEPS):
            expected = (weight * self._fitted(self.value)[index]).sum(axis=1)
            self.q = np.clip(reward + self.gamma * expected, self.low, self.high).reshape(self.q.shape)
            new = self.q.max(axis=1)
            self.residual = float(np.abs(new - self.value).max())
            self.value = new
            if self.residual <= self.tolerance:
                return
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"values by projection did not settle in {_SWEEPS} sweeps (last change {self.residual:.3g}): least "
                "squares is not an averager; use interpolation='multilinear' or 'rbf'.",
                RuntimeWarning,
                stacklevel=3,
            )

    def _fitted(self, values: Array) -> Array:
        """What the interpolation weighs: the values at the points themselves, or their projection."""
        return values if self.grid.projection is None else self.grid.projection @ values

    def value_at(self, states: Array) -> Array:
        """V(s) of states (M, d), shape (M,)."""
        index, weight = self.grid.weights(states)
        return np.asarray((weight * self._fitted(self.value)[index]).sum(axis=1))

    def check_size(self, nodes: int) -> None:
        """Refuse a plan with so many nodes that its weights would not fit."""
        size = nodes * len(self.value) * self.actions * self.grid.neighbours
        if size > _LARGEST:
            raise InputError(
                f"grid shape is {self.grid.shape}, {size:.3g} weights, but must need at most {_LARGEST:.3g}."
            )
