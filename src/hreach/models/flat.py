"""Feature maps in a flat form that compiled code can follow: many steps of a linear model from many states.

    x_{t+1} = clip(x_t + theta_a' Phi(x_t), low, high),      or clip(theta_a' Phi(x_t), low, high)

A map made of `Bias`, `Identity`, `Products`, `Polynomial` up to degree 2, `Power10`, `RandomFourier`, `Term` with "cos"
or "sin", and `Scaled`, `Select`, `Concat` around them has three kinds of features. Of a `Concat`, some parts may be
`ActionBlocks`: their features are computed once and count for one action each. With z = (x_i - centre) / scale,

    product   u v, where each of u and v is 1 or some z
    power     10^z
    wave      amplitude cos(turn . x + phase)

flattening.py finds them. A `Follower` puts the weights into the order of the kinds, so that the loop over steps
(following.py) never looks anything up. The NumPy map is the reference. Products and powers agree with it to rounding;
the argument of a wave is rounded in another order, which is worth some 1e-16 times the largest of |turn_i x_i| and
|phase|. A sine is a cosine with phase -pi / 2, so the same holds for it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hreach.compiling import resolved
from hreach.errors import array, require, whole
from hreach.models import following
from hreach.models.feature_map import Array, Integers, check_actions, check_states, in_range


class Line(NamedTuple):
    """z = (x_source - centre) / scale: what an inner map sees as one component of its state."""

    source: int
    centre: float
    scale: float


class Product(NamedTuple):
    """phi = the product of at most two lines; 1 without any."""

    lines: tuple[Line, ...]


class Power(NamedTuple):
    """phi = 10^z."""

    line: Line


class Wave(NamedTuple):
    """phi = amplitude cos(sum_d turns_d z_d + phase)."""

    lines: tuple[Line, ...]
    turns: tuple[float, ...]
    phase: float
    amplitude: float


Feature = Product | Power | Wave
Lines = tuple[Line, ...]


@dataclass(frozen=True, eq=False)
class Flat:
    """The features of a map, by kind.

    The work row of one state holds K waves, then P powers, then the products, with unused places after each kind.
    """

    states: int  # nS
    size: int  # n
    turn: Array  # (6 or 12 ..., K): the components of the state, six by six
    phase: Array  # (K,)
    steepest: Array  # (rows of turn,): the largest |turn| of each component
    farthest: float  # the largest |phase|
    power_line: following.Columns  # of each power
    powers: int  # P
    line: following.Columns  # of each z in products
    factors: following.Factors  # each product multiplies two of (1, z_1, z_2, ...)
    place: Integers  # (n,): where feature f is in the work row
    amplitude: Array  # (n,): what it is multiplied by
    only: Integers  # (n,): the action for which it counts, or -1 for all
    width: int  # of the work row

    @functools.cached_property
    def counting(self) -> list[Integers]:
        """The features that count for each action, where some do not count for all."""
        return [np.flatnonzero((self.only < 0) | (self.only == a)) for a in range(int(self.only.max()) + 1)]

    def seen(self, rows: int) -> following.Noted:
        """Room for the features of so many rows, and what fills it."""
        return np.empty((rows, self.size)), self.place, self.amplitude, self.only

    @functools.cached_property
    def arrays(self) -> following.Kinds:
        """What the compiled code reads."""
        waves = self.turn, self.phase, self.steepest, self.farthest
        return *waves, self.power_line, self.powers, self.line, self.factors

    def work(self) -> Array:
        """Work space of a call, which following.py takes apart; doing so in Python took as long as 40 steps."""
        return np.zeros(8 + 2 * self.width + len(self.turn) + up(self.states, 3) + 1 + len(self.line[0]))

    def values(self, states: Array, actions: Integers) -> Array:
        """The features (N, n) of states (N, nS) and actions (N,), in the order of the map; nothing is checked."""
        seen = self.seen(len(states))
        self._evaluate(np.ascontiguousarray(states), actions, self.arrays, self._sizes, self.work(), seen)
        return seen[0]

    @functools.cached_property
    def _sizes(self) -> tuple[int, int]:
        return up(self.states, 3), self.width

    @functools.cached_property
    def _evaluate(self) -> Callable[..., None]:
        some = np.zeros((1, self.states)), np.zeros(1, dtype=np.int64)
        return resolved(following.evaluate, *some, self.arrays, self._sizes, self.work(), self.seen(1))


class Follower:
    """Follows the linear model with these weights: weights (B, n, nS) as `Factor.weights` gives them, block = action.

    Where some features count for one action only, there is one block for all actions.

    `change`: whether theta' Phi is the change of the state or the next state itself. Every state that is reached is
    clipped to [low, high], (nS,) each; NaN, which only an overflow can bring, becomes low. The weights are copied:
    after they changed, `renew` the actions whose they are. theta' Phi itself is clipped to `within`, (least, most) of
    shape (nS,) each, which are read at each call.
    """

    def __init__(
        self,
        flat: Flat,
        weights: ArrayLike,
        change: bool,
        low: ArrayLike,
        high: ArrayLike,
        within: tuple[Array, Array] | None = None,
    ) -> None:
        theta = array("weights", weights)
        shape = (flat.size, flat.states)
        right = theta.ndim == 3 and len(theta) > 0 and theta.shape[1:] == shape
        require(right, "shape of weights", theta.shape, f"(actions, {shape[0]}, {shape[1]})")
        require(len(theta) == 1 or not flat.counting, "shape of weights", theta.shape, "a single block")
        self.flat, self.change, self.actions = flat, bool(change), len(flat.counting or theta)
        self.low, self.high = (_bound(n, v, flat.states) for n, v in (("low", low), ("high", high)))
        require(bool((self.low <= self.high).all()), "low", low, f"at most high = {self.high}")
        self.weights = aligned((self.actions, up(flat.states, 3), flat.width))
        for block, own in enumerate(theta):
            self.renew(block, own)
        least, most = (np.full(flat.states, -np.inf), np.full(flat.states, np.inf)) if within is None else within
        right = least.shape == most.shape == (flat.states,)
        require(right, "shapes of within", (least.shape, most.shape), f"({flat.states},) each")
        self._limits = (self.change, self.low, self.high, least, most)
        one = np.zeros((1, flat.states)), np.zeros(1, dtype=np.int64)
        rest = self.weights, flat.arrays, self._limits, flat.work(), one[0][None], flat.seen(1)
        self._follow = resolved(following.follow, *one, one[1], *rest)

    def renew(self, block: int, weights: Array) -> None:
        """Go on with other weights (n, nS) for one block; nothing is changed if they are not finite."""
        theta, flat = np.ascontiguousarray(weights), self.flat
        alone = -1 if flat.counting else block  # the action whose they are, or all
        require(
            following.renew(theta, alone, flat.place, flat.amplitude, flat.only, self.weights),
            "weights",
            weights,
            "finite",
        )

    def follow(self, states: ArrayLike, actions: ArrayLike, steps: int) -> tuple[Array, Array]:
        """Take every action of `actions` (N,) `steps` times in a row, from `states` (N, nS).

        Returns path (steps, N, nS), the states after 1, 2, ... steps, and phi (N, n), the features of `states`, in the
        order of the map. A row does not depend on the others, not even by rounding.
        """
        points = np.ascontiguousarray(check_states(states, self.flat.states))
        taken = check_actions(actions, len(points))
        in_range(taken, self.actions)
        path = np.empty((whole("steps", steps, 1), *points.shape))
        return path, self._fill(points, np.zeros(0, dtype=np.int64), taken, path)

    def grow(self, root: Array, parents: Integers, actions: Integers, steps: int) -> tuple[Array, Array, Array]:
        """The same for the nodes of a tree: node i begins where node parents[i] < i ends, or in `root` if that is -1.

        Returns states (N, nS) in which the nodes begin, path (steps, N, nS) and phi (N, n). For a search at every step,
        so nothing is checked here but the sizes: parents and actions (N,) are the tree's own.
        """
        nodes = len(parents)
        require(root.shape == (self.flat.states,), "shape of root", root.shape, f"({self.flat.states},)")
        states = np.empty((nodes, len(root)))
        states[:] = root
        path = np.empty((steps, nodes, len(root)))
        return states, path, self._fill(states, parents, actions, path)

    def _fill(self, states: Array, parents: Integers, actions: Integers, path: Array) -> Array:
        """See `following.follow`; returns phi."""
        flat, seen = self.flat, self.flat.seen(len(states))
        self._follow(states, parents, actions, self.weights, flat.arrays, self._limits, flat.work(), path, seen)
        return seen[0]


def _bound(name: str, value: ArrayLike, length: int) -> Array:
    result = array(name, value)
    require(result.shape == (length,), f"shape of {name}", result.shape, f"({length},)")
    require(bool(np.isfinite(result).all()), name, value, "finite")
    return result


def up(count: int, multiple: int) -> int:
    """The smallest multiple that is not below `count`."""
    return -(-count // multiple) * multiple


def aligned(shape: tuple[int, ...]) -> Array:
    """Zeros that begin with a cache line: loads of four numbers that cross two lines cost twice as much."""
    size = math.prod(shape)
    room = np.zeros(size + 8)
    begin = -(room.__array_interface__["data"][0] // 8) % 8
    return room[begin : begin + size].reshape(shape)
