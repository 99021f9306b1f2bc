"""Numbers that describe many runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
ROUNDING = 1e-12  # relative spread below which numbers count as equal
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Summary:
    """Mean over runs with its standard error, and the 10 % and 90 % quantiles over runs."""

    mean: float
    p10: float
    p90: float
    se: float
    runs: int


def summarise(values: Array) -> Summary:
    """Summary of one number per run, shape (runs,); the standard error of a single run is nan."""
    runs = len(values)
    se = float(values.std(ddof=1) / np.sqrt(runs)) if runs > 1 else float("nan")
    low, high = np.quantile(values, [0.1, 0.9])
    return Summary(float(values.mean()), float(low), float(high), se, runs)


def bootstrap(runs: int, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The runs of each bootstrap sample, (samples, runs): as many as there are, drawn with replacement."""
    return rng.integers(runs, size=(samples, runs))


def resampled_means(values: Array, samples: int, rng: np.random.Generator) -> Array:
    """Means (samples, ...) of bootstrap samples of values (strata, runs, ...), drawn within each stratum.

    What stands in the further axes is drawn together: paired numbers stay paired.
    """
    strata, runs = values.shape[:2]
    total = np.zeros((samples, *values.shape[2:]))
    for stratum in values:
        drawn = bootstrap(runs, samples, rng) + runs * np.arange(samples)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=samples * runs).reshape(samples, runs)
        total += np.tensordot(counts / runs, stratum, axes=1)
    return np.asarray(total / strata)


def difference_interval(ours: Array, theirs: Array, times: float, level: float) -> tuple[float, float]:
    """Interval at this level of E[ours] - times E[theirs], two independent samples (n,), (m,); of one value: known.

    Each end is the farther one of two intervals d -+ q s around the difference d of the means, with standard error s:
    q from Student's t with Welch's degrees of freedom, right for normal runs; and q from the studentised bootstrap, the
    quantiles of (d* - d) / s* over `RESAMPLES` resamples, which follow the skewness of the runs. Without variance in
    either sample there is nothing to judge chance by, and both ends are d.

    Of ten runs at 99.4 % it covers 99.4 % or more for normal runs of equal and unequal variance, counts, and skewed
    runs (exponential) of both; some 98 % where one sample is skewed and the other known. With the quantiles of d*
    itself (the percentile bootstrap) these are 97 to 98 % and 93 %.
    """
    from scipy import stats  # takes most of a second to import, and few pages have claims

    theirs = times * theirs
    parts = np.array([_squared_error(ours), _squared_error(theirs)])
    difference, error = float(ours.mean() - theirs.mean()), float(np.sqrt(parts.sum()))
    if error <= ROUNDING * max(np.abs(ours).max(), np.abs(theirs).max()):
        return difference, difference
    sizes = np.array([len(ours), len(theirs)])
    freedom = parts.sum() ** 2 / (parts[parts > 0] ** 2 / (sizes[parts > 0] - 1)).sum()
    student = float(stats.t.ppf((1 + level) / 2, freedom))
    low, high = np.quantile(_studentised(ours, theirs, error), [(1 - level) / 2, (1 + level) / 2])
    return difference - max(student, float(high)) * error, difference + max(student, -float(low)) * error


def _studentised(ours: Array, theirs: Array, error: float) -> Array:
    """(d* - d) / s* of bootstrap samples of both; those without variance, which have none, are left out.

    `error` is the standard error of the samples themselves.
    """
    drawn = [v[bootstrap(len(v), RESAMPLES, np.random.default_rng(k))] for k, v in ((1, ours), (2, theirs))]
    difference = drawn[0].mean(axis=1) - drawn[1].mean(axis=1)
    errors = np.sqrt(_squared_error(drawn[0]) + _squared_error(drawn[1]))
    vary = errors > ROUNDING * error
    return np.asarray((difference - (ours.mean() - theirs.mean()))[vary] / errors[vary])


def _squared_error(values: Array) -> Array:
    """Squared standard error of the mean along the last axis; 0 for a single value."""
    runs = values.shape[-1]
    return np.asarray(values.var(axis=-1, ddof=1) / runs) if runs > 1 else np.zeros(values.shape[:-1])
