"""Bootstrap samples: runs drawn with replacement, within each stratum."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hreach.statistics.aggregates import Aggregate
from hreach.statistics.scores import Array

RESAMPLES = 10_000
BLOCK = 1 << 17  # weights that are made at a time: they and what is made of them stay in the cache of a core


def bootstrap(runs: int, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The runs of each bootstrap sample, (samples, runs): as many as there are, drawn with replacement."""
    return rng.integers(runs, size=(samples, runs))


def bootstrap_counts(runs: int, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each run is in each sample of `bootstrap`, (samples, runs)."""
    drawn = bootstrap(runs, samples, rng) + runs * np.arange(samples)[:, None]
    return np.bincount(drawn.ravel(), minlength=samples * runs).reshape(samples, runs)


def resampled_means(values: Array, samples: int, rng: np.random.Generator) -> Array:
    """Means (samples, ...) of bootstrap samples of values (strata, runs, ...), drawn within each stratum.

    What stands in the further axes is drawn together: paired numbers stay paired.
    """
    strata, runs = values.shape[:2]
    total = np.zeros((samples, *values.shape[2:]))
    for stratum in values:
        total += np.tensordot(bootstrap_counts(runs, samples, rng) / runs, stratum, axes=1)
    return np.asarray(total / strata)


def resampled_weights(sizes: list[int], samples: int, rng: np.random.Generator) -> Iterator[Array]:
    """Weights of all runs in stratified bootstrap samples, (some samples, runs) at a time; those of a sample sum to 1.

    `sizes` are the numbers of runs in each stratum. Strata have the same weight.
    """
    step = max(1, BLOCK // sum(sizes))
    for begin in range(0, samples, step):
        now = min(step, samples - begin)
        parts = [bootstrap_counts(runs, now, rng) / (len(sizes) * runs) for runs in sizes]
        yield parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def jackknife_weights(sizes: list[int]) -> Array:
    """Weights (runs, runs) of all runs where one after the other is left out; strata are weighted alike."""
    total, begin = sum(sizes), 0
    weights = np.tile(np.concatenate([np.full(runs, 1 / (len(sizes) * runs)) for runs in sizes]), (total, 1))
    for runs in sizes:
        own = slice(begin, begin + runs)
        weights[own, own] = (1 - np.eye(runs)) / (len(sizes) * (runs - 1))
        begin += runs
    return weights


def resampled(aggregate: Aggregate, sizes: list[int], samples: int, rng: np.random.Generator) -> Array:
    """The aggregate of stratified bootstrap samples, (samples, rows); all rows of a sample have the same runs."""
    return np.concatenate([aggregate(weights) for weights in resampled_weights(sizes, samples, rng)])
