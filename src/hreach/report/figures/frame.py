"""The sheet that a figure is drawn on: title, axes that stay in the background, room for the names of the lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from hreach.drawing.canvas import canvas
from hreach.drawing.palette import INK, RULE, SOFT
from hreach.report.figures.band import Band

POINTS_PER_INCH = 72
WIDTH = 8.0 * POINTS_PER_INCH
LEFT, WIDE_LEFT, BOTTOM = 52.0, 60.0, 42.0  # totals need more digits than averages
BODY, LABEL_PITCH = 270.0, 12.2
LONGEST_LABEL, LONGEST_TITLE, LONGEST_TITLE_LINE = 34, 300, 72


@dataclass(frozen=True)
class Sheet:
    """A figure with its title; `body` and `height`, of the axes and of the whole, in points."""

    figure: Figure
    title: str
    heading: Sequence[str]
    body: float
    height: float

    def panel(self, label: str = "") -> Axes:
        """Axes as high as the body; their width is set when the names of the lines are."""
        place = (LEFT / WIDTH, BOTTOM / self.height, 0.5, self.body / self.height)
        return self.figure.add_axes(place, label=label)

    def head(self, key: str) -> None:
        """Write the title and, below it, how to read a line and its band."""
        top, below = self.height - 8, self.height - 9 - 15 * len(self.heading)
        words = "\n".join(self.heading)
        title = self.figure.text(10 / WIDTH, top / self.height, words, fontsize=11, weight="bold", color=INK)
        reading = self.figure.text(10 / WIDTH, below / self.height, key, fontsize=8.5, color=SOFT)
        for text in (title, reading):
            text.set(va="top", parse_math=False, linespacing=1.35)


def sheet(title: str, names: int, *, panel_titles: bool = False) -> Sheet:
    """An empty sheet, high enough for so many names of lines."""
    title = clean(title, LONGEST_TITLE)
    heading = textwrap.wrap(title, LONGEST_TITLE_LINE) or [""]
    body = max(BODY, LABEL_PITCH * (names + 1))
    height = BOTTOM + body + 26.0 + 15.0 * len(heading) + 18.0 * panel_titles
    figure = canvas(WIDTH / POINTS_PER_INCH, height / POINTS_PER_INCH)
    return Sheet(figure, title, heading, body, height)


def clean(text: str, longest: int) -> str:
    """Put text on one line, without control characters, and cut what would leave no room for the lines."""
    text = "".join(c for c in " ".join(text.split()) if c.isprintable())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def y_range_of(
    bands: Sequence[Band], references: Mapping[str, float], *, after: float = 0.0, log: bool = False
) -> tuple[float, float]:
    """Fit the references and the bands, but not their beginning: the share `after` of the steps."""
    last = max(float(band.steps[-1]) for band in bands)
    values = list(references.values())
    for band in bands:
        shown = np.asarray(band.steps) >= after * last
        shown[-1] = True
        for column in (band.mean, band.low, band.high):
            values += np.asarray(column, dtype=float)[shown].tolist()
    low, high = min(values), max(values)
    if log and low > 0:
        factor = (high / low) ** 0.05 if high > low else 1.5
        return low / factor, high * factor
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 0.05
    return low - margin, high + margin


class PaperNumbers(ScalarFormatter):
    """Numbers without the zero before the point, as the paper prints them."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """.15 for 0.15."""
        return re.sub(r"^([-−]?)0\.", r"\1.", super().__call__(x, pos))


def frame(axes: Axes, xlabel: str, bands: Sequence[Band], y_range: tuple[float, float], log: bool = False) -> None:
    """Draw axes that stay in the background: no box, faint horizontal rules."""
    if log:
        _logarithmic(axes, y_range)
    else:
        axes.yaxis.set_major_formatter(PaperNumbers(useOffset=False))
    axes.set_xlim(0, max(float(band.steps[-1]) for band in bands))
    axes.set_ylim(*y_range)
    axes.set_xlabel(xlabel, color=INK, fontsize=9.5)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.tick_params(which="both", colors=INK, labelsize=9, width=0.7, length=3)
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _logarithmic(axes: Axes, y_range: tuple[float, float]) -> None:
    """A logarithmic axis; linear around 0, up to a thousandth of what is largest, where some totals are not above 0."""
    if y_range[0] > 0:
        axes.set_yscale("log")
    else:
        axes.set_yscale("symlog", linthresh=max(abs(y) for y in y_range) / 1000)
