"""The picture of the mountain car on its hill. Imports Matplotlib."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from numpy.typing import NDArray

from hreach.drawing.canvas import canvas, own_style
from hreach.drawing.palette import BLUE, GREY, INK, SKY, VERMILION

Array = NDArray[np.float64]
WIDTH, HEIGHT = 6.0, 4.0
EARTH, GRASS = "#e8e2d6", "#6b5f4b"


@dataclass(frozen=True)
class Scene:
    """What is drawn: the hill from `low` to `high`, the cheap zone and what a step costs there, and the car."""

    low: float
    high: float
    goal: float
    cheap_zone: tuple[float, float]
    cheap_cost: float
    speed_limit: float
    x: float
    v: float
    steps: int

    @property
    def span(self) -> float:
        """The unit of all lengths."""
        return self.high - self.low

    def hill(self, x: Array) -> Array:
        """Height at x, as it is drawn. Gravity pulls by -cos(3 x), so the slope is that of sin(3 x) / 3."""
        return 0.13 * self.span * (np.sin(3 * x) + 1.0)

    def directions(self) -> tuple[Array, Array]:
        """Unit vectors along the hill and away from it, where the car is."""
        slope = 0.39 * self.span * math.cos(3 * self.x)
        along = np.array([1.0, slope]) / math.hypot(1.0, slope)
        return along, np.array([-along[1], along[0]])


@own_style()
def draw(scene: Scene) -> Figure:
    """A figure of the scene."""
    figure = canvas(WIDTH, HEIGHT)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_facecolor("white")
    # One unit is as long upwards as sideways, or the wheels would be ellipses.
    axes.set(xlim=(scene.low, scene.high), ylim=(-0.16 * scene.span, (HEIGHT / WIDTH - 0.16) * scene.span))
    _draw_hill(axes, scene)
    _draw_flag(axes, scene)
    _draw_car(axes, scene)
    words = f"step {scene.steps}    x = {scene.x:+.3f}    v = {scene.v:+.4f}"
    axes.text(0.03, 0.95, words, transform=axes.transAxes, color=GREY, fontsize=10, va="top", family="monospace")
    return figure


def _draw_hill(axes: Axes, scene: Scene) -> None:
    """The hill and, in another colour, the part where a step is cheap."""
    span, x = scene.span, np.linspace(scene.low, scene.high, 400)
    axes.fill_between(x, -span, scene.hill(x), color=EARTH, zorder=1)
    left, right = np.clip(scene.cheap_zone, scene.low, scene.high)
    zone = np.linspace(left, right, 100)
    axes.fill_between(zone, -span, scene.hill(zone), color=SKY, alpha=0.45, lw=0, zorder=2)
    axes.plot(x, scene.hill(x), color=GRASS, lw=2.5, zorder=3)
    words = f"cheap\n{-scene.cheap_cost:g} a step"
    axes.text((left + right) / 2, -0.1 * span, words, color=INK, fontsize=7.5, ha="center", va="center", zorder=4)


def _draw_flag(axes: Axes, scene: Scene) -> None:
    goal, span = scene.goal, scene.span
    foot = float(scene.hill(np.array([goal]))[0])
    top = foot + 0.1 * span
    axes.plot([goal, goal], [foot, top], color=INK, lw=2, zorder=4)
    flag = [(goal, top), (goal + 0.045 * span, top - 0.02 * span), (goal, top - 0.04 * span)]
    axes.add_patch(Polygon(flag, closed=True, color=VERMILION, zorder=4))


def _draw_car(axes: Axes, scene: Scene) -> None:
    """The car and, if it is not slow, an arrow with its velocity."""
    span, (along, up) = scene.span, scene.directions()
    base = np.array([scene.x, float(scene.hill(np.array([scene.x]))[0])])
    radius, length = 0.0105 * span, 0.034 * span
    wheels = [base + side * 0.6 * length * along + radius * up for side in (-1, 1)]
    outline = ((-1, 1), (1, 1), (1, 2.4), (0.45, 2.6), (0.2, 3.8), (-0.55, 3.8), (-0.75, 2.6), (-1, 2.4))
    body = [base + s * length * along + t * radius * up for s, t in outline]
    axes.add_patch(Polygon(body, closed=True, facecolor=BLUE, edgecolor=INK, lw=1, zorder=5))
    for wheel in wheels:
        axes.add_patch(Circle((wheel[0], wheel[1]), radius, facecolor=INK, edgecolor="white", lw=0.8, zorder=6))
    if abs(scene.v) > 0.2 * scene.speed_limit:
        tip = base + 4.6 * radius * up
        arrow = {"arrowstyle": "-|>", "color": VERMILION, "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
        reach = 0.09 * span * scene.v / scene.speed_limit * along
        axes.annotate("", tuple(tip + reach), tuple(tip), arrowprops=arrow, annotation_clip=False, zorder=7)
