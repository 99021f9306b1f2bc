"""The page of an exploration: what was learnt, what it earned, where it was, what is certain, and the policy."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from html import escape

import numpy as np

import hreach
from hreach.exploring.exploring import Exploration
from hreach.exploring.spaces import written
from hreach.report.html.figure import FigureShown, figure, figure_files, link
from hreach.report.html.page import CONTENTS, PROVENANCE, document, paragraphs, provenance_list

MOST_ROWS = 200  # of the table on the page; the CSV has all
LEFT_OUT = "The {0} states that were visited most; policy.csv has all {1}."


def page(found: Exploration, summary: Mapping[str, object], pictures: Mapping[str, str]) -> str:
    """The whole page; `pictures` are SVG elements by name."""
    title = f"Exploring {found.source.label}"
    sections = {
        "reward": ("What it earned", _reward(pictures)),
        "explored": ("Where it was", _explored(found, pictures)),
        "certain": ("What is certain", _certain(found, pictures)),
        "policy": ("The policy", _policy(found)),
    }
    body = [
        f"<header>\n<h1>{escape(title)}</h1>\n{paragraphs(_lead(found), 'lead')}</header>",
        _contents({key: name for key, (name, _) in sections.items()}),
        *(f'<section id="{k}">\n<h2>{name}</h2>\n{inside}\n</section>' for k, (name, inside) in sections.items()),
        provenance_list(_provenance(found)),
    ]
    return document(title, "\n".join(body))


def _lead(found: Exploration) -> str:
    notes = "".join(f"\n\nNote: {note}." for note in found.notes)
    stopped = f"\n\nStopped: {found.run.stopped}" if found.run.stopped else ""
    return found.sentence() + stopped + notes


def _contents(names: Mapping[str, str]) -> str:
    items = "\n".join(f'<li><a href="#{key}">{name}</a></li>' for key, name in names.items())
    last = f'<li><a href="#{PROVENANCE}">Provenance</a></li>'
    return f'<nav id="{CONTENTS}" aria-label="Contents">\n<ol>\n{items}\n{last}\n</ol>\n</nav>'


def _picture(pictures: Mapping[str, str], name: str, caption: str) -> str:
    if name not in pictures:
        return ""
    return figure(FigureShown(caption, pictures[name], files=figure_files(name)))


def _reward(pictures: Mapping[str, str]) -> str:
    said = "What was paid while it explored, which costs; hreach play shows what the learnt policy earns by itself."
    return _picture(pictures, "reward", said) + f'<p class="csv">{link("rewards.csv", "Every episode as CSV")}</p>'


def _explored(found: Exploration, pictures: Mapping[str, str]) -> str:
    tally = found.tally
    tried = int((tally.tried > 0).sum())
    text = f"{len(found.states):,} states were met, and {tried:,} pairs of a state and an action were tried."
    drawn = _picture(pictures, "explored", "How often each place was left, on a logarithmic scale, and its value.")
    if not drawn:
        order = np.argsort(-tally.visits, kind="stable")
        spread = [order[min(int(x * len(order)), len(order) - 1)] for x in (0.0, 0.25, 0.5, 0.75, 1.0)]
        rows = [
            (written(found.states[s]), f"{tally.visits[s]:,}", str(int((tally.tried[s] > 0).sum()))) for s in spread
        ]
        drawn = _table(
            "From the state visited most to the one visited least", ("State", "Visits", "Actions tried"), rows
        )
    return paragraphs(text) + drawn


def _certain(found: Exploration, pictures: Mapping[str, str]) -> str:
    sure, said = found.certificate, found.certain()
    if sure is None or said is None:
        return paragraphs("There are too many states for a certificate.")
    name = written(found.states[sure.state])
    said_of = f"In state {name}, where the first episode began."
    if not found.range_kept:
        said_of += " Each moment takes the rewards to lie in the range that was known by then."
    drawn = _picture(pictures, "certificate", said_of)
    held = [
        (written(found.states[each.state]), found.actions[each.action], f"{each.n:,}", f"{each.share:.0%}")
        for each in sure.limits[:8]
    ]
    table = _table("What holds the lower value down", ("State", "Action", "Tried", "Share"), held) if held else ""
    lines = [*(f"assumes: {line}" for line in sure.assumes), *(f"note: {line}" for line in sure.notes)]
    listed = "<ul>\n" + "".join(f"<li>{escape(line)}</li>\n" for line in lines) + "</ul>"
    csv = f'<p class="csv">{link("certificate.csv", "Over time as CSV")}</p>'
    return paragraphs(said) + drawn + table + listed + csv


def _policy(found: Exploration) -> str:
    tally, order = found.tally, np.argsort(-found.tally.visits, kind="stable")
    shown = [int(s) for s in order[:MOST_ROWS] if tally.visits[s] > 0]
    rows = [
        (written(found.states[s]), found.actions[found.policy[s]], f"{found.values[s]:.4g}", f"{tally.visits[s]:,}")
        for s in shown
    ]
    text = "The best action for the frequencies as they are, among those that were tried, and what that is worth."
    if len(found.states) > MOST_ROWS:
        text += " " + LEFT_OUT.format(MOST_ROWS, len(found.states))
    files = ", ".join(
        link(file, words)
        for file, words in (
            ("policy.csv", "This table as CSV"),
            ("policy.json", "as JSON"),
            ("values.csv", "values of all pairs"),
            ("transitions.csv", "what was counted"),
        )
    )
    table = _table("The learnt policy", ("State", "Action", "Value", "Visits"), rows)
    return paragraphs(text) + table + f'<p class="csv">{files}</p>'


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose columns sort; those after the first are numbers where they look like ones."""
    listed = [list(row) for row in rows]
    numeric = [bool(listed) and all(_key(row[i]) is not None for row in listed) for i in range(len(heads))]
    top = "".join(f'<th scope="col"{_css(n)}>{escape(head)}</th>' for head, n in zip(heads, numeric, strict=True))
    body = "".join(
        "<tr>" + "".join(_cell(i, value, numeric[i]) for i, value in enumerate(row)) + "</tr>\n" for row in listed
    )
    name = escape(f"Table: {title}")
    return (
        f'<div class="scroll" role="region" aria-label="{name}" tabindex="0">\n<table>\n<caption><span>{escape(title)}'
        f"</span></caption>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>"
    )


def _cell(column: int, value: str, numeric: bool) -> str:
    key = _key(value) if numeric else None
    sort = escape(value if key is None else f"{key:.10g}")
    tag = 'th scope="row"' if column == 0 else "td"
    return f'<{tag}{_css(numeric)} data-sort="{sort}">{escape(value)}</{tag.split()[0]}>'


def _css(numeric: bool) -> str:
    return ' class="n"' if numeric else ""


def _key(value: str) -> float | None:
    try:
        return float(value.replace(",", "").removesuffix("%"))
    except ValueError:
        return None


def _provenance(found: Exploration) -> Mapping[str, str]:
    of, source = found.settings, found.source
    given = ", ".join(f"{name}={value!r}" for name, value in source.params.items())
    facts = {
        "Environment": source.label + (f" with {given}" if given else ""),
        "Agent": f"PAC-RMDP, h = {of.h if isinstance(of.h, str) else f'{of.h:g}'}, gamma = {of.gamma:g}",
        "Range of rewards": found.range_words,
        "Seed": str(of.seed),
    }
    if of.lifetime is not None:
        facts["Lifetime"] = f"{of.lifetime:,} steps"
    if of.v_max is not None:
        facts["No policy is worth more than"] = f"{of.v_max:g}, as given"
    if source.edges:
        facts["Bins"] = "\n".join(_bins(i, edges) for i, edges in enumerate(source.edges))
    return facts | {"Made by": f"hreach {hreach.__version__}, Python {platform.python_version()}"}


def _bins(dimension: int, edges: Sequence[float]) -> str:
    if not edges:
        return f"reading {dimension}: one bin"
    ends = f"{edges[0]:.4g} to {edges[-1]:.4g}" if len(edges) > 1 else f"{edges[0]:.4g}"
    return f"reading {dimension}: {len(edges) + 1} bins, edges {ends}"
