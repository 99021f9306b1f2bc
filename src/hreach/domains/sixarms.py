"""SixArms of Strehl & Littman (2008), "An analysis of model-based interval estimation for Markov decision processes".

Rewards / 6000. In the hall (state 0) action i opens the door of room i + 1 with probability chances[i], else nothing
happens. A room's own action i keeps the agent there and pays pays[i]; every other action leads back to the hall and
pays nothing. The first room is easy: every action but the last but one keeps the agent there and pays pays[0]. The
best room pays most and opens least: whoever gives up on its door after a few tries earns little for ever.

The known reward is R(s, a).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hreach.domains.tabular import TabularEnv
from hreach.errors import array, require
from hreach.problems.mdp import TabularMDP

CHANCES = (1.0, 0.15, 0.1, 0.05, 0.03, 0.01)
PAYS = (50 / 6000, 133 / 6000, 300 / 6000, 800 / 6000, 1660 / 6000, 1.0)


class SixArms(TabularEnv):
    """`SixArms(chances=(1, .15, .1, .05, .03, .01), pays=(50, 133, 300, 800, 1660, 6000) / 6000, gamma=0.95)`."""

    def __init__(self, chances: Sequence[float] = CHANCES, pays: Sequence[float] = PAYS, gamma: float = 0.95) -> None:
        opens, pay = array("chances", chances), array("pays", pays)
        ok = opens.ndim == 1 and len(opens) >= 2 and bool(np.all((opens >= 0) & (opens <= 1)))
        require(ok, "chances", chances, "two or more probabilities from 0 to 1")
        require(pay.shape == opens.shape, "pays", pays, f"as many numbers as there are chances ({len(opens)})")
        arms = len(opens)
        P = np.zeros((arms + 1, arms, arms + 1))
        R = np.zeros((arms + 1, arms))
        for i in range(arms):
            P[0, i, i + 1], P[0, i, 0] = opens[i], 1 - opens[i]
            stays = np.arange(arms) != arms - 2 if i == 0 else np.arange(arms) == i
            P[i + 1, stays, i + 1], P[i + 1, ~stays, 0] = 1, 1
            R[i + 1, stays] = pay[i]
        super().__init__(TabularMDP(P, R, gamma), R)
