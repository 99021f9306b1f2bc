"""What a study will cost, before it is run: rows, runs, shards, and time and disk from a short calibration.

A row is calibrated by some compiled runs or the beginning of one run in Python, a row whose agent and domain were tried
already by what these took. So an agent that becomes slower as it learns may be estimated too low.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import gymnasium
import numpy as np

from hreach.agents import make_agent
from hreach.protocols import Environment
from hreach.running.loop import run
from hreach.running.simulate import simulate
from hreach.studies.grid import Cell, cell_of
from hreach.studies.results import Phase, Result
from hreach.studies.spec import Study
from hreach.studies.stepped import by_steps
from hreach.studies.store import Store, encoded
from hreach.studies.work import is_compiled, pending

COMPILED, STEPPED = 100_000, 200  # steps of a calibration, of several runs if they are short and compiled
EPISODE_STEPS = 200  # of an episode, where its environment has no limit


@dataclass(frozen=True)
class Estimate:
    """What is left of a study.

    cells     that are not complete, of so many in all
    runs      at most, where `until` may stop rows earlier
    seconds   on one core
    bytes     on disk
    """

    cells: int
    all_cells: int
    runs: int
    shards: int
    seconds: float
    bytes: int


def estimate(study: Study, store: Store, runs: int | None = None) -> Estimate:
    """What the store lacks of a study, and what computing it will take."""
    most = study.runs if runs is None else runs
    cells = {cell.id: cell for cell in (cell_of(study, spec) for spec in study.agent)}
    tried: dict[str, tuple[bool, float, float]] = {}
    left, shards, seconds, size = 0, 0, 0.0, 0.0
    lacking = {cell: store.lacking(cell, most) for cell in cells}
    for cell_id, numbers in lacking.items():
        if numbers:
            cell = cells[cell_id]
            if cell.agent not in tried:
                tried[cell.agent] = _calibrated(cell)
            compiled, each, bytes_each = tried[cell.agent]
            pieces = pending(store.missing(cell.id, most), cell, compiled, looks=study.until is not None)
            left, shards = left + len(numbers), shards + len(pieces)
            seconds += each * len(numbers)
            size += bytes_each * len(numbers)
    return Estimate(sum(map(bool, lacking.values())), len(cells), left, shards, seconds, round(size))


def _calibrated(cell: Cell) -> tuple[bool, float, float]:
    """(whether it is compiled, seconds of a run, bytes of a run)."""
    compiled, env = is_compiled(cell), cell.setting.environment()
    episode = _episode_steps(env)
    length = cell.steps or episode * ((cell.episodes or 0) + cell.final_episodes)
    steps = min(length, COMPILED if compiled else STEPPED)
    runs = COMPILED // steps if compiled else 1  # what a shard takes whatever its runs is paid once, as in a shard
    _beginning(cell, env, compiled, 1, min(steps, 10))  # compiles, and warms caches
    began = time.perf_counter()
    _beginning(cell, env, compiled, runs, steps)
    each = (time.perf_counter() - began) / runs * length / steps
    result = _made_up(cell)
    return compiled, each, len(encoded(cell, 0, result)[1]) / result.runs


def _beginning(cell: Cell, env: Environment, compiled: bool, runs: int, steps: int) -> None:
    if compiled:
        simulate(env, cell.agent, cell.params, runs=runs, steps=steps, threads=1)
    else:
        run(env, make_agent(cell.agent, env, **cell.params), steps=steps)


def _episode_steps(env: Environment) -> int:
    spec = env.spec if isinstance(env, gymnasium.Env) else None
    limit = None if spec is None else spec.max_episode_steps
    return EPISODE_STEPS if limit is None else int(limit)


def _made_up(cell: Cell) -> Result:
    """Numbers that compress as badly as real ones, for their size."""
    rng, runs = np.random.default_rng(0), 50
    if cell.steps is not None:
        steps = min(cell.steps, 10 * cell.marks)
        return by_steps(rng.random((runs, steps)), {}, cell.marks)

    def phase(episodes: int) -> Phase:
        shape = (runs, episodes)
        return Phase(rng.random(shape), rng.integers(1, 1000, shape), rng.random(shape) < 0.5)

    episodes = cell.episodes or 0
    return Result("episodes", np.arange(1, episodes + 1), phase(episodes), phase(cell.final_episodes), {})
