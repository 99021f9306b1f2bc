"""Three pictures of an exploration: what it earned, where it was, what became certain."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hreach.drawing.canvas import canvas, own_style
from hreach.drawing.palette import BLUE, GREY, INK, RULE, SHADE, SKY
from hreach.exploring.exploring import Exploration
from hreach.exploring.maps import Map
from hreach.exploring.spaces import written
from hreach.guarantees.certificate_picture import picture
from hreach.protocols import Floats

WINDOWS = 100  # of the curve
SAME = 1e-6  # of the largest value: a difference that is none
MOST_DOTS, MOST_CELLS = 4000, 400  # episodes drawn one by one; cells with the action written in them


def reward_picture(found: Exploration) -> Figure:
    """Total reward of each episode with its mean over neighbours; without episodes, reward per step."""
    with own_style():
        figure = canvas(8.0, 3.6, layout="constrained")
        axes = figure.add_subplot()
        run = found.run
        if len(run.ended) >= 2:
            kept = np.unique(np.linspace(0, len(run.ended) - 1, MOST_DOTS).astype(np.int64))
            axes.plot(run.ended[kept] + 1, found.earned[kept], ".", color=SKY, ms=4, alpha=0.5, label="an episode")
            at, mean = windows((run.ended + 1).astype(np.float64), found.earned)
            if len(at) > 1:
                axes.plot(at, mean, color=BLUE, lw=1.8, label="mean of neighbours")
            axes.set_ylabel("total reward of an episode")
            axes.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0)
            said = f"The last tenth of the episodes paid {found.earned[-max(1, len(found.earned) // 10) :].mean():.4g}."
        else:
            at, mean = windows(np.arange(1.0, len(run.rewards) + 1), run.rewards)
            axes.plot(at, mean, color=BLUE, lw=1.8)
            axes.set_ylabel("reward per step")
            said = f"The last steps paid {mean[-1]:.4g} each."
        _plain(axes, "step")
        figure.set_label(f"Reward over time. {said}")
    return figure


def windows(at: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Means of at most `WINDOWS` groups of ten neighbours or more: (where each ends, its mean)."""
    groups = np.array_split(np.arange(len(values)), max(1, min(WINDOWS, len(values) // 10)))
    return np.array([at[g[-1]] for g in groups]), np.array([values[g].mean() for g in groups])


def map_picture(found: Exploration, places: Map) -> Figure:
    """How often each place was visited, with the learnt action written in it, and what it is worth."""
    with own_style():
        wide = places.columns > 1.8 * places.rows
        figure = canvas(8.0, 5.6 if wide else 4.0, layout="constrained")
        visits = found.tally.visits.astype(np.float64)
        norm = LogNorm(1, max(10.0, float(visits.max())))
        first, second = (figure.add_subplot(*((2, 1, i) if wide else (1, 2, i))) for i in (1, 2))
        _draw_map(found, places, first, np.where(visits > 0, visits, np.nan), "visits, and the learnt action", norm)
        left = visits > 0
        _draw_map(found, places, second, np.where(left, found.values, np.nan), "value of the learnt policy", None)
        _shade_what_differs(second, found.values[left])
        figure.set_label(
            f"Map of {places.rows} rows and {places.columns} columns: {int(left.sum())} places were left at least once."
        )
    return figure


def _shade_what_differs(axes: Axes, values: Floats) -> None:
    """Values that are the same but for rounding get the same shade."""
    if values.size and np.ptp(values) <= SAME * max(1.0, float(np.abs(values).max())):
        axes.images[0].set_clim(values.min() - 0.5, values.min() + 0.5)


def _draw_map(
    found: Exploration, places: Map, axes: Axes, numbers: Floats, title: str, norm: LogNorm | None
) -> None:  # fmt: skip
    table = np.full((places.rows, places.columns), np.nan)
    table[places.cells[:, 0], places.cells[:, 1]] = numbers
    readings = places.edges is not None
    shown = axes.imshow(table, cmap="YlGnBu", norm=norm, origin="lower" if readings else "upper", aspect="equal")
    axes.figure.colorbar(shown, ax=axes, shrink=0.8).ax.tick_params(labelsize=8)
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.tick_params(labelsize=8)
    axes.set_facecolor(SHADE)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    if readings:
        axes.set_xlabel("bin of the first reading", fontsize=8)
        axes.set_ylabel("bin of the second", fontsize=8)
    if norm is not None and table.size <= MOST_CELLS:
        for (row, column), action, n in zip(places.cells.tolist(), found.policy, numbers, strict=True):
            if np.isfinite(n):
                dark = norm(n) > 0.55
                axes.text(column, row, found.actions[action], ha="center", va="center", fontsize=8,
                          color="white" if dark else INK, parse_math=False)  # fmt: skip


def certificate_picture(found: Exploration) -> Figure | None:
    """What was certain over time; None where that was looked at less than twice."""
    if found.certificate is None or len(found.looks) < 2:
        return None
    figure = picture(found.certificate, found.looks, state=written(found.states[found.certificate.state]))
    figure.set_size_inches(8.0, 4.2)
    figure.set_label(f"What is certain over time. {found.certain()}")
    return figure


def _plain(axes: Axes, xlabel: str) -> None:
    axes.set_xlabel(xlabel)
    axes.tick_params(labelsize=9, colors=INK)
    axes.grid(axis="y", color=RULE, lw=0.6)
    axes.axhline(0, color=GREY, lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
