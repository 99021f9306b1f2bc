"""What a certificate of sparse counts costs, by pairs that were visited and by states: writes SPARSE_CERTIFICATES.md.

python benchmarks/sparse_certificates.py
"""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import numpy as np
from scipy import sparse

import hreach

WHAT = (
    "Counts are drawn: 5 next states for each of so many visited pairs, 4 actions, 200 samples a pair, states "
    "and rewards of a large problem of two kinds. Smallest of 3 turns, so that the code is compiled; by "
    "`hreach.certify_counts` of CSR tables, h = 8, all bounds in all states. Memory is that of the sparse "
    "tables and of what is computed, as tracemalloc sees it."
)
CASES = ((1_000, 10_000), (1_000, 1_000_000), (10_000, 100_000), (10_000, 1_000_000), (100_000, 1_000_000))


def drawn(pairs: int, states: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Counts (4 S, S) of `pairs` pairs among the first states, rewards (S, 4)."""
    rng = np.random.default_rng(0)
    local = pairs // 4 + 1
    following = rng.integers(local, size=(pairs, 5))
    times = rng.multinomial(200, rng.dirichlet(np.ones(5), size=pairs))
    rows = np.repeat(np.arange(pairs), 5)
    counts = sparse.coo_array((times.reshape(-1), (rows, following.reshape(-1))), shape=(4 * states, states))
    kinds = np.array([[0.0, 0.0, 0.1, 0.0], [1.0, 0.2, 0.0, 0.0]])
    return counts.tocsr(), kinds[(rng.random(states) < 0.01).astype(np.int64)]


def main() -> None:
    lines = ["# Certificates of sparse counts", "", "`python benchmarks/sparse_certificates.py`:", WHAT, ""]
    lines += ["| pairs visited | states | seconds of the processor | MiB |", "|---|---|---|---|"]
    for pairs, states in CASES:
        counts, reward = drawn(pairs, states)
        seconds = []
        for _ in range(3):
            began = time.process_time()
            found = hreach.certify_counts(counts, reward, 0.95, h=8)
            seconds.append(time.process_time() - began)
        tracemalloc.start()
        hreach.certify_counts(counts, reward, 0.95, h=8)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        assert found.bounds.lower.size == states
        lines.append(f"| {pairs:,} | {states:,} | {min(seconds):.3f} | {peak:.0f} |")
        print(lines[-1], flush=True)
    Path(__file__).with_name("SPARSE_CERTIFICATES.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
