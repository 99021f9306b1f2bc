"""One agent in one environment: act, step, observe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hreach.errors import require, whole
from hreach.seeding import check_seed


@dataclass(frozen=True)
class Run:
    """What happened: arrays of length `steps` (states: with the shape of an observation), and when episodes ended.

    ended, terminated   the last step of each episode that ended, and whether by the environment's rules (such as at a
                        goal), not for lack of time
    next_states         the state after each step, before a new episode begins
    """

    rewards: NDArray[np.float64]
    states: NDArray[Any]
    actions: NDArray[np.int64]
    ended: NDArray[np.int64]
    terminated: NDArray[np.bool_]
    next_states: NDArray[Any]

    @property
    def last_state(self) -> NDArray[Any]:
        """The state after the last step."""
        return np.asarray(self.next_states[-1])

    @property
    def average_reward(self) -> float:
        """Reward per step over the whole run."""
        return float(self.rewards.mean())

    @property
    def episode_rewards(self) -> NDArray[np.float64]:
        """Total reward of each episode that ended."""
        return np.diff(np.cumsum(self.rewards)[self.ended], prepend=0.0)


def run(env: Any, agent: Any, steps: int | None = None, seed: int = 0, *, episodes: int | None = None) -> Run:
    """Let `agent` act in a Gymnasium environment for `steps` steps, or until `episodes` episodes have ended.

    Episodes that end are followed by new ones.

    >>> import hreach
    >>> env = hreach.make_domain("chain")
    >>> hreach.run(env, hreach.make_agent("pac-rmdp", env, h=8), steps=100).rewards.shape
    (100,)
    """
    require(steps is not None or episodes is not None, "steps", steps, "given, unless episodes is")
    last = math.inf if steps is None else whole("steps", steps, 1)
    wanted = math.inf if episodes is None else whole("episodes", episodes, 1)
    check_seed(seed)
    rewards: list[float] = []
    states: list[Any] = []
    following: list[Any] = []
    actions: list[int] = []
    ended: list[int] = []
    goals: list[bool] = []
    reads = getattr(agent, "reads", None)  # what a linear agent learns from, if it is not the next state
    state, _ = env.reset(seed=seed)
    while len(rewards) < last and len(ended) < wanted:
        action = agent.act(state)
        next_state, reward, terminated, truncated, info = env.step(action)
        if reads is None:
            agent.observe(state, action, reward, next_state, terminated)
        else:
            agent.observe(state, action, reward, next_state, terminated, info[reads])
        rewards.append(reward)
        states.append(state)
        following.append(next_state)
        actions.append(action)
        state = next_state
        if terminated or truncated:
            ended.append(len(rewards) - 1)
            goals.append(bool(terminated))
            state, _ = env.reset()
    return Run(
        np.array(rewards, dtype=np.float64),
        np.array(states),
        np.array(actions, dtype=np.int64),
        np.array(ended, dtype=np.int64),
        np.array(goals, dtype=np.bool_),
        np.array(following),
    )
