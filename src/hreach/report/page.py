"""One self-contained page: figures, our numbers beside the printed ones, and how they were made."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hreach.files import whole_file

AS_PRINTED, AS_DEFINED = "as printed", "as defined"
REPRODUCED, NOT_REPRODUCED, UNDECIDED = "reproduced", "not reproduced", "undecided"
CONTENTS, PROVENANCE = "contents", "provenance"
HOLDS, FAILS, CANNOT_FAIL = "holds", "does not hold", "cannot fail"
VERDICTS = {REPRODUCED: ("yes", "✓"), NOT_REPRODUCED: ("no", "✗"), UNDECIDED: ("none", "?")}
VERDICTS |= {HOLDS: ("yes", "✓"), FAILS: ("no", "✗"), CANNOT_FAIL: ("none", "○")}
GROUP_TITLES = {
    AS_PRINTED: "As printed: settings chosen for this problem, slips included",
    AS_DEFINED: "As defined: the constants the definitions ask for",
}


@dataclass(frozen=True)
class Row:
    """One algorithm in one variant: what we measured and, where the paper has it, what it printed.

    `informative` says whether the printed numbers tell the setting from most of those around it (None: not printed).
    """

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
    informative: bool | None = None


@dataclass(frozen=True)
class EpisodeRow:
    """One algorithm in one variant of a study by episodes; every mean is over runs, as are the 10 % and 90 %.

    total, last10   mean total reward of a run's episodes, and of its last ten
    goals           episodes of a run that terminated
    plain           mean total reward of the final episodes without exploration, if there were any
    """

    algorithm: str
    variant: str
    total: float
    total_p10: float
    total_p90: float
    last10: float
    last10_p10: float
    last10_p90: float
    goals: float
    goals_fewest: int
    goals_most: int
    plain: float | None
    plain_p10: float | None
    plain_p90: float | None
    runs: int
    note: str


@dataclass(frozen=True)
class PromiseRow:
    """One algorithm in one study: what was measured, as (median, least, most) of the runs, and what was promised.

    bad_steps, exploring_steps   of a run's `steps`, and their bounds by Theorem 1 and Corollary 2
    anytime_error                at the last step, and its bound, which says nothing unless it is below `largest`
    exploration_over             the step from which on no step explores explicitly; infinite if the last one does
    lemma_1_violations           in all runs together
    kept                         whether no promise was broken; None where nothing was promised
    why                          why Theorem 1's bound says nothing, "" if it does
    """

    algorithm: str
    variant: str
    study: str
    eps: float
    delta: float
    h: int
    runs: int
    steps: int
    bad_steps: tuple[float, float, float]
    bad_steps_bound: float | None
    anytime_error: tuple[float, float, float]
    anytime_error_bound: float | None
    largest: float
    exploring_steps: tuple[float, float, float]
    exploring_steps_bound: float | None
    exploration_over: tuple[float, float, float]
    lemma_1_violations: int
    kept: bool | None
    why: str
    note: str


@dataclass(frozen=True)
class Outcome:
    """What the data of one variant say about a claim: the verdict and the numbers behind it."""

    variant: str
    verdict: str
    evidence: str


@dataclass(frozen=True)
class ClaimShown:
    """A claim, where the paper makes it ("": it is ours), what decides it, and what came out in each variant."""

    text: str
    source: str
    rule: str
    outcomes: Sequence[Outcome]


@dataclass(frozen=True)
class Section:
    """One experiment: text, figures as (caption, SVG from `figures.save`), claims, and the table."""

    anchor: str
    title: str
    text: str
    figures: Sequence[tuple[str, str]]
    rows: Sequence[Row] | Sequence[EpisodeRow] | Sequence[PromiseRow]
    csv: str | None
    claims: Sequence[ClaimShown] = ()
    claims_csv: str | None = None


@dataclass(frozen=True)
class _Column:
    """A column of a table: its head, and the cell of a row, both as HTML."""

    head: str
    cell: Callable[[Any], str]
    css: str = "n"


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
    """Write a file in one stroke."""
    with whole_file(path) as temporary:
        temporary.write_bytes(data)


def summary(rows: Iterable[Row]) -> str:
    """Say in one sentence how much of what the paper printed came out again, naming what did not."""
    compared = [row for row in rows if row.printed_mean is not None]
    fitted, defined = ([row for row in compared if row.variant == v] for v in (AS_PRINTED, AS_DEFINED))
    if not fitted:
        return ""
    noun = "row" if len(fitted) == 1 else "rows"
    tail = ""
    for word in (NOT_REPRODUCED, UNDECIDED):
        if missed := [row.algorithm for row in fitted if row.verdict == word]:
            tail += f"; {word}: {', '.join(missed)}"
    if defined:
        tail += f"; as defined: {_share_reproduced(defined)}"
    return f"{_share_reproduced(fitted, f'printed {noun} reproduced by chosen settings')}{tail}."


def _share_reproduced(rows: Sequence[Row], words: str = "") -> str:
    """How many of the rows came out, and of those that are informative."""
    counts = [(sum(r.verdict == REPRODUCED for r in some), len(some)) for some in (rows, _informative(rows))]
    told = f"{counts[1][0]} of the {counts[1][1]} informative" if counts[1][1] else ""
    return f"{counts[0][0]} of {counts[0][1]} {words}".rstrip() + (f" ({told})" if told else "")


def _informative(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.informative]


def claims_summary(claims: Sequence[ClaimShown]) -> str:
    """Say in one sentence for each variant how many claims of the paper, and of ours, hold, do not, or are open."""
    verdicts: dict[str, dict[str, Counter[str]]] = {}
    for claim in claims:
        whose = "claims of the paper" if claim.source else "of ours"
        for outcome in claim.outcomes:
            verdicts.setdefault(outcome.variant, {}).setdefault(whose, Counter())[outcome.verdict] += 1
    sentences = []
    for variant, parties in verdicts.items():
        counted = ", ".join(_counted(whose, counts) for whose, counts in parties.items())
        sentences.append(f"{variant}: {counted}" if variant else counted)
    return "; ".join(sentences) + "." if sentences else ""


def _counted(whose: str, counts: Counter[str]) -> str:
    others = (FAILS, UNDECIDED, CANNOT_FAIL)
    tail = "".join(f", {counts[word]} {_plural(word, counts[word])}" for word in others if counts[word])
    return f"{counts[HOLDS]} of {counts.total()} {whose} {_plural(HOLDS, counts[HOLDS])}{tail}"


def promises_summary(rows: Sequence[PromiseRow]) -> str:
    """Say in one sentence whether what was promised was kept, and whether it said anything."""
    if not rows:
        return ""
    broken = [f"{row.algorithm} ({row.study})" for row in rows if row.kept is False]
    if broken:
        return f"Not every promise was kept: {', '.join(broken)}."
    if all(row.kept is None for row in rows):
        return "No promise was broken; none of them says anything about so few steps."
    return "Every promise was kept."


def _plural(verdict: str, count: int) -> str:
    return verdict if count == 1 else {HOLDS: "hold", FAILS: "do not hold"}.get(verdict, verdict)


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
        parts.append(_claims(section.claims))
    if section.claims_csv is not None:
        parts.append(_link(section.claims_csv, "Every comparison as CSV"))
    if section.rows:
        parts.append(_table(section))
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


def _claims(claims: Sequence[ClaimShown]) -> str:
    """What the paper says, then what we say."""
    lists = (
        ("What the paper says, and what the data say", [claim for claim in claims if claim.source]),
        ("What we say, not the paper", [claim for claim in claims if not claim.source]),
    )
    return "\n".join(_claim_list(title, some) for title, some in lists if some)


def _claim_list(title: str, claims: Sequence[ClaimShown]) -> str:
    """Each claim, what decides it, and the verdict of each variant."""
    items = [
        f"<li>{_said(claim)}\n"
        f"<small>{escape(claim.rule)}</small>\n<ul>\n{''.join(_outcome(o) for o in claim.outcomes)}</ul></li>"
        for claim in claims
    ]
    inside = "\n".join(items)
    return f'<h3>{title}</h3>\n<ol class="claims">\n{inside}\n</ol>'


def _said(claim: ClaimShown) -> str:
    """The paper's words in quotation marks, with their place; ours without."""
    if not claim.source:
        return f"<b>{escape(claim.text)}</b>"
    return f"<q>{escape(claim.text)}</q> <small>{escape(claim.source)}</small>"


def _outcome(outcome: Outcome) -> str:
    variant = f"{escape(outcome.variant)}: " if outcome.variant else ""
    return f"<li>{variant}{_verdict(outcome.verdict)}; <span>{escape(outcome.evidence)}</span></li>\n"


def _table(section: Section) -> str:
    """All rows, those of one variant together, the paper's own run first."""
    kinds = {EpisodeRow: _episode_columns, PromiseRow: _promise_columns}
    caption, columns = kinds.get(type(section.rows[0]), _step_columns)(section.rows)
    variants = dict.fromkeys([AS_PRINTED, AS_DEFINED, *(row.variant for row in section.rows)])
    groups = [_group(v, [row for row in section.rows if row.variant == v], columns) for v in variants]
    name = escape(f"Table: {section.title}")
    heads = "".join(f'<th scope="col"{_css(column)}>{column.head}</th>' for column in columns)
    return (
        f'<div class="scroll" role="region" aria-label="{name}" tabindex="0">\n<table>\n'
        f"<caption><span>{caption}</span></caption>\n"
        f'<thead><tr><th scope="col">Algorithm</th>{heads}</tr></thead>\n' + "".join(groups) + "</table>\n</div>"
    )


def _step_columns(rows: Sequence[Any]) -> tuple[str, list[_Column]]:
    """(caption, columns): our numbers beside the printed ones; without print, ours alone."""
    printed = any(row.printed_mean is not None for row in rows)
    legend = (
        "✓ reproduced, ✗ not reproduced, ? too few runs to tell, – not compared. "
        "Informative: the print excludes most of the settings around the one that was run."
    )
    compared = [
        _Column("Printed", lambda row: _estimate(row.printed_mean, row.printed_p10, row.printed_p90)),
        _Column('<span class="verdict">Verdict</span>', lambda row: _verdict(row.verdict), css=""),
    ]
    columns = [
        _Column("Ours" if printed else "Mean", lambda row: _estimate(row.mean, row.p10, row.p90)),
        *(compared if printed else []),
        _Column('<abbr title="standard error of our mean">s.e.</abbr>', lambda row: _number(row.se, 4)),
        _Column("Runs", lambda row: str(row.runs)),
    ]
    return "Average reward per step: mean over runs [10 %, 90 %]. " + (legend if printed else ""), columns


def _episode_columns(rows: Sequence[Any]) -> tuple[str, list[_Column]]:
    """(caption, columns): totals; goals where there are any, final episodes where there were any."""
    goals = any(row.goals_most > 0 for row in rows)
    plain = any(row.plain is not None for row in rows)
    caption = "Total reward of an episode: mean over runs [10 %, 90 % of runs]."
    columns = [
        _Column("All episodes", lambda row: _estimate(row.total, row.total_p10, row.total_p90, total)),
        _Column("Last ten", lambda row: _estimate(row.last10, row.last10_p10, row.last10_p90, total)),
    ]
    if goals:
        caption += " Goals: episodes of a run that reached the goal, fewest to most of the runs."
        columns.append(_Column("Goals", lambda row: _span(row.goals_fewest, row.goals_most)))
    if plain:
        caption += " Plain: episodes after the last one, acting on the learnt model as it is."
        columns.append(_Column("Plain", lambda row: _estimate(row.plain, row.plain_p10, row.plain_p90, total)))
    return caption, [*columns, _Column("Runs", lambda row: str(row.runs))]


def _promise_columns(rows: Sequence[Any]) -> tuple[str, list[_Column]]:
    """(caption, columns): what was measured, each number followed by its bound."""
    caption = "Median of the runs [least, most]." if any(row.runs > 1 for row in rows) else "One run each."
    caption += (
        " ε-bad steps: counted at checkpoints, each standing for the steps to the next; bounded by Theorem 1."
        " Error: the anytime error at the last step. Exploring: steps of explicit exploration; over: the step from"
        " which on there are none. A bound says nothing unless it is below the worst that is possible: all steps of a"
        " run, or an error as large as the largest value."
    )
    return caption, [
        _Column("h", lambda row: str(row.h)),
        _Column("ε-bad steps", lambda row: _middle(row.bad_steps)),
        _Column("Bound", lambda row: _promised(row.bad_steps_bound, row.steps)),
        _Column("Error", lambda row: _middle(row.anytime_error, _hundredths)),
        _Column("Bound", lambda row: _promised(row.anytime_error_bound, row.largest)),
        _Column("Exploring", lambda row: _middle(row.exploring_steps)),
        _Column("Over", lambda row: _middle(row.exploration_over, _step)),
        _Column("Lemma 1", _violations),
    ]


def _middle(values: Sequence[float], written: Callable[[float | None], str] | None = None) -> str:
    """Write `median [least, most]`; runs that agree have no range."""
    median, low, high = values
    if low == high:
        return _estimate(median, None, None, written or total)
    return _estimate(median, low, high, written or total)


def _promised(bound: float | None, limit: float) -> str:
    """A bound; from the limit on it says nothing."""
    if bound is None:
        return "<small>nothing promised</small>"
    return total(bound) + (" <small>says nothing</small>" if bound >= limit else "")


def _hundredths(value: float | None) -> str:
    return _number(value, 2)


def _step(value: float | None) -> str:
    return "never" if value is not None and math.isinf(value) else total(value)


def _violations(row: PromiseRow) -> str:
    return f"violated {row.lemma_1_violations} times" if row.lemma_1_violations else "holds"


def _css(column: _Column) -> str:
    return f' class="{column.css}"' if column.css else ""


def _group(variant: str, rows: Sequence[Any], columns: Sequence[_Column]) -> str:
    if not rows:
        return ""
    title = escape(GROUP_TITLES.get(variant, variant))
    span = len(columns) + 1
    head = f'<tr class="group"><th scope="rowgroup" colspan="{span}"><span>{title}</span></th></tr>\n' if title else ""
    return f"<tbody>\n{head}" + "".join(_row(row, columns) for row in rows) + "</tbody>\n"


def _row(row: Any, columns: Sequence[_Column]) -> str:
    note = f" <small>{escape(row.note)}</small>" if row.note else ""
    cells = "".join(f"<td{_css(column)}>{column.cell(row)}</td>" for column in columns)
    return f'<tr><th scope="row">{escape(row.algorithm)}{note}</th>{cells}</tr>\n'


def _number(value: float | None, places: int = 3) -> str:
    """Write a number as the paper does (.357), with a true minus sign and never a negative zero."""
    if value is None or not math.isfinite(value):
        return "–"
    digits = f"{abs(value):.{places}f}"
    minus = "−" if value < 0 and float(digits) > 0 else ""
    return minus + digits.removeprefix("0")


def total(value: float | None) -> str:
    """Write a total reward of any size: −1783, −124.3, 1.51e11."""
    if value is None or not math.isfinite(value):
        return "–"
    size = abs(value)
    digits = f"{size:.2e}".replace("e+", "e") if size >= 1e5 else f"{size:.0f}" if size >= 1e3 else f"{size:.4g}"
    minus = "−" if value < 0 and float(digits) > 0 else ""
    return minus + re.sub(r"e0*(?=\d)", "e", digits)


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


def _estimate(
    mean: float | None, low: float | None, high: float | None, written: Callable[[float | None], str] = _number
) -> str:
    """Write `mean [p10, p90]`; a narrow table may break the line only before the bracket."""
    if mean is None:
        return written(None)
    if low is None and high is None:
        return f"<b>{written(mean)}</b>"
    return f"<b>{written(mean)}</b> <span>[{written(low)}, {written(high)}]</span>"


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
.names { display: none; background: #fff; border-radius: .5rem; }
figcaption { margin-top: .6rem; max-width: 42rem; font-size: .9rem; line-height: 1.5; color: var(--soft); }
.scroll { overflow-x: auto; max-width: 60rem; margin: 1.75rem 0 .75rem; container-type: inline-size; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; line-height: 1.4;
  font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; padding-bottom: .6rem; font-size: .9rem; color: var(--soft); }
th, td { padding: .42rem 1.1rem .42rem 0; text-align: left; vertical-align: baseline; font-weight: 400; }
tr > :last-child { padding-right: 0; }
thead th { font-weight: 600; border-bottom: 2px solid var(--ink); white-space: nowrap; }
tbody tr { border-bottom: 1px solid var(--rule); }
tbody .group th { padding-top: 1.3rem; font-weight: 600; color: var(--soft); }
th small { display: block; max-width: 20rem; font-size: .8rem; color: var(--soft); }
td small { display: block; font-size: .8rem; color: var(--soft); }
.n { text-align: right; }
td b { font-weight: 600; }
td span { white-space: nowrap; }
abbr { text-decoration: none; }
.yes { color: var(--yes); } .no { color: var(--no); font-weight: 600; } .none { color: var(--soft); }
.verdict { position: relative; padding-left: .6rem; } .verdict i { font-style: normal; }
.verdict .heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
caption span, .group span { display: inline-block; position: sticky; left: 0; max-width: 100cqi; }
.csv { font-size: .9rem; }
h3 { font-size: 1.1rem; margin: 2rem 0 .75rem; }
.claims { max-width: 46rem; padding-left: 1.6rem; font-size: .93rem; }
.claims > li { margin: 0 0 1.1rem; } .claims q { font-weight: 600; }
.claims small { display: block; color: var(--soft); font-size: .82rem; line-height: 1.45; }
.claims ul { list-style: none; margin: .3rem 0 0; padding: 0; }
.claims .verdict { padding: 0; } .claims .verdict + span { color: var(--soft); }
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
  .plot { padding: .25rem; margin: 0 -.5rem; overflow-x: auto; }
  .plot svg { min-width: 34rem; }
  .beside { overflow-x: hidden; } .beside svg { min-width: 0; width: calc(100% * var(--shown)); }
  .names { display: block; max-width: 100%; margin: .5rem 0 0; }
  table { font-size: .82rem; }
  th, td { padding-right: .4rem; }
  td b + span { display: block; }
  .verdict { padding-left: 0; }
  td .verdict i { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
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
  figure, tr, nav, dl, .claims > li { break-inside: avoid; }
  a { color: inherit; text-decoration: none; }
}
"""
