"""What an environment tells of itself: the one place that asks.

A `TabularMDP` is its own truth, and its reward is known. An environment tells its truth by `.mdp()` and the reward that
an agent may know by `known_reward`; wrappers are looked through.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hreach.problems.mdp import TabularMDP


def truth_of(env: Any) -> TabularMDP | None:
    """The MDP behind an environment, or None if it does not tell."""
    if isinstance(env, TabularMDP):
        return env
    tell = getattr(core_of(env), "mdp", None)
    if not callable(tell):
        return None
    mdp = tell()
    assert isinstance(mdp, TabularMDP)
    return mdp


def known_reward_of(env: Any) -> NDArray[np.float64] | None:
    """What an agent may know of the reward, (S, A) or (S, A, S), or None."""
    if isinstance(env, TabularMDP):
        return env.reward_table()
    reward: NDArray[np.float64] | None = getattr(core_of(env), "known_reward", None)
    return reward


def core_of(env: Any) -> Any:
    """The environment inside its wrappers."""
    return getattr(env, "unwrapped", env)
