"""Least squares that grows by one sample at a time: the factor that every output with the same features shares.

    A = X'X + ridge I,    theta^ = A^-1 X'y,    q = phi' A^-1 phi

Kept are X'X and X'y themselves and, for use, the triangular root R with R'R = A together with R^-T X'y. A sample
changes both by plane rotations in O(n^2): a QR decomposition that grows by one row. Its errors grow with the condition
number of X, not of X'X; the diagonal of R never falls below sqrt(ridge); q is a sum of squares. So nothing here
becomes negative or infinite. One forward substitution per sample gives the prediction error *before* the update.

Drift rule: with every sample phi, R'(R phi) is compared with A phi. When some |difference_i| exceeds
tolerance sqrt(A_ii) sum_j sqrt(A_jj) |phi_j|, a bound that rounding alone respects whatever the scales and the
conditioning, R is made anew from A. If A is not positive definite in floating point, its diagonal is enlarged by
some units of rounding until it is, and a RuntimeWarning says so once per factor.

Samples belong to independent blocks, one per action for `ActionBlocks`, otherwise a single one: B leads every shape.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from hreach.compiling import compiled, inlined, inlined_with, resolved
from hreach.models.feature_map import Array, Integers
from hreach.models.spectrum import FEW, Spectrum, rows_of

_State = tuple[Array, Array, Array, Array, Integers, Array, Array, Array, Array, Integers]  # `Factor._state`
Eight = tuple[float, float, float, float, float, float, float, float]
_LANES = 8
_ZERO: Eight = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Factor:
    """Explicit state of one least-squares problem with n features, k outputs and B blocks; see the module."""

    def __init__(self, n: int, outputs: int, blocks: int, ridge: float, tolerance: float) -> None:
        self.ridge, self.tolerance = ridge, tolerance
        self.gram = np.zeros((blocks, n, n))  # X'X
        self.moments = np.zeros((blocks, n, outputs))  # X'y
        self.root = np.tile(np.sqrt(ridge) * np.eye(n), (blocks, 1, 1))  # R, upper
        self.rotated = np.zeros((blocks, n, outputs))  # R^-T X'y
        self.count = np.zeros(blocks, dtype=np.int64)
        self.error_mean = np.zeros(outputs)
        self.error_max = np.zeros(outputs)
        self.least, self.most = np.zeros(outputs), np.zeros(outputs)  # of y and 0
        self.values = np.zeros((blocks, n))
        self.vectors = np.tile(np.eye(n), (blocks, 1, 1))
        self.spectrum_count = np.zeros(blocks, dtype=np.int64)
        self._spectrum: Spectrum | None = None  # as it was last asked for
        self.samples = 0  # the sum of `count`: an agent asks at every step
        self.repairs = 0
        self._warned = False
        self.version = np.zeros(blocks, dtype=np.int64)  # how often a block has changed
        self._weights = np.zeros((blocks, n, outputs))
        self._solved = np.zeros(blocks, dtype=np.int64)  # the version of each block of `_weights`
        self._lanes = np.zeros((n, _LANES)), np.zeros(_LANES, dtype=np.int64)
        self._work = np.zeros(n), np.zeros(n), np.zeros(outputs)
        self._transposed = np.zeros((outputs, n))
        self._state = (  # what a sample changes
            self.gram, self.moments, self.root, self.rotated, self.count, self.error_mean, self.error_max, self.least,
            self.most, self.version,
        )  # fmt: skip
        numbers = np.zeros((1, n)), np.zeros((1, outputs)), self.count, self._work
        self._learn = resolved(_learn, 0, 0, self._state, ridge, tolerance, *numbers)
        self._solve = resolved(_solve, self.root, self.rotated, 0, self._transposed, self._weights)
        self._leverages = resolved(_leverages, self.root, numbers[0], self.count, *self._lanes, self.error_mean)

    def learn(self, phi: Array, block: Integers, y: Array) -> None:
        """Learn from rows phi (N, n), block (N,), y (N, k), one after the other."""
        self.samples += len(phi)
        # machine code that was found once trusts its arguments
        rows = (np.ascontiguousarray(phi), np.ascontiguousarray(y), np.ascontiguousarray(block))
        done, repaired = 0, -1
        while True:
            done = self._learn(done, repaired, self._state, self.ridge, self.tolerance, *rows, self._work)
            if done == len(phi):
                return
            self.repair(int(block[done]))
            repaired = done

    def repair(self, b: int) -> None:
        """Make R of block b anew from A, and R^-T X'y with it."""
        self.repairs += 1
        self.version[b] += 1
        self.root[b] = self._cholesky(self.gram[b] + self.ridge * np.eye(self.gram.shape[1]))
        self.rotated[b] = blas.dtrsm(1.0, self.root[b].T, self.moments[b], lower=1)

    def weights(self) -> Array:
        """theta^ = A^-1 X'y, (B, n, k); the array stays the same, and what is in it changes with the next samples."""
        for b in (self.version != self._solved).nonzero()[0].tolist():
            self._solve(self.root, self.rotated, b, self._transposed, self._weights)
            self._solved[b] = self.version[b]
        return self._weights

    def predict(self, phi: Array, block: Integers) -> Array:
        """theta^' phi of every row, (N, k)."""
        weights = self.weights()
        result = np.empty((len(phi), weights.shape[2]))
        for b, weight in enumerate(weights):
            rows = rows_of(block, b, len(weights))
            result[rows] = phi[rows] @ weight
        return result

    def leverage(self, phi: Array, block: Integers) -> Array:
        """q = phi' A^-1 phi = ||R^-T phi||^2 of every row, (N,)."""
        result = np.empty(len(phi))
        if phi.shape[1] <= FEW:
            rows = np.ascontiguousarray(phi), np.ascontiguousarray(block)
            self._leverages(self.root, *rows, *self._lanes, result)
            return result
        order = block.argsort(kind="stable")  # block by block, in the order that BLAS wants
        solved, ends = phi.take(order, axis=0), block.take(order).searchsorted(range(1, len(self.root) + 1)).tolist()
        for root, begin, end in zip(self.root, [0, *ends], ends, strict=False):
            if begin < end:
                solved[begin:end] = blas.dtrsm(1.0, root.T, solved[begin:end].T, lower=1, overwrite_b=1).T
        result[order] = np.einsum("ij,ij->i", solved, solved)
        return result

    def spectrum(self, growth: float) -> Spectrum:
        """The eigenvalues of X'X; those of a block are renewed only when its samples grew by the share `growth`."""
        new = self.count - self.spectrum_count
        for b in np.flatnonzero((new > 0) & (new >= growth * self.spectrum_count)):
            values, vectors = np.linalg.eigh(self.gram[b])
            self.values[b], self.vectors[b] = values[::-1], vectors[:, ::-1]
            self.spectrum_count[b] = self.count[b]
            self._spectrum = None
        if self._spectrum is None:
            self._spectrum = Spectrum(self.values, self.vectors)
        return self._spectrum

    def saved(self) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
        """All that was learnt, and the last eigenvalues, by name; the arrays themselves."""
        names = ("gram", "moments", "root", "rotated", "count", "error_mean", "error_max", "least", "most")
        spectrum = {"values": self.values, "vectors": self.vectors, "spectrum_count": self.spectrum_count}
        return dict(zip(names, self._state, strict=False)) | spectrum

    def restore(self, name: str, array: NDArray[np.generic]) -> None:
        """Put back one of the saved arrays."""
        self.saved()[name][...] = array
        self.samples = int(self.count.sum())
        self.version += 1
        self._spectrum = None

    def _cholesky(self, A: Array) -> Array:
        for jitter in (0.0, *(4 * len(A) * np.finfo(float).eps * 10.0**k for k in range(12))):
            try:
                return np.ascontiguousarray(np.linalg.cholesky(A + np.diag(jitter * A.diagonal())).T)
            except np.linalg.LinAlgError:
                self._warn()
        raise FloatingPointError("X'X is no longer a positive semidefinite matrix: its array was changed from outside.")

    def _warn(self) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                "X'X + ridge I is not positive definite in floating point; its diagonal was enlarged by rounding. "
                "Rescale the features or use a larger ridge.",
                RuntimeWarning,
                stacklevel=2,
            )


# Compiled, sample s of phi (N, n) and y (N, k), block b; x (n,), u (n,) and t (k,) are work space. Loops run over whole
# rows of R, with its zeros: loops of one length and one alignment are several times as fast as those over a triangle.


@compiled
def _learn(
    done: int,
    repaired: int,
    state: _State,
    ridge: float,
    tolerance: float,
    phi: Array,
    y: Array,
    block: Integers,
    work: tuple[Array, Array, Array],
) -> int:
    """Learn from samples done, done + 1, ...; stop at one that shows drift and return its number."""
    gram, moments, root, rotated, count, error_mean, error_max, least, most, version = state
    x, u, t = work
    for s in range(done, phi.shape[0]):
        b = block[s]
        # a sample that was just repaired for goes on with what there is
        if s != repaired and _drifted(gram, root, b, ridge, tolerance, phi, s, x, u):
            return s
        _predict(root, rotated, b, phi, s, x, t)
        count[b] += 1
        version[b] += 1
        _note_errors(error_mean, error_max, count, y, s, t)
        for o in range(least.shape[0]):
            least[o], most[o] = min(least[o], y[s, o]), max(most[o], y[s, o])
        _add(gram, moments, b, phi, y, s)
        _rotate(root, rotated, b, phi, y, s, x, t)
    return len(phi)


@compiled
def _solve(root: Array, rotated: Array, b: int, transposed: Array, weights: Array) -> None:
    """weights[b] = R^-1 rotated[b] by back substitution; transposed (k, n) is work space."""
    outputs, n = transposed.shape
    transposed[:] = 0.0
    for i in range(n - 1, -1, -1):
        for o in range(outputs):
            weights[b, i, o] = (rotated[b, i, o] - _dot(root, b, i, transposed, o)) / root[b, i, i]
            transposed[o, i] = weights[b, i, o]


@compiled
def _leverages(root: Array, phi: Array, block: Integers, work: Array, rows: Integers, result: Array) -> None:
    """result = ||R^-T phi||^2 of every row: forward substitution for `_LANES` rows of a block at a time, side by side.

    work (n, _LANES) and rows (_LANES,) are work space; lanes without a row compute what nobody asks for.
    """
    for b in range(root.shape[0]):
        filled = 0
        for s in range(phi.shape[0]):
            if block[s] == b:
                for i in range(phi.shape[1]):
                    work[i, filled] = phi[s, i]
                rows[filled] = s
                filled += 1
            if filled == _LANES or (filled > 0 and s == phi.shape[0] - 1):
                lengths = _lengths(root, b, work)
                for lane in range(filled):
                    result[rows[lane]] = lengths[lane]
                filled = 0


@inlined
def _lengths(root: Array, b: int, work: Array) -> Eight:
    """||R^-T work||^2 of every lane: the same operations in the same order. In tuples, as stores would hold them up."""
    total = _ZERO
    for j in range(work.shape[0]):
        x = _lanes(work, j)
        for i in range(j):
            x = _plus(x, -root[b, i, j], _lanes(work, i))
        x = _plus(_ZERO, 1.0 / root[b, j, j], x)
        for lane in range(_LANES):
            work[j, lane] = x[lane]
        total = _plus_squares(total, x)
    return total


# fmt: off
@inlined
def _lanes(work: Array, i: int) -> Eight:
    """Row i."""
    return (work[i, 0], work[i, 1], work[i, 2], work[i, 3], work[i, 4], work[i, 5], work[i, 6], work[i, 7])


@inlined_with("contract")
def _plus(a: Eight, c: float, x: Eight) -> Eight:
    """a + c x."""
    return (a[0] + c * x[0], a[1] + c * x[1], a[2] + c * x[2], a[3] + c * x[3],
            a[4] + c * x[4], a[5] + c * x[5], a[6] + c * x[6], a[7] + c * x[7])


@inlined_with("contract")
def _plus_squares(a: Eight, x: Eight) -> Eight:
    """a + x x."""
    return (a[0] + x[0] * x[0], a[1] + x[1] * x[1], a[2] + x[2] * x[2], a[3] + x[3] * x[3],
            a[4] + x[4] * x[4], a[5] + x[5] * x[5], a[6] + x[6] * x[6], a[7] + x[7] * x[7])
# fmt: on


@inlined_with("contract", "reassoc", "nsz")
def _dot(root: Array, b: int, i: int, phi: Array, s: int) -> float:
    """Row i of R times phi."""
    total = 0.0
    for j in range(i - i % 16, phi.shape[1]):
        total += root[b, i, j] * phi[s, j]
    return total


@compiled
def _drifted(
    gram: Array, root: Array, b: int, ridge: float, tolerance: float, phi: Array, s: int, x: Array, u: Array
) -> bool:
    """Whether R'(R phi) and A phi differ by more than rounding."""
    n = phi.shape[1]
    weight = 0.0
    for i in range(n):
        u[i] = -ridge * phi[s, i]
        weight += np.sqrt(gram[b, i, i] + ridge) * abs(phi[s, i])
        x[i] = _dot(root, b, i, phi, s)
    for i in range(n):
        known, given = x[i], phi[s, i]
        for j in range(n):  # X'X is symmetric: by rows, the additions run side by side
            u[j] += root[b, i, j] * known - gram[b, i, j] * given
    drifted = False
    for i in range(n):
        drifted |= not abs(u[i]) <= tolerance * np.sqrt(gram[b, i, i] + ridge) * weight  # also true of nan
    return drifted


@compiled
def _predict(root: Array, rotated: Array, b: int, phi: Array, s: int, x: Array, t: Array) -> None:
    """t = theta^' phi = (R^-T phi) . (R^-T X'y)."""
    n, outputs = phi.shape[1], t.shape[0]
    t[:] = 0.0
    for i in range(n):
        x[i] = phi[s, i]
    for i in range(n):
        solved = x[i] / root[b, i, i]
        for j in range(n):
            x[j] -= root[b, i, j] * solved
        x[i] = solved
        for o in range(outputs):
            t[o] += solved * rotated[b, i, o]


@compiled
def _note_errors(mean: Array, top: Array, count: Integers, y: Array, s: int, t: Array) -> None:
    """Running mean and maximum of |y - prediction|."""
    total = 0
    for c in count:
        total += c
    for o in range(t.shape[0]):
        error = abs(y[s, o] - t[o])
        mean[o] += (error - mean[o]) / total
        top[o] = max(top[o], error)


@compiled
def _add(gram: Array, moments: Array, b: int, phi: Array, y: Array, s: int) -> None:
    """X'X and X'y with one more row."""
    for i in range(phi.shape[1]):
        for j in range(phi.shape[1]):
            gram[b, i, j] += phi[s, i] * phi[s, j]
        for o in range(y.shape[1]):
            moments[b, i, o] += phi[s, i] * y[s, o]


@compiled
def _rotate(root: Array, rotated: Array, b: int, phi: Array, y: Array, s: int, x: Array, t: Array) -> None:
    """Rotate the row (phi, y) into (R, R^-T X'y) until nothing of phi is left."""
    n, outputs = phi.shape[1], t.shape[0]
    for o in range(outputs):
        t[o] = y[s, o]
    for i in range(n):
        x[i] = phi[s, i]
    for i in range(n):
        if x[i] == 0.0:
            continue
        length = np.hypot(root[b, i, i], x[i])
        c, d = root[b, i, i] / length, x[i] / length
        for j in range(n):
            old = root[b, i, j]
            root[b, i, j] = c * old + d * x[j]
            x[j] = c * x[j] - d * old
        root[b, i, i], x[i] = length, 0.0
        for o in range(outputs):
            old = rotated[b, i, o]
            rotated[b, i, o] = c * old + d * t[o]
            t[o] = c * t[o] - d * old
