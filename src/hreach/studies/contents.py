"""Whether what stands in a shard can be results: a checksum tells damage, not what somebody wrote on purpose."""

from __future__ import annotations

import numpy as np

from hreach.studies.audited import MEASURED, audited_of
from hreach.studies.identity import Data
from hreach.studies.results import Columns, result_of

# The columns, and of which kind NumPy calls their values.
RUNS = {"run": "i", "phase": "U", "at": "i", "total_reward": "f", "length": "i", "terminated": "b"}
AUDITS = {"run": "i", "step": "i", **dict.fromkeys(MEASURED, "f")}


def holds_results(columns: Columns, about: Data, runs: tuple[int, int]) -> bool:
    """Whether columns, and what stands beside them, are of the runs [first, end)."""
    audit = "audit" in about
    if {name: values.dtype.kind for name, values in columns.items()} != (AUDITS if audit else RUNS):
        return False
    made, numbers = about.get("made"), columns["run"]
    if not isinstance(made, dict) or not all(isinstance(text, str) for text in made.values()):
        return False
    each = len(numbers) // (runs[1] - runs[0])
    if each == 0 or not np.array_equal(numbers, np.repeat(np.arange(*runs), each)):
        return False
    try:
        if audit:
            audited_of(columns, about)
            return True
        found = result_of([(slice(None), columns, about)])
    except (KeyError, TypeError, ValueError, IndexError):
        return False
    return found.by in ("steps", "episodes") and isinstance(found.agent, dict)
