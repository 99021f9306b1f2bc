"""The page that maps every numbered statement of the paper to its functions and tests says what is true."""

from __future__ import annotations

import re
from pathlib import Path

from hreach.guarantees.theory.statements import STATEMENTS

TESTS = Path(__file__).parent
ROOT = TESTS.parents[2]
PAGE = ROOT / "docs" / "statements.md"


def files_about(slug: str) -> list[str]:
    """Files of tests/guarantees/theory with a test named after the statement."""
    found = []
    for path in sorted(TESTS.rglob("test_*.py")):
        if re.search(rf"^def test_{slug}_", path.read_text("utf-8"), re.MULTILINE):
            found.append(f"`guarantees/theory/{path.stem}`")
    return found


def expected() -> str:
    lines = ["| statement | what it says | functions | tests |", "|---|---|---|---|"]
    for name, statement in STATEMENTS.items():
        functions = ", ".join(f"`{f.removeprefix('hreach.').replace(':', '.')}`" for f in statement.functions)
        lines.append(f"| {name} | {statement.title} | {functions} | {', '.join(files_about(statement.slug))} |")
    return "\n".join(lines)


def test_every_statement_has_functions_that_exist_and_tests() -> None:
    for name, statement in STATEMENTS.items():
        assert statement.load(), name
        assert files_about(statement.slug), name


def test_the_page_has_the_table() -> None:
    table = expected()
    assert table in PAGE.read_text("utf-8"), f"put this table into {PAGE.name}:\n{table}"


def test_a_statement_that_does_not_exist_is_not_named() -> None:
    """Docstrings under hreach.guarantees.theory name only statements of the list."""
    named: set[str] = set()
    for path in (ROOT / "src" / "hreach" / "guarantees" / "theory").glob("*.py"):
        named |= set(
            re.findall(r"\b(?:Theorem|Corollary|Lemma|Proposition|Remark|Definition) \d+", path.read_text("utf-8"))
        )
    unknown = named - set(STATEMENTS) - {"Theorem 2.1", "Corollary 6"}  # A6 prints Corollary 4 as 6
    assert len(named) > 10
    assert not unknown
