"""One run that Python steps: what is learnt by exploring, and then the learnt model acted on as it is.

Processes run this, so it imports nothing that the run itself does not need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hreach.agents import make_agent
from hreach.protocols import Acts, Environment
from hreach.randomness.seeding import run_seeds
from hreach.running import keeping
from hreach.running.checkpoint import CheckpointError
from hreach.running.loop import Run, run
from hreach.running.simulate import Describes, Setting, episodes_of
from hreach.studies.identity import Data
from hreach.studies.results import MARKS, Episode, Phase, Result, marks_of


@runtime_checkable
class Certain(Protocol):
    """An agent that has a certainty-equivalent copy."""

    def certainty_equivalent(self) -> Acts:
        """A copy that acts greedily on the current model, without optimism, random actions or learning."""


def run_stepped(
    setting: Setting,
    final_episodes: int,
    entropy: Sequence[int],
    number: int,
    marks: int = MARKS,
    checkpoint: Path | None = None,
    every: float = 60.0,
) -> Result:
    """Run `number` of a cell. Its seeds are addressed by (entropy, number); the final episodes have their own.

    `checkpoint` is a file of this run alone, written every `every` seconds of the learning and removed after it.
    """
    env = setting.environment()
    env_seed, agent_seed = (int(s) for s in run_seeds(entropy, first=number, runs=1)[0])
    learner = make_agent(setting.agent, env, seed=agent_seed, **setting.params)
    begun = _description(learner)
    done = _learn(env, learner, setting, env_seed, checkpoint, every)
    if setting.steps is not None:
        return by_steps(done.rewards[None], begun, marks)
    learnt, told = _phase(done), _description(learner)
    at = np.arange(1, learnt.total.shape[1] + 1)
    if final_episodes == 0:
        return Result("episodes", at, learnt, Phase.none(1), told)
    # Seeds of their own: what is measured at the end must not depend on how long the learning was.
    final_seed = int(run_seeds([*entropy, 1], first=number, runs=1)[0, 0])
    final = run(env, learner.certainty_equivalent(), episodes=final_episodes, seed=final_seed)
    return Result("episodes", at, learnt, _phase(final), told, _last_episode(final))


def why_not_saved(setting: Setting) -> str | None:
    """Why the runs of this setting cannot be saved as they go, as a clause; None if they can."""
    env = setting.environment()
    learner = make_agent(setting.agent, env, **setting.params)
    env.reset(seed=0)
    return keeping.why_not_saved(env, learner)


def _learn(env: Environment, learner: Acts, setting: Setting, seed: int, checkpoint: Path | None, every: float) -> Run:
    """The learning; a checkpoint that cannot be used is removed, because nobody is there to decide."""
    try:
        return run(env, learner, setting.steps, seed, episodes=setting.episodes, checkpoint=checkpoint, every=every)
    except CheckpointError:
        assert checkpoint is not None
        checkpoint.unlink()
    return run(env, learner, setting.steps, seed, episodes=setting.episodes, checkpoint=checkpoint, every=every)


def by_steps(rewards: NDArray[np.float64], agent: Mapping[str, object], marks: int = MARKS) -> Result:
    """The result of runs by steps, of which these are the rewards (runs, steps)."""
    at = marks_of(rewards.shape[1], marks)
    total = np.cumsum(rewards, axis=1)[:, at - 1]
    phase = Phase(total, np.tile(at, (len(rewards), 1)), np.zeros(total.shape, dtype=np.bool_))
    return Result("steps", at, phase, Phase.none(len(rewards)), dict(agent))


def _description(agent: object) -> Data:
    return dict(agent.describe()) if isinstance(agent, Describes) else {}


def _phase(done: Run) -> Phase:
    """Every episode of a run that ended with an episode."""
    total, length, terminated = episodes_of(done)
    return Phase(total[None], length[None], terminated[None])


def _last_episode(done: Run) -> Episode:
    first = int(done.ended[-2]) + 1 if len(done.ended) > 1 else 0
    states = np.concatenate([done.states[first:], done.last_state[None]])
    return Episode(states, done.actions[first:], done.rewards[first:])
