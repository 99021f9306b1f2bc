"""Performance profiles: for each number, the share of runs that earned more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hreach.drawing.canvas import own_style
from hreach.drawing.palette import INK
from hreach.report.figures.band import Band
from hreach.report.figures.curves import draw_line
from hreach.report.figures.frame import LEFT, LONGEST_LABEL, PaperNumbers, clean, frame, sheet
from hreach.report.figures.labels import End, label_ends
from hreach.report.figures.pens import pens_of
from hreach.statistics import Array, performance_profile

THRESHOLDS = 120
LEVEL = 0.95
SHARES = (-0.02, 1.02)
FADE = 0.75  # bands of few runs lie on each other from end to end: each must be paler than those of other figures
SHARE = "share of runs above"
PROFILE_KEY = f"line: share of runs that earned more   band: {100 * LEVEL:.0f} %, for the whole line at once"


def profile_bands(scores: Sequence[tuple[str, Array]]) -> list[Band]:
    """Of each (label, scores of its runs) the profile, at thresholds from the lowest to the highest score of all."""
    low, high = (float(f([f(values) for _, values in scores])) for f in (np.min, np.max))
    margin = 0.02 * (high - low) or 0.02 * abs(high) or 0.02
    at = np.linspace(low - margin, high + margin, THRESHOLDS)
    profiles = [(label, performance_profile(values, at, LEVEL)) for label, values in scores]
    return [Band(label, at, p.share, p.low, p.high) for label, p in profiles]


def profiles_figure(bands: Sequence[Band], *, title: str, xlabel: str) -> Figure:
    """Show which share of the runs of each algorithm earned more than x, with the bands of `profile_bands`.

    A line that is farther right is better. All end at 0, so the names stand in the order of the areas below the lines.
    """
    pens = pens_of([band.label for band in bands])
    with own_style():
        drawn = sheet(title, len(bands))
        axes = drawn.panel()
        frame(axes, xlabel, bands, SHARES)
        axes.set_xlim(float(bands[0].steps[0]), float(bands[0].steps[-1]))
        axes.xaxis.set_major_locator(MaxNLocator(6))
        axes.xaxis.set_major_formatter(PaperNumbers(useOffset=False))
        axes.set_ylabel(SHARE, color=INK, fontsize=9.5)
        drawn.head(PROFILE_KEY)
        for index, (band, pen) in enumerate(zip(bands, pens, strict=True)):
            draw_line(axes, band, pen, 0.618 * index % 1, alpha=0.25 / len(bands) ** FADE)
        order = np.argsort([float(band.mean.sum()) for band in bands], kind="stable")
        heights = dict(zip(order.tolist(), np.linspace(0.1, 0.9, len(bands)), strict=True))
        ends = [
            End(clean(band.label, LONGEST_LABEL), None, float(heights[i]), pen)
            for i, (band, pen) in enumerate(zip(bands, pens, strict=True))
        ]
        label_ends([axes], ends, drawn.body, LEFT)
    medians = ", ".join(f"{clean(band.label, LONGEST_LABEL)} {_half(band):.3g}" for band in bands)
    drawn.figure.set_label(f"{drawn.title}. Half of the runs earned more than: {medians}.")
    return drawn.figure


def _half(band: Band) -> float:
    """The first threshold that at most half of the runs are above."""
    return float(np.asarray(band.steps)[np.argmax(np.asarray(band.mean) <= 0.5)])
