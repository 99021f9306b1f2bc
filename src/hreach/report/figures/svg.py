"""Saving a figure: as PNG, and as an SVG element that can be put into a page beside others."""

from __future__ import annotations

import hashlib
import re
from html import escape
from pathlib import Path

from matplotlib.figure import Figure

from hreach.drawing.saving import encoded
from hreach.files import write_bytes
from hreach.report.figures.compact import compact
from hreach.report.figures.frame import POINTS_PER_INCH
from hreach.report.figures.labels import LEADER_END, NAME, NAME_START

DRAWING = "figure_1"  # what matplotlib calls the whole drawing


def save(figure: Figure, folder: Path, name: str) -> str:
    """Write name.svg and name.png; return the SVG element, ready to be put into a page beside others.

    Every id carries a digest of the name: two figures in one page would otherwise draw with each other's shapes. Beside
    the same name.svg, name.png is the picture already; to make it takes longer than all the rest.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise ValueError(f"a figure's name may hold letters, digits, '-' and '_' only, not {name!r}")
    raw = encoded(figure, "svg", salt=name)
    # Hundreds of references repeat the prefix, so it is short.
    prefix = f"fig-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
    svg = _inlinable(raw.decode("utf-8"), prefix, str(figure.get_label()), _names(figure))
    folder.mkdir(parents=True, exist_ok=True)
    vectors, dots = folder / f"{name}.svg", folder / f"{name}.png"
    data = ('<?xml version="1.0" encoding="utf-8"?>\n' + svg).encode("utf-8")
    if not (dots.is_file() and vectors.is_file() and vectors.read_bytes() == data):
        write_bytes(dots, encoded(figure, "png", salt=name))
        write_bytes(vectors, data)
    return svg


def _names(figure: Figure) -> str:
    """Where the names of the lines and the samples beside them are: an attribute with x, y, width, height, or nothing.

    A narrow screen has no room for them beside the axes; the page then shows this part below.
    """
    names = [text for axes in figure.axes for text in axes.texts if text.get_label() == NAME]
    if not names:
        return ""
    boxes = [name.get_window_extent() for name in names]
    points = POINTS_PER_INCH / figure.dpi
    left = min(box.x0 for box in boxes) * points - (NAME_START - LEADER_END) - 2
    bottom, top = (min(box.y0 for box in boxes) * points - 3, max(box.y1 for box in boxes) * points + 3)
    width, height = (float(inches) * POINTS_PER_INCH for inches in figure.get_size_inches())
    return f'data-names="{left:.1f} {height - top:.1f} {width - left:.1f} {top - bottom:.1f}" '


def _inlinable(svg: str, prefix: str, spoken: str, names: str) -> str:
    """Turn matplotlib's file into an element that keeps its ids to itself and brings no style sheet."""
    svg = re.sub(r"<!--.*?-->\n?", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", compact(svg, DRAWING))
    return svg.replace("<svg ", f'<svg id="{prefix}" role="img" aria-label="{escape(spoken)}" {names}', 1)
