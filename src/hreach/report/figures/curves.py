"""The figures: average reward over steps, total reward over episodes, promised and measured errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hreach.drawing.canvas import own_style
from hreach.drawing.palette import GREY, INK, SHADE
from hreach.report.figures.band import Band, Numbers, check
from hreach.report.figures.frame import LEFT, LONGEST_LABEL, LONGEST_TITLE, WIDE_LEFT, clean, frame, sheet, y_range_of
from hreach.report.figures.labels import End, label_ends
from hreach.report.figures.pens import Pen, ink, pens_of, shaded

MOST_POINTS = 200
LONGEST_SPOKEN = 10_000
KEY = "line: mean over runs   band: 10 % to 90 % of runs"


def average_reward_figure(bands: Sequence[Band], *, title: str, optimal: float | None, key: str = KEY) -> Figure:
    """Show how fast each algorithm learns: average reward so far against the step, named at the line's end."""
    check(bands, optimal)
    with own_style():
        drawn = sheet(title, len(bands))
        axes = drawn.panel()
        references = {} if optimal is None else {"optimal policy": optimal}
        # Not the first 3 % of the steps, where an average of few rewards swings wildly.
        frame(axes, "step", bands, y_range_of(bands, references, after=0.03))
        axes.set_ylabel("average reward per step so far", color=INK, fontsize=9.5)
        drawn.head(key)
        ends = _lines(axes, bands, references, pens_of([b.label for b in bands]))
        label_ends([axes], ends, drawn.body, LEFT)
    spoken = "Average reward per step at the last step"
    drawn.figure.set_label(f"{drawn.title}. {spoken}: {_spoken(bands, references)}.")
    return drawn.figure


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
        check(bands, None)
    shown = [band for bands in panels.values() for band in bands]
    levels = {label: y for lines in references.values() for label, y in lines.items()}
    labels = list(dict.fromkeys(band.label for band in shown))
    pens = dict(zip(labels, shaded(labels, pens_of(labels)), strict=True))
    with own_style():
        drawn = sheet(title, len(labels) + len(levels), panel_titles=any(panels))
        y_range = y_range_of(shown, levels, log=log)
        all_axes: list[Axes] = []
        ends: dict[str, End] = {}
        for variant, bands in panels.items():
            axes = drawn.panel(f"panel {len(all_axes)}")
            frame(axes, "episode", bands, y_range, log)
            axes.set_title(clean(variant, LONGEST_LABEL), loc="left", fontsize=9.5, color=INK, parse_math=False)
            ends = {label: replace(end, x=None) for label, end in ends.items()}
            found = _lines(axes, bands, references.get(variant, {}), [pens[b.label] for b in bands])
            ends |= {end.label: end for end in found}
            axes.tick_params(labelleft=not all_axes)
            all_axes.append(axes)
        all_axes[0].set_ylabel("total reward of an episode", color=INK, fontsize=9.5)
        drawn.head(KEY)
        label_ends(all_axes, list(ends.values()), drawn.body, WIDE_LEFT)
    parts = [f"{v}: {_spoken(bands, references.get(v, {}))}".removeprefix(": ") for v, bands in panels.items()]
    spoken = f"{drawn.title}. Mean total reward of the last episode: {'; '.join(parts)}."
    drawn.figure.set_label(clean(spoken, LONGEST_SPOKEN))
    return drawn.figure


def promises_figure(
    bands: Sequence[Band], bound: tuple[str, Numbers, Numbers] | None, *, title: str, eps: float, largest: float
) -> Figure:
    """Show measured errors on a logarithmic axis, with (label, steps, values) of a bound as a dashed line.

    From `largest` on, the shaded part, a bound says nothing. Errors below a hundredth of eps, such as those of an agent
    that does better than the reachable optimum, are drawn there.
    """
    check(bands, largest)
    floor, labels = eps / 100, [band.label for band in bands]
    raised = [_raised(band, floor) for band in bands]
    tops = [largest, *(float(np.max(b.high)) for b in raised), 0 if bound is None else float(bound[2].max())]
    highest = 1.5 * max(tops)
    with own_style():
        drawn = sheet(title, len(bands))
        axes = drawn.panel()
        frame(axes, "step", raised, (floor / 1.25, highest), log=True)
        axes.axhspan(largest, highest, color=SHADE, linewidth=0, zorder=0)
        axes.set_ylabel("error in value", color=INK, fontsize=9.5)
        drawn.head(f"errors below {floor:.2g}, or none, are drawn at {floor:.2g}")
        references = {f"ε = {eps:.3g}": eps, f"from {largest:.3g} on: no promise": largest}
        ends = _lines(axes, raised, references, shaded(labels, pens_of(labels)))
        label_ends([axes], [*ends, *_bound_line(axes, bound)], drawn.body, LEFT)
    spoken = f"{title}. Error at the last step: {_spoken(bands, references)}."
    drawn.figure.set_label(clean(spoken, LONGEST_SPOKEN))
    return drawn.figure


def _raised(band: Band, floor: float) -> Band:
    """The band with what is below the floor on it."""
    mean, low, high = (np.maximum(column, floor) for column in (band.mean, band.low, band.high))
    return replace(band, mean=mean, low=low, high=high)


def _bound_line(axes: Axes, bound: tuple[str, Numbers, Numbers] | None) -> list[End]:
    """Draw a bound, and say where it ends."""
    if bound is None:
        return []
    label, steps, values = bound
    pen = Pen(INK, (0, (5, 2.5)), "")
    axes.plot(steps, values, zorder=2.5, **ink(pen))
    return [End(clean(label, LONGEST_LABEL), float(steps[-1]) / axes.get_xlim()[1], float(values[-1]), pen)]


def _lines(axes: Axes, bands: Sequence[Band], references: Mapping[str, float], pens: Sequence[Pen]) -> list[End]:
    """Draw the references and all lines, and say where each one ends."""
    ends = []
    for label, y in references.items():
        pen = Pen(GREY, (0, (1, 2.5)), "")
        axes.axhline(y, color=GREY, linewidth=1.2, linestyle=pen.dashes, zorder=1.5)
        ends.append(End(clean(label, LONGEST_LABEL), 1.0, y, pen))
    last = axes.get_xlim()[1]
    for index, (band, pen) in enumerate(zip(bands, pens, strict=True)):
        # Steps of the golden ratio put the markers of neighbouring lines far apart.
        _line(axes, band, pen, 0.1 + 0.8 * (0.618 * index % 1), alpha=0.25 / len(bands) ** 0.5)
        ends.append(End(clean(band.label, LONGEST_LABEL), float(band.steps[-1]) / last, float(band.mean[-1]), pen))
    return ends


def _line(axes: Axes, band: Band, pen: Pen, phase: float, alpha: float) -> None:
    """Draw one mean and its band; `phase` (0..1) shifts the markers so that lines on top differ."""
    kept = np.unique(np.linspace(0, len(band.steps) - 1, MOST_POINTS).round().astype(int))
    steps, mean, low, high = (np.asarray(c)[kept] for c in (band.steps, band.mean, band.low, band.high))
    axes.fill_between(steps, low, high, color=pen.colour, alpha=alpha, linewidth=0, zorder=2)
    spacing = max(1, len(kept) // 5)
    axes.plot(steps, mean, markevery=(int(phase * spacing), spacing), zorder=3, **ink(pen))


def _spoken(bands: Sequence[Band], references: Mapping[str, float]) -> str:
    """The last values, for readers who hear the page."""
    parts = [f"{clean(band.label, LONGEST_TITLE)} {_said(float(band.mean[-1]))}" for band in bands]
    return ", ".join([*parts, *(f"{label} {_said(y)}" for label, y in references.items())])


def _said(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.4g}"
