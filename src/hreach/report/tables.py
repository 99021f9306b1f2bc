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
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

import numpy as np

from hreach.report.claims import statistic
from hreach.report.estimates import Estimates, estimates_of
from hreach.report.rows import EpisodeRow, Row
from hreach.report.verdicts import AS_DEFINED, AS_PRINTED, NOT_REPRODUCED, REPRODUCED, UNDECIDED
from hreach.statistics import Array, summarise
from hreach.studies import catalog
from hreach.studies.results import Result
from hreach.studies.spec import AgentSpec, Study

PRINTED_RUNS, ROUNDING, SIGMAS = 1000, 0.0005, 3


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
        theirs = {"mean": printed.mean, "p10": printed.p10, "p90": printed.p90}[name]
        if theirs is not None and not low - ROUNDING <= theirs <= high + ROUNDING:
            found.append(name)
    return found


def table_of(study: Study, results: Sequence[tuple[AgentSpec, Result]]) -> list[Row] | list[EpisodeRow]:
    """One row for each agent of a study."""
    if study.episodes is not None:
        sure = estimates_of([statistic("total", result) for _, result in results], [s.variant for s, _ in results])
        return [replace(_episode_row(*each), sure=known) for each, known in zip(results, sure, strict=True)]
    return rows(results, load_printed(study.printed) if study.printed else {})


def rows(results: Sequence[tuple[AgentSpec, Result]], printed: dict[str, Printed]) -> list[Row]:
    """One row for each agent of a study by steps; rows "as printed" and "as defined" are judged."""
    ends = [result.average_reward[:, -1] for _, result in results]
    sure = estimates_of(ends, [spec.variant for spec, _ in results])
    specs = [spec for spec, _ in results]
    return [replace(_row(s, end, printed), sure=known) for s, end, known in zip(specs, ends, sure, strict=True)]


def to_csv(table: Sequence[Row] | Sequence[EpisodeRow]) -> str:
    """The table as CSV, numbers in full; its columns are the fields of a row, without the note, and of `Estimates`."""
    columns = [field.name for field in fields(table[0]) if field.name not in ("note", "sure")]
    columns += [field.name for field in fields(Estimates)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in table:
        known = {**vars(row), **asdict(row.sure)}
        cells = (known[name] for name in columns)
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


def _episode_row(spec: AgentSpec, result: Result) -> EpisodeRow:
    every, last = (summarise(statistic(name, result)) for name in ("total", "last10"))
    goals = statistic("goals", result)
    final = summarise(statistic("final", result)) if result.final.total.shape[1] else None
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
        final=final.mean if final else None,
        final_p10=final.p10 if final else None,
        final_p90=final.p90 if final else None,
        runs=every.runs,
        note=spec.note,
    )


def _maybe(text: str) -> float | None:
    return float(text) if text else None
