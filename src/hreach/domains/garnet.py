"""Garnet: random MDPs of a given size (Archibald, McKinnon & Thomas 1995; this form: Bhatnagar et al. 2009).

Each pair has `successors` different next states, every set of them equally likely; their probabilities are the gaps
that `successors` - 1 uniform points leave on [0, 1]. R(s, a) is uniform on [0, 1], and known. All follows from `seed`;
an episode begins in state 0 and never ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hreach.domains.drawn import DrawnEnv
from hreach.domains.rows import room_for, rows_of
from hreach.errors import require, whole
from hreach.problems.mdp import TabularMDP
from hreach.randomness.seeding import check_seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


class Garnet(DrawnEnv):
    """`Garnet(states=20, actions=4, successors=5, seed=0, gamma=0.95)`."""

    def __init__(
        self,
        states: int = 20,
        actions: int = 4,
        successors: int = 5,
        seed: int = 0,
        gamma: float = 0.95,
        render_mode: str | None = None,
    ) -> None:
        states, actions = whole("states", states, 1), whole("actions", actions, 1)
        successors = whole("successors", successors, 1)
        require(successors <= states, "successors", successors, f"at most the number of states, {states}")
        check_seed(seed)
        room_for(f"a Garnet of {states} states", states * actions, successors)
        rng = np.random.default_rng(seed)
        following = _different(rng, states * actions, successors, states)
        P = rows_of(following, _gaps(rng, states * actions, successors))
        R = rng.random((states, actions))
        super().__init__(TabularMDP(P, R, gamma), R, render_mode)

    def figure(self, state: int | None = None) -> Figure:
        """The states on a circle, with all transitions and those of this state, by default the present one."""
        from hreach.domains.graph_picture import circle, draw

        here = self._state if state is None else state
        return draw(self._mdp, circle(self._mdp.states), here)


def _different(rng: np.random.Generator, rows: int, count: int, states: int) -> NDArray[np.int32]:
    """`count` different states for each row, every set equally likely: Floyd's algorithm, all rows at once."""
    chosen = np.empty((rows, count), dtype=np.int32)
    for i in range(count):
        last = states - count + i
        drawn = rng.integers(last + 1, size=rows, dtype=np.int32)
        taken = (chosen[:, :i] == drawn[:, None]).any(axis=1)
        chosen[:, i] = np.where(taken, last, drawn)
    return chosen


def _gaps(rng: np.random.Generator, rows: int, count: int) -> Array:
    """The lengths of the `count` parts into which count - 1 uniform points cut [0, 1], (rows, count)."""
    cuts = np.empty((rows, count + 1))
    cuts[:, 0], cuts[:, -1] = 0, 1
    cuts[:, 1:-1] = np.sort(rng.random((rows, count - 1)), axis=1)
    return np.diff(cuts, axis=1)
