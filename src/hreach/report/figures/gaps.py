"""Gaps in value, promised and true: panels side by side on one logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hreach.drawing.canvas import own_style
from hreach.drawing.palette import INK, SHADE
from hreach.report.figures.band import Band, check
from hreach.report.figures.curves import LONGEST_SPOKEN, lines_of, spoken_ends
from hreach.report.figures.frame import LEFT, LONGEST_LABEL, clean, frame, sheet
from hreach.report.figures.labels import End, label_ends
from hreach.report.figures.numbers import Chart, Panel, Range
from hreach.report.figures.pens import Pen

GAP = "gap in value"
TICKS = 7  # names below a panel at most


@dataclass(frozen=True)
class Gaps:
    """A figure of gaps; a label has the same pen in every panel.

    x         what the gaps are over; `x_names` are the names of x = 0, 1, ..., if these are no numbers
    floor     gaps below, or none, are drawn here
    largest   from here on up a bound says nothing
    levels    further horizontal lines, by label
    key       how a line and its band are read
    """

    title: str
    x: str
    panels: Mapping[str, Sequence[Band]]
    pens: Mapping[str, Pen]
    floor: float
    largest: float
    key: str
    levels: Mapping[str, float] = field(default_factory=dict)
    x_names: Sequence[str] = ()

    @property
    def lines(self) -> dict[str, list[Band]]:
        """The bands of the panels as they are drawn: no lower than the floor."""
        return {title: [_raised(band, self.floor) for band in bands] for title, bands in self.panels.items()}

    @property
    def bands(self) -> list[Band]:
        """Those of all panels."""
        return [band for bands in self.panels.values() for band in bands]

    @property
    def all_levels(self) -> dict[str, float]:
        """The levels, and where nothing is said any more."""
        return {**self.levels, f"from {self.largest:.3g} on: no promise": self.largest}

    @property
    def y_range(self) -> Range:
        """From the floor to the largest of all gaps."""
        return self.floor / 1.25, 1.5 * max(self.largest, *(float(np.max(band.high)) for band in self.bands))


def gaps_figure(gaps: Gaps) -> Figure:
    """Draw the gaps; the names of the lines stand once, at the right end of the last panel."""
    check(gaps.bands, gaps.largest)
    labels = list(dict.fromkeys(band.label for band in gaps.bands))
    with own_style():
        drawn = sheet(gaps.title, len(labels) + len(gaps.all_levels), panel_titles=True)
        all_axes: list[Axes] = []
        ends: dict[str, End] = {}
        for title, bands in gaps.lines.items():
            axes = _panel(drawn.panel(f"panel {len(all_axes)}"), gaps, title, bands)
            found = lines_of(axes, bands, gaps.all_levels, [gaps.pens[band.label] for band in bands])
            ends = {label: replace(end, x=None) for label, end in ends.items()} | {end.label: end for end in found}
            axes.tick_params(labelleft=not all_axes)
            all_axes.append(axes)
        all_axes[0].set_ylabel(GAP, color=INK, fontsize=9.5)
        drawn.head(f"{gaps.key}   below {gaps.floor:.2g}, or none: drawn at {gaps.floor:.2g}")
        label_ends(all_axes, list(ends.values()), drawn.body, LEFT)
    parts = [f"{title}: {spoken_ends(bands, {})}" for title, bands in gaps.panels.items()]
    drawn.figure.set_label(clean(f"{drawn.title}. Gaps at the right end: {'; '.join(parts)}.", LONGEST_SPOKEN))
    return drawn.figure


def gaps_chart(gaps: Gaps) -> Chart:
    """`gaps_figure` for the page."""
    return Chart(
        gaps.title,
        gaps.x,
        GAP,
        gaps.key,
        ("median", "least", "most"),
        [
            Panel([(band, gaps.pens[band.label]) for band in bands], gaps.all_levels, title)
            for title, bands in gaps.lines.items()
        ],
        (0.0, _last(gaps.bands)),
        gaps.y_range,
        scale="log",
        log_x=not gaps.x_names,
        shade_from=gaps.largest,
        x_names=gaps.x_names,
    )


def _panel(axes: Axes, gaps: Gaps, title: str, bands: Sequence[Band]) -> Axes:
    """Axes, the part where nothing is said shaded."""
    frame(axes, gaps.x, bands, gaps.y_range, log=True)
    axes.set_xlim(0, _last(gaps.bands))
    axes.minorticks_off()  # some fifty for each panel: they are a third of the file
    axes.axhspan(gaps.largest, gaps.y_range[1], color=SHADE, linewidth=0, zorder=0)
    axes.set_title(clean(title, LONGEST_LABEL), loc="left", fontsize=9.5, color=INK, parse_math=False)
    if gaps.x_names:
        shown = range(0, len(gaps.x_names), -(-len(gaps.x_names) // TICKS))
        axes.set_xticks(shown, [gaps.x_names[i] for i in shown])
    elif len(gaps.panels) > 2:
        axes.locator_params(axis="x", nbins=3)
    return axes


def _last(bands: Sequence[Band]) -> float:
    return max(float(band.steps[-1]) for band in bands)


def _raised(band: Band, floor: float) -> Band:
    """The band with what is below the floor on it."""
    mean, low, high = (np.maximum(column, floor) for column in (band.mean, band.low, band.high))
    return replace(band, mean=mean, low=low, high=high)
