"""A finite MDP as a Gymnasium environment."""

from __future__ import annotations

import gymnasium
import numpy as np
from numpy.typing import NDArray

from hreach.errors import require
from hreach.problems.mdp import TabularMDP


class TabularEnv(gymnasium.Env[np.int64, np.int64]):
    """Moves by the transition probabilities of `mdp`, pays its reward, and ends where the MDP says so.

    One uniform number is drawn for the start state and one for each step, and one more where chance decides whether a
    transition ends the episode. `known_reward` is what an agent may know: an array (S, A) or (S, A, S), or None if it
    has to be learnt; it may differ from what is paid.
    """

    def __init__(self, mdp: TabularMDP, known_reward: NDArray[np.float64] | None) -> None:
        self.observation_space = gymnasium.spaces.Discrete(mdp.states)
        self.action_space = gymnasium.spaces.Discrete(mdp.actions)
        self.known_reward = known_reward
        self._mdp = mdp
        self._start = np.cumsum(mdp.start)
        self._state = 0

    def mdp(self) -> TabularMDP:
        """The truth: what the agent has to find out."""
        return self._mdp

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[np.int64, dict[str, object]]:
        """Draw a start state."""
        super().reset(seed=seed)
        last = self._start.size - 1
        self._state = min(int(np.searchsorted(self._start, self.np_random.random(), side="right")), last)
        return np.int64(self._state), {}

    def step(self, action: np.int64) -> tuple[np.int64, float, bool, bool, dict[str, object]]:
        """Draw the next state, and whether the episode ends there; never truncates."""
        require(
            bool(0 <= action < self._mdp.actions), "action", action, f"a whole number from 0 to {self._mdp.actions - 1}"
        )
        self._state, reward, end = self._mdp.drawn(self._state, int(action), self.np_random.random())
        terminated = bool(end >= 1 or (end > 0 and self.np_random.random() < end))
        return np.int64(self._state), reward, terminated, False, {}
