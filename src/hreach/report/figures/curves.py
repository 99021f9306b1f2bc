"""The figures of what was earned: average reward over steps, total reward over episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hreach.drawing.canvas import own_style
from hreach.drawing.palette import GREY, INK
from hreach.report.figures.band import Band, check, drawn_points
from hreach.report.figures.frame import LEFT, LONGEST_LABEL, LONGEST_TITLE, WIDE_LEFT, clean, frame, sheet, y_range_of
from hreach.report.figures.labels import End, label_ends
from hreach.report.figures.pens import Pen, ink, pens_of, shaded

SETTLED = 0.03  # of the steps: before, an average of few rewards swings wildly, and no axis is fitted to it
LONGEST_SPOKEN = 10_000
KEY = "line: mean over runs   band: 10 % to 90 % of runs"


def average_reward_figure(bands: Sequence[Band], *, title: str, optimal: float | None, key: str = KEY) -> Figure:
    """Show how fast each algorithm learns: average reward so far against the step, named at the line's end."""
    check(bands, optimal)
    with own_style():
        drawn = sheet(title, len(bands))
        axes = drawn.panel()
        references = {} if optimal is None else {"optimal policy": optimal}
        frame(axes, "step", bands, y_range_of(bands, references, after=SETTLED))
        axes.set_ylabel("average reward per step so far", color=INK, fontsize=9.5)
        drawn.head(key)
        ends = lines_of(axes, bands, references, pens_of([b.label for b in bands]))
        label_ends([axes], ends, drawn.body, LEFT)
    spoken = "Average reward per step at the last step"
    drawn.figure.set_label(f"{drawn.title}. {spoken}: {spoken_ends(bands, references)}.")
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
            found = lines_of(axes, bands, references.get(variant, {}), [pens[b.label] for b in bands])
            ends |= {end.label: end for end in found}
            axes.tick_params(labelleft=not all_axes)
            all_axes.append(axes)
        all_axes[0].set_ylabel("total reward of an episode", color=INK, fontsize=9.5)
        drawn.head(KEY)
        label_ends(all_axes, list(ends.values()), drawn.body, WIDE_LEFT)
    parts = [f"{v}: {spoken_ends(bands, references.get(v, {}))}".removeprefix(": ") for v, bands in panels.items()]
    spoken = f"{drawn.title}. Mean total reward of the last episode: {'; '.join(parts)}."
    drawn.figure.set_label(clean(spoken, LONGEST_SPOKEN))
    return drawn.figure


def lines_of(axes: Axes, bands: Sequence[Band], references: Mapping[str, float], pens: Sequence[Pen]) -> list[End]:
    """Draw the references and all lines, and say where each one ends."""
    ends = []
    for label, y in references.items():
        pen = Pen(GREY, (0, (1, 2.5)), "")
        axes.axhline(y, color=GREY, linewidth=1.2, linestyle=pen.dashes, zorder=1.5)
        ends.append(End(clean(label, LONGEST_LABEL), 1.0, y, pen))
    last = axes.get_xlim()[1]
    for index, (band, pen) in enumerate(zip(bands, pens, strict=True)):
        # Steps of the golden ratio put the markers of neighbouring lines far apart.
        draw_line(axes, band, pen, 0.1 + 0.8 * (0.618 * index % 1), alpha=0.25 / len(bands) ** 0.5)
        ends.append(End(clean(band.label, LONGEST_LABEL), float(band.steps[-1]) / last, float(band.mean[-1]), pen))
    return ends


def draw_line(axes: Axes, band: Band, pen: Pen, phase: float, alpha: float) -> None:
    """Draw one mean and its band; `phase` (0..1) shifts the markers so that lines on top differ."""
    kept = drawn_points(band)
    steps, mean, low, high = (np.asarray(c)[kept] for c in (band.steps, band.mean, band.low, band.high))
    axes.fill_between(steps, low, high, color=pen.colour, alpha=alpha, linewidth=0, zorder=2)
    spacing = max(1, len(kept) // 5)
    axes.plot(steps, mean, markevery=(int(phase * spacing), spacing), zorder=3, **ink(pen))


def spoken_ends(bands: Sequence[Band], references: Mapping[str, float]) -> str:
    """The last values, for readers who hear the page."""
    parts = [f"{clean(band.label, LONGEST_TITLE)} {_said(float(band.mean[-1]))}" for band in bands]
    return ", ".join([*parts, *(f"{label} {_said(y)}" for label, y in references.items())])


def _said(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.4g}"
