"""Planning on a grid of states: fitted value iteration. Paper: A7, mountain car."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hreach.errors import InputError, require, unknown_name
from hreach.models.regression import Regression, all_combinations
from hreach.optimism.linear import LinearOptimism
from hreach.planners.asking import Probes, compared, reach_of, unknown
from hreach.planners.grid import Grid, GridPlanner, Interpolation
from hreach.planners.slope import RULES, by_hand
from hreach.problems.task import shape_of
from hreach.protocols import Arrays, Comparison, Floats, Pairs, State, Stream

GridSettings = Sequence[int] | Mapping[str, Sequence[float]] | None


class OnGrid:
    """The value of a grid's points, and L: the largest slope of V seen so far.

    slope   "paper" (between any two points), "axis" (between neighbours along one axis), or L by hand; how far these
            two are apart: `hreach.planners.slope`

    Where optimism may shift predictions, every action comes in several choices: the prediction itself and the ends of
    its interval in every direction. The planner takes the best one, so no L is needed.
    """

    def __init__(
        self,
        model: Regression,
        optimism: LinearOptimism,
        *,
        grid: GridSettings,
        interpolation: Interpolation = "multilinear",
        tolerance: float = 0.05,
        slope: float | str = "paper",
    ) -> None:
        task = model.task
        require(task.model_steps == 1, "model_steps", task.model_steps, "1 for a grid; give segments for a tree search")
        self.model, self.optimism, self._task = model, optimism, task
        outputs = len(task.learnt)
        self._ways = (
            np.zeros((1, outputs)) if optimism.shift is None else all_combinations(np.arange(-1.0, 2.0), outputs)
        )
        mesh = make_grid(grid, task.bounds, interpolation)
        self.values = GridPlanner(mesh, task.actions, task.gamma, task.values, tolerance, len(self._ways))
        self.pairs = Pairs(*mesh.pairs(task.actions))
        self._given = by_hand(slope, tuple(RULES))
        self.slope_rule = "given" if self._given is not None else RULES[str(slope)]
        self._rule = str(slope)
        self.slope = 0.0 if self._given is None else self._given
        self.calls = 0
        self._planned = False
        self.values.check_size(len(model.chance))
        model.keep(self.pairs)
        self._probes = Probes(model)

    @property
    def residual(self) -> float:
        """max |Tv - v| of the last plan, at the points."""
        return self.values.residual

    def plan(self) -> None:
        """Bring the value on the grid up to date with the model."""
        self.model.settle()
        if not self._planned and self._given is None:
            # L is defined through a value that contains it; the first one comes from a plan without optimism.
            self.values.plan(*self._believed(optimistic=False))
            self.slope = self._steepest()
        self.values.plan(*self._believed())
        if self._given is None:
            self.slope = max(self.slope, self._steepest())
        self._planned = True

    def best_action(self, state: Floats, stream: Stream) -> int:
        """The action with the largest value in a state; ties are drawn."""
        return self.values.best_action(state, stream)

    def action_values(self, states: Floats | None = None) -> Floats:
        """Q~ of states (N, nS), (N, A), interpolated on the grid; at its points by default."""
        return self.values.action_values(self.values.grid.points if states is None else states)

    def internal_value(self, states: Floats | None = None) -> Floats:
        """V~ of states (N, nS), interpolated on the grid; at its points by default."""
        return self.values.value.copy() if states is None else self.values.value_at(states)

    def sequence(self, first: int) -> list[int]:
        """The actions that follow from one plan: the first one only, the next state is not known."""
        return [first]

    def certainty_equivalent(self, stream: Stream) -> OnGrid:
        """A planner on the same grid for the same model, without optimism."""
        grid = self.values.grid
        settings: dict[str, Sequence[float]] = {
            "shape": grid.shape,
            "low": grid.low.tolist(),
            "high": grid.high.tolist(),
        }
        return OnGrid(
            self.model, LinearOptimism(truth=self.optimism.truth), grid=settings, interpolation=grid.interpolation,
            tolerance=self.values.tolerance, slope=self._rule if self._given is None else self._given,
        )  # fmt: skip

    def compare(self, state: State | None) -> Comparison:
        """The internal value beside that without optimism, which is planned anew; both are those of the grid."""
        other = self.certainty_equivalent(np.zeros(4, dtype=np.uint64))
        other.plan()
        points = self.values.grid.points if state is None else self.model.state("state", state)[None]
        gamma = self._task.gamma
        accuracy = (self.residual + other.residual) * gamma / (1 - gamma)
        return compared(self.model.samples, points, self.internal_value(points), other.internal_value(points), accuracy)

    def reach(self) -> tuple[float, float] | None:
        """The h of the interval now, twice."""
        return reach_of(self.model, self.optimism)

    def unknown(self, state: State, action: int) -> bool:
        """Whether the bonus of a pair is infinite."""
        return unknown(self.model, self.optimism, state, action, self.slope, self.calls)

    def remember(self) -> None:
        """Keep the predictions at the points."""
        self._probes.remember(self.pairs)

    def moved(self) -> float:
        """How far the farthest of them has moved, in standard deviations of the noise."""
        return self._probes.moved()

    def settings(self) -> dict[str, object]:
        """What the planner was made with, as plain data."""
        grid = self.values.grid
        return {
            "planner": "grid",
            "grid": {"shape": list(grid.shape), "low": grid.low.tolist(), "high": grid.high.tolist()},
            "interpolation": grid.interpolation,
            "quadrature": round(len(self.model.chance) ** (1 / len(self._task.learnt))),
            "tolerance": self.values.tolerance,
            "slope": self._rule if self._given is None else self._given,
            "slope_rule": self.slope_rule,
        }

    def state_dict(self) -> dict[str, np.ndarray]:
        """The value, L and the number of intervals asked for."""
        return {
            "value": self.values.value.copy(),
            "q": self.values.q.copy(),
            "slope": np.array(self.slope),
            "calls": np.array(self.calls),
            "planned": np.array(self._planned),
            **self._probes.state_dict(),
        }

    def check_state_dict(self, saved: Arrays) -> None:
        """Whether this can have been a plan; `InputError` if not."""
        for name in ("value", "q", "slope", "predicted"):
            require(bool(np.isfinite(saved[name]).all()), name, "nan or infinite", "finite everywhere")

    def load_state_dict(self, saved: Arrays) -> None:
        """Go on from `state_dict`."""
        self.values.value[...], self.values.q[...] = saved["value"], saved["q"]
        self.slope, self.calls = float(saved["slope"]), int(saved["calls"])
        self._planned = bool(saved["planned"])
        self._probes.load_state_dict(saved)

    def _steepest(self) -> float:
        return self.values.grid.slope(self.values.value, self._rule)

    def _believed(self, optimistic: bool = True) -> tuple[Floats, Floats, Floats]:
        """(reward with bonus (M,), next states (J, M, nS), chances to go on in them (J, M)) of pairs and choices.

        M = points x actions x choices, the choices running fastest.
        """
        if not optimistic:
            return self._merged([self.model.by_node(self.pairs)] * len(self._ways))
        self.calls += len(self.pairs.states)
        upper = self.optimism.upper(self.model, self.pairs, self.slope, self.calls)
        ways = [self.model.by_node(self.pairs, upper.shift * way if upper.shift.size else None) for way in self._ways]
        reward, following, chance = self._merged(ways)
        extra, bonus = np.repeat(upper.reward, len(self._ways)), np.repeat(upper.bonus, len(self._ways))
        known = bonus < np.inf
        if self.model.reward_model is not None:
            reward = reward + extra
        return np.where(known, reward + bonus, self._task.values[1]), following, chance * known

    def _merged(self, ways: list[tuple[Floats, Floats, Floats]]) -> tuple[Floats, Floats, Floats]:
        """Those of all choices as one, the choices running fastest."""
        if len(ways) == 1:
            return ways[0]
        reward, following, chance = (np.stack(parts, axis=-1) for parts in zip(*ways, strict=True))
        nodes, pairs, width, _ = following.shape
        moved = np.moveaxis(following, 3, 2).reshape(nodes, -1, width)
        return reward.reshape(-1), np.ascontiguousarray(moved), chance.reshape(len(chance), pairs * len(ways))


def make_grid(given: GridSettings, box: Floats, interpolation: Interpolation) -> Grid:
    """A grid over the box from its shape, or from a table of shape, low and high that must cover the box."""
    low, high = box
    if isinstance(given, Mapping):
        for name in given:
            if name not in ("shape", "low", "high"):
                raise unknown_name("setting of grid", name, ("shape", "low", "high"))
        low = np.asarray(given.get("low", low), dtype=np.float64)
        high = np.asarray(given.get("high", high), dtype=np.float64)
        shape_given: object = given.get("shape")
    else:
        shape_given = given
    width = box.shape[1]
    try:
        shape = shape_of("grid", shape_given, width)
    except InputError as error:
        raise InputError(
            f"grid is {shape_given!r}, but must be {width} whole numbers, the points in each dimension."
        ) from error
    mesh = Grid(low, high, shape, interpolation)
    inside = f"a box that covers the states, {box[0].tolist()} to {box[1].tolist()}"
    require(mesh.covers(box), "grid", (mesh.low.tolist(), mesh.high.tolist()), inside)
    return mesh
