"""How sure the numbers of a table are: intervals of means, and how often a run beats one of the best row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hreach.statistics import Array, Estimate, estimates, probability_of_improvement

LEVEL = 0.95
KIND = "studentised bootstrap"  # what `estimates` uses for means
FEWEST_RUNS = 2


@dataclass(frozen=True)
class Estimates:
    """Of one row, None where there are too few runs.

    mean_low, mean_high      95 % interval of the mean
    iqm, iqm_low, iqm_high   the interquartile mean with its 95 % interval
    better, ...              probability that a run of this row earns more than one of the row with the highest mean of
                             its variant, ties by half, with its 95 % interval; None for that row itself
    """

    mean_low: float | None = None
    mean_high: float | None = None
    iqm: float | None = None
    iqm_low: float | None = None
    iqm_high: float | None = None
    better: float | None = None
    better_low: float | None = None
    better_high: float | None = None


NOTHING = Estimates()


def estimates_of(scores: Sequence[Array], variants: Sequence[str]) -> list[Estimates]:
    """For each row's scores, (runs,), its estimates; rows are compared within their variant."""
    enough = {str(i): values for i, values in enumerate(scores) if len(values) >= FEWEST_RUNS}
    means = estimates(enough, "mean", LEVEL)
    middles = estimates(enough, "iqm", LEVEL, "expanded")
    best = {variant: _best(scores, variants, variant) for variant in variants}
    found = []
    for i, variant in enumerate(variants):
        if str(i) not in enough:
            found.append(NOTHING)
            continue
        rival = scores[best[variant]] if best[variant] != i else None
        found.append(_estimates(means[str(i)], middles[str(i)], _better(scores[i], rival)))
    return found


def _best(scores: Sequence[Array], variants: Sequence[str], variant: str) -> int:
    """The row of this variant with the highest mean."""
    return max((i for i, v in enumerate(variants) if v == variant), key=lambda i: float(scores[i].mean()))


def _better(ours: Array, best: Array | None) -> Estimate | None:
    if best is None or len(best) < FEWEST_RUNS:
        return None
    return probability_of_improvement(ours, best, LEVEL)


def _estimates(mean: Estimate, middle: Estimate, better: Estimate | None) -> Estimates:
    ends = (None, None, None) if better is None else (better.value, better.low, better.high)
    return Estimates(mean.low, mean.high, middle.value, middle.low, middle.high, *ends)
