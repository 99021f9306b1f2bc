"""Pens: one colour for each family of algorithms, dashes and marker for its members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import TypedDict

from matplotlib.colors import to_hex, to_rgb

from hreach.drawing.palette import (
    BLACK,
    BLUE,
    GREEN,
    INDIGO,
    OLIVE,
    ORANGE,
    PURPLE,
    SKY,
    TEAL,
    VERMILION,
    WINE,
)

# One for each family of the paper, so that a family looks the same in every figure.
FAMILY_COLOURS = {"PAC-RMDP": BLUE, "MBIE": VERMILION, "VBE": GREEN, "BEB": PURPLE, "BOLT": ORANGE}
FAMILY_COLOURS |= {"PAC-MDP": VERMILION, "epsilon-greedy": BLACK}
# The two that the paper does not have, in a colour of their own: the eye must not count them to the paper's.
FAMILY_COLOURS |= dict.fromkeys(("PAC-RMDP(growing)", "PAC-RMDP(adaptive)"), WINE)
FURTHER_COLOURS = (SKY, BLACK, OLIVE, INDIGO, TEAL)
Dashes = str | tuple[float, tuple[float, ...]]
DASHES: tuple[Dashes, ...] = ("-", "--", ":", "-.", (0, (11, 2.5)))
# What matplotlib draws for a name, in widths of the line.
DASH_PATTERNS: dict[str, tuple[float, ...]] = {"-": (), "--": (3.7, 1.6), ":": (1, 1.65), "-.": (6.4, 1.6, 1, 1.6)}
LINE_WIDTH = 1.5
MARKERS = "osD^vPX<>*phd8"


@dataclass(frozen=True)
class Pen:
    """How one line is drawn: the colour tells the family, dashes and marker tell the member."""

    colour: str
    dashes: Dashes
    marker: str


def _family(label: str) -> str:
    """What has one colour: the text before the bracket, or the whole label where it has a colour of its own."""
    return label if label in FAMILY_COLOURS else label.partition("(")[0].strip()


def pens_of(labels: Sequence[str]) -> list[Pen]:
    """Choose one colour per family and, within a colour, different dashes."""
    further, colours = cycle(FURTHER_COLOURS), dict(FAMILY_COLOURS)
    dashes = {colour: cycle(DASHES) for colour in (*FAMILY_COLOURS.values(), *FURTHER_COLOURS)}
    pens = []
    for label, marker in zip(labels, cycle(MARKERS), strict=False):
        family = _family(label)
        if family not in colours:
            colours[family] = next(further)
        pens.append(Pen(colours[family], next(dashes[colours[family]]), marker))
    return pens


def shaded(labels: Sequence[str], pens: Sequence[Pen]) -> list[Pen]:
    """The same pens, the members of a family from light to dark: dashes are lost on a line that jumps up and down."""
    families = [_family(label) for label in labels]
    shaded = []
    for i, (family, pen) in enumerate(zip(families, pens, strict=True)):
        size, place = families.count(family), families[:i].count(family)
        shade = 0.0 if size == 1 else 2 * place / (size - 1) - 1
        shaded.append(replace(pen, colour=_mixed(pen.colour, shade)))
    return shaded


def _mixed(colour: str, shade: float) -> str:
    """A colour nearer to white (shade from -1) or to black (up to 1)."""
    target, weight = (1.0, -0.45 * shade) if shade < 0 else (0.0, 0.6 * shade)
    red, green, blue = (part + (target - part) * weight for part in to_rgb(colour))
    return to_hex((red, green, blue))


class Ink(TypedDict):
    """Settings of a line, by matplotlib's names."""

    color: str
    linestyle: Dashes
    linewidth: float
    marker: str
    markersize: float
    markerfacecolor: str


def ink(pen: Pen) -> Ink:
    """A line with this pen."""
    return {
        "color": pen.colour,
        "linestyle": pen.dashes,
        "linewidth": LINE_WIDTH,
        "marker": pen.marker,
        "markersize": 4.2,
        "markerfacecolor": "white",
    }
