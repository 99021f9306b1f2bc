"""Running a study: what the store lacks is simulated, cell by cell.

A study by steps is simulated compiled, in threads. A study by episodes is stepped in Python, in processes, run by run;
the runs of all rows are begun in the order of the rows without waiting for one another, so that at the end a core is
idle for one run at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from hreach.domains import make_domain
from hreach.running.simulate import simulate
from hreach.studies.episodes import run_episodes
from hreach.studies.grid import Cell, cell_of
from hreach.studies.processes import Processes
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.store import EpisodeResult, Result, Store

_SHARD_STEPS = 30_000_000  # rewards held in memory at once: 240 MB


class Watch(Protocol):
    """Somebody who wants to know how far the work is."""

    def begin(self, spec: AgentSpec, runs: int) -> Callable[[int], None]:
        """`runs` runs of a row are still to come; the answer is told of runs as they finish."""

    def end(self, spec: AgentSpec, result: Result | EpisodeResult) -> None:
        """A row is complete."""


def run_study(
    study: Study,
    store: Store,
    runs: int | None = None,
    threads: int | None = None,
    watch: Watch | None = None,
) -> list[tuple[AgentSpec, Result]]:
    """Results of every row of a study by steps, in its order; finished shards are not computed again."""
    wanted = study.runs if runs is None else runs
    assert study.steps is not None
    env = make_domain(study.domain, **study.domain_params)
    size = max(1, _SHARD_STEPS // study.steps)
    results = []
    for spec in study.agent:
        cell = cell_of(study, spec)
        gaps = store.missing(cell, wanted)
        progress = watch.begin(spec, sum(b - a for a, b in gaps)) if watch else None
        for first, end in (piece for gap in gaps for piece in _pieces(*gap, size)):
            done = simulate(
                env,
                cell.agent,
                cell.params,
                runs=end - first,
                steps=study.steps,
                seed=cell.entropy,
                first_run=first,
                threads=threads,
                progress=progress,
            )
            store.write(cell, first, done.reward, dict(done.agent))
        results.append((spec, store.read(cell, wanted)))
        if watch:
            watch.end(*results[-1])
    return results


def run_episode_study(
    study: Study,
    store: Store,
    runs: int | None = None,
    processes: Processes | None = None,
    watch: Watch | None = None,
) -> list[tuple[AgentSpec, EpisodeResult]]:
    """Results of every row of a study by episodes, in its order; finished runs are not computed again.

    `processes` are the workers, to be shared by studies; without them everything happens in this process.
    """
    wanted = study.runs if runs is None else runs
    cells = [cell_of(study, spec) for spec in study.agent]
    finished = _finished(store, {cell.id: cell for cell in cells}, wanted, processes or Processes(1))
    results = []
    for spec, cell in zip(study.agent, cells, strict=True):
        left = _missing(store, cell, wanted)
        progress = watch.begin(spec, len(left)) if watch else None
        while left:
            other, number = next(finished)
            if other.id == cell.id:
                left.remove(number)
                if progress:
                    progress(1)
        results.append((spec, store.read_episodes(cell, wanted)))
        if watch:
            watch.end(*results[-1])
    return results


def _finished(store: Store, cells: dict[str, Cell], wanted: int, processes: Processes) -> Iterator[tuple[Cell, int]]:
    """(cell, number) of every run that the store lacks, each as soon as the store has it."""
    lacking = [(cell, number) for cell in cells.values() for number in _missing(store, cell, wanted)]
    for i, done in processes.run(run_episodes, [_task(cell, number) for cell, number in lacking]):
        cell, number = lacking[i]
        store.write_episodes(cell, number, done)
        yield cell, number


def _missing(store: Store, cell: Cell, wanted: int) -> list[int]:
    return [number for first, end in store.missing(cell, wanted) for number in range(first, end)]


def _task(cell: Cell, number: int) -> tuple[object, ...]:
    """The arguments of `run_episodes`."""
    what = (cell.domain, cell.domain_params, cell.agent, cell.params)
    return (*what, cell.episodes, cell.final_episodes, cell.entropy, number)


def _pieces(first: int, end: int, size: int) -> list[tuple[int, int]]:
    return [(a, min(a + size, end)) for a in range(first, end, size)]
