"""Values over confidence sets: the worst and the best that a policy, or any policy, can be worth in them.

    lower(pi)    L^pi(s) = min over the sets of r(s, pi(s)) + gamma p.L^pi                    <= V^pi
    safest()     L(s) = max_a min over the sets of r(s, a) + gamma p.L, and its policy       <= V* and the policy's own
    upper()      U(s) = max_a max over the sets of r(s, a) + gamma p.U                        >= V*
    gap(pi)      D(s) >= V* - V^pi, at most U - L^pi (`hreach.kernels.robust_gap`)
    reachable(h) U^d_h(s) >= V^{d*}_h(s), at most V~_h (Paper: Lemma 1)

wherever every row of the truth is in its set. Sets are independent from pair to pair (rectangular), so these are
contractions (Iyengar 2005; Nilim & El Ghaoui 2005). Each returned value is a bound whatever rounding of the search led
to it: what the last backup still moves is taken off, or added, times gamma/(1 - gamma).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hreach.compiling import resolved
from hreach.kernels import radius, robust_box, robust_gap, robust_nearest, robust_rooms, robust_solve
from hreach.kernels.robust import Extreme, Rows
from hreach.kernels.robust_solve import ALLIES, DENSE, FIXED, SAFEST
from hreach.protocols import Floats, Ints

FINE = 1e-9  # residual of a fixed point, in units of the range of values
TURNS = 60  # of U^d, which nears its limit slowly; every one of them is a bound


class Sets(NamedTuple):
    """The sets of all N = S A pairs, and what is paid.

    low, high   (N,) at least and at most this is paid on average, besides `rows.pays`
    floor       (N,) radii in KL for lower values, ceiling: for upper ones; infinite: any row
    outcomes    how many may follow a pair
    v_min, v_max  the range of values
    any_vector  whether the radii hold for every vector; False: for V* and the value of one policy alone, so that
                nothing is said of others
    """

    rows: Rows
    low: Floats
    high: Floats
    floor: Floats
    ceiling: Floats
    outcomes: int
    v_min: float
    v_max: float
    any_vector: bool = True


class Robust:
    """Values over these sets; what was found is where the next search begins."""

    def __init__(self, sets: Sets) -> None:
        self.sets, rows = sets, sets.rows
        self._states, pairs = rows.closed.size, rows.total.size
        self._tolerance = FINE * (sets.v_max - sets.v_min)
        self._gap = np.empty(rows.seen.size)
        self._matrix = np.empty((self._states, self._states + 1) if self._states <= DENSE else (0, 0))
        self._all = np.full(self._states, -1, dtype=np.int64)
        self._found = {name: extreme(pairs, rows.seen.size) for name in ("lower", "upper", "gap", "reach")}

    def plain(self, policy: Ints) -> Floats:
        """V^^pi of the frequencies as they are, (S + 1,), the end's 0 last; a pair that was not tried goes anywhere."""
        value = self._begin((self.sets.v_min + self.sets.v_max) / 2)
        middle = (self.sets.low + self.sets.high) / 2
        self._solve(middle, self.sets.floor, 1.0, 0.0, 0.0, FIXED, policy, value, "reach")
        return value

    def lower(self, policy: Ints, start: Floats | None = None) -> Floats:
        """L^pi, (S + 1,)."""
        value = self.plain(policy) if start is None else start.copy()
        self._solve(self.sets.low, self.sets.floor, -1.0, -1.0, 0.0, FIXED, policy, value, "lower")
        return self._in_range(value)

    def safest(self, policy: Ints, start: Floats) -> tuple[Floats, Ints]:
        """The policy of the largest lower value, from this one and its L on; L of it, (S + 1,)."""
        value, chosen = start.copy(), policy.copy()
        if not self.sets.any_vector:
            return value, chosen
        self._solve(self.sets.low, self.sets.floor, -1.0, -1.0, 0.0, SAFEST, chosen, value, "lower")
        return self._in_range(value), chosen

    def upper(self, policy: Ints, start: Floats | None = None) -> tuple[Floats, Floats]:
        """U, (S + 1,), and its backup UQ, (N,); `policy` is where to begin."""
        value = self.plain(policy) if start is None else start.copy()
        chosen = policy.copy()
        self._solve(self.sets.high, self.sets.ceiling, 1.0, -1.0, 0.0, ALLIES, chosen, value, "upper")
        found = self._found["upper"]
        self._backup(self.sets.high, self.sets.ceiling, 1.0, -1.0, 0.0, value, "upper")
        return value, found.q

    def _in_range(self, value: Floats) -> Floats:
        """A lower bound that what the residual takes off has not made less than the least there is."""
        np.maximum(value[:-1], self.sets.v_min, out=value[:-1], where=~self.sets.rows.closed)
        return value

    def gap(self, policy: Ints, lower: Floats, floor: Floats, upper: Floats, upper_q: Floats) -> Floats:
        """D, (S + 1,), of L^pi, a lower bound of V* and U, all (S + 1,), and UQ, (N,)."""
        sets, value = self.sets, upper - lower
        if not sets.any_vector:
            return value
        arguments = (
            sets.rows, sets.low, sets.floor, policy, upper_q, lower, floor, np.empty(self._states), value,
            self._found["gap"], self._gap, 1e3 * self._tolerance,
        )  # fmt: skip
        machine("coupled_gap", robust_gap.coupled_gap, arguments)(*arguments)
        return np.minimum(value, upper - lower)

    def reach(self, h: float, prior: float, policy: Ints, start: Floats | None = None) -> Floats:
        """V~_h, (S + 1,), from above; `prior` samples are spread over all states. Paper: Eq. (1)."""
        value = self.plain(policy) if start is None else start.copy()
        chosen = policy.copy()
        self._solve(self.sets.high, self.sets.ceiling, 1.0, h, prior, ALLIES, chosen, value, "reach")
        return value

    def reachable(self, h: float, prior: float, optimistic: Floats) -> Floats:
        """U^d_h, (S + 1,), from V~_h: the smaller of two bounds on P^{d*}.u in every pair.

        The box (`hreach.kernels.robust_box`), and, with w = n/(n + prior + h) and rho the share of P^{d*} that may
        lie above P,

            P^{d*}.u <= P.u + rho (max u - min u),
            rho = sum_i (w p^_i - P_i)^+ + [prior + min(h, K/4)]/(n + prior + h).

        The sum is at most that over the least P_i in the set, and at most w times the largest
        distance in the set, which is at most sqrt(b/2) (Pinsker). Where episodes can end, V~_h is the answer.
        """
        sets, rows = self.sets, self.sets.rows
        if rows.ends or not sets.any_vector:
            return optimistic
        least = rows.gamma * sets.v_min + min(0.0, float(rows.rewards.min(initial=0.0)))
        room, spare = _rooms(sets, h, prior)
        value = np.minimum(self.box(h, prior, optimistic), optimistic)
        order, mark = np.argsort(-value[:-1], kind="stable"), np.empty(self._states, dtype=np.int64)
        arguments = (
            rows, sets.high, sets.ceiling, float(h), float(prior), room, spare, _spread(sets, h, prior), least,
            self._all, order, mark, value, self._found["reach"], self._found["upper"], self._gap, TURNS,
            1e-4 * (sets.v_max - sets.v_min),
        )  # fmt: skip
        machine("nearest_bound", robust_nearest.nearest_bound, arguments)(*arguments)
        return value

    def box(self, h: float, prior: float, start: Floats) -> Floats:
        """The fixed point of the box alone, (S + 1,), from `start` on; h finite, episodes that do not end."""
        room, spare = _rooms(self.sets, h, prior)
        value, order = start.copy(), np.argsort(-start[:-1], kind="stable")
        policy, mark = np.zeros(self._states, dtype=np.int64), np.empty(self._states, dtype=np.int64)
        arguments = (
            self.sets.rows, self.sets.high, float(h), float(prior), room, spare, policy, order, mark, value,
            self._found["reach"], self._gap, self._matrix, self._tolerance,
        )  # fmt: skip
        machine("box_fixed_point", robust_box.box_fixed_point, arguments)(*arguments)
        return value

    def last_reach(self) -> Floats:
        """Q~ of the last `reach`, (N,)."""
        return self._found["reach"].q

    def worst_rows(self) -> Extreme:
        """The rows that the last `lower` was found at; they belong to the next search."""
        return self._found["lower"]

    def best_rows(self) -> Extreme:
        """The rows that the last `upper` was found at; they belong to the next search."""
        return self._found["upper"]

    def _begin(self, level: float) -> Floats:
        value = np.where(np.append(self.sets.rows.closed, True), 0.0, level)
        return np.ascontiguousarray(value)

    def _solve(
        self, base: Floats, budget: Floats, sign: float, h: float, prior: float, chooser: int, policy: Ints,
        value: Floats, name: str,
    ) -> None:  # fmt: skip
        arguments = (
            self.sets.rows, base, budget, sign, float(h), float(prior), chooser, policy, self._all, value,
            self._found[name], self._gap, self._matrix, self._tolerance,
        )  # fmt: skip
        machine("fixed_point", robust_solve.fixed_point, arguments)(*arguments)

    def _backup(
        self, base: Floats, budget: Floats, sign: float, h: float, prior: float, value: Floats, name: str
    ) -> None:
        arguments = (self.sets.rows, base, budget, sign, h, prior, self._all, value, self._found[name], self._gap)
        machine("backup", robust_solve.backup, arguments)(*arguments)


_code: dict[str, Callable[..., object]] = {}


def machine(name: str, function: Callable[..., object], arguments: tuple[object, ...]) -> Callable[..., object]:
    """The machine code of a kernel; all that is given here is of the same types every time."""
    if name not in _code:
        _code[name] = resolved(function, *arguments)
    return _code[name]


def extreme(pairs: int, entries: int) -> Extreme:
    """Room for what a backup finds."""
    return Extreme(
        q=np.zeros(pairs),
        paid=np.zeros(pairs),
        model=np.zeros(entries),
        rest=np.zeros(pairs),
        aim=np.zeros(pairs, dtype=np.int64),
        flat=np.zeros(pairs),
        hint=np.zeros(pairs),
    )


def _spread(sets: Sets, h: float, prior: float) -> Floats:
    """rho of `Robust.reachable`, (N,), of a finite h."""
    rows, rho = sets.rows, np.empty(sets.rows.total.size)
    units = float(min(h, sets.outcomes / 4))
    arguments = (rows.first, rows.seen, rows.total, sets.ceiling, float(h), float(prior), units, rho)
    machine("spreads", radius.spreads, arguments)(*arguments)
    return rho


def _rooms(sets: Sets, h: float, prior: float) -> tuple[Floats, Floats]:
    """What h more samples can add to each entry, (M,), and to all that have none, (N,), at most."""
    rows, room, spare = sets.rows, np.empty(sets.rows.seen.size), np.empty(sets.rows.total.size)
    arguments = (
        rows.first, rows.seen, rows.total, sets.ceiling, float(h), float(prior), 1.0 / float(rows.copies.sum()),
        float(min(h, sets.outcomes / 4)), rows.open, room, spare,
    )  # fmt: skip
    machine("rooms", robust_rooms.rooms, arguments)(*arguments)
    return room, spare
