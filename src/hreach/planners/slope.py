"""L, the largest slope of a value function, from its values at the points of a grid.

    "paper"   max |V(s) - V(s')| / ||s - s'||_2 over all pairs of points. Paper: Experiments, Continuous Domain
    "axis"    the same over pairs that are neighbours along one axis: L_d along axis d, and the largest of them

    max_d L_d  <=  L of the paper  <=  sqrt(sum_d L_d^2)  <=  sqrt(n_S) max_d L_d,

because the way from s to s' along the axes changes V by at most sum_d L_d |s_d - s'_d|. On a grid of n_S dimensions
"axis" is therefore up to sqrt(n_S) below the paper's rule: V = x + y has slope 1 along each axis, and sqrt(2) between
opposite corners of a square cell. Its cost is linear in the number of points N.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.errors import at_least, require

Array = NDArray[np.float64]
Steps = NDArray[np.int64]
RULES = {
    "paper": "the largest slope between any two points of the grid",
    "axis": "the largest slope between neighbours along one axis of the grid",
}


def by_hand(slope: object, rules: tuple[str, ...]) -> float | None:
    """L if it is given as a number, None if it is one of the `rules`."""
    if not isinstance(slope, str):
        return at_least("slope", slope, 0)
    require(slope in rules, "slope", slope, f"a number of at least 0, or {' or '.join(map(repr, rules))}")
    return None


def steepest(table: Array, spacing: Array, rule: str = "paper") -> float:
    """L of values `table` (shape of the grid) at points `spacing` (d,) apart, by one of the `RULES`.

    The paper's rule compares the grid with itself moved by every offset o, the shortest first. A pair o apart differs
    by at most min(max V - min V, sum_d L_d |o_d|), so most offsets need no look: none, as soon as that is below L |o|.
    """
    along = np.array([np.abs(np.diff(table, axis=d)).max() / h for d, h in enumerate(spacing)])
    largest = float(along.max())
    if rule == "axis" or largest == 0.0:
        return largest
    span = float(np.ptp(table))
    offsets = _offsets(np.minimum(np.array(table.shape) - 1, span / (largest * spacing)).astype(np.int64))
    lengths = np.sqrt(np.square(offsets * spacing).sum(axis=1))
    most = np.minimum(np.abs(offsets) @ (along * spacing), span) / lengths
    for i in np.argsort(lengths):
        if most[i] > largest:
            largest = max(largest, _largest_difference(table, offsets[i]) / float(lengths[i]))
    return largest


def _offsets(reach: Steps) -> Steps:
    """Every offset with |o_d| <= reach[d], one of o and -o, without 0: (M, d)."""
    axes = [np.arange(-n, n + 1) for n in reach]
    every = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    return every[len(every) // 2 + 1 :]  # o and -o stand at equal distance from the middle, which is 0


def _largest_difference(table: Array, offset: Steps) -> float:
    """max |V(i + offset) - V(i)| over the points i for which both are on the grid."""
    here = tuple(slice(max(-o, 0), n - max(o, 0)) for o, n in zip(offset, table.shape, strict=True))
    there = tuple(slice(max(o, 0), n + min(o, 0)) for o, n in zip(offset, table.shape, strict=True))
    return float(np.abs(table[there] - table[here]).max())
