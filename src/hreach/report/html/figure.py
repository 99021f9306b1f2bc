"""A figure as HTML: the drawing, which needs no script, the numbers from which a script draws it anew, its files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

NARROW_TEXT = 1.3  # of the names below a plot: how much larger than beside it


@dataclass(frozen=True)
class FigureShown:
    """Caption, SVG from `figures.save`, numbers from `figures.as_json` ("": a picture only), and links to its files."""

    caption: str
    svg: str
    numbers: str = ""
    files: Sequence[str] = ()


def figure_files(name: str) -> list[str]:
    """What `figures.save` writes into the folder of figures, seen from the page."""
    return [f"figures/{name}.{ending}" for ending in ("svg", "png")]


def figure(shown: FigureShown) -> str:
    """The figure; a script finds it by its numbers."""
    plot, names = _beside_and_below(shown.svg)
    numbers = f'<script type="application/json">{shown.numbers}</script>\n' if shown.numbers else ""
    links = ", ".join(link(file, file.rsplit(".", 1)[-1].upper()) for file in shown.files)
    files = f' <span class="files">As {links}.</span>' if links else ""
    words = escape(shown.caption).replace(" %", "\u00a0%")  # 10 and its % stay on one line
    caption = f"<figcaption>{words}{files}</figcaption>"
    return f'<figure>\n<div class="still">{plot}{names}</div>\n{numbers}{caption}\n</figure>'


def link(target: str, words: str) -> str:
    """A link to a file beside the page."""
    # Quoting also takes the colon, so that the link stays a relative one.
    return f'<a href="{escape(quote(target))}">{escape(words)}</a>'


def _beside_and_below(svg: str) -> tuple[str, str]:
    """(the plot, the names of its lines once more): a narrow screen shows the plot without them, and them below it.

    The second drawing is the same shapes seen through another window, so it costs a line and cannot differ. The plot's
    own width is the one at which the names lie outside its frame; wide screens overrule it.
    """
    root = svg[: svg.index(">")]
    found = re.search(r'id="([^"]+)"[^>]*? data-names="([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)"', root)
    if found is None:
        return f'<div class="plot">{svg}</div>', ""
    name, left, top, width, height = found.groups()
    shown = 100 * (float(left) + float(width)) / float(left)
    wider = re.sub(r' width="[^"]*" height="[^"]*"', f' width="{shown:.1f}%"', root) + svg[len(root) :]
    below = (
        f'\n<svg class="names" aria-hidden="true" viewBox="{left} {top} {width} {height}" '
        f'width="{NARROW_TEXT * float(width):.0f}"><use href="#{name}-figure_1"/></svg>'
    )
    return f'<div class="plot beside">{wider}</div>', below
