"""Types of arrays: dense ones, and what is used of scipy's sparse ones (scipy has no types)."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class Sparse(Protocol):
    """A matrix in scipy's CSR form: row i owns the entries indptr[i] .. indptr[i + 1] - 1 of data and indices."""

    shape: tuple[int, int]
    data: Array
    indices: Ints
    indptr: Ints
    nnz: int
    has_canonical_format: bool  # columns ascend within each row, none comes twice

    def sum_duplicates(self) -> None: ...  # noqa: D102
    def eliminate_zeros(self) -> None: ...  # noqa: D102
    def sum(self, axis: int) -> Array: ...  # noqa: D102
    def toarray(self) -> Array: ...  # noqa: D102
    def tocsc(self) -> Sparse: ...  # noqa: D102
    def __getitem__(self, rows: Ints) -> Sparse: ...
    def __matmul__(self, value: Array) -> Array: ...
    def __add__(self, other: Sparse) -> Sparse: ...
    def __rmul__(self, factor: float) -> Sparse: ...


Matrix = Array | Sparse
