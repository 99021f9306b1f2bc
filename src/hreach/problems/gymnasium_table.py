"""The table that Gymnasium's toy environments carry: `env.unwrapped.P`, as in FrozenLake, Taxi and CliffWalking.

P[s][a] lists (probability, next state, reward, terminated). Entries of one next state are merged: the reward is their
mean and the end their share, which leaves every value as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import gymnasium
import numpy as np
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, RecordEpisodeStatistics, TimeLimit
from numpy.typing import NDArray
from scipy import sparse

from hreach.errors import InputError
from hreach.problems.mdp import TabularMDP

_HARMLESS = (OrderEnforcing, PassiveEnvChecker, TimeLimit, RecordEpisodeStatistics)
Entries = Sequence[tuple[float, int, float, bool]]


@runtime_checkable
class HasTable(Protocol):
    """An environment with such a table and the distribution of its first state."""

    P: Mapping[int, Mapping[int, Entries]]
    initial_state_distrib: NDArray[np.float64]


@runtime_checkable
class _Fickle(Protocol):
    fickle_passenger: bool


def table_of(env: object, gamma: float) -> TabularMDP | None:
    """The MDP of the table, or None if there is none, or a wrapper or an option may make it untrue."""
    while isinstance(env, _HARMLESS):
        env = env.env
    if isinstance(env, gymnasium.Wrapper) or not isinstance(env, HasTable) or not isinstance(env.P, Mapping):
        return None
    if isinstance(env, _Fickle) and env.fickle_passenger:
        return None  # Taxi: the passenger changes his mind, of which the table knows nothing
    start = np.asarray(env.initial_state_distrib, dtype=np.float64)
    return from_table(env.P, gamma, start / start.sum())


def from_table(
    P: Mapping[int, Mapping[int, Entries]], gamma: float, start: int | NDArray[np.float64] = 0
) -> TabularMDP:
    """An MDP from such a table; `InputError` names what is missing."""
    states = len(P)
    actions = len(P[0]) if 0 in P else 0
    rows, columns, chance, paid, ends = [], [], [], [], []
    for s in range(states):
        for a in range(actions):
            try:
                entries = list(P[s][a])
            except (KeyError, IndexError, TypeError):
                raise InputError(f"P[{s}][{a}] is missing, but every state must have {actions} actions.") from None
            for p, following, reward, terminated in entries:
                rows.append(s * actions + a)
                columns.append(int(following))
                chance.append(float(p))
                paid.append(float(p) * float(reward))
                ends.append(float(p) * bool(terminated))
    shape = (states * actions, states)

    def summed(values: Sequence[float]) -> sparse.csr_array:
        return sparse.csr_array((np.array(values), (np.array(rows), np.array(columns))), shape=shape)

    weight = summed(chance)
    weight.sum_duplicates()
    reward, end = summed(paid), summed(ends)
    for each in (reward, end):
        each.sum_duplicates()
        each.data = np.divide(each.data, weight.data, out=np.zeros_like(weight.data), where=weight.data > 0)
    end.data = np.clip(end.data, 0.0, 1.0)
    whole = np.asarray(weight.sum(axis=1)).reshape(-1)
    weight.data /= np.repeat(np.where(np.abs(whole - 1) < 1e-6, whole, 1.0), np.diff(weight.indptr))
    return TabularMDP(weight, reward, gamma, start, end)
