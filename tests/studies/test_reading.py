"""Other programs read the store in one line each, as the docs say; and the study of that page is valid."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import succeed
from hreach.studies.loading import parse
from hreach.studies.record import read_record
from hreach.studies.store import Store

PAGE = (Path(__file__).parents[2] / "docs" / "studies.md").read_text("utf-8")
BLOCKS: list[str] = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
STUDY = """\
title = "To be read"
domain = "chain"
steps = 300
runs = 20
seed = 5
marks = 10

[[agent]]
agent = "pac-rmdp"
grid = { h = [1, 8] }
"""


def line_of(program: str) -> str:
    """The line of the page that reads the store with this program."""
    [line] = [line for block in BLOCKS for line in block.splitlines() if line.startswith(f"{program}.")]
    return line


@pytest.fixture
def totals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The sum of the last total rewards of each cell of the store `results`, by hreach."""
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY, "utf-8")
    succeed("run", "study.toml", "--out", "results", "--executor", "inline")
    store, record = Store(Path("results"), writing=False), read_record(Path("results"), "study")
    return {cell: float(store.read(cell, 20).learning.total[:, -1].sum()) for cell in record.cells}


def read_by(program: str, cell: str) -> dict[str, float]:
    """The same by another program; `cell` is the cell of a row of its table, in Python."""
    for name in (program, "pandas"):
        pytest.importorskip(name)
    code = f"""
import json, {program}
table = {line_of(program)}
assert len(table) == 2 * 20 * 10
last = table[table["at"] == 300]
print(json.dumps(last["total_reward"].groupby(last{cell}).sum().to_dict()))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def test_pandas_reads_the_store(totals: dict[str, float]) -> None:
    assert read_by("pandas", '["cell"].astype(str)') == pytest.approx(totals, rel=1e-12)


def test_duckdb_reads_the_store(totals: dict[str, float]) -> None:
    assert read_by("duckdb", '["filename"].str.split("/").str[2]') == pytest.approx(totals, rel=1e-12)


def test_the_study_of_the_page_is_valid() -> None:
    [text] = [block for block in BLOCKS if block.startswith("title")]
    studies = parse(text, "compare.toml")
    assert [len(study.agent) for study in studies] == [5, 5]
    with pytest.raises(ValueError, match=r"compare\.toml, line \d+"):
        parse(text.replace("marks", "makrs"), "compare.toml")
