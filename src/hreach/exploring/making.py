"""From a name to an environment whose states are numbered as they appear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import registry

from hreach.domains import find_domain, make_domain
from hreach.errors import InputError, shown
from hreach.exploring.bins import Bins, Edges, dimensions, edges_of, readings
from hreach.exploring.guarded import Guarded
from hreach.exploring.spaces import actions_of, naming, states_of, written
from hreach.protocols import Environment, Floats, Info, State
from hreach.registry import Params, Thing
from hreach.running.numbering import Name, Numbered

MOST_STATES = 1 << 22  # numbers that are kept ready, where the space has more names
SAMPLE = 2000  # steps of random actions that quantiles are taken of
PROBE = 30  # steps, twice, in which it is tried whether a seed decides what happens


@runtime_checkable
class Gym(Protocol):
    """An environment that says what its observations and actions are."""

    observation_space: spaces.Space[State]
    action_space: spaces.Space[State]

    def reset(self, *, seed: int | None = None, options: dict[str, object] | None = None) -> tuple[State, Info]:
        """Begin an episode."""

    def step(self, action: State, /) -> tuple[State, float, bool, bool, Info]:
        """Take an action."""


@dataclass(frozen=True)
class Place:
    """An environment that can be explored.

    env       with states 0, 1, ... as they appear; guarded: the same before they are numbered
    inner     as it was made; edges: of its bins; actions: its own; states: how many there can be
    """

    env: Numbered
    guarded: Guarded
    inner: Gym
    edges: Sequence[Edges]
    actions: Sequence[State]
    states: int

    @property
    def names(self) -> list[Name]:
        """The states that were met, in the order of their appearance."""
        return list(self.env.names)

    @property
    def action_names(self) -> list[str]:
        """The actions as they are shown."""
        return [written(action) for action in self.actions]


def made(env: Thing | Environment, params: Params) -> Gym:
    """The environment itself, or the one of this name, without Gymnasium's own checks: `Guarded` has others."""
    if isinstance(env, str) or not isinstance(env, Environment):
        given = dict(params)
        if isinstance(env, str) and _is_registered(env):
            given["disable_env_checker"] = True
        env = _called(env, given)
    elif params:
        raise InputError(f"set is {shown(dict(params))}, but must be left out where the environment itself is given.")
    if not isinstance(env, Gym):
        raise InputError(
            f"env is {type(env).__name__!r}, but must have observation_space and action_space, as Gymnasium's have."
        )
    return env


def _called(env: Thing, given: Params) -> Environment:
    try:
        return cast(Environment, make_domain(env, **given))
    except InputError:
        raise
    except Exception as error:  # whatever its own code comes upon
        said = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
        raise InputError(
            f"env is {shown(env)}, whose making raised {said[:200]}: install or give what it needs (--set name=value)."
        ) from error


def _is_registered(name: str) -> bool:
    find_domain(name)  # which imports the module of "module:Id-v0", or says what is wrong with the name
    return name.rpartition(":")[2] in registry


def place(env: Gym, bins: Bins, seed: int, edges: Sequence[Edges] | None = None) -> Place:
    """The environment with numbered states; `edges` are those of an earlier time, instead of `bins`."""
    actions = actions_of(env.action_space)
    space = env.observation_space
    cut = edges_of(space, bins, lambda: _sample(env, actions, seed)) if edges is None else list(edges)
    name = naming(space, cut)
    guarded = Guarded(env, name, actions)
    states = states_of(space, cut)
    numbered = Numbered(guarded, min(states, MOST_STATES))
    return Place(numbered, guarded, env, cut, actions, numbered.most)


def _sample(env: Gym, actions: Sequence[State], seed: int) -> Floats:
    """Readings (N, dimensions) that random actions come upon."""
    guarded = Guarded(env, lambda observation: tuple(readings(env.observation_space, observation)), actions)
    rng = np.random.default_rng(seed)
    name, _ = guarded.reset(seed=seed)
    rows = [name]
    for _ in range(SAMPLE):
        name, _, terminated, truncated, _ = guarded.step(int(rng.integers(len(actions))))
        rows.append(name)
        if terminated or truncated:
            name, _ = guarded.reset()
            rows.append(name)
    return np.array(rows, dtype=np.float64).reshape(-1, len(dimensions(env.observation_space)))


def is_seeded(at: Place, seed: int) -> bool:
    """Whether the same seed and the same actions lead to the same rewards and states, in a few steps."""
    found = []
    for _ in range(2):
        guarded = Guarded(at.inner, at.guarded.naming, at.actions)
        rng = np.random.default_rng(seed)
        seen: list[object] = [guarded.reset(seed=seed)[0]]
        for _ in range(PROBE):
            name, reward, terminated, truncated, _ = guarded.step(int(rng.integers(len(at.actions))))
            seen.append((name, reward, terminated, truncated))
            if terminated or truncated:
                seen.append(guarded.reset()[0])
        found.append(seen)
    return found[0] == found[1]
