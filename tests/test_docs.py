"""The examples of the documentation run as they stand, without a warning, and print what the page says they print."""

from __future__ import annotations

import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import hreach
from hreach.agents import AGENTS, LINEAR_AGENTS
from hreach.domains import DOMAINS
from hreach.studies.spec import parse

ROOT = Path(__file__).parents[1]
PAGES = sorted(str(p.relative_to(ROOT)) for p in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")))
END = "\x1e"  # printed after each block, so that what it printed can be told apart
STUDIES = {"README.md", "docs/quickstart.md"}


class Block(NamedTuple):
    """A block of code: the line above its first one, its text, and the block of text right below it, or None."""

    line: int
    code: str
    output: str | None


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def blocks(text: str, language: str) -> list[Block]:
    """Every block in this language; nothing but empty lines may stand between it and its output."""
    pattern = rf"^```{language}\n(.*?)^```$(?:\n+^```text\n(.*?)^```$)?"
    found = re.finditer(pattern, text, re.MULTILINE | re.DOTALL)
    return [Block(text.count("\n", 0, m.start(1)), m[1], m[2]) for m in found]


def program(text: str) -> str:
    """All Python of a page as one program, each line where the page has it, so that errors name the page's lines."""
    result = ""
    for block in blocks(text, "python"):
        result += "\n" * (block.line - result.count("\n")) + block.code + f"print({END!r}, end='')\n"
    return result


def printed(text: str, folder: Path) -> list[str]:
    """What each Python block of a page prints."""
    script = folder / "page.py"
    script.write_text(program(text), "utf-8")
    command = [sys.executable, "-W", "error", script.name]
    utf8 = {**os.environ, "PYTHONUTF8": "1"}
    done = subprocess.run(command, cwd=folder, env=utf8, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout.split(END)[:-1]


def differences(text: str, folder: Path) -> list[str]:
    """Blocks whose output is not the one below them."""
    pairs = zip(blocks(text, "python"), printed(text, folder), strict=True)
    return [
        f"line {block.line}: the page says\n{block.output}but the block prints\n{got}"
        for block, got in pairs
        if block.output is not None and block.output != got
    ]


WITH_PYTHON = [page for page in PAGES if blocks(text_of(page), "python")]


@pytest.mark.parametrize("page", WITH_PYTHON)
def test_the_python_of_a_page_runs_and_prints_what_the_page_says(page: str, tmp_path: Path) -> None:
    assert differences(text_of(page), tmp_path) == []


def test_a_wrong_output_is_seen(tmp_path: Path) -> None:
    """The twin of the test above: one digit, and a block that fails."""
    page = "```python\nprint(1)\nprint(2)\n```\n\n```text\n1\n2\n```\n\n```python\nx = 3\n```\n"
    assert differences(page, tmp_path) == []
    assert len(differences(page.replace("\n2\n```", "\n3\n```"), tmp_path)) == 1
    with pytest.raises(AssertionError, match=r'page\.py", line 12'):
        differences(page.replace("x = 3", "x = y"), tmp_path)


def test_pages_with_examples_and_outputs_are_found() -> None:
    """Nothing is skipped without a word: these are the pages, and so many blocks have an output to compare."""
    assert {"README.md", "CONTRIBUTING.md", "docs/quickstart.md", "docs/guarantees.md"} <= set(WITH_PYTHON)
    assert {"docs/agents.md", "docs/choosing-h.md", "docs/continuous.md", "docs/your-own.md"} <= set(WITH_PYTHON)
    compared = [b for page in WITH_PYTHON for b in blocks(text_of(page), "python") if b.output is not None]
    assert len(compared) >= 10


def test_a_mistake_in_the_study_of_the_quickstart_is_the_sentence_on_the_page() -> None:
    page = text_of("docs/quickstart.md")
    [study] = blocks(page, "toml")
    said = re.search(r"^```text\nhreach: (hope\.toml.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert said is not None
    wrong = re.sub(r"\bh = 64\b", "hh = 64", study.code)
    with pytest.raises(hreach.InputError) as raised:
        parse(wrong, "hope.toml")
    assert str(raised.value) == " ".join(said[1].split())
    assert parse(study.code, "hope.toml").title == "How much hope?"


def test_what_the_map_of_the_paper_names_is_there() -> None:
    """One table; its dotted names lead somewhere below `hreach`, its tests are files."""
    text = text_of("docs/paper-to-code.md")
    assert len(re.findall(r"^\|---", text, re.MULTILINE)) == 1
    assert "|\n\n|" not in text
    for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", text):
        assert leads_somewhere(f"hreach.{name}"), name
    tests = re.findall(r"`((?:\w+/)*test_\w+)`", text)
    assert len(tests) > 20
    for name in tests:
        assert (ROOT / "tests" / f"{name}.py").exists(), name
    assert not leads_somewhere("hreach.guarantees.theory.discrete.no_such_name")


def leads_somewhere(dotted: str) -> bool:
    """Whether it is a module, or a name in one."""
    try:
        pkgutil.resolve_name(dotted)
    except (ImportError, AttributeError):
        return False
    return True


def test_the_reference_has_every_name_and_every_domain() -> None:
    api = text_of("docs/api.md")
    for name in hreach.__all__:
        assert f"hreach.{name}\n" in api or name == "__version__", name
    for entry in DOMAINS.values():
        assert entry.load().__name__ in api
    for entry in (*AGENTS.values(), *LINEAR_AGENTS.values()):
        build = entry.load()
        assert f"{build.__module__}.{build.__name__}\n" in api


@pytest.mark.parametrize("page", PAGES)
def test_the_studies_of_a_page_are_valid(page: str) -> None:
    found = blocks(text_of(page), "toml")
    assert bool(found) == (page in STUDIES)
    for block in found:
        parse(block.code, f"{page}, line {block.line}")


@pytest.mark.parametrize("path", sorted(ROOT.glob("benchmarks/*.toml")), ids=lambda path: path.name)
def test_the_studies_of_the_benchmarks_are_valid(path: Path) -> None:
    assert f"benchmarks/{path.name}" in text_of("docs/continuous.md")
    parse(path.read_text("utf-8"), path.name)
