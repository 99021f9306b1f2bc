"""Numbers that describe the runs of one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hreach.statistics.aggregates import interquartile_mean
from hreach.statistics.scores import Array


@dataclass(frozen=True)
class Summary:
    """Mean over runs with its standard error, the 10, 50 and 90 % quantiles over runs, and the interquartile mean."""

    mean: float
    p10: float
    p90: float
    se: float
    runs: int
    p50: float
    iqm: float


def summarise(values: Array) -> Summary:
    """Summary of one number per run, shape (runs,); the standard error of a single run is nan."""
    runs = len(values)
    se = float(values.std(ddof=1) / np.sqrt(runs)) if runs > 1 else float("nan")
    low, middle, high = (float(q) for q in np.quantile(values, [0.1, 0.5, 0.9]))
    return Summary(float(values.mean()), low, high, se, runs, middle, interquartile_mean(values))
