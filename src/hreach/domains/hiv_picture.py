"""The picture of an HIV patient: six curves day by day, and when each drug was taken. Imports Matplotlib."""

from __future__ import annotations

import itertools
import math

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hreach.domains.hiv_dynamics import STATE_NAMES
from hreach.drawing.canvas import canvas, own_style
from hreach.drawing.palette import COLOURS, GREY, INK, RULE, SHADE

Array = NDArray[np.float64]


@own_style()
def draw(
    days: NDArray[np.int64], amounts: Array, given: NDArray[np.bool_], healthy: Array, episode_days: int
) -> Figure:
    """A figure of the amounts (N, 6), above 0, on `days` (N,), in an episode of `episode_days`.

    given     (D, 2): whether RTI and PI were taken on each day
    healthy   (6,): the healthy steady state, or NaN
    """
    figure = canvas(8.4, 5.6)
    curves = figure.add_axes((0.085, 0.27, 0.84, 0.63))
    bands = figure.add_axes((0.085, 0.1, 0.84, 0.115), sharex=curves)
    low = min(1e-2, 10 ** math.floor(math.log10(amounts.min())))
    high = max(1e7, 10 ** math.ceil(math.log10(amounts.max())))
    heights = _apart(np.log10(healthy), 0.045 * math.log10(high / low))
    for j, (name, colour) in enumerate(zip(STATE_NAMES, COLOURS, strict=True)):
        curves.axhline(healthy[j], color=colour, lw=1.2, ls=(0, (1, 2.2)), zorder=1)
        curves.plot(days, amounts[:, j], color=colour, lw=1.8, zorder=3, label=name)
        curves.plot(days[-1], amounts[-1, j], "o", color=colour, ms=4.5, zorder=4)
        if math.isfinite(healthy[j]):
            at = (1.008, 10 ** heights[j])
            curves.annotate(name, at, xycoords=("axes fraction", "data"), color=colour, va="center")
    curves.set(yscale="log", ylim=(low, high), xlim=(0, episode_days), ylabel="cells or copies per ml")
    curves.grid(axis="y", color=RULE, lw=0.6)
    curves.tick_params(labelbottom=False)
    curves.legend(
        loc="lower left", bbox_to_anchor=(0, 1.0), ncols=6, frameon=False, columnspacing=1.4, handlelength=1.3
    )
    words = f"day {len(given)}"
    curves.text(1, 1.03, words, transform=curves.transAxes, ha="right", color=INK, fontsize=11)
    for row in (0, 1):  # PI beneath RTI
        bands.axhspan(row + 0.12, row + 0.88, color=SHADE, lw=0)
        bands.broken_barh(_runs(given[:, 1 - row]), (row + 0.12, 0.76), color=INK if row else GREY, lw=0)
    bands.set(ylim=(0, 2), yticks=[0.5, 1.5], yticklabels=["PI", "RTI"], xlabel="days (dotted: healthy steady state)")
    bands.tick_params(axis="y", length=0)
    for axes in (curves, bands):
        axes.spines[["top", "right"]].set_visible(False)
    bands.spines["left"].set_visible(False)
    return figure


def _apart(heights: Array, gap: float) -> Array:
    """`heights`, moved up where two would be closer than `gap`."""
    placed = heights.copy()
    order = np.argsort(heights)
    for below, above in itertools.pairwise(order):
        placed[above] = max(placed[above], placed[below] + gap)
    return placed


def _runs(taken: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """(first day, number of days) of each uninterrupted course of a drug."""
    change = np.flatnonzero(np.diff(np.concatenate([[False], taken, [False]]).astype(np.int8)))
    return [(float(a), float(b - a)) for a, b in zip(change[::2], change[1::2], strict=True)]
