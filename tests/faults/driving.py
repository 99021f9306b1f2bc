"""Studies as processes that can be disturbed, and what is left of them on disk."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults.subject import NAME

linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes through /proc")
COMMAND = ["-m", "hreach"]
PATIENCE = 600  # seconds, after which a study hangs


def started(study: Path, out: Path, *options: str, before: str = "", log: Path | None = None) -> subprocess.Popen[str]:
    """`hreach run`, in a session of its own; `before` is a program that disturbs the process from inside."""
    how = COMMAND if not before else ["-c", f"{before}\nfrom hreach.cli import main; main()"]
    command = [sys.executable, *how, "run", str(study), "--out", str(out), *options]
    return subprocess.Popen(
        command,
        cwd=study.parent,
        env=os.environ | ({"FAULTS_LOG": str(log)} if log else {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ran(study: Path, out: Path, *options: str, before: str = "", log: Path | None = None) -> tuple[int, str]:
    """(exit code, what was said on the error stream) of a whole `hreach run`."""
    with ended(started(study, out, *options, before=before, log=log)) as process:
        said = process.communicate(timeout=PATIENCE)[1]
    return process.returncode, said


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that is gone in the end, whatever happens."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def digest(out: Path) -> str:
    """SHA-256 over the sorted store: names and bytes of all that stands in its folder of shards."""
    total = hashlib.sha256()
    for path in sorted((out / "shards").rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            total.update(f"{path.relative_to(out)} {len(data)}\n".encode())
            total.update(data)
    return total.hexdigest()


def table(out: Path) -> bytes:
    return (out / "tables" / f"{NAME}.csv").read_bytes()


def shards(out: Path) -> list[Path]:
    return [path for path in out.rglob("*.parquet") if not path.name.startswith(".")]


def done_runs(log: Path) -> Counter[str]:
    """How often each run was computed to its end."""
    return Counter(log.read_text("utf-8").split()) if log.exists() else Counter()


def wait_for_shards(process: subprocess.Popen[str], out: Path, count: int) -> None:
    """Return as soon as so many shards are there; a process that ends before is a mistake of the test."""
    while len(shards(out)) < count:
        assert process.poll() is None
        time.sleep(0.005)


def descendants(pid: int) -> list[int]:
    """All processes below one, by their ids."""
    found = []
    for place in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _text(place).split():
            found += [int(child), *descendants(int(child))]
    return found


def workers_of(pid: int) -> list[int]:
    """Processes below one that compute: they have no children, and are no tracker of multiprocessing."""
    return [p for p in descendants(pid) if b"spawn_main" in _bytes(p) and not descendants(p)]


def killed(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def all_gone(pids: list[int], patience: float = 20.0) -> bool:
    """Whether all of them end within so many seconds."""
    until = time.monotonic() + patience
    while any(_alive(pid) for pid in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def _alive(pid: int) -> bool:
    stat = _text(Path(f"/proc/{pid}/stat"))
    return bool(stat) and stat.rpartition(")")[2].split()[0] != "Z"


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _bytes(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
