"""A whole study: its runs, its audits, and the record that a report begins with."""

from __future__ import annotations

import time
from typing import Protocol

from hreach.running.processes import Processes
from hreach.studies.audits import AuditWatch, run_audits
from hreach.studies.grid import cell_of
from hreach.studies.record import Record, optimum_of, write_record
from hreach.studies.results import Result
from hreach.studies.runner import Watch, run_study
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.store import Store


class Watching(Watch, AuditWatch, Protocol):
    """Receives progress of runs and of audits."""


def finish(
    name: str,
    study: Study,
    store: Store,
    runs: int | None = None,
    processes: Processes | None = None,
    watch: Watching | None = None,
    *,
    audited: bool = False,
    paper: bool = False,
) -> tuple[Record, list[tuple[AgentSpec, Result]]]:
    """Run what the store lacks, audit some rows if `audited`, and write the record.

    name    what its files are called
    paper   whether it is one of the paper's studies, that come with hreach
    """
    began = time.perf_counter()
    results = run_study(study, store, runs, processes, watch)
    audits = run_audits(study, store, runs, processes, watch) if audited else []
    record = Record(
        name=name,
        study=study,
        cells=[cell_of(study, spec).id for spec in study.agent],
        runs=results[0][1].runs,
        seconds=time.perf_counter() - began,
        audits=audits,
        optimum=optimum_of(study) if study.episodes is None else None,
        paper=paper,
    )
    write_record(store.folder, record)
    return record, results
