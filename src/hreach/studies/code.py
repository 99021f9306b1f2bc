"""The code that decides results, as one digest: results of other code are computed anew, never mixed.

Every source file counts but those that only ask for results or show them, so that a new file counts unless it is named
here; `tests/studies/test_code.py` holds the list against what a run imports.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
# Files and folders of the package that decide no number of a run.
ASIDE = (
    "__main__.py",
    "cli",
    "guarantees/audit",
    "guarantees/choose_h",
    "report",
    "statistics.py",
    "studies/catalog",
    "studies/processes.py",
    "studies/spec.py",
    "testing",
)


def deciding(package: Path = PACKAGE) -> list[str]:
    """Names, inside the package, of the source files that decide results, in alphabetical order."""
    names = sorted(path.relative_to(package).as_posix() for path in package.rglob("*.py"))
    return [name for name in names if not any(name == part or name.startswith(f"{part}/") for part in ASIDE)]


@cache
def code_digest(package: Path = PACKAGE) -> str:
    """Sixteen hexadecimal digits of SHA-256 over names and contents of the files that decide results."""
    digest = hashlib.sha256()
    for name in deciding(package):
        content = (package / name).read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]
