"""An empty figure, in a style that depends on nobody's settings, and its pixels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

DPI = 100


@contextmanager
def own_style(salt: str = "hreach") -> Iterator[None]:
    """Draw with matplotlib's own defaults, whatever the user's matplotlibrc says, and leave no trace.

    `salt` decides the ids inside an SVG: the same figure has the same ones.
    """
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        # Letters as paths: a picture must look the same on a machine without the fonts.
        matplotlib.rcParams.update({"svg.hashsalt": salt, "svg.fonttype": "path", "axes.linewidth": 0.7})
        yield


def canvas(width: float, height: float, layout: Literal["constrained"] | None = None) -> Figure:
    """An empty white figure of this many inches. It belongs to no window and to no global list of figures."""
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white", layout=layout)
    FigureCanvasAgg(figure)
    return figure


def pixels(figure: Figure) -> NDArray[np.uint8]:
    """The figure as (height, width, 3) bytes, as Gymnasium's render mode "rgb_array" wants it."""
    agg = figure.canvas
    assert isinstance(agg, FigureCanvasAgg)
    agg.draw()  # type: ignore[no-untyped-call]
    return np.array(agg.buffer_rgba(), dtype=np.uint8)[:, :, :3].copy()  # type: ignore[no-untyped-call]
