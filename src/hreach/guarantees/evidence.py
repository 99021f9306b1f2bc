"""What a certificate is made of: what was counted, and what is known besides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hreach.errors import array, discount, finite, require
from hreach.guarantees.confidence import whole_counts
from hreach.problems.ranges import ValueRange
from hreach.protocols import Bools, Floats


@dataclass(frozen=True)
class Evidence:
    """What was counted, without any prior, and what is known besides.

    counts      (S, A, S) samples; ended: (S, A, S) those of them that ended the episode, or None: episodes never end
    reward      (S, A, 1) or (S, A, S), known; or None: it is learnt
    reward_sum  (S, A) where it is learnt: the sum of what was paid
    closed      (S,) states that nothing follows; possible: (S, A, S) which next states can follow, None: any
    """

    counts: Floats
    ended: Floats | None
    reward: Floats | None
    reward_sum: Floats | None
    values: ValueRange
    closed: Bools
    possible: Bools | None = None

    @property
    def samples(self) -> int:
        """How many there are."""
        return int(self.counts.sum())


def evidence_of(
    counts: ArrayLike,
    reward: ArrayLike,
    gamma: float,
    ended: ArrayLike | None,
    possible: ArrayLike | None,
    r_min: float | None,
    r_max: float | None,
) -> Evidence:
    """A table of counts and a known reward, everything checked; the parameters are those of `certify_counts`."""
    table = whole_counts("counts", counts)
    cubic = table.ndim == 3 and table.shape[0] == table.shape[2] and table.size > 0
    require(cubic, "counts shape", table.shape, "(S, A, S): states, actions, next states")
    over = None if ended is None else whole_counts("ended", ended)
    if over is not None:
        require(over.shape == table.shape, "ended shape", over.shape, f"that of counts, {table.shape}")
        require(bool((over <= table).all()), "ended", "more than counts", "at most the counts")
    paid, values = known_reward("reward", reward, gamma, r_min, r_max, over is not None)
    require(paid.shape in (table.shape[:2], table.shape), "reward shape", paid.shape, f"(S, A) or {table.shape}")
    can = None if possible is None else np.asarray(possible, dtype=np.bool_)
    if can is not None:
        require(can.shape == table.shape, "possible shape", can.shape, f"that of counts, {table.shape}")
    left = table.sum(axis=(1, 2)) > 0
    closed = np.zeros(len(table), dtype=np.bool_)
    if over is not None:
        closed = (over.sum(axis=(0, 1)) > 0) & ((table - over).sum(axis=(0, 1)) == 0) & ~left
    return Evidence(table, over, paid.reshape(*table.shape[:2], -1), None, values, closed, can)


def known_reward(
    field: str, reward: ArrayLike, gamma: float, r_min: float | None, r_max: float | None, ends: bool
) -> tuple[Floats, ValueRange]:
    """A known reward, finite and within its range, and the range of values."""
    paid = array(field, reward)
    require(paid.size > 0 and bool(np.isfinite(paid).all()), field, "nan, infinite or empty", "finite everywhere")
    low = min(0.0, float(paid.min())) if r_min is None else finite("r_min", r_min)
    high = max(0.0, float(paid.max())) if r_max is None else finite("r_max", r_max)
    require(low <= paid.min() and paid.max() <= high, field, paid, f"within [r_min, r_max] = [{low:g}, {high:g}]")
    return paid, ValueRange(low, high, discount(gamma), ends)


class Paid(NamedTuple):
    """A pair in which what was paid, on average of n samples, is not what was known."""

    state: int
    action: int
    known: float
    paid: float
    n: int


def paid_otherwise(evidence: Evidence) -> Paid | None:
    """The pair in which what was paid differs most, in units of its noise, from the known reward; None: in none.

    A fact, no judgement: rewards that are known on average only differ by chance, by an amount that nobody can bound.
    """
    assert evidence.reward is not None
    assert evidence.reward_sum is not None
    n = evidence.counts.sum(axis=2)
    due = (evidence.counts * evidence.reward).sum(axis=2)
    off = np.abs(evidence.reward_sum - due)
    if not (off > 1e-6 * np.maximum(1.0, np.abs(due))).any():
        return None
    s, a = np.unravel_index(int(np.argmax(off / np.sqrt(np.maximum(n, 1.0)))), n.shape)
    count = n[s, a]
    return Paid(int(s), int(a), float(due[s, a] / count), float(evidence.reward_sum[s, a] / count), int(count))
