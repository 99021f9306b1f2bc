"""The linear agent: least squares, optimism about it, a planner on a grid. Paper: Algorithm 2.

    for each time step:   act        take the best action under the internal value V~
                          observe    add the sample to X'X and X'y of the components that are learnt

Agents differ in their optimism only, which sees every pair that the planner considers and changes its reward, or ends
it. What a domain brings (`Task`) is what the agent is told: the components it has to learn, how they determine the
next state, the reward and where an episode ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, announcing
from hreach.errors import InputError, array, at_least, require, whole
from hreach.models.feature_map import FeatureMap
from hreach.models.features import from_settings
from hreach.models.linear import LinearModel
from hreach.planners.fitted_value_iteration import Grid, GridPlanner
from hreach.registry import check_parameters
from hreach.streams import agent_stream, uniform

_uniform = announcing(uniform)
_TIE = 1e-9


@dataclass(frozen=True)
class Task:
    """What the agent is told about a continuous problem.

    learnt      components of the state that are predicted; `complete(states, actions, predicted)` makes the whole next
                states (N, nS) of them, (N, L)
    sigma       standard deviation of their noise, (L,)
    features    of (s, a), shared by the learnt components
    reward      r(s, a, s') -> (N,);  terminal: which states end an episode
    values      bounds of the value;  grid: points of a planner in each dimension
    """

    bounds: Array
    actions: int
    gamma: float
    learnt: tuple[int, ...]
    sigma: Array
    features: FeatureMap
    complete: Callable[[Array, NDArray[np.int64], Array], Array]
    reward: Callable[[Array, NDArray[np.int64], Array], Array]
    terminal: Callable[[Array], NDArray[np.bool_]]
    values: tuple[float, float]
    grid: tuple[int, ...]


@dataclass(frozen=True)
class Replan:
    """When to plan again: at the start of an episode, after `steps` more samples, or when they grew by a share."""

    episode: bool = True
    growth: float | None = 0.05
    steps: int | None = None

    def __post_init__(self) -> None:
        if self.growth is not None:
            at_least("growth", self.growth, 0)
        if self.steps is not None:
            whole("steps", self.steps, 1)
        ok = self.episode or self.growth is not None or self.steps is not None
        require(ok, "replan", self, "at least one of episode, growth and steps")

    def due(self, new_episode: bool, samples: int, planned_with: int) -> bool:
        """Whether a plan made with `planned_with` samples is out of date."""
        new = samples - planned_with
        return (
            (self.episode and new_episode)
            or (self.growth is not None and new > self.growth * planned_with)
            or (self.steps is not None and new >= self.steps)
        )


class Optimism(Protocol):
    """How to hope: changes the reward (N,) and which pairs go on (N,) of pairs, given the slope L of the value."""

    def __call__(
        self, model: LinearModel, states: Array, actions: NDArray[np.int64], calls: int, slope: float
    ) -> tuple[Array, NDArray[np.bool_]]:
        """(bonus (N,), known (N,)); a pair that is not known is worth the most there is."""


@dataclass(frozen=True)
class Hope:
    """What makes a linear agent: its optimism, its coin, and whether it learns from pairs it knows already."""

    optimism: Optimism
    random_action: float = 0.0
    learn_known: bool = True


class LinearAgent:
    """An agent for continuous states and discrete actions.

    grid, interpolation   the planner's points: a shape, and "multilinear" or "rbf"
    quadrature            nodes of Gauss-Hermite integration over the noise (1: plan with the mean)
    slope                 L by hand, or None: the largest slope of V between neighbouring points seen so far
    """

    def __init__(
        self,
        task: Task,
        hope: Hope,
        *,
        ridge: float = 0.1,
        grid: tuple[int, ...] = (30, 30),
        interpolation: Any = "multilinear",
        quadrature: int = 3,
        tolerance: float = 0.05,
        slope: float | None = None,
        replan: Replan | None = None,
        seed: int = 0,
    ) -> None:
        self.task, self.hope = task, hope
        self.model = LinearModel(task.features, len(task.learnt), ridge, components=task.learnt)
        width = task.bounds.shape[1]
        ok = isinstance(grid, Sequence | np.ndarray) and not isinstance(grid, str) and len(grid) == width
        require(ok, "grid", grid, f"{width} whole numbers, the points in each dimension")
        mesh = Grid(task.bounds[0], task.bounds[1], tuple(grid), interpolation)
        self.planner = GridPlanner(mesh, task.actions, task.gamma, task.values, tolerance)
        self.replan = Replan() if replan is None else replan
        self._given_slope = None if slope is None else at_least("slope", slope, 0)
        self.slope = 0.0 if self._given_slope is None else self._given_slope
        self.stream = agent_stream(seed)
        self.calls = 0
        self._planned_with = -1
        self._seen: list[tuple[Array, int, Array]] = []  # not learnt yet: a model that nobody asks need not know
        self._expected: Array | None = None
        nodes, chance = np.polynomial.hermite_e.hermegauss(whole("quadrature", quadrature, 1))
        self._noise = _all_combinations(nodes, len(task.learnt))
        self._chance = _all_combinations(chance / chance.sum(), len(task.learnt)).prod(axis=1)
        self.planner.check_size(len(self._chance))
        self.model.keep(*self.planner.pairs)

    def act(self, state: Array) -> int:
        """The action to take in `state`; plans first if the replanning rule says so."""
        here = self._checked("state", state)
        new_episode = self._expected is None or not np.array_equal(here, self._expected)
        samples = self.model.samples + len(self._seen)
        if self._planned_with < 0 or self.replan.due(new_episode, samples, self._planned_with):
            self.plan()
        if self.hope.random_action > 0 and self._draw() < self.hope.random_action:
            return int(self._draw() * self.task.actions)
        q = self.action_values(here)
        best = np.flatnonzero(q >= q.max() - _TIE * max(1.0, abs(q.max())))
        return int(best[int(self._draw() * len(best))]) if len(best) > 1 else int(best[0])

    def observe(self, state: Array, action: int, reward: float, next_state: Array, terminated: bool = False) -> None:
        """Learn from one transition."""
        here, following = self._checked("state", state), self._checked("next_state", next_state)
        ok = isinstance(action, int | np.integer) and 0 <= action < self.task.actions
        require(ok, "action", action, f"a whole number from 0 to {self.task.actions - 1}")
        if self.hope.learn_known or not self._known(here, action):
            self._seen.append((here.copy(), int(action), following.copy()))
        self._expected = None if terminated else following.copy()

    def plan(self) -> None:
        """Learn what was seen, and bring the value on the grid up to date with the model."""
        self._learn()
        states, actions = self.planner.pairs
        if self._planned_with < 0 and self._given_slope is None:
            # L is defined through a value that contains it; the first one comes from a plan without hope.
            self.planner.plan(*self._model(states, actions, hoping=False), self._chance)
            self.slope = self.planner.grid.slope(self.planner.value)
        self.planner.plan(*self._model(states, actions), self._chance)
        if self._given_slope is None:
            self.slope = max(self.slope, self.planner.grid.slope(self.planner.value))
        self._planned_with = self.model.samples

    def action_values(self, state: Array) -> Array:
        """Q~(s, a) of one state, (A,), interpolated on the grid."""
        return np.asarray(self.planner.action_values(np.asarray(state, dtype=np.float64)[None])[0])

    def internal_value(self, states: Array) -> Array:
        """V~ of states (N, nS), interpolated on the grid."""
        return self.planner.value_at(np.asarray(states, dtype=np.float64))

    def describe(self) -> dict[str, Any]:
        """Constants in force."""
        return {"origin": "given", "constants": {"slope": self.slope}}

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Everything that changed since construction, as plain arrays."""
        self._learn()
        expected = np.full(self.task.bounds.shape[1], np.nan) if self._expected is None else self._expected
        own = {
            "value": self.planner.value.copy(),
            "q": self.planner.q.copy(),
            "slope": np.array(self.slope),
            "stream": self.stream.copy(),
            "calls": np.array(self.calls),
            "planned_with": np.array(self._planned_with),
            "expected": expected.copy(),
        }
        return own | {f"model.{name}": saved for name, saved in self.model.state_dict().items()}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a saved state: the same actions follow as if the agent had never stopped."""
        mine = self.state_dict()
        missing = set(mine) - set(state)
        if missing:
            raise InputError(f"state_dict has no {sorted(missing)[0]!r}; it must have {', '.join(mine)}.")
        for name, old in mine.items():
            require(np.shape(state[name]) == old.shape, f"{name} shape", np.shape(state[name]), str(old.shape))
        self._seen.clear()
        self.model.load_state_dict({n.removeprefix("model."): a for n, a in state.items() if n.startswith("model.")})
        self.planner.value[...], self.planner.q[...] = state["value"], state["q"]
        self.stream[...] = state["stream"]
        self.slope, self.calls = float(state["slope"]), int(state["calls"])
        self._planned_with = int(state["planned_with"])
        expected = np.asarray(state["expected"])
        self._expected = None if np.isnan(expected).any() else expected.copy()

    def _model(self, states: Array, actions: NDArray[np.int64], hoping: bool = True) -> tuple[Array, Array, Array]:
        """(reward with bonus (N,), next states (J, N, nS), which go on (J, N)) as the agent hopes."""
        task = self.task
        mean = self.model.predict(states, actions)
        following = np.stack([task.complete(states, actions, mean + z * task.sigma) for z in self._noise])
        reward = np.sum(
            [p * task.reward(states, actions, s) for p, s in zip(self._chance, following, strict=True)], axis=0
        )
        goes_on = np.stack([~task.terminal(s) for s in following]).astype(np.float64)
        if not hoping:
            return reward, following, goes_on
        self.calls += len(states)
        bonus, known = self.hope.optimism(self.model, states, actions, self.calls, self.slope)
        best = task.values[1]
        return np.where(known, reward + bonus, best), following, goes_on * known

    def _checked(self, field: str, state: Any) -> Array:
        """A state as an array (nS,); the compiled interpolation would read past a shorter one."""
        result = array(field, state)
        width = self.task.bounds.shape[1]
        ok = result.shape == (width,) and bool(np.isfinite(result).all())
        require(ok, field, state, f"{width} finite numbers")
        return result

    def _learn(self) -> None:
        """Give the model what was seen since the last plan, in its order."""
        if self._seen:
            states, actions, following = zip(*self._seen, strict=True)
            self._seen.clear()  # before, or a sample that the model refuses would be refused for ever
            self.model.update(np.array(states), np.array(actions), np.array(following))

    def _known(self, state: Array, action: int) -> bool:
        self._learn()
        _, known = self.hope.optimism(self.model, state[None], np.array([action]), max(self.calls, 1), self.slope)
        return bool(known[0])

    def _draw(self) -> float:
        return float(_uniform(self.stream))


def task_of(env: Any, features: Any, seed: int) -> Task:
    """What a continuous domain tells: its attributes bounds, actions, gamma, learnt, sigma, features, complete, ..."""
    core = getattr(env, "unwrapped", env)
    needed = (
        "bounds",
        "learnt",
        "sigma",
        "features",
        "complete",
        "known_reward",
        "is_terminal",
        "value_bounds",
        "grid",
    )
    missing = [name for name in needed if not hasattr(core, name)]
    if missing:
        raise InputError(
            f"env is {type(core).__name__}, which has no {missing[0]!r}; a linear agent needs {', '.join(needed)}."
        )
    settings = core.features if features is None else features
    return Task(
        bounds=core.bounds,
        actions=core.actions,
        gamma=core.gamma,
        learnt=tuple(core.learnt),
        sigma=np.asarray(core.sigma, dtype=np.float64),
        features=from_settings(settings, core.bounds.shape[1], core.actions, seed),
        complete=core.complete,
        reward=core.known_reward,
        terminal=core.is_terminal,
        values=core.value_bounds,
        grid=tuple(core.grid),
    )


def replan_rule(settings: Any) -> Replan:
    """A `Replan` from a table, as a study gives it."""
    if settings is None or isinstance(settings, Replan):
        return settings or Replan()
    require(isinstance(settings, Mapping), "replan", settings, "a table of episode, growth and steps")
    check_parameters("replan", Replan, settings)
    return Replan(**{"episode": False, "growth": None, **settings})


def _all_combinations(values: Array, dimensions: int) -> Array:
    """Every choice of one value for each dimension: (values ^ dimensions, dimensions)."""
    return np.stack(np.meshgrid(*[values] * dimensions, indexing="ij"), axis=-1).reshape(-1, dimensions)
