"""What has to hold of the rows of a model: in one compiled pass where they are many, else with NumPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hreach.problems.arrays import Sparse
from hreach.problems.parts import Parts

U64 = 2.0**-53
MANY = 100_000  # entries from which on compiling, or reading what was compiled, pays


class RowFacts(NamedTuple):
    """off: the largest |1 - sum|, rounding of that sum included; infinite where a weight is below 0 or no number.

    longest    entries of the longest row
    unordered  whether columns do not ascend somewhere; outside: whether one is no state; zeros: whether a weight is 0
    """

    off: float
    longest: int
    unordered: bool
    outside: bool
    zeros: bool


def row_facts(matrix: Sparse) -> RowFacts:
    """Of rows in CSR form whose indptr is in order."""
    return many(matrix) if matrix.nnz >= MANY else few(matrix)


def many(matrix: Sparse) -> RowFacts:
    """On all cores."""
    from hreach.kernels.rows import OUTSIDE, UNORDERED, ZEROS, look

    indptr, indices, data, states = matrix.indptr, matrix.indices, matrix.data, matrix.shape[1]
    with Parts(matrix.shape[0], matrix.nnz) as parts:
        found = parts.each(lambda facts, begin, end: look(indptr, indices, data, states, facts, begin, end))
    off, longest = float(found[:, 0].max()), int(found[:, 1].max())
    what = int(np.bitwise_or.reduce(found[:, 2].astype(np.int64)))
    return RowFacts(
        _with_rounding(off, longest), longest, bool(what & UNORDERED), bool(what & OUTSIDE), bool(what & ZEROS)
    )


def few(matrix: Sparse) -> RowFacts:
    """The same with NumPy."""
    length, column = np.diff(matrix.indptr), np.asarray(matrix.indices, dtype=np.int64)
    row = np.repeat(np.arange(length.size), length)
    unordered = bool(((np.diff(column) <= 0) & (np.diff(row) == 0)).any())
    outside = bool(((column < 0) | (column >= matrix.shape[1])).any())
    sums = np.bincount(row, weights=matrix.data, minlength=length.size)
    fine = bool((matrix.data >= 0).all())
    off = float(np.abs(sums - 1).max()) if fine else np.inf
    longest = int(length.max())
    return RowFacts(_with_rounding(off, longest), longest, unordered, outside, bool((matrix.data == 0).any()))


def _with_rounding(off: float, longest: int) -> float:
    """Infinite also where the sum is not a number."""
    return off + longest * U64 if off < np.inf else np.inf
