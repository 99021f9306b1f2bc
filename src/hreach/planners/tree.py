"""Exhaustive search over sequences of actions, each held for a segment of time (Adams et al. 2004, section 5).

With segments of d_1, ..., d_k decisions and A actions there are A^k sequences. The tree is grown level by level, all
nodes of a level at once; a level is one decision, and only the first decision of a segment branches. Backwards,

    Q = r + gamma max_a Q'    where a segment begins,    Q = r + gamma Q'    within it,    Q' = 0 after the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array
from hreach.errors import InputError, discount, whole

Actions = NDArray[np.int64]
# (states (N, nS), actions (N,)) -> states after the decision (N, nS)
Follow = Callable[[Array, Actions], Array]
_LARGEST = 1e9  # bytes


class Level(NamedTuple):
    """One decision: the action of every node (N,), and whether it branches there."""

    actions: Actions
    branches: bool


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

    def _rows(self) -> list[int]:
        return [self.actions**depth for depth, length in enumerate(self.lengths, start=1) for _ in range(length)]

    @cached_property
    def levels(self) -> list[Level]:
        """The decisions one after the other."""
        first = [decision == 0 for length in self.lengths for decision in range(length)]
        every = np.arange(self.actions)
        return [Level(np.tile(every, nodes // self.actions), b) for nodes, b in zip(self._rows(), first, strict=True)]

    @property
    def size(self) -> int:
        """Pairs of a state and an action in the whole tree."""
        return sum(self._rows())

    def check_size(self, bytes_per_pair: int) -> None:
        """Refuse a tree that would not fit into memory, before it is grown."""
        need = self.size * bytes_per_pair
        if need > _LARGEST:
            raise InputError(
                f"segments is {self.lengths} decisions, a tree of {self.size:.3g} pairs and {need / 1e9:.3g} GB, "
                f"but must need at most {_LARGEST / 1e9:g} GB."
            )

    def grow(self, root: Array, follow: Follow) -> tuple[list[Array], list[Array]]:
        """States (N, nS) before and after the decision of each level, from the state `root` (nS,)."""
        before, after = [], []
        states = root[None]
        for actions, branches in self.levels:
            before.append(np.repeat(states, self.actions, axis=0) if branches else states)
            states = follow(before[-1], actions)
            after.append(states)
        return before, after

    def back_up(
        self, reward: Array, known: NDArray[np.bool_] | None = None, best: float = 0.0
    ) -> tuple[list[Array], list[Array]]:
        """(Q of each level, value after each level) for rewards of all pairs, level after level, (size,).

        A pair that is not `known` is worth `best`.
        """
        end = len(reward)
        value = np.zeros(len(self.levels[-1].actions))
        q_of, after = [], []
        for actions, branches in reversed(self.levels):
            begin = end - len(actions)
            after.append(value)
            q = reward[begin:end] + self.gamma * value
            if known is not None:
                q = np.where(known[begin:end], q, best)
            q_of.append(q)
            value = q.reshape(-1, self.actions).max(axis=1) if branches else q
            end = begin
        return q_of[::-1], after[::-1]

    def sequence(self, q_of: Sequence[Array], first: int) -> list[int]:
        """The best action of each decision, one after the other, if the first one is `first`."""
        node, chosen = first, []
        for depth, (q, level) in enumerate(zip(q_of, self.levels, strict=True)):
            if level.branches and depth > 0:
                node = node * self.actions + int(q[node * self.actions : (node + 1) * self.actions].argmax())
            chosen.append(node % self.actions)
        return chosen


def slope_between(states: Array, value: Array) -> float:
    """max |V(s) - V(s')| / |s - s'| over pairs of states (N, nS) with values (N,): the paper's estimate of L."""
    distance = np.sqrt(np.square(states[:, None] - states[None]).sum(axis=2))
    difference = np.abs(value[:, None] - value[None])
    return float(np.max(difference[distance > 0] / distance[distance > 0], initial=0.0))
