"""The digest of the code: what decides results changes it, what shows them does not."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hreach.agents import AGENTS, LINEAR_AGENTS, STEPPED_AGENTS
from hreach.domains import DOMAINS
from hreach.studies.code import ASIDE, AUDITING, PACKAGE, code_digest, deciding

CELL = 'Cell("chain", {}, "pac-rmdp", {"h": 8}, steps=30, seed=3)'


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package."""
    copy = tmp_path / "hreach"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def identity(package: Path) -> list[str]:
    """[id, entropy] of a cell as this copy of the package gives it."""
    code = f"from hreach.studies.grid import Cell; cell = {CELL}; print(cell.id); print(cell.entropy)"
    environment = {"PYTHONPATH": str(package.parent), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_changed_default_is_another_id_with_the_same_seeds(package: Path) -> None:
    before = identity(package)
    edit(package / "agents/make.py", "value_cap: float | None = None", "value_cap: float | None = 1e9")
    after = identity(package)
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_a_changed_report_or_command_is_the_same_id(package: Path) -> None:
    before = identity(package)
    for name in ("report/html/page.py", "cli/app.py", "cli/listing.py", "studies/catalog/chain.toml"):
        edit(package / name, "the", "teh")
    assert identity(package) == before


DECIDE = ["kernels/run.py", "optimism/bolt.py", "models/linear.py", "domains/hiv.py", "randomness/seeding.py"]


@pytest.mark.parametrize("name", DECIDE)
def test_every_deciding_file_counts(name: str, package: Path) -> None:
    before = code_digest(package)
    code_digest.cache_clear()
    (package / name).write_bytes((package / name).read_bytes() + b"\n# more\n")
    assert code_digest(package) != before


def test_a_new_file_counts_and_a_renamed_one_too(package: Path) -> None:
    digests = [code_digest(package)]
    (package / "agents" / "mine.py").write_text("x = 1\n")
    code_digest.cache_clear()
    digests.append(code_digest(package))
    (package / "agents" / "mine.py").rename(package / "agents" / "yours.py")
    code_digest.cache_clear()
    digests.append(code_digest(package))
    assert len(set(digests)) == 3


def test_line_endings_do_not_count(package: Path) -> None:
    for path in package.rglob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert code_digest(package) == code_digest(PACKAGE)


def imported(name: str) -> set[str]:
    """Modules of the package that the source file `name` imports, at once or later, as file names."""
    found = set()
    for node in statements(ast.parse((PACKAGE / name).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {file for module in found for file in files_of(module)}


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All parts of a program but what only type checkers see."""
    yield tree
    if not (isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING"):
        for part in ast.iter_child_nodes(tree):
            yield from statements(part)


def files_of(module: str) -> set[str]:
    """The file of a module and those of the packages it is in."""
    parts = module.split(".")[1:] if module.split(".")[0] == "hreach" else []
    places = ["/".join([*parts[:i], "__init__.py"]) for i in range(len(parts) + 1)] + ["/".join(parts) + ".py"]
    return {place for place in places if parts and (PACKAGE / place).is_file()}


def closure(names: set[str]) -> set[str]:
    done: set[str] = set()
    while left := names - done:
        done |= left
        names = names | {file for name in left for file in imported(name)}
    return done


# Imported by what runs a cell, and without a say in what a run earns; statistics say how many runs there are.
DECIDE_NOTHING = ("drawing/", "running/executors/", "statistics/")


def test_whatever_a_run_imports_counts() -> None:
    """The oracle: the import closure of what runs a cell, with every agent and domain of the registries."""
    entries = [entry.target.split(":")[0] for entry in (AGENTS | LINEAR_AGENTS | STEPPED_AGENTS | DOMAINS).values()]
    begin = {"studies/work.py"}
    needed = closure(begin.union(*(files_of(module) for module in entries)))
    lacking = {name for name in needed - set(deciding()) if not name.startswith(DECIDE_NOTHING)}
    assert lacking <= {"studies/spec.py"}
    assert {"running/simulate.py", "studies/stepped.py", "studies/store.py"} < needed
    assert len(needed) > 50


def test_an_audit_depends_on_what_audits_and_a_run_does_not(package: Path) -> None:
    def digests() -> tuple[str, str]:
        code_digest.cache_clear()
        return code_digest(package), code_digest(package, AUDITING)

    before = digests()
    for name in ("guarantees/audit/measure.py", "studies/audits.py"):
        (package / name).write_bytes((package / name).read_bytes() + b"\n# more\n")
        after = digests()
        assert after[0] == before[0]
        assert after[1] != before[1]
        before = after


def test_whatever_an_audit_imports_counts() -> None:
    needed = closure({"studies/audits.py"})
    lacking = {name for name in needed - set(deciding(PACKAGE, AUDITING)) if not name.startswith(DECIDE_NOTHING)}
    assert lacking <= {"studies/spec.py", "studies/record.py", "studies/workers.py", "guarantees/audit/picture.py"}


def test_what_is_left_out_is_there() -> None:
    assert [name for name in ASIDE if not (PACKAGE / name).exists()] == []
