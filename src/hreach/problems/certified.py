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
Sweeps are those of Jacobi: the result does not depend on the number of threads.

>>> from hreach import TabularMDP
>>> found = solve(TabularMDP([[[1.0], [1.0]]], [[1.0, 0.25]], gamma=0.5), tolerance=1e-6)
>>> found.value, found.policy, found.error <= 1e-6
(array([2.]), array([0]), True)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hreach.errors import InputError, positive, require, whole
from hreach.problems.arrays import Array, Ints, Sparse
from hreach.problems.mdp import TabularMDP
from hreach.problems.memory import require_memory

U64, U32 = 2.0**-53, 2.0**-24
ENTRIES = 100_000  # of a thread, at least: below that, handing over costs more than it saves
ENOUGH, MOST = 0.1, 20  # evaluation sweeps end when their change has fallen so far, or after so many
SLACK = 1.001  # for the rounding of the bounds themselves
Sweep = Callable[..., None]


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
    count = os.cpu_count() or 1 if threads is None else whole("threads", threads, 1)
    model = _Model.of(mdp, storage)
    require_memory(f"solving an MDP of {mdp.states} states", 32.0 * mdp.states + model.weight.nbytes)
    with ThreadPoolExecutor(count) as pool:
        return _Sweeps(model, pool, min(count, 1 + model.weight.size // ENTRIES)).until(tolerance)


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
        sums = np.asarray(rows @ np.ones(mdp.states))
        low, high = float(sums.min()) * (1 - 1e-15), float(sums.max()) * (1 + 1e-15)
        longest = int(np.diff(rows.indptr).max())
        slack = longest * U64
        weight = rows.data.astype(np.float32) if storage == "float32" else rows.data
        reward = mdp.expected_reward if table is None else table
        paid = max(float(reward.max()), -float(reward.min()))
        off = 0.0 if table is None else mdp.row_error
        unit = U32 if storage == "float32" else 0.0
        return cls(rows, weight, reward, mdp.gamma, (low * (1 - slack), high * (1 + slack)), longest, paid, unit, off)

    def bounds(self, change: Array) -> tuple[float, float]:
        """(c, C) with TV + c <= V* <= TV + C for the computed TV; change: least and largest TV - V, largest |V|."""
        low, high = (self.gamma * w for w in self.weights)
        if high >= 1:
            raise InputError(f"gamma is {self.gamma!r}, but must be further below 1: rounding leaves no certificate.")
        paid, size = self.paid, float(change[2])
        d = SLACK * ((self.longest + 8) * U64 * (paid + high * size) + self.unit * high * size + self.off * paid)
        m, M = float(change[0]) - d, float(change[1]) + d
        share = low / (1 - low), high / (1 - high)
        return share[m < 0] * m - 2 * d, share[M >= 0] * M + 2 * d


class _Sweeps:
    """The values, and threads that sweep over a part of the states each."""

    def __init__(self, model: _Model, pool: ThreadPoolExecutor, parts: int) -> None:
        states = model.reward.shape[0]
        self._model, self._pool = model, pool
        self._value, self._next = model.reward.max(axis=1), np.empty(states)
        self._policy = np.zeros(states, dtype=np.int64)
        self._cuts = [states * i // parts for i in range(parts + 1)]
        self.sweeps = 0

    def until(self, tolerance: float) -> Solution:
        """Sweep until the error is certified to be within the tolerance; refuse what rounding cannot reach."""
        from hreach.kernels.large import evaluate, improve

        least, since = np.inf, 0
        while True:
            change = self._sweep(improve)
            low, high = self._model.bounds(change)
            error = SLACK * (high - low) / 2
            if error <= tolerance:
                return Solution(self._value + (low + high) / 2, self._policy, error, SLACK * (high - low), self.sweeps)
            since = 0 if error < (1 - 1e-6) * least else since + 1
            least = min(least, error)
            if since > 200:
                raise InputError(
                    f"tolerance is {tolerance:g}, but must be at least {least:.2g}: rounding allows no smaller error."
                )
            aim = max(ENOUGH * error, tolerance / 4)
            for _ in range(MOST):
                low, high = self._model.bounds(self._sweep(evaluate))
                if (high - low) / 2 <= aim:
                    break

    def _sweep(self, kernel: Sweep) -> Array:
        """One sweep of all parts; the value becomes what it gave. Returns least and largest change, largest |V|."""
        m, parts = self._model, range(len(self._cuts) - 1)
        change = np.empty((len(parts), 8))  # 64 bytes: a line of the cache for each thread
        arguments = (m.rows.indptr, m.rows.indices, m.weight, m.reward, m.gamma, self._value, self._next, self._policy)

        def part(i: int) -> None:
            kernel(*arguments, change[i], self._cuts[i], self._cuts[i + 1])

        if len(parts) == 1:
            part(0)
        else:
            list(self._pool.map(part, parts))
        self._value, self._next = self._next, self._value
        self.sweeps += 1
        return np.array([change[:, 0].min(), change[:, 1].max(), change[:, 2].max()])
