"""When sweeps take less than the queue: counted in edges, so that the answer is the same on every machine.

A plan begins with the queue. If it is not done after a small share of what sweeps take, it goes on until it has taken
half as much again as they do (*patient*), or turns to sweeps at once (*hasty*): whichever took less on average lately,
and the other one once in a while. So no plan costs much more than 2.5 times what sweeps cost, and many plans hardly
more than the better of the two ways.
"""

from __future__ import annotations

import numpy as np

from hreach.compiling import Formula, inlined, merged
from hreach.kernels.local_state import (
    EDGES,
    HASTY,
    PATIENT,
    PLANNED,
    QUEUE_ONLY,
    ROUNDS,
    SWEEPS_ONLY,
    SWEPT,
    TURN,
    WORK,
    Arena,
    Lines,
    LocalRule,
)  # fmt: skip
from hreach.kernels.local_sweep import sweep_all

DEARER = 4.0  # an edge that the queue pushes along takes as long as so many edges of a sweep
SHORT, LONG = 0.0625, 1.5  # of what sweeps take: until the queue counts as slow, and until it is given up
OTHER = 32  # of so many slow plans, one goes the other way
LATELY = 0.2  # weight of the last slow plan in an average


@inlined
def _of_sweeps(rule: LocalRule, arena: Arena, lines: Lines) -> float:
    """What sweeps are expected to take, in edges of the queue."""
    return float(lines.number[ROUNDS] * (arena.size[EDGES] + lines.tick[PLANNED] * rule.actions) / DEARER)


@inlined
def _hasty(lines: Lines) -> bool:
    other = lines.tick[TURN] % OTHER == OTHER - 1
    return bool((lines.number[HASTY] < lines.number[PATIENT]) != other)


@merged
def patience(rule: LocalRule, arena: Arena, lines: Lines) -> float:
    """How many edges the queue may touch before sweeps take its place."""
    if rule.way == QUEUE_ONLY or rule.budget > 0:
        return np.inf
    if rule.way == SWEEPS_ONLY:
        return 0.0
    return (SHORT if _hasty(lines) else LONG) * _of_sweeps(rule, arena, lines)


@merged
def sweeps_due(formula: Formula, rule: LocalRule, arena: Arena, lines: Lines) -> None:
    """Sweep, and remember what that takes."""
    taken = sweep_all(formula, rule, arena, lines)
    number, count = lines.number, lines.tick
    count[WORK] += int(taken * (arena.size[EDGES] + count[PLANNED] * rule.actions) / DEARER)
    count[SWEPT] += 1
    number[ROUNDS] += 0.5 * (taken - number[ROUNDS])


@merged
def remember_effort(rule: LocalRule, arena: Arena, lines: Lines) -> None:
    """A plan is done: if it was slow, what it took is remembered for the way that it went."""
    number, count = lines.number, lines.tick
    usual = _of_sweeps(rule, arena, lines)
    if rule.way == QUEUE_ONLY or rule.budget > 0 or count[WORK] <= SHORT * usual:
        return
    way = HASTY if _hasty(lines) else PATIENT
    number[way] += LATELY * (count[WORK] / usual - number[way])
    count[TURN] += 1
