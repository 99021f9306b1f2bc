"""One agent in one environment: act, step, observe."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf, isfinite
from pathlib import Path

from hreach.errors import require, whole
from hreach.protocols import Acts, Environment, State, Until
from hreach.randomness.seeding import check_seed
from hreach.running.keeping import Journey, keep_going
from hreach.running.looking import Watch
from hreach.running.pace import Pace, pace_of
from hreach.running.progress import Follows, Telling, Told, telling
from hreach.running.record import Record, Run
from hreach.running.stepping import not_a_step, plain, reset

__all__ = ["Run", "run"]


def run(
    env: Environment,
    agent: Acts,
    steps: int | None = None,
    seed: int = 0,
    *,
    episodes: int | None = None,
    progress: Telling = None,
    checkpoint: str | Path | None = None,
    every: float | Pace = 60.0,
    until: Until | None = None,
) -> Run:
    """Let `agent` act in a Gymnasium environment for `steps` steps, or until `episodes` episodes have ended.

    Episodes that end are followed by new ones. `progress` is told 1 after every step (after every episode, if only
    `episodes` is given); True shows a bar. One with a method `begin(agent, record)` gets both first, such as
    `hreach.running.tensorboard.TensorBoard`.

    If the environment or the agent raises, or at Ctrl-C, the exception reaches the caller as it is, and its attribute
    `run` holds the `Run` of the steps that were finished; the agent keeps what it learnt.

    `checkpoint` is a file that holds the run so far, written every `every` seconds: if it is there, the run goes on
    from it, and ends as if it had never stopped (`hreach.running.keeping`). It is removed when the run is complete.

    `until` is a rule that ends the run earlier, `hreach.Certified` or `hreach.Aim`; it is asked between steps, at times
    that lie at most 15 % apart (`hreach.guarantees.stopping`), and `stopped` of what is returned says why it did.

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
    record = Record()
    if isinstance(progress, Follows):
        progress.begin(agent, record)
    watch = None if until is None else Watch(until, agent, record)
    with telling(progress, int(total), unit) as told:
        tell = (told, None) if unit == "steps" else (None, told)
        advance = partial(_go, env, agent, wanted, record, tell)
        if watch is not None:
            advance = partial(watch.advance, advance)
        try:
            if checkpoint is None:
                advance(reset(env, seed), last)
            else:
                journey = Journey(env, agent, record, seed, last, wanted, watch)
                keep_going(journey, partial(reset, env, seed), advance, tell, Path(checkpoint), pace_of(every))
        except BaseException as error:
            done = record.run()
            error.run = done  # type: ignore[attr-defined]
            error.add_note(f"hreach.run: {len(done.rewards)} steps were finished; they are in `run` of this exception.")
            raise
    return record.run() if watch is None else replace(record.run(), stopped=watch.why)


def _go(
    env: Environment,
    agent: Acts,
    wanted: float,
    record: Record,
    told: tuple[Told | None, Told | None],
    state: State,
    last: float,
) -> State:
    """The loop, from `state` until there are `last` steps or `wanted` episodes; the state that it ends in.

    `told` are those who count steps and those who count episodes.
    """
    rewards, states, following, actions = record.rewards, record.states, record.following, record.actions
    ended, goals = record.ended, record.goals
    each_step, each_episode = told
    while len(rewards) < last and len(ended) < wanted:
        action = agent.act(state)
        outcome = env.step(action)
        try:
            next_state, reward, terminated, truncated, info = outcome
        except (TypeError, ValueError):
            raise not_a_step(outcome) from None
        if not (type(reward) is float and type(terminated) is bool and type(truncated) is bool and isfinite(reward)):
            reward, terminated, truncated = plain(reward, terminated, truncated)
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
            state = reset(env, None)
    return state
