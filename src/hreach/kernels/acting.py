"""The action to take under the last plan: the best one, or one drawn where chance decides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, at, compiled, inlined
from hreach.kernels.state import TIE, Rule, Table
from hreach.randomness.streams import uniform


@inlined
def choose(
    q: Array, first: int, end: int, random_action: float, preference: NDArray[np.int64],
    stream: NDArray[np.uint64],
) -> int:  # fmt: skip
    """The best of the actions whose values are q[first:end]; draws from `stream` only where chance decides."""
    if random_action > 0.0 and uniform(stream) < random_action:
        return int(uniform(stream) * (end - first))
    best = q[at(first)]
    for i in range(first + 1, end):
        if q[at(i)] > best:
            best = q[at(i)]
    floor = best - TIE * max(1.0, abs(best))
    for k in range(preference.size):
        if q[first + preference[k]] >= floor:
            return int(preference[k])
    ties = 0
    chosen = 0
    for i in range(first, end):
        if q[at(i)] >= floor:
            if ties == 0:
                chosen = i - first
            ties += 1
    if ties > 1:
        skip = int(uniform(stream) * ties)
        for i in range(first, end):
            if q[i] >= floor:
                if skip == 0:
                    return i - first
                skip -= 1
    return chosen


@compiled
def act(rule: Rule, table: Table, s: int, stream: NDArray[np.uint64]) -> int:
    """The best action in s under the last plan."""
    actions = rule.parameters.shape[1]
    return choose(table.q, s * actions, (s + 1) * actions, 0.0, rule.preference, stream)
