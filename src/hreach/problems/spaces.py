"""Spaces of tables: how many elements they have, and which of them a value is."""

from __future__ import annotations

from gymnasium.spaces import Box, Discrete

from hreach.errors import InputError, shown
from hreach.protocols import State


def space_of(env: object, name: str) -> object:
    """A space of an environment; None if it has none of this name."""
    return getattr(env, name, None)


def size_of(env: object, name: str) -> int:
    """How many elements a space of an environment has; they are numbered from 0."""
    space = space_of(env, name)
    if isinstance(space, Discrete) and space.start == 0:
        return int(space.n)
    advice = "give a TabularMDP, or number its elements from 0 with a wrapper"
    if isinstance(space, Box):
        advice = (
            "use a linear agent with a task (hreach.Task), or a wrapper that puts states into bins"
            if name == "observation_space"
            else "use a wrapper with finitely many actions, such as Gymnasium's DiscretizeAction"
        )
    raise InputError(f"{name} is {shown(space)}, but must be Discrete and start at 0 ({advice}).")


def index_of(field: str, value: State, size: int) -> int:
    """A state or an action as its number, from 0 to size - 1; errors name it `field`."""
    index = int(value)
    if 0 <= index < size and index == value:
        return index
    raise InputError(f"{field} is {shown(value)}, but must be a whole number from 0 to {size - 1}.")
