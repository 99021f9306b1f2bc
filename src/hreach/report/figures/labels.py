"""The names of the lines, each at the right end of its own: a legend of a dozen entries makes the reader search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from hreach.drawing.palette import INK
from hreach.report.figures.frame import LABEL_PITCH, POINTS_PER_INCH, WIDTH
from hreach.report.figures.pens import Pen, ink

LABEL_SIZE = 9.0
# The label column, in points right of the axes: leader line, then a sample of the line, then the name.
LEADER_END, SAMPLE_END, NAME_START = 20.0, 44.0, 48.0
GAP = 22.0  # between panels
NAME = "name of a line"  # what marks such a text; it is not shown


@dataclass(frozen=True)
class End:
    """Where a line stops (x as a fraction of the axes, y in data units) and what is written there.

    x is None for a line of another panel: it gets a name but no leader.
    """

    label: str
    x: float | None
    y: float
    pen: Pen


def spread(wanted: Sequence[float], pitch: float, low: float, high: float) -> list[float]:
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


def label_ends(panels: Sequence[Axes], ends: Sequence[End], body: float, left: float) -> None:
    """Name every line at its right end in the last panel, with a leader to it so that crowded names can move apart."""
    axes = panels[-1]
    # A dollar sign in a name is a dollar sign, not mathematics.
    names = [
        axes.text(
            1, 0, end.label, fontsize=LABEL_SIZE, color=INK, label=NAME, va="center_baseline", parse_math=False,
            transform=axes.transAxes,
        )
        for end in ends
    ]  # fmt: skip
    # Names are measured first: the panels share the width that the longest one leaves.
    longest = max(name.get_window_extent().width for name in names) / axes.figure.dpi * POINTS_PER_INCH
    width = (WIDTH - left - NAME_START - longest - 8 - GAP * (len(panels) - 1)) / len(panels)
    for i, panel in enumerate(panels):
        box = panel.get_position()
        panel.set_position(((left + i * (width + GAP)) / WIDTH, box.y0, width / WIDTH, box.height))
    up = axes.transData + axes.transAxes.inverted()
    wanted = [float(up.transform((0.0, end.y))[1]) * body for end in ends]
    placed = spread(wanted, LABEL_PITCH, LABEL_PITCH / 2, body - LABEL_PITCH / 2)
    for end, name, start, y in zip(ends, names, wanted, placed, strict=True):
        name.set_position((1 + NAME_START / width, y / body))
        _leader(axes, end, (start / body, y / body), width)


def _leader(axes: Axes, end: End, heights: tuple[float, float], width: float) -> None:
    """Lead from the end of a line to its name, past a sample of its dashes and marker."""
    start, y = heights
    begin, stop, pen = 1 + LEADER_END / width, 1 + SAMPLE_END / width, end.pen
    inside = axes.transAxes
    if end.x is not None:
        x = [end.x, 1 + 3 / width, 1 + (LEADER_END - 4) / width, begin]
        axes.plot(x, [start, start, y, y], color=pen.colour, linewidth=0.6, alpha=0.8, transform=inside, clip_on=False)
    sample = [begin, (begin + stop) / 2, stop]
    axes.plot(sample, [y, y, y], markevery=(1, 2), transform=inside, clip_on=False, **ink(pen))
