"""What a figure shows: a line of means over runs, with its band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.floating] | NDArray[np.integer]


MOST_POINTS = 200


@dataclass(frozen=True)
class Band:
    """One line of a figure: mean over runs and the 10-90 % band, at steps (or episodes).

    `median`, and some single `runs`, (runs, steps), are for the page, which can show them instead.
    """

    label: str
    steps: Numbers
    mean: Numbers
    low: Numbers
    high: Numbers
    median: Numbers | None = None
    runs: Numbers | None = None


def drawn_points(band: Band) -> NDArray[np.intp]:
    """Which of a line's points are drawn: all or, of too many to be told apart, some that are evenly spread."""
    return np.unique(np.linspace(0, len(band.steps) - 1, MOST_POINTS).round().astype(np.intp))


def check(bands: Sequence[Band], optimal: float | None) -> None:
    """Refuse what cannot be drawn, naming the line at fault."""
    if not bands:
        raise ValueError("a figure needs at least one line")
    for band in bands:
        columns = [np.asarray(c, dtype=float) for c in (band.steps, band.mean, band.low, band.high)]
        if any(c.ndim != 1 or c.size == 0 or c.shape != columns[0].shape for c in columns):
            raise ValueError(f"{band.label!r}: steps, mean, low and high must be equally long and not empty")
        if not all(np.isfinite(c).all() for c in columns):
            raise ValueError(f"{band.label!r}: every value must be finite")
        if columns[0][0] < 0 or columns[0][-1] <= 0 or (np.diff(columns[0]) <= 0).any():
            raise ValueError(f"{band.label!r}: steps must increase and end above 0")
    if optimal is not None and not np.isfinite(optimal):
        raise ValueError("the optimal policy's value must be finite")
