"""An audit as a picture: what was promised and what was true, on one logarithmic axis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hreach.drawing.canvas import canvas, own_style
from hreach.drawing.palette import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SHADE, SKY, VERMILION
from hreach.drawing.saving import save_as
from hreach.guarantees.audit.result import Audit

Array = NDArray[np.float64]
BOUND, CERTIFIED, ERROR, LEARNING, GAP, LOSS = VERMILION, ORANGE, BLUE, SKY, GREEN, PURPLE
_DECADES_BELOW = 2  # how far below eps the axis goes; smaller errors are drawn on its lower edge


@own_style()
def picture(result: Audit, path: str | Path | None = None, *, title: str = "") -> Figure:
    """Draw the anytime error, its bound, what was certified and the gap of Definition 3; saved if `path` is given.

    Errors below the axis, such as those of an agent that does better than V^{d*}, are marks on its lower edge.
    """
    figure = canvas(8.0, 5.0, layout="constrained")
    axes = figure.add_subplot()
    floor = 10.0 ** (np.floor(np.log10(result.eps)) - _DECADES_BELOW)
    _draw_promises(axes, result)
    _draw_measured(axes, result, floor)
    _draw_frame(axes, result, floor, title)
    if path is not None:
        save_as(figure, path)
    return figure


def _draw_measured(axes: Axes, result: Audit, floor: float) -> None:
    if result.rollout_steps:
        low, high = result.reachable - result.learning_high, result.reachable - result.learning_low
        label = r"truth: $V^{d*}_h - V^{\mathcal{A}}$, still learning (95 %)"
        ends = (np.maximum(low, floor), np.maximum(high, floor))
        axes.vlines(result.step, *ends, LEARNING, lw=1.8, alpha=0.5, label=label)
    _line(axes, result.step, result.optimal - result.policy, floor, LOSS, r"truth: $V^* - V^{\mathcal{A}_t}$", 0.9)
    _line(axes, result.step, np.abs(result.gap), floor, GAP, r"optimism left: $|\tilde V - V_{h=0}|$", 0.9)
    _line(axes, result.step, result.anytime_error, floor, ERROR, r"truth: $V^{d*}_h - V^{\mathcal{A}_t}$", 1.4)


def _line(
    axes: Axes, step: NDArray[np.int64], values: Array, floor: float, colour: str, label: str, width: float
) -> None:
    """A line where the values are on the axis, and a mark on its lower edge where they are below."""
    seen = values > floor
    on_edge = np.full(int(np.sum(~seen)), floor * 1.12)
    size = 2.5 * width
    axes.plot(step, np.where(seen, values, np.nan), color=colour, lw=width, marker=".", markersize=size, label=label)
    axes.plot(step[~seen], on_edge, ls="", marker="|", markersize=5, color=colour)


def _draw_promises(axes: Axes, result: Audit) -> None:
    label = r"bound on $V^{d*}_h - V^{\mathcal{A}_t}$"
    if not result.promised:
        label += "\n(not promised by this agent)"
    axes.plot(result.step, result.anytime_bound, color=BOUND, lw=1.8, ls="--", label=label)
    _draw_certified(axes, result)
    axes.axhline(result.eps, color=INK, lw=0.8, ls=":")
    axes.annotate(
        rf"$\epsilon$ = {result.eps:g}", (1, result.eps), xycoords=("axes fraction", "data"),
        xytext=(4, -3), textcoords="offset points", fontsize=8, color=INK,
    )  # fmt: skip
    if result.exploration_over:
        early = result.exploration_over < 0.6 * result.steps
        axes.axvline(result.exploration_over, color=GAP, lw=0.8, ls=":")
        axes.annotate(
            f"explicit exploration over at {result.exploration_over}", (result.exploration_over, 1),
            xycoords=("data", "axes fraction"), xytext=(4 if early else -4, -11), textcoords="offset points",
            ha="left" if early else "right", fontsize=8, color=GAP,
        )  # fmt: skip


def _draw_certified(axes: Axes, result: Audit) -> None:
    """Certified gaps to V^{d*}_h, unless there are none, and to V*."""
    found = result.certified
    if not np.isnan(found.reachable_gap).any():
        axes.plot(result.step, found.reachable_gap, color=CERTIFIED, lw=1.8, label=r"certified: $V^{d*}_h - V^\pi$")
    label = r"certified: $V^* - V^\pi$"
    axes.plot(result.step, found.optimality_gap, color=CERTIFIED, lw=1.1, ls=(0, (1, 1.2)), label=label)


def _draw_frame(axes: Axes, result: Audit, floor: float, title: str) -> None:
    top = 3 * max(float(result.anytime_bound.max()), float(np.abs(result.gap).max()), result.sizes.top)
    axes.set_yscale("log")
    axes.set_ylim(floor, top)
    axes.set_xlim(0, max(result.steps - 1, 1))
    if top > result.sizes.top:
        axes.axhspan(result.sizes.top, top, color=SHADE, zorder=0, lw=0)
        axes.annotate(
            rf"above $r_{{max}}/(1-\gamma)$ = {result.sizes.top:.3g} nothing is promised", (1, result.sizes.top),
            xycoords=("axes fraction", "data"), xytext=(-5, 4), textcoords="offset points", ha="right",
            fontsize=8, color=GREY,
        )  # fmt: skip
    axes.set_xlabel("step t (marks on the lower edge: errors below it, or none)")
    axes.set_ylabel("error in value, at the state $s_t$")
    axes.set_title(title or f"Promise and truth over {result.steps} steps", loc="left", fontsize=11, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
