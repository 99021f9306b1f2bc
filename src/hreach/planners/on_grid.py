"""Planning with a linear model on a grid of states: fitted value iteration. Paper: A7, mountain car."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array
from hreach.errors import InputError, require, unknown_name, whole
from hreach.models.linear import LinearModel
from hreach.optimism.linear import Hope
from hreach.planners.grid import Grid, GridPlanner
from hreach.planners.slope import RULES, by_hand
from hreach.problems.task import Task, shape_of


class OnGrid:
    """The value of a grid's points, and L: the largest slope of V seen so far.

    slope   "paper" (between any two points), "axis" (between neighbours along one axis), or L by hand; how far these
            two are apart: `hreach.planners.slope`

    With `Hope.shift` every action comes in several choices: the prediction itself and the ends of its interval in every
    direction. The planner takes the best one, so no L is needed.
    """

    def __init__(
        self,
        task: Task,
        model: LinearModel,
        hope: Hope,
        reward_model: LinearModel | None = None,
        *,
        grid: Any,
        interpolation: Any = "multilinear",
        quadrature: int = 3,
        tolerance: float = 0.05,
        slope: Any = "paper",
    ) -> None:
        require(task.model_steps == 1, "model_steps", task.model_steps, "1 for a grid; give segments for a tree search")
        self.task, self.model, self.hope, self.reward_model = task, model, hope, reward_model
        outputs = len(task.learnt)
        self._ways = np.zeros((1, outputs)) if hope.shift is None else _all_combinations(np.arange(-1.0, 2.0), outputs)
        mesh = make_grid(grid, task.bounds, interpolation)
        self.planner = GridPlanner(mesh, task.actions, task.gamma, task.values, tolerance, len(self._ways))
        self.pairs = mesh.pairs(task.actions)
        self.given_slope = by_hand(slope, tuple(RULES))
        self.slope_rule = "given" if self.given_slope is not None else RULES[slope]
        self._rule = slope
        self.slope = 0.0 if self.given_slope is None else self.given_slope
        self.calls = 0
        self._planned = False
        nodes, chance = np.polynomial.hermite_e.hermegauss(whole("quadrature", quadrature, 1))
        self.noise = _all_combinations(nodes, outputs)
        self.chance = _all_combinations(chance / chance.sum(), outputs).prod(axis=1)
        self.planner.check_size(len(self.chance))
        for each in (model, reward_model):
            if each is not None:
                each.keep(*self.pairs)

    def plan(self) -> None:
        """Bring the value on the grid up to date with the model."""
        if not self._planned and self.given_slope is None:
            # L is defined through a value that contains it; the first one comes from a plan without hope.
            self.planner.plan(*self.hoped(hoping=False), self.chance)
            self.slope = self._steepest()
        self.planner.plan(*self.hoped(), self.chance)
        if self.given_slope is None:
            self.slope = max(self.slope, self._steepest())
        self._planned = True

    def _steepest(self) -> float:
        return self.planner.grid.slope(self.planner.value, self._rule)

    def action_values(self, state: Array) -> Array:
        """Q~(s, a) of one state, (A,), interpolated on the grid."""
        return np.asarray(self.planner.action_values(state[None])[0])

    def best_action(self, state: Array, stream: NDArray[np.uint64]) -> int:
        """The action with the largest of them; ties are drawn."""
        return self.planner.best_action(state, stream)

    def internal_value(self, states: Array) -> Array:
        """V~ of states (N, nS), interpolated on the grid."""
        return self.planner.value_at(states)

    def sequence(self, first: int) -> list[int]:
        """The actions that follow from one plan: the first one only, the next state is not known."""
        return [first]

    def probes(self) -> tuple[Array, NDArray[np.int64]]:
        """The pairs whose predictions make the plan."""
        return self.pairs

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that changed since construction."""
        return {
            "value": self.planner.value.copy(),
            "q": self.planner.q.copy(),
            "slope": np.array(self.slope),
            "calls": np.array(self.calls),
            "planned": np.array(self._planned),
        }

    def load(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from `arrays`."""
        self.planner.value[...], self.planner.q[...] = saved["value"], saved["q"]
        self.slope, self.calls = float(saved["slope"]), int(saved["calls"])
        self._planned = bool(saved["planned"])

    def hoped(self, hoping: bool = True) -> tuple[Array, Array, Array]:
        """(reward with bonus (M,), next states (J, M, nS), which go on (J, M)) of pairs and choices, as it is hoped.

        M = points x actions x choices, the choices running fastest.
        """
        states, actions = self.pairs
        if hoping:
            self.calls += len(states)
        mean = self._choices(states, actions, hoping)
        ways = len(self._ways)
        many, taken = (np.repeat(states, ways, axis=0), np.repeat(actions, ways)) if ways > 1 else (states, actions)
        following = [self.task.next_states(many, taken, mean + z * self.task.sigma) for z in self.noise]
        reward = self._reward(many, taken, following, hoping)
        goes_on = np.stack([self.task.goes_on(s) for s in following]).astype(np.float64)
        if not hoping:
            return reward, np.stack(following), goes_on
        bonus, known = self.hope.optimism(self.model, states, actions, self.calls, self.slope)
        bonus, known = np.repeat(bonus, ways), np.repeat(known, ways)
        return np.where(known, reward + bonus, self.task.values[1]), np.stack(following), goes_on * known

    def _choices(self, states: Array, actions: NDArray[np.int64], hoping: bool) -> Array:
        """Predictions (pairs x choices, L)."""
        mean = self.model.predict(states, actions)
        if self.hope.shift is None:
            return mean
        reach = self.hope.shift(self.model, states, actions, max(self.calls, 1)) if hoping else np.zeros_like(mean)
        return (mean[:, None] + reach[:, None] * self._ways).reshape(-1, mean.shape[1])

    def _reward(self, states: Array, actions: NDArray[np.int64], following: list[Array], hoping: bool) -> Array:
        known = self.task.reward
        if known is not None and self.reward_model is None:
            paid = [p * known(states, actions, s) for p, s in zip(self.chance, following, strict=True)]
            return np.asarray(np.sum(paid, axis=0))
        result = learnt_reward(self.reward_model, self.hope, *self.pairs, self.calls if hoping else 0)
        return np.repeat(result, len(self._ways))


def learnt_reward(
    model: LinearModel | None, hope: Hope, states: Array, actions: NDArray[np.int64], calls: int
) -> Array:
    """The predicted reward (N,), with what may be hoped about it if `calls` > 0."""
    if model is None:
        raise InputError("reward is None, but must be known or learnt (reward='learn').")
    mean = model.predict(states, actions)[:, 0]
    if calls == 0 or hope.reward_reach is None:
        return mean
    return np.asarray(mean + hope.reward_reach(model, states, actions, calls)[:, 0])


def make_grid(given: Any, box: Array, interpolation: Any) -> Grid:
    """A grid over the box from its shape, or from a table of shape, low and high that must cover the box."""
    low, high = box
    if isinstance(given, Mapping):
        for name in given:
            if name not in ("shape", "low", "high"):
                raise unknown_name("setting of grid", name, ("shape", "low", "high"))
        low, high = given.get("low", low), given.get("high", high)
        given = given.get("shape")
    width = box.shape[1]
    try:
        shape = shape_of("grid", given, width)
    except InputError as error:
        raise InputError(
            f"grid is {given!r}, but must be {width} whole numbers, the points in each dimension."
        ) from error
    mesh = Grid(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64), shape, interpolation)
    inside = f"a box that covers the states, {box[0].tolist()} to {box[1].tolist()}"
    require(mesh.covers(box), "grid", (mesh.low.tolist(), mesh.high.tolist()), inside)
    return mesh


def _all_combinations(values: Array, dimensions: int) -> Array:
    """Every choice of one value for each dimension: (values ^ dimensions, dimensions)."""
    return np.stack(np.meshgrid(*[values] * dimensions, indexing="ij"), axis=-1).reshape(-1, dimensions)
