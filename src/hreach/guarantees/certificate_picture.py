"""A certificate as a picture: what was certain over time, and the curve h -> reachable gap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hreach.drawing.canvas import canvas, own_style
from hreach.drawing.palette import BLUE, GREEN, GREY, INK, SHADE, VERMILION
from hreach.drawing.saving import save_as
from hreach.errors import InputError
from hreach.guarantees.certificate import Bounds, Certificate

Curve = Mapping[float, float]  # h -> reachable gap


class Look(NamedTuple):
    """What was certain after so many samples."""

    samples: int
    bounds: Bounds


@own_style()
def picture(
    found: Certificate, looks: Sequence[Look], path: str | Path | None = None, *, title: str = "", state: str = ""
) -> Figure:
    """The bounds in the certificate's state at every look, and its curve over h; saved if `path` is given.

    One look says nothing about time: it is not drawn. `state` is the name of the state, where states have names.
    """
    curve = found.curve
    panels = int(len(looks) > 1) + int(curve is not None)
    if panels == 0:
        raise InputError("A picture needs bounds over time or a curve over h, but these data have neither.")
    figure = canvas(5.2 * panels, 4.2, layout="constrained")
    if len(looks) > 1:
        _draw_bounds(figure.add_subplot(1, panels, 1), found, looks, state or str(found.state))
    if curve is not None:
        _draw_curve(figure.add_subplot(1, panels, panels), found, curve)
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=INK, parse_math=False)
    if path is not None:
        save_as(figure, path)
    return figure


def _draw_bounds(axes: Axes, found: Certificate, looks: Sequence[Look], state: str) -> None:
    at = np.array([look.samples for look in looks])
    bounds, here = [look.bounds for look in looks], found.state
    lower, upper = np.array([each.lower[here] for each in bounds]), np.array([each.upper[here] for each in bounds])
    safest = np.array([each.safest[here] for each in bounds])
    axes.fill_between(at, lower, upper, color=SHADE, lw=0)
    axes.plot(at, upper, color=VERMILION, lw=1.6, label="the optimum is at most")
    if all(look.bounds.reachable is not None for look in looks):
        reachable = [look.bounds.reachable[found.state] for look in looks if look.bounds.reachable is not None]
        best = "the optimum" if found.h == np.inf else f"the best that {found.h:g} more samples could show"
        axes.plot(at, reachable, color=GREEN, lw=1.2, label=f"{best} is at most")
    axes.plot(at, safest, color=BLUE, lw=1.0, ls="--", label="the safest policy is worth at least")
    axes.plot(at, lower, color=BLUE, lw=1.6, label="this policy is worth at least")
    axes.set_xscale("log")
    axes.set_xlabel("samples")
    axes.set_ylabel("value")
    words = f"what is certain in state {state}, but for a probability of {found.delta:g}"
    axes.set_title(words, loc="left", fontsize=9, color=INK)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False, fontsize=7.5)


def _draw_curve(axes: Axes, found: Certificate, curve: Curve) -> None:
    places = np.arange(len(curve))
    axes.plot(places, list(curve.values()), color=BLUE, lw=1.4, marker="o", markersize=4)
    axes.set_xticks(places, ["V*" if np.isinf(h) else f"{h:g}" for h in curve], fontsize=8)
    if found.h is not None and found.reachable_gap is not None and np.isfinite(found.h):
        known = [h for h in curve if np.isfinite(h)]
        place = float(np.interp(found.h, known, places[: len(known)]))
        axes.axvline(place, color=GREY, lw=0.8, ls=":")
        axes.annotate(
            f"h = {found.h:g}", (place, 1), xycoords=("data", "axes fraction"), xytext=(4, -10),
            textcoords="offset points", fontsize=8, color=GREY,
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_xlabel("h, further samples of each pair")
    axes.set_ylabel("gap in value")
    axes.set_title("what h more samples could show is at most this much more", loc="left", fontsize=9, color=INK)
