"""The table of all modules at the end of api.md: `python docs/modules.py` writes it, from the modules' docstrings."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PAGE = Path(__file__).parent / "api.md"
PACKAGE = Path(__file__).parents[1] / "src" / "hreach"
HEADING = "## All modules\n"


def modules() -> dict[str, str]:
    """The first paragraph of each module's docstring, by the module's name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        found[name] = " ".join(said.partition("\n\n")[0].split())
    return dict(sorted(found.items()))


def table() -> str:
    """Markdown: one row for each module."""
    rows = [f"| `{name}` | {_escaped(said)} |\n" for name, said in modules().items()]
    return "| module | what it is |\n|---|---|\n" + "".join(rows)


def _escaped(said: str) -> str:
    """Letters that would end a cell or begin something else stand for themselves, but for those in `code`."""
    parts = said.split("`")
    return "`".join(part if i % 2 else re.sub(r"([*<|])", r"\\\1", part) for i, part in enumerate(parts))


def page() -> str:
    """api.md with this table."""
    text = PAGE.read_text("utf-8")
    return f"{text[: text.index(HEADING)]}{HEADING}\n{table()}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
