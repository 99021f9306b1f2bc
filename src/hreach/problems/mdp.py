"""A finite MDP (S, A, P, R, gamma) that is known, and its exact values: the oracle for everything else.

    V*(s)   = max_a sum_s' P(s'|s, a) [R(s, a, s') + gamma V*(s')]                        (Paper: Preliminaries)
    V^pi(s) = sum_a pi(a|s) sum_s' P(s'|s, a) [R(s, a, s') + gamma V^pi(s')]

A transition may end the episode, with the probability e(s, a, s'): then it pays R(s, a, s') and nothing follows, so
gamma (1 - e(s, a, s')) stands in the place of gamma.

V^pi is one sparse linear solve, V* is policy iteration with that solve, which ends with the exact optimum after
finitely many improvements. Transitions are held as a sparse matrix with one row for each pair, row s |A| + a.

>>> import numpy as np
>>> mdp = TabularMDP(P=np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]),
...                  R=np.array([[0.0, 0.0], [1.0, 0.0]]), gamma=0.5)
>>> mdp.optimal_value()
array([1., 2.])
>>> mdp.optimal_policy()
array([1, 0])

Stop or wait: stopping pays 1 and ends the episode, waiting pays .1.

>>> TabularMDP(P=[[[1.0], [1.0]]], R=[[1.0, 0.1]], gamma=0.5, end=[[1.0, 0.0]]).optimal_value()
array([1.])
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from hreach.errors import InputError, array, discount, require
from hreach.problems.long_run import long_run
from hreach.problems.ranges import ValueRange

Array = NDArray[np.float64]
_ROW_TOLERANCE = 1e-9


class TabularMDP:
    """P: (S, A, S) dense, or a scipy sparse matrix (S A, S); R: (S, A), (S, A, S) or sparse like P.

    `start` is a state or a distribution over states (default: state 0): where an episode begins. `end` is the
    probability that a transition, once it happens, ends the episode: (S, A), (S, A, S) or sparse like P; None: never.
    A state in which episodes always end is one that is only entered by transitions that end. Everything is checked
    here, once.
    """

    def __init__(self, P: Any, R: Any, gamma: float, start: int | ArrayLike = 0, end: Any = None) -> None:
        self.gamma = discount(gamma)
        self._P, self.actions = _transitions(P)
        self.states = self._P.shape[1]
        self._table = _reward_table(R, self._P.shape)
        self._reward = _of_entries(self._table, self._P)
        self._end = _ends(end, self._P)
        self.start = _start(start, self.states)

    @classmethod
    def load(cls, path: str | Path) -> TabularMDP:
        """An MDP from a NumPy archive: `np.savez(path, P=..., R=..., gamma=..., start=..., end=...)`.

        `start` and `end` may be left out.
        """
        try:
            with np.load(path, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
        except (OSError, ValueError, EOFError, BadZipFile) as error:
            raise InputError(f"model is {str(path)!r}, but must be a NumPy archive (.npz) of plain arrays.") from error
        missing = {"P", "R", "gamma"} - set(arrays)
        require(not missing, "model", sorted(arrays), "an archive of P, R, gamma and, where needed, start and end")
        start = arrays.get("start", np.array(0))
        begin = int(start) if start.ndim == 0 else start
        return cls(arrays["P"], arrays["R"], float(arrays["gamma"]), begin, arrays.get("end"))

    def with_(self, *, R: Any = None, gamma: float | None = None) -> TabularMDP:
        """The same transitions with another reward or another discount."""
        table = self._table if R is None else R
        end = self._sparse(self._end) if self.ends else None
        return TabularMDP(self._P, table, self.gamma if gamma is None else gamma, self.start, end)

    @property
    def ends(self) -> bool:
        """Whether an episode can end."""
        return bool(self._end.any())

    @property
    def values(self) -> ValueRange:
        """The range of values, from the rewards that can be paid; 0 counts as one of them."""
        return ValueRange(min(0.0, float(self._reward.min())), float(self._reward.max()), self.gamma, self.ends)

    @cached_property
    def indptr(self) -> NDArray[np.int64]:
        """Pair (s, a) owns the entries indptr[s A + a] .. indptr[s A + a + 1] - 1 of the arrays below."""
        return np.asarray(self._P.indptr, dtype=np.int64)

    @cached_property
    def next_state(self) -> NDArray[np.int64]:
        """(nonzeros,) the next state of each possible transition."""
        return np.asarray(self._P.indices, dtype=np.int64)

    @property
    def probability(self) -> Array:
        """(nonzeros,) its probability."""
        return np.asarray(self._P.data, dtype=np.float64)

    @property
    def reward(self) -> Array:
        """(nonzeros,) its reward."""
        return self._reward

    @property
    def end(self) -> Array:
        """(nonzeros,) the probability that it ends the episode."""
        return self._end

    @cached_property
    def cumulative(self) -> Array:
        """(nonzeros,) probabilities summed up within each row, for drawing next states."""
        rows = np.split(self.probability, self.indptr[1:-1])
        return np.concatenate([np.cumsum(row) for row in rows])

    def transitions(self) -> Array:
        """P as a dense array (S, A, S)."""
        return self._dense(self._P)

    def endings(self) -> Array:
        """P(s'|s, a) e(s, a, s'), the part of P that ends the episode, as a dense array (S, A, S)."""
        return self._dense(self._sparse(self.probability * self._end))

    def reward_table(self) -> Array:
        """R as it was given, (S, A) or (S, A, S); a sparse R becomes (S, A, S)."""
        return self._table

    @cached_property
    def expected_reward(self) -> Array:
        """sum_s' P(s'|s, a) R(s, a, s'), shape (S, A)."""
        weighted = self._sparse(self.probability * self._reward)
        return np.asarray(weighted.sum(axis=1), dtype=np.float64).reshape(self.states, self.actions)

    def backup(self, value: Array) -> Array:
        """Q(s, a) = sum_s' P(s'|s, a) [R(s, a, s') + gamma (1 - e(s, a, s')) value(s')], shape (S, A)."""
        future = np.asarray(self._goes_on @ value).reshape(self.states, self.actions)
        return self.expected_reward + self.gamma * future

    def policy_value(self, policy: ArrayLike) -> Array:
        """V^pi for a policy given as actions (S,) or as probabilities (S, A)."""
        chain, reward = self._under(policy)
        system = sparse.eye_array(self.states, format="csc") - self.gamma * chain.tocsc()
        return np.asarray(splu(sparse.csc_matrix(system)).solve(reward), dtype=np.float64)

    def optimal_value(self) -> Array:
        """V*, shape (S,)."""
        return self._optimum[0].copy()

    def optimal_policy(self) -> NDArray[np.int64]:
        """An optimal action for each state, shape (S,)."""
        return self._optimum[1].copy()

    def average_reward(self, policy: ArrayLike) -> float:
        """Long-run average reward per step of a policy from the start distribution (Cesaro limit).

        An episode that ends is followed by a new one.
        """
        _, reward = self._under(policy)
        return float(self.long_run_shares(policy) @ reward)

    def long_run_shares(self, policy: ArrayLike) -> Array:
        """The share of all steps that a policy spends in each state in the long run, shape (S,)."""
        chain, _ = self._under(policy)
        if self.ends:
            leaving = 1 - np.asarray(chain.sum(axis=1)).reshape(-1)
            restart = sparse.csr_array(np.maximum(leaving, 0.0)[:, None]) @ sparse.csr_array(self.start[None, :])
            chain = chain + restart
        return long_run(chain, self.start)

    @cached_property
    def _goes_on(self) -> Any:
        """P(s'|s, a) (1 - e(s, a, s')), shape (S A, S)."""
        return self._sparse(self.probability * (1 - self._end)) if self.ends else self._P

    def _sparse(self, data: Array) -> Any:
        """Numbers of the possible transitions as a matrix like P."""
        return sparse.csr_array((data, self._P.indices, self._P.indptr), self._P.shape)

    def _dense(self, matrix: Any) -> Array:
        return np.asarray(matrix.toarray()).reshape(self.states, self.actions, self.states)

    @cached_property
    def _optimum(self) -> tuple[Array, NDArray[np.int64]]:
        policy = np.argmax(self.backup(np.zeros(self.states)), axis=1)
        while True:
            value = self.policy_value(policy)
            q = self.backup(value)
            best = q.max(axis=1)
            here = q[np.arange(self.states), policy]
            worse = here < best - 1e-12 * np.maximum(1.0, np.abs(best))
            if not worse.any():
                return value, policy
            policy = np.where(worse, q.argmax(axis=1), policy)

    def _under(self, policy: ArrayLike) -> tuple[Any, Array]:
        """Transition matrix (S, S), without what ends the episode, and reward (S,) under a policy."""
        chosen = np.asarray(policy)
        shapes = ((self.states,), (self.states, self.actions))
        require(chosen.shape in shapes, "policy shape", chosen.shape, f"{shapes[0]} or {shapes[1]}")
        if chosen.ndim == 1:
            ok = np.issubdtype(chosen.dtype, np.integer) and chosen.min() >= 0 and chosen.max() < self.actions
            require(bool(ok), "policy", policy, f"actions from 0 to {self.actions - 1}")
            rows = np.arange(self.states) * self.actions + chosen
            return self._goes_on[rows], self.expected_reward.reshape(-1)[rows]
        weights = array("policy", policy)
        ok = bool(np.all(weights >= 0) and np.all(np.abs(weights.sum(axis=1) - 1) <= _ROW_TOLERANCE))
        require(ok, "policy", policy, "probabilities, each row at least 0 and summing to 1")
        pairs = np.arange(self.states * self.actions)
        mix = sparse.csr_array((weights.reshape(-1), pairs, np.arange(self.states + 1) * self.actions))
        return mix @ self._goes_on, (weights * self.expected_reward).sum(axis=1)


def _transitions(P: Any) -> tuple[Any, int]:
    """P checked, as CSR of shape (S A, S), and |A|."""
    if sparse.issparse(P):
        matrix = sparse.csr_array(P, dtype=np.float64, copy=True)
        states = matrix.shape[1]
        ok = states > 0 and matrix.shape[0] > 0 and matrix.shape[0] % states == 0
        require(ok, "P shape", matrix.shape, "(S * A, S) with S and A at least 1")
        actions = matrix.shape[0] // states
    else:
        dense = array("P", P)
        ok = dense.ndim == 3 and dense.shape[0] == dense.shape[2] and 0 not in dense.shape
        require(ok, "P shape", dense.shape, "(S, A, S) with S and A at least 1")
        states, actions = dense.shape[:2]
        matrix = sparse.csr_array(np.where(np.isnan(dense), -np.inf, dense).reshape(states * actions, states))
    matrix.sum_duplicates()
    _check_rows(matrix, actions)
    matrix.eliminate_zeros()
    return matrix, actions


def _check_rows(matrix: Any, actions: int) -> None:
    """Every entry a probability, every row summing to 1; the error names the first bad pair."""
    bad = ~(matrix.data >= 0) | ~np.isfinite(matrix.data)
    if bad.any():
        k = int(np.argmax(bad))
        row = int(np.searchsorted(matrix.indptr, k, side="right")) - 1
        where = f"P[{row // actions}, {row % actions}, {matrix.indices[k]}]"
        given = "nan or infinite" if not np.isfinite(matrix.data[k]) else f"{matrix.data[k]:g}"
        raise InputError(f"{where} is {given}, but must be a probability of at least 0.")
    sums = np.asarray(matrix.sum(axis=1)).reshape(-1)
    off = np.abs(sums - 1) > _ROW_TOLERANCE
    if off.any():
        row = int(np.argmax(off))
        where = f"P[{row // actions}, {row % actions}]"
        raise InputError(f"{where} sums to {sums[row]:.12g}, but every row of P must sum to 1.")


def _reward_table(R: Any, shape: tuple[int, int]) -> Array:
    """R checked, as a dense array."""
    states, actions = shape[1], shape[0] // shape[1]
    if sparse.issparse(R):
        require(R.shape == shape, "R shape", R.shape, f"the shape of P, {shape}")
        table = np.asarray(R.toarray(), dtype=np.float64).reshape(states, actions, states)
    else:
        table = array("R", R)
    shapes = ((states, actions), (states, actions, states))
    require(table.shape in shapes, "R shape", table.shape, f"{shapes[0]} or {shapes[1]}")
    _check_finite(table)
    return table


def _of_entries(table: Array, P: Any) -> Array:
    """A table (S, A) or (S, A, S) at every possible transition, in the order of P's entries."""
    rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    flat = table.reshape(P.shape[0], -1)
    return np.ascontiguousarray(flat[rows, P.indices if table.ndim == 3 else 0])


def _ends(end: Any, P: Any) -> Array:
    """e of every possible transition, in the order of P's entries."""
    if end is None:
        return np.zeros(P.nnz)
    states, actions = P.shape[1], P.shape[0] // P.shape[1]
    if sparse.issparse(end):
        require(end.shape == P.shape, "end shape", end.shape, f"the shape of P, {P.shape}")
        table = np.asarray(end.toarray(), dtype=np.float64).reshape(states, actions, states)
    else:
        table = array("end", end)
    shapes = ((states, actions), (states, actions, states))
    require(table.shape in shapes, "end shape", table.shape, f"{shapes[0]} or {shapes[1]}")
    bad = ~((table >= 0) & (table <= 1))
    if bad.any():
        where = [int(i) for i in np.argwhere(bad)[0]]
        raise InputError(f"end{where} is {table[tuple(where)]:g}, but must be a probability from 0 to 1.")
    return _of_entries(table, P)


def _check_finite(table: Array) -> None:
    bad = ~np.isfinite(table)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InputError(f"R{list(where)} is {table[where]:g}, but every reward must be a finite number.")


def _start(start: int | ArrayLike, states: int) -> Array:
    """The start distribution, shape (S,)."""
    given = np.asarray(start)
    if given.ndim == 0:
        ok = np.issubdtype(given.dtype, np.integer) and 0 <= int(given) < states
        require(bool(ok), "start", start, f"a state from 0 to {states - 1}, or a distribution over states")
        return np.asarray(np.eye(states)[int(given)])
    weights = array("start", start)
    require(weights.shape == (states,), "start shape", weights.shape, f"({states},)")
    ok = bool(np.all(weights >= 0) and abs(weights.sum() - 1) <= _ROW_TOLERANCE)
    require(ok, "start", start, "probabilities, each at least 0 and summing to 1")
    return weights
