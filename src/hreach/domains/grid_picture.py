"""Pictures of domains that are a grid of cells. Imports Matplotlib."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hreach.drawing.canvas import canvas, own_style
from hreach.drawing.palette import BLUE, INK, RULE

LONGEST = 7.0  # inches of the longer side
LINED = 40  # cells along the longer side up to which lines and words are drawn
Place = tuple[int, int]


@own_style()
def draw(
    kinds: NDArray[np.uint8],
    colours: Mapping[int, str],
    place: Place,
    words: Mapping[Place, str],
    dot: str = BLUE,
) -> Figure:
    """A figure of cells (rows, columns) in the colour of their kind, `words` in some, and a `dot` at `place`."""
    rows, columns = kinds.shape
    scale = LONGEST / max(rows, columns)
    figure = canvas(max(1.0, scale * columns), max(1.0, scale * rows))
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
    table = np.zeros((256, 3))
    for kind, colour in colours.items():
        table[kind] = to_rgb(colour)
    axes.imshow(table[kinds], interpolation="nearest", extent=(0, columns, rows, 0), aspect="equal")
    axes.set(xticks=[], yticks=[])
    if max(rows, columns) <= LINED:
        _lines(axes, rows, columns)
        for (row, column), word in words.items():
            size = min(14.0, 40 * scale / max(1, len(word)) ** 0.5)
            axes.text(column + 0.5, row + 0.5, word, color=INK, fontsize=size, ha="center", va="center")
    size = max(5.0, 0.3 * 72 * scale)
    axes.plot(place[1] + 0.5, place[0] + 0.5, "o", color=dot, ms=size, mec="white", mew=1.2)
    return figure


def walls(figure: Figure, east: NDArray[np.int64]) -> None:
    """Draw a wall on the east side of the cells `east` (N, 2)."""
    row, column = east.T
    figure.axes[0].vlines(column + 1, row, row + 1, color=INK, lw=5)


def _lines(axes: Axes, rows: int, columns: int) -> None:
    """Lines between cells."""
    axes.hlines(np.arange(1, rows), 0, columns, color=RULE, lw=0.6)
    axes.vlines(np.arange(1, columns), 0, rows, color=RULE, lw=0.6)
