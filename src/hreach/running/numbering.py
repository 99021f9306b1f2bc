"""States that are numbers, texts, tuples or arrays, numbered as they appear: of environments that count none.

With model="sparse-counts" an agent needs memory for the states that it met, not for `most` of them.
"""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path

import numpy as np
from gymnasium.spaces import Discrete

from hreach.errors import InputError, shown, whole
from hreach.files import write_text
from hreach.problems.spaces import size_of
from hreach.protocols import Environment, Info

Name = bool | int | float | str | tuple["Name", ...] | None


class Numbered:
    """`env` with its observations as numbers from 0 in the order of their appearance; arrays count as tuples.

    It tells no MDP and no reward, even if `env` does: those are numbered otherwise.

    most   how many different states there may be; one more is refused
    """

    def __init__(self, env: Environment, most: int = 1 << 20) -> None:
        self.env = env
        self.action_space = Discrete(size_of(env, "action_space"))
        self.observation_space = Discrete(whole("most", most, 1))
        self.most = most
        self.names: dict[Name, int] = {}

    def number(self, observation: object) -> int:
        """The number of a state; the next one if it is new."""
        name = _name(observation)
        found = self.names.get(name)
        if found is not None:
            return found
        if len(self.names) >= self.most:
            raise InputError(f"most is {self.most}, but must be above the number of different states; one more came.")
        self.names[name] = len(self.names)
        return len(self.names) - 1

    def reset(self, *, seed: int | None = None, options: dict[str, object] | None = None) -> tuple[int, Info]:
        """The first state of an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self.number(observation), info

    def step(self, action: int) -> tuple[int, float, bool, bool, Info]:
        """One step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self.number(observation), float(reward), terminated, truncated, info

    def save(self, path: str | Path) -> None:
        """The names of the states in their order, as JSON; tuples as lists."""
        write_text(Path(path), json.dumps(list(self.names)) + "\n")

    def load(self, path: str | Path) -> None:
        """Go on with names that were saved; `InputError` if they cannot be, and nothing is changed."""
        try:
            saved = json.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError:
            raise InputError(f"{path} is no JSON, but must hold the names of states.") from None
        if not isinstance(saved, list):
            raise InputError(f"{path} holds {shown(saved)}, but must hold a list of the names of states.")
        names = {_name(each): i for i, each in enumerate(saved)}
        if not len(names) == len(saved) <= self.most:
            raise InputError(f"{path} holds {len(saved)} names, but must hold at most {self.most}, each once.")
        self.names = names


def _name(value: object) -> Name:
    """A state as plain data that is hashed by what it holds."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and isnan(value):
        raise InputError("state is nan, but must be a number: nan equals nothing, itself included.")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return tuple(map(_name, value))
    raise InputError(f"state is {shown(value)}, but must be a number, a text, or a tuple or array of such.")
