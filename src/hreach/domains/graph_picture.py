"""Pictures of MDPs as graphs: states as dots, transitions as arcs. Imports Matplotlib."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from numpy.typing import NDArray

from hreach.drawing.canvas import canvas, own_style
from hreach.drawing.palette import COLOURS, INK, RULE, SHADE
from hreach.problems.mdp import TabularMDP

Array = NDArray[np.float64]
MOST = 60  # states that are drawn with their numbers and all their transitions


def circle(states: int) -> Array:
    """Places (S, 2) on a circle, from the top clockwise."""
    turn = 2 * np.pi * np.arange(states) / states
    return np.stack([np.sin(turn), np.cos(turn)], axis=1)


def bend(states: int) -> Array:
    """Places (S, 2) on five sixths of a circle, from the left over the top to the right: a line with two ends."""
    turn = 5 / 3 * np.pi * (np.arange(states) / max(1, states - 1) - 0.5)
    return np.stack([np.sin(turn), np.cos(turn)], axis=1)


@own_style()
def draw(mdp: TabularMDP, places: Array, state: int) -> Figure:
    """A figure of the states at `places` (S, 2); transitions of `state` in the colour of the action, others in grey.

    Widths go with probabilities. Of many states only the transitions of this one are drawn.
    """
    figure = canvas(7.6, 6.0)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(-1.72, 1.12), ylim=(-1.12, 1.12), aspect="equal")
    axes.set_axis_off()
    few = mdp.states <= MOST
    for s in (*(range(mdp.states) if few else ()), state):
        _arcs(axes, mdp, places, s, shown=s == state)
    size = max(2.0, min(20.0, 260 / mdp.states))
    axes.plot(*places.T, "o", color=SHADE, mec=INK, mew=0.8 if few else 0, ms=size, zorder=4)
    axes.plot(*places[state], "o", color="white", mec=INK, mew=2.2, ms=max(size, 8), zorder=5)
    if few:
        for s, (x, y) in enumerate(places):
            axes.text(x, y, str(s), fontsize=min(9.0, 0.5 * size + 1), ha="center", va="center", color=INK, zorder=6)
    for a in range(mdp.actions):
        words = f"action {a}: reward {mdp.expected_reward[state, a]:.3g}"
        axes.text(0.01, 0.99 - 0.035 * a, words, transform=axes.transAxes, va="top",
                  fontsize=9, color=COLOURS[a % len(COLOURS)])  # fmt: skip
    return figure


def _arcs(axes: Axes, mdp: TabularMDP, places: Array, s: int, *, shown: bool) -> None:
    """The transitions from s; those to itself as a loop outside."""
    for a in range(mdp.actions):
        for k in range(mdp.indptr[s * mdp.actions + a], mdp.indptr[s * mdp.actions + a + 1]):
            to, chance = int(mdp.next_state[k]), float(mdp.probability[k])
            ends, bend, gap = (places[s], places[to]), 0.12 + 0.08 * a, 9
            if s == to:
                ends, bend, gap = _loop(places, s), -1.6 - 0.4 * a, 0
            arrow = FancyArrowPatch(
                (float(ends[0][0]), float(ends[0][1])),
                (float(ends[1][0]), float(ends[1][1])),
                connectionstyle=f"arc3,rad={bend}",
                arrowstyle="-|>" if shown else "-",
                mutation_scale=9,
                lw=0.4 + (2.6 * chance if shown else 0.4),
                shrinkA=gap,
                shrinkB=gap,
                color=COLOURS[a % len(COLOURS)] if shown else RULE,
                zorder=3 if shown else 1,
            )
            axes.add_patch(arrow)


def _loop(places: Array, s: int) -> tuple[Array, Array]:
    """Where a loop at s begins and ends: away from the middle."""
    away = places[s]
    base, side = 1.05 * away, 0.035 * np.array([away[1], -away[0]])
    return base - side, base + side
