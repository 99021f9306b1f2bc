"""Performance profiles: which share of runs scored above each threshold (Agarwal et al., NeurIPS 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hreach.errors import array, require
from hreach.statistics.scores import Array, Scores, confidence, strata_of


@dataclass(frozen=True)
class Profile:
    """Thresholds tau, the share of runs with a score above each, and the band around it, all (thresholds,)."""

    thresholds: Array
    share: Array
    low: Array
    high: Array
    level: float
    runs: int
    kind: str


def performance_profile(scores: Scores, thresholds: Array, level: float = 0.95) -> Profile:
    """The share of runs with score > tau, strata weighted alike, and a band for P(score > tau) at all tau at once.

    The band is share -+ sqrt(ln(2 / (1 - level)) / (2 S n)), S strata of at least n runs, cut at 0 and 1. For one
    stratum it holds the whole curve with at least this probability at every n (Dvoretzky, Kiefer & Wolfowitz 1956, with
    the constant of Massart 1990). Of several it does so for large n: there the share's covariance is
    sum_s cov_s / (S^2 n_s), at most that of S n runs of the mixture of the strata, and of two Gaussian processes the
    one with the smaller covariance has the smaller supremum (Anderson 1955).
    """
    strata = strata_of(scores)
    at = array("thresholds", thresholds)
    require(at.ndim == 1 and not np.isnan(at).any(), "thresholds", thresholds, "numbers of shape (thresholds,)")
    above = [1 - np.searchsorted(np.sort(part), at, side="right") / len(part) for part in strata]
    share = np.mean(above, axis=0)
    smallest = min(len(part) for part in strata)
    half = math.sqrt(math.log(2 / (1 - confidence(level))) / (2 * len(strata) * smallest))
    low, high = np.maximum(share - half, 0), np.minimum(share + half, 1)
    kind = "simultaneous band, Dvoretzky-Kiefer-Wolfowitz"
    return Profile(at, share, low, high, level, sum(len(part) for part in strata), kind)
