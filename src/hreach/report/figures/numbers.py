"""A figure as numbers: what the script of the page draws anew when lines are hidden, zoomed or seen another way.

Text and numbers in one JSON object. A column of numbers on a linear scale is written as whole multiples of a unit, a
thousandth of the range or less, the first one and then the differences: most are one digit. On a logarithmic scale
numbers have four digits each, whatever their size.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import numpy as np
from matplotlib.markers import MarkerStyle
from numpy.typing import NDArray

from hreach.report.figures.band import Band, Numbers, drawn_points
from hreach.report.figures.pens import DASH_PATTERNS, LINE_WIDTH, Pen, shaded

Scale = Literal["linear", "log", "symlog"]
Range = tuple[float, float]
Floats = NDArray[np.float64]
FINEST = 1e-12


@dataclass(frozen=True)
class Panel:
    """Lines on one pair of axes, each with its pen, and horizontal lines at these levels."""

    lines: Sequence[tuple[Band, Pen]]
    levels: Mapping[str, float] = field(default_factory=dict)
    title: str = ""


@dataclass(frozen=True)
class Chart:
    """A figure, panels side by side on one scale.

    key          how a line and its band are read
    words        what the middle and the ends of a line's band are
    x_range, y_range   as they are seen first; `runs_range` is y_range where single runs are seen
    log_x        whether a logarithmic x axis makes sense
    shade_from   from here on up nothing is said
    rank         what orders the names of the lines: where they end, or the area below them
    fade         the bands of n lines have the opacity .25 / n^fade
    x_names      what stands at x = 0, 1, ..., if not the numbers
    """

    title: str
    x: str
    y: str
    key: str
    words: tuple[str, str, str]
    panels: Sequence[Panel]
    x_range: Range
    y_range: Range
    runs_range: Range | None = None
    scale: Scale = "linear"
    log_x: bool = True
    shade_from: float | None = None
    rank: Literal["end", "area"] = "end"
    fade: float = 0.5
    x_names: Sequence[str] = ()


def as_json(chart: Chart) -> str:
    """The chart for the page."""
    unit, x_unit = None if chart.scale != "linear" else _unit(chart.y_range), _x_unit(chart.panels)
    about = {
        "title": chart.title,
        "x": chart.x,
        "y": chart.y,
        "key": chart.key,
        "words": chart.words,
        "xRange": chart.x_range,
        "yRange": chart.y_range,
        "runsRange": chart.runs_range,
        "scale": chart.scale,
        "logX": chart.log_x,
        "shadeFrom": chart.shade_from,
        "rank": chart.rank,
        "fade": chart.fade,
        "xNames": list(chart.x_names) or None,
        "unit": unit,
        "xUnit": x_unit,
    }
    panels = [
        {
            "title": panel.title,
            "levels": [{"label": label, "y": _short(y)} for label, y in panel.levels.items()],
            "lines": [
                _line(band, pen, unit, x_unit) | {"label": label, "runColour": colour}
                for (band, pen), label, colour in zip(panel.lines, _labels(panel), _run_colours(panel), strict=True)
            ],
        }
        for panel in chart.panels
    ]
    return harmless(json.dumps({**about, "panels": panels}, allow_nan=False, separators=(",", ":")))


def harmless(text: str) -> str:
    """JSON that means the same, without the letters that could end the element it stands in."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _line(band: Band, pen: Pen, unit: float | None, x_unit: float) -> dict[str, Any]:
    """One line; single runs with a tenth of the precision."""
    kept, coarse = drawn_points(band), None if unit is None else 10 * unit
    line: dict[str, Any] = {
        "colour": pen.colour,
        "dashes": [LINE_WIDTH * part for part in _pattern(pen)],
        "marker": _outline(pen.marker),
        "at": packed(_column(band.steps, kept), x_unit),
        "middle": packed(_column(band.mean, kept), unit),
        "low": packed(_column(band.low, kept), unit),
        "high": packed(_column(band.high, kept), unit),
    }
    if band.median is not None:
        line["median"] = packed(_column(band.median, kept), unit)
    if band.runs is not None:
        line["runs"] = [packed(_column(run, kept), coarse) for run in band.runs]
    return line


def _column(values: Numbers, kept: NDArray[np.intp]) -> Floats:
    return np.asarray(values, dtype=np.float64)[kept]


def _labels(panel: Panel) -> list[str]:
    """Labels that differ, since a click on one hides its line: the second "A" is "A (2)"."""
    labels = [band.label for band, _ in panel.lines]
    before = [labels[:i].count(label) for i, label in enumerate(labels)]
    return [f"{label} ({count + 1})" if count else label for label, count in zip(labels, before, strict=True)]


def _run_colours(panel: Panel) -> list[str]:
    """Colours that differ, from light to dark in a family: single runs are too thin for dashes."""
    labels, pens = [band.label for band, _ in panel.lines], [pen for _, pen in panel.lines]
    differ = len({pen.colour for pen in pens}) == len(pens)
    return [pen.colour for pen in (pens if differ else shaded(labels, pens))]


def packed(values: Floats, unit: float | None) -> list[int] | list[float]:
    """Whole multiples of the unit: the first one, then the differences; without a unit, four digits of each."""
    if unit is None:
        return [_short(value) for value in values.tolist()]
    whole = np.rint(values / unit).astype(np.int64)
    return [int(n) for n in np.diff(whole, prepend=0)]


def _unit(y_range: Range) -> float:
    """A power of ten, at most a thousandth of the range."""
    return max(FINEST, 10.0 ** (math.floor(math.log10(y_range[1] - y_range[0])) - 3))


def _x_unit(panels: Sequence[Panel]) -> float:
    """1 for steps and episodes, less for thresholds."""
    steps = np.concatenate([np.asarray(band.steps, dtype=np.float64) for panel in panels for band, _ in panel.lines])
    return 1.0 if (steps == np.rint(steps)).all() else _unit((float(steps.min()), float(steps.max())))


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _pattern(pen: Pen) -> Sequence[float]:
    return DASH_PATTERNS[pen.dashes] if isinstance(pen.dashes, str) else pen.dashes[1]


@cache
def _outline(marker: str) -> str:
    """The marker as an SVG path, as wide as 2."""
    if not marker:
        return ""
    style = MarkerStyle(marker)
    polygons = style.get_path().transformed(style.get_transform()).to_polygons()
    corners = ["L".join(f"{2 * x:.2g} {-2 * y:.2g}" for x, y in np.asarray(p)[:-1]) for p in polygons]
    return "".join(f"M{corner}z" for corner in corners)
