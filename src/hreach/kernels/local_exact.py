"""What the best pairs, as sweeps found them, are worth: by one elimination where few states were met.

Sweeps need as many turns as gamma near 1 and a slow mixing ask for; of some dozens of states a solve takes less.
"""

from __future__ import annotations

import numpy as np

from hreach.compiling import inlined, inner, merged
from hreach.kernels.local_rows import edge_weight
from hreach.kernels.local_state import (
    AFTER,
    COUNT,
    EDGES,
    FROM,
    LOW,
    MAX_X,
    MEAN_X,
    NEXT_FROM,
    OWN_X,
    PLANNED,
    QA,
    QB,
    REST,
    TO,
    A,
    Arena,
    G,
    Lines,
    LocalRule,
)  # fmt: skip
from hreach.kernels.solve import eliminate

CHEAPER = 40.0  # of the steps of an elimination take as long as an edge of a sweep


@inlined
def cost_of_solve(rule: LocalRule, arena: Arena, lines: Lines) -> float:
    """What a solve takes, in sweeps of improvement."""
    states = lines.tick[PLANNED]
    return float(states**3 / (CHEAPER * (arena.size[EDGES] + states * rule.actions)))


@merged
def _highest(lines: Lines) -> int:
    """The state of the largest value."""
    best = 0
    for i in range(1, lines.tick[PLANNED]):
        if lines.value[i, A] > lines.value[best, A]:
            best = i
    return best


@inner
def solve_best(rule: LocalRule, arena: Arena, lines: Lines, x: float, moves: bool) -> None:
    """A <- what the best pairs are worth; x remains the value of the state, or of the states, that it is of now."""
    matrix, q, states = lines.matrix, lines.q, lines.tick[PLANNED]
    top = _highest(lines) if rule.mode == MAX_X and moves else -1
    unmet = rule.states - states
    share = 1.0 / (rule.states - rule.gamma * unmet)
    rest = share * lines.number[REST] if unmet > 0 else 0.0
    for i in range(states):
        for j in range(states):
            matrix[i, j] = 0.0
        matrix[i, i] = 1.0
        p = lines.link[i, AFTER] - 1
        if p < 0:
            matrix[i, states] = lines.value[i, LOW]
            continue
        aim, best = -1, 0.0 if rule.ends else -np.inf
        e = arena.tally[p, FROM]
        while e > 0:
            j = arena.edge[e - 1, TO]
            matrix[i, j] -= q[p, G] * (1.0 if arena.tally[p, COUNT] == 0 else edge_weight(arena, e - 1))
            if lines.value[j, A] > best:
                aim, best = j, lines.value[j, A]
            e = arena.edge[e - 1, NEXT_FROM]
        paid, reach = q[p, QA], q[p, QB]
        if rule.mode == OWN_X:
            if reach > 0.0 and aim >= 0:
                matrix[i, aim] -= reach
        elif rule.mode == MEAN_X:
            for j in range(states):
                matrix[i, j] -= reach * share
            paid += reach * rest
        elif top >= 0:
            matrix[i, top] -= reach
        else:
            paid += reach * x
        matrix[i, states] = paid
    eliminate(matrix, lines.scratch[:states])
    for i in range(states):
        lines.value[i, A] = lines.scratch[i]
