"""Promise and truth: the audited runs of studies; what the paper promises beside what happened."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hreach.files import write_text
from hreach.report.figures import Band, promises_figure, save
from hreach.report.html.page import Section
from hreach.report.rows import PromiseRow
from hreach.studies.results import AuditedRun
from hreach.studies.spec import AgentSpec, Study

ANCHOR = "promises"
TITLE = "Promise and truth"
CSV = "tables/promises.csv"
COUNTED = ("bad_steps", "anytime_error", "exploring_steps", "exploration_over")  # each with least and most of the runs
COLUMNS = [
    *("study", "algorithm", "h", "eps", "delta", "steps", "runs"),
    *(f"{name}{end}" for name in COUNTED for end in ("", "_least", "_most")),
    *("bad_steps_bound", "anytime_error_bound", "exploring_steps_bound", "lemma_1_violations", "kept", "why"),
]
DRAWN_BOUND = "PAC-RMDP(8)"
COARSE = "bad steps and average loss are counted at checkpoints, each standing for the steps to the next"  # all are
TEXT = """
What the paper promises, beside what happened in runs whose truth is known. Theorem 1 bounds the ε-bad steps of an \
agent, those worse by more than ε than the best that h more samples of each pair could reach. Such worst-case bounds \
are far above what is measured. They are proved for an agent that stops learning a pair after m samples \
(freeze_at="theory"); m is in the millions here, so these runs, which never stop learning, are the same.

ε is a tenth of the range of values, δ is 0.1, h is the agent's own. MBIE has none, and the theorem promises \
nothing for it: it is judged by h = 8, to compare. Explicit exploration is over once the agent's value stays within ε \
of its model's value without optimism (Definition 3).
"""


@dataclass(frozen=True)
class Audited:
    """A row of a study and the audits of its first runs."""

    spec: AgentSpec
    runs: Sequence[AuditedRun]

    @property
    def errors(self) -> NDArray[np.float64]:
        """Measured anytime errors, (runs, checkpoints)."""
        return np.array([run.error for run in self.runs])


Judged = tuple[str, Study, Sequence[Audited]]  # a study's name, the study, and its rows that were audited


def section(out: Path, studies: Iterable[Judged]) -> Section:
    """Write the table and a figure for each study; the part of the page."""
    rows: list[PromiseRow] = []
    figures = []
    for name, study, found in studies:
        rows += [promise_row(study, one, _shared_notes(found)) for one in found]
        figures.append(_figure(out, f"{ANCHOR}-{name}", study, found))
    write_text(out / CSV, to_csv(rows))
    return Section(ANCHOR, TITLE, TEXT, figures, rows, CSV)


def promise_row(study: Study, one: Audited, shared: Sequence[str] = ()) -> PromiseRow:
    """One line of the table; `shared` notes are told elsewhere."""
    first = one.runs[0]
    over = [np.inf if run.exploration_over is None else run.exploration_over for run in one.runs]
    many = "1 run" if len(one.runs) == 1 else f"{len(one.runs)} runs"
    notes = [*dict.fromkeys(note for run in one.runs for note in run.notes if note not in shared)]
    if not first.own_reach:
        notes.append(f"has no h of its own: judged by h = {first.h}")
    return PromiseRow(
        algorithm=one.spec.label,
        variant=f"{study.title}: {many} of {first.steps} steps, ε = {first.eps:.3g}",
        study=study.title,
        eps=first.eps,
        delta=first.delta,
        h=first.h,
        runs=len(one.runs),
        steps=first.steps,
        bad_steps=_middle([run.bad_steps.measured for run in one.runs]),
        bad_steps_bound=first.bad_steps.bound if first.promised else None,
        anytime_error=_middle(one.errors[:, -1]),
        anytime_error_bound=float(first.bound[-1]) if first.promised else None,
        largest=first.largest,
        exploring_steps=_middle([run.exploring_steps.measured for run in one.runs]),
        exploring_steps_bound=first.exploring_steps.bound if first.promised else None,
        exploration_over=_middle(over),
        lemma_1_violations=sum(run.violations for run in one.runs),
        kept=_kept([run.kept for run in one.runs]),
        why=first.bad_steps.why,
        note="; ".join(notes),
    )


def _kept(runs: Sequence[bool | None]) -> bool | None:
    """Whether all promises to the runs were kept; None if none said anything."""
    told = [kept for kept in runs if kept is not None]
    return all(told) if told else None


def to_csv(rows: Iterable[PromiseRow]) -> str:
    """The table as CSV, numbers in full; empty where nothing was promised or exploration was not over."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        cells = {**row.__dict__}
        for name in COUNTED:
            cells |= zip((name, f"{name}_least", f"{name}_most"), cells[name], strict=True)
        writer.writerow(_written(cells[name]) for name in COLUMNS)
    return out.getvalue()


def settings(studies: Sequence[Judged]) -> str:
    """How the section was made, for the provenance."""
    parts = (f"{study.title}: runs 0 to {len(found[0].runs) - 1} of each row" for _, study, found in studies)
    first = studies[0][2][0].runs[0]
    return f"{'; '.join(parts)}; delta = {first.delta}, {len(first.step)} checkpoints, bounds in the corrected form"


def _written(cell: object) -> object:
    if isinstance(cell, float):
        return f"{cell:.6g}" if math.isfinite(cell) else ""
    return cell


def _middle(values: Sequence[float] | NDArray[np.float64]) -> tuple[float, float, float]:
    """(median, least, most) of one number for each run."""
    return float(np.median(values)), float(np.min(values)), float(np.max(values))


def _shared_notes(found: Sequence[Audited]) -> list[str]:
    """The notes that every audit has."""
    runs = [run for one in found for run in one.runs]
    return [note for note in runs[0].notes if all(note in run.notes for run in runs)] if runs else []


def _figure(out: Path, name: str, study: Study, found: Sequence[Audited]) -> tuple[str, str]:
    """(caption, svg): the anytime error of every algorithm, and the bound of one."""
    first = found[0].runs[0]
    bands = [_band(one) for one in found]
    drawn = next((run for one in found if one.spec.label == DRAWN_BOUND for run in one.runs[:1]), None)
    line = None if drawn is None else (f"bound of {DRAWN_BOUND}", drawn.step, drawn.bound)
    title = f"{study.title}: promise and truth"
    figure = promises_figure(bands, line, title=title, eps=first.eps, largest=first.largest)
    runs = len(found[0].runs)
    shown = "one run" if runs == 1 else f"line: median of {runs} runs, band: their range"
    caption = (
        f"{study.title}: how far the agent's policy at step t is below the h-reachable optimum; {shown}. "
        f"Above r_max/(1−γ) = {first.largest:.3g} a bound promises nothing."
    )
    notes = "".join(f" Note: {note}." for note in _shared_notes(found) if note != COARSE)
    return caption + notes, save(figure, out / "figures", name)


def _band(one: Audited) -> Band:
    errors = one.errors
    return Band(one.spec.label, one.runs[0].step, np.median(errors, axis=0), errors.min(axis=0), errors.max(axis=0))
