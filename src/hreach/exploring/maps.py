"""Where states lie on a map: cells of a grid, or the bins of two readings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hreach.exploring.bins import Edges
from hreach.exploring.making import Gym
from hreach.problems.truth import core_of
from hreach.protocols import Ints
from hreach.running.numbering import Name


@runtime_checkable
class RowsAndColumns(Protocol):
    """A grid whose cells are numbered row by row, such as FrozenLake."""

    nrow: int
    ncol: int


@runtime_checkable
class Shaped(Protocol):
    """A grid whose cells are numbered row by row, such as CliffWalking."""

    shape: tuple[int, ...]


@runtime_checkable
class Placed(Protocol):
    """A grid that says where its states are, such as hreach's own."""

    def places(self) -> NDArray[np.int64]: ...  # noqa: D102


@dataclass(frozen=True)
class Map:
    """The row and column of each state, (S, 2), on a map of so many of each; edges: where these are readings."""

    cells: Ints
    rows: int
    columns: int
    edges: tuple[Edges, Edges] | None = None


def map_of(env: Gym, edges: Sequence[Edges], names: Sequence[Name]) -> Map | None:
    """The map of these states, if there is one."""
    space, core = env.observation_space, core_of(env)
    if isinstance(space, spaces.Box) and len(edges) == 2:
        cells = np.array(names, dtype=np.int64).reshape(-1, 2)[:, ::-1].copy()
        return Map(cells, len(edges[1]) + 1, len(edges[0]) + 1, (edges[0], edges[1]))
    if not isinstance(space, spaces.Discrete):
        return None
    found = _grid(core, int(space.n))
    if found is None:
        return None
    place, rows, columns = found
    numbers = np.array(names, dtype=np.int64) - int(space.start)
    return Map(np.array([place(int(n)) for n in numbers], dtype=np.int64).reshape(-1, 2), rows, columns)


def _grid(core: object, states: int) -> tuple[Callable[[int], tuple[int, int]], int, int] | None:
    if isinstance(core, Placed):
        places = core.places()
        rows, columns = (int(n) for n in places.max(axis=0) + 1)
        return (lambda n: (int(places[n, 0]), int(places[n, 1]))), rows, columns
    shape: tuple[int, ...] = ()
    if isinstance(core, RowsAndColumns):
        shape = (core.nrow, core.ncol)
    elif isinstance(core, Shaped) and isinstance(core.shape, tuple):
        shape = core.shape
    if len(shape) != 2 or math.prod(shape) != states:
        return None
    rows, columns = shape
    return (lambda n: divmod(n, columns)), rows, columns
