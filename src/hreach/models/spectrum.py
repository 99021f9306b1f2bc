"""The eigenvalues of X'X that the paper's interval I_h and KWIK linear regression look at. Paper: Continuous Domain.

    X'X = U diag(lambda) U',    g = U diag(1 / lambda where lambda >= 1) U',    w = U diag(1 where lambda < 1) U',
    z = (X'X)^-1

B blocks (see `least_squares`) lead every shape.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from hreach.compiling import compiled
from hreach.models.feature_map import Array, Integers

ZRule = Literal["singular", "small"]
FEW = 24  # features: up to here, calling BLAS for every block costs more than it saves
_ONE = 1 - 1e-9  # an eigenvalue of exactly 1 may come out a rounding error below it


@dataclass(frozen=True, eq=False)
class Spectrum:
    """X'X = U diag(values) U' of each block, without the ridge, largest first: (B, n), (B, n, n). Paper: I_h."""

    values: Array
    vectors: Array
    _parts: dict[tuple[float, ZRule], tuple[Array, Array, Array]] = field(default_factory=dict)

    def parts(self, ridge: float = 1.0, rule: ZRule = "singular") -> tuple[Array, Array, Array]:
        """Eigenvalues (B, n) of the paper's g, w and z.

        g = 1 / lambda where lambda >= 1, w = 1 where lambda < 1, z = 1 / lambda, undefined while X'X is singular.
        rule="singular": then z = 1 / (lambda + ridge) for every lambda. rule="small": always, where lambda < 1.
        """
        if (ridge, rule) not in self._parts:
            values = np.maximum(self.values, 0.0)  # rounding may leave small negative ones
            large = values >= _ONE
            singular = values[:, -1:] <= values.shape[1] * np.finfo(float).eps * values[:, :1]
            shift = np.where(singular if rule == "singular" else ~large, ridge, 0.0)
            g, w = np.where(large, 1 / np.maximum(values, _ONE), 0.0), np.where(large, 0.0, 1.0)
            self._parts[ridge, rule] = g, w, 1 / (values + shift)
        return self._parts[ridge, rule]

    def matrices(self, ridge: float = 1.0, rule: ZRule = "singular") -> tuple[Array, Array, Array]:
        """The paper's g, w and z themselves, (B, n, n) each."""
        U = self.vectors
        g, w, z = ((U * part[:, None, :]) @ U.transpose(0, 2, 1) for part in self.parts(ridge, rule))
        return g, w, z

    def terms(self, phi: Array, block: Integers, ridge: float, rule: ZRule) -> Array:
        """(phi' g phi, ||phi' z||, ||w phi||) of every row of phi (N, n): shape (3, N). Paper: I_h."""
        result = np.zeros((3, len(phi)))
        if phi.shape[1] <= FEW:
            parts = self.parts(ridge, rule)
            _terms(
                np.ascontiguousarray(self.vectors),
                parts,
                np.ascontiguousarray(phi),
                block,
                np.zeros(phi.shape[1]),
                result,
            )
            return result
        for b, (g, w, z) in enumerate(zip(*self.parts(ridge, rule), strict=True)):
            rows = rows_of(block, b, len(self.values))
            along = phi[rows] @ self.vectors[b]
            gain, slant, left = (np.square(along, out=along) @ np.stack([g, z * z, w], axis=1)).T
            result[:, rows] = gain, np.sqrt(slant), np.sqrt(left)
        return result

    def known_terms(self, phi: Array, block: Integers) -> Array:
        """(phi' g phi, ||w phi||) of every row of phi (N, n): shape (2, N). Paper: KWIK's ||q||^2 and ||u||.

        Both need only the eigenvectors with lambda >= 1, often a few: ||w phi||^2 is what they leave of ||phi||^2. By
        rounding, ||w phi|| may be off by some 1e-8 ||phi||.
        """
        if phi.shape[1] <= FEW:
            return self.terms(phi, block, 1.0, "small")[::2]
        result = np.zeros((2, len(phi)))
        for b, values in enumerate(self.values):
            rows = rows_of(block, b, len(self.values))
            large = int((values >= _ONE).sum())
            along = np.square(phi[rows] @ self.vectors[b, :, :large])
            left = np.einsum("ij,ij->i", phi[rows], phi[rows]) - along.sum(axis=1)
            result[:, rows] = along @ (1 / values[:large]), np.sqrt(np.maximum(left, 0.0))
        return result


def rows_of(block: Integers, b: int, blocks: int) -> slice | Integers:
    """The rows of block b; all of them, without a copy, when there is a single block."""
    return slice(None) if blocks == 1 else np.flatnonzero(block == b)


@compiled
def _terms(
    vectors: Array, parts: tuple[Array, Array, Array], phi: Array, block: Integers, along: Array, result: Array
) -> None:
    """result (3, N) as in `Spectrum.terms`; along (n,) is work space for U'phi."""
    g, w, z = parts
    n = phi.shape[1]
    for s in range(phi.shape[0]):
        b = block[s]
        along[:] = 0.0
        for i in range(n):
            for k in range(n):
                along[k] += phi[s, i] * vectors[b, i, k]
        gain, slant, left = 0.0, 0.0, 0.0
        for k in range(n):
            square = along[k] * along[k]
            gain += g[b, k] * square
            slant += z[b, k] * z[b, k] * square
            left += w[b, k] * square
        result[0, s], result[1, s], result[2, s] = gain, np.sqrt(slant), np.sqrt(left)
