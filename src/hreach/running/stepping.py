"""What `reset` and `step` of an environment must return, and one sentence where they return something else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import SupportsFloat

import numpy as np

from hreach.errors import InputError, finite, require, shown
from hreach.protocols import Environment, State

_OLD = "a wrapper such as shimmy's GymV21CompatibilityV0 does that for an environment of the older gym"
_RESET = f"(observation, info): {_OLD}"
_STEP = f"(observation, reward, terminated, truncated, info): {_OLD}"


def reset(env: Environment, seed: int | None) -> State:
    """The first observation of an episode."""
    try:
        outcome = env.reset() if seed is None else env.reset(seed=seed)
    except TypeError as error:
        if "keyword argument 'seed'" not in str(error):
            raise
        raise InputError(
            "env.reset takes no seed, but must be reset(self, *, seed=None, options=None) as in Gymnasium."
        ) from error
    ok = isinstance(outcome, tuple) and len(outcome) == 2 and isinstance(outcome[1], Mapping)
    if not ok:
        raise InputError(f"env.reset returned {shown(outcome)}, but must return {_RESET}.")
    return outcome[0]


def not_a_step(outcome: object) -> InputError:
    """The error for what `step` returned, which is no step."""
    return InputError(f"env.step returned {shown(outcome)}, but must return {_STEP}.")


def plain(reward: SupportsFloat, terminated: object, truncated: object) -> tuple[float, bool, bool]:
    """What `env.step` returned as Python's own types, or one sentence on what it should have returned."""
    for name, value in (("terminated", terminated), ("truncated", truncated)):
        require(isinstance(value, bool | np.bool_), f"{name}, returned by env.step,", value, "True or False")
    return finite("reward, returned by env.step,", reward), bool(terminated), bool(truncated)
