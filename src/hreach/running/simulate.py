"""Many runs of an agent, on all cores; run for run equal to `hreach.run`.

Run i of `simulate(..., seed=s)` is, bit for bit,

    env_seed, agent_seed = hreach.run_seeds(s, first=i, runs=1)[0]
    hreach.run(hreach.make_domain(...), hreach.make_agent(..., seed=agent_seed), steps, seed=env_seed)

whatever the number of threads. A compiled agent in an environment that tells its MDP runs compiled, in threads, if the
length is in steps. Everything else runs by `hreach.run` itself, in worker processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import repeat
from threading import current_thread, main_thread
from typing import NamedTuple, Protocol, TypeGuard, TypeVar, runtime_checkable

import gymnasium
import numpy as np
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker
from numpy.typing import NDArray

from hreach import kernels
from hreach.agents import make_agent
from hreach.agents.tables import TableAgent, is_table
from hreach.compiling import announcing
from hreach.domains import make_domain
from hreach.domains.tabular import TabularEnv
from hreach.errors import InputError, one_of, require, shown, whole
from hreach.kernels import Seen, Table, World
from hreach.planners.sweeps import Sweeps
from hreach.problems.mdp import TabularMDP
from hreach.problems.truth import known_reward_of, truth_of
from hreach.protocols import Environment, Plain
from hreach.randomness.seeding import Seed, run_seeds
from hreach.randomness.streams import run_streams
from hreach.registry import Params, Thing, import_plugins, reference
from hreach.running.executors import make_executor, stopping, succeeded
from hreach.running.loop import Run, run
from hreach.running.progress import Telling, Told, telling
from hreach.running.runs import Runs

T = TypeVar("T")
R = TypeVar("R")
_simulate = announcing(kernels.simulate)
_CHUNK_STEPS = 60_000  # work handed to one of several threads at once: some milliseconds
_ALONE_STEPS = 600_000  # to the only one: often enough for a bar
_STEPS = 3000
Domain = Thing | Environment | TabularMDP  # a name or maker of an environment, or what it would make


@runtime_checkable
class Describes(Protocol):
    """An agent that tells the constants in force."""

    def describe(self) -> Plain:
        """The constants, and where they come from."""


@dataclass(frozen=True)
class Setting:
    """Who runs where and for how long, in words that another process understands: names and plain data.

    plugins   modules to import first
    """

    domain: str
    domain_params: Params
    agent: str
    params: Params
    steps: int | None
    episodes: int | None
    plugins: Sequence[str] = ()

    def environment(self) -> Environment:
        """The environment, made anew."""
        import_plugins(self.plugins)
        env: Environment = make_domain(self.domain, **self.domain_params)
        return env


def simulate(
    domain: Domain,
    agent: Thing,
    params: Params | None = None,
    *,
    domain_params: Params | None = None,
    runs: int = 1000,
    steps: int | None = None,
    episodes: int | None = None,
    seed: Seed = 0,
    first_run: int = 0,
    threads: int | None = None,
    visits: bool = False,
    endings: bool = False,
    progress: Telling = None,
) -> Runs:
    """Run `agent` with `params` in `domain` for `steps` steps (default 3000) or until `episodes` episodes have ended.

    `domain` is whatever `make_domain` takes, with `domain_params`; or an environment; or a `TabularMDP`. `agent` is
    whatever `make_agent` takes. `threads` is how many runs go on at once, in threads or in worker processes; default:
    the number of cores. `progress` receives how many runs were finished since its last call; True shows a bar.
    `visits` asks for the number of times that each pair was learnt from, which is every time unless the agent freezes
    (of compiled runs only); `endings` for the steps that ended an episode.

    A worker process makes environment and agent by name, so an object is sent there as "module:name". What has no such
    name (an environment that is made already, a function inside a function, a class of the script that is being run,
    parameters that are more than numbers, texts and arrays) runs in this process, one run after the other.

    >>> import hreach
    >>> hreach.simulate("chain", "pac-rmdp", {"h": 8}, runs=10, steps=100).reward.shape
    (10, 100)
    """
    one_of(steps=steps, episodes=episodes)
    runs, first_run = whole("runs", runs, 1), whole("first_run", first_run, 0)
    episodes = None if episodes is None else whole("episodes", episodes, 1)
    steps = None if episodes is not None else whole("steps", _STEPS if steps is None else steps, 1)
    workers = whole("threads", threads, 1) if threads is not None else os.cpu_count() or 1
    options = dict(params or {})
    if "seed" in options:
        raise InputError("params has the key 'seed'; give the seed to simulate itself, it seeds every run.")
    env = _environment(domain, domain_params)
    template = make_agent(agent, env, **options)
    seeds = run_seeds(seed, first_run, runs)
    with telling(progress, runs, "runs") as told:
        if steps is not None and runs_compiled(env, template):
            return _compiled(env, template, steps, seeds, workers, visits, endings, told)
        require(not visits, "visits", visits, "left out for runs that are not compiled")
        setting = _setting(domain, domain_params, agent, options, steps, episodes)
        if setting is not None:
            done = _in_processes(setting, seeds, workers, told)
        else:
            done = _here(_stepped(env), agent, options, steps, episodes, seeds, told)
    about = dict(template.describe()) if isinstance(template, Describes) else {}
    return _by_episodes(done, about) if steps is None else _by_steps(done, about, endings)


def is_compiled(agent: object) -> TypeGuard[TableAgent]:
    """Whether the kernels can run it."""
    return is_table(agent)


def runs_compiled(env: object, agent: object) -> bool:
    """Whether a run by steps of this agent in this environment is one of the kernels'.

    A wrapper may change what is paid or when an episode ends; those that Gymnasium puts around every environment only
    check.
    """
    while isinstance(env, OrderEnforcing | PassiveEnvChecker):
        env = env.env
    return is_compiled(agent) and not isinstance(env, gymnasium.Wrapper) and truth_of(env) is not None


class Earned(NamedTuple):
    """What is kept of a `Run`: its rewards, and where and how its episodes ended."""

    rewards: NDArray[np.float64]
    ended: NDArray[np.int64]
    terminated: NDArray[np.bool_]


def _run_one(setting: Setting, env_seed: int, agent_seed: int) -> Earned:
    """One run of a setting."""
    env = setting.environment()
    return _earned(env, setting.agent, setting.params, setting.steps, setting.episodes, (env_seed, agent_seed))


def _earned(
    env: Environment,
    agent: Thing,
    params: Params,
    steps: int | None,
    episodes: int | None,
    seeds: tuple[int, int],
) -> Earned:
    learner = make_agent(agent, env, seed=seeds[1], **params)
    done = run(env, learner, steps, seeds[0], episodes=episodes)
    return Earned(done.rewards, done.ended, done.terminated)


def _environment(domain: Domain, params: Params | None) -> Environment | TabularMDP:
    if isinstance(domain, str) or callable(domain):
        env: Environment = make_domain(domain, **(params or {}))
        return env
    require(not params, "domain_params", params, "left out where the domain is an environment already")
    if not isinstance(domain, TabularMDP | Environment):
        raise InputError(f"domain is {shown(domain)}, but must be a name, a factory, an environment or a TabularMDP.")
    return domain


def _stepped(env: Environment | TabularMDP) -> Environment:
    """The environment to step through."""
    return TabularEnv(env, known_reward_of(env)) if isinstance(env, TabularMDP) else env


# --- in Python ---------------------------------------------------------------


def _setting(
    domain: Domain,
    domain_params: Params | None,
    agent: Thing,
    params: Params,
    steps: int | None,
    episodes: int | None,
) -> Setting | None:
    """The setting as another process understands it, or None where it cannot."""
    names = reference(domain) if callable(domain) or isinstance(domain, str) else None, reference(agent)
    if names[0] is None or names[1] is None or not (_is_data(params) and _is_data(domain_params or {})):
        return None
    return Setting(names[0], domain_params or {}, names[1], params, steps, episodes)


def _is_data(value: object) -> bool:
    """Whether a value is numbers, texts, arrays, and lists and tables of such."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_data(inner) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_data, value))
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    return value is None or isinstance(value, bool | int | float | str | np.number | np.bool_)


def _in_processes(setting: Setting, seeds: NDArray[np.uint64], workers: int, told: Told | None) -> list[Earned]:
    tasks = [(setting, *pair) for pair in seeds.tolist()]
    done: dict[int, Earned] = {}
    with make_executor("processes", min(workers, len(tasks))) as executor:
        for i, finished in executor.run(_run_one, tasks):
            done[i] = succeeded(finished)
            if told is not None:
                told(1)
    return [done[i] for i in range(len(tasks))]


def _here(
    env: Environment,
    agent: Thing,
    params: Params,
    steps: int | None,
    episodes: int | None,
    seeds: NDArray[np.uint64],
    told: Told | None,
) -> list[Earned]:
    done = []
    for pair in seeds.tolist():
        done.append(_earned(env, agent, params, steps, episodes, pair))
        if told is not None:
            told(1)
    return done


def _by_steps(done: Sequence[Earned], about: Plain, endings: bool) -> Runs:
    reward = np.stack([each.rewards for each in done])
    ended = None
    if endings:
        ended = np.zeros(reward.shape, dtype=np.bool_)
        for row, each in zip(ended, done, strict=True):
            row[each.ended] = True
    return Runs(reward, about, ended=ended)


def _by_episodes(done: Sequence[Earned], about: Plain) -> Runs:
    episodes = [episodes_of(each) for each in done]
    total, length, terminated = (np.stack(column) for column in zip(*episodes, strict=True))
    return Runs(total, about, length=length, terminated=terminated)


def episodes_of(done: Run | Earned) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """(total reward, length, whether it terminated) of every episode of a run that ended with an episode."""
    starts = np.concatenate([[0], done.ended[:-1] + 1])
    return np.add.reduceat(done.rewards, starts), done.ended + 1 - starts, done.terminated


# --- compiled ----------------------------------------------------------------


def _compiled(
    env: object,
    template: TableAgent,
    steps: int,
    seeds: NDArray[np.uint64],
    workers: int,
    visits: bool,
    endings: bool,
    told: Told | None,
) -> Runs:
    """Runs of the kernels, in threads."""
    mdp, most = truth_of(env), template.optimism.lifetime
    assert mdp is not None
    require(steps <= most, "lifetime", most, f"at least the number of steps, {steps}")
    world, streams, runs = _world(mdp), run_streams(seeds), len(seeds)
    reward = np.empty((runs, steps))
    over = np.empty((runs, steps if endings else 0), dtype=np.bool_)
    total = np.empty((runs, *template.model.seen.total.shape)) if visits else None
    most = _CHUNK_STEPS if workers > 1 else _ALONE_STEPS
    size = 1 if visits else min(max(1, most // steps), -(-runs // workers))

    def chunk(first: int, stop: NDArray[np.bool_]) -> int:
        part = slice(first, min(first + size, runs))
        seen = simulate_from(
            template.planner, template.planner.begin, world, streams[part], reward[part], over[part], False, stop
        )
        if total is not None:
            total[first] = seen.total
        return part.stop - part.start

    for done in in_threads(chunk, range(0, runs, size), workers):
        if told is not None:
            told(done)
    seen = None if total is None else np.rint(total - template.model.seen.total)
    return Runs(reward, template.describe(), seen, over if endings else None)


def simulate_from(
    planner: Sweeps,
    begin: tuple[Seen, Table],
    world: World,
    streams: NDArray[np.uint64],
    paid: NDArray[np.float64],
    over: NDArray[np.bool_],
    once: bool,
    stop: NDArray[np.bool_],
) -> Seen:
    """Compiled runs that all begin with `begin`; what the last of them has seen.

    See `kernels.simulate`.
    """
    seen, table = begin
    scratch = Seen._make(map(np.empty_like, seen)), Table._make(map(np.empty_like, table))
    _simulate(planner.schedule, planner.formula, planner.rule, begin, scratch, world, streams, paid, over, once, stop)
    return scratch[0]


def in_threads(work: Callable[[T, NDArray[np.bool_]], R], parts: Iterable[T], workers: int) -> Iterator[R]:
    """work(part, stop) for every part, in order, by so many threads; Ctrl-C sets `stop` (1,), which ends compiled work.

    The calling thread only waits: compiled code would not hear it. If it is a thread of an executor that is stopped,
    `stop` is set too, and `CancelledError` keeps anybody from taking what was left half done for a result.
    """
    stop = stopping()
    direct = workers == 1 and current_thread() is not main_thread()  # this thread would not hear Ctrl-C anyway
    with nullcontext() if direct else ThreadPoolExecutor(workers) as pool:
        try:
            for done in (map if pool is None else pool.map)(work, parts, repeat(stop)):
                if stop[0]:
                    raise CancelledError("stopped")
                yield done
        except BaseException:
            stop[0] = True
            if pool is not None:
                pool.shutdown(cancel_futures=True)
            raise


def _world(mdp: TabularMDP) -> World:
    return World(mdp.indptr, mdp.next_state, mdp.cumulative, mdp.reward, mdp.end, np.cumsum(mdp.start))
