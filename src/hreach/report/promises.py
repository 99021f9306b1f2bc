"""Promise and truth: the audited runs of studies; what the paper promises beside what happened."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hreach.files import write_text
from hreach.report.html.figure import FigureShown
from hreach.report.html.page import Section
from hreach.report.promised_figures import Audited, figures_of, shared_notes
from hreach.report.rows import PromiseRow
from hreach.studies.spec import Study

ANCHOR = "promises"
TITLE = "Promise and truth"
CSV = "tables/promises.csv"
COUNTED = ("bad_steps", "anytime_error", "certified", "optimality", "exploring_steps", "exploration_over")
COLUMNS = [
    *("study", "algorithm", "h", "eps", "delta", "steps", "runs"),
    *(f"{name}{end}" for name in COUNTED for end in ("", "_least", "_most")),  # of the runs
    *("bad_steps_bound", "anytime_error_bound", "exploring_steps_bound", "false_runs", "lemma_1_violations", "kept"),
    "why",
]
TEXT = """
What was promised, beside what happened in runs whose truth is known. A certificate is computed from what an agent has \
seen, and from nothing else: with probability 1 − δ its policy, frozen, is at no time farther below the best that h \
more samples of each pair could show than the certified gap, nor farther below the optimum than another one. \
Here the truth is known, so every certificate can be held against it.

The paper's bounds are worst cases, fixed before the first step. Theorem 1 bounds the ε-bad steps of an agent, those \
worse by more than ε than the best that h more samples of each pair could reach. They are proved for an agent that \
stops learning a pair after m samples (freeze_at="theory"); m is in the millions here, so these runs, which never \
stop learning, are the same.

ε is a tenth of the range of values, δ is 0.1, h is the agent's own. MBIE has none, and the theorem promises \
nothing for it: it is judged by h = 8, to compare. Explicit exploration is over once the agent's value stays within ε \
of its model's value without optimism (Definition 3).
"""


Judged = tuple[str, Study, Sequence[Audited]]  # a study's name, the study, and its rows that were audited


def section(out: Path, studies: Iterable[Judged]) -> Section:
    """Write the table and the figures of each study; the part of the page."""
    rows: list[PromiseRow] = []
    figures: list[FigureShown] = []
    for name, study, found in studies:
        rows += [promise_row(study, one, shared_notes(found)) for one in found]
        figures += figures_of(out / "figures", f"{ANCHOR}-{name}", study, found)
    write_text(out / CSV, to_csv(rows))
    return Section(ANCHOR, TITLE, TEXT, figures, rows, CSV)


def promise_row(study: Study, one: Audited, shared: Sequence[str] = ()) -> PromiseRow:
    """One line of the table; `shared` notes are told elsewhere."""
    first = one.runs[0]
    over = [np.inf if run.exploration_over is None else run.exploration_over for run in one.runs]
    gaps = [float(run.certified_gap[-1]) for run in one.runs]
    many = "1 run" if len(one.runs) == 1 else f"{len(one.runs)} runs"
    notes = [*dict.fromkeys(note for run in one.runs for note in run.notes if note not in shared)]
    if not first.own_reach:
        notes.append(f"has no h of its own: judged by h = {first.h}")
    return PromiseRow(
        algorithm=one.name,
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
        certified=None if np.isnan(gaps).any() else _middle(gaps),
        optimality=_middle([float(run.optimality_gap[-1]) for run in one.runs]),
        false_runs=sum(run.false > 0 for run in one.runs),
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
            of_runs = cells[name] or (math.nan,) * 3
            cells |= zip((name, f"{name}_least", f"{name}_most"), of_runs, strict=True)
        writer.writerow(_written(cells[name]) for name in COLUMNS)
    return out.getvalue()


def settings(studies: Sequence[Judged]) -> str:
    """How the section was made, for the provenance."""
    parts = (f"{study.title}: {_first(len(found[0].runs))} of each row" for _, study, found in studies)
    first = studies[0][2][0].runs[0]
    return f"{'; '.join(parts)}; delta = {first.delta}, {len(first.step)} checkpoints, bounds in the corrected form"


def _first(runs: int) -> str:
    return "the first run" if runs == 1 else f"the first {runs} runs"


def _written(cell: object) -> object:
    if isinstance(cell, float):
        return f"{cell:.6g}" if math.isfinite(cell) else ""
    return cell


def _middle(values: Sequence[float] | NDArray[np.float64]) -> tuple[float, float, float]:
    """(median, least, most) of one number for each run."""
    return float(np.median(values)), float(np.min(values)), float(np.max(values))
