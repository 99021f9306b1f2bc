"""What an ask costs in a journal of 10^6 tells, beside the same file without its snapshots.

python benchmarks/journal.py [tells]
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from hreach import Journal

STATES, ACTIONS, ASKS = 50, ("low", "medium", "high"), 20


def fill(path: Path, tells: int) -> None:
    """Rows as `tell` writes them, in one transaction, and one more tell, which makes the snapshot."""
    rng = np.random.default_rng(0)
    Journal.new(path, ACTIONS).close()
    states, actions = rng.integers(STATES, size=tells + 1), rng.integers(len(ACTIONS), size=tells)
    following = (states[:-1] + actions + rng.integers(3, size=tells)) % STATES
    rows = zip(
        states.tolist(), actions.tolist(), range(1, tells + 1), rng.random(tells), following.tolist(), strict=False
    )
    connection = sqlite3.connect(path)
    with connection:
        connection.executemany(
            "INSERT INTO rows (state, action, recommended, told, told_at, reward, next, terminated) "
            "VALUES (?, ?, 0, ?, '', ?, ?, 0)",
            rows,
        )
    connection.close()
    with Journal(path) as journal:
        journal.tell(0.0, "0", state="0", action="low")


def seconds(path: Path, asks: int) -> list[float]:
    """The time of each ask, the file opened for it."""
    found = []
    for i in range(asks):
        begun = time.perf_counter()
        with Journal(path) as journal:
            journal.ask(str(i % STATES))
        found.append(time.perf_counter() - begun)
    return found


def main() -> None:
    tells = int(sys.argv[1]) if len(sys.argv) > 1 else 10**6
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.hreach"
        fill(path, tells)
        seconds(path, 1)  # compiles
        quick = seconds(path, ASKS)
        connection = sqlite3.connect(path)
        with connection:
            connection.execute("DELETE FROM snapshots")
        connection.close()
        slow = seconds(path, 2)
        median, most = float(np.median(quick)), max(quick)
        print(f"ask after {tells:,} tells, {STATES} states: {1e3 * median:.1f} ms (at most {1e3 * most:.1f} ms)")
        print(f"without snapshots: {1e3 * min(slow):.0f} ms, ratio {min(slow) / median:.0f}")


if __name__ == "__main__":
    main()
