"""One sweep: Q of a value under optimism, and T value.

    Q(s, a) = b + (1 - w) max_{p' in B(p, e)} sum_s' p'(s') u(s') + w max_s' u(s'),     V(s) = max_a Q(s, a),

with u(s') = R(s, a, s') + gamma V(s') and B(p, e) the distributions within L1 distance e of p (`hreach.kernels`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, at, inlined, inner
from hreach.kernels.lanes import load, plus, store, times


@inner
def sort_by(target: Array, order: NDArray[np.int64]) -> None:
    """Order of the states by target, lowest first (insertion: warm from the last call, so nearly sorted)."""
    for i in range(1, order.size):
        state = order[i]
        k = i
        while k > 0 and target[order[k - 1]] > target[state]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = state


@inlined
def end_at_best(reward: Array, s: int, a: int) -> float:
    """What ending the episode is worth at best: max_s' R(s, a, s') where the reward depends on s'."""
    best = -np.inf
    for j in range(reward.shape[2]):
        best = max(best, reward[s, a, j])
    return best


@inner
def _ball_gain(
    mean: Array, i: int, radius: float, target: Array, order: NDArray[np.int64], gone: float, parting: float,
    best_end: float,
) -> float:  # fmt: skip
    """What the best model within L1 distance `radius` of pair i's mean p adds to sum_s' p(s') target(s').

    Half the radius moves to the best outcome, taken from the worst ones (Strehl & Littman 2008): exact. Besides the
    states there is the end: `gone` is its weight, `parting` its target, `best_end` what it could be worth (-inf: there
    is no end).
    """
    best: float = max(target[order[order.size - 1]], best_end)
    left = radius / 2.0
    gain: float = 0.0
    for k in range(order.size):
        state = order[k]
        if gone > 0.0 and parting <= target[state]:
            taken = min(gone, left)
            gain += taken * (best - parting)
            left -= taken
            gone = 0.0
        taken = min(mean[i // 4, state, i % 4], left)
        gain += taken * (best - target[state])
        left -= taken
        if left <= 0.0:
            return gain
    gain += min(gone, left) * (best - parting)
    return gain


@inner
def _backup_per_transition(
    mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array, reward: Array, gamma: float,
    value: Array, q: Array, target: Array, order: NDArray[np.int64], ends: bool,
) -> None:  # fmt: skip
    """q <- Q of `value` where the reward depends on s': the order of the targets is each pair's own."""
    states, actions = reward.shape[:2]
    for i in range(states * actions):
        expected = 0.0
        best = -np.inf
        for j in range(states):
            target[j] = reward[i // actions, i % actions, j] + gamma * value[j]
            expected += mean[i // 4, j, i % 4] * target[j]
            best = max(best, target[j])
        best_end = end_at_best(reward, i // actions, i % actions) if ends else -np.inf
        q[i] = base[i] + expected + reach[i] * max(best, best_end)
        if radius[i] > 0.0:
            sort_by(target, order)
            q[i] += _ball_gain(mean, i, radius[i], target, order, gone[i], parting[i], best_end)


@inner
def _add_ball_gains(
    mean: Array, gone: Array, radius: Array, gamma: float, value: Array, q: Array, order: NDArray[np.int64], ends: bool
) -> None:
    """q <- q + gamma times what each pair's L1 ball adds."""
    sort_by(value, order)
    for i in range(radius.size):
        if radius[i] > 0.0:
            q[i] += gamma * _ball_gain(mean, i, radius[i], value, order, gone[i], 0.0, 0.0 if ends else -np.inf)


@inlined
def _backup(
    mean: Array, gone: Array, reach: Array, base: Array, radius: Array, gamma: float,
    value: Array, q: Array, order: NDArray[np.int64], balls: bool, ends: bool,
) -> None:  # fmt: skip
    """q <- Q of `value` where the reward does not depend on s': one best outcome for all pairs.

    `balls` is False if every radius is 0.
    """
    blocks, states, _ = mean.shape
    top = value[0]
    for s in range(1, states):
        if value[s] > top:
            top = value[s]
    if ends and top < 0.0:
        top = 0.0
    for b in range(blocks):
        i = 4 * b
        sums = times(load(reach, i), top)
        for j in range(states):
            sums = plus(sums, times(load(mean, i * states + 4 * j), value[j]))
        store(q, i, plus(load(base, i), times(sums, gamma)))
    if balls:
        _add_ball_gains(mean, gone, radius, gamma, value, q, order, ends)


@inlined
def sweep(
    mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array, reward: Array, gamma: float,
    cap: float, value: Array, q: Array, target: Array, order: NDArray[np.int64], actions: int, balls: bool, ends: bool,
) -> float:  # fmt: skip
    """q <- Q of `value`, value <- max_a q, target <- what value was; returns max |value - target|, its residual."""
    states = value.size
    if reward.shape[2] == states and states > 1:
        _backup_per_transition(
            mean, gone, parting, reach, base, radius, reward, gamma, value, q, target, order, ends
        )  # fmt: skip
    else:
        _backup(mean, gone, reach, base, radius, gamma, value, q, order, balls, ends)
    residual = 0.0
    for s in range(states):
        best = -np.inf
        for a in range(actions):
            i = at(s * actions + a)
            q[i] = min(q[i], cap)
            best = max(best, q[i])
        change = abs(best - value[s])
        if change > residual:
            residual = change
        target[s] = value[s]
        value[s] = best
    return residual
