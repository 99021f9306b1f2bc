"""The examples of every page run as they stand, without a warning, and print what the page says they print.

python    all blocks of a page are one program; a block that prints is followed by a block of text with what it prints
console   `$ hreach ...` with output below it is run, in the folder of the page's program, and prints that output;
          without output it is only parsed by the command line. Other commands must lead somewhere. Where a command
          reads a file that the page's program opens for writing, the program is run first
toml      a study; saved under the file name that the page gives it, for the commands below it

Outputs of Python are compared line by line, those of commands word by word (terminals wrap), letter by letter but for

- a tolerance that the page states: "It prints, to within 1 %:" before the output,
- seconds in brackets, such as (0.7 s),
- a line of three dots, which stands for what is left out.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer.main

import hreach
from hreach.cli.app import app
from hreach.studies.loading import parse

ROOT = Path(__file__).parents[1]
PAGES = sorted(str(p.relative_to(ROOT)) for p in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")))
LANGUAGES = {"python", "console", "toml", "text", "{eval-rst}", "{toctree}", "{include}"}
END = "\x1e"  # printed after each block, so that what it printed can be told apart
BETWEEN = re.compile(r"\s*(?:It prints(?:, to within (\d+(?:\.\d+)?) %)?:\s*)?")  # a block and its output
NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?")
STUDIES = {"README.md", "docs/quickstart.md"}


class Block(NamedTuple):
    """A block of a page: its language, the line above its first one, its text, and the text since the last block."""

    language: str
    line: int
    code: str
    before: str


class Shown(NamedTuple):
    """What a page says is printed, to within this relative tolerance."""

    output: str
    rtol: float = 0.0


class Command(NamedTuple):
    """A command of a page and what it prints, "" if the page does not say."""

    line: int
    words: list[str]
    output: str


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def blocks(text: str) -> list[Block]:
    """Every fenced block, in order."""
    result, last = [], 0
    for m in re.finditer(r"^```(.*?)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        result.append(Block(m[1].split(" ")[0], text.count("\n", 0, m.start(2)), m[2], text[last : m.start()]))
        last = m.end()
    return result


def examples(text: str) -> list[tuple[Block, Shown]]:
    """Each block of Python, and what the page says it prints: nothing, or the block of text right below it."""
    found: list[Block | None] = [*blocks(text), None]
    return [(block, _shown(after)) for block, after in pairwise(found) if block and block.language == "python"]


def _shown(after: Block | None) -> Shown:
    between = BETWEEN.fullmatch(after.before) if after is not None and after.language == "text" else None
    if after is None or between is None:
        return Shown("")
    return Shown(after.code, float(between[1] or 0) / 100)


def commands(text: str) -> list[Command]:
    """Every line of a console that begins with a dollar sign, and the lines below it."""
    result = []
    for block in blocks(text):
        if block.language == "console":
            assert block.code.startswith("$ "), f"line {block.line}: no command"
            for m in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.code, re.MULTILINE):
                line = block.line + block.code.count("\n", 0, m.start())
                result.append(Command(line, shlex.split(m[1], comments=True), m[2]))
    return result


def inline_commands(text: str) -> list[list[str]]:
    """Commands of hreach within sentences and tables."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return [shlex.split(m) for m in re.findall(r"`hreach (\w[^`]*)`", prose)]


# --- running -----------------------------------------------------------------------------------------------------


def program(text: str) -> str:
    """All Python of a page as one program, each line where the page has it, so that errors name the page's lines."""
    result = ""
    for block, _ in examples(text):
        result += "\n" * (block.line - result.count("\n")) + block.code + f"print({END!r}, end='')\n"
    return result


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    """Exit code, output and error stream of Python in this folder."""
    command = [sys.executable, "-W", "error", *words]
    environment = {**os.environ, "PYTHONUTF8": "1", "COLUMNS": "120"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    return done.returncode, done.stdout, done.stderr


def wrong_examples(text: str, folder: Path) -> list[str]:
    """Blocks of Python that print something else than the page says."""
    (folder / "page.py").write_text(program(text), "utf-8")
    code, printed, errors = run(folder, "page.py")
    assert code == 0, errors
    pairs = zip(examples(text), printed.split(END)[:-1], strict=True)
    return [complaint(block.line, shown, got) for (block, shown), got in pairs if not agree(shown, got)]


def wrong_commands(text: str, folder: Path) -> list[str]:
    """Commands that print something else than the page says, on the error stream first, or that nobody could run."""
    for block in blocks(text):
        for name in re.findall(r"`([\w-]+\.toml)`", block.before)[-1:] if block.language == "toml" else []:
            (folder / name).write_text(block.code, "utf-8")
    source = program(text)
    if any(f'open("{word}", "w"' in source for _, words, output in commands(text) if output for word in words):
        done, _, errors = run(folder, "-c", source)  # it writes what the commands read
        assert done == 0, errors
    result = []
    for line, words, output in commands(text):
        if words[0] != "hreach":
            assert leads_somewhere(words), f"line {line}: {words}"
        elif not output:
            check_arguments(words[1:])
        else:
            code, printed, errors = run(folder, "-m", "hreach", *words[1:])
            assert code == 0, errors
            seen = re.sub(r"(?m)^.*━.*$", "", errors) + printed  # bars are gone from a terminal in the end
            if not agree(Shown(output), seen, wrapped=True):
                result.append(complaint(line, Shown(output), seen))
    return result


def complaint(line: int, shown: Shown, got: str) -> str:
    return f"line {line}: the page says\n{shown.output}but it prints\n{got}"


def check_arguments(words: list[str]) -> None:
    """Raise what the command line raises for these words; nothing is run. A command alone must only exist."""
    group: Any = typer.main.get_command(app)
    context = group.make_context("hreach", words[:1])
    name, command, rest = group.resolve_command(context, words)
    if rest:
        command.make_context(name, rest, parent=context)


def leads_somewhere(words: list[str]) -> bool:
    """A target of the Makefile, a script of this project, or an installation of it."""
    if words[0] == "make":
        return re.search(rf"^{words[1]}:", text_of("Makefile"), re.MULTILINE) is not None
    if words[0] == "python":
        return (ROOT / words[1]).is_file()
    return words == ["pip", "install", "."]


# --- comparing ---------------------------------------------------------------------------------------------------


def agree(shown: Shown, got: str, wrapped: bool = False) -> bool:
    """Whether a page says what is printed; line by line, or word by word where a terminal may have wrapped it."""
    said, found = (re.sub(r"\(\d+\.\d s\)", "(s)", text) for text in (shown.output, got))
    pieces = [part.split() if wrapped else part.splitlines() for part in re.split(r"(?m)^\.\.\.\n", said)]
    printed = found.split() if wrapped else found.splitlines()
    if len(pieces) == 1:
        return _same(pieces[0], printed, shown.rtol)
    head, tail = pieces
    enough = len(head) + len(tail) <= len(printed)
    return enough and _same(head + tail, printed[: len(head)] + printed[len(printed) - len(tail) :], shown.rtol)


def _same(said: list[str], found: list[str], rtol: float) -> bool:
    if rtol == 0:
        return said == found
    return len(said) == len(found) and all(_near(a, b, rtol) for a, b in zip(said, found, strict=True))


def _near(said: str, found: str, rtol: float) -> bool:
    """The same words, and numbers that differ by no more than the tolerance."""
    words = [NUMBER.sub("#", line).split() for line in (said, found)]
    numbers = [[float(x) for x in NUMBER.findall(line)] for line in (said, found)]
    if words[0] != words[1] or len(numbers[0]) != len(numbers[1]):
        return False
    return all(math.isclose(a, b, rel_tol=rtol) for a, b in zip(*numbers, strict=True))


# --- the pages ---------------------------------------------------------------------------------------------------

WITH_PYTHON = [page for page in PAGES if examples(text_of(page))]
WITH_COMMANDS = [page for page in PAGES if commands(text_of(page))]


@pytest.mark.parametrize("page", WITH_PYTHON)
def test_the_python_of_a_page_prints_what_the_page_says(page: str, tmp_path: Path) -> None:
    assert wrong_examples(text_of(page), tmp_path) == []


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_the_commands_of_a_page_print_what_the_page_says(page: str, tmp_path: Path) -> None:
    assert wrong_commands(text_of(page), tmp_path) == []


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_are_of_a_kind_that_is_checked(page: str) -> None:
    """No block is overlooked because of its language or of a fence that is not at the start of a line."""
    assert {block.language for block in blocks(text_of(page))} <= LANGUAGES
    assert text_of(page).count("```") == 2 * len(blocks(text_of(page)))


@pytest.mark.parametrize("page", PAGES)
def test_commands_within_sentences_can_be_run(page: str) -> None:
    for words in inline_commands(text_of(page)):
        check_arguments(words)


@pytest.mark.parametrize("page", PAGES)
def test_the_studies_of_a_page_are_valid(page: str) -> None:
    found = [block for block in blocks(text_of(page)) if block.language == "toml"]
    assert bool(found) == (page in STUDIES)
    for block in found:
        parse(block.code, f"{page}, line {block.line}")


def test_no_page_is_left_out() -> None:
    """These pages have examples; so many blocks and commands have an output to compare."""
    names = "agents ask-and-tell certificates choosing-h continuous explore guarantees in-and-out local-planning logs"
    manual = {f"docs/{name}.md" for name in (*names.split(), "quickstart")}
    assert set(WITH_PYTHON) == {"README.md", "CONTRIBUTING.md", "docs/your-own.md", "docs/replication.md", *manual}
    assert {"README.md", "CONTRIBUTING.md", "docs/quickstart.md", "docs/guarantees.md"} <= set(WITH_COMMANDS)
    assert sum(shown.output != "" for page in PAGES for _, shown in examples(text_of(page))) >= 15
    assert sum(command.output != "" for page in PAGES for command in commands(text_of(page))) >= 3


def test_a_mistake_in_the_study_of_the_quickstart_is_the_sentence_on_the_page() -> None:
    page = text_of("docs/quickstart.md")
    [study] = [block for block in blocks(page) if block.language == "toml"]
    said = re.search(r"^```text\nhreach: (\w+\.toml.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert said is not None
    wrong = re.sub(r"\bh = 64\b", "hh = 64", study.code)
    with pytest.raises(hreach.InputError) as raised:
        parse(wrong, said[1].split(",")[0])
    assert str(raised.value) == " ".join(said[1].split())


@pytest.mark.parametrize("path", sorted(ROOT.glob("benchmarks/*.toml")), ids=lambda path: path.name)
def test_the_studies_of_the_benchmarks_are_valid(path: Path) -> None:
    assert f"benchmarks/{path.name}" in text_of("docs/continuous.md")
    parse(path.read_text("utf-8"), path.name)


# --- twins: what is wrong is seen --------------------------------------------------------------------------------

EXAMPLE = "```python\nprint(1)\nprint(2.50)\n```\n\n```text\n1\n2.5\n```\n\n```python\nx = 3\n```\n"


def test_a_wrong_number_on_a_page_is_seen(tmp_path: Path) -> None:
    assert wrong_examples(EXAMPLE, tmp_path) == []
    [said] = wrong_examples(EXAMPLE.replace("2.5\n", "2.6\n"), tmp_path)
    assert said == "line 1: the page says\n1\n2.6\nbut it prints\n1\n2.5\n"


def test_one_digit_of_the_readme_is_seen(tmp_path: Path) -> None:
    """The twin of the whole test: the page itself, with its last printed digit changed."""
    readme = text_of("README.md")
    _, shown = [pair for pair in examples(readme) if pair[1].output][-1]
    cut = re.sub(r"(\d)(\D*)$", lambda m: str((int(m[1]) + 1) % 10) + m[2], shown.output)
    assert len(wrong_examples(readme.replace(shown.output, cut), tmp_path)) == 1


def test_output_that_a_page_does_not_show_is_seen(tmp_path: Path) -> None:
    assert len(wrong_examples(EXAMPLE.replace("x = 3", "print(3)"), tmp_path)) == 1
    assert len(wrong_examples(EXAMPLE.replace("\n```text", "\nOr so.\n\n```text"), tmp_path)) == 1


def test_a_block_that_fails_or_warns_is_seen_with_its_line(tmp_path: Path) -> None:
    for failing in ("x = y", "import warnings; warnings.warn('old')"):
        with pytest.raises(AssertionError, match=r'page\.py", line 12'):
            wrong_examples(EXAMPLE.replace("x = 3", failing), tmp_path)


def test_a_tolerance_holds_for_the_numbers_of_the_block_that_states_it(tmp_path: Path) -> None:
    stated = EXAMPLE.replace("\n```text", "\nIt prints, to within 2 %:\n\n```text")
    assert [wrong_examples(stated.replace("2.5\n", f"{x}\n"), tmp_path) for x in (2.5, 2.54)] == [[], []]
    for wrong in ("2.56", "-2.5", "2.5 x", "two"):
        assert len(wrong_examples(stated.replace("2.5\n", f"{wrong}\n"), tmp_path)) == 1
    assert len(wrong_examples(EXAMPLE.replace("2.5\n", "2.54\n"), tmp_path)) == 1


def test_seconds_and_lines_left_out_may_differ_and_nothing_else() -> None:
    assert agree(Shown("a: done (0.7 s)\n"), "a: done (12.3 s)\n")
    assert not agree(Shown("a: done (0.7 s)\n"), "b: done (0.7 s)\n")
    assert agree(Shown("a\n...\nd\n"), "a\nb\nc\nd\n")
    assert agree(Shown("a\n...\nd\n"), "a\nd\n")
    assert not agree(Shown("a\n...\nd\n"), "a\nb\n")
    assert not agree(Shown("a\n...\na\n"), "a\n")
    assert not agree(Shown("a\n"), "a\nb\n")


BOUND = "$ hreach bound --states 5 --actions 2 --gamma 0.95 --eps 2 --delta 0.1 --h 8\n"


def test_a_wrong_command_or_its_output_is_seen(tmp_path: Path) -> None:
    assert wrong_commands(f"```console\n{BOUND}```", tmp_path) == []
    right, wrong = (f"```console\n{BOUND}eps {eps}\n...\nagent.certify(), hreach certify.\n```" for eps in (2, 3))
    assert wrong_commands(right, tmp_path) == []
    assert len(wrong_commands(wrong, tmp_path)) == 1
    with pytest.raises(Exception, match="No such option: --staets"):
        wrong_commands(f"```console\n{BOUND.replace('states', 'staets')}```", tmp_path)
    with pytest.raises(Exception, match="No such command 'bond'"):
        check_arguments(["bond", "--h", "8"])
    for nowhere in ("make coffee", "python benchmarks/no_such_file.py", "pip install hreach2"):
        with pytest.raises(AssertionError, match="line 1"):
            wrong_commands(f"```console\n$ {nowhere}\n```", tmp_path)
