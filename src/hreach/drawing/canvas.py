"""What the pictures of the continuous domains share. Importing this imports Matplotlib, so domains do it late."""

from __future__ import annotations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

DPI = 100
INK, GREY, PALE = "#222222", "#767676", "#d9d9d9"
# Okabe and Ito's colours without the yellow, which is lost on white: told apart by colour-blind eyes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def canvas(width: int, height: int) -> Figure:
    """An empty white figure of this many pixels. It belongs to no window and to no global list of figures."""
    figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def pixels(figure: Figure) -> NDArray[np.uint8]:
    """The figure as (height, width, 3) bytes, as Gymnasium's render mode "rgb_array" wants it."""
    agg = figure.canvas
    assert isinstance(agg, FigureCanvasAgg)
    agg.draw()  # type: ignore[no-untyped-call]
    return np.array(agg.buffer_rgba(), dtype=np.uint8)[:, :, :3].copy()  # type: ignore[no-untyped-call]
