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
    terms = loss_terms(sets, policy, state)
    n = sets.rows.total.reshape(policy.size, -1)[np.arange(policy.size), policy]
    whole = float(terms.sum())
    gains = terms * (1 - np.sqrt(n / (n + MORE)))
    order = np.argsort(-terms, kind="stable")[:SHOWN]
    return tuple(
        Limit(int(s), int(policy[s]), int(n[s]), float(terms[s] / whole), float(gains[s]))
        for s in order
        if terms[s] > 1e-9 * whole
    )


def loss_terms(sets: Sets, policy: Ints, state: int) -> Floats:
    """The terms of the sum, (S,)."""
    rows, states = sets.rows, policy.size
    robust = Robust(sets)
    plain = robust.plain(policy)
    robust.lower(policy, plain)
    worst = robust.worst_rows()
    pair = np.arange(states) * (rows.total.size // states) + policy
    chosen = np.concatenate([np.arange(rows.first[i], rows.first[i + 1]) for i in pair]).astype(np.int64)
    source = np.repeat(np.arange(states), np.diff(rows.first)[pair])
    weights = np.concatenate([worst.model[chosen], worst.rest[pair]])
    place = np.concatenate([source, np.arange(states)]), np.concatenate([rows.following[chosen], worst.aim[pair]])
    q = sparse.csr_array((weights, place), shape=(states, states + 1))
    alive = ~rows.closed
    lost = np.where(alive, plain[:-1] - worst.paid[pair] - rows.gamma * (q @ plain), 0.0)
    chain = sparse.diags_array(alive.astype(np.float64)) @ q[:, :states]
    start = np.zeros(states)
    start[state] = 1.0
    visits = solved_sparse(sparse.eye_array(states, format="csc") - rows.gamma * chain.T.tocsc(), start)
    return np.asarray(np.maximum(visits * lost, 0.0))
