"""A finished study in the store: what it was, and where its results are.

    DIR/studies/<name>.json

With the shards that it names, this is all that a report needs.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, ValidationError

from hreach.domains import make_domain
from hreach.errors import InputError, unknown_name
from hreach.files import write_text
from hreach.problems.truth import truth_of
from hreach.studies.spec import Strict, Study

FOLDER = "studies"


class AuditedRow(Strict):
    """The number of a row of the study, the cell of its audits, and how many runs were audited."""

    row: int
    cell: str
    runs: int


class Record(Strict):
    """A study that was run.

    cells     the id of each row's cell, in the order of the rows
    runs      so many of each
    seconds   that the last call took
    audits    the rows that were audited
    optimum   average reward of the optimal policy, where the domain tells its truth and the study is by steps
    paper     whether it is one of the paper's studies, that come with hreach
    """

    name: str
    study: Study
    cells: list[str]
    runs: int
    seconds: float
    audits: list[AuditedRow] = Field(default_factory=list)
    optimum: float | None = None
    paper: bool = False


def write_record(folder: Path, record: Record) -> None:
    """Keep the record, in place of an older one of this name."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    write_text(folder / FOLDER / f"{record.name}.json", record.model_dump_json(indent=1) + "\n")


def names_in(folder: Path) -> list[str]:
    """Names of the studies that were finished in a folder, the one that was finished first first."""
    files = sorted((folder / FOLDER).glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    return [path.stem for path in files]


def read_record(folder: Path, name: str) -> Record:
    """The record of this name."""
    known = names_in(folder)
    if name not in known:
        raise unknown_name("study", name, known)
    path = folder / FOLDER / f"{name}.json"
    try:
        return Record.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise InputError(f"{str(path)!r} is not the record of a study; delete it and run the study again.") from error


def optimum_of(study: Study) -> float | None:
    """Average reward of the optimal policy of the study's domain, if that tells its truth."""
    mdp = truth_of(make_domain(study.domain, **study.domain_params))
    return None if mdp is None else float(mdp.average_reward(mdp.optimal_policy()))
