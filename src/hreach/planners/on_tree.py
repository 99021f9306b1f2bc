"""Planning with a linear model by searching all sequences of actions from the present state. Paper: A7, HIV."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, announcing
from hreach.errors import require
from hreach.models.flat import Follower
from hreach.models.linear import LinearModel
from hreach.optimism.linear import Hope
from hreach.planners.grid import TIE
from hreach.planners.on_grid import learnt_reward
from hreach.planners.slope import by_hand
from hreach.planners.tree import Tree, slope_between
from hreach.problems.task import Task, shape_of
from hreach.randomness.streams import uniform

_uniform = announcing(uniform)


class OnTree:
    """A tree that is searched anew in every state, with the model as it is then.

    The bonus of every step of the model counts, as in Algorithm 2, but the interval is computed once for each decision,
    at the pair where it is taken: that is where a sample would come from. L is the largest slope between the root's
    children of the value without hope, found anew in each search.
    """

    def __init__(
        self,
        task: Task,
        model: LinearModel,
        hope: Hope,
        reward_model: LinearModel | None = None,
        *,
        segments: Any,
        slope: Any = "paper",
    ) -> None:
        lengths = shape_of("segments", segments)
        whole_decisions = all(length % task.duration == 0 for length in lengths)
        require(whole_decisions, "segments", segments, f"multiples of one decision ({task.duration})")
        require(hope.shift is None, "optimism", "shift", "'bonus' for a tree search; a grid offers both")
        require(task.terminal is None, "terminal", task.terminal, "None for a tree search, which never ends an episode")
        self.task, self.model, self.hope, self.reward_model = task, model, hope, reward_model
        self.tree = Tree(task.actions, tuple(n // task.duration for n in lengths), task.gamma)
        self.tree.check_size(8 * (task.width * (task.model_steps + 3) + model.width + 10))
        self.given_slope = by_hand(slope, ("paper",))
        self.slope_rule = "given" if self.given_slope is not None else "the largest slope between the root's children"
        self.slope = 0.0 if self.given_slope is None else self.given_slope
        self.calls = 0
        begin = task.actions * (self.tree.lengths[0] - 1)
        self._first = slice(begin, begin + task.actions)  # the nodes at whose ends the root's children are
        self._held = np.tile(self.tree.taken, task.model_steps // task.paid_every)  # at each time that is paid for
        self._q = np.zeros(0)
        self._probes = np.zeros((0, task.width)), np.zeros(0, dtype=np.int64)
        flat = None if hope.truth or task.complete is not None else model.flat[0]
        self._follower: Follower | None = None  # the compiled way to follow the model
        if flat is not None:
            self._blocks = model.block_of(self.tree.taken)
            self._ways = self.tree.taken if flat.counting else self._blocks  # whose weights each node follows
            factor = model.factors[0]
            within = model.seen_changes if model.truncate else None
            low, high = task.bounds
            self._follower = Follower(flat, factor.weights(), task.target == "change", low, high, within)
            self._version = factor.version.copy()  # of the weights that the follower has

    def plan(self) -> None:
        """Nothing to do before a state is known."""

    def action_values(self, state: Array) -> Array:
        """Q~(s, a) of one state, (A,), by a search."""
        states, path = self._grow(state)
        actions = self.tree.taken
        self._probes = states, actions
        reward = self._rewards(states, path, 0)
        if self.given_slope is None:
            self.slope = slope_between(path[-1, self._first], self.tree.back_up(reward)[1][self._first])
        self.calls += len(states)
        bonus, known = self.hope.optimism(self.model, states, actions, self.calls, self.slope)
        if self.reward_model is not None:
            reward = self._rewards(states, path, self.calls)
        self._q, _ = self.tree.back_up(reward + self.task.model_steps * bonus, known, self.task.values[1])
        return self._q[: self.task.actions]

    def best_action(self, state: Array, stream: NDArray[np.uint64]) -> int:
        """The action with the largest of them; ties are drawn."""
        values = self.action_values(state).tolist()  # a handful: lists are quicker than arrays
        top = max(values)
        best = [action for action, value in enumerate(values) if value >= top - TIE * max(1.0, abs(top))]
        return best[int(_uniform(stream) * len(best))] if len(best) > 1 else best[0]

    def internal_value(self, states: Array) -> Array:
        """V~ of states (N, nS), a search each."""
        return np.array([self.action_values(state).max() for state in states])

    def sequence(self, first: int) -> list[int]:
        """The best action of each decision of the last search after `first`."""
        return self.tree.sequence(self._q, first)

    def probes(self) -> tuple[Array, NDArray[np.int64]]:
        """The pairs of the last search."""
        return self._probes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that changed since construction."""
        return {"slope": np.array(self.slope), "calls": np.array(self.calls)}

    def load(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from `arrays`."""
        self.slope, self.calls = float(saved["slope"]), int(saved["calls"])

    def _grow(self, state: Array) -> tuple[Array, Array]:
        """The states of all nodes (P, nS) and the way through the decision of each, (steps, P, nS)."""
        if self._follower is None:
            return self._grow_plainly(state)
        factor = self.model.factors[0]
        for block in (factor.version != self._version).nonzero()[0].tolist():
            self._follower.renew(block, factor.weights()[block])
            self._version[block] = factor.version[block]
        states, path, phi = self._follower.grow(state, self.tree.parents, self._ways, self.task.model_steps)
        for each in (self.model, self.reward_model):
            if each is not None:
                each.lend(states, [(phi, self._blocks)])
        return states, path

    def _grow_plainly(self, state: Array) -> tuple[Array, Array]:
        """The same in NumPy, for features that have no flat form and for the true model."""
        paths = []

        def follow(here: Array, actions: NDArray[np.int64]) -> Array:
            way = []
            for _ in range(self.task.model_steps):
                here = self.task.next_states(here, actions, self.model.predict(here, actions))
                way.append(here)
            paths.append(np.stack(way))
            return here

        states = self.tree.grow(state, follow)
        return states, np.concatenate(paths, axis=1)

    def _rewards(self, states: Array, path: Array, calls: int) -> Array:
        """Reward of the decision of every node, (P,)."""
        known = self.task.reward
        if known is None or self.reward_model is not None:
            return learnt_reward(self.reward_model, self.hope, states, self.tree.taken, calls)
        every = self.task.paid_every
        paid = path if every == 1 else path[every - 1 :: every]
        # of all nodes and times at once: a reward in NumPy costs more by the call than by the row
        before, after = np.concatenate([states] * len(paid)), paid.reshape(-1, path.shape[2])
        return np.asarray(known(before, self._held, after).reshape(len(paid), -1).sum(axis=0))
