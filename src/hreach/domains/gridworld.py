r"""A grid of cells with walls, goals and pits, on which moves slip; of any size, or from a text map.

Actions 0 to 3 go up, right, down and left. With probability 1 - `slip` the move goes where it should, with `slip` / 2
each at a right angle to that; a move into a wall or off the grid stays. A step in a free cell pays `step`. In a goal or
a pit any action pays `goal` or `pit` and ends the episode. So the reward depends on the cell alone, and it is known.

A map has one sign for each cell: `#` wall, `.` free, `S` start, `G` goal, `X` pit; episodes begin in one of the cells
`S`, all equally likely. Without a map the grid has `rows` x `columns` free cells, the start in the first corner and a
goal in the last. States are the cells that are no walls, row by row.

>>> world = Gridworld(map="S.X\n.#G", slip=0.2)
>>> world.mdp().states, world.places().tolist()
(5, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 2]])
>>> world.mdp().transitions()[0, 1].round(2)  # to the right: slips go down, or up and so nowhere
array([0.1, 0.8, 0. , 0.1, 0. ])
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hreach.domains.drawn import DrawnEnv
from hreach.domains.rows import Rows, room_for, rows_of
from hreach.errors import InputError, finite, number, require, whole
from hreach.problems.mdp import TabularMDP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Cells = NDArray[np.uint8]
WALL, FREE, START, GOAL, PIT = (ord(sign) for sign in "#.SGX")
SIGNS = "#.SGX"
ACTIONS = 4
SIZE = 10


class Gridworld(DrawnEnv):
    """`Gridworld(rows=10, columns=10, map=None, slip=0.2, goal=1.0, pit=-1.0, step=0.0, gamma=0.95)`.

    `places()` has the row and column of each state; `figure()` draws the grid.
    """

    def __init__(
        self,
        rows: int | None = None,
        columns: int | None = None,
        map: str | None = None,
        slip: float = 0.2,
        goal: float = 1.0,
        pit: float = -1.0,
        step: float = 0.0,
        gamma: float = 0.95,
        render_mode: str | None = None,
    ) -> None:
        require(0 <= number("slip", slip) <= 1, "slip", slip, "a probability from 0 to 1")
        require(map is None or (rows is None and columns is None), "rows, columns", (rows, columns), "None with a map")
        cells = _open(rows, columns) if map is None else read_map(map)
        kinds = cells[cells != WALL]
        pays = np.full(kinds.size, finite("step", step))
        pays[kinds == GOAL], pays[kinds == PIT] = finite("goal", goal), finite("pit", pit)
        R = np.repeat(pays[:, None], ACTIONS, axis=1)
        over = np.repeat(((kinds == GOAL) | (kinds == PIT))[:, None], ACTIONS, axis=1).astype(np.float64)
        begin = kinds == START
        mdp = TabularMDP(_moves(cells, slip), R, gamma, begin / begin.sum(), over)
        super().__init__(mdp, R, render_mode)
        self._cells = cells

    def places(self) -> NDArray[np.int64]:
        """The row and the column of each state, shape (S, 2)."""
        return np.argwhere(self._cells != WALL)

    def figure(self, state: int | None = None) -> Figure:
        """The grid with a dot in this state, by default the present one."""
        from hreach.domains.grid_picture import draw
        from hreach.drawing.palette import GREEN, SHADE, SOFT, VERMILION

        colours = {WALL: SOFT, FREE: "#ffffff", START: SHADE, GOAL: GREEN, PIT: VERMILION}
        row, column = self.places()[self._state if state is None else state].tolist()
        words = {(int(r), int(c)): "S" for r, c in np.argwhere(self._cells == START)}
        return draw(self._cells, colours, (row, column), words)


def read_map(text: str) -> Cells:
    """The cells (rows, columns) of a text map, as the codes of their signs."""
    require(isinstance(text, str), "map", text, "lines of text")
    lines = textwrap.dedent(text).strip("\n").splitlines()
    require(bool(lines) and bool(lines[0]), "map", text, "one line of signs for each row of cells")
    for i, line in enumerate(lines, 1):
        for j, sign in enumerate(line, 1):
            if sign not in SIGNS:
                raise InputError(
                    f"map line {i}, column {j} is {sign!r}, but must be '#' (wall), '.' (free), 'S' (start), "
                    "'G' (goal) or 'X' (pit)."
                )
        if len(line) != len(lines[0]):
            raise InputError(f"map line {i} has {len(line)} signs, but must have {len(lines[0])} like the first.")
    require("S" in text, "map", text, "a map with a start, 'S'")
    return np.frombuffer("".join(lines).encode("ascii"), dtype=np.uint8).reshape(len(lines), -1)


def _open(rows: int | None, columns: int | None) -> Cells:
    """A grid without walls: the start in the first corner, a goal in the last."""
    shape = tuple(SIZE if n is None else whole(name, n, 1) for name, n in (("rows", rows), ("columns", columns)))
    require(shape[0] * shape[1] > 1, "rows, columns", shape, "at least two cells")
    room_for(f"a gridworld of {shape[0]} x {shape[1]} cells", shape[0] * shape[1] * ACTIONS, 3)
    cells = np.full(shape, FREE, dtype=np.uint8)
    cells[0, 0], cells[-1, -1] = START, GOAL
    return cells


def _moves(cells: Cells, slip: float) -> Rows:
    """P of the states that are no walls, rows s A + a: straight on, and both ways aside."""
    aims = _neighbours(cells)
    a = np.arange(ACTIONS)
    following = aims[:, np.stack([a, (a + 1) % ACTIONS, (a - 1) % ACTIONS], axis=1)].reshape(-1, 3)
    return rows_of(following, np.array([1 - slip, slip / 2, slip / 2]))


def _neighbours(cells: Cells) -> NDArray[np.int32]:
    """The state above, right of, below and left of each state, (S, 4): itself where a move cannot go or is the last."""
    free = cells != WALL
    states = int(free.sum())
    itself = np.arange(states, dtype=np.int32)
    numbered = np.full((cells.shape[0] + 2, cells.shape[1] + 2), -1, dtype=np.int32)
    numbered[1:-1, 1:-1][free] = itself
    sides = (numbered[:-2, 1:-1], numbered[1:-1, 2:], numbered[2:, 1:-1], numbered[1:-1, :-2])
    aims = np.stack([side[free] for side in sides], axis=1)
    last = np.isin(cells[free], (GOAL, PIT))
    return np.where((aims < 0) | last[:, None], itself[:, None], aims)
