"""What README, docs and study files say about the 22 cells is what benchmarks/INFORMATIVE.md found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hreach.report.tables import load_printed
from hreach.studies.loading import load_catalog

ROOT = Path(__file__).parents[2]
FOUND = (ROOT / "benchmarks" / "INFORMATIVE.md").read_text("utf-8")


def counts() -> dict[str, list[int]]:
    """Of each way to choose settings: cells reproduced, informative ones reproduced, informative ones, wide."""
    rows = re.findall(r"^\| ([a-z ]+) \| (\d+) of 22 \| (\d+) of (\d+) \| (\d+) of 22 \|$", FOUND, re.MULTILINE)
    return {name: [int(n) for n in numbers] for name, *numbers in rows}


def test_the_printed_numbers_are_marked_informative_where_they_are() -> None:
    rows = re.findall(r"^\| (.*\)), (chain|modified chain) \|.*\| (yes|no) \|$", FOUND, re.MULTILINE)
    assert len(rows) == 22
    for label, problem, told in rows:
        printed = load_printed(f"{problem.replace(' ', '-')}.csv")[label]
        assert printed.informative == (told == "yes"), (label, problem)


def test_the_counts_agree_with_each_other() -> None:
    found = counts()
    assert list(found) == ["chosen for each problem", "one for each algorithm", "as defined"]
    informative = sum(
        p.informative for name in ("chain", "modified-chain") for p in load_printed(f"{name}.csv").values()
    )
    assert {numbers[2] for numbers in found.values()} == {informative}


@pytest.mark.parametrize("name", ["chain", "modified-chain"])
def test_the_report_states_what_one_setting_for_each_algorithm_gives(name: str) -> None:
    text = " ".join(load_catalog(name).text.split())
    shared = counts()["one for each algorithm"][0]
    assert (
        f"With one setting for each algorithm on both problems {shared} of the 22 printed rows of both come out" in text
    )


@pytest.mark.parametrize("page", ["README.md", "docs/replication.md", "docs/paper-to-code.md"])
def test_a_page_states_the_three_counts_and_how_many_cells_are_informative(page: str) -> None:
    text = " ".join((ROOT / page).read_text("utf-8").split())
    chosen, shared, defined = (numbers[0] for numbers in counts().values())
    stated = re.search(
        r"(\d+) (?:of 22 )?(?:cells are )?(?:reproduced )?with settings chosen for each problem, "
        r"(\d+) (?:of 22 )?with one (?:setting )?for each algorithm, (\d+) (?:of 22 )?(?:as defined|with the constants)"
        r".*?(\d+) of the 22 (?:cells )?are \*?informative",
        text,
    )
    assert stated is not None
    assert [int(n) for n in stated.groups()] == [chosen, shared, defined, counts()["as defined"][2]]
