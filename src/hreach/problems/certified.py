"""V* of a fixed, large MDP with a certified error: improvements with some evaluation sweeps between them.

With T the Bellman operator, rho_min <= sum_s' P(s'|s, a)(1 - e) <= rho_max the weights of all rows, and
m <= TV - V <= M in every state (Puterman 2005, section 6.6, with rows that need not sum to 1):

    TV + c(m) <= V^pi <= V* <= TV + C(M),      pi greedy for V,
    c(m) = f(rho_min) m if m >= 0 else f(rho_max) m,      C(M) = f(rho_max) M if M >= 0 else f(rho_min) M,

f(rho) = gamma rho/(1 - gamma rho). The value is TV + (c + C)/2, its error at most (C - c)/2, and the policy loses at
most C - c. Where all rows sum to 1 this is the span of TV - V, whose constant part costs no sweeps; where episodes end
it is the larger of the two sides. Rounding moves a computed TV by at most

    d = (n + 8) u (r + gamma rho_max |V|) + u' gamma rho_max |V| + |rho - 1| r,

n the longest row, u = 2^-53, u' = 2^-24 if probabilities are stored in float32, r and |V| the largest sizes; the last
term only where a reward R(s, a) is used as it is. So m - d and M + d stand in the bounds, and d is added to the error.
Sweeps are those of Jacobi: the result does not depend on the number of threads. V is stored in 4 bytes where rounding
it to these hardly counts: any V will do, TV - V is computed in 8, and what is lost of TV is added to the error.

>>> from hreach import TabularMDP
>>> found = solve(TabularMDP([[[1.0], [1.0]]], [[1.0, 0.25]], gamma=0.5), tolerance=1e-6)
>>> found.value, found.policy, found.error <= 1e-6
(array([2.]), array([0]), True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hreach.errors import InputError, positive, require, whole
from hreach.problems.arrays import Array, Ints, Sparse
from hreach.problems.mdp import TabularMDP
from hreach.problems.memory import require_memory
from hreach.problems.parts import Parts

U64, U32 = 2.0**-53, 2.0**-24
CLOSE = 1e-10  # of the range of values: the error of `closely`
ENOUGH, MOST = 0.3, 20  # evaluation sweeps end when their change has fallen so far, or after so many
WORTH = 0.4  # share of states in which the policy's action was enough, from which on it is tried first
SLACK = 1.001  # for the rounding of the bounds themselves


@dataclass(frozen=True)
class Solution:
    """value (S,) with |value - V*| <= error; policy (S,) with V* - V^policy <= loss; sweeps: of all states."""

    value: Array
    policy: Ints
    error: float
    loss: float
    sweeps: int


def solve(
    mdp: TabularMDP, tolerance: float = 0.01, *, storage: Literal["float64", "float32"] = "float64",
    threads: int | None = None,
) -> Solution:  # fmt: skip
    """V* within `tolerance`, certified, rounding included; probabilities stored in 8 bytes or, copied, in 4."""
    positive("tolerance", tolerance)
    require(storage in ("float64", "float32"), "storage", storage, "'float64' or 'float32'")
    if threads is not None:
        whole("threads", threads, 1)
    model = _Model.of(mdp, storage)
    size = model.weight.nbytes / mdp.actions
    require_memory(f"solving an MDP of {mdp.states} states", 64.0 * mdp.states + model.weight.nbytes + 2 * size)
    with Parts(mdp.states, model.weight.size, threads) as parts:
        return _Sweeps(model, parts, model.stored(tolerance)).until(tolerance)


def closely(rows: Sparse, reward: Array, gamma: float) -> Solution:
    """V(s) = max_a reward(s, a) + gamma sum_s' rows(s'|s, a) V(s'), nearly as exact as rounding allows.

    rows: (S A, S), what is missing of a row ends the episode; reward: (S, A)."""
    model = _Model.of_rows(rows, reward, gamma)
    tolerance = max(CLOSE * max(1.0, model.paid / (1 - gamma)), model.finest())
    with Parts(len(reward), rows.nnz) as parts:
        return _Sweeps(model, parts, np.float64).until(tolerance)


@dataclass(frozen=True)
class _Model:
    """Rows, reward (S, A), and what the bounds know: row weights, longest row, largest |reward|, units of rounding."""

    rows: Sparse
    weight: NDArray[np.float64] | NDArray[np.float32]
    reward: Array
    gamma: float
    weights: tuple[float, float]
    longest: int
    paid: float
    unit: float
    off: float

    @classmethod
    def of(cls, mdp: TabularMDP, storage: str) -> _Model:
        rows, table = mdp.going_on, mdp.paid_per_pair
        low, high = 1 - mdp.row_error, 1 + mdp.row_error
        if mdp.ends:
            sums = np.asarray(rows @ np.ones(mdp.states))
            low, high = float(sums.min()) * (1 - 1e-15), float(sums.max()) * (1 + 1e-15)
        longest = mdp.longest_row
        slack = longest * U64
        weight = rows.data.astype(np.float32) if storage == "float32" else rows.data
        reward = mdp.expected_reward if table is None else table
        paid = max(float(reward.max()), -float(reward.min()))
        off = 0.0 if table is None else mdp.row_error
        unit = U32 if storage == "float32" else 0.0
        return cls(rows, weight, reward, mdp.gamma, (low * (1 - slack), high * (1 + slack)), longest, paid, unit, off)

    @classmethod
    def of_rows(cls, rows: Sparse, reward: Array, gamma: float) -> _Model:
        """Of expected rewards (S, A) and rows (S A, S) that sum to 1 or less."""
        sums = np.asarray(rows @ np.ones(rows.shape[1]))
        low, high, longest = float(sums.min()), float(sums.max()), int(np.diff(rows.indptr).max())
        slack = (longest + 2) * U64
        paid = max(float(reward.max()), -float(reward.min()))
        return cls(rows, rows.data, reward, gamma, (low * (1 - slack), high * (1 + slack)), longest, paid, 0.0, 0.0)

    def finest(self) -> float:
        """An error that sweeps reach in spite of rounding."""
        low, high = self.bounds([0.0, 0.0, self.paid / (1 - self.gamma), 0.0])
        return 8 * (high - low)

    def bounds(self, change: list[float]) -> tuple[float, float]:
        """(c, C) with TV + c <= V* <= TV + C for the computed TV; change: least and largest TV - V, largest |V|."""
        low, high = (self.gamma * w for w in self.weights)
        if high >= 1:
            raise InputError(f"gamma is {self.gamma!r}, but must be further below 1: rounding leaves no certificate.")
        d = self.rounding(change[2])
        m, M = change[0] - d, change[1] + d
        share = low / (1 - low), high / (1 - high)
        return share[m < 0] * m - 2 * d, share[M >= 0] * M + 2 * d

    def stored(self, tolerance: float) -> type[np.floating]:
        """The type of values: 4 bytes are enough where their rounding, of a TV and of its change, hardly counts."""
        high = self.gamma * self.weights[1]
        fine = high < 1 and 4 * U32 * self.paid / (1 - high) ** 2 <= tolerance
        return np.float32 if fine else np.float64

    def rise(self, most: float, size: float) -> float:
        """By how much a backup can have risen where no value, none larger than `size`, rose by more than `most`."""
        return self.gamma * self.weights[most >= 0] * most + 4 * self.rounding(size)

    def rounding(self, size: float) -> float:
        """d, of values of this size at most."""
        high = self.gamma * self.weights[1]
        d = (self.longest + 8) * U64 * (self.paid + high * size) + self.unit * high * size + self.off * self.paid
        return SLACK * d


class _Sweeps:
    """The values, and the threads that sweep over a part of the states each."""

    def __init__(self, model: _Model, parts: Parts, stored: type[np.floating]) -> None:
        from hreach.kernels.large import Large, Packed, begin_with, room

        states, actions = model.reward.shape
        rows = model.rows
        self._model, self._parts, self.sweeps = model, parts, 0
        self._value, self._next = np.empty(states, dtype=stored), np.empty(states, dtype=stored)
        self._before = np.zeros(states, dtype=stored)
        self._rows = Large(rows.indptr, rows.indices, model.weight, model.reward, model.gamma)
        begin = np.empty(states + 1, dtype=np.int64)
        room(rows.indptr, actions, begin)
        self._own = Packed(
            policy=np.empty(states, dtype=np.int64),
            begin=begin,
            following=np.empty(begin[-1], dtype=rows.indices.dtype),
            weight=np.empty(begin[-1], dtype=model.weight.dtype),
            paid=np.empty(states),
            most=np.empty(states),
        )
        self._risen, self._lazy = 0.0, False
        parts.each(lambda _, begin, end: begin_with(self._rows, self._own, self._value, begin, end))

    def until(self, tolerance: float) -> Solution:
        """Sweep until the error is certified to be within the tolerance; refuse what rounding cannot reach."""
        least, since = np.inf, 0
        while True:
            change = self._improve()
            low, high = self._model.bounds(change)
            rounded = U32 * (change[2] + max(map(abs, change[:2]))) if self._small else 0.0
            error = SLACK * ((high - low) / 2 + rounded)
            if error <= tolerance:
                value = self._value.astype(np.float64) + (low + high) / 2
                return Solution(value, self._own.policy, error, SLACK * (high - low), self.sweeps)
            since = 0 if error < (1 - 1e-6) * least else since + 1
            least = min(least, error)
            if since > 200:
                raise InputError(
                    f"tolerance is {tolerance:g}, but must be at least {least:.2g}: rounding allows no smaller error."
                )
            aim = max(ENOUGH * error, tolerance / 4)
            for _ in range(MOST):
                low, high = self._model.bounds(self._evaluate())
                if (high - low) / 2 <= aim:
                    break

    @property
    def _small(self) -> bool:
        return bool(self._value.dtype == np.float32)

    def _improve(self) -> list[float]:
        """One sweep with the best actions; the value becomes what it gave."""
        from hreach.kernels.large import improve, moved

        now, other = self._value, self._before
        change = _all(self._parts.each(lambda found, begin, end: moved(now, other, found, begin, end)))
        self._risen += self._model.rise(change[1], change[2])
        rows, own, risen, lazy, new = self._rows, self._own, self._risen, self._lazy, self._next
        change = _all(
            self._parts.each(lambda found, begin, end: improve(rows, own, risen, lazy, now, new, found, begin, end))
        )
        self._lazy = change[3] > WORTH * now.size
        self._before, self._value, self._next = now, new, other
        self.sweeps += 1
        return change

    def _evaluate(self) -> list[float]:
        """One sweep with the actions of the policy."""
        from hreach.kernels.large import evaluate

        gamma, own, now, new = self._model.gamma, self._own, self._value, self._next
        change = _all(self._parts.each(lambda found, begin, end: evaluate(gamma, own, now, new, found, begin, end)))
        self._value, self._next = new, now
        self.sweeps += 1
        return change


def _all(found: Array) -> list[float]:
    """Of all parts: least and largest change, largest |V|, in how many states the policy's action was enough."""
    low, high, size, enough, *_ = zip(*found.tolist(), strict=True)
    return [min(low), max(high), max(size), sum(enough)]
