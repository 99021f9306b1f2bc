"""Of several processes that lack a compiled function, one compiles it; if it dies, another does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hreach.compiling import turns
from hreach.studies.code import PACKAGE

MINE = """\
from hreach.compiling import compiled

@compiled
def once_more(x):
    return x + 1

@compiled
def twice(x):
    return once_more(x) + once_more(x)
"""
# Both processes are there before either begins, and compiling takes so long that the second one comes in the middle.
COMPILES = """\
import os, sys, time
from pathlib import Path
from hreach.compiling import turns
import mine

place, held, apart = Path(sys.argv[1]), sys.argv[2] == "held", sys.argv[3] == "apart"
if apart:
    turns.wait_for = lambda path: False
whole = mine.twice._compiler.compile
def slowly(*args):
    (place / f"compiling-{os.getpid()}").touch()
    time.sleep(600 if held else 0.5)
    return whole(*args)
mine.twice._compiler.compile = slowly
(place / f"there-{os.getpid()}").touch()
while len(list(place.glob("there-*"))) < 2:
    time.sleep(0.002)
print(mine.twice(3))
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("mine", "place", "cache"):
        (tmp_path / name).mkdir()
    (tmp_path / "mine" / "mine.py").write_text(MINE, encoding="utf-8")
    return tmp_path / "place"


def start(place: Path, *options: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(place.parent / "mine"), str(PACKAGE.parent)])
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(place.parent / "cache")}
    command = [sys.executable, "-c", COMPILES, str(place), *options]
    return subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def compilations(place: Path) -> int:
    return len(list(place.glob("compiling-*")))


def until_one_compiles(place: Path) -> None:
    for _ in range(3000):
        if compilations(place):
            return
        time.sleep(0.01)
    raise AssertionError("nobody compiles")


@pytest.mark.parametrize(("together", "times"), [("together", 1), ("apart", 2)])
def test_one_compiles_and_the_other_waits(together: str, times: int, place: Path) -> None:
    """And the twin: both do, unless they take turns."""
    both = [start(place, "quick", together) for _ in range(2)]
    for process in both:
        assert process.communicate(timeout=120) == ("8\n", "")
    assert compilations(place) == times


def test_a_process_that_is_killed_while_it_compiles_keeps_nobody_waiting(place: Path) -> None:
    (place / "there-before").touch()
    first = start(place, "held", "together")
    until_one_compiles(place)
    second = start(place, "quick", "together")
    while len(list(place.glob("there-*"))) < 3:
        time.sleep(0.01)
    time.sleep(0.3)
    assert (compilations(place), second.poll()) == (1, None)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert second.communicate(timeout=120) == ("8\n", "")
    assert compilations(place) == 2


def test_a_place_without_locks_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with turns.compiling():
        assert not turns.wait_for(tmp_path / "file" / "lock")


def test_nobody_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE", 0.05)
    holder = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    turns._lock(holder)
    with turns.compiling():
        assert turns.wait_for(tmp_path / "lock")
        assert turns._held is None
    os.close(holder)


def test_a_lock_is_held_until_the_outermost_compilation_ends_even_by_an_error(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not turns.wait_for(path)
    with pytest.raises(ZeroDivisionError):
        compile_in_vain(path)
    other = os.open(path, os.O_RDWR)
    turns._lock(other)
    os.close(other)


def compile_in_vain(path: Path) -> None:
    with turns.compiling():
        assert turns.wait_for(path)
        with turns.compiling():
            assert not turns.wait_for(path.with_name("another"))
        other = os.open(path, os.O_RDWR)
        with pytest.raises(BlockingIOError):
            turns._lock(other)
        os.close(other)
        raise ZeroDivisionError
