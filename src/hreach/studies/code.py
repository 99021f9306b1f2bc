"""The code that decides results, as one digest: results of other code are computed anew, never mixed.

Every source file counts but those that only ask for results or show them, so that a new file counts unless it is named
here; `tests/studies/test_code.py` holds the list against what a run imports.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
# Files and folders of the package that decide no number of a run; those of `AUDITING` decide what an audit finds.
AUDITING = ("guarantees/audit", "studies/audits.py")
ASIDE = (
    "__main__.py",
    "cli",
    "drawing",
    "exploring",
    "guarantees/choose_h",
    "report",
    "running/executors",
    "statistics",
    "studies/catalog",
    "studies/checking.py",
    "studies/definition.py",
    "studies/estimate.py",
    "studies/expanding.py",
    "studies/lines.py",
    "studies/loading.py",
    "studies/merging.py",
    "studies/quarantine.py",
    "studies/record.py",
    "studies/spec.py",
    "studies/status.py",
    "studies/workers.py",
    "testing",
    *AUDITING,
)


def deciding(package: Path = PACKAGE, also: tuple[str, ...] = ()) -> list[str]:
    """Names, inside the package, of the source files that decide results, in alphabetical order.

    `also` are those of `ASIDE` that count all the same.
    """
    aside = [part for part in ASIDE if part not in also]
    names = sorted(path.relative_to(package).as_posix() for path in package.rglob("*.py"))
    return [name for name in names if not any(name == part or name.startswith(f"{part}/") for part in aside)]


@cache
def code_digest(package: Path = PACKAGE, also: tuple[str, ...] = ()) -> str:
    """Sixteen hexadecimal digits of SHA-256 over names and contents of the files that decide results."""
    digest = hashlib.sha256()
    for name in deciding(package, also):
        content = (package / name).read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]
