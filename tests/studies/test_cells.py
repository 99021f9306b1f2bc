"""What a cell is: its id and its seeds follow from what is asked for, not from how or where it is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hreach.studies.grid import Cell, cell_of
from hreach.studies.spec import AgentSpec, Study

CELL = Cell("chain", {"length": 5}, "pac-rmdp", {"h": 8, "gamma": 0.9}, steps=40, seed=3)
OTHERS: dict[str, Any] = {
    "domain": "modified-chain",
    "domain_params": {"length": 6},
    "agent": "bolt",
    "params": {"h": 8, "gamma": 0.8},
    "seed": 4,
}
PAC = AgentSpec(agent="pac-rmdp", params={"h": 8})
STUDY = Study(title="T", domain="chain", steps=40, runs=12, seed=3, settings={"gamma": 0.9}, agent=[PAC])


def changed(study: Study, **fields: Any) -> Study:
    return study.model_copy(update=fields)


@pytest.mark.parametrize("field", [*OTHERS, "steps"])
def test_the_id_depends_on_what_changes_the_numbers(field: str) -> None:
    other = replace(CELL, **{field: (OTHERS | {"steps": 41})[field]})
    assert other.id != CELL.id


def test_the_id_depends_on_the_code_and_the_seeds_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    before = CELL
    monkeypatch.setattr("hreach.studies.grid.code_digest", lambda: "another")
    assert replace(CELL).id != before.id
    assert replace(CELL).entropy == before.entropy


SAME: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"h": 8}, {"h": 8.0}),
    ({"h": 8}, {"h": 8, "prior": 1, "tolerance": 0.01, "gamma": 0.95, "ties": "random", "c": None}),
    ({"h": 8, "gamma": None}, {"h": 8, "prior": 1.0}),
    ({"h": 8, "ties": [0, 1]}, {"h": 8.0, "ties": (0, 1.0)}),
    ({"h": 10**9}, {"h": 1e9}),
    ({"h": 8}, {"h": 8, "planner": "sweeps", "model": "counts", "prior": None}),
    ({"h": 8, "model": "sparse-counts"}, {"h": 8, "model": "sparse-counts", "planner": "local", "prior": 0}),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_row_written_in_another_way_is_the_same_cell(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = replace(CELL, params=one), replace(CELL, params=other)
    assert first.id == second.id
    assert first.entropy == second.entropy


def test_a_domain_written_in_another_way_is_the_same_cell() -> None:
    plain, spelt = replace(CELL, domain_params={}), replace(CELL, domain_params={"length": 5.0, "small": 0.2})
    assert (plain.id, plain.entropy) == (spelt.id, spelt.entropy)


def test_a_linear_row_written_in_another_way_is_the_same_cell() -> None:
    shared: dict[str, Any] = {"domain": "mountain-car", "domain_params": {}, "agent": "linear-epsilon-greedy"}
    plain = replace(CELL, **shared, params={"grid": [9, 9]})
    spelt = replace(CELL, **shared, params={"grid": (9.0, 9), "epsilon": 0.1, "ridge": 0.1, "quadrature": 3.0})
    assert (plain.id, plain.entropy) == (spelt.id, spelt.entropy)


OTHER_ROWS: list[dict[str, Any]] = [
    {"h": 9},
    {"h": 8.5},
    {"h": 8, "prior": 0},
    {"h": 8, "gamma": 0.9},
    {"h": 8, "tolerance": 0.1},
    {"h": 8, "ties": [0, 1]},
    {"h": "8"},
]


@pytest.mark.parametrize("params", OTHER_ROWS)
def test_a_row_that_asks_for_something_else_is_another_cell(params: dict[str, Any]) -> None:
    first, second = replace(CELL, params={"h": 8}), replace(CELL, params=params)
    assert first.id != second.id
    assert first.entropy != second.entropy


def test_a_row_with_its_discount_given_by_the_domain_is_the_same_cell() -> None:
    given = replace(CELL, domain_params={"gamma": 0.9}, params={"h": 8})
    assert given.entropy == replace(given, params={"h": 8, "gamma": 0.9}).entropy
    assert given.entropy != replace(given, params={"h": 8, "gamma": 0.95}).entropy


def test_the_id_depends_on_the_settings_that_all_agents_share() -> None:
    assert cell_of(changed(STUDY, settings={"gamma": 0.8}), PAC).id != cell_of(STUDY, PAC).id


def test_a_rows_own_parameter_goes_before_the_shared_one() -> None:
    spec = AgentSpec(agent="pac-rmdp", params={"h": 8, "gamma": 0.5})
    assert cell_of(STUDY, spec).params == {"h": 8, "gamma": 0.5}


@pytest.mark.parametrize("field", ["algorithm", "variant", "note"])
def test_the_id_does_not_depend_on_how_a_row_is_called(field: str) -> None:
    assert cell_of(STUDY, PAC.model_copy(update={field: "other"})).id == cell_of(STUDY, PAC).id


@pytest.mark.parametrize("fields", [{"title": "U"}, {"text": "long"}, {"runs": 99}, {"printed": "chain.csv"}])
def test_the_id_does_not_depend_on_the_rest_of_the_study(fields: dict[str, Any]) -> None:
    assert cell_of(changed(STUDY, **fields), PAC).id == cell_of(STUDY, PAC).id


def test_the_id_does_not_depend_on_the_order_of_parameters() -> None:
    assert replace(CELL, params={"gamma": 0.9, "h": 8}).id == CELL.id


def test_the_id_depends_on_the_order_of_tie_breaking() -> None:
    first, second = (replace(CELL, params={"h": 8, "ties": ties}) for ties in ([0, 1], [1, 0]))
    assert first.id != second.id


def test_entropy_does_not_depend_on_the_number_of_steps() -> None:
    assert replace(CELL, steps=41).entropy == CELL.entropy


@pytest.mark.parametrize("field", OTHERS)
def test_entropy_depends_on_everything_else(field: str) -> None:
    assert replace(CELL, **{field: OTHERS[field]}).entropy != CELL.entropy
