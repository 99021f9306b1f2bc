"""Planning with a linear model by searching all sequences of actions from the present state. Paper: A7, HIV."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hreach.agents.hope import Hope
from hreach.agents.on_grid import learnt_reward
from hreach.compiling import Array
from hreach.errors import at_least, require
from hreach.models.flat import Follower, flatten
from hreach.models.linear import LinearModel
from hreach.planners.tree import Tree, slope_between
from hreach.task import Task, shape_of


class OnTree:
    """A tree that is searched anew in every state, with the model as it is then.

    Hope counts once for each decision, at the pair where it is taken: that is where a sample would come from. L is the
    largest slope between the root's children of the value without hope, found anew in each search.
    """

    def __init__(
        self,
        task: Task,
        model: LinearModel,
        hope: Hope,
        reward_model: LinearModel | None = None,
        *,
        segments: Any,
        slope: float | None = None,
    ) -> None:
        lengths = shape_of("segments", segments)
        whole_decisions = all(length % task.duration == 0 for length in lengths)
        require(whole_decisions, "segments", segments, f"multiples of one decision ({task.duration})")
        require(hope.shift is None, "optimism", "shift", "'bonus' for a tree search; a grid offers both")
        require(task.terminal is None, "terminal", task.terminal, "None for a tree search, which never ends an episode")
        self.task, self.model, self.hope, self.reward_model = task, model, hope, reward_model
        self.tree = Tree(task.actions, tuple(n // task.duration for n in lengths), task.gamma)
        self.tree.check_size(8 * (task.width * (task.model_steps + 3) + model.width + 10))
        self.given_slope = None if slope is None else at_least("slope", slope, 0)
        self.slope = 0.0 if self.given_slope is None else self.given_slope
        self.calls = 0
        self._follower: Follower | None = None
        self._weights: Array | None = None
        self._actions = np.concatenate([level.actions for level in self.tree.levels])
        self._paths: list[Array] = []
        self._phi: list[Array] = []
        self._q_of: list[Array] = []
        self._probes = np.zeros((0, task.width)), np.zeros(0, dtype=np.int64)
        self._flat = None if hope.truth or task.complete is not None else flatten(model.bases[0][0])
        self._blocks = self._actions if self._flat is None else model.block_of(self._actions)

    def plan(self) -> None:
        """Nothing to do before a state is known."""

    def action_values(self, state: Array) -> Array:
        """Q~(s, a) of one state, (A,), by a search."""
        self._paths.clear()
        self._phi.clear()
        self._renew_follower()
        before, after = self.tree.grow(state, self._follow)
        states = np.concatenate(before)
        self._probes = states, self._actions
        if self._phi:
            seen = [(np.concatenate(self._phi), self._blocks)]
            for each in (self.model, self.reward_model):
                if each is not None:
                    each.lend(states, seen)
        reward = self._rewards(states, 0)
        if self.given_slope is None:
            first = self.tree.lengths[0] - 1
            self.slope = slope_between(after[first], self.tree.back_up(reward)[1][first])
        self.calls += len(states)
        bonus, known = self.hope.optimism(self.model, states, self._actions, self.calls, self.slope)
        if self.reward_model is not None:
            reward = self._rewards(states, self.calls)
        self._q_of, _ = self.tree.back_up(reward + bonus, known, self.task.values[1])
        return self._q_of[0]

    def internal_value(self, states: Array) -> Array:
        """V~ of states (N, nS), a search each."""
        return np.array([self.action_values(state).max() for state in states])

    def sequence(self, first: int) -> list[int]:
        """The best action of each decision of the last search after `first`."""
        return self.tree.sequence(self._q_of, first)

    def probes(self) -> tuple[Array, NDArray[np.int64]]:
        """The pairs of the last search."""
        return self._probes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that changed since construction."""
        return {"slope": np.array(self.slope), "calls": np.array(self.calls)}

    def load(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from `arrays`."""
        self.slope, self.calls = float(saved["slope"]), int(saved["calls"])

    def _renew_follower(self) -> None:
        """The compiled way to follow the model, made anew when its weights have changed."""
        if self._flat is None:
            return
        weights = self.model.factors[0].weights()
        if weights is not self._weights:
            low, high = self.task.bounds
            self._follower = Follower(self._flat, weights, self.task.target == "change", low, high)
        self._weights = weights

    def _follow(self, states: Array, actions: NDArray[np.int64]) -> Array:
        """The states after one decision; the way there and the features of the pairs are kept."""
        steps = self.task.model_steps
        if self._follower is not None:
            path, phi = self._follower.follow(states, self.model.block_of(actions), steps)
            self._phi.append(phi)
        else:
            path = np.empty((steps, *states.shape))
            here = states
            for k in range(steps):
                path[k] = self.task.next_states(here, actions, self.model.predict(here, actions))
                here = path[k]
        self._paths.append(path)
        return np.asarray(path[-1])

    def _rewards(self, states: Array, calls: int) -> Array:
        """Reward of the decision of every pair, (size,)."""
        known = self.task.reward
        if known is None or self.reward_model is not None:
            return learnt_reward(self.reward_model, self.hope, states, self._actions, calls)
        every = self.task.paid_every
        # All levels at once: steps x pairs, the steps running slowest.
        paid = np.concatenate([path[every - 1 :: every] for path in self._paths], axis=1)
        times = len(paid)
        many = np.broadcast_to(states, (times, *states.shape)).reshape(-1, states.shape[1])
        taken = np.broadcast_to(self._actions, (times, len(states))).reshape(-1)
        return np.asarray(known(many, taken, paid.reshape(-1, paid.shape[2])).reshape(times, -1).sum(axis=0))
