"""A whole study: its runs, its audits, and the record that a report begins with."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from hreach.registry import source_digest
from hreach.studies.audits import AuditWatch, run_audits
from hreach.studies.code import code_digest
from hreach.studies.definition import check_definition, differences
from hreach.studies.grid import cell_of
from hreach.studies.identity import digest
from hreach.studies.record import Record, names_in, optimum_of, read_record, write_record
from hreach.studies.results import Result
from hreach.studies.runner import Watch, run_study
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.store import Store
from hreach.studies.workers import Workers


class Watching(Watch, AuditWatch, Protocol):
    """Receives progress of runs and of audits."""


@dataclass(frozen=True)
class Origin:
    """Where a study comes from.

    paper   whether it is one of the paper's studies, that come with hreach
    key     of a file: `key_of`
    parts   how many studies the file has
    """

    paper: bool = False
    key: str = ""
    parts: int = 1


def begin(
    name: str, study: Study, store: Store, runs: int | None = None, origin: Origin | None = None, replace: bool = False
) -> Record:
    """Write the record of a study that is to be run, by this process or others.

    name      what its files are called
    replace   whether it may be another study than the one of this name that was begun in the folder
    """
    if not replace and name in names_in(store.folder):
        check_definition(name, read_record(store.folder, name).study, study)
    origin = origin or Origin()
    cells = [cell_of(study, spec) for spec in study.agent]
    record = Record(
        name=name,
        study=study,
        cells=[cell.id for cell in cells],
        runs=study.runs if runs is None else runs,
        key=origin.key,
        parts=origin.parts,
        sources={module: known for cell in cells for module, known in cell.sources.items()},
        optimum=optimum_of(study) if study.episodes is None else None,
        paper=origin.paper,
    )
    write_record(store.folder, record)
    return record


def other_code(store: Store, name: str, study: Study) -> bool:
    """Whether the store has a study of this name whose rows were computed by other code than this."""
    if name not in names_in(store.folder):
        return False
    before = read_record(store.folder, name)
    now = {cell_of(study, spec).id for spec in study.agent}
    return not any(differences(before.study, study)) and not now.issuperset(before.cells)


def finish(
    record: Record,
    store: Store,
    workers: Workers | None = None,
    watch: Watching | None = None,
    *,
    audited: bool = False,
) -> tuple[Record, list[tuple[AgentSpec, Result]]]:
    """Run what the store lacks, audit some rows if `audited`, and write the record again."""
    began = time.perf_counter()
    results = run_study(record.study, store, record.runs, workers, watch)
    audits = run_audits(record.study, store, record.runs, workers, watch) if audited else []
    used = {id(spec): result.runs for spec, result in results}
    done = {
        "used": [used.get(id(spec), 0) for spec in record.study.agent],
        "seconds": time.perf_counter() - began,
        "audits": audits,
    }
    record = record.model_copy(update=done)
    write_record(store.folder, record)
    return record, results


def key_of(text: str, runs: int | None) -> str:
    """What a finished study is known by: its file, its number of runs, and the code that decides results."""
    return digest([text, runs, code_digest()])


def finished_before(store: Store, names: str, key: str) -> list[str]:
    """Names of the studies of a file that are finished by this key and whose shards are all there; [] if any is not.

    names   what they are called, or begin with
    """
    found = []
    for name in names_in(store.folder):
        if name == names or name.startswith(f"{names}-"):
            record = read_record(store.folder, name)
            if record.key == key:
                found.append(record)
    whole = found and len(found) == found[0].parts and all(_is_whole(store, record) for record in found)
    return [record.name for record in found] if whole else []


def _is_whole(store: Store, record: Record) -> bool:
    if not record.used or 0 in record.used or not _unchanged(record.sources):
        return False
    return not any(store.missing(cell, runs) for cell, runs in zip(record.cells, record.used, strict=True))


def _unchanged(sources: Mapping[str, str]) -> bool:
    return all(source_digest(module) == known for module, known in sources.items())
