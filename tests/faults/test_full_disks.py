"""A disk that is full, or cannot be written, at any one of the writes of a command.

Every file that is opened for writing, flushed or renamed, and every folder that is made, inside the folder of results
is a write. The k-th one fails, for every k; of a file that cannot be flushed only half is there.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from faults.driving import digest
from faults.figures import record
from faults.subject import slow_study
from helpers import content
from hreach.cli.app import app
from hreach.errors import InputError
from hreach.studies.record import Record

SAYS = {errno.ENOSPC: "No space left on device", errno.EROFS: "Read-only file system"}


class Disk:
    """Counts the writes inside a folder; the one with the number `fails_at` fails."""

    def __init__(self) -> None:
        self.folder, self.fails_at, self.error, self.writes = "", 0, 0, 0

    def write(self, path: object) -> None:
        """A write to this place; `OSError` if it is the one that fails."""
        if self.folder and str(path).startswith(self.folder):
            self.writes += 1
            if self.writes == self.fails_at:
                raise OSError(self.error, os.strerror(self.error), str(path))

    def hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """What Python tells of everything that it does to files."""
        if event == "os.mkdir" and not os.path.isdir(str(arguments[0])):
            self.write(arguments[0])
        elif event == "os.rename":
            self.write(arguments[1])
        elif event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
            self.write(arguments[0])


DISK, FSYNC = Disk(), os.fsync
sys.addaudithook(DISK.hear)  # for ever, but it hears of no folder outside of `failing`


def flush(fd: Any) -> None:
    """`os.fsync`, after which a file that could not be flushed is half of what it was."""
    number = fd if isinstance(fd, int) else fd.fileno()
    try:
        DISK.write(os.readlink(f"/proc/self/fd/{number}"))
    except OSError:
        status = os.fstat(number)
        if stat.S_ISREG(status.st_mode):
            os.truncate(f"/proc/self/fd/{number}", status.st_size // 2)
        raise
    FSYNC(number)


@contextmanager
def failing(folder: Path, at: int, error: int = errno.ENOSPC) -> Iterator[Disk]:
    """A disk of which the write with the number `at` inside a folder fails; 0 is none."""
    DISK.folder, DISK.fails_at, DISK.error, DISK.writes = str(folder), at, error, 0
    os.fsync = flush
    try:
        yield DISK
    finally:
        DISK.folder, os.fsync = "", FSYNC


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two rows of two shards; one run of the second row fails, so that there is something to put aside."""
    path = slow_study(tmp_path / "project", 2, 2, pause=0)
    monkeypatch.chdir(path.parent)
    monkeypatch.syspath_prepend(str(path.parent))
    monkeypatch.delitem(sys.modules, "subject_package", raising=False)
    monkeypatch.setenv("FAULTS_LOG", str(tmp_path / "log"))
    invoke("run", path, "--out", tmp_path / "seeds", "--executor", "inline")
    seeds = (tmp_path / "log").read_text("utf-8").split()
    monkeypatch.delenv("FAULTS_LOG")
    (path.parent / "failing").write_text(seeds[3], "utf-8")
    shutil.rmtree(tmp_path / "seeds")
    return path


def visible(out: Path) -> dict[str, bytes]:
    """Files by their names, but for temporary ones."""
    return {name: data for name, data in content(out).items() if (out / name).is_file() and "/." not in f"/{name}"}


def assert_whole(out: Path, whole: dict[str, bytes]) -> None:
    """Each file is one of the undisturbed study, but for the seconds on the page; records can be read."""
    for name, data in visible(out).items():
        if name.startswith("studies/"):
            Record.model_validate_json(data)
        else:
            assert timeless(data) == timeless(whole[name]), name


def timeless(data: bytes) -> bytes:
    return re.sub(rb"\d+\.\d+ s\b", b"some s", data)


def assert_said(result: Result, error: int, complete: bool) -> None:
    """One sentence on what is wrong; none is needed where another way to write was found and all is there."""
    if isinstance(result.exception, SystemExit):
        assert complete
        return
    assert isinstance(result.exception, InputError), result.exception
    assert SAYS[error] in str(result.exception)
    assert "\n" not in str(result.exception)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at open files through /proc")
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS], ids=["full", "read-only"])
@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.faults)])
def test_a_write_that_fails_leaves_nothing_partial_and_the_study_goes_on(
    step: int, error: int, study: Path, tmp_path: Path
) -> None:
    def run(out: Path) -> Result:
        return invoke("run", study, "--out", out, "--executor", "inline")

    with failing(tmp_path / "whole", 0) as disk:
        assert run(tmp_path / "whole").exit_code == 1  # a run fails
    writes, whole = disk.writes, visible(tmp_path / "whole")
    assert {name.split("/")[0] for name in whole} == {
        "shards", "studies", "quarantine", "tables", "figures", "report.html",
    }  # fmt: skip
    tried = range(1, writes + 1, step)
    for k in tried:
        out = tmp_path / "out"
        with failing(out, k, error):
            result = run(out)
        assert_said(result, error, complete=set(visible(out)) == set(whole))
        assert_whole(out, whole)
        assert run(out).exit_code == 1
        assert digest(out) == digest(tmp_path / "whole")
        assert set(visible(out)) == set(whole)
        assert not [path for path in out.rglob(".*") if path.is_file()]
        shutil.rmtree(out)
    measured = f"{len(tried)} of {writes} writes made to fail, nothing partial, said in one sentence, resumed"
    record(f"{SAYS[error]}, injected at each write", measured, "at each of them")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at open files through /proc")
def test_a_file_that_is_written_in_place_is_seen(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: without a temporary name, half of a file is visible when it cannot be flushed."""

    def in_place(path: Path, data: bytes, through: Path | None = None) -> None:
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    invoke("run", study, "--out", tmp_path / "whole", "--executor", "inline")
    whole, seen = visible(tmp_path / "whole"), 0
    monkeypatch.setattr("hreach.studies.store.write_bytes", in_place)
    for k in range(1, 20):
        with failing(tmp_path / str(k), k):
            invoke("run", study, "--out", tmp_path / str(k), "--executor", "inline")
        shards = {name: data for name, data in visible(tmp_path / str(k)).items() if name.startswith("shards/")}
        seen += any(data != whole[name] for name, data in shards.items())
    assert seen > 0
