"""A choice of h as a picture: average reward over (h, lifetime). Imports Matplotlib."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from hreach.drawing.canvas import canvas, own_style
from hreach.drawing.palette import VERMILION
from hreach.drawing.saving import save_as
from hreach.guarantees.choose_h.choice import Choice


@own_style()
def picture(result: Choice, path: str | Path | None = None) -> Figure:
    """Draw average reward over (h, lifetime): a row for each h, a column for each lifetime; saved if `path` is given.

    The number is the average reward up to then, the colour its share of the best h of the column, which is framed.
    """
    averages, lifetimes = result.averages, result.lifetimes
    figure = canvas(2.2 + 0.72 * len(lifetimes), 1.5 + 0.42 * len(averages), layout="constrained")
    axes = figure.add_subplot()
    best = averages.max(axis=0)
    share = 1 - (best - averages) / np.where(best != 0, np.abs(best), 1.0)
    shade = axes.imshow(np.clip(share, 0.5, 1.0), vmin=0.5, vmax=1.0, cmap="cividis", aspect="auto")
    _draw_cells(axes, averages, share)
    axes.set_xticks(range(len(lifetimes)), [f"{t:,}" for t in lifetimes], fontsize=8)
    axes.set_yticks(range(len(averages)), _names(result), fontsize=9)
    axes.set_xlabel("lifetime (steps)")
    where = ", ".join(result.surrogates[:3]) + (" ..." if len(result.surrogates) > 3 else "")
    axes.set_title(
        f"Average reward per {result.unit}: {where}\nframe: best of the column   ★: recommended", fontsize=10
    )
    bar = figure.colorbar(shade, ax=axes, ticks=[0.5, 0.75, 1.0])
    bar.ax.set_yticklabels(["half or less", "3/4", "the best"], fontsize=8)
    if path is not None:
        save_as(figure, path)
    return figure


def _draw_cells(axes: Axes, averages: NDArray[np.float64], share: NDArray[np.float64]) -> None:
    """The numbers, and a frame around the best of each column."""
    for (i, j), value in np.ndenumerate(averages):
        ink = "black" if share[i, j] > 0.8 else "white"
        axes.text(j, i, f"{value:#.3g}", ha="center", va="center", color=ink, fontsize=8)
        if value == averages[:, j].max():
            frame = Rectangle((j - 0.47, i - 0.45), 0.94, 0.9, fill=False, edgecolor=VERMILION, linewidth=2)
            axes.add_patch(frame)


def _names(result: Choice) -> list[str]:
    """The name of each row, the recommended one with a star."""
    names = [f"h = {o.h}" if o.h[0].isdigit() else o.h for o in result.options]
    return [f"{n}  ★" if o.h == result.recommended else n for n, o in zip(names, result.options, strict=True)]
