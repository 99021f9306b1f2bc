"""Compiled code on disk: damage is found and mended, no folder is needed, and compiling is announced once."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hreach.compiling import cache as caching
from hreach.compiling import sources
from hreach.studies.code import PACKAGE

MINE = """\
from hreach.compiling import announcing, compiled

@compiled
def twice(x):
    return x + x

said = announcing(twice)
"""
ASK = "import mine; print(mine.said(3), sum(mine.twice.stats.cache_hits.values()))"
LOST = "hreach: compiling (10 to 30 s; not kept, as no folder can be written: set NUMBA_CACHE_DIR to one) ...\n"
KEPT = "hreach: compiling once (10 to 30 s, kept for the next time) ...\n"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file with a compiled function."""
    path = tmp_path / "mine" / "mine.py"
    path.parent.mkdir()
    path.write_text(MINE, encoding="utf-8")
    return path


def python(code: str, path: Path, **environment: str) -> tuple[int, str, str]:
    """(exit code, output, errors) of a program that finds modules in the folder `path`, and hreach."""
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{path}{os.pathsep}{PACKAGE.parent}", **environment}
    done = subprocess.run([sys.executable, "-B", "-c", code], env=given, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def without_a_place(folder: Path) -> dict[str, str]:
    """No folder below `folder`, in the home, or that a variable names, can be written, whoever tries."""
    for place in [folder, *(p for p in folder.rglob("*") if p.is_dir() and p.name != "__pycache__")]:
        shutil.rmtree(place / "__pycache__", ignore_errors=True)
        (place / "__pycache__").touch()
    file = folder / "__pycache__"
    return {"HOME": f"{file}/home", "NUMBA_CACHE_DIR": f"{file}/cache"}


# --- a place to keep it ------------------------------------------------------


def test_the_second_time_nothing_is_compiled(mine: Path) -> None:
    assert python(ASK, mine.parent) == (0, "6 0\n", KEPT)
    assert python(ASK, mine.parent) == (0, "6 1\n", "")


def test_without_a_place_a_temporary_one_is_used_and_removed(mine: Path, tmp_path: Path) -> None:
    place = without_a_place(mine.parent)
    (tmp_path / "tmp").mkdir()
    code = f"{ASK}; import os, sys; print(os.listdir({str(tmp_path / 'tmp')!r})[0][:7])"
    assert python(code, mine.parent, **place, TMPDIR=str(tmp_path / "tmp")) == (0, "6 0\nhreach-\n", LOST)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_without_even_a_temporary_place_nothing_is_kept(mine: Path) -> None:
    code = f"import tempfile; tempfile.mkdtemp = lambda **given: open('/nowhere/at/all')\n{ASK}"
    assert python(code, mine.parent, **without_a_place(mine.parent)) == (0, "6 0\n", LOST)


def test_a_package_that_cannot_be_written_works(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "hreach", ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import hreach.kernels, hreach.models.flat, hreach.domains.hiv, hreach.planners.tree\n"
        "import numpy as np; from hreach.randomness.streams import streams\n"
        "print(streams(np.array([7], dtype=np.uint64)).shape, hreach.__file__)"
    )
    done = python(code, tmp_path, **without_a_place(tmp_path / "hreach"))
    assert done == (0, f"(1, 4) {tmp_path / 'hreach' / '__init__.py'}\n", LOST)


def test_a_folder_that_fills_up_is_said_in_one_sentence(
    mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(self: Any, path: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching._CheckedFile, "_open_for_write", full)
    twice = load(mine)
    assert (twice(3), twice(3.5)) == (6, 7.0)
    folder = mine.parent / "__pycache__"
    assert capsys.readouterr().err == f"hreach: compiled code cannot be kept in {folder} (No space left on device).\n"


# --- damage ------------------------------------------------------------------


def load(path: Path) -> Any:
    """The compiled function of the file, as a new process would see it."""
    spec = importlib.util.spec_from_file_location("mine", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice


def hits(path: Path) -> int:
    """How often the compiled function, called once, was found on disk; it must be right in any case."""
    twice = load(path)
    assert twice(21) == 42
    return sum(twice.stats.cache_hits.values())


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "junk": lambda data: b"\x80\x05junk" * 50,
    "as numba writes it": lambda data: data[32:],
    "one bit": lambda data: data[:-9] + bytes([data[-9] ^ 4]) + data[-8:],
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_file_is_ignored_and_made_anew(ending: str, damage: str, mine: Path) -> None:
    assert [hits(mine), hits(mine)] == [0, 1]
    (path,) = mine.parent.rglob(f"*.{ending}")
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert [hits(mine), hits(mine)] == [0, 1]


def test_no_wrong_bit_is_loaded(mine: Path) -> None:
    twice, rng = load(mine), np.random.default_rng(0)
    twice(21)
    (signature,) = twice.signatures
    cache, files = twice._cache, sorted(mine.parent.rglob("*.nb?"))

    def found() -> bool:
        return cache.load_overload(signature, twice.targetctx) is not None

    assert found()
    for _ in range(100):
        for path in files:
            data = path.read_bytes()
            at = int(rng.integers(len(data)))
            path.write_bytes(data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :])
            assert not found()
            path.write_bytes(data)
    assert found()


PAIR = """\
from typing import NamedTuple

from hreach.compiling import compiled

class Pair(NamedTuple):
    x: float
    y: float

@compiled
def total(pair):
    return pair.x + pair.y

def ask():
    print(total(Pair(1.0, 2.0)), sum(total.stats.cache_hits.values()))
"""
AS_NUMBA_READS_IT = """\
from numba.core.caching import IndexDataCacheFile
from hreach.compiling.cache import _CheckedFile
_CheckedFile._load_index = IndexDataCacheFile._load_index
"""


def test_an_index_that_names_a_class_that_is_no_more_is_a_miss(mine: Path) -> None:
    """As after an update: the index on disk is of code that had a `Pair`."""
    mine.write_text(PAIR, encoding="utf-8")
    ask = "import mine; mine.ask()"
    assert [python(ask, mine.parent)[:2] for _ in range(2)] == [(0, "3.0 0\n"), (0, "3.0 1\n")]
    mine.write_text(PAIR.replace("Pair", "Couple"), encoding="utf-8")
    code, _, error = python(AS_NUMBA_READS_IT + ask, mine.parent)  # the twin
    assert code != 0
    assert "Can't get attribute 'Pair'" in error
    assert [python(ask, mine.parent)[:2] for _ in range(2)] == [(0, "3.0 0\n"), (0, "3.0 1\n")]


CALLS = """\
import hreach.kernels.caller as c
print(c.shown(3), sum(c.shown.stats.cache_hits.values()))
"""


def with_caller(tmp_path: Path) -> Path:
    """A copy of the package in which one compiled function calls another, of another file."""
    package = tmp_path / "hreach"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    folder = package / "kernels"
    (folder / "callee.py").write_text(
        "from hreach.compiling import compiled\n\n@compiled\ndef inner(x):\n    return x + 1\n", encoding="utf-8"
    )
    (folder / "caller.py").write_text(
        "from hreach.compiling import compiled\nfrom hreach.kernels.callee import inner\n\n"
        "@compiled\ndef shown(x):\n    return 10 * inner(x)\n",
        encoding="utf-8",
    )
    return package


def test_a_change_in_a_file_that_is_called_is_seen_and_one_in_a_report_recompiles_nothing(tmp_path: Path) -> None:
    package = with_caller(tmp_path)

    def ask() -> str:
        code, out, _ = python(CALLS, tmp_path)
        assert code == 0
        return out

    assert [ask(), ask()] == ["40 0\n", "40 1\n"]
    edited = package / "kernels" / "callee.py"
    edited.write_text(edited.read_text("utf-8").replace("x + 1", "x + 2"), encoding="utf-8")
    assert [ask(), ask()] == ["50 0\n", "50 1\n"]
    for name in ("report/html/page.py", "cli/app.py"):
        with (package / name).open("a", encoding="utf-8") as file:
            file.write("# a new line\n")
    assert ask() == "50 1\n"


def test_numba_s_own_stamp_takes_what_the_callee_was(tmp_path: Path) -> None:
    """The twin: with a stamp of the function's own file the old result comes back."""
    package = with_caller(tmp_path)
    own = "import hreach.compiling.sources as s; s.closure = lambda path: {path}\n"
    assert python(own + CALLS, tmp_path)[1] == "40 0\n"
    edited = package / "kernels" / "callee.py"
    edited.write_text(edited.read_text("utf-8").replace("x + 1", "x + 2"), encoding="utf-8")
    assert python(own + CALLS, tmp_path)[1] == "40 1\n"


def test_other_options_are_other_code(mine: Path) -> None:
    assert [hits(mine), hits(mine)] == [0, 1]
    mine_with = {}
    for options in ("a", "b"):
        mine_with[options] = caching.kept(load(mine).py_func, options)._cache_file._source_stamp
    assert mine_with["a"] != mine_with["b"]


def test_two_processes_that_compile_at_once_both_succeed(mine: Path, tmp_path: Path) -> None:
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{mine.parent}{os.pathsep}{PACKAGE.parent}"}
    given["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    both = [
        subprocess.Popen(
            [sys.executable, "-c", ASK], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for process in both:
        out, _ = process.communicate(timeout=120)
        assert (process.returncode, out.split()[0]) == (0, "6")
    assert python(ASK, mine.parent, NUMBA_CACHE_DIR=given["NUMBA_CACHE_DIR"]) == (0, "6 1\n", "")


def test_the_closure_of_a_file_is_what_python_imports(tmp_path: Path) -> None:
    """Of the kernels' runs: whatever of hreach importing them loads is in the closure, the package's own init apart."""
    code = (
        "import sys, hreach.kernels.run\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('hreach.')), sep='\\n')"
    )
    loaded = {Path(line) for line in python(code, tmp_path)[1].split()}
    found = sources.closure(PACKAGE / "kernels" / "run.py")
    by_init = {PACKAGE / f"{name}.py" for name in ("domains/__init__", "domains/gymnasium_ids", "registry", "errors")}
    assert loaded - by_init <= found
    rooms = {path.relative_to(PACKAGE).parts[0] for path in found}
    assert rooms.isdisjoint({"report", "studies", "agents", "guarantees", "running"})


def test_a_change_is_seen_that_changes_neither_time_nor_size(mine: Path) -> None:
    """As when a package is installed over another one."""
    before = mine.stat()
    assert [hits(mine), hits(mine)] == [0, 1]
    mine.write_text(MINE.replace("x + x", "2 * x"), encoding="utf-8")
    os.utime(mine, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert mine.stat().st_size == before.st_size
    assert [hits(mine), hits(mine)] == [0, 1]


# --- what is said ------------------------------------------------------------


def test_without_the_compiler_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    code = "import sys; sys.argv = ['hreach', 'audit', 'chain', 'greedy']\nfrom hreach.cli import main; main()"
    exit_code, out, error = python(code, tmp_path, NUMBA_DISABLE_JIT="1")
    assert (exit_code, out) == (2, "")
    assert error.startswith("hreach: NUMBA_DISABLE_JIT is 1, but must be 0 or unset (")
    assert error.count("\n") == 1


HELPERS = """\
import os, time
from pathlib import Path
import mine
from hreach.running.executors import worker

def work(place, number):
    mine.said(number)
    (Path(place) / str(os.getpid())).touch()
    while len(os.listdir(place)) < 2:  # until the other worker has done the same
        time.sleep(0.01)

def alone(flag):
    pass

def serve(pipe, flag):
    worker.compiling.announce_with = alone
    worker.serve(pipe, flag)
"""
WORKERS = """\
import helpers, mine
from hreach import compiling
from hreach.running.executors import processes

if {apart}:
    compiling.announce_with = helpers.alone
    processes.serve = helpers.serve
with processes.Processes(2) as pool:
    list(pool.run(helpers.work, [({place!r}, 1.0), ({place!r}, 2j)]))
mine.said(3)
"""


@pytest.mark.parametrize(("apart", "times"), [(False, 1), (True, 3)])
def test_processes_say_once_that_they_compile(apart: bool, times: int, mine: Path, tmp_path: Path) -> None:
    """And the twin: three times, unless they know of each other."""
    (tmp_path / "place").mkdir()
    script = tmp_path / "script.py"
    (mine.parent / "helpers.py").write_text(HELPERS, encoding="utf-8")
    script.write_text(WORKERS.format(apart=apart, place=str(tmp_path / "place")), encoding="utf-8")
    path = os.pathsep.join([str(mine.parent), str(PACKAGE.parent)])
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, str(script)], env=given, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == KEPT * times
