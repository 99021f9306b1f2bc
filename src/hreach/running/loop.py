"""One agent in one environment: act, step, observe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray

from hreach.errors import InputError, finite, require, shown, whole
from hreach.protocols import Acts, Environment, State, States
from hreach.randomness.seeding import check_seed
from hreach.running.progress import Telling, Told, telling

_OLD = "a wrapper such as shimmy's GymV21CompatibilityV0 does that for an environment of the older gym"
_RESET = f"(observation, info): {_OLD}"
_STEP = f"(observation, reward, terminated, truncated, info): {_OLD}"


@dataclass(frozen=True)
class Run:
    """What happened: arrays of length `steps` (states: with the shape of an observation), and when episodes ended.

    ended, terminated   the last step of each episode that ended, and whether by the environment's rules (such as at a
                        goal), not for lack of time
    next_states         the state after each step, before a new episode begins
    """

    rewards: NDArray[np.float64]
    states: States
    actions: NDArray[np.int64]
    ended: NDArray[np.int64]
    terminated: NDArray[np.bool_]
    next_states: States

    @property
    def last_state(self) -> States:
        """The state after the last step."""
        return np.asarray(self.next_states[-1])

    @property
    def average_reward(self) -> float:
        """Reward per step over the whole run."""
        return float(self.rewards.mean())

    @property
    def episode_rewards(self) -> NDArray[np.float64]:
        """Total reward of each episode that ended."""
        return np.diff(np.cumsum(self.rewards)[self.ended], prepend=0.0)


def run(
    env: Environment,
    agent: Acts,
    steps: int | None = None,
    seed: int = 0,
    *,
    episodes: int | None = None,
    progress: Telling = None,
) -> Run:
    """Let `agent` act in a Gymnasium environment for `steps` steps, or until `episodes` episodes have ended.

    Episodes that end are followed by new ones. `progress` is told 1 after every step (after every episode, if only
    `episodes` is given); True shows a bar.

    If the environment or the agent raises, or at Ctrl-C, the exception reaches the caller as it is, and its attribute
    `run` holds the `Run` of the steps that were finished; the agent keeps what it learnt.

    >>> import hreach
    >>> env = hreach.make_domain("chain")
    >>> hreach.run(env, hreach.make_agent("pac-rmdp", env, h=8), steps=100).rewards.shape
    (100,)
    """
    require(steps is not None or episodes is not None, "steps", steps, "given, unless episodes is")
    last = inf if steps is None else whole("steps", steps, 1)
    wanted = inf if episodes is None else whole("episodes", episodes, 1)
    check_seed(seed)
    total, unit = (wanted, "episodes") if steps is None else (last, "steps")
    record = _Record()
    with telling(progress, int(total), unit) as told:
        try:
            _go(env, agent, last, wanted, seed, record, (told, None) if unit == "steps" else (None, told))
        except BaseException as error:
            done = record.run()
            error.run = done  # type: ignore[attr-defined]
            error.add_note(f"hreach.run: {len(done.rewards)} steps were finished; they are in `run` of this exception.")
            raise
    return record.run()


@dataclass(frozen=True)
class _Record:
    """The arrays of a `Run` while they grow."""

    rewards: list[float] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    following: list[State] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    goals: list[bool] = field(default_factory=list)

    def run(self) -> Run:
        """The steps of which everything is here: Ctrl-C may come in the middle of one, and `actions` is its last."""
        steps, episodes = len(self.actions), len(self.goals)
        return Run(
            np.array(self.rewards[:steps], dtype=np.float64),
            np.array(self.states[:steps]),
            np.array(self.actions, dtype=np.int64),
            np.array(self.ended[:episodes], dtype=np.int64),
            np.array(self.goals, dtype=np.bool_),
            np.array(self.following[:steps]),
        )


def _go(
    env: Environment,
    agent: Acts,
    last: float,
    wanted: float,
    seed: int,
    record: _Record,
    told: tuple[Told | None, Told | None],
) -> None:
    """The loop; `told` are those who count steps and those who count episodes."""
    rewards, states, following, actions = record.rewards, record.states, record.following, record.actions
    ended, goals = record.ended, record.goals
    each_step, each_episode = told
    state = _reset(env, seed)
    while len(rewards) < last and len(ended) < wanted:
        action = agent.act(state)
        outcome = env.step(action)
        try:
            next_state, reward, terminated, truncated, info = outcome
        except (TypeError, ValueError):
            raise InputError(f"env.step returned {shown(outcome)}, but must return {_STEP}.") from None
        if not (type(reward) is float and type(terminated) is bool and type(truncated) is bool and isfinite(reward)):
            reward, terminated, truncated = _plain(reward, terminated, truncated)
        agent.observe(state, action, reward, next_state, terminated, info)
        rewards.append(reward)
        states.append(state)
        following.append(next_state)
        actions.append(action)
        state = next_state
        if each_step is not None:
            each_step(1)
        if terminated or truncated:
            ended.append(len(rewards) - 1)
            goals.append(terminated)
            if each_episode is not None:
                each_episode(1)
            state = _reset(env, None)


def _reset(env: Environment, seed: int | None) -> State:
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


def _plain(reward: SupportsFloat, terminated: object, truncated: object) -> tuple[float, bool, bool]:
    """What `env.step` returned as Python's own types, or one sentence on what it should have returned."""
    for name, value in (("terminated", terminated), ("truncated", truncated)):
        require(isinstance(value, bool | np.bool_), f"{name}, returned by env.step,", value, "True or False")
    return finite("reward, returned by env.step,", reward), bool(terminated), bool(truncated)
