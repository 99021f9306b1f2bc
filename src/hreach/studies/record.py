"""A study in the store: what it is, and where its results are.

    DIR/studies/<name>.json

It is written when the study begins, and again when it is finished. With the shards that it names, this is all that a
report needs, and all that is needed to say how far a study is.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field

from hreach.domains import make_domain
from hreach.errors import InputError, unknown_name
from hreach.files import write_text
from hreach.problems.truth import truth_of
from hreach.studies.spec import Strict, Study

FOLDER = "studies"
_CELL = re.compile(r"[0-9a-f]{16}")


class AuditedRow(Strict):
    """The number of a row of the study, the cell of its audits, and how many runs were audited."""

    row: int
    cell: str
    runs: int


class Record(Strict):
    """A study that was begun.

    cells     the id of each row's cell, in the order of the rows
    runs      so many of each at most
    used      so many of each row: fewer than `runs` where `until` stopped it, 0 where some of them failed; of a study
              that is not finished nothing
    key       a digest of the file that it came from and of the code that decides results
    parts     how many studies that file has
    sources   digests of the modules that it names and that are not hreach's
    seconds   that the last call took
    audits    the rows that were audited
    optimum   average reward of the optimal policy, where the domain tells its truth and the study is by steps
    paper     whether it is one of the paper's studies, that come with hreach
    """

    name: str
    study: Study
    cells: list[str]
    runs: int
    used: list[int] = Field(default_factory=list)
    key: str = ""
    parts: int = 1
    sources: dict[str, str] = Field(default_factory=dict)
    seconds: float = 0.0
    audits: list[AuditedRow] = Field(default_factory=list)
    optimum: float | None = None
    paper: bool = False


def write_record(folder: Path, record: Record) -> None:
    """Keep the record, in place of an older one of this name."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    write_text(folder / FOLDER / f"{record.name}.json", record.model_dump_json(indent=1) + "\n")


def names_in(folder: Path) -> list[str]:
    """Names of the studies that were begun in a folder, the one that was changed first first."""
    files = sorted((folder / FOLDER).glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    return [path.stem for path in files]


def read_record(folder: Path, name: str) -> Record:
    """The record of this name."""
    known = names_in(folder)
    if name not in known:
        raise unknown_name("study", name, known)
    path = folder / FOLDER / f"{name}.json"
    try:
        record = Record.model_validate_json(path.read_bytes())
        if record.name != name or not _fits(record):
            raise ValueError("it is another study's, or its parts are of several")
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} is not the record of a study; delete it and run the study again.") from error
    return record


def _fits(record: Record) -> bool:
    """Whether its parts are of one study, and its cells are names of folders of the store and of nothing else."""
    rows = len(record.study.agent)
    cells = [*record.cells, *(each.cell for each in record.audits)]
    audited = all(0 <= each.row < rows for each in record.audits)
    lengths = len(record.cells) == rows and len(record.used) in (0, rows)
    return audited and lengths and all(map(_CELL.fullmatch, cells))


def optimum_of(study: Study) -> float | None:
    """Average reward of the optimal policy of the study's domain, if that tells its truth."""
    mdp = truth_of(make_domain(study.domain, **study.domain_params))
    return None if mdp is None else float(mdp.average_reward(mdp.optimal_policy()))
