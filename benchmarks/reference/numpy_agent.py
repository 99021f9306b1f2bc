"""PAC-RMDP(h) on the chain in plain NumPy: vectorised value iteration, warm start, one run at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from hreach.testing.reference.value_iteration import Optimistic, value_iteration


def run(env: Any, h: float, steps: int, seed: int, gamma: float = 0.95, tolerance: float = 0.01) -> float:
    """Average reward of one run; the same algorithm as `hreach.run` with `pac-rmdp`."""
    rng = np.random.default_rng(seed)
    states, actions = env.observation_space.n, env.action_space.n
    counts = np.full((states, actions, states), 1 / states)
    reward = env.known_reward[..., None]
    nothing = np.zeros((states, actions))
    value, total = np.zeros(states), 0.0
    state, _ = env.reset(seed=seed)
    for _ in range(steps):
        n = counts.sum(axis=2)
        given = Optimistic(counts / n[..., None], h / (n + h), nothing, nothing, reward, gamma)
        value, q, _, _ = value_iteration(given, value, tolerance)
        best = np.flatnonzero(q[state] >= q[state].max() - 1e-9)
        action = int(rng.choice(best)) if len(best) > 1 else int(best[0])
        following, paid, *_ = env.step(action)
        counts[state, action, following] += 1
        total += paid
        state = following
    return total / steps
