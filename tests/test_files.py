"""Files of results: whole, or as they were."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hreach.errors import InputError
from hreach.files import write_text, write_whole


def test_write_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "index.html"
    write_text(target, "old")
    write_text(target, "größer ✓\n")
    assert target.read_bytes() == "größer ✓\n".encode()
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "index.html"
    write_text(target, "old")

    def fail(source: Path, destination: Path) -> None:
        assert Path(source).parent == Path(destination).parent == tmp_path
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match=r"^disk full$"):
        write_text(target, "new")
    with pytest.raises(InputError, match=r"index\.html cannot be written: disk full\.$"):
        write_whole(target, b"new")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["index.html"]
    assert target.read_text() == "old"
