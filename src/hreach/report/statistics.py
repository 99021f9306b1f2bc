"""Numbers that describe many runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
