"""Which columns of a log mean what, and how its numbers become states."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from hreach.errors import InputError, nearest, require
from hreach.protocols import Floats, Ints

JOIN = "|"  # between the parts of a state that is made of several columns
MISSING = "is missing"


@dataclass(frozen=True)
class Bins:
    """Edges that cut the numbers of a column; below the first and from the last one on lie the outer bins."""

    edges: tuple[float, ...]

    @cached_property
    def names(self) -> list[str]:
        """(edges + 1,) "..5", "5..10" (5 and more, below 10), "10.."."""
        cuts = [f"{edge:g}" for edge in self.edges]
        return [f"{low}..{high}" for low, high in zip(["", *cuts], [*cuts, ""], strict=True)]

    def numbers(self, values: Floats) -> Ints:
        """Which bin each value is in, (N,)."""
        return np.asarray(np.digitize(values, self.edges), dtype=np.int64)


@dataclass(frozen=True)
class Columns:
    """The names of the columns: of states and next states (one or several), action, reward, the end (None: never).

    bins   of columns of the state, by name; the column of the next state in the same place has the same
    """

    state: tuple[str, ...]
    action: str
    reward: str
    next: tuple[str, ...]
    terminated: str | None
    bins: Mapping[str, Bins]

    @property
    def all(self) -> list[str]:
        """Each column once."""
        named = [*self.state, self.action, self.reward, *self.next]
        return list(dict.fromkeys(named if self.terminated is None else [*named, self.terminated]))

    @property
    def binned(self) -> list[Bins | None]:
        """Of each part of a state."""
        return [self.bins.get(name) for name in self.state]

    def check_there(self, path: object, there: Sequence[str]) -> None:
        """Whether a log has all of them."""
        for name in self.all:
            if name not in there:
                close = nearest(name, list(there))
                hint = f"did you mean {close!r}? " if close else ""
                raise InputError(f"column {name!r} is not in {path}; {hint}its columns: {', '.join(there)}.")
            require(list(there).count(name) == 1, f"column {name!r} of {path}", "there twice", "there once")


def columns_of(
    state: str | Sequence[str],
    action: str,
    reward: str,
    next: str | Sequence[str],
    terminated: str | None = None,
    bins: Mapping[str, Iterable[float]] | None = None,
) -> Columns:
    """The columns, checked; names of several columns between commas, or one by one."""
    here, after = _names("state", state), _names("next", next)
    same = len(here) == len(after)
    require(same, "next", list(after), f"as many columns as the state has, {len(here)}")
    edges = {name: _bins(name, given) for name, given in (bins or {}).items()}
    for name in edges:
        require(name in here, "bins", name, f"for a column of the state: {', '.join(here)}")
    return Columns(here, action, reward, after, terminated, edges)


def _names(field: str, given: str | Sequence[str]) -> tuple[str, ...]:
    names = tuple(part.strip() for part in given.split(",")) if isinstance(given, str) else tuple(given)
    require(bool(names) and all(names), field, given, "the name of a column, or several")
    require(len(set(names)) == len(names), field, given, "different columns")
    return names


def _bins(name: str, given: Iterable[float]) -> Bins:
    edges = tuple(float(edge) for edge in given)
    rising = all(low < high for low, high in pairwise(edges))
    ok = bool(edges) and rising and all(map(math.isfinite, edges))
    require(ok, f"bins of {name!r}", list(edges), "edges that rise, such as 0,5,10")
    return Bins(edges)
