"""The examples of the documentation run as they stand, without a warning, and its studies are valid."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hreach.studies.spec import parse

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/quickstart.md",
    "docs/agents.md",
    "docs/your-own.md",
    "docs/continuous.md",
]


def blocks(page: str, language: str) -> list[tuple[int, str]]:
    """(line above the first, text) of every block of code in this language."""
    text = (ROOT / page).read_text("utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, m.start(1)), m[1]) for m in found]


def script(page: str) -> str:
    """All Python of a page as one program, each line where the page has it, so that errors name the page's lines."""
    program = ""
    for line, code in blocks(page, "python"):
        program += "\n" * (line - program.count("\n")) + code
    return program


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page: str, tmp_path: Path) -> None:
    program = tmp_path / "page.py"
    program.write_text(script(page), "utf-8")
    done = subprocess.run([sys.executable, "-W", "error", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, f"{page}\n{done.stderr}"
    assert done.stdout


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_the_studies_of_a_page_are_valid(page: str) -> None:
    studies = [parse(text, f"{page}, line {line}") for line, text in blocks(page, "toml")]
    assert studies
