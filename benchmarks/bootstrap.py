"""Bootstrap intervals of 1000 runs of 11 algorithms, 10,000 samples: `hreach.statistics` and scipy.stats.bootstrap.

Printed are the seconds, the smallest of several turns taken alternately, and the ratio. scipy draws samples for each
algorithm, in batches that fit into memory; ours draws them once for all, which is the same to each interval.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from hreach.statistics import RESAMPLES, anytime_interval, estimates, separated

RUNS, ALGORITHMS, BATCH, TURNS = 1000, 11, 100, 3
Array = NDArray[np.float64]


def seconds(program: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    program(*arguments)
    return time.perf_counter() - began


def middle_half(values: Array, axis: int) -> Array:
    return np.asarray(stats.trim_mean(values, 0.25, axis=axis))


def scipys(scores: Array, statistic: Callable[..., Array], method: str) -> object:
    rng = np.random.default_rng(0)
    return stats.bootstrap((scores,), statistic, n_resamples=RESAMPLES, batch=BATCH, axis=1, method=method, rng=rng)


def main() -> None:
    """Print one line for each kind of interval."""
    scores = np.random.default_rng(1).normal(size=(ALGORITHMS, RUNS))
    rows = {str(i): row for i, row in enumerate(scores)}
    rivals = (("mean", "percentile", np.mean), ("mean", "bca", np.mean), ("iqm", "percentile", middle_half))
    for statistic, method, rival in rivals:
        ours = theirs = float("inf")
        for _ in range(TURNS):
            ours = min(ours, seconds(estimates, rows, statistic, 0.95, method))
            theirs = min(theirs, seconds(scipys, scores, rival, "BCa" if method == "bca" else method))
        print(f"{statistic}, {method}: {ours:.2f} s, scipy {theirs:.2f} s, {theirs / ours:.1f} times as long")
    for statistic, method in (("mean", "studentised"), ("iqm", "expanded"), ("iqm", "bca")):
        best = min(seconds(estimates, rows, statistic, 0.95, method) for _ in range(TURNS))
        print(f"{statistic}, {method}: {best:.2f} s")
    bounded = {name: np.clip(0.3 + row / 20 + int(name) / 25, 0, 1) for name, row in rows.items()}
    best = min(seconds(anytime_interval, bounded["0"], 0, 1) for _ in range(TURNS))
    print(f"anytime_interval of {RUNS} runs: {1e3 * best:.1f} ms")
    best = min(seconds(separated, bounded, 0, 1) for _ in range(TURNS))
    print(f"separated, {ALGORITHMS} rows, {separated(bounded, 0, 1)}: {1e3 * best:.1f} ms")


if __name__ == "__main__":
    main()
