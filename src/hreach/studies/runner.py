"""Running a study: what the store lacks is run, cell by cell.

Rows that the kernels can run are simulated compiled, in threads. All others are stepped in Python, in processes, run by
run; their runs are begun in the order of the rows without waiting for one another, so that at the end a core is idle
for one run at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from hreach.agents import make_agent
from hreach.running.processes import Processes
from hreach.running.simulate import runs_compiled, simulate
from hreach.studies.grid import Cell, cell_of
from hreach.studies.results import Result
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.stepped import by_steps, run_stepped
from hreach.studies.store import Store

_SHARD_STEPS = 30_000_000  # rewards held in memory at once: 240 MB


class Watch(Protocol):
    """Receives progress."""

    def begin(self, spec: AgentSpec, runs: int) -> Callable[[int], None]:
        """`runs` runs of a row are still to come; the answer receives the number of runs as they finish."""

    def end(self, spec: AgentSpec, result: Result) -> None:
        """A row is complete."""


def run_study(
    study: Study,
    store: Store,
    runs: int | None = None,
    processes: Processes | None = None,
    watch: Watch | None = None,
) -> list[tuple[AgentSpec, Result]]:
    """Results of every row of a study, in its order; finished runs are not computed again.

    `processes` are the workers, to be shared by studies, and their number is that of threads; without them what Python
    steps is stepped in this process, and threads are as many as cores.
    """
    wanted = study.runs if runs is None else runs
    cells = [cell_of(study, spec) for spec in study.agent]
    begun = {cell.id: cell for cell in cells if store.missing(cell.id, wanted)}
    compiled = {cell.id for cell in begun.values() if _is_compiled(cell)}
    stepped = [cell for cell in begun.values() if cell.id not in compiled]
    finished = _finished(store, stepped, wanted, processes or Processes(1))
    threads = None if processes is None else processes.count
    results = []
    for spec, cell in zip(study.agent, cells, strict=True):
        progress = watch.begin(spec, len(store.lacking(cell.id, wanted))) if watch else _nobody
        if cell.id in compiled:
            _simulate(cell, store, wanted, threads, progress)
        else:
            _await(cell, store, wanted, finished, progress)
        results.append((spec, store.read(cell.id, wanted)))
        if watch:
            watch.end(*results[-1])
    return results


def _is_compiled(cell: Cell) -> bool:
    if cell.steps is None:
        return False
    env = cell.setting.environment()
    return runs_compiled(env, make_agent(cell.agent, env, **cell.params))


def _simulate(cell: Cell, store: Store, wanted: int, threads: int | None, progress: Callable[[int], None]) -> None:
    """The runs of a compiled cell that the store lacks."""
    assert cell.steps is not None
    env, size = cell.setting.environment(), max(1, _SHARD_STEPS // cell.steps)
    for first, end in (piece for gap in store.missing(cell.id, wanted) for piece in _pieces(*gap, size)):
        done = simulate(
            env,
            cell.agent,
            cell.params,
            runs=end - first,
            steps=cell.steps,
            seed=cell.entropy,
            first_run=first,
            threads=threads,
            progress=progress,
        )
        store.write(cell, first, by_steps(done.reward, done.agent))


def _await(
    cell: Cell, store: Store, wanted: int, finished: Iterator[tuple[Cell, int]], progress: Callable[[int], None]
) -> None:
    """Wait until the store has the runs of a cell."""
    left = store.lacking(cell.id, wanted)
    while left:
        other, number = next(finished)
        if other.id == cell.id:
            left.remove(number)
            progress(1)


def _finished(store: Store, cells: Sequence[Cell], wanted: int, processes: Processes) -> Iterator[tuple[Cell, int]]:
    """(cell, number) of every run that the store lacks, each as soon as the store has it."""
    lacking = [(cell, number) for cell in cells for number in store.lacking(cell.id, wanted)]
    tasks = [(cell.setting, cell.final_episodes, cell.entropy, number) for cell, number in lacking]
    for i, done in processes.run(run_stepped, tasks):
        cell, number = lacking[i]
        store.write(cell, number, done)
        yield cell, number


def _nobody(runs: int) -> None:
    """Nobody receives progress."""


def _pieces(first: int, end: int, size: int) -> list[tuple[int, int]]:
    return [(a, min(a + size, end)) for a in range(first, end, size)]
