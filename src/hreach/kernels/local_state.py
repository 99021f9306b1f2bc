"""What the kernels of sparse counts and local planning pass around: arenas that grow, the plan, the rule.

States are numbered as they appear: state number s of the problem has the id ids[s] - 1, and pair (id, a) is row
id A + a of every array over pairs. A transition that was seen is an *edge*, in two linked lists: those of its pair and
those that lead into its next state. Nothing but `ids` has the size of the problem, and the operating system gives
memory only to the parts of it that were used. Links are written 1 higher than what they point to: 0 is the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array

Small = NDArray[np.int32]

STATE, INTO, FLAGS = 0, 1, 2  # columns of Arena.node: number of the state, last edge into it, OPEN and CLOSED
OPEN, CLOSED = 1, 2
COUNT, FROM = 0, 1  # columns of Arena.tally: samples of the pair, its last edge
PAIR, TO, TIMES, NEXT_FROM, NEXT_INTO, ENDED = 0, 1, 2, 3, 4, 5  # columns of Arena.edge; ENDED where episodes can end
KNOWN, EDGES, SAMPLES = 0, 1, 2  # entries of Arena.size

A, B, LOW, HIGH, KEY = 0, 1, 2, 3, 4  # columns of Lines.value: V = A + B x holds for LOW <= x <= HIGH; A / (1 - B)
QA, QB, G = 0, 1, 2  # columns of Lines.q: Q = QA + QB x, and what one more of a next state's value adds per sample
AFTER, BEFORE, LEVEL, PLACE, DOWN = 0, 1, 2, 3, 4  # columns of Lines.link: queue, its level (0: none), heap;
UP = 6  # calendar for falling x (DOWN, DOWN + 1) and for rising x (UP, UP + 1)
X, SUM_A, SUM_B, REST, LOWEST, HIGHEST, WANDERED, DRIFT, TARGET = range(9)  # entries of Lines.number;
ROUNDS, PATIENT, HASTY = 9, 10, 11  # what sweeps take, and what the two ways to come to them took: local_effort.py
NUMBERS = 12
PLANNED, QUEUED, SKIPPED, SCRUB, WORK, TURN, SWEPT, SLOW = range(8)  # entries of Lines.tick
TICKS = 8

NO_X, MAX_X, MEAN_X, OWN_X = 0, 1, 2, 3  # LocalRule.mode: what x is; OWN_X: none, each pair knows its next states
BOTH, QUEUE_ONLY, SWEEPS_ONLY = 0, 1, 2  # LocalRule.way
LEVELS = 64  # of the queue, each for residuals up to sqrt(2) times those of the one below
DAYS = 1 << 14  # of the calendar
QUEUE_SHARE, SPAN_SHARE, LAG_SHARE = 0.75, 0.875, 0.125  # of the tolerance


class Arena(NamedTuple):
    """What was counted."""

    ids: Small  # (S,) id + 1 of each state of the problem; 0: not met
    node: Small  # (states, 3)
    tally: Small  # (pairs, 2)
    edge: Small  # (edges, 5 or 6)
    paid: Array  # (pairs,) sum of rewards, or (0,) where the reward is known
    size: NDArray[np.int64]  # (3,) states met, edges, samples
    here: NDArray[np.int64]  # (2,) where the last sample led (-1: to an end), and where its episode began
    news: NDArray[np.int64]  # (1 + NEWS,) how many changes since the last plan: pairs, or -1 - id; -1: any


class Lines(NamedTuple):
    """The plan: values and action values as lines in x."""

    value: Array  # (states, 5)
    link: Small  # (states, 8)
    q: Array  # (pairs, 3)
    heap: Small  # (states,) ids, the largest key first; keys are never too low
    calendar: Small  # (2, DAYS) first state whose span ends that day, for falling and for rising x
    queue: Small  # (LEVELS,) first state of each level
    number: Array  # (NUMBERS,)
    tick: NDArray[np.int64]  # (TICKS,)
    scratch: Array  # (S,) the counts of one row, for a formula
    action: Array  # (A,) the values of one state's actions
    matrix: Array  # (S, S + 1) for a solve, or (0, 1) where there may be too many states for one


class LocalRule(NamedTuple):
    """What stays fixed."""

    reward: Array  # (S, A), or (0, 0) if it is learnt
    constants: Array  # (S, A, P), or (1, 1, P) where they are the same for all
    order: Small  # (S,) states by the best reward of an untried pair, the largest first; (0,): all alike
    preference: NDArray[np.int64]
    states: int
    actions: int
    gamma: float
    tolerance: float
    r_min: float
    r_max: float
    v_max: float
    value_cap: float
    reward_share: float
    random_action: float
    fresh: float  # what optimism adds to the reward of an untried pair; the whole reward where it is learnt
    mode: int
    ends: bool
    budget: int  # edges that one plan may touch; 0: as many as it takes
    way: int  # by the queue, by sweeps over all that was met, or by whichever takes less
