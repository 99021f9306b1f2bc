"""Which pairs hold a lower value down, and what more samples of them would give.

With q the worst rows and V^ the value of the frequencies as they are, the simulation lemma is exact:

    V^^pi(s) - L^pi(s) = sum_s' occ(s') [V^^pi(s') - r(s') - gamma q(s').V^^pi],

occ the discounted number of visits under q from s. Each term belongs to one pair (s', pi(s')). A radius falls like
1/sqrt(n), so m more samples of it are predicted to gain its term times 1 - sqrt(n/(n + m)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from hreach.kernels.robust import Extreme
from hreach.planners.robust import Robust, Sets
from hreach.problems.solving import solved_sparse
from hreach.protocols import Floats, Ints

MORE = 100  # samples that a gain is predicted for
SHOWN = 10


class Limit(NamedTuple):
    """A pair: `n` samples, its share of what lies between the plain and the lower value, the gain of 100 more."""

    state: int
    action: int
    n: int
    share: float
    gain: float


def limits_of(sets: Sets, policy: Ints, state: int) -> tuple[Limit, ...]:
    """The ten pairs of `policy` that hold its lower value in `state` down most."""
    terms = np.zeros((policy.size, sets.rows.total.size // policy.size))
    terms[np.arange(policy.size), policy] = loss_terms(sets, policy, state)
    return _most(terms, sets)


def gap_limits_of(sets: Sets, policy: Ints, state: int) -> tuple[Limit, ...]:
    """The ten pairs that do most to keep U in `state` above L of `policy`; with mu the policy that U is for,

        U - L^pi = (U - V^^mu) + (V^^mu - V^^pi) + (V^^pi - L^pi),

    the first and the last a sum over the pairs of mu and of pi.
    """
    best, gained = gain_terms(sets, policy, state)
    terms = np.zeros((policy.size, sets.rows.total.size // policy.size))
    every = np.arange(policy.size)
    terms[every, policy] += loss_terms(sets, policy, state)
    terms[every, best] += gained
    return _most(terms, sets)


def gain_terms(sets: Sets, policy: Ints, state: int) -> tuple[Ints, Floats]:
    """mu and the terms of U - V^^mu, (S,) each; `policy` is where the search for U begins."""
    robust = Robust(sets)
    _, q = robust.upper(policy)
    best = np.asarray(np.argmax(q.reshape(policy.size, -1), axis=1), dtype=np.int64)
    return best, np.maximum(_terms(sets, best, state, robust.plain(best), robust.best_rows()), 0.0)


def loss_terms(sets: Sets, policy: Ints, state: int) -> Floats:
    """The terms of V^^pi - L^pi, (S,)."""
    robust = Robust(sets)
    plain = robust.plain(policy)
    robust.lower(policy, plain)
    return np.maximum(-_terms(sets, policy, state, plain, robust.worst_rows()), 0.0)


def _most(terms: Floats, sets: Sets) -> tuple[Limit, ...]:
    """The largest terms (S, A)."""
    flat, n = terms.reshape(-1), sets.rows.total
    whole = float(flat.sum())
    gains = flat * (1 - np.sqrt(n / (n + MORE)))
    order = np.argsort(-flat, kind="stable")[:SHOWN]
    return tuple(
        Limit(int(i) // terms.shape[1], int(i) % terms.shape[1], int(n[i]), float(flat[i] / whole), float(gains[i]))
        for i in order
        if flat[i] > 1e-9 * whole
    )


def _terms(sets: Sets, policy: Ints, state: int, plain: Floats, found: Extreme) -> Floats:
    """occ(s') [r(s') + gamma q(s').V^^pi - V^^pi(s')], (S,), for the rows q that were found and what they pay."""
    rows, states = sets.rows, policy.size
    pair = np.arange(states) * (rows.total.size // states) + policy
    chosen = np.concatenate([np.arange(rows.first[i], rows.first[i + 1]) for i in pair]).astype(np.int64)
    source = np.repeat(np.arange(states), np.diff(rows.first)[pair])
    weights = np.concatenate([found.model[chosen], found.rest[pair]])
    place = np.concatenate([source, np.arange(states)]), np.concatenate([rows.following[chosen], found.aim[pair]])
    q = sparse.csr_array((weights, place), shape=(states, states + 1))
    alive = ~rows.closed
    moved = np.where(alive, found.paid[pair] + rows.gamma * (q @ plain) - plain[:-1], 0.0)
    chain = sparse.diags_array(alive.astype(np.float64)) @ q[:, :states]
    start = np.zeros(states)
    start[state] = 1.0
    visits = solved_sparse(sparse.eye_array(states, format="csc") - rows.gamma * chain.T.tocsc(), start)
    return np.asarray(visits * moved)
