"""Studentised bootstrap intervals of means, the ones that hold for few runs too."""

from __future__ import annotations

import numpy as np

from hreach.statistics.resampling import resampled_weights
from hreach.statistics.scores import Array

ROUNDING = 1e-12  # relative spread below which numbers count as equal
WITHOUT_VARIANCE = 1e-6  # of the standard error: less of it in a sample is rounding of squares


def studentised_ends(
    values: Array, sizes: list[int], level: float, samples: int, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """The ends of the interval of each row's mean over strata; values (runs, rows), stratum after stratum of `sizes`.

    With mean d and standard error s, s^2 = sum over the S strata of variance / (S^2 runs), the ends are d - q s, q the
    quantiles of (d* - d) / s* over bootstrap samples (Efron & Tibshirani 1993, section 12.5), or those of Student's t
    with Satterthwaite's degrees of freedom where they are farther out. Without variance both ends are d.
    """
    from scipy.special import stdtrit

    parts = np.split(values, np.cumsum(sizes)[:-1])
    centre = np.mean([part.mean(axis=0) for part in parts], axis=0)
    squares = np.array([part.var(axis=0, ddof=1) / (len(sizes) ** 2 * len(part)) for part in parts])
    error = np.sqrt(squares.sum(axis=0))
    vary = error > ROUNDING * np.abs(values).max(axis=0)
    freedom = np.ones(len(error))
    weighted = squares[:, vary] ** 2 / (np.array(sizes)[:, None] - 1)
    freedom[vary] = squares[:, vary].sum(axis=0) ** 2 / weighted.sum(axis=0)
    student = stdtrit(freedom, (1 + level) / 2)
    found = []
    pivots = _pivots(parts, error, samples, rng)
    for row, d in enumerate(centre):
        if not vary[row]:
            found.append((float(d), float(d)))
            continue
        finite = pivots[:, row][np.isfinite(pivots[:, row])]
        low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
        found.append((float(d - max(student[row], high) * error[row]), float(d + max(student[row], -low) * error[row])))
    return found


def _pivots(parts: list[Array], error: Array, samples: int, rng: np.random.Generator) -> Array:
    """(d* - d) / s* of bootstrap samples, (samples, rows); nan for a sample without variance."""
    sizes = [len(part) for part in parts]
    centred = [part - part.mean(axis=0) for part in parts]
    borders = np.cumsum(sizes)[:-1]
    found = []
    for weights in resampled_weights(sizes, samples, rng):
        shift, squares = np.zeros((len(weights), len(error))), np.zeros((len(weights), len(error)))
        for part, weight in zip(centred, np.split(weights, borders, axis=1), strict=True):
            first, second = weight @ part, weight @ part**2  # of weights that sum to 1 / strata
            shift += first
            squares += (second / len(sizes) - first**2) / (len(part) - 1)
        errors = np.sqrt(np.maximum(squares, 0))
        nothing = np.full_like(errors, np.nan)
        found.append(np.divide(shift, errors, out=nothing, where=errors > WITHOUT_VARIANCE * error))
    return np.concatenate(found)
