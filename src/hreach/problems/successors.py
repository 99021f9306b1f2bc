"""Which next states are possible, where an agent is told."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hreach.errors import InputError, require
from hreach.problems.arrays import Ints
from hreach.problems.problem import Successors
from hreach.problems.truth import truth_of

Told = str | tuple[ArrayLike, ArrayLike] | None  # "known": as the domain tells; arrays; None: nothing is told


def successors_of(env: object, told: Told, states: int, actions: int) -> Successors | None:
    """The possible next states of every pair, in CSR by pair s A + a, each once; None if nothing is told."""
    if told is None:
        return None
    if isinstance(told, str):
        require(told == "known", "successors", told, "'known', or arrays (first, next_state)")
        mdp = truth_of(env)
        if mdp is None:
            raise InputError("successors is 'known', but this environment does not tell its MDP; give the arrays.")
        return Successors(mdp.indptr, mdp.next_state)
    require(isinstance(told, tuple | list) and len(told) == 2, "successors", told, "'known', or (first, next_state)")
    first, following = _whole(told[0]), _whole(told[1])
    fits = first.shape == (states * actions + 1,) and first[0] == 0 and first[-1] == following.size
    require(bool(fits), "successors first", first, f"{states * actions + 1} numbers from 0 to {following.size}")
    require(bool((np.diff(first) > 0).all()), "successors first", first, "ascending: each pair has a next state")
    inside = bool(((following >= 0) & (following < states)).all())
    require(inside, "successors next_state", following, f"states from 0 to {states - 1}")
    pair = np.repeat(np.arange(states * actions), np.diff(first))
    each = np.unique(pair * states + following)
    return Successors(np.searchsorted(each, np.arange(states * actions + 1) * states), each % states)


def _whole(numbers: ArrayLike) -> Ints:
    array = np.asarray(numbers)
    ok = array.ndim == 1 and array.size > 0 and array.dtype.kind in "iu"
    require(ok, "successors", numbers, "whole numbers, shape (N,)")
    return array.astype(np.int64)
