"""Confidence sets of sparse counts: one state for all that were never met and pay alike.

A state that nobody has met has nothing but its rewards: whatever may follow, all those that pay alike are worth the
same under any bound. So one of them stands for all, and what is computed grows with the pairs that were visited. How
many states there are counts in the sets as before (a row may go to states that nobody has seen), and unseen states
enter by the best and the worst of all values, which the merged ones have too: the certificate is that of all states.

Where more than `CLASSES` kinds of states were never met, the rest of them become one that is paid the least of them in
lower values and the most in upper ones: still a bound, and a wider one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from hreach.errors import InputError, require
from hreach.guarantees.confidence import one_vector
from hreach.guarantees.evidence import known_reward
from hreach.guarantees.sets import learnt_rewards, per_sample, radii_of, value_range
from hreach.kernels.local_state import CLOSED, COUNT, EDGES, ENDED, FLAGS, KNOWN, PAIR, STATE, TIMES, TO
from hreach.kernels.robust import Rows
from hreach.models.sparse_counts import SparseCounts
from hreach.planners.robust import Sets
from hreach.problems.ranges import ValueRange
from hreach.protocols import Bools, Floats, Ints

CLASSES, FEW = 1000, 16
Kinds = tuple[Ints, int]


@dataclass(frozen=True)
class Seen:
    """What was seen, in numbers of the problem: `times` samples of (state, action) -> following, `ended` of these ends.

    met: the states that count one by one; closed: those among them that nothing follows; paid: (M A,) sums of rewards,
    row by row of `met`, where the reward is learnt; reward: (S, A) where it is known; kinds: which states pay alike.
    """

    states: int
    actions: int
    pair: Ints
    following: Ints
    times: Floats
    ended: Floats | None
    met: Ints
    closed: Bools
    reward: Floats | None
    paid: Floats | None
    values: ValueRange
    kinds: Kinds
    possible: None = None

    @property
    def samples(self) -> int:
        """How many there are."""
        return int(self.times.sum())


class Places(NamedTuple):
    """Which row has which state: place (S,) of each state of the problem, first (M,) a state of each row."""

    place: Ints
    first: Ints


def seen_by(model: SparseCounts) -> Seen:
    """What a model has counted."""
    arena, problem = model.arena, model.problem
    known = int(arena.size[KNOWN])
    number = arena.node[:known, STATE].astype(np.int64)
    order = np.argsort(number)
    edge = arena.edge[: arena.size[EDGES]]
    edge = edge[edge[:, TIMES] > 0].astype(np.int64)
    source, action = np.divmod(edge[:, PAIR], problem.actions)
    paid = None
    if problem.reward is None:
        n = arena.tally[: known * problem.actions, COUNT].reshape(known, -1)
        paid = np.where(n > 0, arena.paid[: n.size].reshape(n.shape), 0.0)[order].reshape(-1)
    return Seen(
        states=problem.states,
        actions=problem.actions,
        pair=number[source] * problem.actions + action,
        following=number[edge[:, TO]],
        times=edge[:, TIMES].astype(np.float64),
        ended=edge[:, ENDED].astype(np.float64) if problem.ends else None,
        met=number[order],
        closed=((arena.node[:known, FLAGS] & CLOSED) > 0)[order],
        reward=None if problem.reward is None else problem.reward[:, :, 0],
        paid=paid,
        values=problem.values,
        kinds=_kinds_known(problem.reward, problem.states),
    )


def seen_in(
    counts: object, ended: object, reward: ArrayLike, gamma: float, r_min: float | None, r_max: float | None
) -> Seen:
    """What sparse tables (S A, S) hold, row s A + a, everything checked; the parameters are those of `certify_counts`.

    The states that count one by one are those that were left or entered.
    """
    reward, values = known_reward("reward", reward, gamma, r_min, r_max, ended is not None)
    require(reward.ndim == 2, "reward shape", reward.shape, "(S, A) with sparse counts")
    states, actions = reward.shape
    table, over = _coordinates("counts", counts, reward), None
    if ended is not None:
        ends = _coordinates("ended", ended, reward)
        over = np.asarray(ends.tocsr()[table.row, table.col], dtype=np.float64).reshape(-1)
        ok = bool((over <= table.data).all()) and over.sum() == ends.data.sum()
        require(ok, "ended", "more than counts", "at most the counts")
    pair, following = table.row.astype(np.int64), table.col.astype(np.int64)
    met = np.unique(np.concatenate([pair // actions, following]))
    closed = np.zeros(met.size, dtype=np.bool_)
    if over is not None:
        place = np.searchsorted(met, following)
        left = np.isin(met, pair // actions)
        entered = np.bincount(place, weights=table.data - over, minlength=met.size) > 0
        closed = (np.bincount(place, weights=over, minlength=met.size) > 0) & ~entered & ~left
    return Seen(states, actions, pair, following, table.data, over, met, closed, reward, None, values, kinds_of(reward))


def _coordinates(field: str, given: object, reward: Floats) -> sparse.coo_array:
    states, actions = reward.shape
    require(sparse.issparse(given), field, type(given).__name__, "a scipy matrix like counts")
    table = sparse.csr_array(given, dtype=np.float64, copy=True)
    require(table.shape == (states * actions, states), f"{field} shape", table.shape, f"{(states * actions, states)}")
    table.sum_duplicates()
    ok = bool(np.isfinite(table.data).all() and (table.data >= 0).all() and (table.data == np.rint(table.data)).all())
    if not ok:
        raise InputError(f"{field} has an entry that is no count, but must be whole numbers of at least 0.")
    table.eliminate_zeros()
    return table.tocoo()


def merged_sets(seen: Seen, delta: float, policy: Ints | None, watched: bool = False) -> tuple[Sets, Places]:
    """The sets of `hreach.guarantees.sets.confidence_sets`, of the states that were met and of one for each class of
    those that were not; `policy` (S,), where given, is the same within a class."""
    places, low, high, copies = _merged(seen, policy)
    rows, outcomes = _rows(seen, places, copies)
    everything = seen.states * seen.actions
    share = delta / (1 + watched + (seen.reward is None))
    if seen.reward is None:
        assert seen.paid is not None
        paid = np.zeros(rows.total.size)
        paid[: seen.paid.size] = seen.paid
        low, high = learnt_rewards(paid, rows.total, seen.values, share / everything)
    if watched:
        floor = per_sample(one_vector(rows.total, share / seen.states), rows.total)
        ceiling = per_sample(one_vector(rows.total, share / everything), rows.total)
    else:
        floor = ceiling = per_sample(radii_of(rows, outcomes, share / everything), rows.total)
    v_min, v_max = value_range(seen.values, seen.reward)
    return Sets(rows, low, high, floor, ceiling, outcomes, v_min, v_max, not watched), places


def _merged(seen: Seen, policy: Ints | None) -> tuple[Places, Floats, Floats, Floats]:
    """Places, what each pair of a row pays at least and at most, and the copies of each row."""
    kind, kinds = seen.kinds
    if policy is not None:
        _, kind = np.unique(kind * seen.actions + policy, return_inverse=True)
        kinds = int(kind.max()) + 1
    unmet = np.ones(seen.states, dtype=np.bool_)
    unmet[seen.met] = False
    others = np.flatnonzero(unmet)
    count = np.bincount(kind[others], minlength=kinds)
    present = np.flatnonzero(count)
    own, rest = present[:CLASSES], present[CLASSES:]
    row = np.full(kinds, seen.met.size + own.size)
    row[own] = seen.met.size + np.arange(own.size)
    place = np.empty(seen.states, dtype=np.int64)
    place[seen.met] = np.arange(seen.met.size)
    place[others] = row[kind[others]]
    first = np.empty(seen.met.size + own.size + (rest.size > 0), dtype=np.int64)
    first[place[::-1]] = np.arange(seen.states)[::-1]
    copies = np.concatenate([np.ones(seen.met.size), count[own], [count[rest].sum()] * (rest.size > 0)])
    reward = np.zeros((first.size, seen.actions)) if seen.reward is None else seen.reward[first]
    low, high = reward, reward.copy()
    if rest.size and seen.reward is not None:
        crowd = seen.reward[others[np.isin(kind[others], rest)]]
        low = reward.copy()
        low[-1], high[-1] = crowd.min(), crowd.max()
    return Places(place, first), np.ascontiguousarray(low.reshape(-1)), high.reshape(-1), copies


def kinds_of(reward: Floats) -> Kinds:
    """Which states pay alike, (S,), and how many kinds there are, of a reward (S, A)."""
    kind = np.full(len(reward), -1, dtype=np.int64)
    for k in range(FEW):  # mostly there are few: comparing is faster than sorting
        left = np.flatnonzero(kind < 0) if k else np.arange(len(reward))
        if not left.size:
            return kind, k
        kind[left[(reward[left] == reward[left[0]]).all(axis=1)]] = k
    kind = np.zeros(len(reward), dtype=np.int64)
    for column in reward.T:
        value = np.unique(column, return_inverse=True)[1]
        kind = np.unique(kind * (int(value.max()) + 1) + value, return_inverse=True)[1]
    return kind.astype(np.int64), int(kind.max()) + 1


class _Last:
    """The last reward that an agent knew, and its kinds: it stays the same from certificate to certificate."""

    reward: Callable[[], Floats | None] = staticmethod(lambda: None)
    kinds: Kinds


def _kinds_known(reward: Floats | None, states: int) -> Kinds:
    """`kinds_of` (S, A, 1), kept for the next time."""
    if reward is None:
        return np.zeros(states, dtype=np.int64), 1
    if _Last.reward() is not reward:
        _Last.kinds, _Last.reward = kinds_of(reward[:, :, 0]), weakref.ref(reward)
    return _Last.kinds


def _rows(seen: Seen, places: Places, copies: Floats) -> tuple[Rows, int]:
    """The rows of counts, entries in the order of the next states, the end last; how many outcomes there may be."""
    size = places.first.size
    pair = places.place[seen.pair // seen.actions] * seen.actions + seen.pair % seen.actions
    following, times = places.place[seen.following], seen.times
    if seen.ended is not None:
        over = np.bincount(pair, weights=seen.ended, minlength=size * seen.actions)
        which = np.flatnonzero(over)
        pair, following = np.append(pair, which), np.append(following, np.full(which.size, size))
        times = np.append(times - seen.ended, over[which])
    order = np.lexsort((following, pair))
    order = order[times[order] > 0]
    pair, following, times = pair[order], following[order], times[order]
    first = np.zeros(size * seen.actions + 1, dtype=np.int64)
    np.cumsum(np.bincount(pair, minlength=size * seen.actions), out=first[1:])
    closed = np.zeros(size, dtype=np.bool_)
    closed[: seen.met.size] = seen.closed
    rows = Rows(
        first=first,
        following=following,
        seen=times,
        pays=np.zeros(times.size),
        total=np.bincount(pair, weights=times, minlength=size * seen.actions).astype(np.float64),
        rewards=np.zeros((0, 0, 0)),
        closed=closed,
        gamma=seen.values.gamma,
        open=True,
        ends=seen.ended is not None,
        copies=copies,
    )
    return rows, seen.states + (seen.ended is not None)
