"""One agent in one environment: act, step, observe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hreach.errors import whole
from hreach.seeding import check_seed


@dataclass(frozen=True)
class Run:
    """What happened: arrays of length `steps`, and the steps after which an episode ended."""

    reward: NDArray[np.float64]
    state: NDArray[np.int64]
    action: NDArray[np.int64]
    ended: NDArray[np.int64]

    @property
    def average_reward(self) -> float:
        """Reward per step over the whole run."""
        return float(self.reward.mean())


def run(env: Any, agent: Any, steps: int, seed: int = 0) -> Run:
    """Let `agent` act in a Gymnasium environment for `steps` steps; episodes that end are followed by new ones.

    >>> import hreach
    >>> env = hreach.make_domain("chain")
    >>> hreach.run(env, hreach.make_agent("pac-rmdp", env, h=8), steps=100).reward.shape
    (100,)
    """
    steps = whole("steps", steps, 1)
    check_seed(seed)
    rewards, states, actions = np.zeros(steps), np.zeros(steps, np.int64), np.zeros(steps, np.int64)
    ended = []
    state, _ = env.reset(seed=seed)
    for t in range(steps):
        action = agent.act(state)
        next_state, reward, terminated, truncated, _ = env.step(action)
        agent.observe(state, action, reward, next_state, terminated)
        rewards[t], states[t], actions[t] = reward, state, action
        state = next_state
        if terminated or truncated:
            ended.append(t)
            state, _ = env.reset()
    return Run(rewards, states, actions, np.array(ended, dtype=np.int64))
