"""How a table is laid out: rows in groups, columns that say when they are shown and what they add to the caption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Generic, Protocol, TypeVar

from hreach.report.verdicts import AS_DEFINED, AS_PRINTED

GROUP_TITLES = {
    AS_PRINTED: "As printed: settings chosen for this problem, slips included",
    AS_DEFINED: "As defined: the constants the definitions ask for",
}


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
    """A column: its head and the cell of a row, both as HTML; whether these rows show it, and its legend if they do.

    `key` is what the column can be sorted by: a number, or a text where `css` is not "n"; None stands last.
    """

    head: str
    cell: Callable[[R], str]
    key: Callable[[R], float | str | None]
    css: str = "n"
    shown: Callable[[Sequence[R]], bool] = lambda rows: True
    legend: str = ""


@dataclass(frozen=True)
class Table(Generic[R]):
    """A kind of table: how its caption begins, and its columns after that of the algorithms."""

    caption: Callable[[Sequence[R]], str]
    columns: Sequence[Column[R]]


def laid_out(title: str, kind: Table[R], rows: Sequence[R]) -> str:
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
    cells = "".join(f"<td{_css(column)}{_sort(column.key(row))}>{column.cell(row)}</td>" for column in columns)
    return f'<tr><th scope="row"{_sort(row.algorithm)}>{escape(row.algorithm)}{note}</th>{cells}</tr>\n'


def _css(column: Column[R]) -> str:
    return f' class="{column.css}"' if column.css else ""


def _sort(key: float | str | None) -> str:
    """What a script sorts by, infinity as it knows it."""
    written = "" if key is None else key if isinstance(key, str) else f"{key:.10g}".replace("inf", "Infinity")
    return f' data-sort="{escape(written)}"'
