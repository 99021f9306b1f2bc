"""Where a Markov chain spends its time in the long run.

    share(s) = lim_{T -> inf} 1/T sum_{t < T} Pr[s_t = s]        (Cesaro, so that periods do not matter)

The chain ends up in one of its closed classes C (strongly connected, no way out). Inside, time is shared as the
stationary distribution pi_C; so share = sum_C Pr[end up in C] pi_C. Both are sparse linear systems:

    pi_C = pi_C P_CC, sum pi_C = 1,        Pr[end up in C] = start(C) + x P_TC 1,   x (I - P_TT) = start_T,

T the states of no closed class, x the expected visits to them.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from hreach.problems.arrays import Array, Sparse
from hreach.problems.solving import solved_sparse


def long_run(chain: Sparse, start: Array) -> Array:
    """The share of time in each state, (S,), of a chain (S, S), sparse, from the distribution `start` (S,)."""
    from scipy.sparse.csgraph import connected_components  # takes longer to import than all of this file

    matrix = sparse.csr_array(chain)
    matrix.eliminate_zeros()
    classes, label = connected_components(matrix, directed=True, connection="strong")
    here, there = matrix.nonzero()
    left = np.zeros(classes, dtype=np.bool_)
    left[label[here[label[here] != label[there]]]] = True
    passing = left[label]
    reached = np.where(passing, 0.0, start)
    if passing.any():
        inside = matrix[passing][:, passing]
        visits = solved_sparse((sparse.eye_array(inside.shape[0]) - inside).T, start[passing])
        reached[~passing] += visits @ matrix[passing][:, ~passing]
    weight = np.bincount(label, weights=reached, minlength=classes)
    share = np.zeros(len(start))
    for closed in np.flatnonzero((weight > 0) & ~left):
        members = np.flatnonzero(label == closed)
        share[members] = weight[closed] * _stationary(matrix[members][:, members])
    return np.asarray(share / share.sum())


def _stationary(chain: Sparse) -> Array:
    """pi with pi = pi chain and sum pi = 1, for one class: the last equation, which the others imply, is replaced."""
    size = chain.shape[0]
    if size == 1:
        return np.ones(1)
    system = sparse.lil_array((sparse.eye_array(size) - chain).T)
    system[size - 1] = np.ones(size)
    right = np.zeros(size)
    right[-1] = 1.0
    return np.maximum(solved_sparse(system, right), 0.0)
