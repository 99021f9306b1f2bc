"""Sweeps over all that was met with the pairs that are best, as they were found: what these are worth, nearly.

Sweeps of Gauss and Seidel, to and fro, and leaps to where they end if each goes on as the one before.
"""

from __future__ import annotations

import numpy as np

from hreach.compiling import inlined, merged
from hreach.kernels.local_level import level_of_numbers
from hreach.kernels.local_rows import edge_weight
from hreach.kernels.local_state import (
    AFTER,
    COUNT,
    FROM,
    HIGH,
    LOW,
    NEXT_FROM,
    OWN_X,
    PLANNED,
    QA,
    QB,
    TO,
    A,
    Arena,
    G,
    Lines,
    LocalRule,
)  # fmt: skip

MOST = 10  # pairs of sweeps, at most


@inlined
def back_up(rule: LocalRule, arena: Arena, lines: Lines, p: int, x: float) -> tuple[float, float]:
    """(Q of a pair, of the numbers in column A, what it gains where all of them, but not x, gain 1)."""
    q, untried = lines.q, arena.tally[p, COUNT] == 0
    total = weights = 0.0
    best = 0.0 if rule.ends else -np.inf
    e = arena.tally[p, FROM]
    while e > 0:
        weight, v = 1.0 if untried else edge_weight(arena, e - 1), lines.value[arena.edge[e - 1, TO], A]
        total += weight * v
        weights += weight
        best = max(best, v)
        e = arena.edge[e - 1, NEXT_FROM]
    gain = q[p, G] * weights + (q[p, QB] if rule.mode == OWN_X else 0.0)
    if rule.mode != OWN_X:
        best = x
    return q[p, QA] + q[p, G] * total + (q[p, QB] * best if q[p, QB] > 0.0 else 0.0), gain


@merged
def _relax(rule: LocalRule, arena: Arena, lines: Lines, backwards: bool) -> None:
    """One sweep of Gauss and Seidel over A with the best pairs; what was met first comes first, or last."""
    states = lines.tick[PLANNED]
    x, _ = level_of_numbers(rule, arena, lines, A)
    for k in range(states):
        i = states - 1 - k if backwards else k
        if lines.link[i, AFTER] > 0:
            lines.value[i, A], _ = back_up(rule, arena, lines, lines.link[i, AFTER] - 1, x)


@merged
def _compare(lines: Lines, whole: bool) -> tuple[float, float]:
    """How much A has moved from LOW, its constant part aside, and the share of that in the move before, from HIGH."""
    value, low, high, both, square = lines.value, np.inf, -np.inf, 0.0, 0.0
    for i in range(lines.tick[PLANNED]):
        change, last = value[i, A] - value[i, LOW], value[i, LOW] - value[i, HIGH]
        low, high = min(low, change), max(high, change)
        both += change * last
        square += last * last
    return 0.5 * (high - low) if whole else max(abs(low), abs(high)), both / square if square > 0.0 else 0.0


@merged
def _keep(lines: Lines, place: int, where: int) -> None:
    """Column `where` <- column `place`."""
    for i in range(lines.tick[PLANNED]):
        lines.value[i, where] = lines.value[i, place]


@merged
def _leap(lines: Lines, share: float) -> None:
    """A goes where it ends if each move, the last one from LOW, is that share of the one before; HIGH: from where."""
    for i in range(lines.tick[PLANNED]):
        value = lines.value[i]
        value[HIGH] = value[A]
        value[A] += share / (1.0 - share) * (value[A] - value[LOW])
        value[LOW] = value[A]


@merged
def evaluate(rule: LocalRule, arena: Arena, lines: Lines, whole: bool, enough: float) -> int:
    """A becomes the value of the best pairs, nearly; how many pairs of sweeps that took.

    A leap after which values move more than before it is taken back, and there is no other one then.
    """
    before, leapt, trusted = np.inf, False, True
    _keep(lines, A, LOW)
    _keep(lines, A, HIGH)
    for k in range(1, MOST + 1):
        _relax(rule, arena, lines, True)
        _relax(rule, arena, lines, False)
        moved, share = _compare(lines, whole)
        if leapt and moved > before:
            _keep(lines, HIGH, A)
            trusted = False
        elif moved <= enough:
            return k
        leapt = trusted and k % 2 == 0 and k < MOST and 0.0 < share < 1.0 - 1e-4
        before = moved
        if leapt:
            _leap(lines, share)
        else:
            _keep(lines, LOW, HIGH)
            _keep(lines, A, LOW)
    return MOST
