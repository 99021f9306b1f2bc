"""One self-contained page: figures, our numbers beside the printed ones, and how they were made."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from hreach.report.html.claims import claim_lists
from hreach.report.html.figure import FigureShown, figure, link
from hreach.report.html.table import Rows, table
from hreach.report.rows import PromiseRow, Row
from hreach.report.verdicts import ClaimShown, claims_summary, promises_summary, summary

CONTENTS, PROVENANCE = "contents", "provenance"
# One script, in this order.
SCRIPTS = ("scales.js", "chart.js", "hovering.js", "zooming.js", "controls.js", "figures.js", "tables.js")
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{css}</style>
</head>
<body>
<main>
{body}
</main>
<script>{script}</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Section:
    """One experiment: text, figures, claims, and the table; `record` is a file with its settings and seeds."""

    anchor: str
    title: str
    text: str
    figures: Sequence[FigureShown]
    rows: Rows
    csv: str | None
    claims: Sequence[ClaimShown] = ()
    claims_csv: str | None = None
    record: str | None = None


def render(title: str, lead: str, sections: Sequence[Section], provenance: Mapping[str, str]) -> str:
    """Lay out the whole page: what came out at the top, the evidence below, the provenance at the end."""
    _check_anchors(sections)
    body = [
        f"<header>\n<h1>{escape(title)}</h1>\n{paragraphs(lead, 'lead')}</header>",
        _contents(sections),
        *(_section(section) for section in sections),
        provenance_list(provenance),
    ]
    return document(title, "\n".join(body))


def document(title: str, body: str) -> str:
    """A whole page with the style and the script of all pages; `body` is HTML, in which user text is escaped."""
    css, script = _text("page.css"), _script()
    policy = escape(_policy(css, script))
    return _PAGE.format(title=escape(title), policy=policy, css=css, body=body, script=script)


def _text(*place: str) -> str:
    """A file that comes with this package."""
    return files("hreach.report.html").joinpath(*place).read_text("utf-8")


def _script() -> str:
    """The script of every page; its names are its own."""
    parts = "\n".join(_text("script", name) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def _policy(css: str, script: str) -> str:
    """Nothing is loaded, and no style and no script but these is used, whatever a text of a study may contain."""
    allowed = {"script-src": _hash(script), "style-src": _hash(css), "img-src": "data:"}
    forbidden = ("default-src", "base-uri", "form-action")
    return "; ".join([*(f"{name} 'none'" for name in forbidden), *(f"{k} {v}" for k, v in allowed.items())])


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _check_anchors(sections: Sequence[Section]) -> None:
    """Refuse anchors that would make a link lead nowhere or to the wrong place."""
    counts = Counter([CONTENTS, PROVENANCE, *(section.anchor for section in sections)])
    for section in sections:
        # "fig-" belongs to the ids inside the figures.
        if not re.fullmatch(r"(?!fig-)[A-Za-z0-9_.-]+", section.anchor):
            raise ValueError(f"not usable as an anchor: {section.anchor!r}")
        if counts[section.anchor] > 1:
            raise ValueError(f"anchor used twice: {section.anchor!r}")


def paragraphs(text: str, css: str = "") -> str:
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
        paragraphs(section.text),
        *(figure(shown) for shown in section.figures),
    ]
    if section.claims:
        parts.append(claim_lists(section.claims))
    if section.claims_csv is not None:
        parts.append(_files(link(section.claims_csv, "Every comparison as CSV")))
    if section.rows:
        parts.append(table(section.title, section.rows))
    links = [(section.csv, "This table as CSV"), (section.record, "Settings and seeds as JSON")]
    if any(target is not None for target, _ in links):
        parts.append(_files(", ".join(link(target, words) for target, words in links if target is not None)))
    return "\n".join([*parts, "</section>"])


def _files(links: str) -> str:
    return f'<p class="csv">{links}</p>'


def provenance_list(provenance: Mapping[str, str]) -> str:
    """List what one needs to make these numbers again."""
    items = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>\n" for k, v in provenance.items())
    inside = f"<dl>\n{items}</dl>" if items else "<p>Nothing was recorded.</p>"
    return f'<section id="{PROVENANCE}">\n<h2>Provenance</h2>\n{inside}\n</section>'
