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
from hreach.report.pictures import figures_of
from hreach.report.promises import Audited
from hreach.report.rows import Row
from hreach.report.tables import table_of, to_csv
from hreach.report.verdicts import ClaimShown, Outcome, claims_summary, summary
from hreach.studies.record import Record, read_record
from hreach.studies.results import Result
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.store import Store


@dataclass(frozen=True)
class Finished:
    """A study with its results and audits."""

    record: Record
    results: Sequence[tuple[AgentSpec, Result]]
    audits: Sequence[Audited] = field(default=())

    @property
    def name(self) -> str:
        """What its files are called."""
        return self.record.name

    @property
    def study(self) -> Study:
        """What was asked for."""
        return self.record.study

    @property
    def size(self) -> str:
        """How much was simulated."""
        if self.study.episodes is None:
            return f"{self.record.runs} runs of {self.study.steps} steps"
        final = f" (and {self.study.final_episodes} without exploration)" if self.study.final_episodes else ""
        return f"{self.record.runs} runs of {self.study.episodes} episodes{final}"

    @property
    def summary(self) -> str:
        """What came out of the comparison with the paper, or of the claims, in one sentence."""
        shown = claims_summary([_claim_shown(variants) for variants in self.judged])
        return shown or summary(row for row in table_of(self.study, self.results) if isinstance(row, Row))

    @cached_property
    def judged(self) -> list[list[Judged]]:
        """For each claim the verdict of each variant."""
        return judge_all(self.study, self.results)

    def section(self, out: Path) -> Section:
        """Write tables and figures; the study's part of the page."""
        table, csv = table_of(self.study, self.results), f"tables/{self.name}.csv"
        write_text(out / csv, to_csv(table))
        claims_csv = f"tables/{self.name}-claims.csv" if self.judged else None
        if claims_csv is not None:
            write_text(out / claims_csv, claims.to_csv(j for variants in self.judged for j in variants))
        figures = figures_of(self.record, self.results, out / "figures")
        shown = [_claim_shown(variants) for variants in self.judged]
        return Section(self.name, self.study.title, self.study.text, figures, table, csv, shown, claims_csv)


def finished(store: Store, name: str) -> Finished:
    """The study of this name, as the store has it."""
    record = read_record(store.folder, name)
    results = [store.read(cell, record.runs) for cell in record.cells]
    return Finished(record, list(zip(record.study.agent, results, strict=True)), audits_of(store, record))


def audits_of(store: Store, record: Record) -> list[Audited]:
    """The audited rows of a study."""
    return [Audited(record.study.agent[a.row], store.read_audits(a.cell, a.runs)) for a in record.audits]


def _claim_shown(variants: Sequence[Judged]) -> ClaimShown:
    claim = variants[0].claim
    outcomes = [Outcome(j.variant, j.verdict, j.evidence) for j in variants]
    return ClaimShown(claim.text, claim.source, claims.rule(claim), outcomes)
