"""Bins for readings: k edges make k + 1 bins, the first and the last of which hold whatever lies outside.

For each dimension of every Box: a whole number n (n bins of equal width between the bounds of the space, which must be
finite), a list of edges, or `Quantiles(n)` (n bins that random actions visit equally often). On the command line
dimensions are separated by semicolons: `--bins "20; -1,0,1; quantiles 10"`. One entry serves all dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from gymnasium import spaces

from hreach.errors import InputError, finite, require, shown, whole
from hreach.protocols import Floats, State

Edges = tuple[float, ...]
HOW = 'edges and quantiles: --bins "20; -1,0,1; quantiles 10", in Python bins=[20, [-1, 0, 1], hreach.Quantiles(10)]'


@dataclass(frozen=True)
class Quantiles:
    """Bins that are visited equally often by random actions."""

    bins: int

    def __post_init__(self) -> None:
        whole("quantiles", self.bins, 2)


Cut = int | Sequence[float] | Quantiles
Bins = Cut | Sequence[Cut] | None


class Dimension(NamedTuple):
    """One number of a Box: what it is called, and its bounds."""

    name: str
    low: float
    high: float


def dimensions(space: spaces.Space[State], name: str = "observation") -> list[Dimension]:
    """Those of every Box in a space, in order."""
    if isinstance(space, spaces.Box):
        places = list(np.ndindex(space.shape))
        names = [name + "".join(f"[{i}]" for i in place) for place in places]
        return [Dimension(n, float(space.low[p]), float(space.high[p])) for n, p in zip(names, places, strict=True)]
    if isinstance(space, spaces.Tuple):
        return [d for i, each in enumerate(space.spaces) for d in dimensions(each, f"{name}[{i}]")]
    if isinstance(space, spaces.Dict):
        return [d for key, each in space.spaces.items() for d in dimensions(each, f"{name}[{key!r}]")]
    return []


def readings(space: spaces.Space[State], observation: State) -> list[float]:
    """The numbers of every Box in an observation, in the order of `dimensions`."""
    if isinstance(space, spaces.Box):
        return [float(x) for x in np.asarray(observation, dtype=np.float64).reshape(-1)]
    if isinstance(space, spaces.Tuple):
        return [x for each, part in zip(space.spaces, observation, strict=True) for x in readings(each, part)]
    if isinstance(space, spaces.Dict):
        return [x for key, each in space.spaces.items() for x in readings(each, observation[key])]
    return []


def edges_of(space: spaces.Space[State], bins: Bins, sample: Callable[[], Floats]) -> list[Edges]:
    """The edges for every dimension; `sample` gives readings (N, dimensions) where quantiles are asked for."""
    found = dimensions(space)
    if not found:
        require(bins is None, "bins", bins, f"left out: there is no Box in {shown(space)}")
        return []
    if bins is None:
        raise InputError(
            f"observation_space is {shown(space)}, but must be put into bins: --bins 20 (bins=20) cuts every dimension "
            "into 20; a linear agent with a task (--task module:function) needs none."
        )
    cuts = _cuts(bins, len(found))
    seen = sample() if any(isinstance(cut, Quantiles) for cut in cuts) else np.zeros((0, len(found)))
    return [_edges(cut, of, seen[:, i]) for i, (cut, of) in enumerate(zip(cuts, found, strict=True))]


def _cuts(bins: Bins, count: int) -> Sequence[Cut]:
    if isinstance(bins, int | float | Quantiles | np.number):
        return [bins] * count
    require(isinstance(bins, Sequence | np.ndarray), "bins", bins, "a number, or one entry for each dimension")
    listed: list[Cut] = list(bins)  # type: ignore[arg-type]  # a sequence, as was seen
    if len(listed) == 1:
        return listed * count
    require(len(listed) == count, "bins", bins, f"one entry for all, or one for each of the {count} dimensions")
    return listed


def _edges(cut: Cut, of: Dimension, seen: Floats) -> Edges:
    if isinstance(cut, Quantiles):
        shares = np.arange(1, cut.bins) / cut.bins
        return tuple(float(x) for x in np.unique(np.quantile(seen[np.isfinite(seen)], shares)))
    if isinstance(cut, Sequence | np.ndarray):
        edges = tuple(finite("bins", x) for x in cut)
        require(len(edges) > 0 and all(a < b for a, b in pairwise(edges)), "bins", cut, "edges that ascend")
        return edges
    n = whole("bins", cut, 1)
    if n > 1 and not (math.isfinite(of.low) and math.isfinite(of.high) and of.high - of.low < 1e30):
        raise InputError(
            f"bins is {n}, but {of.name} has no finite bounds ({of.low:g} to {of.high:g}), so {n} equal bins of it do "
            f"not exist: give {HOW}."
        )
    return tuple(float(x) for x in np.linspace(of.low, of.high, n + 1)[1:-1]) if n > 1 else ()


def parse_bins(text: str) -> Bins:
    """Bins as they are written on the command line."""
    cuts = [_parse(part.strip()) for part in text.split(";")]
    return cuts[0] if len(cuts) == 1 and isinstance(cuts[0], int | Quantiles) else cuts


def _parse(text: str) -> Cut:
    word, _, rest = text.partition(" ")
    try:
        if word == "quantiles":
            return Quantiles(int(rest))
        if "," in text or "." in text:
            return [float(x) for x in text.split(",") if x.strip()]
        return int(text)
    except ValueError:
        raise InputError(f"--bins is {text!r}, but must be a number of bins, {HOW.partition(',')[0]}.") from None
