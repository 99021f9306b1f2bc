"""Shards with a wrong byte or a missing end: `status --verify` finds each, `report` uses none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from faults.figures import record
from helpers import content, succeed
from hreach import InputError
from hreach.cli.app import app
from hreach.studies import shards

STUDY = """\
title = "To be damaged"
domain = "chain"
steps = 300
runs = 20
seed = 5

[[agent]]
agent = "pac-rmdp"
grid = { h = [1, 2, 4] }
"""
Damage = Callable[[bytes, np.random.Generator], bytes]


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    succeed("run", tmp_path / "study.toml", "--out", tmp_path / "out", "--executor", "inline")
    return tmp_path / "out"


def flipped(data: bytes, rng: np.random.Generator) -> bytes:
    """One byte is another one."""
    at, mask = int(rng.integers(len(data))), int(rng.integers(1, 256))
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


def truncated(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: int(rng.integers(len(data)))]


def damages(out: Path, damage: Damage, times: int) -> Iterator[Path]:
    """Damage one shard after the other; each is mended when the next one is asked for."""
    paths, rng = sorted(out.rglob("*.parquet")), np.random.default_rng(times)
    for _ in range(times):
        path = paths[int(rng.integers(len(paths)))]
        whole = path.read_bytes()
        path.write_bytes(damage(whole, rng))
        yield path
        path.write_bytes(whole)


def is_named(out: Path, path: Path) -> bool:
    """Whether `status --verify` finds this shard, and no other, damaged."""
    result = CliRunner().invoke(app, ["status", str(out), "--verify"])
    said = [line for line in result.stdout.splitlines() if "damaged (" in line]
    return result.exit_code == 1 and len(said) == 1 and str(path.relative_to(out)) in said[0]


def is_refused(out: Path) -> bool:
    """Whether `report` refuses to use it."""
    return isinstance(CliRunner().invoke(app, ["report", str(out)]).exception, InputError)


@pytest.mark.parametrize(
    ("name", "damage", "times"),
    [
        ("single-byte flips", flipped, 40),
        ("truncations", truncated, 10),
        pytest.param("single-byte flips", flipped, 1000, marks=pytest.mark.faults),
        pytest.param("truncations", truncated, 200, marks=pytest.mark.faults),
    ],
)
def test_every_damage_is_found_and_none_is_used(name: str, damage: Damage, times: int, finished: Path) -> None:
    before, found, refused = content(finished), 0, 0
    for path in damages(finished, damage, times):
        found += is_named(finished, path)
        refused += is_refused(finished)
    measured = f"{found} found by status --verify, {refused} refused by report, of {times}"
    record(f"{name} of shards", measured, "all found, none used")
    assert (found, refused) == (times, times)
    assert content(finished) == before


def test_a_reader_without_checksums_is_misled(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: neither the digest of the file nor that of its content is looked at."""
    parse = shards._parse

    def trusting(path: Path, cell: str, runs: tuple[int, int]) -> tuple[object, object]:
        try:
            columns, text, _ = parse(path.read_bytes())
            return columns, json.loads(text)
        except Exception as error:
            raise InputError("it cannot be read.") from error

    monkeypatch.setattr("hreach.studies.status.read_shard", trusting)
    found = sum(is_named(finished, path) for path in damages(finished, flipped, 40))
    assert found < 40
