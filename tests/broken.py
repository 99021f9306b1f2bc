"""Environments that are broken, each in one way of its own: a line of five states, the last of which is the end."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Line(gymnasium.Env[Any, Any]):
    """Sound: action 1 goes on, action 0 back; the end pays 1."""

    def __init__(self) -> None:
        self.observation_space: Any = spaces.Discrete(5)
        self.action_space: Any = spaces.Discrete(2)
        self.at = self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = 0
        return self.seen(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        self.at = max(0, self.at + (1 if action else -1))
        over = self.at >= 4
        return self.seen(), float(over), over, False, {}

    def seen(self) -> Any:
        return self.at


class FourTuple(Line):
    def step(self, action: Any) -> Any:
        return super().step(action)[:4]


class Outside(Line):
    def seen(self) -> Any:
        return 7 if self.at == 3 else self.at


class NanReward(Line):
    def step(self, action: Any) -> Any:
        return self.seen(), float("nan"), False, False, {}


class InfiniteReward(Line):
    def step(self, action: Any) -> Any:
        return self.seen(), float("inf"), False, False, {}


class Unseeded(Line):
    def step(self, action: Any) -> Any:
        return super().step(int(np.random.default_rng().integers(2)))


class NeverEnds(Line):
    def step(self, action: Any) -> Any:
        self.at = (self.at + 1) % 5
        return self.at, 0.0, False, False, {}


class Raises(Line):
    def step(self, action: Any) -> Any:
        if self.steps > 50:
            raise KeyError("sensor")
        return super().step(action)


class OtherActions(Line):
    def step(self, action: Any) -> Any:
        if self.steps == 40:
            self.action_space = spaces.Discrete(3)
        return super().step(action)


class ContinuousActions(Line):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Box(-1, 1, (1,))


class Unhashable(Line):
    def seen(self) -> Any:
        return {"position": [self.at]}


class SeedlessReset(Line):
    def reset(self) -> Any:  # type: ignore[override]
        return super().reset()


class WrongType(Line):
    def seen(self) -> Any:
        return np.array([float(self.at)])


class FloatingPairs(Line):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = spaces.MultiDiscrete([5, 2])

    def seen(self) -> Any:
        return np.array([self.at, 0.0])


class Unbounded(Line):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,))

    def seen(self) -> Any:
        return np.array([self.at, 0], dtype=np.float32)


class NotInstalled(Line):
    def __init__(self) -> None:
        raise gymnasium.error.DependencyNotInstalled('box2d is not installed, run `pip install "gymnasium[box2d]"`')


class ResetsBadly(Line):
    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed=seed)[0]


def fails() -> Any:
    raise FileNotFoundError("map.txt")
