"""One self-contained page: figures, our numbers beside the printed ones, and how they were made."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

AS_PRINTED, AS_DEFINED = "as printed", "as defined"
REPRODUCED, NOT_REPRODUCED, UNDECIDED = "reproduced", "not reproduced", "undecided"
CONTENTS, PROVENANCE = "contents", "provenance"
VERDICTS = {REPRODUCED: ("yes", "✓"), NOT_REPRODUCED: ("no", "✗"), UNDECIDED: ("none", "?")}
GROUP_TITLES = {
    AS_PRINTED: "As printed: the paper’s run, slips included",
    AS_DEFINED: "As defined: the constants the definitions ask for",
}


@dataclass(frozen=True)
class Row:
    """One algorithm in one variant: what we measured and, where the paper has it, what it printed."""

    algorithm: str
    variant: str
    mean: float
    p10: float
    p90: float
    se: float
    runs: int
    printed_mean: float | None
    printed_p10: float | None
    printed_p90: float | None
    verdict: str
    note: str


@dataclass(frozen=True)
class Section:
    """One experiment: text, figures as (caption, SVG from `figures.save`), and the table."""

    anchor: str
    title: str
    text: str
    figures: Sequence[tuple[str, str]]
    rows: Sequence[Row]
    csv: str | None


def render(title: str, lead: str, sections: Sequence[Section], provenance: Mapping[str, str]) -> str:
    """Lay out the whole page: what came out at the top, the evidence below, the provenance at the end."""
    _check_anchors(sections)
    body = [
        f"<header>\n<h1>{escape(title)}</h1>\n{_paragraphs(lead, 'lead')}</header>",
        _contents(sections),
        *(_section(section) for section in sections),
        _provenance(provenance),
    ]
    return _PAGE.format(title=escape(title), css=_CSS, body="\n".join(body))


def write(path: Path, text: str) -> None:
    """Write a text file in one stroke: a reader sees the old file or the new one, never a half."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write to a temporary name in the same folder, then rename, which is atomic within a file system."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def summary(rows: Iterable[Row]) -> str:
    """Say in one sentence how much of what the paper printed came out again, naming what did not."""
    compared = [row for row in rows if row.variant == AS_PRINTED and row.printed_mean is not None]
    if not compared:
        return ""
    good = sum(row.verdict == REPRODUCED for row in compared)
    noun = "row" if len(compared) == 1 else "rows"
    tail = ""
    for word in (NOT_REPRODUCED, UNDECIDED):
        if missed := [row.algorithm for row in compared if row.verdict == word]:
            tail += f"; {word}: {', '.join(missed)}"
    return f"{good} of {len(compared)} printed {noun} reproduced{tail}."


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
        f'<li><a href="#{escape(s.anchor)}">{escape(s.title)}</a> <span>{escape(summary(s.rows))}</span></li>'
        for s in sections
    ]
    items.append(f'<li><a href="#{PROVENANCE}">Provenance</a> <span>How these numbers were made.</span></li>')
    inside = "\n".join(items)
    return f'<nav id="{CONTENTS}" aria-label="Contents">\n<ol>\n{inside}\n</ol>\n</nav>'


def _section(section: Section) -> str:
    """Show one experiment: text, then figures, then the table they summarise."""
    parts = [
        f'<section id="{escape(section.anchor)}">',
        f"<h2>{escape(section.title)}</h2>",
        _paragraphs(section.text),
        *(_figure(caption, svg) for caption, svg in section.figures),
    ]
    if section.rows:
        parts.append(_table(section))
    if section.csv is not None:
        # Quoting also takes the colon, so that the link stays a relative one.
        parts.append(f'<p class="csv"><a href="{escape(quote(section.csv))}">This table as CSV</a></p>')
    return "\n".join([*parts, "</section>"])


def _figure(caption: str, svg: str) -> str:
    return f'<figure>\n<div class="plot">{svg}</div>\n<figcaption>{escape(caption)}</figcaption>\n</figure>'


def _table(section: Section) -> str:
    """Put our numbers beside the printed ones, the paper's own run first; without print, ours alone."""
    printed = any(row.printed_mean is not None for row in section.rows)
    variants = dict.fromkeys([AS_PRINTED, AS_DEFINED, *(row.variant for row in section.rows)])
    groups = [_group(v, [row for row in section.rows if row.variant == v], printed) for v in variants]
    name = escape(f"Table: {section.title}")
    ours = "Ours" if printed else "Mean"
    legend = "✓ reproduced, ✗ not reproduced, ? too few runs to tell, – not compared." if printed else ""
    compared = (
        '<th scope="col" class="n">Printed</th><th scope="col"><span class="verdict">Verdict</span></th>'
        if printed
        else ""
    )
    return (
        f'<div class="scroll" role="region" aria-label="{name}" tabindex="0">\n<table>\n'
        f"<caption><span>Average reward per step: mean over runs [10 %, 90 %]. {legend}</span></caption>\n"
        f'<thead><tr><th scope="col">Algorithm</th><th scope="col" class="n">{ours}</th>{compared}'
        '<th scope="col" class="n"><abbr title="standard error of our mean">s.e.</abbr></th>'
        '<th scope="col" class="n">Runs</th></tr></thead>\n' + "".join(groups) + "</table>\n</div>"
    )


def _group(variant: str, rows: Sequence[Row], printed: bool) -> str:
    if not rows:
        return ""
    title = escape(GROUP_TITLES.get(variant, variant))
    span = 6 if printed else 4
    head = f'<tr class="group"><th scope="rowgroup" colspan="{span}"><span>{title}</span></th></tr>\n' if title else ""
    return f"<tbody>\n{head}" + "".join(_row(row, printed) for row in rows) + "</tbody>\n"


def _row(row: Row, printed: bool) -> str:
    note = f" <small>{escape(row.note)}</small>" if row.note else ""
    compared = (
        f'<td class="n">{_estimate(row.printed_mean, row.printed_p10, row.printed_p90)}</td>'
        f"<td>{_verdict(row.verdict)}</td>"
    )
    return (
        f'<tr><th scope="row">{escape(row.algorithm)}{note}</th>'
        f'<td class="n">{_estimate(row.mean, row.p10, row.p90)}</td>{compared if printed else ""}'
        f'<td class="n">{_number(row.se, 4)}</td><td class="n">{row.runs}</td></tr>\n'
    )


def _number(value: float | None, places: int = 3) -> str:
    """Write a number as the paper does (.357), with a true minus sign and never a negative zero."""
    if value is None or not math.isfinite(value):
        return "–"
    digits = f"{abs(value):.{places}f}"
    minus = "−" if value < 0 and float(digits) > 0 else ""
    return minus + digits.removeprefix("0")


def _estimate(mean: float | None, low: float | None, high: float | None) -> str:
    """Write `mean [p10, p90]`; a narrow table may break the line only before the bracket."""
    if mean is None:
        return _number(None)
    if low is None and high is None:
        return f"<b>{_number(mean)}</b>"
    return f"<b>{_number(mean)}</b> <span>[{_number(low)}, {_number(high)}]</span>"


def _verdict(verdict: str) -> str:
    """Show a verdict by symbol, word and colour, so that no reader depends on the colour."""
    css, symbol = VERDICTS.get(verdict, ("none", "–"))
    word = f"<i>{escape(verdict)}</i>" if verdict else '<i class="heard">not compared</i>'
    return f'<span class="verdict {css}"><span aria-hidden="true">{symbol}</span> {word}</span>'


def _provenance(provenance: Mapping[str, str]) -> str:
    """List what one needs to make these numbers again."""
    items = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>\n" for k, v in provenance.items())
    inside = f"<dl>\n{items}</dl>" if items else "<p>Nothing was recorded.</p>"
    return f'<section id="{PROVENANCE}">\n<h2>Provenance</h2>\n{inside}\n</section>'


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

_CSS = """\
:root { --ink: #1d2329; --soft: #5a646e; --rule: #d9dde1; --paper: #fdfdfc; --tint: #f3f5f6;
  --link: #0b5c94; --yes: #12683f; --no: #a8371a; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 3.5rem 1rem 5rem; overflow-wrap: break-word; }
h1, h2 { line-height: 1.2; font-weight: 650; letter-spacing: -.012em; text-wrap: balance; }
h1 { font-size: clamp(1.6rem, 1.2rem + 2vw, 2.4rem); margin: 0 0 1rem; }
h2 { font-size: 1.45rem; margin: 0 0 1rem; padding-top: 1.5rem; border-top: 1px solid var(--rule); }
p { max-width: 42rem; margin: 0 0 1rem; }
.lead { font-size: 1.12rem; color: var(--soft); }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: .18em; }
section { margin-top: 3.5rem; }
nav { margin: 2rem 0 0; padding: 1rem 1.25rem; background: var(--tint); border-radius: .5rem; }
nav ol { margin: 0; padding-left: 1.4rem; }
nav li { padding: .2rem 0; }
nav a { font-weight: 600; margin-right: .4rem; }
figure { margin: 1.75rem 0; max-width: 60rem; }
.plot { background: #fff; border: 1px solid var(--rule); border-radius: .5rem; padding: .75rem; }
.plot svg { display: block; width: 100%; height: auto; }
figcaption { margin-top: .6rem; max-width: 42rem; font-size: .9rem; line-height: 1.5; color: var(--soft); }
.scroll { overflow-x: auto; max-width: 60rem; margin: 1.75rem 0 .75rem; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; line-height: 1.4;
  font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; padding-bottom: .6rem; font-size: .9rem; color: var(--soft); }
th, td { padding: .42rem 1.1rem .42rem 0; text-align: left; vertical-align: baseline; font-weight: 400; }
tr > :last-child { padding-right: 0; }
thead th { font-weight: 600; border-bottom: 2px solid var(--ink); white-space: nowrap; }
tbody tr { border-bottom: 1px solid var(--rule); }
tbody .group th { padding-top: 1.3rem; font-weight: 600; color: var(--soft); }
th small { display: block; max-width: 20rem; font-size: .8rem; color: var(--soft); }
.n { text-align: right; }
td b { font-weight: 600; }
td span { white-space: nowrap; }
abbr { text-decoration: none; }
.yes { color: var(--yes); } .no { color: var(--no); font-weight: 600; } .none { color: var(--soft); }
.verdict { position: relative; padding-left: .6rem; } .verdict i { font-style: normal; }
.verdict .heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
caption span, .group span { display: inline-block; position: sticky; left: 0; max-width: calc(100vw - 2rem); }
.csv { font-size: .9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1.5rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; white-space: pre-line; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ea; --soft: #a0a9b2; --rule: #353c43; --paper: #15181b; --tint: #1e2327;
    --link: #7dbcec; --yes: #6fcf97; --no: #ff9a7a; }
}
@media (max-width: 40rem) {
  main { padding-top: 2rem; }
  nav span { display: block; }
  .plot { padding: .25rem; margin: 0 -.5rem; }
  table { font-size: .82rem; }
  th, td { padding-right: .4rem; }
  td b + span { display: block; }
  .verdict { padding-left: 0; }
  .verdict i { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .6rem; }
}
@page { size: A4; margin: 18mm 16mm; }
@media print {
  html { font-size: 10pt; } body { background: #fff; }
  main { max-width: none; padding: 0; }
  section { margin-top: 1.5rem; }
  .scroll { overflow: visible; }
  .plot { border: 0; padding: 0; }
  h2, thead, .group, caption { break-after: avoid; }
  figure, tr, nav, dl { break-inside: avoid; }
  a { color: inherit; text-decoration: none; }
}
"""
