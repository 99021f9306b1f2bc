"""From counts to the confidence sets of all pairs: `hreach.guarantees.confidence` for every row at once.

An outcome of a pair is a next state; where episodes can end, the end is one outcome more, worth 0; where the reward
depends on the next state as well, ending in each state is one of its own. Only what was seen has an entry, the rest is
known by its number alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from hreach.compiling import resolved
from hreach.errors import require
from hreach.guarantees.confidence import mean_interval, one_vector
from hreach.guarantees.evidence import Evidence
from hreach.kernels import radius
from hreach.kernels.robust import Rows
from hreach.planners.robust import Sets
from hreach.problems.ranges import ValueRange
from hreach.protocols import Bools, Floats, Ints


def confidence_sets(evidence: Evidence, delta: float, watched: Ints | None = None) -> Sets:
    """Sets that hold every row, and every mean reward that is learnt, at all times at once but for delta.

    `watched` is a policy that was fixed before the first of these samples: its value is then one vector, as V* is, and
    `one_vector` serves both; delta is shared out between them. Learnt rewards take a share of their own.
    """
    rows, outcomes = _rows(evidence)
    pairs, states = rows.total.size, rows.closed.size
    share = delta / ((1 if watched is None else 2) + (evidence.reward is None))
    low, high = _rewards(evidence, share / pairs)
    if watched is None:
        floor = ceiling = per_sample(radii_of(rows, outcomes, share / pairs), rows.total)
    else:
        floor = per_sample(one_vector(rows.total, share / states), rows.total)
        ceiling = per_sample(one_vector(rows.total, share / pairs), rows.total)
    v_min, v_max = value_range(evidence.values, evidence.reward)
    return Sets(rows, low, high, floor, ceiling, outcomes, v_min, v_max, watched is None)


def _rows(evidence: Evidence) -> tuple[Rows, int]:
    """The rows of counts, entries in the order of the outcomes, and how many outcomes there may be."""
    states, actions = evidence.counts.shape[:2]
    outcomes, following = _outcomes(evidence)
    kept = outcomes > 0
    if evidence.possible is not None:
        kept = _possible(evidence, kept)
    pair, column = np.nonzero(kept)
    first = np.zeros(states * actions + 1, dtype=np.int64)
    np.cumsum(np.bincount(pair, minlength=states * actions), out=first[1:])
    per_transition = evidence.reward is not None and evidence.reward.shape[2] > 1
    rewards = np.zeros((0, 0, 0)) if not per_transition else np.ascontiguousarray(evidence.reward)
    pays = rewards.reshape(-1, states)[pair, column % states] if per_transition else np.zeros(column.size)
    count = outcomes[pair, column]
    rows = Rows(
        first=first,
        following=following[column],
        seen=count,
        pays=pays,
        total=outcomes.sum(axis=1),
        rewards=rewards,
        closed=evidence.closed,
        gamma=evidence.values.gamma,
        open=evidence.possible is None,
        ends=evidence.ended is not None,
        copies=np.ones(states),
    )
    return rows, outcomes.shape[1]


def _outcomes(evidence: Evidence) -> tuple[Floats, Ints]:
    """Counts of the outcomes of each pair, (N, K), and the next state of each outcome, (K,), S for an end."""
    states = evidence.counts.shape[2]
    counts, stays = evidence.counts.reshape(-1, states), np.arange(states)
    if evidence.ended is None:
        return counts, stays
    ended = evidence.ended.reshape(-1, states)
    per_transition = evidence.reward is not None and evidence.reward.shape[2] > 1
    over = ended if per_transition else ended.sum(axis=1, keepdims=True)
    return np.concatenate([counts - ended, over], axis=1), np.append(stays, np.full(over.shape[1], states))


def _possible(evidence: Evidence, seen: Bools) -> Bools:
    """Which outcomes can follow, (N, K); ending is possible where its next state is."""
    assert evidence.possible is not None
    states = evidence.counts.shape[2]
    can = evidence.possible.reshape(-1, states)
    require(not (seen[:, :states] & ~can).any(), "possible", "False where a next state was seen", "True there")
    more = seen.shape[1] - states
    return np.concatenate([can, can if more == states else np.ones((len(can), more), dtype=np.bool_)], axis=1)


def _rewards(evidence: Evidence, d: float) -> tuple[Floats, Floats]:
    """What each pair pays at least and at most on average, (N,) each, besides what depends on the next state."""
    pairs = evidence.counts.shape[0] * evidence.counts.shape[1]
    if evidence.reward is not None:
        known = evidence.reward.reshape(pairs, -1)
        paid = np.ascontiguousarray(known[:, 0]) if known.shape[1] == 1 else np.zeros(pairs)
        return paid, paid
    assert evidence.reward_sum is not None
    return learnt_rewards(evidence.reward_sum.reshape(-1), evidence.counts.sum(axis=2).reshape(-1), evidence.values, d)


def learnt_rewards(paid: Floats, n: Floats, values: ValueRange, d: float) -> tuple[Floats, Floats]:
    """Least and largest mean reward, (N,) each, where n samples paid so much in all."""
    bottom, span = values.r_min, _span(values)
    mean = np.divide(paid, n, out=np.full(n.shape, bottom), where=n > 0)
    low, high = mean_interval((mean - bottom) / span, n, d)
    return bottom + span * low, bottom + span * high


def value_range(values: ValueRange, known: Floats | None) -> tuple[float, float]:
    """The range of values, by the range of rewards and by the known ones, which may be wider."""
    if known is None:
        return values.low, values.high
    horizon = 1 / (1 - values.gamma)
    return min(values.low, float(known.min()) * horizon), max(values.high, float(known.max()) * horizon)


def _span(values: ValueRange) -> float:
    return max(values.r_max - values.r_min, 1e-300)


def per_sample(beta: Floats, n: Floats) -> Floats:
    """beta/n; infinite where nothing was seen."""
    return np.asarray(np.divide(beta, n, out=np.full(n.shape, np.inf), where=n > 0))


def radii_of(rows: Rows, outcomes: int, d: float) -> Floats:
    """beta of every row, (N,)."""
    beta = np.empty(rows.total.size)
    arguments = (rows.first, rows.seen, rows.total, outcomes, not rows.open, float(np.log(1 / d)), beta)
    _compiled_radii()(*arguments)
    return beta


@cache
def _compiled_radii() -> Callable[..., object]:
    numbers, places = np.zeros(1), np.zeros(2, dtype=np.int64)
    return resolved(radius.radii, places, numbers, numbers, 1, False, 0.0, numbers)
