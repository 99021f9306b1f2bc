"""Scores of runs: one number for each, in strata (domains, tasks) within which runs are alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hreach.errors import array, number, require

Array = NDArray[np.float64]
Scores = Array | Sequence[float] | Sequence[Array] | Sequence[Sequence[float]]


def strata_of(scores: Scores, least: int = 1) -> list[Array]:
    """The strata of `scores`, each (runs,): of (runs,), which is one stratum, of (strata, runs), or of a sequence.

    Every score must be finite, and every stratum must have `least` runs.
    """
    require(len(scores) > 0, "scores", scores, "at least one number for each run")
    single = np.ndim(scores[0]) == 0
    strata = [array("scores", scores)] if single else [array("scores", stratum) for stratum in scores]
    for stratum in strata:
        require(stratum.ndim == 1, "scores", stratum, "numbers of shape (runs,) or (strata, runs)")
        require(len(stratum) >= least, "scores", stratum, f"at least {least} numbers in each stratum")
        require(bool(np.isfinite(stratum).all()), "scores", stratum, "finite numbers")
    return strata


def equal_weights(strata: list[Array]) -> Array:
    """Weights of all runs, stratum after stratum, that sum to 1: strata count alike, and so do the runs of one."""
    return np.concatenate([np.full(len(stratum), 1 / (len(strata) * len(stratum))) for stratum in strata])


def confidence(level: object) -> float:
    """`level` as a float above 0 and below 1."""
    result = number("level", level)
    require(0 < result < 1, "level", level, "above 0 and below 1")
    return result
