"""A finished study as the store has it, and its part of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hreach.files import write_text
from hreach.report import claims
from hreach.report.claims import Judged, judge_all
from hreach.report.html.page import Section
from hreach.report.pictures import figures_of, runs_of
from hreach.report.promised_figures import Audited
from hreach.report.rows import EpisodeRow, Row
from hreach.report.tables import table_of, to_csv
from hreach.report.verdicts import ClaimShown, Outcome, claims_summary, summary
from hreach.studies.record import FOLDER, Record, read_record
from hreach.studies.results import Result
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.status import RowStatus, rows_of
from hreach.studies.store import Store


@dataclass(frozen=True)
class Finished:
    """A study with the results of the rows that are complete, its audits, and the rows that are `left`."""

    record: Record
    results: Sequence[tuple[AgentSpec, Result]]
    audits: Sequence[Audited] = field(default=())
    left: Sequence[RowStatus] = field(default=())

    @property
    def name(self) -> str:
        """What its files are called."""
        return self.record.name

    @cached_property
    def study(self) -> Study:
        """What was asked for, without the rows that are left and the claims that speak of them."""
        study = self.record.study
        if not self.left:
            return study
        there = study.model_copy(update={"agent": [spec for spec, _ in self.results]})
        return there.model_copy(update={"claim": [claim for claim in study.claim if there.variants_with(claim)]})

    @property
    def text(self) -> str:
        """The study's text, and which rows are not shown, and why."""
        return "\n\n".join([*(_unfinished(row) for row in self.left), self.study.text])

    @property
    def size(self) -> str:
        """How much was simulated."""
        if self.study.episodes is None:
            return f"{runs_of(self.results)} of {self.study.steps} steps"
        final = f" (and {self.study.final_episodes} without exploration)" if self.study.final_episodes else ""
        return f"{runs_of(self.results)} of {self.study.episodes} episodes{final}"

    @property
    def summary(self) -> str:
        """What came out of the comparison with the paper, or of the claims, in one sentence."""
        shown = claims_summary([_claim_shown(variants) for variants in self.judged])
        return shown or summary(row for row in self.table if isinstance(row, Row))

    @cached_property
    def table(self) -> list[Row] | list[EpisodeRow]:
        """One row for each agent."""
        return table_of(self.study, self.results)

    @cached_property
    def judged(self) -> list[list[Judged]]:
        """For each claim the verdict of each variant."""
        return judge_all(self.study, self.results)

    def section(self, out: Path) -> Section:
        """Write tables and figures; the study's part of the page."""
        csv, settings = f"tables/{self.name}.csv", f"{FOLDER}/{self.name}.json"
        write_text(out / csv, to_csv(self.table))
        claims_csv = f"tables/{self.name}-claims.csv" if self.judged else None
        if claims_csv is not None:
            write_text(out / claims_csv, claims.to_csv(j for variants in self.judged for j in variants))
        record = self.record.model_copy(update={"study": self.study})
        figures = figures_of(record, self.results, out / "figures")
        shown = [_claim_shown(variants) for variants in self.judged]
        kept = settings if (out / settings).is_file() else None
        return Section(self.name, self.study.title, self.text, figures, self.table, csv, shown, claims_csv, kept)


def finished(store: Store, name: str) -> Finished:
    """The study of this name, as the store has it."""
    record = read_record(store.folder, name)
    rows = rows_of(store, record)
    done = [row.whole and (bool(record.used) or record.study.until is None) for row in rows]
    results = [(row.spec, store.read(row.cell, row.runs)) for row, whole in zip(rows, done, strict=True) if whole]
    left = [row for row, whole in zip(rows, done, strict=True) if not whole]
    return Finished(record, results, audits_of(store, record), left)


def audits_of(store: Store, record: Record) -> list[Audited]:
    """The audited rows of a study."""
    return [Audited(record.study.agent[a.row], store.read_audits(a.cell, a.runs)) for a in record.audits]


def _unfinished(row: RowStatus) -> str:
    """Why a row is not in the table."""
    name = f"{row.spec.label}, {row.spec.variant}" if row.spec.variant else row.spec.label
    failed = "".join(f" Failed, {each}." for each in row.failed)
    return f"Not shown: {name}, of which {row.done} of {row.runs} runs are there.{failed}"


def _claim_shown(variants: Sequence[Judged]) -> ClaimShown:
    claim = variants[0].claim
    outcomes = [Outcome(j.variant, j.verdict, j.evidence) for j in variants]
    return ClaimShown(claim.text, claim.source, claims.rule(claim), outcomes)
