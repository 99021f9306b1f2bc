"""Which source files decide what a file of hreach does: the file itself and, on and on, what it imports of hreach.

    closure(file) = {file} + the closures of the modules of hreach that it names in an import

Imports are found by their words, wherever they stand: one in a docstring or in a function counts too, which makes the
set larger and never too small. What the package's own `__init__.py` imports does not count: it runs before every
module, and no module is written in terms of it.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
_FROM = re.compile(r"^\s*from\s+(hreach(?:\.\w+)*)\s+import\s+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_IMPORT = re.compile(r"^\s*import\s+(hreach(?:\.\w+)+)", re.MULTILINE)


def stamp(path: Path) -> bytes:
    """SHA-256 of the contents of the closure of a file."""
    return _own_stamp(path) if PACKAGE in path.parents else _stamp(path)


def closure(path: Path) -> set[Path]:
    """The file and all files of hreach that it depends on."""
    found: set[Path] = set()
    left = [path]
    while left:
        source = left.pop()
        if source not in found:
            found.add(source)
            left += _own_imported(source) if PACKAGE in source.parents else imported(source)
    return found


def imported(path: Path) -> list[Path]:
    """The files of the modules of hreach that a file names in its imports."""
    text = path.read_text("utf-8", errors="replace")
    names = set(_IMPORT.findall(text))
    for module, what in _FROM.findall(text):
        names |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", what))}
    files = {file for name in names for file in _files(name)}
    return sorted(files - {PACKAGE / "__init__.py"})


def _stamp(path: Path) -> bytes:
    digest = hashlib.sha256()
    for source in sorted(closure(path)):
        digest.update(source.read_bytes())
    return digest.digest()


# The package does not change under a process; a user's file in a notebook may.
_own_stamp, _own_imported = cache(_stamp), cache(imported)


def _files(module: str) -> list[Path]:
    """The file of a module of hreach, if it is one, and those of the packages that it is in."""
    parts = module.split(".")[1:]
    inits = [PACKAGE.joinpath(*parts[:i], "__init__.py") for i in range(1, len(parts) + 1)]
    return [file for file in [*inits, PACKAGE.joinpath(*parts).with_suffix(".py")] if parts and file.is_file()]
