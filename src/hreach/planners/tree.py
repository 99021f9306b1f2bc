"""Exhaustive search over sequences of actions, each held for a segment of time (Adams et al. 2004, section 5).

With segments of d_1, ..., d_k decisions and A actions there are A^k sequences. A node of the tree is a pair, a state
and the action taken there. Nodes are numbered level by level; a level is one decision, and only the first decision of a
segment branches. Backwards, with Q' the Q of the nodes that follow,

    Q = r + gamma max_a Q'    where a segment begins,    Q = r + gamma Q'    within it,    Q = r at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, announcing, compiled
from hreach.errors import InputError, discount, whole

Integers = NDArray[np.int64]
# (states (N, nS), actions (N,)) -> states after the decision (N, nS)
Follow = Callable[[Array, Integers], Array]
_LARGEST = 1e9  # bytes
_ALL = np.ones(0, dtype=np.bool_)  # every node is known


@dataclass(frozen=True)
class Tree:
    """`lengths`: decisions in each segment."""

    actions: int
    lengths: tuple[int, ...]
    gamma: float

    def __post_init__(self) -> None:
        whole("actions", self.actions, 1)
        discount(self.gamma)
        for length in self.lengths:
            whole("segments", length, 1)

    @cached_property
    def levels(self) -> list[tuple[int, bool]]:
        """(nodes, whether they branch from those before) of each level."""
        each = enumerate(self.lengths, start=1)
        return [(self.actions**depth, decision == 0) for depth, length in each for decision in range(length)]

    @property
    def size(self) -> int:
        """Nodes of the whole tree."""
        return sum(nodes for nodes, _ in self.levels)

    @cached_property
    def taken(self) -> Integers:
        """The action of every node, (size,)."""
        every = np.arange(self.actions)
        return np.concatenate([np.tile(every, nodes // self.actions) for nodes, _ in self.levels])

    @cached_property
    def parents(self) -> Integers:
        """The node from which every node follows, (size,); -1 for the first ones."""
        result, begin, before = [np.full(self.actions, -1)], 0, self.actions
        for nodes, branches in self.levels[1:]:
            result.append(begin + (np.arange(nodes) // self.actions if branches else np.arange(nodes)))
            begin, before = begin + before, nodes
        return np.concatenate(result).astype(np.int64)

    def check_size(self, bytes_per_node: int) -> None:
        """Refuse a tree that would not fit into memory, before it is grown."""
        need = self.size * bytes_per_node
        if need > _LARGEST:
            raise InputError(
                f"segments is {self.lengths} decisions, a tree of {self.size:.3g} nodes and {need / 1e9:.3g} GB, "
                f"but must need at most {_LARGEST / 1e9:g} GB."
            )

    def grow(self, root: Array, follow: Follow) -> Array:
        """The state of every node, (size, nS), from the state `root` (nS,); all nodes of a level at once."""
        states = np.empty((self.size, len(root)))
        after = np.empty_like(states)
        begin = 0
        for nodes, _ in self.levels:
            here = slice(begin, begin + nodes)
            states[here] = root if begin == 0 else after[self.parents[here]]
            after[here] = follow(states[here], self.taken[here])
            begin += nodes
        return states

    def back_up(self, reward: Array, known: NDArray[np.bool_] | None = None, best: float = 0.0) -> tuple[Array, Array]:
        """(Q of every node, value of what follows it), (size,) each; a node that is not `known` is worth `best`."""
        q, after = np.empty(len(reward)), np.full(len(reward), -np.inf)
        after[len(reward) - self.levels[-1][0] :] = 0.0
        _back_up_announced(self.parents, self.gamma, reward, _ALL if known is None else known, best, q, after)
        return q, after

    def sequence(self, q: Array, first: int) -> list[int]:
        """The best action of each decision, one after the other, if the first one is `first`."""
        chosen, node = [first], first
        for _, branches in self.levels[1:]:
            child = int(np.searchsorted(self.parents, node))
            node = child + (int(q[child : child + self.actions].argmax()) if branches else 0)
            chosen.append(int(self.taken[node]))
        return chosen


@compiled
def _back_up(
    parents: Integers, gamma: float, reward: Array, known: NDArray[np.bool_], best: float, q: Array, after: Array
) -> None:
    """Children before parents: a node tells its Q to the one from which it follows."""
    for i in range(reward.shape[0] - 1, -1, -1):
        q[i] = reward[i] + gamma * after[i]
        if known.shape[0] > 0 and not known[i]:
            q[i] = best
        if parents[i] >= 0:
            after[parents[i]] = max(after[parents[i]], q[i])


_back_up_announced = announcing(_back_up)


@compiled
def slope_between(states: Array, value: Array) -> float:
    """max |V(s) - V(s')| / |s - s'| over pairs of states (N, nS) with values (N,): the paper's estimate of L."""
    steepest = 0.0
    for i in range(states.shape[0]):
        for j in range(i):
            square = 0.0
            for d in range(states.shape[1]):
                square += (states[i, d] - states[j, d]) ** 2
            if square > 0.0:
                steepest = max(steepest, abs(value[i] - value[j]) / np.sqrt(square))
    return steepest
