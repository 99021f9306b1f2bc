"""Files that somebody made to do harm: refused in one sentence, nothing executed, nothing written elsewhere."""

from __future__ import annotations

import io
import json
import pickle
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from faults.figures import record
from helpers import content, succeed
from hreach.cli.app import app
from hreach.errors import InputError
from hreach.studies.shards import _checksum, _values, file_digest

STUDY = """\
title = "To be forged"
domain = "chain"
steps = 300
runs = 20
seed = 5

[[agent]]
agent = "pac-rmdp"
params = { h = 8 }
"""
SCRIPT = "<script>alert(1)</script>"
SLOWEST: dict[str, float] = {}


class Payload:
    """What is executed when it is unpickled: it makes a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A finished study, in a folder inside another one, in which nothing may appear."""
    (tmp_path / "inside").mkdir()
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    succeed("run", tmp_path / "study.toml", "--out", tmp_path / "inside" / "out", "--executor", "inline")
    return tmp_path / "inside" / "out"


@pytest.fixture(scope="module", autouse=True)
def told() -> Iterator[None]:
    """The slowest refusal of all, as a figure."""
    yield
    if SLOWEST:
        name = max(SLOWEST, key=lambda each: SLOWEST[each])
        measured = f"{len(SLOWEST)} of {len(SLOWEST)} refused in one sentence, nothing executed, nothing outside DIR"
        slowest = f"the slowest in {SLOWEST[name]:.2g} s ({name})"
        record("hostile Parquet, npz, JSON and TOML files", f"{measured}; {slowest}", "each in under 1 s")


def refused(name: str, folder: Path, *words: str | Path) -> str:
    """The one sentence by which a command refuses, having written nothing."""
    before, began = content(folder), time.perf_counter()
    result = invoke(*words)
    seconds = time.perf_counter() - began
    assert isinstance(result.exception, InputError), (result.output, result.exception)
    said = str(result.exception)
    assert "\n" not in said
    assert len(said) < 1000
    assert content(folder) == before
    SLOWEST[name] = seconds
    return said


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


# --- studies -------------------------------------------------------------------------------------------------------

NUMBERS = ", ".join(map(str, range(1000)))
TOMLS = {
    "10 MB of nesting": "x = " + 10**7 * "[",
    "nesting below the limit of size": "x = " + 900_000 * "[",
    "nested tables": "[" + ".".join(400_000 * ["a"]) + "]",
    "nested keys": " . ".join(100_000 * ["'a'"]) + " = 1",
    "a grid of 10^9 cells": f"{STUDY}grid = {{ prior = [{NUMBERS}], tolerance = [{NUMBERS}], gamma = [{NUMBERS}] }}\n",
    "a number of 5000 digits": STUDY.replace("seed = 5", f"seed = {5000 * '9'}"),
    "10^18 runs": STUDY.replace("runs = 20", "runs = 1000000000000000000"),
    "an agent in a file elsewhere": STUDY.replace("pac-rmdp", "../../evil:Agent"),
    "no text": "\x00\x01\x02",
}


@pytest.mark.parametrize("name", list(TOMLS))
def test_a_hostile_study_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(TOMLS[name], "utf-8")
    refused(name, tmp_path, "run", tmp_path / "study.toml", "--out", tmp_path / "out")


def test_text_of_a_study_is_text_on_the_page_and_no_path(tmp_path: Path) -> None:
    text = STUDY.replace('"To be forged"', f"'{SCRIPT}'") + f"algorithm = '../../../{SCRIPT}'\nnote = '{SCRIPT}'\n"
    text = text.replace('domain = "chain"', "") + f'\n[[domain]]\ndomain = "chain"\nlabel = "../../{SCRIPT}"\n'
    text += '\n[[domain]]\ndomain = "chain"\nparams = { slip = 0.1 }\nlabel = "../../evil"\n'
    (tmp_path / "..study.toml").write_text(text, "utf-8")
    (tmp_path / "inside").mkdir()
    succeed("run", tmp_path / "..study.toml", "--out", tmp_path / "inside" / "out", "--executor", "inline")
    page = (tmp_path / "inside" / "out" / "report.html").read_text("utf-8")
    assert "alert(1)" in page
    assert SCRIPT not in page
    assert {path.name for path in tmp_path.iterdir()} == {"..study.toml", "inside"}
    assert [path.name for path in (tmp_path / "inside").iterdir()] == ["out"]


# --- shards --------------------------------------------------------------------------------------------------------


def values_of(column: pa.ChunkedArray) -> Any:
    """The values of a column, of one that hreach does not read as well."""
    return column.to_numpy() if pa.types.is_nested(column.type) else _values(column)


def forged(out: Path, change: Callable[[pa.Table, dict[str, Any]], tuple[pa.Table, Any]]) -> None:
    """Put a changed shard in the place of the one that is there, with checksum and name as they should be."""
    [path] = out.rglob("*.parquet")
    table = pq.read_table(path)
    table, about = change(table, json.loads(table.schema.metadata[b"hreach"]))
    text = json.dumps(about)
    checksum = _checksum(text, {name: values_of(table[name]) for name in table.column_names})
    file = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({"hreach": text, "sha256": checksum}), file, compression="zstd")
    replaced(path, file.getvalue())


def replaced(path: Path, data: bytes) -> None:
    """Other bytes in the place of a shard, under the name that they should have."""
    path.unlink()
    first, end, _ = path.stem.split("-")
    (path.parent / f"{first}-{end}-{file_digest(data)}.parquet").write_bytes(data)


def column(table: pa.Table, name: str, values: Any) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


SHARDS: dict[str, Callable[[pa.Table, dict[str, Any]], tuple[pa.Table, Any]]] = {
    "a column is missing": lambda table, about: (table.drop_columns(["total_reward"]), about),
    "a column is text": lambda table, about: (column(table, "total_reward", [["x"] * len(table)]), about),
    "a column is nested": lambda table, about: (column(table, "total_reward", [[[1.0]] * len(table)]), about),
    "rows are missing": lambda table, about: (table.slice(0, 7), about),
    "no rows": lambda table, about: (table.slice(0, 0), about),
    "no columns": lambda table, about: (table.select([]), about),
    "no cell": lambda table, about: (table, {key: about[key] for key in about if key != "cell"}),
    "no table beside the columns": lambda table, about: (table, [1, 2, 3]),
    "a number beside the columns": lambda table, about: (table, 7),
    "another kind of result": lambda table, about: (table, {**about, "by": "../../evil"}),
    "no agent": lambda table, about: (table, {key: about[key] for key in about if key != "agent"}),
    "no maker": lambda table, about: (table, {**about, "made": [SCRIPT]}),
    "an episode of text": lambda table, about: (table, {**about, "last": {"states": "x"}}),
    "runs of another number": lambda table, about: (column(table, "run", [np.arange(len(table)) * 10**5]), about),
}


@pytest.mark.parametrize("name", list(SHARDS))
def test_a_forged_shard_is_refused(name: str, out: Path) -> None:
    forged(out, SHARDS[name])
    said = refused(f"a shard: {name}", out.parent.parent, "report", out)
    assert "is damaged (" in said
    assert CliRunner().invoke(app, ["status", str(out), "--verify"]).exit_code == 1


def test_a_shard_that_is_not_changed_is_taken(out: Path) -> None:
    """The twin: what forges shards here forges nothing else."""
    forged(out, lambda table, about: (table, about))
    succeed("report", out)
    succeed("status", out, "--verify")


def test_a_shard_with_pickled_objects_executes_nothing(out: Path, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    code = pickle.dumps(Payload(mark))
    extension = {"ARROW:extension:name": "arrow.py_extension_type", "ARROW:extension:metadata": code}
    field = pa.field("total_reward", pa.binary(), metadata=extension)
    table = pa.table({"total_reward": [code]}, schema=pa.schema([field], metadata={"hreach": "{}", "pandas": code}))
    file = io.BytesIO()
    pq.write_table(table, file)
    [path] = out.rglob("*.parquet")
    replaced(path, file.getvalue())
    refused("a shard: pickled objects", tmp_path, "report", out)
    assert not mark.exists()
    pickle.loads(code)
    assert mark.exists()  # the twin: whoever unpickles it executes it


def test_a_small_shard_of_very_many_rows_is_refused(out: Path, tmp_path: Path) -> None:
    [path] = out.rglob("*.parquet")
    metadata = pq.read_schema(path).metadata
    many = pa.chunked_array([pa.array(np.zeros(10**6))] * 40)
    file = io.BytesIO()
    pq.write_table(pa.table({"total_reward": many}).replace_schema_metadata(metadata), file, compression="zstd")
    assert len(file.getvalue()) < 10**6
    replaced(path, file.getvalue())
    assert "cannot be read as Parquet" in refused("a shard: 4e7 rows in a small file", tmp_path, "report", out)


# --- what stands beside the shards ---------------------------------------------------------------------------------


def test_a_record_of_another_name_writes_nowhere_else(out: Path, tmp_path: Path) -> None:
    path = out / "studies" / "study.json"
    path.write_text(path.read_text("utf-8").replace('"name":"study"', '"name": "study"'), "utf-8")
    about = json.loads(path.read_text("utf-8"))
    for name in ("../../evil", "/evil", "other"):
        path.write_text(json.dumps({**about, "name": name}), "utf-8")
        merging: list[str | Path] = ["merge", out, "--out", tmp_path / "inside" / "merged"]
        commands: list[list[str | Path]] = [["report", out], ["status", out], merging]
        for words in commands:
            result = invoke(*words)
            assert isinstance(result.exception, InputError), (words, result.output)
    assert {path.name for path in tmp_path.iterdir()} == {"study.toml", "inside"}


@pytest.mark.parametrize("cell", ["../../../../etc", "/etc", "x", "", 15 * "0", "..", "0" * 16 + "/.."])
def test_a_record_whose_cells_are_no_ids_is_refused(cell: str, out: Path, tmp_path: Path) -> None:
    path = out / "studies" / "study.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "cells": [cell]}), "utf-8")
    refused(f"a record: cell {cell!r}", tmp_path, "report", out)
    refused(f"a record: cell {cell!r}", tmp_path, "status", out)


@pytest.mark.parametrize(
    "change", [{"cells": []}, {"used": [1, 2, 3]}, {"audits": [{"row": 7, "cell": 16 * "0", "runs": 1}]}]
)
def test_a_record_that_does_not_fit_together_is_refused(change: dict[str, Any], out: Path, tmp_path: Path) -> None:
    path = out / "studies" / "study.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **change}), "utf-8")
    refused(f"a record: {next(iter(change))}", tmp_path, "report", out)


@pytest.mark.parametrize("text", [10**7 * "[", "", "{}", "[]", "\x00", SCRIPT], ids=range(6))
def test_a_record_that_is_none_is_refused(text: str, out: Path, tmp_path: Path) -> None:
    (out / "studies" / "study.json").write_text(text, "utf-8")
    refused("a record: no record", tmp_path, "report", out)


def test_a_failure_that_was_forged_is_passed_over_or_shown_as_text(out: Path, tmp_path: Path) -> None:
    [shard] = out.rglob("*.parquet")
    shard.unlink()
    aside = out / "quarantine" / shard.parent.name
    aside.mkdir(parents=True)
    (aside / "0-10.json").write_text(10**6 * "[", "utf-8")
    (aside / "10-20.json").write_text(json.dumps({"runs": [10, 20], "why": f"\x1b[2J{SCRIPT}\n", "tries": 1}), "utf-8")
    result = invoke("status", out)
    assert isinstance(result.exception, SystemExit)
    assert "\x1b" not in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("kind", ["pickled", "a bomb", "no archive"])
def test_a_hostile_checkpoint_is_thrown_away(kind: str, tmp_path: Path) -> None:
    from hreach.running.checkpoint import CheckpointError, read

    mark, path = tmp_path / "executed", tmp_path / "x.npz"
    if kind == "pickled":
        np.savez(path, agent=np.array([Payload(mark)], dtype=object), allow_pickle=True)
    elif kind == "a bomb":
        np.savez_compressed(path, agent=np.zeros(10**8, dtype=np.int8))
    else:
        path.write_bytes(10**6 * b"[")
    began = time.perf_counter()
    with pytest.raises(InputError, match=r"something else\.$") as raised:
        read(path)
    SLOWEST[f"a checkpoint: {kind}"] = time.perf_counter() - began
    assert not isinstance(raised.value, CheckpointError)
    assert not mark.exists()
    if kind == "pickled":
        np.load(path, allow_pickle=True)["agent"]
        assert mark.exists()  # the twin: whoever unpickles it executes it
