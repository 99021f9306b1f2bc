"""What a `TabularMDP` is given, checked: the error names the first bad entry. What is given sparse stays sparse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from hreach.errors import InputError, array, require
from hreach.problems.arrays import Array, Matrix, Sparse

Allowed = Callable[[Array], NDArray[np.bool_]]
ROW_TOLERANCE = 1e-9


def transitions(P: object) -> tuple[Sparse, int]:
    """P checked, as CSR of shape (S A, S) with sorted rows, and |A|."""
    if sparse.issparse(P):
        matrix: Sparse = sparse.csr_array(P, dtype=np.float64, copy=True)
        states = matrix.shape[1]
        ok = states > 0 and matrix.shape[0] > 0 and matrix.shape[0] % states == 0
        require(ok, "P shape", matrix.shape, "(S * A, S) with S and A at least 1")
        actions = matrix.shape[0] // states
    else:
        dense = array("P", P)
        ok = dense.ndim == 3 and dense.shape[0] == dense.shape[2] and 0 not in dense.shape
        require(ok, "P shape", dense.shape, "(S, A, S) with S and A at least 1")
        states, actions = dense.shape[:2]
        matrix = sparse.csr_array(np.where(np.isnan(dense), -np.inf, dense).reshape(states * actions, states))
    matrix.sum_duplicates()
    _check_rows(matrix, actions)
    matrix.eliminate_zeros()
    return matrix, actions


def rewards(R: object, shape: tuple[int, int]) -> Matrix:
    """R checked: dense (S, A) or (S, A, S), or CSR of P's shape (S A, S) with sorted rows."""
    return _table("R", R, shape, np.isfinite, "but every reward must be a finite number")


def endings(end: object, P: Sparse) -> Array:
    """e of every possible transition, in the order of P's entries."""
    if end is None:
        return np.zeros(P.nnz)
    table = _table("end", end, P.shape, lambda e: (e >= 0) & (e <= 1), "but must be a probability from 0 to 1")
    return of_entries(table, P)


def of_entries(table: Matrix, P: Sparse) -> Array:
    """A table (S, A), (S, A, S) or sparse like P at every possible transition, in the order of P's entries."""
    rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    if isinstance(table, np.ndarray):
        flat = table.reshape(P.shape[0], -1)
        return np.ascontiguousarray(flat[rows, P.indices if table.ndim == 3 else 0])
    if table.nnz == 0:
        return np.zeros(P.nnz)
    given = np.repeat(np.arange(P.shape[0]), np.diff(table.indptr)) * P.shape[1] + table.indices
    wanted = rows * P.shape[1] + P.indices
    place = np.minimum(np.searchsorted(given, wanted), table.nnz - 1)
    return np.where(given[place] == wanted, table.data[place], 0.0)


def start_distribution(start: int | ArrayLike, states: int) -> Array:
    """The start distribution, shape (S,)."""
    given = np.asarray(start)
    if given.ndim == 0:
        ok = np.issubdtype(given.dtype, np.integer) and 0 <= int(given) < states
        require(bool(ok), "start", start, f"a state from 0 to {states - 1}, or a distribution over states")
        weights = np.zeros(states)
        weights[int(given)] = 1.0
        return weights
    weights = array("start", start)
    require(weights.shape == (states,), "start shape", weights.shape, f"({states},)")
    ok = bool(np.all(weights >= 0) and abs(weights.sum() - 1) <= ROW_TOLERANCE)
    require(ok, "start", start, "probabilities, each at least 0 and summing to 1")
    return weights


def _table(field: str, given: object, shape: tuple[int, int], allowed: Allowed, words: str) -> Matrix:
    """A number for each pair or transition, all of them allowed; dense, or CSR with sorted rows."""
    states, actions = shape[1], shape[0] // shape[1]
    if sparse.issparse(given):
        matrix: Sparse = sparse.csr_array(given, dtype=np.float64, copy=True)
        require(matrix.shape == shape, f"{field} shape", matrix.shape, f"the shape of P, {shape}")
        matrix.sum_duplicates()
        for k in np.flatnonzero(~allowed(matrix.data)).tolist():
            where = [*divmod(_row(matrix, k), actions), int(matrix.indices[k])]
            raise InputError(f"{field}{where} is {matrix.data[k]:g}, {words}.")
        return matrix
    table = array(field, given)
    shapes = ((states, actions), (states, actions, states))
    require(table.shape in shapes, f"{field} shape", table.shape, f"{shapes[0]} or {shapes[1]}")
    for where in np.argwhere(~allowed(table)).tolist():
        raise InputError(f"{field}{where} is {table[tuple(where)]:g}, {words}.")
    return table


def _check_rows(matrix: Sparse, actions: int) -> None:
    """Every entry a probability, every row summing to 1; the error names the first bad pair."""
    bad = ~(matrix.data >= 0) | ~np.isfinite(matrix.data)
    if bad.any():
        k = int(np.argmax(bad))
        row = _row(matrix, k)
        where = f"P[{row // actions}, {row % actions}, {matrix.indices[k]}]"
        given = "nan or infinite" if not np.isfinite(matrix.data[k]) else f"{matrix.data[k]:g}"
        raise InputError(f"{where} is {given}, but must be a probability of at least 0.")
    sums = np.asarray(matrix.sum(axis=1)).reshape(-1)
    off = np.abs(sums - 1) > ROW_TOLERANCE
    if off.any():
        row = int(np.argmax(off))
        where = f"P[{row // actions}, {row % actions}]"
        raise InputError(f"{where} sums to {sums[row]:.12g}, but every row of P must sum to 1.")


def _row(matrix: Sparse, k: int) -> int:
    """The row of entry k."""
    return int(np.searchsorted(matrix.indptr, k, side="right")) - 1
