"""How often one agent's run is better than another's: the probability of improvement (Agarwal et al., NeurIPS 2021)."""

from __future__ import annotations

import math

import numpy as np

from hreach.errors import require
from hreach.statistics.estimate import Estimate
from hreach.statistics.scores import Array, Scores, confidence, strata_of


def probability_of_improvement(ours: Scores, theirs: Scores, level: float = 0.95) -> Estimate:
    """P(X > Y) + P(X = Y) / 2 of independent runs X of ours and Y of theirs, with an interval; the mean over strata.

    In a stratum it is Mann and Whitney's U / (n m). Its variance v is that of the placements of the runs among those of
    the other side, var_x / n + var_y / m (Brunner & Munzel 2000), and is at most p (1 - p) / min(n, m) whatever the
    distributions (van Dantzig 1951); so U is worth N = p (1 - p) / v runs that win or lose, and never fewer than S
    min(n, m) of S strata. The interval is Wilson's (1927) of N such runs, with the quantile q of Student's t, by
    Satterthwaite's degrees of freedom, for that of the normal distribution:

        (p + q^2 / 2N -+ q sqrt(p (1 - p) / N + q^2 / 4N^2)) / (1 + q^2 / N)

    It stays in [0, 1], and is no point where all runs of one side win. From five runs on either side it covers 95 to
    99 % at 95 % for normal runs of equal and unequal variance, skewed and Bernoulli runs with ties; 93 % where p is
    beyond .96, some 90 % beyond .99.
    """
    from scipy.special import stdtrit

    mine, others = strata_of(ours, least=2), strata_of(theirs, least=2)
    require(len(mine) == len(others), "theirs", theirs, f"runs of {len(mine)} strata, as ours")
    found = [_won(x, y) for x, y in zip(mine, others, strict=True)]
    p = float(np.mean([chance for chance, _ in found]))
    parts = np.concatenate([variances for _, variances in found]) / len(mine) ** 2
    freedom = np.array([len(side) - 1 for pair in zip(mine, others, strict=True) for side in pair])
    least = len(mine) * min(len(part) for part in (*mine, *others))
    if (v := float(parts.sum())) > 0:
        runs_worth = max(p * (1 - p) / v, least)
        q = float(stdtrit(v**2 / (parts**2 / freedom).sum(), (1 + confidence(level)) / 2))
    else:
        runs_worth, q = least, float(stdtrit(freedom.min(), (1 + confidence(level)) / 2))
    low, high = _wilson(p, runs_worth, q)
    runs = sum(len(part) for part in (*mine, *others))
    return Estimate(p, low, high, level, runs, "Wilson interval of the placements")


def _won(x: Array, y: Array) -> tuple[float, Array]:
    """U / (n m), and the two parts var_x / n and var_y / m of its variance."""
    ascending = np.sort(y)
    of_x = (np.searchsorted(ascending, x, "left") + np.searchsorted(ascending, x, "right")) / (2 * len(y))
    ascending = np.sort(x)
    of_y = 1 - (np.searchsorted(ascending, y, "left") + np.searchsorted(ascending, y, "right")) / (2 * len(x))
    return float(of_x.mean()), np.array([of_x.var(ddof=1) / len(x), of_y.var(ddof=1) / len(y)])


def _wilson(p: float, runs: float, q: float) -> tuple[float, float]:
    """The numbers at most q standard deviations away from which p is the share of wins among so many runs."""
    centre, half = p + q**2 / (2 * runs), q * math.sqrt(p * (1 - p) / runs + (q / (2 * runs)) ** 2)
    scale = 1 + q**2 / runs
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
