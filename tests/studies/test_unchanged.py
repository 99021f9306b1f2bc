"""Results stay what they were: digests of small parts of the paper's studies, whatever the layout of files or records.

A digest is over the numbers as a table writes them, six digits each, so that it holds on any machine.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from hreach.studies.grid import cell_of
from hreach.studies.identity import digest
from hreach.studies.loading import load_catalog
from hreach.studies.results import Result
from hreach.studies.runner import run_study
from hreach.studies.store import Store

# Of the commit before one runner ran all studies: the seeds of every row, and totals of a few runs.
SEEDS = {
    "chain": "d7603a1eb25b",
    "modified-chain": "106f2f59f511",
    "mountain-car": "ab730fef1dde",
    "hiv": "92c91bc5884b",
    "hiv-deeper": "360c3b23dd9a",
}
TOTALS = {
    "chain": {
        "PAC-RMDP(1), as printed": "c216bb844517",
        "PAC-RMDP(8), as printed": "2141dfe58baf",
        "PAC-RMDP(16), as printed": "a3196c177470",
        "PAC-RMDP(growing), as printed": "0400032231bc",
        "PAC-RMDP(adaptive), as printed": "54facf8b06df",
        "MBIE(0.01, 0.1), as printed": "71e492e42b47",
        "MBIE(20, 0.9), as printed": "801fe0f856ce",
        "MBIE(1e4, 0.2), as printed": "9afc5e241bec",
        "VBE(0.1), as printed": "0595fddd0b0f",
        "VBE(0.99), as printed": "4b96b568692a",
        "VBE(1e3), as printed": "8aede5ef7cfa",
        "BEB(2x148^2), as printed": "66dd9040fb1f",
        "BOLT(148), as printed": "174fdd53fa5c",
        "PAC-RMDP(1), as defined": "dc0609badb9e",
        "PAC-RMDP(8), as defined": "f8d4a706d669",
        "PAC-RMDP(16), as defined": "8092017d364f",
        "PAC-RMDP(growing), as defined": "80d0c15a4894",
        "PAC-RMDP(adaptive), as defined": "6e607a591ee8",
        "MBIE(0.01, 0.1), as defined": "bac4cac3a64f",
        "MBIE(20, 0.9), as defined": "87e91c30bbe5",
        "MBIE(1e4, 0.2), as defined": "f77aa7318135",
        "VBE(0.1), as defined": "1ed5ab01bcf5",
        "VBE(0.99), as defined": "97bcf43e54c5",
        "VBE(1e3), as defined": "6ae7f31c9a80",
        "BEB(2x148^2), as defined": "66dd9040fb1f",
        "BOLT(148), as defined": "174fdd53fa5c",
    },
    "modified-chain": {
        "PAC-RMDP(1), as printed": "d6f109bd4cef",
        "PAC-RMDP(8), as printed": "418e561b525a",
        "PAC-RMDP(16), as printed": "a76906492190",
        "PAC-RMDP(growing), as printed": "0e3df0aa8794",
        "PAC-RMDP(adaptive), as printed": "ec8a185e228e",
        "MBIE(0.01, 0.1), as printed": "f841e315b748",
        "MBIE(20, 0.9), as printed": "dad88fc3eeb4",
        "MBIE(1e4, 0.2), as printed": "90fdc3d14195",
        "VBE(0.1), as printed": "58976b2f43b9",
        "VBE(0.99), as printed": "39a89be00aa2",
        "VBE(1e3), as printed": "f2de4be5d5e5",
        "BEB(2x148^2), as printed": "d019b3e0cd98",
        "BOLT(148), as printed": "2f75e20ca700",
        "PAC-RMDP(1), as defined": "525c8ce5ed8c",
        "PAC-RMDP(8), as defined": "ea713b5a8e55",
        "PAC-RMDP(16), as defined": "a293ef16bfed",
        "PAC-RMDP(growing), as defined": "fcdbe8d31ac6",
        "PAC-RMDP(adaptive), as defined": "973cca78317c",
        "MBIE(0.01, 0.1), as defined": "d670c46efcc9",
        "MBIE(20, 0.9), as defined": "c5d5ec1c9ced",
        "MBIE(1e4, 0.2), as defined": "c654c5623c66",
        "VBE(0.1), as defined": "bfee8053b38c",
        "VBE(0.99), as defined": "1dbfeee3d65a",
        "VBE(1e3), as defined": "1027d05c00d6",
        "BEB(2x148^2), as defined": "d019b3e0cd98",
        "BOLT(148), as defined": "2f75e20ca700",
    },
}
CAR = {1: "305e0facf729", 9: "ffff8aa2f38a", 10: "95d5664deb7e"}  # by the number of the row


def numbers(*results: Result) -> str:
    """Twelve hexadecimal digits over the total rewards of both phases, in order."""
    totals = [phase.total for result in results for phase in (result.learning, result.final)]
    text = " ".join(f"{x:.6g}" for total in totals for x in total.ravel().tolist())
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_of_every_row_are_those_of_old(name: str) -> None:
    study = load_catalog(name)
    assert digest([cell_of(study, spec).entropy for spec in study.agent])[:12] == SEEDS[name]


@pytest.mark.parametrize("name", TOTALS)
def test_the_rows_of_a_table_earn_what_they_earned(name: str, tmp_path: Path) -> None:
    results = run_study(load_catalog(name), Store(tmp_path), runs=2)
    found = {f"{spec.label}, {spec.variant}": numbers(result) for spec, result in results}
    assert found == TOTALS[name]


@pytest.mark.parametrize("row", CAR)
def test_a_car_earns_what_it_earned(row: int, tmp_path: Path) -> None:
    study = load_catalog("mountain-car")
    short = study.model_copy(update={"agent": [study.agent[row]], "episodes": 2, "final_episodes": 1})
    ((_, result),) = run_study(short, Store(tmp_path), runs=1)
    assert numbers(result) == CAR[row]
