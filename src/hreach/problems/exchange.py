"""MDPs of other libraries, and for them; no other library is imported.

NumPy, SciPy      TabularMDP(P, R, gamma) takes their arrays, `to_arrays` gives them
QuantEcon         `from_quantecon(ddp)`, and DiscreteDP(*to_quantecon(mdp))
Gymnasium         `from_gymnasium(env, gamma)`: env.unwrapped.P; `hreach.domains.tabular.TabularEnv` the other way
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from hreach.errors import InputError, array, require
from hreach.problems.arrays import Array, Ints, Sparse
from hreach.problems.mdp import TabularMDP
from hreach.problems.truth import truth_of


class Tables(NamedTuple):
    """An MDP as SciPy and NumPy have it: P and what else there is of each transition in CSR form, row s |A| + a.

    P      (S A, S) probabilities; R: (S A, S) rewards; end: (S A, S) probabilities that it ends the episode, or None
    start  (S,)
    """

    P: Sparse
    R: Sparse
    gamma: float
    start: Array
    end: Sparse | None


class DiscreteDP(Protocol):
    """What is used of QuantEcon's class: rewards R and transitions Q, by (state, action) or by pairs."""

    R: NDArray[np.float64]
    Q: ArrayLike
    beta: float
    s_indices: NDArray[np.int64] | None
    a_indices: NDArray[np.int64] | None


class Pairs(NamedTuple):
    """The arguments of QuantEcon's DiscreteDP, one row for each pair."""

    R: Array
    Q: Sparse
    beta: float
    s_indices: Ints
    a_indices: Ints


def to_arrays(mdp: TabularMDP) -> Tables:
    """The arrays of an MDP; TabularMDP(*to_arrays(mdp)) is the same one again."""
    shape = (mdp.states * mdp.actions, mdp.states)

    def like(data: Array) -> Sparse:
        matrix: Sparse = sparse.csr_array((data.copy(), mdp.next_state.copy(), mdp.indptr.copy()), shape)
        return matrix

    end = like(mdp.end) if mdp.ends else None
    return Tables(like(mdp.probability), like(mdp.reward), mdp.gamma, mdp.start.copy(), end)


def from_gymnasium(env: object, gamma: float) -> TabularMDP:
    """The MDP of an environment that tells it or carries a table, `env.unwrapped.P`."""
    mdp = truth_of(env, gamma)
    if mdp is None:
        raise InputError("env has no table env.unwrapped.P, or a wrapper or an option that may make it untrue.")
    return mdp


def from_quantecon(ddp: DiscreteDP) -> TabularMDP:
    """The MDP of a DiscreteDP, in either of its forms, dense or sparse.

    An action that a state does not allow (a reward of -inf, or no such pair) does there what the first allowed one
    does: values stay as they are, and an optimal policy needs none of these.
    """
    R = array("R", ddp.R)
    if ddp.s_indices is None or ddp.a_indices is None:
        require(R.ndim == 2, "R shape", R.shape, "(S, A) where there are no s_indices")
        states, actions = R.shape
        if sparse.issparse(ddp.Q):
            rows = sparse.csr_array(ddp.Q)
        else:
            rows = sparse.csr_array(array("Q", ddp.Q).reshape(states * actions, -1))
        paid = R.reshape(-1)
        pair = np.arange(states * actions)
    else:
        rows = sparse.csr_array(ddp.Q if sparse.issparse(ddp.Q) else array("Q", ddp.Q))
        states, paid = rows.shape[1], R
        s, a = np.asarray(ddp.s_indices, dtype=np.int64), np.asarray(ddp.a_indices, dtype=np.int64)
        actions = int(a.max(initial=0)) + 1
        pair = s * actions + a
        require(R.shape == pair.shape == (rows.shape[0],), "R shape", R.shape, f"({rows.shape[0]},), one for each pair")
    source = np.full(states * actions, -1, dtype=np.int64)
    allowed = paid > -np.inf
    source[pair[allowed]] = np.flatnonzero(allowed)
    table = source.reshape(states, actions)
    first = np.take_along_axis(table, np.argmax(table >= 0, axis=1)[:, None], axis=1)
    lacking = np.flatnonzero(first < 0)
    require(lacking.size == 0, "state without an action", lacking[:1].tolist(), "none: every state allows some")
    chosen = np.where(table >= 0, table, first).reshape(-1)
    return TabularMDP(rows[chosen], paid[chosen].reshape(states, actions), float(ddp.beta))


def to_quantecon(mdp: TabularMDP) -> Pairs:
    """Arguments for DiscreteDP, pair by pair; where episodes can end, one more state, worth 0, is the end."""
    pairs, states = mdp.states * mdp.actions, mdp.states
    Q, R = mdp.going_on, mdp.expected_reward.reshape(-1)
    s, a = np.divmod(np.arange(pairs), mdp.actions)
    if mdp.ends:
        leaving = sparse.csr_array(mdp.ending_chance.reshape(-1, 1))
        stays = sparse.csr_array(([1.0], ([0], [states])), shape=(1, states + 1))
        Q = sparse.vstack([sparse.hstack([Q, leaving]), stays], format="csr")
        R, s, a = np.append(R, 0.0), np.append(s, states), np.append(a, 0)
    return Pairs(R.copy(), sparse.csr_matrix(Q), mdp.gamma, s, a)
