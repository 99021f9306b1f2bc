"""Rows of a large MDP in CSR form, made from lists of next states that all pairs have equally many of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.problems.memory import require_memory

Array = NDArray[np.float64]
States = NDArray[np.int32]
Rows = tuple[NDArray[np.int64], States, Array]
PEAK = 60  # bytes of an entry while rows are made and checked, as measured


def room_for(what: str, pairs: int, successors: int) -> None:
    """Refuse an MDP with so many pairs and next states of each that cannot fit into memory."""
    require_memory(f"{what} with {pairs} pairs of a state and an action", float(PEAK) * pairs * successors)


def rows_of(following: States, weight: Array) -> Rows:
    """(indptr, indices, data) of rows with the next states following (N, K) and their probabilities, (N, K) or (K,).

    Columns ascend in each row; a state that comes twice has the sum of its probabilities, one of probability 0 is left
    out.
    """
    order = np.argsort(following, axis=1, kind="stable")
    states = np.take_along_axis(following, order, axis=1)
    chance = np.take_along_axis(weight, order, axis=1) if weight.ndim == 2 else weight[order]
    for k in range(1, states.shape[1]):
        again = states[:, k] == states[:, k - 1]
        chance[again, k] += chance[again, k - 1]
        chance[again, k - 1] = 0
    kept = chance > 0
    first = np.zeros(len(states) + 1, dtype=np.int64)
    np.cumsum(kept.sum(axis=1), out=first[1:])
    return first, states[kept], chance[kept]
