"""What was measured: printed, and written to the file of `HREACH_FIGURES`, of which `make faults` makes a table."""

from __future__ import annotations

import json
import os


def record(what: str, measured: str, goal: str) -> None:
    """One row of benchmarks/FAULTS.md."""
    print(f"{what}: {measured} (goal: {goal})")
    if path := os.environ.get("HREACH_FIGURES"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"what": what, "measured": measured, "goal": goal}) + "\n")
