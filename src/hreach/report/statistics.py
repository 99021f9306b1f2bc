"""Numbers that describe many runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hreach.studies.store import EpisodeResult

RESAMPLES = 10_000


@dataclass(frozen=True)
class Summary:
    """Mean over runs with its standard error, and the 10 % and 90 % quantiles over runs."""

    mean: float
    p10: float
    p90: float
    se: float
    runs: int


def summarise(values: NDArray[np.float64]) -> Summary:
    """Summary of one number per run, shape (runs,); the standard error of a single run is nan."""
    runs = len(values)
    se = float(values.std(ddof=1) / np.sqrt(runs)) if runs > 1 else float("nan")
    low, high = np.quantile(values, [0.1, 0.9])
    return Summary(float(values.mean()), float(low), float(high), se, runs)


def statistic(name: str, result: EpisodeResult) -> NDArray[np.float64]:
    """One number for each run, (runs,): the statistics of `hreach.studies.spec.Claim`."""
    if name == "goals":
        return np.asarray(result.learning.terminated.sum(axis=1), dtype=np.float64)
    last = {"total": 0, "last10": 10, "plain": 0}[name]
    phase = result.plain if name == "plain" else result.learning
    return np.asarray(phase.total[:, -last:].mean(axis=1))


def resampled_means(values: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Means of `RESAMPLES` bootstrap samples of the runs (runs,), each as large as the original."""
    drawn = np.random.default_rng(seed).integers(len(values), size=(RESAMPLES, len(values)))
    return np.asarray(values[drawn].mean(axis=1))


def difference_interval(
    ours: NDArray[np.float64], theirs: NDArray[np.float64], times: float, level: float
) -> tuple[float, float]:
    """Bootstrap percentile interval of mean(ours) - times mean(theirs), two independent samples, at this level.

    With ten runs it covers a little less often than it says (some 90 % where it says 95 %).
    """
    differences = resampled_means(ours, seed=1) - times * resampled_means(theirs, seed=2)
    low, high = np.quantile(differences, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
