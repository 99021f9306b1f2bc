"""Certified values kept up to date sample by sample, for large tables: a small part of the cost of a certificate."""

from __future__ import annotations

import numpy as np

from hreach.errors import require
from hreach.guarantees.sets import per_sample, radii_of
from hreach.kernels import robust_warm
from hreach.kernels.robust import Rows
from hreach.kernels.robust_solve import DENSE
from hreach.planners.robust import Robust, Sets, extreme, machine
from hreach.protocols import Floats, Ints

COARSE = 1e-5  # residual, in units of the range of values; what it leaves is taken off, or added


class Following:
    """L^pi of a policy and U, (S,) each, of the sets of known rewards that hold any vector, at this delta.

    Each is within COARSE gamma/(1-gamma) ranges of values of what a certificate would say, and on its safe side.
    """

    def __init__(self, sets: Sets, policy: Ints, delta: float) -> None:
        require(sets.any_vector, "sets", "those of one vector", "those of any vector")
        own = sets.rows
        rows = own._replace(first=own.first.copy(), seen=own.seen.copy(), total=own.total.copy())
        radii = sets.floor.copy()
        self.sets = sets._replace(rows=rows, floor=radii, ceiling=radii)
        self._d = delta / rows.total.size
        self._policy, self._best = policy.copy(), policy.copy()
        robust = Robust(self.sets)
        self._low, self._high = robust.lower(policy), robust.upper(policy)[0]
        pairs, states = rows.total.size, rows.closed.size
        self._found = [extreme(pairs, rows.seen.size) for _ in range(2)]
        self._stamp, self._drift = np.full((2, pairs), -np.inf), np.zeros((2, 1))
        self._before, self._gap = np.zeros(states + 1), np.empty(rows.seen.size)
        self._matrix = np.empty((states, states + 1) if states <= DENSE else (0, 0))
        self._off = [0.0, 0.0]
        self._catch_up()

    @property
    def lower(self) -> Floats:
        """L^pi, (S,)."""
        return self._bound(0, self._policy, self._low, -1.0)

    @property
    def upper(self) -> Floats:
        """U, (S,)."""
        return self._bound(1, self._best, self._high, 1.0)

    def learn(self, state: int, action: int, following: int) -> None:
        """One more sample of a pair; `following` is the next state, or S: the episode ended."""
        rows = self.sets.rows
        pair = state * (rows.total.size // rows.closed.size) + action
        entry = self._entry(pair, following)
        rows = self.sets.rows
        rows.seen[entry] += 1
        rows.total[pair] += 1
        self.sets.floor[pair] = self._radius(rows, pair)
        self._stamp[:, pair] = -np.inf
        self._catch_up()

    def _bound(self, which: int, policy: Ints, value: Floats, sign: float) -> Floats:
        closed = self.sets.rows.closed
        q = self._found[which].q.reshape(closed.size, -1)[np.arange(closed.size), policy]
        return np.asarray(np.where(closed, value[:-1], q + sign * self._off[which]))

    def _catch_up(self) -> None:
        sets, tolerance = self.sets, COARSE * (self.sets.v_max - self.sets.v_min)
        for which, (sign, base, policy, value) in enumerate(
            ((-1.0, sets.low, self._policy, self._low), (1.0, sets.high, self._best, self._high))
        ):
            arguments = (
                sets.rows, base, sets.floor, sign, which == 1, policy, value, self._found[which], self._stamp[which],
                self._drift[which], self._before, self._gap, self._matrix, tolerance,
            )  # fmt: skip
            self._off[which] = float(machine("follow", robust_warm.follow, arguments)(*arguments))  # type: ignore[arg-type]

    def _entry(self, pair: int, following: int) -> int:
        """The entry of an outcome; one that was never seen gets a new one."""
        rows = self.sets.rows
        first, end = rows.first[pair], rows.first[pair + 1]
        there = np.flatnonzero(rows.following[first:end] == following)
        if there.size:
            return int(first + there[0])
        require(rows.rewards.size == 0, "reward", "R(s, a, s')", "R(s, a) where new outcomes are followed")
        rows.first[pair + 1 :] += 1
        after, seen = np.insert(rows.following, end, following), np.insert(rows.seen, end, 0.0)
        self.sets = self.sets._replace(
            rows=rows._replace(following=after, seen=seen, pays=np.insert(rows.pays, end, 0.0))
        )
        self._found = [found._replace(model=np.insert(found.model, end, 0.0)) for found in self._found]
        self._gap = np.empty(self._gap.size + 1)
        return int(end)

    def _radius(self, rows: Rows, pair: int) -> float:
        """beta/n of one pair."""
        entries = slice(rows.first[pair], rows.first[pair + 1])
        n, seen = rows.total[pair : pair + 1], rows.seen[entries]
        alone = rows._replace(first=np.array([0, seen.size]), seen=np.ascontiguousarray(seen), total=n)
        return float(per_sample(radii_of(alone, self.sets.outcomes, self._d), n)[0])
