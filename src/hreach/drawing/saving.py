"""Figures as files: the same figure gives the same bytes."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.figure import Figure

from hreach.drawing.canvas import own_style
from hreach.files import write_whole

_SAVED_DPI = 150
# What would tell the time or the version of matplotlib, by format.
_LEFT_OUT = {"png": ("Software",), "svg": ("Date", "Creator", "Format", "Type"), "pdf": ("CreationDate", "Creator")}


def encoded(figure: Figure, form: str, salt: str = "hreach") -> bytes:
    """The figure in a format of matplotlib's, such as "png"."""
    buffer = io.BytesIO()
    without = dict.fromkeys(_LEFT_OUT[form]) if form in _LEFT_OUT else None
    with own_style(salt):
        figure.savefig(buffer, format=form, dpi=_SAVED_DPI, metadata=without)
    return buffer.getvalue()


def save_as(figure: Figure, path: str | Path) -> None:
    """Write the figure in the format of the name's ending (without one: PNG), whole or not at all."""
    path = Path(path)
    write_whole(path, encoded(figure, path.suffix.lstrip(".").lower() or "png"))
