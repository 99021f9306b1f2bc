"""Promise and truth: some runs of a study, audited; what the paper promises beside what happened.

The runs are the study's own, the first ones of each row, made again by `hreach.run` with the study's seeds.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hreach.agents import make_agent
from hreach.agents.tabular import TabularAgent
from hreach.domains import make_domain
from hreach.files import write_text
from hreach.guarantees.audit import Audit, audit
from hreach.guarantees.audit.record import sizes_of_problem, told_problem
from hreach.guarantees.certificate import hopes
from hreach.randomness.seeding import run_seeds
from hreach.report.figures import Band, promises_figure, save
from hreach.report.html.page import Section
from hreach.report.rows import PromiseRow
from hreach.report.verdicts import AS_DEFINED
from hreach.running.loop import run
from hreach.studies.grid import Cell, cell_of
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
FAMILIES = ("PAC-RMDP(1)", "PAC-RMDP(8)", "PAC-RMDP(16)", "MBIE", "BOLT")
DRAWN_BOUND = "PAC-RMDP(8)"
RUNS, CHECKPOINTS = 3, 30  # runs of a row at most: both chains take 1 to 2 s for each, stepped twice in Python
DELTA, PART_OF_TOP = 0.1, 0.1  # eps is this part of the range of values
COARSE = "bad steps and average loss are counted at checkpoints, each standing for the steps to the next"  # all are
REACH = 8  # by which an agent without an h of its own is judged
TEXT = """
What the paper promises, beside what happened in runs whose truth is known. Theorem 1 bounds the ε-bad steps of an \
agent, those worse by more than ε than the best that h more samples of each pair could reach. Such worst-case bounds \
are far above what is measured. They are proved for an agent that stops learning a pair after m samples \
(freeze_at="theory"); m is in the millions here, so these runs, which never stop learning, are the same.

ε is a tenth of the range of values, δ is 0.1, h is the agent's own. MBIE has none, and the theorem promises \
nothing for it: it is judged by h = 8, to compare. Explicit exploration is over once the agent's value stays within ε \
of its model's value without hope (Definition 3).
"""


@dataclass(frozen=True)
class Audited:
    """A row of a study and the audits of its first runs."""

    spec: AgentSpec
    own_reach: bool
    audits: Sequence[Audit]

    @property
    def errors(self) -> NDArray[np.float64]:
        """Measured anytime errors, (runs, checkpoints)."""
        return np.array([a.anytime_error for a in self.audits])


def section(out: Path, studies: Iterable[tuple[str, Study, int]]) -> Section:
    """Audit, write the table and a figure for each (name, study, runs of the study); the part of the page."""
    rows: list[PromiseRow] = []
    figures = []
    for name, study, runs in studies:
        found = audited(study, audited_runs(runs))
        rows += [promise_row(study, one, _shared_notes(found)) for one in found]
        figures.append(_figure(out, f"{ANCHOR}-{name}", study, found))
    write_text(out / CSV, to_csv(rows))
    return Section(ANCHOR, TITLE, TEXT, figures, rows, CSV)


def audited_runs(runs: int) -> int:
    """How many runs of a row are audited: few of a study that was made small."""
    return min(RUNS, 1 + runs // 500)


def chosen(study: Study) -> list[AgentSpec]:
    """One row for each of `FAMILIES` that the study has: the first one, "as defined" if any row is."""
    specs = study.variants.get(AS_DEFINED, study.agent)
    firsts = (next((s for s in specs if s.label == f or s.label.startswith(f"{f}(")), None) for f in FAMILIES)
    return [spec for spec in firsts if spec is not None]


def audited(study: Study, runs: int) -> list[Audited]:
    """The audits of the first `runs` runs of each chosen row."""
    env = make_domain(study.domain, **study.domain_params)
    found = []
    for spec in chosen(study):
        cell = cell_of(study, spec)
        own_reach = hopes(_agent(cell, env, 0)) is not None
        seeds = run_seeds(cell.entropy, 0, runs).tolist()
        found.append(Audited(spec, own_reach, [_audit(cell, env, own_reach, *pair) for pair in seeds]))
    return found


def promise_row(study: Study, one: Audited, shared: Sequence[str] = ()) -> PromiseRow:
    """One line of the table; `shared` notes are told elsewhere."""
    first = one.audits[0]
    over = [np.inf if a.exploration_over is None else a.exploration_over for a in one.audits]
    many = "1 run" if len(one.audits) == 1 else f"{len(one.audits)} runs"
    notes = [*dict.fromkeys(note for a in one.audits for note in a.notes if note not in shared)]
    if not one.own_reach:
        notes.append(f"has no h of its own: judged by h = {REACH}")
    return PromiseRow(
        algorithm=one.spec.label,
        variant=f"{study.title}: {many} of {first.steps} steps, ε = {first.eps:.3g}",
        study=study.title,
        eps=first.eps,
        delta=first.delta,
        h=int(first.h[-1]),
        runs=len(one.audits),
        steps=first.steps,
        bad_steps=_middle([a.bad_steps.measured for a in one.audits]),
        bad_steps_bound=first.bad_steps.bound if first.promised else None,
        anytime_error=_middle(one.errors[:, -1]),
        anytime_error_bound=float(first.anytime_bound[-1]) if first.promised else None,
        largest=first.sizes.top,
        exploring_steps=_middle([a.exploring_steps.measured for a in one.audits]),
        exploring_steps_bound=first.exploring_steps.bound if first.promised else None,
        exploration_over=_middle(over),
        lemma_1_violations=sum(a.violations for a in one.audits),
        kept=_kept([a.kept for a in one.audits]),
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
        writer.writerow(_plain(cells[name]) for name in COLUMNS)
    return out.getvalue()


def settings(studies: Sequence[tuple[str, Study, int]]) -> str:
    """How the section was made, for the provenance."""
    parts = (f"{study.title}: runs 0 to {audited_runs(runs) - 1} of each row" for _, study, runs in studies)
    return f"{'; '.join(parts)}; delta = {DELTA}, {CHECKPOINTS} checkpoints, bounds in the corrected form"


def _agent(cell: Cell, env: object, seed: int) -> TabularAgent:
    agent = make_agent(cell.agent, env, seed=seed, **cell.params)
    assert isinstance(agent, TabularAgent)
    return agent


def _audit(cell: Cell, env: object, own_reach: bool, env_seed: int, agent_seed: int) -> Audit:
    """One run of the study, made again and audited."""
    agent = _agent(cell, env, agent_seed)
    mdp = env.mdp()  # type: ignore[attr-defined]
    steps = cell.steps or 1
    done = run(env, agent, steps=steps, seed=env_seed)
    eps = PART_OF_TOP * sizes_of_problem(told_problem(mdp, agent), agent).top
    at = np.unique(np.linspace(0, steps - 1, CHECKPOINTS).round().astype(int)).tolist()
    return audit(done, mdp, agent, eps=eps, delta=DELTA, h=None if own_reach else REACH, checkpoints=at)


def _plain(cell: object) -> object:
    if isinstance(cell, float):
        return f"{cell:.6g}" if math.isfinite(cell) else ""
    return cell


def _middle(values: Sequence[float] | NDArray[np.float64]) -> tuple[float, float, float]:
    """(median, least, most) of one number for each run."""
    return float(np.median(values)), float(np.min(values)), float(np.max(values))


def _shared_notes(found: Sequence[Audited]) -> list[str]:
    """The notes that every audit has."""
    audits = [a for one in found for a in one.audits]
    return [note for note in audits[0].notes if all(note in a.notes for a in audits)] if audits else []


def _figure(out: Path, name: str, study: Study, found: Sequence[Audited]) -> tuple[str, str]:
    """(caption, svg): the anytime error of every algorithm, and the bound of one."""
    first = found[0].audits[0]
    bands = [_band(one) for one in found]
    bound = next((b for one in found if one.spec.label == DRAWN_BOUND for b in one.audits[:1]), None)
    line = None if bound is None else (f"bound of {DRAWN_BOUND}", bound.step, bound.anytime_bound)
    title = f"{study.title}: promise and truth"
    figure = promises_figure(bands, line, title=title, eps=first.eps, largest=first.sizes.top)
    runs = len(found[0].audits)
    shown = "one run" if runs == 1 else f"line: median of {runs} runs, band: their range"
    caption = (
        f"{study.title}: how far the agent's policy at step t is below the h-reachable optimum; {shown}. "
        f"Above r_max/(1−γ) = {first.sizes.top:.3g} a bound promises nothing."
    )
    notes = "".join(f" Note: {note}." for note in _shared_notes(found) if note != COARSE)
    return caption + notes, save(figure, out / "figures", name)


def _band(one: Audited) -> Band:
    errors = one.errors
    return Band(one.spec.label, one.audits[0].step, np.median(errors, axis=0), errors.min(axis=0), errors.max(axis=0))
