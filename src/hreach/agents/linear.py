"""The linear agent: least squares, optimism about it, a planner. Paper: Algorithm 2.

    for each time step:   act        take the best action under the internal value V~
                          observe    add the sample to X'X and X'y of the components that are learnt

Agents differ in their `Hope` only. What the problem brings is a `Task`: the components to learn, how they determine the
next state, the reward, where an episode ends, and whether to plan on a grid or by searching a tree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, announcing
from hreach.errors import InputError, array, at_least, finite, positive, require, whole
from hreach.models.features import from_settings
from hreach.models.linear import LinearModel
from hreach.models.true_model import TrueModel
from hreach.optimism.linear import Hope, Plain
from hreach.planners.on_grid import OnGrid
from hreach.planners.on_tree import OnTree
from hreach.problems.task import Task
from hreach.randomness.streams import agent_stream, uniform
from hreach.registry import check_parameters

_uniform = announcing(uniform)
_AS_MANY_AS_THERE_ARE = (
    "seen",
    "expected",
    "committed",
    "planned",
    "probed_states",
    "probed_actions",
)  # rows of saved arrays


@dataclass(frozen=True)
class Replan:
    """When to plan again, with what was seen since: any of

    episode   at the start of an episode
    growth    when the samples grew by that share
    steps     after so many more samples
    moved     when a prediction that the last plan used has moved by more than so many standard deviations of the noise
    """

    episode: bool = True
    growth: float | None = 0.05
    steps: int | None = None
    moved: float | None = None

    def __post_init__(self) -> None:
        if self.growth is not None:
            at_least("growth", self.growth, 0)
        if self.steps is not None:
            whole("steps", self.steps, 1)
        if self.moved is not None:
            positive("moved", self.moved)
        ok = self.episode or not (self.growth is None and self.steps is None and self.moved is None)
        require(ok, "replan", self, "at least one of episode, growth, steps and moved")

    def due(self, new_episode: bool, samples: int, planned_with: int) -> bool:
        """Whether a plan made with `planned_with` samples is out of date, `moved` aside."""
        new = samples - planned_with
        return (
            (self.episode and new_episode)
            or (self.growth is not None and new > self.growth * planned_with)
            or (self.steps is not None and new >= self.steps)
        )


class LinearAgent:
    """An agent for continuous states and discrete actions.

    grid, interpolation, quadrature, tolerance   planning on a grid: see `GridPlanner`
    segments, commit     searching a tree: `commit` is "first" (carry out the first decision of a search, then search
                         again) or "all" (carry out the whole sequence, as Adams et al. do)
    slope                "paper" or "axis", see `OnGrid`, or L by hand; a tree knows "paper" only, see `OnTree`
    reward               "known": the task's; "learn": linear in the same features, from the rewards that are paid
    replan               when to learn and plan; the default is `Replan()` on a grid, and every step for a tree
    """

    def __init__(
        self,
        task: Task,
        hope: Hope,
        *,
        ridge: float = 0.1,
        grid: Any = None,
        interpolation: Any = "multilinear",
        quadrature: int = 3,
        tolerance: float = 0.05,
        segments: Any = None,
        commit: Literal["first", "all"] = "first",
        slope: float | str = "paper",
        reward: Literal["known", "learn"] = "known",
        replan: Replan | None = None,
        seed: int = 0,
    ) -> None:
        self.task, self.hope = task, hope
        require(reward in ("known", "learn"), "reward", reward, "'known' or 'learn'")
        require(reward == "learn" or task.reward is not None, "reward", reward, "'learn': the task tells no reward")
        self._ridge, self._learns_reward = ridge, reward == "learn"
        on_tree = segments is not None or (grid is None and task.segments is not None)
        self._planner_settings = (
            {"segments": task.segments if segments is None else segments, "slope": slope}
            if on_tree
            else {
                "grid": task.grid if grid is None else grid,
                "interpolation": interpolation,
                "quadrature": quadrature,
                "tolerance": tolerance,
                "slope": slope,
            }
        )
        self._build(seed)
        require(commit in ("first", "all"), "commit", commit, "'first' or 'all'")
        self.commit = commit
        # a tree is searched in every state anyway, so the search may as well know the last sample
        self.replan = replan or (Replan(steps=1) if on_tree else Replan())
        self.stream = agent_stream(seed)
        self._planned_with = -1
        self._probes = np.zeros((0, task.width)), np.zeros(0, dtype=np.int64)  # for the rule "moved": pairs that the
        self._planned = np.zeros((0, len(task.learnt)))  # last plan used, and what it predicted for them
        self._seen: list[tuple[float, ...]] = []  # not learnt yet: a model that nobody asks need not know
        self._committed: list[int] = []
        self._shape = (task.width,)
        self._expected = b""  # the state in which the episode goes on, as bytes, or nothing

    def _build(self, seed: int) -> None:
        """Model and planner with the random features of `seed`."""
        self.seed = seed
        features = from_settings(self.task.features, self.task.width, self.task.actions, seed)
        self.model = _model(self.task, self.hope, features, self._ridge)
        self.reward_model = LinearModel(features, 1, self._ridge) if self._learns_reward else None
        self.planning = self._make_planning(self.hope)

    @property
    def planner(self) -> Any:
        """The planner on a grid."""
        return self.planning.planner  # type: ignore[union-attr]

    @property
    def slope(self) -> float:
        """L, as it is in use."""
        return self.planning.slope

    @property
    def reads(self) -> str | None:
        """The entry of Gymnasium's `info` from which the agent learns, if it needs one."""
        return self.task.measured

    def act(self, state: Array) -> int:
        """The action to take in `state`; plans first if the replanning rule says so."""
        here = self._checked("state", state)
        new_episode = here.tobytes() != self._expected
        if new_episode:
            self._committed.clear()
        if self._out_of_date(new_episode):
            self.plan()
        if self.hope.random_action > 0 and self._draw() < self.hope.random_action:
            self._committed.clear()
            return int(self._draw() * self.task.actions)
        if self._committed:
            return self._committed.pop(0)
        action = self.planning.best_action(here, self.stream)
        if self.commit == "all":
            self._committed = self.planning.sequence(action)[1:]
        return action

    def observe(
        self,
        state: Array,
        action: int,
        reward: float,
        next_state: Array,
        terminated: bool = False,
        measured: Array | None = None,
    ) -> None:
        """Learn from one transition; `measured` is what stands in `info` under the name `reads`."""
        here, following = self._checked("state", state), self._checked("next_state", next_state)
        end = following
        if not (type(action) is int or isinstance(action, np.integer)) or not 0 <= action < self.task.actions:
            require(False, "action", action, f"a whole number from 0 to {self.task.actions - 1}")
        if self.reads is not None:
            require(measured is not None, f"info[{self.reads!r}]", measured, "given: this task is learnt from it")
            end = self._checked(self.reads, measured)
        paid = finite("reward", reward) if self.reward_model is not None else 0.0
        if self.hope.learn_known or not self._known(here, action):
            self._seen.append((*here.tolist(), *end.tolist(), int(action), paid))
        self._expected = b"" if terminated else following.tobytes()

    def plan(self) -> None:
        """Learn what was seen, and bring the planner up to date with the model."""
        self._learn()
        self.planning.plan()
        self._planned_with = self.model.samples
        if self.replan.moved is not None:
            self._probes = self.planning.probes()
            self._planned = self.model.predict(*self._probes)

    def plain(self) -> PlainAgent:
        """An agent that acts on this one's model as it is now: no hope, no coin, no learning."""
        self._learn()
        return PlainAgent(
            self._make_planning(replace(self.hope, optimism=Plain(), shift=None, reward_reach=None)), self
        )

    def action_values(self, state: Array) -> Array:
        """Q~(s, a) of one state, (A,)."""
        return self.planning.action_values(self._checked("state", state))

    def internal_value(self, states: Array) -> Array:
        """V~ of states (N, nS), (N,)."""
        return self.planning.internal_value(np.asarray(states, dtype=np.float64))

    def describe(self) -> dict[str, Any]:
        """L as it is in use, and the rule by which it is found."""
        return {"origin": "given", "constants": {"slope": self.slope}, "slope_rule": self.planning.slope_rule}

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Everything that changed since construction, as plain arrays."""
        own = {
            "seed": np.array(self.seed),
            "stream": self.stream.copy(),
            "planned_with": np.array(self._planned_with),
            "planned": self._planned.copy(),
            "probed_states": self._probes[0].copy(),
            "probed_actions": self._probes[1].copy(),
            "committed": np.array(self._committed, dtype=np.int64),
            "seen": np.array(self._seen).reshape(-1, 2 * self.task.width + 2),
            "expected": np.frombuffer(self._expected).copy(),
        }
        for prefix, part in self._parts().items():
            own |= {f"{prefix}.{name}": saved for name, saved in part.items()}
        return own

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a saved state: the same actions follow as if the agent had never stopped."""
        mine = self.state_dict()
        missing = set(mine) - set(state)
        if missing:
            raise InputError(f"state_dict has no {sorted(missing)[0]!r}; it must have {', '.join(mine)}.")
        for name, old in mine.items():
            longer = 1 if name in _AS_MANY_AS_THERE_ARE else 0
            got = np.shape(state[name])
            require(len(got) == old.ndim and got[longer:] == old.shape[longer:], f"{name} shape", got, str(old.shape))
        if int(state["seed"]) != self.seed:  # random features are drawn from it
            self._build(int(state["seed"]))
        parts = {
            prefix: {n.removeprefix(f"{prefix}."): a for n, a in state.items() if n.startswith(f"{prefix}.")}
            for prefix in self._parts()
        }
        self.model.load_state_dict(parts["model"])
        if self.reward_model is not None:
            self.reward_model.load_state_dict(parts["reward"])
        self.planning.load(parts["planning"])
        self.stream[...] = state["stream"]
        self._planned_with = int(state["planned_with"])
        self._planned = np.array(state["planned"], dtype=np.float64)
        self._probes = np.array(state["probed_states"]), np.array(state["probed_actions"])
        self._committed = [int(a) for a in state["committed"]]
        self._seen = [tuple(row) for row in np.array(state["seen"], dtype=np.float64).tolist()]
        self._expected = np.array(state["expected"], dtype=np.float64).tobytes()

    def _parts(self) -> dict[str, dict[str, NDArray[Any]]]:
        parts = {"planning": self.planning.arrays(), "model": self.model.state_dict()}
        return parts if self.reward_model is None else parts | {"reward": self.reward_model.state_dict()}

    def _make_planning(self, hope: Hope) -> OnGrid | OnTree:
        kind = OnTree if "segments" in self._planner_settings else OnGrid
        return kind(self.task, self.model, hope, self.reward_model, **self._planner_settings)

    def _out_of_date(self, new_episode: bool) -> bool:
        samples = self.model.samples + len(self._seen)
        if self._planned_with < 0 or self.replan.due(new_episode, samples, self._planned_with):
            return True
        if self.replan.moved is None or not self._seen:
            return False
        self._learn()
        if len(self._planned) == 0:  # a tree that was not searched yet
            return True
        moved = np.abs(self.model.predict(*self._probes) - self._planned) / self.task.sigma
        return bool(moved.max() > self.replan.moved)

    def _checked(self, field: str, state: Any) -> Array:
        """A state as an array (nS,); the compiled interpolation would read past a shorter one."""
        plain = type(state) is np.ndarray and state.dtype == np.float64 and state.shape == self._shape
        if plain and state.flags.c_contiguous and math.isfinite(sum(state.tolist())):  # nearly always
            return state  # type: ignore[no-any-return]
        result = array(field, state)
        width = self.task.width
        ok = result.shape == (width,) and bool(np.isfinite(result).all())
        require(ok, field, state, f"{width} finite numbers")
        return result

    def _learn(self) -> None:
        """Give the model what was seen since the last plan, in its order."""
        if not self._seen:
            return
        rows = np.array(self._seen)
        self._seen.clear()  # before, or a sample that the model refuses would be refused for ever
        width = self.task.width
        states, following = rows[:, :width], rows[:, width : 2 * width]
        actions, paid = rows[:, 2 * width].astype(np.int64), rows[:, 2 * width + 1]
        self.model.learn(states, actions, following)
        if self.reward_model is not None:
            [(phi, block)] = self.reward_model.features(states, actions)
            self.reward_model.update_features(phi, paid[:, None], block)

    def _known(self, state: Array, action: int) -> bool:
        self._learn()
        calls = max(self.planning.calls, 1)
        _, known = self.hope.optimism(self.model, state[None], np.array([action]), calls, self.slope)
        return bool(known[0])

    def _draw(self) -> float:
        return float(_uniform(self.stream))


class PlainAgent:
    """Acts on a model as it is: the best action, ties drawn; see `LinearAgent.plain`."""

    reads = None

    def __init__(self, planning: OnGrid | OnTree, agent: LinearAgent) -> None:
        self.planning = planning
        self.planning.plan()
        self._checked = agent._checked
        self._stream = agent_stream(agent.seed)

    def act(self, state: Array) -> int:
        """The best action in `state`."""
        return self.planning.best_action(self._checked("state", state), self._stream)

    def observe(self, state: Any, action: int, reward: float, next_state: Any, terminated: bool = False) -> None:
        """Nothing is learnt."""


def replan_rule(settings: Any) -> Replan | None:
    """A `Replan` from a table, as a study gives it; None stays the planner's default."""
    if settings is None or isinstance(settings, Replan):
        return settings
    require(isinstance(settings, Mapping), "replan", settings, "a table of episode, growth, steps and moved")
    check_parameters("replan", Replan, settings)
    return Replan(**{"episode": False, "growth": None, **settings})


def _model(task: Task, hope: Hope, features: Any, ridge: float) -> Any:
    if not hope.truth:
        outputs, truncate = len(task.learnt), task.truncate
        return LinearModel(features, outputs, ridge, components=task.learnt, target=task.target, truncate=truncate)
    if task.truth is None:
        raise InputError("truth of the task is None, but must be given to plan with the true model.")
    return TrueModel(task.truth, task.learnt)
