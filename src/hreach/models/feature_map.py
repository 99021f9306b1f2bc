"""What every feature map has in common: the checks of its input, and the call. The maps are in `features`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.errors import InputError, number, require, whole

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Numbers = float | Sequence[float]


class FeatureMap(ABC):
    """A map of `states` state components and an action to `size` features."""

    states: int
    size: int

    def __call__(self, states: ArrayLike, actions: ArrayLike) -> Array:
        """Phi(s, a) of every row: states (N, nS), actions (N,) -> (N, size). Both are checked."""
        points = check_states(states, self.states)
        return self._values(points, check_actions(actions, len(points)))

    @abstractmethod
    def _values(self, states: Array, actions: Integers) -> Array:
        """The same for input that has been checked, which is what composed maps call."""


def check_states(states: ArrayLike, width: int) -> Array:
    """States as finite floats of shape (N, width)."""
    try:
        result = np.asarray(states, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"states is {states!r}, but must be an array of numbers.") from error
    require(result.ndim == 2 and result.shape[1] == width, "shape of states", result.shape, f"(N, {width})")
    require(bool(np.isfinite(result).all()), "states", result, "finite")
    return result


def check_actions(actions: ArrayLike, rows: int) -> Integers:
    """Actions as integers of at least 0, shape (rows,)."""
    result = np.asarray(actions)
    require(result.dtype.kind in "iu", "actions", actions, "whole numbers")
    require(result.shape == (rows,), "shape of actions", result.shape, f"({rows},), one for each state")
    require(bool((result >= 0).all()), "actions", actions, "at least 0")
    return result.astype(np.int64)


def in_range(actions: Integers, count: int) -> None:
    """Refuse actions that do not exist."""
    require(bool((actions < count).all()), "actions", actions, f"below {count}")


def numbers(name: str, value: ArrayLike, length: int | None = None) -> tuple[float, ...]:
    """`value` as a tuple of finite numbers; one number stands for `length` equal ones."""
    each = value if np.ndim(value) > 0 and isinstance(value, Iterable) else [value] * (length or 1)
    result = tuple(number(name, v) for v in each)
    require(bool(np.isfinite(result).all()), name, value, "finite")
    require(length is None or len(result) == length, name, value, f"one number or {length} of them")
    return result


def indices(chosen: Sequence[int], states: int) -> tuple[int, ...]:
    """`chosen` as indices of a state of `states` components."""
    result = tuple(whole("components", c, 0) for c in chosen)
    require(len(result) > 0 and max(result) < states, "components", chosen, f"of the state, from 0 to {states - 1}")
    return result


def plain(value: object) -> object:
    """Lists, as TOML gives them, as tuples."""
    return tuple(plain(v) for v in value) if isinstance(value, list | tuple) else value


def fill(target: object, **values: object) -> None:
    """Set fields of a frozen value while it is being made."""
    for name, value in values.items():
        object.__setattr__(target, name, value)
