"""A running study in the terminal, from the store alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hreach.cli.progress import row_name
from hreach.errors import InputError, require
from hreach.studies.record import Record, names_in, read_record
from hreach.studies.results import Result
from hreach.studies.status import RowStatus, rows_of
from hreach.studies.store import Store

if TYPE_CHECKING:
    from rich.table import Table

_RECENT = 60.0  # seconds over which the rate is measured


@dataclass(frozen=True)
class Rate:
    """Runs that there were at some time."""

    at: float
    done: int


def look_on(folder: Path, once: bool, every: float) -> None:
    """Show the studies of a folder, again and again until they are finished or Ctrl-C comes."""
    from rich.console import Console, Group
    from rich.live import Live

    require(bool(names_in(folder)), "DIR", str(folder), "a folder in which a study was begun")
    looks: list[Rate] = []
    means, console = Means(Store(folder, writing=False)), Console()
    with Live(console=console, auto_refresh=False) as live:
        try:
            while True:
                records = [read_record(folder, name) for name in names_in(folder)]
                rows = [rows_of(means.store, record) for record in records]
                looks = _looks(looks, sum(row.done for each in rows for row in each))
                tables = [_table(record, each, means) for record, each in zip(records, rows, strict=True)]
                left = sum(row.runs - row.done for each in rows for row in each if not row.failed)
                live.update(Group(*tables, _total(looks, left)), refresh=True)
                if once or all(record.used for record in records):
                    return
                time.sleep(every)
        except KeyboardInterrupt:
            return
        finally:
            if not console.is_terminal:  # where rich ends the last line by itself
                live.stop()
                console.line()


class Means:
    """The mean of each row so far with its interval; rows are read again only when they have more runs."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._known: dict[str, tuple[int, str]] = {}

    def of(self, row: RowStatus) -> str:
        """`0.351 [0.349, 0.353]` of the runs from the first to the first gap."""
        gaps = self.store.missing(row.cell, row.runs)
        there = gaps[0][0] if gaps else row.runs
        if there == 0:
            return ""
        if self._known.get(row.cell, (0, ""))[0] != there:
            try:
                self._known[row.cell] = there, _mean(self.store.read(row.cell, there))
            except InputError as error:
                self._known[row.cell] = there, str(error)
        return self._known[row.cell][1]


def _mean(result: Result) -> str:
    from hreach.statistics import mean_interval

    values = result.average_reward[:, -1] if result.by == "steps" else result.learning.total.mean(axis=1)
    if len(values) < 2:
        return f"{values.mean():.4g}"
    found = mean_interval(values)
    return f"{found.value:.4g} [{found.low:.4g}, {found.high:.4g}]"


def _looks(looks: Sequence[Rate], done: int) -> list[Rate]:
    now = time.monotonic()
    return [*(look for look in looks if now - look.at <= _RECENT), Rate(now, done)]


def _total(looks: Sequence[Rate], left: int) -> str:
    first, last = looks[0], looks[-1]
    rate = (last.done - first.done) / (last.at - first.at) if last.at > first.at else 0.0
    if left == 0:
        return f"{last.done} runs, all there"
    speed = f", {rate:.3g} runs/s, about {left / rate:.0f} s left" if rate > 0 else ""
    return f"{last.done} runs, {left} to come{speed}"


def _table(record: Record, rows: Sequence[RowStatus], means: Means) -> Table:
    from rich.table import Table
    from rich.text import Text

    by = "reward per step" if record.study.episodes is None else "total reward of an episode"
    table = Table(title=Text(record.study.title), title_justify="left")
    for heading in ("row", "runs", f"mean {by}, 95 % interval", ""):
        table.add_column(heading)
    for row in rows:
        state = f"{len(row.failed)} failed" if row.failed else "done" if row.whole else ""
        cells = (row_name(row.spec), f"{row.done} of {row.runs}", means.of(row), state)
        table.add_row(*map(Text, cells))
    return table
