"""The five-state chain of Strens (2000), "A Bayesian framework for reinforcement learning", rewards / 10.

Action 0 moves one state forward, action 1 resets to the first state; with probability `slip` the other action's
effect happens instead. The environment pays for the effect: `small` for a reset, `large` for moving forward in
the last state, 0 otherwise. The best policy always moves forward (.3677 a step), but resetting pays at once.

The known reward is the nominal one of the action, R(s, a), as if it never slipped.
"""

from __future__ import annotations

import numpy as np

from hreach.domains.tabular import TabularEnv
from hreach.errors import finite, number, require, whole
from hreach.problems.mdp import TabularMDP


class Chain(TabularEnv):
    """`Chain(length=5, slip=0.2, small=0.2, large=1.0, gamma=0.95)`."""

    def __init__(
        self,
        length: int = 5,
        slip: float = 0.2,
        small: float = 0.2,
        large: float = 1.0,
        gamma: float = 0.95,
    ) -> None:
        length = whole("length", length, 2)
        slip = number("slip", slip)
        require(0 <= slip <= 1, "slip", slip, "a probability from 0 to 1")
        forward = np.minimum(np.arange(length) + 1, length - 1)
        P = np.zeros((length, 2, length))
        for s in range(length):
            P[s, 0, forward[s]], P[s, 0, 0] = 1 - slip, slip
            P[s, 1, forward[s]], P[s, 1, 0] = slip, 1 - slip
        R = np.zeros((length, 2, length))
        R[:, :, 0] = finite("small", small)
        R[-1, :, -1] = finite("large", large)
        super().__init__(TabularMDP(P, R, gamma), nominal_reward(length, small, large))


def nominal_reward(length: int, small: float, large: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """R(s, a), shape (length, 2): `small` for a reset, `large` for moving forward in the last state."""
    R = np.zeros((length, 2))
    R[:, 1] = finite("small", small)
    R[-1, 0] = finite("large", large)
    return R
