"""Rows whose runs share their seeds, compared run by run; with Holm's correction for many comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hreach.errors import array, require
from hreach.statistics.estimate import Estimate
from hreach.statistics.intervals import estimates
from hreach.statistics.resampling import BLOCK, RESAMPLES
from hreach.statistics.scores import Array, confidence, strata_of

SEED = 1  # of the signs: the verdict on the same runs is the same


@dataclass(frozen=True)
class Comparison:
    """Two rows: the mean of first - second with its interval, its p-value, and the one that counts all comparisons."""

    first: str
    second: str
    difference: Estimate
    p: float
    adjusted: float


def paired_comparisons(rows: Mapping[str, Sequence[float] | Array], level: float = 0.95) -> list[Comparison]:
    """Every pair of rows (runs,), run i of one against run i of the other, as both have the same seed.

    The p-value is that of flipping the signs of the differences d_i at random: (1 + #{|mean of flipped| >= |mean d|}) /
    (1 + flips). It is exact, for any number of runs, where no difference between the rows makes d and -d equally likely
    (Fisher 1935; Phipson & Smyth 2010), and right for many runs wherever the means are equal, since all flips have the
    same sum of squares. `adjusted` is Holm's: with "adjusted <= alpha means different" a false one is among all pairs
    with probability at most alpha. The intervals are those of `mean_interval`, each at this level by itself.
    """
    confidence(level)
    values = {name: strata_of(array("rows", scores), least=2)[0] for name, scores in rows.items()}
    sizes = {len(scores) for scores in values.values()}
    require(len(values) >= 2, "rows", list(values), "at least two rows")
    require(len(sizes) == 1, "rows", {name: len(v) for name, v in values.items()}, "rows of as many runs each")
    pairs = list(combinations(values, 2))
    differences = [values[a] - values[b] for a, b in pairs]
    found = estimates({str(i): d for i, d in enumerate(differences)}, "mean", level)
    p = flip_p_values(np.column_stack(differences), np.random.default_rng(SEED))
    each = zip(pairs, found.values(), p, holm(p), strict=True)
    return [Comparison(*pair, estimate, float(one), float(all_of)) for pair, estimate, one, all_of in each]


def flip_p_values(differences: Array, rng: np.random.Generator) -> Array:
    """The p-value of each column of differences (runs, pairs), under `RESAMPLES` random flips of their signs."""
    runs, pairs = differences.shape
    sums = np.abs(differences.sum(axis=0)) - 1e-12 * np.abs(differences).sum(axis=0)  # equal up to rounding is equal
    reached, step = np.ones(pairs), max(1, BLOCK // runs)
    for begin in range(0, RESAMPLES, step):
        signs = 2.0 * rng.integers(2, size=(min(step, RESAMPLES - begin), runs), dtype=np.int8) - 1
        reached += (np.abs(signs @ differences) >= sums).sum(axis=0)
    return np.asarray(reached / (1 + RESAMPLES))


def holm(p: Sequence[float] | Array) -> Array:
    """Holm's adjusted p-values (Scand. J. Stat. 6, 1979), in the order given.

    With p_(1) <= ... <= p_(m), that of p_(k) is the largest of (m - j + 1) p_(j) over j <= k, at most 1. Whatever the
    tests' dependence, rejecting where it is at most alpha rejects a true hypothesis with probability at most alpha.
    """
    given = array("p", p)
    require(bool(((given >= 0) & (given <= 1)).all()), "p", p, "numbers of at least 0 and at most 1")
    order = np.argsort(given, kind="stable")
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1)), 1)
    return adjusted
