"""What pages say about the code is true of the code: names, modules, files."""

from __future__ import annotations

import pkgutil
import re
import runpy
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import hreach
from hreach.agents import AGENTS, LINEAR_AGENTS
from hreach.domains import DOMAINS

ROOT = Path(__file__).parents[1]
PUBLIC = (
    "hreach",
    "hreach.testing",
    "hreach.guarantees.theory",
    "hreach.guarantees.audit",
    "hreach.guarantees.choose_h",
)


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def leads_somewhere(dotted: str) -> bool:
    """Whether it is a module, or a name in one."""
    try:
        pkgutil.resolve_name(dotted)
    except (ImportError, AttributeError):
        return False
    return True


# --- the reference -----------------------------------------------------------------------------------------------


def shown_in(api: str) -> tuple[set[str], set[str]]:
    """Names that the reference shows one by one, and modules of which it shows every member."""
    names = set(re.findall(r"^\.\. auto(?:function|class|exception):: (\S+)$", api, re.MULTILINE))
    return names, set(re.findall(r"^\.\. automodule:: (\S+)\n   :members:$", api, re.MULTILINE))


def missing(api: str) -> list[str]:
    """Public functions and classes, and those behind the names of agents and domains, that the reference lacks."""
    names, modules = shown_in(api)
    shown = [pkgutil.resolve_name(name) for name in names]
    public = {f"{package}.{name}": value for package in PUBLIC for name, value in exported(package).items()}
    for entry in (*AGENTS.values(), *LINEAR_AGENTS.values(), *DOMAINS.values()):
        public[entry.target.replace(":", ".")] = entry.load()
    return [name for name, value in public.items() if value not in shown and value.__module__ not in modules]


def exported(package: str) -> dict[str, Any]:
    """The functions and classes among the public names of a package."""
    module = import_module(package)
    values = {name: getattr(module, name) for name in module.__all__}
    return {name: value for name, value in values.items() if isinstance(value, type | FunctionType)}


def test_the_reference_has_every_public_name_and_every_agent_and_domain() -> None:
    api = text_of("docs/api.md")
    assert missing(api) == []
    for name in set(hreach.__all__) - {"__version__"}:
        assert f"hreach.{name}" in shown_in(api)[0]


@pytest.mark.parametrize("line", ["autofunction:: hreach.run", "autoclass:: hreach.domains.sixarms.SixArms"])
def test_a_name_that_the_reference_lacks_is_seen(line: str) -> None:
    assert missing(text_of("docs/api.md").replace(f".. {line}\n", "")) == [line.split()[1]]


def test_what_the_reference_names_is_there() -> None:
    names, modules = shown_in(text_of("docs/api.md"))
    assert len(names) > 50
    assert [name for name in names | modules if not leads_somewhere(name)] == []


def test_the_reference_has_every_module_with_what_it_says_of_itself() -> None:
    modules = runpy.run_path(str(ROOT / "docs" / "modules.py"))
    assert all(modules["modules"]().values())
    assert {"hreach", "hreach.running.loop", "hreach.testing.checks"} <= set(modules["modules"]())
    assert modules["page"]() == text_of("docs/api.md"), "run `python docs/modules.py`"


# --- the layout --------------------------------------------------------------------------------------------------


def laid_out(design: str) -> set[str]:
    """The folders and files of src/hreach in the layout on the page of the design."""
    tree = design.split("```text\nsrc/hreach/\n")[1].split("```")[0]
    return {name.rstrip("/") for name in re.findall(r"(?:^ {2}|\s{4,})(\w+(?:/|\.py))(?= {2})", tree, re.MULTILINE)}


def test_the_layout_has_every_folder_and_file_at_the_top() -> None:
    package = ROOT / "src" / "hreach"
    there = {p.name for p in package.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert laid_out(text_of("docs/design.md")) == there - {"__init__.py", "__main__.py"}


# --- the map of the paper ----------------------------------------------------------------------------------------


def cells(page: str, column: int) -> list[str]:
    """One column of the page's table."""
    rows = [line for line in text_of(page).splitlines() if line.startswith("| ")]
    return [row.split(" | ")[column] for row in rows[1:]]


def names_in(cell: str) -> list[str]:
    """What a cell names below `hreach`: not agents, calls, commands or folders."""
    words = re.findall(r"`([^`]+)`", cell)
    return [f"hreach.{word}" for word in words if re.fullmatch(r"[\w.]+", word) and word not in AGENTS]


def test_the_map_of_the_paper_is_one_table_whose_names_exist() -> None:
    text = text_of("docs/paper-to-code.md")
    assert len(re.findall(r"^\|---", text, re.MULTILINE)) == 1
    assert "|\n\n|" not in text
    found = [name for cell in cells("docs/paper-to-code.md", 1) for name in names_in(cell)]
    assert len(found) > 40
    assert [name for name in found if not leads_somewhere(name)] == []
    assert not leads_somewhere("hreach.guarantees.theory.discrete.no_such_name")


@pytest.mark.parametrize("page", ["docs/paper-to-code.md", "CONTRIBUTING.md", "docs/agents.md", "docs/replication.md"])
def test_files_that_a_page_names_exist(page: str) -> None:
    """Tests by their names, and paths below src/hreach or the root of the project."""
    for name in re.findall(r"`((?:\w+/)?test_\w+)`", text_of(page)):
        assert (ROOT / "tests" / f"{name}.py").exists(), name
    for path in re.findall(r"`((?:[\w.-]+/)+[\w-]+\.(?:py|toml|csv|md|css))`", text_of(page)):
        assert any((root / path).exists() for root in (ROOT, ROOT / "src", ROOT / "src" / "hreach")), path


def test_the_map_names_a_test_for_every_row() -> None:
    for cell in cells("docs/paper-to-code.md", 2):
        assert re.search(r"`(?:\w+/)*test_\w+`", cell), cell


# --- pictures and links ------------------------------------------------------------------------------------------

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pictures_and_links_of_a_page_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).is_file(), target


def test_every_picture_is_shown_on_a_page() -> None:
    shown = {Path(name).name for page in PAGES for name in re.findall(r"!\[.*?\]\((.*?)\)", page.read_text("utf-8"))}
    assert {path.name for path in (ROOT / "docs" / "images").iterdir()} == shown
