"""From a file to its studies: one for each domain, in each a row for every combination of an agent's grid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from hreach.errors import InputError
from hreach.studies.spec import MAX_ROWS, AgentSpec, Common, DomainRow, Grid, GridRow, Study, StudyFile

Params = dict[str, Any]


def studies_of(file: StudyFile) -> list[Study]:
    """The studies of a file, in the order of its domains; `InputError` if they have more than `MAX_ROWS` rows."""
    domains = domains_of(file)
    rows = sum(map(_size, (row.grid for row in domains))) * sum(map(_size, (row.grid for row in file.agent)))
    if rows > MAX_ROWS:
        raise InputError(f"the grids ask for {rows} rows, but must ask for at most {MAX_ROWS}.")
    agents = [spec for row in file.agent for spec in specs_of(row)]
    shared = {name: value for name, value in file if name in Common.model_fields}
    several = not isinstance(file.domain, str)
    studies = []
    for row in domains:
        for params in combinations(row.grid):
            given = {**row.params, **params}
            own = {"domain": row.domain, "domain_params": given, "bounds": row.bounds or file.bounds, "agent": agents}
            title = f"{file.title}: {domain_label(row, params)}" if several else file.title
            studies.append(Study.model_construct(**shared | own | {"title": title}))
    return studies


def domains_of(file: StudyFile) -> list[DomainRow]:
    """The domains of a file; the short form is a table with nothing else in it."""
    if isinstance(file.domain, str):
        return [DomainRow(domain=file.domain, params=file.domain_params)]
    return file.domain


def specs_of(row: GridRow) -> Iterator[AgentSpec]:
    """A row for each combination of a grid."""
    known = {name: value for name, value in row if name in AgentSpec.model_fields}
    for params in combinations(row.grid):
        own = {"params": {**row.params, **params}, "algorithm": _label(row.algorithm, params)}
        yield AgentSpec.model_construct(row.model_fields_set - {"grid"}, **known | own)


def domain_label(row: DomainRow, params: Params) -> str:
    """What tells a domain of a file from the others."""
    if row.label:
        return _label(row.label, params)
    inside = ", ".join(f"{key}={value}" for key, value in (row.params | params).items())
    return f"{row.domain}({inside})" if inside else row.domain


def combinations(grid: Grid) -> Iterator[Params]:
    """Every combination of the values of a grid, the last list running fastest; of no grid the empty one."""
    return (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))


def one_at_a_time(grid: Grid) -> Iterator[Params]:
    """Every value of a grid once, the others being the first of their lists."""
    first = {key: values[0] for key, values in grid.items()}
    yield first
    yield from ({**first, key: value} for key, values in grid.items() for value in values[1:])


def _size(grid: Grid) -> int:
    return math.prod(map(len, grid.values()))


def _label(text: str, params: Mapping[str, Any]) -> str:
    """A label with the values of a row: where "{key}" stands, or in brackets behind."""
    if not text or not params:
        return text
    filled = text
    for key, value in params.items():
        filled = filled.replace(f"{{{key}}}", str(value))
    return filled if filled != text else f"{text}({', '.join(f'{key}={value}' for key, value in params.items())})"
