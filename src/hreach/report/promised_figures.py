"""The figures of "Promise and truth": gaps over time for every audited row, and over h after the runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hreach.drawing.palette import BLUE, COLOURS, INK, ORANGE
from hreach.report.figures import Band, Gaps, as_json, gaps_chart, gaps_figure, save
from hreach.report.figures.pens import MARKERS, Pen
from hreach.report.html.figure import FigureShown, figure_files
from hreach.report.verdicts import AS_DEFINED
from hreach.studies.audited import AuditedRun
from hreach.studies.spec import AgentSpec, Study

THEOREM, CERTIFIED, TRUTH = "theorem, at most", "certified, at most", "truth"
PENS = {THEOREM: Pen(INK, (0, (5, 2.5)), ""), CERTIFIED: Pen(ORANGE, "-", "s"), TRUTH: Pen(BLUE, "-", "o")}
REACHING = "pac-rmdp"  # whose rows have an h to hold the curve against
SIDE_BY_SIDE = 3  # rows in one figure
COARSE = "bad steps and average loss are counted at checkpoints, each standing for the steps to the next"  # all are


@dataclass(frozen=True)
class Audited:
    """A row of a study and the audits of its first runs."""

    spec: AgentSpec
    runs: Sequence[AuditedRun]

    @property
    def name(self) -> str:
        """The algorithm, and its variant unless that is the one whose rows are audited."""
        own = self.spec.variant in ("", AS_DEFINED)
        return self.spec.label if own else f"{self.spec.label}, {self.spec.variant}"

    def over(self, name: str) -> NDArray[np.float64]:
        """A column of every run, (runs, checkpoints)."""
        return np.array([vars(run)[name] for run in self.runs])

    @property
    def errors(self) -> NDArray[np.float64]:
        """Measured anytime errors, (runs, checkpoints)."""
        return self.over("error")


def shared_notes(found: Sequence[Audited]) -> list[str]:
    """The notes that every audit has."""
    runs = [run for one in found for run in one.runs]
    return [note for note in runs[0].notes if all(note in run.notes for run in runs)] if runs else []


def figures_of(folder: Path, name: str, study: Study, found: Sequence[Audited]) -> Iterator[FigureShown]:
    """Gaps over time, some rows in each figure, and over h; written into the folder."""
    certified = [one for one in found if not np.isnan(one.over("certified_gap")).any()]
    for i in range(0, len(certified), SIDE_BY_SIDE):
        part = certified[i : i + SIDE_BY_SIDE]
        yield _shown(
            _over_time(study, part), folder, f"{name}-{i // SIDE_BY_SIDE + 1}", _about_time(study, part, found)
        )
    curves = [one for one in certified if one.spec.agent == REACHING]
    if curves:
        yield _shown(_over_reach(study, curves), folder, f"{name}-h", _about_reach(study, curves))


def _shown(gaps: Gaps, folder: Path, name: str, caption: str) -> FigureShown:
    return FigureShown(caption, save(gaps_figure(gaps), folder, name), as_json(gaps_chart(gaps)), figure_files(name))


def _over_time(study: Study, rows: Sequence[Audited]) -> Gaps:
    """A panel for each row: what the theorem and certificates say at most, and the truth."""
    first, panels = rows[0].runs[0], {}
    for one in rows:
        bands = [_band(CERTIFIED, one, "certified_gap"), _band(TRUTH, one, "certified_error")]
        panels[one.name] = [_band(THEOREM, one, "bound"), *bands] if one.runs[0].promised else bands
    return Gaps(
        f"{study.title}: promise and truth over time",
        "step",
        panels,
        PENS,
        first.eps / 100,
        first.largest,
        _key(rows),
        {f"ε = {first.eps:.3g}": first.eps},
    )


def _over_reach(study: Study, rows: Sequence[Audited]) -> Gaps:
    """What certificates say at most, and the truth, in a panel each: a line for each row."""
    first, names = rows[0].runs[0], [one.name for one in rows]
    panels = {CERTIFIED: [_curve(one, "gap") for one in rows], TRUTH: [_curve(one, "error") for one in rows]}
    return Gaps(
        f"{study.title}: how far below the best that h more samples could show",
        "h",
        panels,
        {name: Pen(colour, "-", marker) for name, colour, marker in zip(names, cycle(COLOURS), MARKERS, strict=False)},
        first.eps / 100,
        first.largest,
        _key(rows),
        x_names=["∞" if math.isinf(h) else f"{h:g}" for h in first.curve.h],
    )


def _about_time(study: Study, rows: Sequence[Audited], found: Sequence[Audited]) -> str:
    """How the figure is read."""
    notes = "".join(f" Note: {note}." for note in shared_notes(found) if note != COARSE)
    names = ", ".join(one.name for one in rows)
    return (
        f"{study.title}, {names}: how far the policy at step t is below the h-reachable optimum, at most and truly. "
        f"Above r_max/(1−γ) = {rows[0].runs[0].largest:.3g} a bound promises nothing.{notes}"
    )


def _about_reach(study: Study, rows: Sequence[Audited]) -> str:
    """How the figure is read."""
    return (
        f"{study.title}, after {rows[0].runs[0].steps} steps: how far the policy is below the best that h more samples "
        "of each pair could show, at most and truly; h = ∞ is the optimum. A line that is low up to the agent's own h "
        "and rises behind it is that of an agent that has stopped looking: it does as well as it can see."
    )


def _key(rows: Sequence[Audited]) -> str:
    runs = len(rows[0].runs)
    return "one run" if runs == 1 else f"median and range of {runs} runs"


def _band(label: str, one: Audited, name: str) -> Band:
    return _of_runs(label, one.runs[0].step, one.over(name))


def _curve(one: Audited, name: str) -> Band:
    values = np.array([getattr(run.curve, name) for run in one.runs])
    return _of_runs(one.name, np.arange(values.shape[1]), values)


def _of_runs(label: str, at: NDArray[np.int64], values: NDArray[np.float64]) -> Band:
    return Band(label, at, np.median(values, axis=0), values.min(axis=0), values.max(axis=0))
