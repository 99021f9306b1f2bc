"""Tables: our numbers beside the printed ones, with a verdict for each row.

A printed row is *reproduced* if the distance is no larger than the rounding of the print (.0005) and chance explain:

- mean: 3 combined standard errors, ours and the paper's (1000 runs, with the spread of ours);
- quantile p: of our runs, the quantiles p -+ 3 sqrt(p (1 - p) (1 / runs + 1 / 1000)) hold the printed one between them
  (the share of runs below a quantile is binomial, whatever the law of the runs).

With fewer runs than the paper's a row that misses is *undecided*.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hreach.report.claims import statistic
from hreach.report.rows import EpisodeRow, Row
from hreach.report.verdicts import AS_DEFINED, AS_PRINTED, NOT_REPRODUCED, REPRODUCED, UNDECIDED
from hreach.statistics import Array, summarise
from hreach.studies import catalog
from hreach.studies.spec import AgentSpec
from hreach.studies.store import EpisodeResult, Result

PRINTED_RUNS, ROUNDING, SIGMAS = 1000, 0.0005, 3
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
    "informative",
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
    """A row of the paper's table; a misprinted number is None. `informative`: see `benchmarks/informative.py`."""

    mean: float
    p10: float | None
    p90: float | None
    note: str
    informative: bool = False


def load_printed(name: str) -> dict[str, Printed]:
    """The published numbers in `printed/<name>`, by algorithm."""
    return {row["algorithm"]: _printed(row) for row in catalog.printed()[name]}


def _printed(row: Mapping[str, str]) -> Printed:
    quantiles = _maybe(row["p10"]), _maybe(row["p90"])
    return Printed(float(row["mean"]), *quantiles, row["note"], row["informative"] == "yes")


def verdict(values: Array, printed: Printed) -> str:
    """Whether a printed row came out again in these runs, (runs,)."""
    if len(values) > 1 and not misses(values, printed):
        return REPRODUCED
    return NOT_REPRODUCED if len(values) >= PRINTED_RUNS else UNDECIDED


def misses(values: Array, printed: Printed) -> list[str]:
    """Which of "mean", "p10" and "p90" are farther from the print than its rounding and chance explain."""
    chance = 1 / len(values) + 1 / PRINTED_RUNS
    allowed = SIGMAS * values.std(ddof=1) * np.sqrt(chance)
    limits = {"mean": (values.mean() - allowed, values.mean() + allowed)}
    for name, p in (("p10", 0.1), ("p90", 0.9)):
        ranks = p + np.array([-SIGMAS, SIGMAS]) * np.sqrt(p * (1 - p) * chance)
        limits[name] = tuple(np.quantile(values, ranks.clip(0, 1)))
    found = []
    for name, (low, high) in limits.items():
        theirs = getattr(printed, name)
        if theirs is not None and not low - ROUNDING <= theirs <= high + ROUNDING:
            found.append(name)
    return found


def rows(results: Iterable[tuple[AgentSpec, Result]], printed: dict[str, Printed]) -> list[Row]:
    """One row for each agent of a study; rows "as printed" and "as defined" are judged."""
    return [_row(spec, result.average_reward[:, -1], printed) for spec, result in results]


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


def _row(spec: AgentSpec, values: Array, printed: dict[str, Printed]) -> Row:
    ours, theirs = summarise(values), printed.get(spec.label)
    judged = theirs is not None and spec.variant in (AS_PRINTED, AS_DEFINED)
    fitted = theirs is not None and spec.variant == AS_PRINTED
    notes = (spec.note, theirs.note, "informative" * theirs.informative) if theirs and fitted else (spec.note,)
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
        verdict=verdict(values, theirs) if judged and theirs else "",
        note="; ".join(note for note in notes if note),
        informative=theirs.informative if theirs else None,
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
