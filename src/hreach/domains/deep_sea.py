"""Deep sea of Osband, Van Roy, Russo & Wen (2019), "Deep exploration via randomized value functions", section 4.1.

A diver sinks one row with each step through a grid of `size` x `size` cells, from its first corner, one column to the
left or to the right; swimming to the right costs cost/size. Only to the right all the way is the treasure, 1, in the
last corner; after `size` steps the episode ends. So one policy in 2^size finds it, and all that is learnt on the way
speaks against it. In each cell one of the two actions swims to the right: drawn by `seed`, or action 1 everywhere with
flip=False. With stochastic=True swimming to the right fails with probability 1/size: the diver sinks straight down.

State row size + column; cells above the diagonal cannot be entered. R(s, a) is known.

>>> value = DeepSea(size=4, cost=0.0, gamma=0.9).mdp().optimal_value()[0]
>>> bool(abs(value - 0.9**3) < 1e-12)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hreach.domains.drawn import DrawnEnv
from hreach.domains.rows import room_for, rows_of
from hreach.errors import finite, require, whole
from hreach.problems.mdp import TabularMDP
from hreach.randomness.seeding import check_seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class DeepSea(DrawnEnv):
    """`DeepSea(size=10, flip=True, seed=0, stochastic=False, cost=0.01, gamma=0.99)`."""

    def __init__(
        self,
        size: int = 10,
        flip: bool = True,
        seed: int = 0,
        stochastic: bool = False,
        cost: float = 0.01,
        gamma: float = 0.99,
        render_mode: str | None = None,
    ) -> None:
        size = whole("size", size, 2)
        for name, given in (("flip", flip), ("stochastic", stochastic)):
            require(isinstance(given, bool | np.bool_), name, given, "True or False")
        check_seed(seed)
        states = size * size
        room_for(f"a deep sea of {size} x {size} cells", 2 * states, 2)
        self._size = size
        self._rightward = np.ones(states, dtype=np.int64)
        if flip:
            self._rightward = np.random.default_rng(seed).integers(2, size=states)
        state, row, column = np.arange(states), *np.divmod(np.arange(states), size)
        below = np.where(row < size - 1, state + size, state)  # from the last row the episode ends, wherever to
        left = below - ((row < size - 1) & (column > 0))
        right = below + ((row < size - 1) & (column < size - 1))
        following = np.empty((states, 2, 2), dtype=np.int32)
        following[state, self._rightward] = np.stack([right, below], axis=1)
        following[state, 1 - self._rightward] = left[:, None]
        fails = 1 / size if stochastic else 0.0
        R = np.zeros((states, 2))
        R[state, self._rightward] = -finite("cost", cost) / size
        R[-1, self._rightward[-1]] += 1
        over = np.repeat((row == size - 1).astype(np.float64)[:, None], 2, axis=1)
        P = rows_of(following.reshape(-1, 2), np.array([1 - fails, fails]))
        super().__init__(TabularMDP(P, R, gamma, end=over), R, render_mode)

    def figure(self, state: int | None = None) -> Figure:
        """The grid with a dot in this state, by default the present one, and in each cell the action to the right."""
        from hreach.domains.grid_picture import draw
        from hreach.drawing.palette import GREEN, SHADE

        here = divmod(self._state if state is None else state, self._size)
        kinds = np.triu(np.ones((self._size, self._size), dtype=np.uint8), 1)
        kinds[-1, -1] = 2
        entered = np.argwhere(kinds != 1).tolist()
        words = {(r, c): str(self._rightward[r * self._size + c]) for r, c in entered if (r, c) != here}
        return draw(kinds, {0: "#ffffff", 1: SHADE, 2: GREEN}, here, words)
