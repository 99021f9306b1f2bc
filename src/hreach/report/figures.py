"""Reward over time, drawn for print, for colour-blind eyes and for a page that works offline."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, ScalarFormatter
from numpy.typing import NDArray

from hreach.report.page import write_bytes

Numbers = NDArray[np.number[Any]]

# Okabe and Ito's colours, one for each family of the paper, so that a family looks the same in every figure.
FAMILY_COLOURS = {"PAC-RMDP": "#0072B2", "MBIE": "#D55E00", "VBE": "#009E73"}
FAMILY_COLOURS |= {"BEB": "#CC79A7", "BOLT": "#E69F00", "PAC-MDP": "#D55E00", "epsilon-greedy": "#000000"}
# The two that the paper does not have, in a colour of their own: the eye must not count them to the paper's.
FAMILY_COLOURS |= dict.fromkeys(("PAC-RMDP(growing)", "PAC-RMDP(adaptive)"), "#882255")
# The rest of Okabe and Ito (without the yellow, which is lost on white), then Tol's muted colours.
FURTHER_COLOURS = ("#56B4E9", "#000000", "#999933", "#332288", "#44AA99")
DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (11, 2.5)))
MARKERS = "osD^vPX<>*phd8"
INK, GREY = "#222222", "#767676"

POINTS_PER_INCH = 72
WIDTH = 8.0 * POINTS_PER_INCH
LEFT, WIDE_LEFT, BOTTOM = 52.0, 60.0, 42.0  # totals need more digits than averages
LABEL_SIZE, LABEL_PITCH = 9.0, 12.2
# The label column, in points right of the axes: leader line, then a sample of the line, then the name.
LEADER_END, SAMPLE_END, NAME_START = 20.0, 44.0, 48.0
LONGEST_LABEL, LONGEST_TITLE, LONGEST_TITLE_LINE = 34, 300, 72
MOST_POINTS, PNG_DPI = 200, 150
GAP = 22.0  # between panels
NAME = "name of a line"  # what marks such a text; it is not shown
KEY = "line: mean over runs   band: 10 % to 90 % of runs"


@dataclass(frozen=True)
class Band:
    """One line of a figure: mean over runs and the 10-90 % band, at steps (or episodes)."""

    label: str
    steps: Numbers
    mean: Numbers
    low: Numbers
    high: Numbers


@dataclass(frozen=True)
class _Pen:
    """How one line is drawn: the colour tells the family, dashes and marker tell the member."""

    colour: str
    dashes: Any
    marker: str


@dataclass(frozen=True)
class _End:
    """Where a line stops (x as a fraction of the axes, y in data units) and what is written there.

    x is None for a line of another panel: it gets a name but no leader.
    """

    label: str
    x: float | None
    y: float
    pen: _Pen


def average_reward_figure(bands: Sequence[Band], *, title: str, optimal: float | None, key: str = KEY) -> Figure:
    """Show how fast each algorithm learns: average reward so far against the step, named at the line's end.

    The name stands at the end of the line because a legend of a dozen entries makes the reader search.
    """
    _check(bands, optimal)
    title = _clean(title, LONGEST_TITLE)
    heading = textwrap.wrap(title, LONGEST_TITLE_LINE) or [""]
    top = 26.0 + 15.0 * len(heading)
    body = max(270.0, LABEL_PITCH * (len(bands) + 1))
    height = BOTTOM + body + top
    with _style():
        figure = Figure(figsize=(WIDTH / POINTS_PER_INCH, height / POINTS_PER_INCH), facecolor="white")
        FigureCanvasAgg(figure)
        axes = figure.add_axes((LEFT / WIDTH, BOTTOM / height, 0.5, body / height))
        references = {} if optimal is None else {"optimal policy": optimal}
        # Not the first 3 % of the steps, where an average of few rewards swings wildly.
        _frame(axes, "step", bands, _y_range(bands, references, after=0.03))
        axes.set_ylabel("average reward per step so far", color=INK, fontsize=9.5)
        _head(figure, heading, key, height)
        _label_ends([axes], _lines(axes, bands, references, _pens([b.label for b in bands])), body, LEFT)
        spoken = "Average reward per step at the last step"
        figure.set_label(f"{title}. {spoken}: {_spoken(bands, references)}.")
    return figure


def episodes_figure(
    panels: Mapping[str, Sequence[Band]],
    references: Mapping[str, Mapping[str, float]],
    *,
    title: str,
    log: bool = False,
) -> Figure:
    """Show the total reward of each episode, one panel for each variant, side by side on one scale.

    `references` are horizontal lines of a panel, by label. A label has the same pen in every panel; the names stand
    once, at the right end of the last panel.
    """
    for bands in panels.values():
        _check(bands, None)
    shown = [band for bands in panels.values() for band in bands]
    levels = {label: y for lines in references.values() for label, y in lines.items()}
    labels = list(dict.fromkeys(band.label for band in shown))
    pens = dict(zip(labels, _shaded(labels, _pens(labels)), strict=True))
    title = _clean(title, LONGEST_TITLE)
    heading = textwrap.wrap(title, LONGEST_TITLE_LINE) or [""]
    top = 26.0 + 15.0 * len(heading) + 18.0 * any(panels)
    body = max(270.0, LABEL_PITCH * (len(labels) + len(levels) + 1))
    height = BOTTOM + body + top
    with _style():
        figure = Figure(figsize=(WIDTH / POINTS_PER_INCH, height / POINTS_PER_INCH), facecolor="white")
        FigureCanvasAgg(figure)
        drawn: list[Axes] = []
        ends: dict[str, _End] = {}
        for variant, bands in panels.items():
            axes = figure.add_axes((LEFT / WIDTH, BOTTOM / height, 0.5, body / height), label=f"panel {len(drawn)}")
            _frame(axes, "episode", bands, _y_range(shown, levels, log=log), log)
            axes.set_title(_clean(variant, LONGEST_LABEL), loc="left", fontsize=9.5, color=INK, parse_math=False)
            ends = {label: replace(end, x=None) for label, end in ends.items()}
            found = _lines(axes, bands, references.get(variant, {}), [pens[b.label] for b in bands])
            ends |= {end.label: end for end in found}
            axes.tick_params(labelleft=not drawn)
            drawn.append(axes)
        drawn[0].set_ylabel("total reward of an episode", color=INK, fontsize=9.5)
        _head(figure, heading, KEY, height)
        _label_ends(drawn, list(ends.values()), body, WIDE_LEFT)
        parts = [f"{v}: {_spoken(bands, references.get(v, {}))}".removeprefix(": ") for v, bands in panels.items()]
        figure.set_label(_clean(f"{title}. Mean total reward of the last episode: {'; '.join(parts)}.", 10_000))
    return figure


def promises_figure(
    bands: Sequence[Band], bound: tuple[str, Numbers, Numbers] | None, *, title: str, eps: float, largest: float
) -> Figure:
    """Show measured errors on a logarithmic axis, with (label, steps, values) of a bound as a dashed line.

    From `largest` on, the shaded part, a bound says nothing. Errors below a hundredth of eps, such as those of an agent
    that does better than the reachable optimum, are drawn there.
    """
    _check(bands, largest)
    floor, labels = eps / 100, [band.label for band in bands]
    raised = [
        replace(b, mean=_above(b.mean, floor), low=_above(b.low, floor), high=_above(b.high, floor)) for b in bands
    ]
    heading = textwrap.wrap(_clean(title, LONGEST_TITLE), LONGEST_TITLE_LINE) or [""]
    top, body = 26.0 + 15.0 * len(heading), 270.0
    height = BOTTOM + body + top
    highest = 1.5 * max(
        largest, *(float(np.max(b.high)) for b in raised), 0 if bound is None else float(bound[2].max())
    )
    with _style():
        figure = Figure(figsize=(WIDTH / POINTS_PER_INCH, height / POINTS_PER_INCH), facecolor="white")
        FigureCanvasAgg(figure)
        axes = figure.add_axes((LEFT / WIDTH, BOTTOM / height, 0.5, body / height))
        _frame(axes, "step", raised, (floor / 1.25, highest), log=True)
        axes.axhspan(largest, highest, color="#f1f1f1", linewidth=0, zorder=0)
        axes.set_ylabel("error in value", color=INK, fontsize=9.5)
        _head(figure, heading, f"errors below {floor:.2g}, or none, are drawn at {floor:.2g}", height)
        references = {f"ε = {eps:.3g}": eps, f"from {largest:.3g} on: no promise": largest}
        ends = _lines(axes, raised, references, _shaded(labels, _pens(labels)))
        _label_ends([axes], [*ends, *_bound_line(axes, bound)], body, LEFT)
        figure.set_label(_clean(f"{title}. Error at the last step: {_spoken(bands, references)}.", 10_000))
    return figure


def _above(values: Numbers, floor: float) -> Numbers:
    return np.maximum(values, floor)


def _bound_line(axes: Axes, bound: tuple[str, Numbers, Numbers] | None) -> list[_End]:
    """Draw a bound, and say where it ends."""
    if bound is None:
        return []
    label, steps, values = bound
    pen = _Pen(INK, (0, (5, 2.5)), "")
    axes.plot(steps, values, zorder=2.5, **_ink(pen))
    return [_End(_clean(label, LONGEST_LABEL), float(steps[-1]) / axes.get_xlim()[1], float(values[-1]), pen)]


def save(figure: Figure, folder: Path, name: str) -> str:
    """Write name.svg and name.png; return the SVG element, ready to be put into a page beside others.

    Every id carries the name, because two figures in one page would otherwise draw with each other's shapes.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise ValueError(f"a figure's name may hold letters, digits, '-' and '_' only, not {name!r}")
    png, raw = io.BytesIO(), io.BytesIO()
    with _style(salt=name):
        figure.savefig(png, format="png", dpi=PNG_DPI, metadata={"Software": None})
        figure.savefig(raw, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    svg = _inlinable(raw.getvalue().decode("utf-8"), f"fig-{name}", str(figure.get_label()), _names(figure))
    folder.mkdir(parents=True, exist_ok=True)
    write_bytes(folder / f"{name}.svg", ('<?xml version="1.0" encoding="utf-8"?>\n' + svg).encode("utf-8"))
    write_bytes(folder / f"{name}.png", png.getvalue())
    return svg


@contextmanager
def _style(salt: str = "hreach") -> Iterator[None]:
    """Draw with matplotlib's own defaults, whatever the user's matplotlibrc says, and leave no trace."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        # Letters as paths: the page must look the same on a machine without the fonts.
        matplotlib.rcParams.update({"svg.hashsalt": salt, "svg.fonttype": "path", "axes.linewidth": 0.7})
        yield


def _check(bands: Sequence[Band], optimal: float | None) -> None:
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


def _clean(text: str, longest: int) -> str:
    """Put text on one line, without control characters, and cut what would leave no room for the lines."""
    text = "".join(c for c in " ".join(text.split()) if c.isprintable())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _family(label: str) -> str:
    """What has one colour: the text before the bracket, or the whole label where it has a colour of its own."""
    return label if label in FAMILY_COLOURS else label.partition("(")[0].strip()


def _pens(labels: Sequence[str]) -> list[_Pen]:
    """Choose one colour per family and, within a colour, different dashes."""
    further, colours = cycle(FURTHER_COLOURS), dict(FAMILY_COLOURS)
    dashes = {colour: cycle(DASHES) for colour in (*FAMILY_COLOURS.values(), *FURTHER_COLOURS)}
    pens = []
    for label, marker in zip(labels, cycle(MARKERS), strict=False):
        family = _family(label)
        if family not in colours:
            colours[family] = next(further)
        pens.append(_Pen(colours[family], next(dashes[colours[family]]), marker))
    return pens


def _shaded(labels: Sequence[str], pens: Sequence[_Pen]) -> list[_Pen]:
    """The same pens, the members of a family from light to dark: dashes are lost on a line that jumps up and down."""
    families = [_family(label) for label in labels]
    shaded = []
    for i, (family, pen) in enumerate(zip(families, pens, strict=True)):
        size, place = families.count(family), families[:i].count(family)
        shade = 0.0 if size == 1 else 2 * place / (size - 1) - 1
        shaded.append(replace(pen, colour=_mixed(pen.colour, shade)))
    return shaded


def _mixed(colour: str, shade: float) -> str:
    """A colour nearer to white (shade from -1) or to black (up to 1)."""
    target, weight = (1.0, -0.45 * shade) if shade < 0 else (0.0, 0.6 * shade)
    red, green, blue = (part + (target - part) * weight for part in to_rgb(colour))
    return to_hex((red, green, blue))


def _y_range(
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


class _PaperNumbers(ScalarFormatter):
    """Numbers without the zero before the point, as the paper prints them."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return re.sub(r"^([-−]?)0\.", r"\1.", super().__call__(x, pos))


def _frame(axes: Axes, xlabel: str, bands: Sequence[Band], y_range: tuple[float, float], log: bool = False) -> None:
    """Draw axes that stay in the background: no box, faint horizontal rules."""
    if log:
        _logarithmic(axes, y_range)
    else:
        axes.yaxis.set_major_formatter(_PaperNumbers(useOffset=False))
    axes.set_xlim(0, max(float(band.steps[-1]) for band in bands))
    axes.set_ylim(*y_range)
    axes.set_xlabel(xlabel, color=INK, fontsize=9.5)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.tick_params(which="both", colors=INK, labelsize=9, width=0.7, length=3)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _logarithmic(axes: Axes, y_range: tuple[float, float]) -> None:
    """A logarithmic axis; linear around 0, up to a thousandth of what is largest, where some totals are not above 0."""
    if y_range[0] > 0:
        axes.set_yscale("log")
    else:
        axes.set_yscale("symlog", linthresh=max(abs(y) for y in y_range) / 1000)


def _head(figure: Figure, heading: Sequence[str], key: str, height: float) -> None:
    """Write the title and, below it, how to read a line and its band."""
    style: dict[str, Any] = {"va": "top", "parse_math": False, "linespacing": 1.35}
    x, top, below = 10 / WIDTH, height - 8, height - 9 - 15 * len(heading)
    figure.text(x, top / height, "\n".join(heading), fontsize=11, weight="bold", color=INK, **style)
    figure.text(x, below / height, key, fontsize=8.5, color="#555555", **style)


def _lines(axes: Axes, bands: Sequence[Band], references: Mapping[str, float], pens: Sequence[_Pen]) -> list[_End]:
    """Draw the references and all lines, and say where each one ends."""
    ends = []
    for label, y in references.items():
        pen = _Pen(GREY, (0, (1, 2.5)), "")
        axes.axhline(y, color=GREY, linewidth=1.2, linestyle=pen.dashes, zorder=1.5)
        ends.append(_End(_clean(label, LONGEST_LABEL), 1.0, y, pen))
    last = axes.get_xlim()[1]
    for index, (band, pen) in enumerate(zip(bands, pens, strict=True)):
        # Steps of the golden ratio put the markers of neighbouring lines far apart.
        _line(axes, band, pen, 0.1 + 0.8 * (0.618 * index % 1), alpha=0.25 / len(bands) ** 0.5)
        ends.append(_End(_clean(band.label, LONGEST_LABEL), float(band.steps[-1]) / last, float(band.mean[-1]), pen))
    return ends


def _line(axes: Axes, band: Band, pen: _Pen, phase: float, alpha: float) -> None:
    """Draw one mean and its band; `phase` (0..1) shifts the markers so that lines on top differ."""
    kept = np.unique(np.linspace(0, len(band.steps) - 1, MOST_POINTS).round().astype(int))
    steps, mean, low, high = (np.asarray(c)[kept] for c in (band.steps, band.mean, band.low, band.high))
    axes.fill_between(steps, low, high, color=pen.colour, alpha=alpha, linewidth=0, zorder=2)
    spacing = max(1, len(kept) // 5)
    axes.plot(steps, mean, markevery=(int(phase * spacing), spacing), zorder=3, **_ink(pen))


def _ink(pen: _Pen) -> dict[str, Any]:
    line = {"color": pen.colour, "linestyle": pen.dashes, "linewidth": 1.5}
    return line | {"marker": pen.marker, "markersize": 4.2, "markerfacecolor": "white"}


def _spread(wanted: Sequence[float], pitch: float, low: float, high: float) -> list[float]:
    """Move heights as little as possible (least squares) so that neighbours are `pitch` apart, within bounds.

    Isotonic regression of the heights less their rank times the pitch; clipping that keeps it optimal.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[tuple[float, int]] = []
    for rank, i in enumerate(order):
        total, count = wanted[i] - rank * pitch, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / count:
            before = blocks.pop()
            total, count = total + before[0], count + before[1]
        blocks.append((total, count))
    level = [total / count for total, count in blocks for _ in range(count)]
    highest = max(low, high - (len(wanted) - 1) * pitch)
    placed = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        placed[i] = min(max(level[rank], low), highest) + rank * pitch
    return placed


def _label_ends(panels: Sequence[Axes], ends: Sequence[_End], body: float, left: float) -> None:
    """Name every line at its right end in the last panel, with a leader to it so that crowded names can move apart."""
    axes = panels[-1]
    # A dollar sign in a name is a dollar sign, not mathematics.
    style: dict[str, Any] = {"va": "center_baseline", "parse_math": False, "transform": axes.transAxes}
    names = [axes.text(1, 0, end.label, fontsize=LABEL_SIZE, color=INK, label=NAME, **style) for end in ends]
    # Names are measured first: the panels share the width that the longest one leaves.
    longest = max(name.get_window_extent().width for name in names) / axes.figure.dpi * POINTS_PER_INCH
    width = (WIDTH - left - NAME_START - longest - 8 - GAP * (len(panels) - 1)) / len(panels)
    for i, panel in enumerate(panels):
        box = panel.get_position()
        panel.set_position(((left + i * (width + GAP)) / WIDTH, box.y0, width / WIDTH, box.height))
    up = axes.transData + axes.transAxes.inverted()
    wanted = [float(up.transform((0.0, end.y))[1]) * body for end in ends]
    placed = _spread(wanted, LABEL_PITCH, LABEL_PITCH / 2, body - LABEL_PITCH / 2)
    for end, name, start, y in zip(ends, names, wanted, placed, strict=True):
        name.set_position((1 + NAME_START / width, y / body))
        _leader(axes, end, (start / body, y / body), width)


def _leader(axes: Axes, end: _End, heights: tuple[float, float], width: float) -> None:
    """Lead from the end of a line to its name, past a sample of its dashes and marker."""
    start, y = heights
    begin, stop, pen = 1 + LEADER_END / width, 1 + SAMPLE_END / width, end.pen
    place: dict[str, Any] = {"transform": axes.transAxes, "clip_on": False}
    if end.x is not None:
        x = [end.x, 1 + 3 / width, 1 + (LEADER_END - 4) / width, begin]
        axes.plot(x, [start, start, y, y], color=pen.colour, linewidth=0.6, alpha=0.8, **place)
    sample = [begin, (begin + stop) / 2, stop]
    axes.plot(sample, [y, y, y], markevery=(1, 2), **place, **_ink(pen))


def _spoken(bands: Sequence[Band], references: Mapping[str, float]) -> str:
    """The last values, for readers who hear the page."""
    parts = [f"{_clean(band.label, LONGEST_TITLE)} {_said(float(band.mean[-1]))}" for band in bands]
    return ", ".join([*parts, *(f"{label} {_said(y)}" for label, y in references.items())])


def _said(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.4g}"


def _names(figure: Figure) -> str:
    """Where the names of the lines and the samples beside them are: an attribute with x, y, width, height, or nothing.

    A narrow screen has no room for them beside the axes; the page then shows this part below.
    """
    names = [text for axes in figure.axes for text in axes.texts if text.get_label() == NAME]
    if not names:
        return ""
    boxes = [name.get_window_extent() for name in names]
    points = POINTS_PER_INCH / figure.dpi
    left = min(box.x0 for box in boxes) * points - (NAME_START - LEADER_END) - 2
    bottom, top = (min(box.y0 for box in boxes) * points - 3, max(box.y1 for box in boxes) * points + 3)
    width, height = (float(inches) * POINTS_PER_INCH for inches in figure.get_size_inches())
    return f'data-names="{left:.1f} {height - top:.1f} {width - left:.1f} {top - bottom:.1f}" '


def _inlinable(svg: str, prefix: str, spoken: str, names: str) -> str:
    """Turn matplotlib's file into an element that keeps its ids and its style to itself."""
    svg = re.sub(r"<!--.*?-->\n?", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg).replace(">*{", f">#{prefix} *{{")
    return svg.replace("<svg ", f'<svg id="{prefix}" role="img" aria-label="{escape(spoken)}" {names}', 1)
