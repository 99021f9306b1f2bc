"""Exact values under a model: one linear solve for a policy, policy iteration with it for the optimum.

The one reference that the truth (`hreach.problems.mdp`), reachable models (`hreach.reach.nearest`) and audits share;
what agents plan with is compiled (`hreach.kernels`) and is held against it. Chains are dense, or sparse arrays of
scipy's. Their rows sum to 1 or less: what is missing ends the episode.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from hreach.problems.arrays import Array, Ints, Matrix, Sparse

Policy = Ints
IMPROVES = 1e-12  # relative gain below which another action does not count as better


class Optimum(NamedTuple):
    """value: (S,), policy: (S,) actions that attain it."""

    value: Array
    policy: Policy


def solved(chain: Matrix, reward: Array, gamma: float) -> Array:
    """V = reward + gamma chain V, shapes (S, S) and (S,): the value of one policy."""
    size = chain.shape[0]
    if isinstance(chain, np.ndarray):
        return np.asarray(np.linalg.solve(np.eye(size) - gamma * chain, reward))
    return solved_sparse(sparse.eye_array(size, format="csc") - gamma * chain.tocsc(), reward)


def solved_sparse(system: Sparse, right: Array) -> Array:
    """x with system x = right, shapes (N, N), sparse, and (N,)."""
    from scipy.sparse.linalg import splu  # a third of the time in which hreach is imported, and not needed to run

    return np.asarray(splu(sparse.csc_matrix(system)).solve(right), dtype=np.float64)


def best_policy(goes_on: Matrix, reward: Array, gamma: float, policy: Policy | None = None) -> Optimum:
    """V(s) = max_a reward(s, a) + gamma sum_s' goes_on(s'|s, a) V(s') by policy iteration, each policy solved exactly.

    goes_on: (S A, S), row s A + a, dense or sparse; reward: (S, A), expected. `policy` is where to begin (default: what
    pays most at once); the result is exact from any, after finitely many improvements.
    """
    states, actions = reward.shape
    first, paid = np.arange(states) * actions, reward.reshape(-1)
    chosen = np.argmax(reward, axis=1) if policy is None else policy
    while True:
        rows = first + chosen
        value = solved(goes_on[rows], paid[rows], gamma)
        q = reward + gamma * np.asarray(goes_on @ value).reshape(states, actions)
        best = q.max(axis=1)
        worse = q.reshape(-1)[rows] < best - IMPROVES * np.maximum(1.0, np.abs(best))
        if not worse.any():
            return Optimum(value, chosen)
        chosen = np.where(worse, q.argmax(axis=1), chosen)
