"""Faults on purpose: `make faults` runs the long tests of tests/faults and writes benchmarks/FAULTS.md.

Words are handed to pytest, such as `-k killed`; rows of tests that were not run are kept as they were. If a test fails,
nothing is written.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "benchmarks" / "FAULTS.md"
HEAD = "| what | measured | goal |\n|---|---|---|\n"


def measured(words: list[str]) -> tuple[int, dict[str, str]]:
    """(exit code of pytest, a row of the table for each figure, by its name)."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures"
        environment = os.environ | {"HREACH_FIGURES": str(figures)}
        chosen = ["-m", "faults or not faults", "-n", "0", "tests/faults", *words]
        code = subprocess.call([sys.executable, "-m", "pytest", *chosen], cwd=ROOT, env=environment)
        lines = figures.read_text("utf-8").splitlines() if figures.exists() else []
    found = [json.loads(line) for line in lines]
    # The long form of a test comes after its short one, and takes its place.
    return code, {row["what"]: f"| {row['what']} | {row['measured']} | {row['goal']} |" for row in found}


def kept() -> dict[str, str]:
    """The rows that are there."""
    lines = TABLE.read_text("utf-8").splitlines() if TABLE.exists() else []
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| what |")]
    return {line.split(" | ")[0].removeprefix("| "): line for line in rows}


def main() -> None:
    code, rows = measured(sys.argv[1:])
    if code != 0:
        raise SystemExit(code)
    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    head = f"Made by `make faults` ({where}).\n\n{HEAD}"
    TABLE.write_text(head + "\n".join((kept() | rows).values()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
