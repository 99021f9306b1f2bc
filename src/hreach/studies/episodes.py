"""One run by episodes: what is learnt by exploring, and then the learnt model acted on as it is.

Processes run this, so it imports nothing that the run itself does not need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hreach.agents import make_agent
from hreach.domains import make_domain
from hreach.randomness.seeding import run_seeds
from hreach.running.loop import Run, run


@dataclass(frozen=True)
class Episodes:
    """Total reward, number of steps and whether it terminated (reached a goal), of every episode: (..., episodes)."""

    total: NDArray[np.float64]
    length: NDArray[np.int64]
    terminated: NDArray[np.bool_]


@dataclass(frozen=True)
class Episode:
    """One episode of T steps: states (T + 1, nS), actions (T,), rewards (T,)."""

    states: NDArray[np.float64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]


@dataclass(frozen=True)
class EpisodeRun:
    """Episodes of learning, the final ones without (maybe none), the last of those, and the agent's constants."""

    learning: Episodes
    plain: Episodes
    last: Episode | None
    agent: dict[str, Any]


def run_episodes(
    domain: str,
    domain_params: Mapping[str, Any],
    agent: str,
    params: Mapping[str, Any],
    episodes: int,
    final_episodes: int,
    entropy: list[int],
    number: int,
) -> EpisodeRun:
    """Run `number` of a cell. Its seeds are addressed by (entropy, number); the final episodes have their own."""
    env = make_domain(domain, **domain_params)
    env_seed, agent_seed = (int(s) for s in run_seeds(entropy, first=number, runs=1)[0])
    learner = make_agent(agent, env, seed=agent_seed, **params)
    learnt = _summary(run(env, learner, episodes=episodes, seed=env_seed))
    told = dict(learner.describe())
    if final_episodes == 0:
        return EpisodeRun(learnt, _none(), None, told)
    # Seeds of their own: what is measured at the end must not depend on how long the learning was.
    final_seed = int(run_seeds([*entropy, 1], first=number, runs=1)[0, 0])
    final = run(env, learner.certainty_equivalent(), episodes=final_episodes, seed=final_seed)
    return EpisodeRun(learnt, _summary(final), _last_episode(final), told)


def _summary(done: Run) -> Episodes:
    """Every episode of a run that ended with an episode."""
    starts = np.concatenate([[0], done.ended[:-1] + 1])
    return Episodes(np.add.reduceat(done.rewards, starts), done.ended + 1 - starts, done.terminated)


def _none() -> Episodes:
    return Episodes(np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_))


def _last_episode(done: Run) -> Episode:
    first = int(done.ended[-2]) + 1 if len(done.ended) > 1 else 0
    states = np.concatenate([done.states[first:], done.last_state[None]])
    return Episode(states, done.actions[first:], done.rewards[first:])
