"""Files of results: whole, or as they were."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hreach.errors import InputError
from hreach.files import remove_leftovers, write_bytes, write_text, write_whole


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


def test_a_file_may_be_written_through_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inside").mkdir()
    seen: list[Path] = []
    replace = os.replace

    def note(source: Path, destination: Path) -> None:
        seen.append(Path(source))
        replace(source, destination)

    monkeypatch.setattr(os, "replace", note)
    write_bytes(tmp_path / "inside" / "a.parquet", b"data", through=tmp_path)
    assert [path.parent for path in seen] == [tmp_path]
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["a.parquet"]


def test_a_file_and_its_name_are_on_the_disk_before_the_call_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flushed are the data, before it has its name, and the folder, after."""
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def flush(number: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(number).st_mode) else f"{os.fstat(number).st_size} bytes")
        fsync(number)

    def rename(source: Path, destination: Path) -> None:
        done.append("renamed")
        replace(source, destination)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(os, "replace", rename)
    write_bytes(tmp_path / "a", b"12345")
    assert done == ["5 bytes", "renamed", "folder"]


def test_only_what_dead_processes_left_is_removed(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host, here, old = socket.gethostname(), os.getpid(), time.time() - 2 * 86400
    names = {
        f".a.{host}-{dead.pid}-00ff.tmp": False,
        f".a.{host}-{here}-00ff.tmp": True,
        f".a.elsewhere-{dead.pid}-00ff.tmp": True,
        ".a.elsewhere-1-00ff.tmp": False,  # older than a day
        "a.tmp": True,
        ".a": True,
    }
    for name in names:
        (tmp_path / name).touch()
    os.utime(tmp_path / ".a.elsewhere-1-00ff.tmp", (old, old))
    remove_leftovers(tmp_path)
    assert {name: (tmp_path / name).exists() for name in names} == names
    remove_leftovers(tmp_path / "none")
