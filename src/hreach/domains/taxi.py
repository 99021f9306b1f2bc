"""The taxi of Dietterich (2000), "Hierarchical reinforcement learning with the MAXQ value function decomposition".

A taxi in a town of 5 x 5 places with some walls takes a passenger from one of four stands to another. State
((row 5 + column) 5 + passenger) 4 + destination: passengers 0 to 3 wait at that stand, 4 rides. Actions: south, north,
east, west, pick up, put down. A step pays -1; putting the passenger down at the destination pays 20 and ends the
episode; picking up or putting down where that cannot be pays -10. An episode begins in one of the 300 states, all
equally likely, in which the passenger waits at another stand than the destination.

With probability `slip` a move goes aside, half to each side, and nowhere if a wall is there; one against a wall stays
in any case. This is the table of Gymnasium's Taxi-v4, with slip=.2 that of its `is_rainy`. R(s, a) is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hreach.domains.drawn import DrawnEnv
from hreach.domains.rows import Rows, rows_of
from hreach.errors import number, require
from hreach.problems.mdp import TabularMDP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
SIDE, RIDES, ACTIONS = 5, 4, 6
STANDS = np.array([[0, 0], [0, 4], [4, 0], [4, 3]])
NAMES = "RGYB"
WALLS = np.array([[0, 1], [1, 1], [3, 0], [4, 0], [3, 2], [4, 2]])  # each on the east side of a place
SOUTH, NORTH, EAST, WEST, PICK_UP, PUT_DOWN = range(ACTIONS)
ASIDE = ((EAST, WEST), (WEST, EAST), (NORTH, SOUTH), (SOUTH, NORTH))
STATES = SIDE * SIDE * (RIDES + 1) * RIDES


class Taxi(DrawnEnv):
    """`Taxi(slip=0.0, gamma=0.95)`."""

    def __init__(self, slip: float = 0.0, gamma: float = 0.95, render_mode: str | None = None) -> None:
        require(0 <= number("slip", slip) <= 1, "slip", slip, "a probability from 0 to 1")
        place, passenger, destination = parts(np.arange(STATES))
        there, waits = _at_a_stand(place), passenger < RIDES
        picks = waits & (there == passenger)
        brings = ~waits & (there == destination)
        puts_down = ~waits & (there >= 0)
        R = np.full((STATES, ACTIONS), -1.0)
        R[~picks, PICK_UP], R[~puts_down, PUT_DOWN], R[brings, PUT_DOWN] = -10, -10, 20
        over = np.zeros((STATES, ACTIONS))
        over[brings, PUT_DOWN] = 1
        begin = waits & (passenger != destination)
        P = _rows(place, np.where(picks, RIDES, passenger), np.where(puts_down, there, passenger), slip)
        super().__init__(TabularMDP(P, R, gamma, begin / begin.sum(), over), R, render_mode)

    def figure(self, state: int | None = None) -> Figure:
        """The town with the taxi, orange if the passenger rides, else P at its stand; D: the destination."""
        from hreach.domains.grid_picture import draw, walls
        from hreach.drawing.palette import BLUE, ORANGE, SHADE

        place, passenger, destination = (int(part) for part in parts(np.array(self._state if state is None else state)))
        kinds = np.zeros((SIDE, SIDE), dtype=np.uint8)
        kinds[tuple(STANDS.T)] = 1
        signs = {i: NAMES[i] + " P" * (i == passenger) + " D" * (i == destination) for i in range(RIDES)}
        words = {(int(r), int(c)): signs[i] for i, (r, c) in enumerate(STANDS)}
        dot = ORANGE if passenger == RIDES else BLUE
        figure = draw(kinds, {0: "#ffffff", 1: SHADE}, divmod(place, SIDE), words, dot)
        walls(figure, WALLS)
        return figure


def parts(states: Ints) -> tuple[Ints, Ints, Ints]:
    """(place, passenger, destination) of states; place = row 5 + column."""
    return states // (RIDES * (RIDES + 1)), states // RIDES % (RIDES + 1), states % RIDES


def _at_a_stand(place: Ints) -> Ints:
    """Which stand each place is, -1: none."""
    stand = np.full(SIDE * SIDE, -1)
    stand[STANDS @ (SIDE, 1)] = np.arange(RIDES)
    return stand[place]


def _moves() -> Ints:
    """Where each move leads from each place, (4, 25): the place itself at a wall."""
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    goes = np.stack([number] * 4)
    goes[SOUTH, :-1], goes[NORTH, 1:] = number[1:], number[:-1]
    goes[EAST, :, :-1], goes[WEST, :, 1:] = number[:, 1:], number[:, :-1]
    row, column = WALLS.T
    goes[EAST, row, column], goes[WEST, row, column + 1] = number[row, column], number[row, column + 1]
    return goes.reshape(4, -1)


def _rows(place: Ints, after_pick_up: Ints, after_put_down: Ints, slip: float) -> Rows:
    """P, rows s A + a, each with three next states: straight on, and both ways aside."""
    goes, state = _moves(), np.arange(STATES)
    rest = state % (RIDES * (RIDES + 1))
    following = np.empty((STATES, ACTIONS, 3), dtype=np.int32)
    for a, (left, right) in enumerate(ASIDE):
        free = goes[a, place] != place
        for k, way in enumerate((a, left, right)):
            to = np.where(free, goes[way, place], place)
            following[:, a, k] = to * RIDES * (RIDES + 1) + rest
    for a, passenger in ((PICK_UP, after_pick_up), (PUT_DOWN, after_put_down)):
        following[:, a] = ((place * (RIDES + 1) + passenger) * RIDES + state % RIDES)[:, None]
    return rows_of(following.reshape(-1, 3), np.array([1 - slip, slip / 2, slip / 2]))
