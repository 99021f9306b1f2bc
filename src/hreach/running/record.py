"""What happened in a run, and the same while it grows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hreach.protocols import State, States


@dataclass(frozen=True)
class Run:
    """What happened: arrays of length `steps` (states: with the shape of an observation), and when episodes ended.

    ended, terminated   the last step of each episode that ended, and whether by the environment's rules (such as at a
                        goal), not for lack of time
    next_states         the state after each step, before a new episode begins
    stopped             why a rule ended the run, as a sentence; nothing where none did
    """

    rewards: NDArray[np.float64]
    states: States
    actions: NDArray[np.int64]
    ended: NDArray[np.int64]
    terminated: NDArray[np.bool_]
    next_states: States
    stopped: str = ""

    @property
    def last_state(self) -> States:
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


@dataclass(frozen=True)
class Record:
    """The arrays of a `Run` while they grow."""

    rewards: list[float] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    following: list[State] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    goals: list[bool] = field(default_factory=list)

    def run(self) -> Run:
        """The steps of which everything is here: Ctrl-C may come in the middle of one, and `actions` is its last."""
        steps, episodes = len(self.actions), len(self.goals)
        return Run(
            np.array(self.rewards[:steps], dtype=np.float64),
            np.array(self.states[:steps]),
            np.array(self.actions, dtype=np.int64),
            np.array(self.ended[:episodes], dtype=np.int64),
            np.array(self.goals, dtype=np.bool_),
            np.array(self.following[:steps]),
        )

    def begin_with(self, done: Run) -> None:
        """Put the steps of another run before those to come; nothing was recorded yet."""
        self.rewards.extend(done.rewards.tolist())
        self.states.extend(done.states)
        self.following.extend(done.next_states)
        self.actions.extend(done.actions.tolist())
        self.ended.extend(done.ended.tolist())
        self.goals.extend(done.terminated.tolist())
