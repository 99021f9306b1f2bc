"""Tables as HTML. Each has one list of columns; a column says when it is shown and what it adds to the caption."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Generic, Protocol, TypeVar

from hreach.report.html.verdict import shown_verdict
from hreach.report.numbers import number, span, total
from hreach.report.rows import EpisodeRow, PromiseRow, Row
from hreach.report.verdicts import AS_DEFINED, AS_PRINTED

GROUP_TITLES = {
    AS_PRINTED: "As printed: settings chosen for this problem, slips included",
    AS_DEFINED: "As defined: the constants the definitions ask for",
}
Rows = Sequence[Row] | Sequence[EpisodeRow] | Sequence[PromiseRow]
Written = Callable[[float | None], str]


class Named(Protocol):
    """What the head of every row says."""

    @property
    def algorithm(self) -> str: ...  # noqa: D102
    @property
    def variant(self) -> str: ...  # noqa: D102
    @property
    def note(self) -> str: ...  # noqa: D102


R = TypeVar("R", bound=Named)


@dataclass(frozen=True)
class Column(Generic[R]):
    """A column: its head and the cell of a row, both as HTML; whether these rows show it, and its legend if they do."""

    head: str
    cell: Callable[[R], str]
    css: str = "n"
    shown: Callable[[Sequence[R]], bool] = lambda rows: True
    legend: str = ""


@dataclass(frozen=True)
class Table(Generic[R]):
    """A kind of table: how its caption begins, and its columns after that of the algorithms."""

    caption: Callable[[Sequence[R]], str]
    columns: Sequence[Column[R]]


def table(title: str, rows: Rows) -> str:
    """All rows, those of one variant together, the paper's own run first; the rows are of one kind."""
    kinds = (
        _laid_out(title, STEPS, [row for row in rows if isinstance(row, Row)]),
        _laid_out(title, EPISODES, [row for row in rows if isinstance(row, EpisodeRow)]),
        _laid_out(title, PROMISES, [row for row in rows if isinstance(row, PromiseRow)]),
    )
    return "".join(kinds)


def _laid_out(title: str, kind: Table[R], rows: Sequence[R]) -> str:
    """The rows as a table of this kind; nothing without rows."""
    if not rows:
        return ""
    columns = [column for column in kind.columns if column.shown(rows)]
    caption = kind.caption(rows) + "".join(column.legend for column in columns)
    variants = dict.fromkeys([AS_PRINTED, AS_DEFINED, *(row.variant for row in rows)])
    groups = [_group(v, [row for row in rows if row.variant == v], columns) for v in variants]
    name = escape(f"Table: {title}")
    heads = "".join(f'<th scope="col"{_css(column)}>{column.head}</th>' for column in columns)
    return (
        f'<div class="scroll" role="region" aria-label="{name}" tabindex="0">\n<table>\n'
        f"<caption><span>{caption}</span></caption>\n"
        f'<thead><tr><th scope="col">Algorithm</th>{heads}</tr></thead>\n' + "".join(groups) + "</table>\n</div>"
    )


def _group(variant: str, rows: Sequence[R], columns: Sequence[Column[R]]) -> str:
    if not rows:
        return ""
    title = escape(GROUP_TITLES.get(variant, variant))
    width = len(columns) + 1
    head = f'<tr class="group"><th scope="rowgroup" colspan="{width}"><span>{title}</span></th></tr>\n' if title else ""
    return f"<tbody>\n{head}" + "".join(_row(row, columns) for row in rows) + "</tbody>\n"


def _row(row: R, columns: Sequence[Column[R]]) -> str:
    note = f" <small>{escape(row.note)}</small>" if row.note else ""
    cells = "".join(f"<td{_css(column)}>{column.cell(row)}</td>" for column in columns)
    return f'<tr><th scope="row">{escape(row.algorithm)}{note}</th>{cells}</tr>\n'


def _css(column: Column[R]) -> str:
    return f' class="{column.css}"' if column.css else ""


# --- cells -----------------------------------------------------------------------------------------------------------


def _estimate(mean: float | None, low: float | None, high: float | None, written: Written = number) -> str:
    """Write `mean [p10, p90]`; a narrow table may break the line only before the bracket."""
    if mean is None:
        return written(None)
    if low is None and high is None:
        return f"<b>{written(mean)}</b>"
    return f"<b>{written(mean)}</b> <span>[{written(low)}, {written(high)}]</span>"


def _middle(values: Sequence[float], written: Written = total) -> str:
    """Write `median [least, most]`; runs that agree have no range."""
    median, low, high = values
    return _estimate(median, None, None, written) if low == high else _estimate(median, low, high, written)


def _promised(bound: float | None, limit: float) -> str:
    """A bound; from the limit on it says nothing."""
    if bound is None:
        return "<small>nothing promised</small>"
    return total(bound) + (" <small>says nothing</small>" if bound >= limit else "")


def _hundredths(value: float | None) -> str:
    return number(value, 2)


def _step(value: float | None) -> str:
    return "never" if value is not None and math.isinf(value) else total(value)


def _violations(row: PromiseRow) -> str:
    return f"violated {row.lemma_1_violations} times" if row.lemma_1_violations else "holds"


# --- the tables ------------------------------------------------------------------------------------------------------


def _compared(rows: Sequence[Row]) -> bool:
    return any(row.printed_mean is not None for row in rows)


def _alone(rows: Sequence[Row]) -> bool:
    return not _compared(rows)


def _goals(rows: Sequence[EpisodeRow]) -> bool:
    return any(row.goals_most > 0 for row in rows)


def _final(rows: Sequence[EpisodeRow]) -> bool:
    return any(row.final is not None for row in rows)


def _counted_runs(rows: Sequence[PromiseRow]) -> str:
    return "Median of the runs [least, most]." if any(row.runs > 1 for row in rows) else "One run each."


_VERDICTS = (
    "✓ reproduced, ✗ not reproduced, ? too few runs to tell, – not compared. "
    "Informative: the print excludes most of the settings around the one that was run."
)
_BOUNDS = (
    " ε-bad steps: counted at checkpoints, each standing for the steps to the next; bounded by Theorem 1."
    " Error: the anytime error at the last step. Exploring: steps of explicit exploration; over: the step from"
    " which on there are none. A bound says nothing unless it is below the worst that is possible: all steps of a"
    " run, or an error as large as the largest value."
)

STEPS: Table[Row] = Table(
    lambda rows: "Average reward per step: mean over runs [10 %, 90 %]. ",
    [
        Column("Ours", lambda row: _estimate(row.mean, row.p10, row.p90), shown=_compared),
        Column("Mean", lambda row: _estimate(row.mean, row.p10, row.p90), shown=_alone),
        Column(
            "Printed", lambda row: _estimate(row.printed_mean, row.printed_p10, row.printed_p90), shown=_compared
        ),
        Column(
            '<span class="verdict">Verdict</span>', lambda row: shown_verdict(row.verdict),
            css="", shown=_compared, legend=_VERDICTS,
        ),
        Column('<abbr title="standard error of our mean">s.e.</abbr>', lambda row: number(row.se, 4)),
        Column("Runs", lambda row: str(row.runs)),
    ],
)  # fmt: skip

EPISODES: Table[EpisodeRow] = Table(
    lambda rows: "Total reward of an episode: mean over runs [10 %, 90 % of runs].",
    [
        Column("All episodes", lambda row: _estimate(row.total, row.total_p10, row.total_p90, total)),
        Column("Last ten", lambda row: _estimate(row.last10, row.last10_p10, row.last10_p90, total)),
        Column(
            "Goals", lambda row: span(row.goals_fewest, row.goals_most), shown=_goals,
            legend=" Goals: episodes of a run that reached the goal, fewest to most of the runs.",
        ),
        Column(
            "Final", lambda row: _estimate(row.final, row.final_p10, row.final_p90, total), shown=_final,
            legend=" Final: episodes after the last one, acting on the learnt model as it is.",
        ),
        Column("Runs", lambda row: str(row.runs)),
    ],
)  # fmt: skip

PROMISES: Table[PromiseRow] = Table(
    _counted_runs,
    [
        Column("h", lambda row: str(row.h), legend=_BOUNDS),
        Column("ε-bad steps", lambda row: _middle(row.bad_steps)),
        Column("Bound", lambda row: _promised(row.bad_steps_bound, row.steps)),
        Column("Error", lambda row: _middle(row.anytime_error, _hundredths)),
        Column("Bound", lambda row: _promised(row.anytime_error_bound, row.largest)),
        Column("Exploring", lambda row: _middle(row.exploring_steps)),
        Column("Over", lambda row: _middle(row.exploration_over, _step)),
        Column("Lemma 1", _violations),
    ],
)
