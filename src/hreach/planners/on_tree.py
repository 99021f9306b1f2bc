"""Planning by searching all sequences of actions from the present state. Paper: A7, HIV."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hreach.compiling import announcing
from hreach.errors import require
from hreach.kernels import TIE
from hreach.models.flat import Follower
from hreach.models.linear import LinearModel
from hreach.models.regression import Regression
from hreach.optimism.linear import LinearOptimism
from hreach.planners.asking import Probes, compared, reach_of, unknown
from hreach.planners.slope import by_hand
from hreach.planners.tree import Tree, slope_between
from hreach.problems.task import shape_of
from hreach.protocols import Arrays, Comparison, Floats, Ints, Pairs, State, Stream
from hreach.randomness.streams import uniform

_uniform = announcing(uniform)


class OnTree:
    """A tree that is searched anew in every state, with the model as it is then.

    The bonus of every step of the model counts, as in Algorithm 2, but the interval is computed once for each decision,
    at the pair where it is taken: that is where a sample would come from. L is the largest slope between the root's
    children of the value without optimism, found anew in each search.
    """

    residual = 0.0  # a search is exact

    def __init__(
        self, model: Regression, optimism: LinearOptimism, *, segments: Sequence[int], slope: float | str = "paper"
    ) -> None:
        task = model.task
        lengths = shape_of("segments", segments)
        whole_decisions = all(length % task.duration == 0 for length in lengths)
        require(whole_decisions, "segments", segments, f"multiples of one decision ({task.duration})")
        require(optimism.shift is None, "optimism", "shift", "'bonus' for a tree search; a grid offers both")
        require(task.terminal is None, "terminal", task.terminal, "None for a tree search, which never ends an episode")
        self.model, self.optimism, self._task = model, optimism, task
        self.tree = Tree(task.actions, tuple(n // task.duration for n in lengths), task.gamma)
        self.tree.check_size(8 * (task.width * (task.model_steps + 3) + model.linear.width + 10))
        self._given = by_hand(slope, ("paper",))
        self.slope_rule = "given" if self._given is not None else "the largest slope between the root's children"
        self.slope = 0.0 if self._given is None else self._given
        self.calls = 0
        begin = task.actions * (self.tree.lengths[0] - 1)
        self._first = slice(begin, begin + task.actions)  # the nodes at whose ends the root's children are
        self._held = np.tile(self.tree.taken, task.model_steps // task.paid_every)  # at each time that is paid for
        self._q = np.zeros(0)
        self._nodes = Pairs(np.zeros((0, task.width)), np.zeros(0, dtype=np.int64))  # of the last search
        self._kept = Probes(model)
        self._follower = self._compiled_follower()

    def plan(self) -> None:
        """Learn what was kept; there is nothing to search before a state is known."""
        self.model.settle()

    def best_action(self, state: Floats, stream: Stream) -> int:
        """The action with the largest value in a state, by a search; ties are drawn."""
        values = self._search(state).tolist()  # a handful: lists are quicker than arrays
        top = max(values)
        best = [action for action, value in enumerate(values) if value >= top - TIE * max(1.0, abs(top))]
        return best[int(_uniform(stream) * len(best))] if len(best) > 1 else best[0]

    def action_values(self, states: Floats | None = None) -> Floats:
        """Q~ of states (N, nS), (N, A), a search each, as the next one would find them: asking changes nothing."""
        require(states is not None, "states", states, "given: a tree is searched from a state")
        assert states is not None
        kept = self.slope, self.calls, self._q, self._nodes
        found = []
        for state in states:
            found.append(self._search(state))
            self.slope, self.calls, self._q, self._nodes = kept
        return np.array(found).reshape(len(states), -1)

    def internal_value(self, states: Floats | None = None) -> Floats:
        """V~ of states (N, nS), a search each."""
        return np.asarray(self.action_values(states).max(axis=1))

    def sequence(self, first: int) -> list[int]:
        """The best action of each decision of the last search after `first`."""
        return self.tree.sequence(self._q, first)

    def certainty_equivalent(self, stream: Stream) -> OnTree:
        """A planner that searches the same tree for the same model, without optimism."""
        segments = [length * self._task.duration for length in self.tree.lengths]
        slope = "paper" if self._given is None else self._given
        return OnTree(self.model, LinearOptimism(truth=self.optimism.truth), segments=segments, slope=slope)

    def compare(self, state: State | None) -> Comparison:
        """The internal value beside that without optimism, by a search each."""
        require(state is not None, "state", state, "given: a tree is searched from a state")
        here = self.model.state("state", state)[None]
        internal = self.internal_value(here)
        current = self.certainty_equivalent(np.zeros(4, dtype=np.uint64)).internal_value(here)
        return compared(self.model.samples, here, internal, current, 0.0)

    def reach(self) -> tuple[float, float] | None:
        """The h of the interval now, twice."""
        return reach_of(self.model, self.optimism)

    def unknown(self, state: State, action: int) -> bool:
        """Whether the bonus of a pair is infinite."""
        return unknown(self.model, self.optimism, state, action, self.slope, self.calls)

    def remember(self) -> None:
        """Keep the predictions of the last search."""
        self._kept.remember(self._nodes)

    def moved(self) -> float:
        """How far the farthest of them has moved, in standard deviations of the noise."""
        return self._kept.moved()

    def settings(self) -> dict[str, object]:
        """What the planner was made with, as plain data."""
        segments = [length * self._task.duration for length in self.tree.lengths]
        return {"planner": "tree", "segments": segments, "slope_rule": self.slope_rule}

    def state_dict(self) -> dict[str, np.ndarray]:
        """L and the number of intervals asked for."""
        return {"slope": np.array(self.slope), "calls": np.array(self.calls), **self._kept.state_dict()}

    def check_state_dict(self, saved: Arrays) -> None:
        """Whether this can have been saved; `InputError` if not."""
        for name in ("slope", "predicted"):
            require(bool(np.isfinite(saved[name]).all()), name, "nan or infinite", "finite everywhere")

    def load_state_dict(self, saved: Arrays) -> None:
        """Go on from `state_dict`."""
        self.slope, self.calls = float(saved["slope"]), int(saved["calls"])
        self._kept.load_state_dict(saved)

    def _search(self, state: Floats) -> Floats:
        """Q~(s, a) of one state, (A,)."""
        self.model.settle()
        states, path = self._grow(state)
        actions = self.tree.taken
        self._nodes = Pairs(states, actions)
        reward = self._rewards(states, path)
        if self._given is None:
            self.slope = slope_between(path[-1, self._first], self.tree.back_up(reward)[1][self._first])
        self.calls += len(states)
        upper = self.optimism.upper(self.model, self._nodes, self.slope, self.calls)
        if self.model.reward_model is not None:
            reward = reward + upper.reward
        known = upper.bonus < np.inf
        self._q, _ = self.tree.back_up(reward + self._task.model_steps * upper.bonus, known, self._task.values[1])
        return self._q[: self._task.actions]

    def _compiled_follower(self) -> Follower | None:
        """The compiled way to follow a model, for features that have a flat form."""
        model, task = self.model.linear, self._task
        if not isinstance(model, LinearModel) or task.complete is not None or model.flat[0] is None:
            return None
        flat, factor = model.flat[0], model.factors[0]
        self._blocks = model.block_of(self.tree.taken)
        self._ways = self.tree.taken if flat.counting else self._blocks  # whose weights each node follows
        self._version = factor.version.copy()  # of the weights that the follower has
        within = model.seen_changes if model.truncate else None
        low, high = task.bounds
        return Follower(flat, factor.weights(), model.target == "change", low, high, within)

    def _grow(self, state: Floats) -> tuple[Floats, Floats]:
        """The states of all nodes (P, nS) and the way through the decision of each, (steps, P, nS)."""
        model = self.model.linear
        if self._follower is None or not isinstance(model, LinearModel):
            return self._grow_in_numpy(state)
        factor = model.factors[0]
        for block in (factor.version != self._version).nonzero()[0].tolist():
            self._follower.renew(block, factor.weights()[block])
            self._version[block] = factor.version[block]
        states, path, phi = self._follower.grow(state, self.tree.parents, self._ways, self._task.model_steps)
        for each in (model, self.model.reward_model):
            if each is not None:
                each.lend(states, [(phi, self._blocks)])
        return states, path

    def _grow_in_numpy(self, state: Floats) -> tuple[Floats, Floats]:
        """The same for features that have no flat form and for a model that is no regression."""
        paths = []

        def follow(here: Floats, actions: Ints) -> Floats:
            way = []
            for _ in range(self._task.model_steps):
                here = self._task.next_states(here, actions, self.model.predict(here, actions))
                way.append(here)
            paths.append(np.stack(way))
            return here

        states = self.tree.grow(state, follow)
        return states, np.concatenate(paths, axis=1)

    def _rewards(self, states: Floats, path: Floats) -> Floats:
        """Reward of the decision of every node, (P,)."""
        if self.model.reward_model is not None:
            return self.model.reward(states, self.tree.taken, path[-1])
        every = self._task.paid_every
        paid = path if every == 1 else path[every - 1 :: every]
        # of all nodes and times at once: a reward in NumPy costs more by the call than by the row
        before, after = np.concatenate([states] * len(paid)), paid.reshape(-1, path.shape[2])
        return np.asarray(self.model.reward(before, self._held, after).reshape(len(paid), -1).sum(axis=0))
