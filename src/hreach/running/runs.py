"""What many runs earned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hreach.protocols import Plain


@dataclass(frozen=True)
class Runs:
    """Runs by steps or by episodes.

    reward       (runs, steps): of each step; by episodes (runs, episodes): the total of each episode
    agent        the constants in force and whether they come from theory or were given, as the agent describes itself
    visits       (runs, S, A), how often each pair was learnt from; None unless asked for
    ended        (runs, steps), whether a step ended its episode; None unless asked for
    length       by episodes, (runs, episodes): the steps of each
    terminated   by episodes, (runs, episodes): whether it ended by the environment's rules, such as at a goal
    """

    reward: NDArray[np.float64]
    agent: Plain
    visits: NDArray[np.float64] | None = None
    ended: NDArray[np.bool_] | None = None
    length: NDArray[np.int64] | None = None
    terminated: NDArray[np.bool_] | None = None

    @property
    def average_reward(self) -> NDArray[np.float64]:
        """Reward per step of each run, shape (runs,)."""
        if self.length is None:
            return np.asarray(self.reward.mean(axis=1))
        return np.asarray(self.reward.sum(axis=1) / self.length.sum(axis=1))

    @property
    def mean(self) -> float:
        """Mean over runs of the average reward."""
        return float(self.average_reward.mean())

    @property
    def se(self) -> float:
        """Standard error of `mean` (nan for a single run)."""
        runs = len(self.reward)
        return float(self.average_reward.std(ddof=1) / np.sqrt(runs)) if runs > 1 else float("nan")

    def quantile(self, q: float) -> float:
        """Quantile over runs of the average reward."""
        return float(np.quantile(self.average_reward, q))
