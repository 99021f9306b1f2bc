"""Tables: our numbers beside the printed ones, with a verdict for each row.

A printed row is *reproduced* if our mean is within 3 combined standard errors + .003 of the printed mean (the paper
averages 1000 runs; its standard error is taken to be ours, scaled) and each printed quantile within .012. With fewer
runs than the paper's a row that misses is *undecided*.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hreach.report.page import AS_PRINTED, NOT_REPRODUCED, REPRODUCED, UNDECIDED, EpisodeRow, Row
from hreach.report.statistics import Summary, statistic, summarise
from hreach.studies import catalog
from hreach.studies.spec import AgentSpec
from hreach.studies.store import EpisodeResult, Result

PRINTED_RUNS = 1000
COLUMNS = [
    "algorithm",
    "variant",
    "mean",
    "p10",
    "p90",
    "se",
    "runs",
    "printed_mean",
    "printed_p10",
    "printed_p90",
    "verdict",
]
EPISODE_COLUMNS = [
    "algorithm",
    "variant",
    "total",
    "total_p10",
    "total_p90",
    "last10",
    "last10_p10",
    "last10_p90",
    "goals",
    "goals_fewest",
    "goals_most",
    "plain",
    "plain_p10",
    "plain_p90",
    "runs",
]


@dataclass(frozen=True)
class Printed:
    """A row of the paper's table; a misprinted number is None."""

    mean: float
    p10: float | None
    p90: float | None
    note: str


def load_printed(name: str) -> dict[str, Printed]:
    """The published numbers in `printed/<name>`, by algorithm."""
    rows = catalog.printed()[name]
    return {r["algorithm"]: Printed(float(r["mean"]), _maybe(r["p10"]), _maybe(r["p90"]), r["note"]) for r in rows}


def verdict(ours: Summary, printed: Printed) -> str:
    """Whether a printed row came out again."""
    combined = math.hypot(ours.se, ours.se * math.sqrt(ours.runs / PRINTED_RUNS))
    ok = abs(ours.mean - printed.mean) <= 3 * combined + 0.003
    for mine, theirs in ((ours.p10, printed.p10), (ours.p90, printed.p90)):
        ok = ok and (theirs is None or abs(mine - theirs) <= 0.012)
    if ok:
        return REPRODUCED
    return NOT_REPRODUCED if ours.runs >= PRINTED_RUNS else UNDECIDED


def rows(results: Iterable[tuple[AgentSpec, Result]], printed: dict[str, Printed]) -> list[Row]:
    """One row for each agent of a study; only rows "as printed" are judged."""
    return [_row(spec, summarise(result.average_reward[:, -1]), printed) for spec, result in results]


def episode_rows(results: Iterable[tuple[AgentSpec, EpisodeResult]]) -> list[EpisodeRow]:
    """One row for each agent of a study by episodes."""
    return [_episode_row(spec, result) for spec, result in results]


def to_csv(table: Sequence[Row] | Sequence[EpisodeRow], columns: Sequence[str] = COLUMNS) -> str:
    """The table as CSV, numbers in full."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in table:
        cells = (getattr(row, name) for name in columns)
        writer.writerow([f"{c:.6g}" if isinstance(c, float) else "" if c is None else c for c in cells])
    return out.getvalue()


def _row(spec: AgentSpec, ours: Summary, printed: dict[str, Printed]) -> Row:
    theirs = printed.get(spec.label)
    judged = theirs is not None and spec.variant == AS_PRINTED
    note = "; ".join(n for n in (spec.note, theirs.note if theirs and judged else "") if n)
    return Row(
        algorithm=spec.label,
        variant=spec.variant,
        mean=ours.mean,
        p10=ours.p10,
        p90=ours.p90,
        se=ours.se,
        runs=ours.runs,
        printed_mean=theirs.mean if theirs else None,
        printed_p10=theirs.p10 if theirs else None,
        printed_p90=theirs.p90 if theirs else None,
        verdict=verdict(ours, theirs) if judged and theirs else "",
        note=note,
    )


def _episode_row(spec: AgentSpec, result: EpisodeResult) -> EpisodeRow:
    every, last = (summarise(statistic(name, result)) for name in ("total", "last10"))
    goals = statistic("goals", result)
    plain = summarise(statistic("plain", result)) if result.plain.total.shape[1] else None
    return EpisodeRow(
        algorithm=spec.label,
        variant=spec.variant,
        total=every.mean,
        total_p10=every.p10,
        total_p90=every.p90,
        last10=last.mean,
        last10_p10=last.p10,
        last10_p90=last.p90,
        goals=float(goals.mean()),
        goals_fewest=int(goals.min()),
        goals_most=int(goals.max()),
        plain=plain.mean if plain else None,
        plain_p10=plain.p10 if plain else None,
        plain_p90=plain.p90 if plain else None,
        runs=every.runs,
        note=spec.note,
    )


def _maybe(text: str) -> float | None:
    return float(text) if text else None
