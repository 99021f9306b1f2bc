"""Running a study: what the store lacks is simulated, cell by cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hreach.domains import make_domain
from hreach.simulation import simulate
from hreach.studies.grid import cell_of
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.store import Result, Store

_SHARD_STEPS = 30_000_000  # rewards held in memory at once: 240 MB


class Watch(Protocol):
    """Somebody who wants to know how far the work is."""

    def begin(self, spec: AgentSpec, runs: int) -> Callable[[int], None]:
        """`runs` runs of a row are about to be simulated; the answer is told of runs as they finish."""

    def end(self, spec: AgentSpec, result: Result) -> None:
        """A row is complete."""


def run_study(
    study: Study,
    store: Store,
    runs: int | None = None,
    threads: int | None = None,
    watch: Watch | None = None,
) -> list[tuple[AgentSpec, Result]]:
    """Results of every row, in the order of the study; finished shards are not computed again."""
    wanted = study.runs if runs is None else runs
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
                steps=cell.steps,
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


def _pieces(first: int, end: int, size: int) -> list[tuple[int, int]]:
    return [(a, min(a + size, end)) for a in range(first, end, size)]
