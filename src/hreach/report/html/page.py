"""One self-contained page: figures, our numbers beside the printed ones, and how they were made."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from urllib.parse import quote

from hreach.report.html.claims import claim_lists
from hreach.report.html.table import Rows, table
from hreach.report.rows import PromiseRow, Row
from hreach.report.verdicts import ClaimShown, claims_summary, promises_summary, summary

CONTENTS, PROVENANCE = "contents", "provenance"
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{css}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


@dataclass(frozen=True)
class Section:
    """One experiment: text, figures as (caption, SVG from `figures.save`), claims, and the table."""

    anchor: str
    title: str
    text: str
    figures: Sequence[tuple[str, str]]
    rows: Rows
    csv: str | None
    claims: Sequence[ClaimShown] = ()
    claims_csv: str | None = None


def render(title: str, lead: str, sections: Sequence[Section], provenance: Mapping[str, str]) -> str:
    """Lay out the whole page: what came out at the top, the evidence below, the provenance at the end."""
    _check_anchors(sections)
    body = [
        f"<header>\n<h1>{escape(title)}</h1>\n{_paragraphs(lead, 'lead')}</header>",
        _contents(sections),
        *(_section(section) for section in sections),
        _provenance(provenance),
    ]
    css = files("hreach.report.html").joinpath("page.css").read_text("utf-8")
    return _PAGE.format(title=escape(title), css=css, body="\n".join(body))


def _check_anchors(sections: Sequence[Section]) -> None:
    """Refuse anchors that would make a link lead nowhere or to the wrong place."""
    counts = Counter([CONTENTS, PROVENANCE, *(section.anchor for section in sections)])
    for section in sections:
        # "fig-" belongs to the ids inside the figures.
        if not re.fullmatch(r"(?!fig-)[A-Za-z0-9_.-]+", section.anchor):
            raise ValueError(f"not usable as an anchor: {section.anchor!r}")
        if counts[section.anchor] > 1:
            raise ValueError(f"anchor used twice: {section.anchor!r}")


def _paragraphs(text: str, css: str = "") -> str:
    """Turn plain text into paragraphs; a blank line starts a new one."""
    start = f'<p class="{css}">' if css else "<p>"
    parts = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    return "".join(f"{start}{escape(part)}</p>\n" for part in parts)


def _contents(sections: Sequence[Section]) -> str:
    """List the sections, each with its result, so that the top of the page already answers the question."""
    items = [
        f'<li><a href="#{escape(s.anchor)}">{escape(s.title)}</a> <span>{escape(_result(s))}</span></li>'
        for s in sections
    ]
    items.append(f'<li><a href="#{PROVENANCE}">Provenance</a> <span>How these numbers were made.</span></li>')
    inside = "\n".join(items)
    return f'<nav id="{CONTENTS}" aria-label="Contents">\n<ol>\n{inside}\n</ol>\n</nav>'


def _result(section: Section) -> str:
    """What came out, in one sentence."""
    promises = promises_summary([row for row in section.rows if isinstance(row, PromiseRow)])
    return promises or claims_summary(section.claims) or summary(row for row in section.rows if isinstance(row, Row))


def _section(section: Section) -> str:
    """Show one experiment: text, then figures, then what they say about the claims, then the table they summarise."""
    parts = [
        f'<section id="{escape(section.anchor)}">',
        f"<h2>{escape(section.title)}</h2>",
        _paragraphs(section.text),
        *(_figure(caption, svg) for caption, svg in section.figures),
    ]
    if section.claims:
        parts.append(claim_lists(section.claims))
    if section.claims_csv is not None:
        parts.append(_link(section.claims_csv, "Every comparison as CSV"))
    if section.rows:
        parts.append(table(section.title, section.rows))
    if section.csv is not None:
        parts.append(_link(section.csv, "This table as CSV"))
    return "\n".join([*parts, "</section>"])


def _link(target: str, words: str) -> str:
    # Quoting also takes the colon, so that the link stays a relative one.
    return f'<p class="csv"><a href="{escape(quote(target))}">{words}</a></p>'


def _figure(caption: str, svg: str) -> str:
    plot, names = _beside_and_below(svg)
    return f"<figure>\n{plot}{names}\n<figcaption>{escape(caption)}</figcaption>\n</figure>"


def _beside_and_below(svg: str) -> tuple[str, str]:
    """(the plot, the names of its lines once more): a narrow screen shows the plot without them, and them below it.

    The second drawing is the same shapes seen through another window, so it costs a line and cannot differ.
    """
    found = re.search(r'id="([^"]+)"[^>]*? data-names="([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)"', svg[: svg.index(">")])
    if found is None:
        return f'<div class="plot">{svg}</div>', ""
    name, left, top, width, height = found.groups()
    shown = (float(left) + float(width)) / float(left)
    below = (
        f'\n<svg class="names" aria-hidden="true" viewBox="{left} {top} {width} {height}" '
        f'style="width: {1.3 * float(width):.0f}px"><use href="#{name}-figure_1"/></svg>'
    )
    return f'<div class="plot beside" style="--shown: {shown:.3f}">{svg}</div>', below


def _provenance(provenance: Mapping[str, str]) -> str:
    """List what one needs to make these numbers again."""
    items = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>\n" for k, v in provenance.items())
    inside = f"<dl>\n{items}</dl>" if items else "<p>Nothing was recorded.</p>"
    return f'<section id="{PROVENANCE}">\n<h2>Provenance</h2>\n{inside}\n</section>'
