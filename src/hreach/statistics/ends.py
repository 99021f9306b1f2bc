"""The ends of a bootstrap interval, from what an aggregate came to in the samples."""

from __future__ import annotations

import math

import numpy as np

from hreach.statistics.scores import Array


def percentile_ends(samples: Array, level: float) -> tuple[float, float]:
    """The quantiles (1 - level) / 2 and (1 + level) / 2 of an aggregate over bootstrap samples (Efron 1979)."""
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def expanded_ends(samples: Array, smallest: int, level: float) -> tuple[float, float]:
    """The percentile interval at a level that makes up for few runs (Hesterberg, Am. Stat. 69, 2015).

    Bootstrap samples of n runs vary by n - 1 in n of what runs vary, and normal quantiles are too small for n runs: the
    quantiles are those at Phi(-+ sqrt(n / (n - 1)) t), t of Student's with n - 1 degrees of freedom; for normal runs
    their mean's interval is then Student's. Of several strata n is the smallest.
    """
    from scipy.special import ndtr, stdtrit

    far = math.sqrt(smallest / (smallest - 1)) * stdtrit(smallest - 1, (1 + level) / 2)
    return percentile_ends(samples, float(2 * ndtr(far) - 1))


def bca_ends(samples: Array, value: float, left_out: list[Array], level: float) -> tuple[float, float]:
    """The quantiles of the samples at Phi(z0 + (z0 + z) / (1 - a (z0 + z))), z = Phi^-1((1 -+ level) / 2) (Efron 1987).

    z0 is the bias, Phi^-1 of the share of samples below `value`, ties by half; a the acceleration by the jackknife:
    with U_i = (n - 1) (mean of left_out - left_out_i) of each stratum of n runs,
    a = sum U^3 / n^3 / (6 (sum U^2 / n^2)^(3/2)), sums over all strata. Samples that are all on one side of the value
    leave nothing to shift by, and the ends are those of `percentile_ends`.
    """
    from scipy.special import ndtr, ndtri  # most of a tenth of a second to import

    below = ((samples < value).mean() + (samples <= value).mean()) / 2
    if not 0 < below < 1:
        return percentile_ends(samples, level)
    bias, acceleration = ndtri(below), _acceleration(left_out)
    shifted = bias + ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    low, high = np.quantile(samples, ndtr(bias + shifted / (1 - acceleration * shifted)))
    return float(low), float(high)


def _acceleration(left_out: list[Array]) -> float:
    """a of `bca_ends`; 0 where no run matters."""
    influence = [(len(part) - 1) / len(part) * (part.mean() - part) for part in left_out]
    squares = sum(float((part**2).sum()) for part in influence)
    cubes = sum(float((part**3).sum()) for part in influence)
    return cubes / (6 * math.pow(squares, 1.5)) if squares > 0 else 0.0
