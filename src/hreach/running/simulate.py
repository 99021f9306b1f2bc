"""Many runs of a tabular agent at once, compiled and on all cores; run for run equal to `hreach.run`.

Run i of `simulate(..., seed=s)` is, bit for bit,

    env_seed, agent_seed = hreach.run_seeds(s, first=i, runs=1)[0]
    hreach.run(env, hreach.make_agent(..., seed=agent_seed), steps, seed=env_seed)

whatever the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hreach import kernels
from hreach.agents import make_agent
from hreach.compiling import announcing
from hreach.domains import make_domain
from hreach.errors import InputError, whole
from hreach.kernels import Seen, Table, World
from hreach.planners.sweeps import Sweeps
from hreach.problems.mdp import TabularMDP
from hreach.problems.truth import truth_of
from hreach.randomness.seeding import Seed, run_seeds
from hreach.randomness.streams import run_streams
from hreach.running.progress import Telling, telling

T = TypeVar("T")
R = TypeVar("R")
_simulate = announcing(kernels.simulate)
_CHUNK_STEPS = 60_000  # work handed to a thread at once: some milliseconds


@dataclass(frozen=True)
class Runs:
    """reward: (runs, steps); agent: the constants in force and whether they come from theory or were given.

    visits: (runs, S, A), how often each pair was learnt from; ended: (runs, steps), whether a step ended its episode.
    Both are None unless asked for.
    """

    reward: NDArray[np.float64]
    agent: Mapping[str, Any]
    visits: NDArray[np.float64] | None = None
    ended: NDArray[np.bool_] | None = None

    @property
    def average_reward(self) -> NDArray[np.float64]:
        """Reward per step of each run, shape (runs,)."""
        return np.asarray(self.reward.mean(axis=1))

    @property
    def mean(self) -> float:
        """Mean over runs of the average reward."""
        return float(self.average_reward.mean())

    @property
    def se(self) -> float:
        """Standard error of `mean` (nan for a single run)."""
        runs = len(self.reward)
        return float(self.average_reward.std(ddof=1) / np.sqrt(runs)) if runs > 1 else float("nan")

    def quantile(self, q: float) -> float:
        """Quantile over runs of the average reward."""
        return float(np.quantile(self.average_reward, q))


def simulate(
    domain: Any,
    agent: str,
    params: Mapping[str, Any] | None = None,
    *,
    runs: int = 1000,
    steps: int = 3000,
    seed: Seed = 0,
    first_run: int = 0,
    threads: int | None = None,
    visits: bool = False,
    endings: bool = False,
    progress: Telling = None,
) -> Runs:
    """Run `agent` with `params` in `domain` (a name, an environment with `.mdp()`, or a `TabularMDP`).

    `threads` defaults to the number of cores; `progress` is told how many runs were finished since it was last told;
    True shows a bar.
    `visits` asks for the number of times that each pair was learnt from, which is every time unless the agent freezes;
    `endings` for the steps that ended an episode.

    >>> import hreach
    >>> hreach.simulate("chain", "pac-rmdp", {"h": 8}, runs=10, steps=100).reward.shape
    (10, 100)
    """
    runs, steps = whole("runs", runs, 1), whole("steps", steps, 1)
    first_run = whole("first_run", first_run, 0)
    workers = whole("threads", threads, 1) if threads is not None else os.cpu_count() or 1
    env = make_domain(domain) if isinstance(domain, str) else domain
    options = dict(params or {})
    if "seed" in options:
        raise InputError("params has the key 'seed'; give the seed to simulate itself, it seeds every run.")
    template = make_agent(agent, env, **options)
    world = _world(_mdp_of(env))
    seeds = run_streams(run_seeds(seed, first_run, runs))
    reward = np.empty((runs, steps))
    over = np.empty((runs, steps if endings else 0), dtype=np.bool_)
    total = np.empty((runs, *template.model.seen.total.shape)) if visits else None
    size = 1 if visits else min(max(1, _CHUNK_STEPS // steps), -(-runs // workers))

    def chunk(first: int, stop: NDArray[np.bool_]) -> int:
        part = slice(first, min(first + size, runs))
        seen = simulate_from(
            template.planner, template.planner.begin, world, seeds[part], reward[part], over[part], False, stop
        )
        if total is not None:
            total[first] = seen.total
        return part.stop - part.start

    with telling(progress, runs, "runs") as told:
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

    The calling thread only waits: compiled code would not hear it.
    """
    stop = np.zeros(1, dtype=np.bool_)
    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(work, parts, repeat(stop))
    except BaseException:
        stop[0] = True
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _mdp_of(env: Any) -> TabularMDP:
    mdp = truth_of(env)
    if mdp is None:
        raise InputError(f"domain is {type(env).__name__}, but must tell its truth by .mdp() to be simulated.")
    return mdp


def _world(mdp: TabularMDP) -> World:
    return World(mdp.indptr, mdp.next_state, mdp.cumulative, mdp.reward, mdp.end, np.cumsum(mdp.start))
