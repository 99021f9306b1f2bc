"""The exact solve: the linear system of the greedy action and of its optimistic model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, inlined, inner
from hreach.kernels.backup import end_at_best, sort_by


@inlined
def _aim(reward: Array, s: int, a: int, gamma: float, value: Array, target: Array, per_transition: bool) -> int:
    """target <- u, u(s') = R(s, a, s') + gamma value(s'), without R where it does not depend on s'; the best s'."""
    best = 0
    for j in range(value.size):
        target[j] = gamma * value[j]
        if per_transition:
            target[j] += reward[s, a, j]
        if target[j] > target[best]:
            best = j
    return best


@inner
def greedy_model(
    mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array, reward: Array, gamma: float,
    cap: float, value: Array, q: Array, target: Array, order: NDArray[np.int64], matrix: Array, actions: int,
    ends: bool,
) -> None:  # fmt: skip
    """Rows of (I - gamma P') V = r for the greedy action and its optimistic model; q is the backup of value.

    What ends the episode has no column; what it pays is in r.
    """
    states = value.size
    per_transition = reward.shape[2] == states and states > 1
    best_of_all = 0 if per_transition else _aim(reward, 0, 0, gamma, value, target, per_transition)
    for s in range(states):
        i = s * actions
        for other in range(s * actions + 1, s * actions + actions):
            if q[other] > q[i]:
                i = other
        if q[i] >= cap:
            for j in range(states):
                matrix[s, j] = 0.0
            matrix[s, s] = 1.0
            matrix[s, states] = cap
            continue
        for j in range(states):
            matrix[s, j] = mean[i // 4, j, i % 4]
        best = best_of_all
        if per_transition:
            best = _aim(reward, s, i - s * actions, gamma, value, target, per_transition)
        left = radius[i] / 2.0
        if left > 0.0:
            sort_by(target, order)
            best = order[states - 1]
        best_end = -np.inf
        if ends:
            best_end = end_at_best(reward, s, i - s * actions) if per_transition else 0.0
        to_end = best_end > target[best]
        paid = base[i]
        ending = 0.0  # weight that moves to the end
        if left > 0.0:
            waiting = gone[i]
            for k in range(states):
                j = order[k]
                if waiting > 0.0 and parting[i] <= target[j]:
                    taken = min(waiting, left)
                    paid -= taken * parting[i]
                    if to_end:
                        ending += taken
                    else:
                        matrix[s, best] += taken
                    left -= taken
                    waiting = 0.0
                if to_end:
                    taken = min(matrix[s, j], left)
                    matrix[s, j] -= taken
                    ending += taken
                    left -= taken
                elif j != best:
                    taken = min(matrix[s, j], left)
                    matrix[s, j] -= taken
                    matrix[s, best] += taken
                    left -= taken
            if to_end:
                taken = min(waiting, left)
                paid -= taken * parting[i]
                ending += taken
        if to_end:
            paid += (ending + reach[i]) * best_end
        else:
            matrix[s, best] += reach[i]
        for j in range(states):
            if per_transition:
                paid += matrix[s, j] * reward[s, i - s * actions, j]
            matrix[s, j] *= -gamma
        matrix[s, s] += 1.0
        matrix[s, states] = paid


@inner
def eliminate(matrix: Array, value: Array) -> None:
    """Solve the system by Gaussian elimination; rows are diagonally dominant, so no pivoting is needed."""
    states = value.size
    for i in range(states):
        pivot = 1.0 / matrix[i, i]
        for k in range(i + 1, states):
            factor = matrix[k, i] * pivot
            if factor != 0.0:
                for j in range(i + 1, states + 1):
                    matrix[k, j] -= factor * matrix[i, j]
    for i in range(states - 1, -1, -1):
        rest = matrix[i, states]
        for j in range(i + 1, states):
            rest -= matrix[i, j] * value[j]
        value[i] = rest / matrix[i, i]
