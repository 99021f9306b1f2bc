"""Any environment, with plain names for states and numbers for actions; one sentence with the fix where it is broken.

It also keeps what the progress line and the folder need: episodes that ended, where they began and what they paid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan

import numpy as np
from gymnasium import spaces
from gymnasium.error import DependencyNotInstalled

from hreach.errors import InputError, shown
from hreach.exploring.spaces import Naming
from hreach.problems.spaces import space_of
from hreach.protocols import Environment, Info, State
from hreach.running.numbering import Name
from hreach.running.stepping import not_a_step, plain, reset

_CHECK = "mend it; gymnasium.utils.env_checker.check_env(env) may say more"


@dataclass
class Course:
    """What happened so far: total reward of each episode that ended, how often each state began one, steps."""

    steps: int = 0
    earned: list[float] = field(default_factory=list)
    starts: Counter[Name] = field(default_factory=Counter)
    paid: float = 0.0  # in the episode that goes on


class Guarded:
    """`env` with observations by `naming` and actions 0, 1, ... for `actions`."""

    def __init__(self, env: Environment, naming: Naming, actions: Sequence[State]) -> None:
        self.env, self.naming, self.actions = env, naming, actions
        self.action_space = spaces.Discrete(len(actions))
        self.course = Course()
        self._space = space_of(env, "action_space")

    def reset(self, *, seed: int | None = None, options: dict[str, object] | None = None) -> tuple[Name, Info]:
        """Begin an episode."""
        try:
            observation = reset(self.env, seed)
        except InputError:
            raise
        except Exception as error:
            raise self._raised("reset", error) from error
        self._same_actions()
        name = self.naming(observation)
        self.course.starts[name] += 1
        self.course.paid = 0.0
        return name, {}

    def step(self, action: int) -> tuple[Name, float, bool, bool, Info]:
        """One step."""
        try:
            outcome = self.env.step(self.actions[action])
        except InputError:
            raise
        except Exception as error:
            raise self._raised("step", error) from error
        try:
            observation, reward, terminated, truncated, info = outcome
        except (TypeError, ValueError):
            raise not_a_step(outcome) from None
        if isinstance(reward, float | np.floating) and not isfinite(reward):
            raise self._no_number(float(reward))
        paid, terminated, truncated = plain(reward, terminated, truncated)
        if space_of(self.env, "action_space") is not self._space:
            self._same_actions()
        course = self.course
        course.steps += 1
        course.paid += paid
        if terminated or truncated:
            course.earned.append(course.paid)
        return self.naming(observation), paid, terminated, truncated, info

    def _same_actions(self) -> None:
        now = space_of(self.env, "action_space")
        if now != self._space:
            raise InputError(
                f"action_space has become {shown(now)}, but must stay {shown(self._space)}: keep all actions, and let "
                "those that are not possible change nothing."
            )
        self._space = now

    def _no_number(self, reward: float) -> InputError:
        fix = "mend the division or logarithm that made it"
        if not isnan(reward):
            fix = "let what is forbidden cost a large amount instead, or end the episode"
        return InputError(
            f"reward, returned by env.step, is {reward:g} after {self.course.steps} steps, but must be a finite "
            f"number: {fix}."
        )

    def _raised(self, where: str, error: Exception) -> InputError:
        if isinstance(error, DependencyNotInstalled):
            return InputError(f"env.{where} needs what is not there: {' '.join(str(error).split()).rstrip('.')}.")
        said = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
        return InputError(f"env.{where} raised {said[:200]} after {self.course.steps} steps: {_CHECK}.")
