"""What an environment tells of itself: the one place that asks.

A `TabularMDP` is its own truth, and its reward is known. An environment tells its truth by `.mdp()`, or by the table of
Gymnasium's toy environments, and the reward that an agent may know by `known_reward`; wrappers are looked through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hreach.problems.arrays import Array
from hreach.problems.mdp import TabularMDP

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@runtime_checkable
class Wrapper(Protocol):
    """What Gymnasium's environments have: the one inside all wrappers, or itself."""

    @property
    def unwrapped(self) -> object: ...  # noqa: D102


@runtime_checkable
class TellsTruth(Protocol):
    """An environment that knows its MDP."""

    def mdp(self) -> TabularMDP: ...  # noqa: D102


@runtime_checkable
class TellsReward(Protocol):
    """An environment with a reward that agents may know, (S, A) or (S, A, S), or None."""

    known_reward: Array | None


@runtime_checkable
class Draws(Protocol):
    """An environment that draws an episode."""

    def episode_figure(self, states: Array, actions: NDArray[np.int64]) -> Figure:
        """A picture of states (T + 1, nS) and actions (T,)."""


def truth_of(env: object, gamma: float | None = None) -> TabularMDP | None:
    """The MDP behind an environment, or None if it does not tell; with this discount, if one is given.

    Gymnasium's own tables (`env.unwrapped.P`) know no discount: they are the truth only where one is given.
    """
    if isinstance(env, TabularMDP):
        return _discounted(env, gamma)
    core = core_of(env)
    if isinstance(core, TellsTruth) and callable(core.mdp):
        mdp = core.mdp()
        assert isinstance(mdp, TabularMDP)
        return _discounted(mdp, gamma)
    if gamma is None:
        return None
    from hreach.problems.gymnasium_table import table_of

    return table_of(env, gamma)


def known_reward_of(env: object) -> Array | None:
    """What an agent may know of the reward, (S, A) or (S, A, S), or None."""
    if isinstance(env, TabularMDP):
        return env.reward_table()
    core = core_of(env)
    return core.known_reward if isinstance(core, TellsReward) else None


def _discounted(mdp: TabularMDP, gamma: float | None) -> TabularMDP:
    return mdp if gamma is None or gamma == mdp.gamma else mdp.with_(gamma=gamma)


def core_of(env: object) -> object:
    """The environment inside its wrappers."""
    return env.unwrapped if isinstance(env, Wrapper) else env
