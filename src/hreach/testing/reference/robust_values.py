"""Values over confidence sets as they are defined: dense rows, a bisection for every row, value iteration. Slow."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import rel_entr

from hreach.protocols import Bools, Floats, Ints


def extreme_mean(p: Floats, u: Floats, budget: Floats, possible: Bools | None = None) -> Floats:
    """max {q.u : KL(p || q) <= budget} of rows p, u (N, K), budget (N,), q on the `possible` outcomes (default: all).

    By its dual, min over nu >= max u of nu - e^{-b} prod_i (nu - u_i)^{p_i}, a convex function of nu, by golden section
    on ln(nu - max u) from e^-60 to e^60 ranges of u; nu = max u is tried as well.
    """
    top = np.max(u if possible is None else np.where(possible, u, -np.inf), axis=1)
    gap = np.maximum(top[:, None] - u, 0.0)
    scale = np.maximum(np.max(np.where(p > 0, gap, 0.0), axis=1), 1e-300)

    def bound(x: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(p > 0, p * np.log(x[:, None] + gap), 0.0).sum(axis=1)
        return np.asarray(x - np.exp(logs - budget))

    golden = (np.sqrt(5) - 1) / 2
    low, high = np.full(len(p), -60.0), np.full(len(p), 60.0)
    for _ in range(120):
        left, right = high - golden * (high - low), low + golden * (high - low)
        worse = bound(scale * np.exp(left)) > bound(scale * np.exp(right))
        low, high = np.where(worse, left, low), np.where(worse, high, right)
    found = np.minimum(bound(scale * np.exp((low + high) / 2)), bound(np.zeros(len(p))))
    return np.asarray(top + np.where(np.isinf(budget), 0.0, np.minimum(found, 0.0)))


def robust_value(
    counts: Floats,
    reward: Floats,
    gamma: float,
    budget: Floats,
    which: Literal["lower", "safest", "upper"],
    policy: Ints | None = None,
) -> Floats:
    """L^pi, the largest L of any policy, or U, (S,), of counts (S, A, S), rewards (S, A) or (S, A, S), budgets (S, A).

    Episodes do not end.
    """
    states, actions, _ = counts.shape
    total = counts.sum(axis=2, keepdims=True)
    p = np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0).reshape(-1, states)
    sign = 1.0 if which == "upper" else -1.0
    paid = reward.reshape(states, actions, -1)
    value = np.zeros(states)
    while True:
        target = np.broadcast_to(paid + gamma * value, counts.shape).reshape(-1, states)
        q = sign * extreme_mean(p, sign * target, budget.reshape(-1))
        table = q.reshape(states, actions)
        new = table.max(axis=1) if which != "lower" else table[np.arange(states), policy]
        if np.abs(new - value).max() <= 1e-12 * max(1.0, float(np.abs(new).max())):
            return np.asarray(new)
        value = new


def coupled_gap(
    counts: Floats, gamma: float, budget: Floats, policy: Ints, upper_q: Floats, lower: Floats, floor_q: Floats
) -> Floats:
    """D, (S,), of UQ (S, A), L^pi (S,) and LQ(s, pi(s)) (S,): `hreach.kernels.robust_gap`, by value iteration."""
    states = len(policy)
    every = np.arange(states)
    total = counts[every, policy].sum(axis=1, keepdims=True)
    p = np.divide(counts[every, policy], total, out=np.zeros((states, states)), where=total > 0)
    other = np.arange(upper_q.shape[1])[None, :] != policy[:, None]
    value = np.zeros(states)
    while True:
        g = gamma * extreme_mean(p, np.broadcast_to(value, p.shape), budget[every, policy])
        image = np.minimum(upper_q - lower[:, None], upper_q - floor_q[:, None] + g[:, None])
        new = np.maximum(g, np.max(np.where(other, image, -np.inf), axis=1))
        if np.abs(new - value).max() <= 1e-12 * max(1.0, float(np.abs(new).max())):
            return np.asarray(new)
        value = new


def most_share(p: float, budget: float) -> float:
    """The largest q of kl(p | q) <= budget, by bisection."""
    low, high = p, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        inside = rel_entr(p, middle) + rel_entr(1 - p, 1 - middle) <= budget
        low, high = (middle, high) if inside else (low, middle)
    return high


def box_rooms(counts: Floats, budget: float, h: float, prior: float) -> tuple[Floats, float]:
    """Units that each seen outcome of counts (K,) can be given at most, (K,), and all the others together."""
    size, n = counts.size, counts.sum()
    alpha, weight = counts + prior / size, n + prior + h
    most = np.array([most_share(float(c / n), budget) if c > 0 else 0.0 for c in counts])
    room = np.where(counts > 0, np.maximum(np.ceil(weight * most - alpha + 1e-9), 0.0), 0.0)
    return room, float(np.floor(weight * (1 - np.exp(-budget)) + min(h, size / 4) + 1e-6))


def box_mean(counts: Floats, u: Floats, h: float, prior: float, room: Floats, spare: float) -> float:
    """P^{d*}.u at most, counts and u (K,): h units from the best outcome downwards, each up to its room."""
    weight = counts.sum() + prior + h
    if weight == 0:
        return float(u.mean())
    total, left = float((counts + prior / u.size) @ u), float(h)
    for i in np.argsort(-u, kind="stable"):
        given = min(left, room[i] if counts[i] > 0 else spare)
        spare -= 0.0 if counts[i] > 0 else given
        total += given * u[i]
        left -= given
    return float((total + left * u.max()) / weight)


def box_value(counts: Floats, reward: Floats, gamma: float, budget: Floats, h: float, prior: float) -> Floats:
    """The fixed point of the box, (S,), of counts (S, A, S), rewards (S, A, 1) or (S, A, S), budgets (S, A)."""
    states, actions, _ = counts.shape
    rooms = [box_rooms(counts[s, a], budget[s, a], h, prior) for s in range(states) for a in range(actions)]
    value = np.zeros(states)
    while True:
        target = np.broadcast_to(reward + gamma * value, counts.shape)
        means = [
            box_mean(counts[s, a], target[s, a], h, prior, *rooms[s * actions + a])
            for s in range(states)
            for a in range(actions)
        ]
        new = np.reshape(means, (states, actions)).max(axis=1)
        if np.abs(new - value).max() <= 1e-9:
            return np.asarray(new)
        value = new
