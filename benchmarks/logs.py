"""Learning from a log: seconds and memory, by the number of rows; each in a process of its own.

python benchmarks/logs.py [rows]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import hreach

STATES, ACTIONS = 50, np.array(["low", "medium", "high"])
PART = 10**6


def write(folder: Path, rows: int) -> list[Path]:
    """The same log as CSV and as Parquet."""
    rng, paths = np.random.default_rng(0), [folder / f"{rows}.csv", folder / f"{rows}.parquet"]
    csv = parquet = None
    for begun in range(0, rows, PART):
        n = min(PART, rows - begun)
        s, a = rng.integers(STATES, size=n), rng.integers(3, size=n)
        following = (s + a + rng.integers(3, size=n)) % STATES
        columns = {"state": s, "action": ACTIONS[a], "reward": rng.random(n).round(3), "next": following}
        table = pa.table({**columns, "done": rng.random(n) < 0.01})
        csv = csv or pc.CSVWriter(paths[0], table.schema)
        parquet = parquet or pq.ParquetWriter(paths[1], table.schema)
        csv.write_table(table)
        parquet.write_table(table)
    for writer in (csv, parquet):
        assert writer is not None
        writer.close()
    return paths


def measure(path: str) -> None:
    """In a process of its own: seconds to count, seconds to certify, and the most memory in MB."""
    begun = time.perf_counter()
    found = hreach.learn(path, terminated="done")
    counted = time.perf_counter()
    found.certificate  # noqa: B018
    print(counted - begun, time.perf_counter() - counted, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    most = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'log':>10} {'rows':>12} {'MB on disk':>11} {'count (s)':>10} {'certify (s)':>12} {'memory (MB)':>12}")
        for rows in (most // 100, most // 10, most):
            for path in write(Path(folder), rows):
                command = [sys.executable, __file__, "--measure", str(path)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                count, certify, memory = map(float, done.stdout.split())
                size = path.stat().st_size / 1e6
                kind = path.suffix[1:]
                print(f"{kind:>10} {rows:>12,} {size:>11.1f} {count:>10.2f} {certify:>12.2f} {memory:>12.0f}")
                path.unlink()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2])
    else:
        main()
