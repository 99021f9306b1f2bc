"""The modified chain of the paper's appendix A5: a low-probability, high-consequence first step.

Action 0 leaves the first state with probability `escape` only; elsewhere it moves forward with probability
1 - `fall` and else falls back to the first state. Action 1 always resets. `small` is paid for taking action 1,
`large` for taking action 0 in the last state, 0 otherwise; this reward is known.
"""

from __future__ import annotations

import numpy as np

from hreach.domains.chain import nominal_reward
from hreach.domains.tabular import TabularEnv
from hreach.errors import number, require, whole
from hreach.problems.mdp import TabularMDP


class ModifiedChain(TabularEnv):
    """`ModifiedChain(length=5, escape=0.05, fall=0.01, small=0.2, large=1.0, gamma=0.95)`."""

    def __init__(
        self,
        length: int = 5,
        escape: float = 0.05,
        fall: float = 0.01,
        small: float = 0.2,
        large: float = 1.0,
        gamma: float = 0.95,
    ) -> None:
        length = whole("length", length, 2)
        for name, value in (("escape", escape), ("fall", fall)):
            require(0 <= number(name, value) <= 1, name, value, "a probability from 0 to 1")
        P = np.zeros((length, 2, length))
        P[0, 0, 1], P[0, 0, 0] = escape, 1 - escape
        for s in range(1, length):
            P[s, 0, min(s + 1, length - 1)], P[s, 0, 0] = 1 - fall, fall
        P[:, 1, 0] = 1
        R = nominal_reward(length, small, large)
        super().__init__(TabularMDP(P, R, gamma), R)
