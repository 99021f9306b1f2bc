"""A finite MDP (S, A, P, R, gamma) that is known, and its exact values: the oracle for everything else.

    V*(s)   = max_a sum_s' P(s'|s, a) [R(s, a, s') + gamma V*(s')]                        (Paper: Preliminaries)
    V^pi(s) = sum_a pi(a|s) sum_s' P(s'|s, a) [R(s, a, s') + gamma V^pi(s')]

A transition may end the episode, with the probability e(s, a, s'): then it pays R(s, a, s') and nothing follows, so
gamma (1 - e(s, a, s')) stands in the place of gamma.

V^pi is one sparse linear solve, V* is policy iteration with that solve (`hreach.problems.solving`); of more than
2000 states both are sweeps to 1e-10 of the range of values (`hreach.problems.certified`). Transitions are held as a
sparse matrix with one row for each pair,
row s |A| + a; so is a reward that was given sparse.

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

from bisect import bisect_right
from functools import cached_property
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from hreach.errors import InputError, array, discount, require
from hreach.files import write_whole
from hreach.problems.arrays import Array, Sparse
from hreach.problems.long_run import long_run
from hreach.problems.ranges import ValueRange
from hreach.problems.solving import Optimum, best_policy, solved
from hreach.problems.tables import (
    ROW_TOLERANCE,
    dense_size,
    endings,
    of_entries,
    rewards,
    start_distribution,
    transitions,
)

EXACT = 2000  # states up to which values are linear solves: of more, the factors may need |S|^2 numbers
SHORT = 32  # next states of a pair; up to here Python's own numbers are drawn from faster than an array


class TabularMDP:
    """P: (S, A, S) dense, or rows (S A, S): a scipy sparse matrix or three arrays; R: (S, A), (S, A, S) or such rows.

    Three arrays (indptr, indices, data) in CSR form are used as they are, without a copy where their types allow: do
    not write into them later. R then says how many states there are. Columns out of order or repeated are put in order
    and summed, with a warning.

    `start` is a state or a distribution over states (default: state 0): where an episode begins. `end` is the
    probability that a transition, once it happens, ends the episode: (S, A), (S, A, S) or sparse like P; None: never.
    A state in which episodes always end is one that is only entered by transitions that end. Everything is checked
    here, once.

    `row_error` is max |1 - sum_s' P(s'|s, a)|, which is rounding; `longest_row` how many next states follow a pair at
    most.
    """

    def __init__(self, P: object, R: object, gamma: float, start: int | ArrayLike = 0, end: object = None) -> None:
        self.gamma = discount(gamma)
        self._P, self.actions, facts = transitions(P, R)
        self.states = self._P.shape[1]
        self.row_error, self.longest_row = facts.off, facts.longest
        self._table = rewards(R, self._P.shape)
        self._end = endings(end, self._P)
        self.start = start_distribution(start, self.states)

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

    def save(self, path: str | Path) -> None:
        """Write it for `load`: P, R and, where episodes can end, end, each dense (S, A, S) or (S, A)."""
        file = BytesIO()
        parts = {"P": self.transitions(), "R": self.reward_table(), "gamma": np.array(self.gamma), "start": self.start}
        if self.ends:
            parts["end"] = self._dense(self._sparse(self.end))
        np.savez_compressed(file, **parts)  # type: ignore[arg-type]
        write_whole(Path(path).expanduser(), file.getvalue())

    def with_(self, *, R: object = None, gamma: float | None = None) -> TabularMDP:
        """The same transitions with another reward or another discount."""
        table = self._table if R is None else R
        end = None if self._end is None else self._sparse(self._end)
        return TabularMDP(self._P, table, self.gamma if gamma is None else gamma, self.start, end)

    @property
    def ends(self) -> bool:
        """Whether an episode can end."""
        return self._end is not None

    @property
    def values(self) -> ValueRange:
        """The range of values, from the rewards that can be paid; 0 counts as one of them."""
        table = self._table
        paid = table if isinstance(table, np.ndarray) and table.ndim == 2 else self.reward
        return ValueRange(min(0.0, float(paid.min())), float(paid.max()), self.gamma, self.ends)

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

    @cached_property
    def reward(self) -> Array:
        """(nonzeros,) its reward."""
        return of_entries(self._table, self._P)

    @cached_property
    def end(self) -> Array:
        """(nonzeros,) the probability that it ends the episode."""
        return np.zeros(self._P.nnz) if self._end is None else self._end

    @cached_property
    def cumulative(self) -> Array:
        """(nonzeros,) probabilities summed up within each row, for drawing next states."""
        result, length = np.empty(self._P.nnz), np.diff(self.indptr)
        for size in np.unique(length):
            entries = self.indptr[:-1][length == size][:, None] + np.arange(size)
            result[entries] = np.cumsum(self.probability[entries], axis=1)
        return result

    def drawn(self, state: int, action: int, u: float) -> tuple[int, float, float]:
        """(next state, reward, probability that the episode ends) for u uniform on [0, 1): the first next state whose
        cumulated probability exceeds u. Touches one row, whatever the size of the MDP."""
        P, pair, per_pair = self._P, state * self.actions + action, self.paid_per_pair
        first, end = P.indptr.item(pair), P.indptr.item(pair + 1)
        chances = P.data[first:end]
        if end - first <= SHORT:
            place = bisect_right(list(accumulate(chances.tolist())), u)
        else:
            place = chances.cumsum().searchsorted(u, "right").item()
        k = first + min(place, end - first - 1)
        reward = self.reward.item(k) if per_pair is None else per_pair.item(state, action)
        return P.indices.item(k), reward, 0.0 if self._end is None else self._end.item(k)

    def transitions(self) -> Array:
        """P as a dense array (S, A, S)."""
        return self._dense(self._P)

    def endings(self) -> Array:
        """P(s'|s, a) e(s, a, s'), the part of P that ends the episode, as a dense array (S, A, S)."""
        return self._dense(self._sparse(self.probability * self.end))

    @cached_property
    def ending_chance(self) -> Array:
        """sum_s' P(s'|s, a) e(s, a, s'), the chance that an episode ends at a pair, shape (S, A)."""
        ending = self._sparse(self.probability * self.end)
        return np.asarray(ending.sum(axis=1), dtype=np.float64).reshape(self.states, self.actions)

    def reward_table(self) -> Array:
        """R as it was given, (S, A) or (S, A, S); of a sparse R, which is kept sparse, a dense copy (S, A, S)."""
        return self._table if isinstance(self._table, np.ndarray) else self._dense(self._table)

    @cached_property
    def expected_reward(self) -> Array:
        """sum_s' P(s'|s, a) R(s, a, s'), shape (S, A)."""
        weighted = self._sparse(self.probability * self.reward)
        return np.asarray(weighted.sum(axis=1), dtype=np.float64).reshape(self.states, self.actions)

    def backup(self, value: Array) -> Array:
        """Q(s, a) = sum_s' P(s'|s, a) [R(s, a, s') + gamma (1 - e(s, a, s')) value(s')], shape (S, A)."""
        future = np.asarray(self._goes_on @ value).reshape(self.states, self.actions)
        return self.expected_reward + self.gamma * future

    def policy_value(self, policy: ArrayLike) -> Array:
        """V^pi for a policy given as actions (S,) or as probabilities (S, A)."""
        chain, reward = self._under(policy)
        if self.states <= EXACT:
            return solved(chain, reward, self.gamma)
        return self._closely(chain, reward[:, None]).value

    def optimal_value(self) -> Array:
        """V*, shape (S,)."""
        return self._optimum.value.copy()

    def optimal_policy(self) -> NDArray[np.int64]:
        """An optimal action for each state, shape (S,)."""
        return self._optimum.policy.copy()

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

    @property
    def going_on(self) -> Sparse:
        """P(s'|s, a) (1 - e(s, a, s')), sparse, shape (S A, S): not to be written into."""
        return self._goes_on

    @cached_property
    def paid_per_pair(self) -> Array | None:
        """R(s, a) where it was given so, shape (S, A); None where a reward depends on s'."""
        return self._table if isinstance(self._table, np.ndarray) and self._table.ndim == 2 else None

    @cached_property
    def _goes_on(self) -> Sparse:
        """P(s'|s, a) (1 - e(s, a, s')), shape (S A, S)."""
        return self._P if self._end is None else self._sparse(self.probability * (1 - self._end))

    def _sparse(self, data: Array) -> Sparse:
        """Numbers of the possible transitions as a matrix like P."""
        matrix: Sparse = sparse.csr_array((data, self._P.indices, self._P.indptr), self._P.shape)
        return matrix

    def _dense(self, matrix: Sparse) -> Array:
        dense_size(f"an MDP of {self.states} states and {self.actions} actions", matrix.shape)
        return np.asarray(matrix.toarray()).reshape(self.states, self.actions, self.states)

    @cached_property
    def _optimum(self) -> Optimum:
        if self.states <= EXACT:
            return best_policy(self._goes_on, self.expected_reward, self.gamma)
        return self._closely(self._goes_on, self.expected_reward)

    def _closely(self, rows: Sparse, reward: Array) -> Optimum:
        """V(s) = max_a reward(s, a) + gamma rows V: by the certified sweeps of `hreach.solve`."""
        from hreach.problems.certified import closely

        found = closely(rows, reward, self.gamma)
        return Optimum(found.value, found.policy)

    def _under(self, policy: ArrayLike) -> tuple[Sparse, Array]:
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
        ok = bool(np.all(weights >= 0) and np.all(np.abs(weights.sum(axis=1) - 1) <= ROW_TOLERANCE))
        require(ok, "policy", policy, "probabilities, each row at least 0 and summing to 1")
        pairs = np.arange(self.states * self.actions)
        mix = sparse.csr_array((weights.reshape(-1), pairs, np.arange(self.states + 1) * self.actions))
        return mix @ self._goes_on, (weights * self.expected_reward).sum(axis=1)
