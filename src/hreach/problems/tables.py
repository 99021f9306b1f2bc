"""What a `TabularMDP` is given, checked: the error names the first bad entry. What is given sparse stays sparse.

Three arrays (indptr, indices, data) are rows in CSR form, row s |A| + a. They are used as they are, without a copy, if
data are float64, columns ascend within a row, none comes twice and no probability is 0; a scipy matrix is copied.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from hreach.errors import InputError, array, require, shown
from hreach.problems.arrays import Array, Matrix, Sparse
from hreach.problems.memory import require_memory
from hreach.problems.row_facts import RowFacts, row_facts

Allowed = Callable[[Array], NDArray[np.bool_]]
ROW_TOLERANCE = 1e-9


class RowsWarning(UserWarning):
    """Rows were given with columns out of order or repeated: they were sorted, and what is repeated was summed."""


def transitions(P: object, R: object = None) -> tuple[Sparse, int, RowFacts]:
    """P checked, as CSR of shape (S A, S) with sorted rows, |A|, and what is known of the rows.

    Of three arrays R tells the number of states."""
    if sparse.issparse(P) or _three(P):
        matrix = _matrix("P", P, _states_of(R) if _three(P) else 0)
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
    facts = row_facts(matrix)
    if facts.outside:
        raise _outside("P", matrix)
    if facts.unordered:
        matrix = _ordered("P", matrix)
        facts = row_facts(matrix)
    if not facts.off <= ROW_TOLERANCE:
        _check_rows(matrix, actions)
    if facts.zeros:
        matrix = sparse.csr_array(matrix, copy=True)
        matrix.eliminate_zeros()
    matrix.has_canonical_format = True
    return matrix, actions, facts


def dense_size(what: str, shape: tuple[int, int]) -> None:
    """Refuse a dense copy (S, A, S) that cannot fit into memory."""
    require_memory(f"{what} as a dense array of {shape[0]} x {shape[1]} numbers", 8.0 * shape[0] * shape[1])


def _three(given: object) -> TypeGuard[tuple[object, object, object]]:
    """Whether rows are given as (indptr, indices, data)."""
    return isinstance(given, tuple) and len(given) == 3 and isinstance(given[0], np.ndarray) and given[0].ndim == 1


def _states_of(R: object) -> int:
    """The number of states, from the shape of R."""
    if sparse.issparse(R):
        return int(sparse.csr_array(R).shape[1])
    words = "(S, A), (S, A, S) or a scipy matrix where P is (indptr, indices, data)"
    if _three(R):
        raise InputError(f"R is three arrays, but must be {words}.")
    shape = array("R", R).shape
    require(len(shape) in (2, 3), "R shape", shape, words)
    return int(shape[0])


def _rows(field: str, given: object, states: int) -> Sparse:
    """A matrix of rewards or ends, as CSR with sorted rows; warns if they were not."""
    matrix = _matrix(field, given, states)
    columns = matrix.indices
    if columns.size and not (int(columns.min()) >= 0 and int(columns.max()) < matrix.shape[1]):
        raise _outside(field, matrix)
    return matrix if matrix.has_canonical_format else _ordered(field, matrix)


def _matrix(field: str, given: object, states: int) -> Sparse:
    """A scipy matrix, copied, or three arrays of so many columns, as CSR."""
    return _shared(field, given, states) if _three(given) else sparse.csr_array(given, dtype=np.float64, copy=True)


def _ordered(field: str, matrix: Sparse) -> Sparse:
    """A copy with sorted rows, each column once, and a warning."""
    words = f"{field} has rows with columns out of order or repeated: they were sorted, and repeated ones summed."
    warnings.warn(words, RowsWarning, stacklevel=4)
    result: Sparse = sparse.csr_array(matrix, copy=True)
    result.sum_duplicates()
    return result


def _outside(field: str, matrix: Sparse) -> InputError:
    return InputError(
        f"{field} indices is {shown(matrix.indices)}, but must be states from 0 to {matrix.shape[1] - 1}."
    )


def _shared(field: str, given: tuple[object, object, object], states: int) -> Sparse:
    """The matrix of three arrays (indptr, indices, data), in which nobody can write."""
    words = "three arrays (indptr, indices, data) in CSR form, row s A + a"
    indptr, indices = np.asarray(given[0]), np.asarray(given[1])
    try:
        data = np.asarray(given[2], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{field} is {type(given[2]).__name__}, but must be {words}.") from error
    flat = all(each.ndim == 1 for each in (indptr, indices, data)) and indices.size == data.size and indptr.size > 1
    whole = np.issubdtype(indptr.dtype, np.integer) and np.issubdtype(indices.dtype, np.integer)
    require(flat and whole, field, [indptr.shape, indices.shape, data.shape], words)
    ok = indptr[0] == 0 and indptr[-1] == data.size and bool((indptr[1:] >= indptr[:-1]).all())
    require(ok, f"{field} indptr", indptr, f"from 0 up to {data.size}, the number of entries, and never falling")
    matrix: Sparse = sparse.csr_array((data.view(), indices.view(), indptr.view()), (indptr.size - 1, states))
    return matrix


def rewards(R: object, shape: tuple[int, int]) -> Matrix:
    """R checked: dense (S, A) or (S, A, S), or CSR of P's shape (S A, S) with sorted rows."""
    return _table("R", R, shape, np.isfinite, "but every reward must be a finite number")


def endings(end: object, P: Sparse) -> Array | None:
    """e of every possible transition, in the order of P's entries; None where no episode can end."""
    if end is None:
        return None
    table = _table("end", end, P.shape, lambda e: (e >= 0) & (e <= 1), "but must be a probability from 0 to 1")
    chance = of_entries(table, P)
    return chance if chance.any() else None


def of_entries(table: Matrix, P: Sparse) -> Array:
    """A table (S, A), (S, A, S) or sparse like P at every possible transition, in the order of P's entries."""
    if isinstance(table, np.ndarray):
        rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
        flat = table.reshape(P.shape[0], -1)
        return np.ascontiguousarray(flat[rows, P.indices if table.ndim == 3 else 0])
    if np.array_equal(table.indptr, P.indptr) and np.array_equal(table.indices, P.indices):
        return table.data
    rows = np.repeat(np.arange(P.shape[0]), np.diff(table.indptr))
    place = _places(P, rows, table.indices)
    result = np.zeros(P.nnz)
    result[place[place >= 0]] = table.data[place >= 0]
    return result


def _places(P: Sparse, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which entry of P is (row, column), -1 if none is: a binary search in each row, all rows at once."""
    low, end = P.indptr[rows].astype(np.int64), P.indptr[rows + 1].astype(np.int64)
    high = end.copy()
    while (open_ := low < high).any():
        middle = (low + high) // 2
        right = open_ & (P.indices[np.minimum(middle, P.nnz - 1)] < columns)
        low, high = np.where(right, middle + 1, low), np.where(open_ & ~right, middle, high)
    found = (low < end) & (P.indices[np.minimum(low, P.nnz - 1)] == columns)
    return np.where(found, low, -1)


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
    if sparse.issparse(given) or _three(given):
        matrix = _rows(field, given, shape[1])
        require(matrix.shape == shape, f"{field} shape", matrix.shape, f"the shape of P, {shape}")
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
