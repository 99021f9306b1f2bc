"""A continuous problem as an agent knows it: what it has to learn, and what it knows already.

A tabular domain tells its agents an MDP; a continuous one tells a `Task` (its method `task()`), or you write one for an
environment of your own and give it to `hreach.make_agent(..., task=...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.errors import InputError, array, discount, positive, require, shown, unknown_name, whole
from hreach.problems.truth import core_of
from hreach.registry import parameters_of

Array = NDArray[np.float64]
Actions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Task:
    """What the agent knows. nS components of the state, N rows, L learnt components.

    bounds      (2, nS): the box in which the agent plans
    learnt      the components that are predicted; `sigma` (L,) the standard deviation of their noise, above 0
    reward      r(s, a, s') -> (N,), where s' follows one step of the model; None if it is to be learnt
    values      lowest and highest value that a policy can have
    complete    (s, a, predicted (N, L)) -> s' (N, nS); None: all components are learnt, s' is cut off at the bounds
    terminal    which states end an episode, (N, nS) -> (N,); None: none does
    duration    the length of a decision, the unit of `segments` (5 days)
    model_steps steps of the model in one decision; `paid_every` so many of them a reward is paid
    measured    the entry of Gymnasium's `info` in which the state after one step of the model stands; None: it is the
                next state itself
    truth       s' (N, nS) of one step of the model without noise, for planning with the true model
    """

    bounds: Array
    actions: int
    gamma: float
    learnt: tuple[int, ...]
    sigma: Array
    reward: Callable[[Array, Actions, Array], Array] | None
    values: tuple[float, float]
    complete: Callable[[Array, Actions, Array], Array] | None = None
    terminal: Callable[[Array], NDArray[np.bool_]] | None = None
    duration: int = 1
    model_steps: int = 1
    paid_every: int = 1
    measured: str | None = None
    truth: Callable[[Array, Actions], Array] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        low, high = self._box()
        width = len(low)
        chosen = tuple(whole("learnt", i, 0) for i in self.learnt)
        ok = 0 < len(chosen) == len(set(chosen)) and max(chosen) < width
        require(ok, "learnt", self.learnt, f"different components from 0 to {width - 1}")
        require(
            self.complete is not None or chosen == tuple(range(width)), "complete", None, "given unless all is learnt"
        )
        object.__setattr__(self, "bounds", np.array([low, high]))
        object.__setattr__(self, "learnt", chosen)
        object.__setattr__(self, "sigma", self._noise(self.sigma, len(chosen)))
        whole("actions", self.actions, 1)
        discount(self.gamma)
        whole("duration", self.duration, 1)
        whole("model_steps", self.model_steps, 1)
        whole("paid_every", self.paid_every, 1)
        divides = self.model_steps % self.paid_every == 0
        require(divides, "paid_every", self.paid_every, f"a divisor of model_steps ({self.model_steps})")
        require(len(self.values) == 2 and self.values[0] <= self.values[1], "values", self.values, "lowest, highest")

    @property
    def width(self) -> int:
        """nS, the number of state components."""
        return int(self.bounds.shape[1])

    def next_states(self, states: Array, actions: Actions, predicted: Array) -> Array:
        """s' (N, nS) from the predicted learnt components (N, L)."""
        if self.complete is None:
            return np.clip(predicted, self.bounds[0], self.bounds[1])
        return self.complete(states, actions, predicted)

    def goes_on(self, states: Array) -> NDArray[np.bool_]:
        """Which states (N, nS) do not end the episode, (N,)."""
        return np.ones(len(states), dtype=np.bool_) if self.terminal is None else ~self.terminal(states)

    def _box(self) -> tuple[Array, Array]:
        box = array("bounds", self.bounds)
        ok = box.ndim == 2 and len(box) == 2 and bool(np.isfinite(box).all()) and bool((box[0] < box[1]).all())
        require(ok, "bounds", self.bounds, "two finite rows, the lowest below the highest state")
        return box[0], box[1]

    @staticmethod
    def _noise(sigma: ArrayLike, learnt: int) -> Array:
        given = array("sigma", sigma)
        require(given.shape in ((), (learnt,)), "sigma", sigma, f"a number or {learnt}, one for each learnt component")
        for each in np.atleast_1d(given):
            positive("sigma", float(each))
        return np.broadcast_to(given, (learnt,)).copy()


@dataclass(frozen=True)
class Preset:
    """What suits a problem: features of its model, points or segments of its planner; parameters override it.

    features    of (s, a), as settings of `hreach.models.features.from_settings`; shared by the learnt components
    grid        points of a planner in each dimension; or `segments`: lengths of the actions that a tree search holds,
                in the unit of the task's `duration` (5, 10, 10 days with a decision every 5 days)
    target      the model regresses the "next" value of a component or its "change"
    truncate    for a "change": predict none that is larger than those seen so far; see `LinearModel`
    """

    features: Mapping[str, object] | None = None
    grid: tuple[int, ...] | None = None
    segments: tuple[int, ...] | None = None
    target: Literal["next", "change"] = "next"
    truncate: bool = False

    def __post_init__(self) -> None:
        require(self.target in ("next", "change"), "target", self.target, "'next' or 'change'")
        fits = self.target == "change" or not self.truncate
        require(fits, "truncate", self.truncate, "false unless target is 'change'")
        ok = self.features is None or isinstance(self.features, Mapping)
        require(ok, "features", self.features, "a table with a kind")


@runtime_checkable
class TellsTask(Protocol):
    """A continuous domain: it says what an agent may know of it; the arguments are its own."""

    task: Callable[..., object]


@runtime_checkable
class TellsPreset(Protocol):
    """A domain that says which model and planner suit it; the arguments are its own."""

    preset: Callable[..., object]


def task_of(env: object, given: Task | Mapping[str, object] | None) -> tuple[Task, Preset]:
    """The task of a continuous domain and what suits it.

    `given` is a task itself, or a table of arguments for the domain's `task` and `preset`, each of which takes its own.
    """
    core = core_of(env)
    tells = core.preset if isinstance(core, TellsPreset) and callable(core.preset) else None
    if isinstance(given, Task):
        return given, Preset() if tells is None else _told(tells, {}, Preset)
    if not isinstance(core, TellsTask) or not callable(core.task):
        raise InputError(
            f"env is {type(core).__name__}, which has no task(); a linear agent needs it, or task=hreach.Task(...)."
        )
    require(given is None or isinstance(given, Mapping), "task", given, "a Task, or a table for the domain's task()")
    settings = dict(given or {})
    names = set(parameters_of(core.task)) | (set() if tells is None else set(parameters_of(tells)))
    for name in settings:
        if name not in names:
            raise unknown_name("parameter of task", name, names)
    preset = Preset() if tells is None else _told(tells, settings, Preset)
    return _told(core.task, settings, Task), preset


T = TypeVar("T")


def _told(tells: Callable[..., object], settings: Mapping[str, object], kind: type[T]) -> T:
    """What a method says of those settings that it takes."""
    own = {name: value for name, value in settings.items() if name in parameters_of(tells)}
    result = tells(**own)
    if not isinstance(result, kind):
        raise InputError(f"env.{tells.__name__}() is {shown(result)}, but must be a hreach.{kind.__name__}.")
    return result


def shape_of(field: str, value: object, length: int | None = None) -> tuple[int, ...]:
    """Whole numbers of at least 1, as many as `length`."""
    listed = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else []
    require(0 < len(listed) == (length or len(listed)), field, value, f"{length or 'some'} whole numbers")
    return tuple(whole(field, each, 1) for each in listed)
