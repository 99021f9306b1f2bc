"""Running a study: what the store lacks is computed, shard by shard, and kept as soon as it is there.

Shards of all rows go to the workers one after the other without waiting for their row, so that no worker is idle before
the last. A shard that fails, or whose worker died three times, is put into quarantine (`quarantine.py`) and the rest
goes on; the next run tries it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from hreach.running.executors import Failure
from hreach.studies.grid import Cell, cell_of
from hreach.studies.quarantine import Quarantine
from hreach.studies.results import Result, joined
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.stepped import why_not_saved
from hreach.studies.store import CHECKPOINTS, Range, Store
from hreach.studies.until import Numbers, bounds_of, numbers_of, stops
from hreach.studies.work import Computed, pending, simulated, stepped, which_compiled
from hreach.studies.workers import Workers, here
from hreach.studies.writing import Writer

NONE: Numbers = np.empty(0)
LONG = 0.2  # seconds of computing, after which a shard is on the disk before its worker is given another one
Shard = tuple[Cell, Range]


class Watch(Protocol):
    """Receives progress."""

    def begin(self, spec: AgentSpec, runs: int) -> Callable[[int], None]:
        """`runs` runs of a row are still to come; the answer receives the number of runs as they finish."""

    def end(self, spec: AgentSpec, result: Result) -> None:
        """A row is complete."""

    def failed(self, spec: AgentSpec, runs: Range, why: str) -> None:
        """Some runs of a row could not be computed."""

    def note(self, spec: AgentSpec, text: str) -> None:
        """Something worth knowing of a row."""


def run_study(
    study: Study,
    store: Store,
    runs: int | None = None,
    workers: Workers | None = None,
    watch: Watch | None = None,
) -> list[tuple[AgentSpec, Result]]:
    """Results of the rows of a study, in its order; finished runs are not computed again.

    A row of which runs are missing in the end is left out: they failed, or are another machine's part.
    Without `workers` everything is computed in this process.
    """
    going = _Going(study, store, study.runs if runs is None else runs, workers or here(), watch)
    results = going.run()
    return [(spec, results[cell]) for spec, cell in going.rows if cell in results]


class _Going:
    """A study while it runs.

    rows      every row with the id of its cell; two rows may have one cell
    cells     the cells, by id
    needed    by cell, how many runs it needs, as far as is known; a cell with a failure is taken out
    """

    def __init__(self, study: Study, store: Store, most: int, workers: Workers, watch: Watch | None) -> None:
        self.study, self.store, self.workers, self.watch, self.most = study, store, workers, watch, most
        cells = [cell_of(study, spec) for spec in study.agent]
        self.rows = [(spec, cell.id) for spec, cell in zip(study.agent, cells, strict=True)]
        self.cells = {cell.id: cell for cell in cells}
        self.needed = dict.fromkeys(self.cells, most)
        self._specs: dict[str, list[AgentSpec]] = {cell: [] for cell in self.cells}
        for spec, cell_id in self.rows:
            self._specs[cell_id].append(spec)
        self._results: dict[str, Result] = {}
        self._computed: dict[str, dict[Range, Result]] = {cell: {} for cell in self.cells}  # of shards, here
        self._progress: dict[str, list[Callable[[int], None]]] = {cell: [] for cell in self.cells}
        self._compiled: dict[str, bool] = {}
        self._unsaved: dict[str, str | None] = {}
        self._numbers: dict[str, Numbers] = {}
        self._left: Counter[str] = Counter()  # shards of each cell that are still to come
        self._quarantine = Quarantine(store.folder)

    def run(self) -> dict[str, Result]:
        """Compute what is missing, in one round, or with `until` in as many as it takes; the results, by cell."""
        self._begin()
        if self.study.until is None:
            self._compute(self._pending())
        else:
            bounds = bounds_of(self.study)
            while shards := self._round(bounds):
                self._compute(shards)
        for cell in self.needed:
            if cell not in self._results and self._whole(cell):
                self._end(cell)
        return self._results

    def _begin(self) -> None:
        """Tell what is to come, and which rows are complete already."""
        if self.watch is not None:
            for spec, cell in self.rows:
                left = sum(end - first for first, end in self.store.missing(cell, self.most))
                self._progress[cell].append(self.watch.begin(spec, left))
        if self.study.until is None:
            for cell in filter(self._whole, self.cells):
                self._end(cell)

    def _end(self, cell: str) -> None:
        """Take the results of a cell that is complete, and tell of its rows, once."""
        if cell in self._results:
            return
        self._results[cell] = self._result(cell, self.needed[cell])
        if self.watch is not None:
            for spec in self._specs[cell]:
                self.watch.end(spec, self._results[cell])

    def _result(self, cell: str, runs: int) -> Result:
        """What was computed here, if that is all of it; else what the store holds."""
        parts = sorted(self._computed.pop(cell).items(), key=lambda part: part[0])
        if _tiles([piece for piece, _ in parts], runs):
            return joined([part for _, part in parts])
        return self.store.read(cell, runs)

    def _round(self, bounds: tuple[float, float]) -> list[Shard]:
        """The shards until the next look of `until`; none if every row may stop."""
        assert self.study.until is not None
        groups: list[list[str]] = []
        for variant in self.study.variants:
            cells = [cell for spec, cell in self.rows if spec.variant == variant and cell in self.needed]
            groups.append(list(dict.fromkeys(cells)))
        numbers = {cell: self._numbers_of(cell, bounds) for cell in self.needed}
        self.needed = stops(self.study.until, [g for g in groups if g], numbers, bounds, self.most)
        return self._pending()

    def _numbers_of(self, cell: str, bounds: tuple[float, float]) -> Numbers:
        """One number for each run that is there, from the first one on."""
        gaps = self.store.missing(cell, self.most)
        there = gaps[0][0] if gaps else self.most
        if there != len(self._numbers.get(cell, ())):
            self._numbers[cell] = numbers_of(self.store.read(cell, there), bounds)
        return self._numbers.get(cell, NONE)

    def _pending(self) -> list[Shard]:
        """The shards that are missing; each is cut as its cell alone says."""
        gaps = {cell: missing for cell, runs in self.needed.items() if (missing := self.store.missing(cell, runs))}
        lacking = [self.cells[cell] for cell in gaps]
        self._compiled |= which_compiled(cell for cell in lacking if cell.id not in self._compiled)
        found = []
        for cell in lacking:
            compiled, looks = self._compiled[cell.id], self.study.until is not None
            pieces = pending(gaps[cell.id], cell, compiled, looks=looks)
            found += [(cell, piece) for piece in pieces if self.workers.take(cell.id, piece[0])]
        return found

    def _compute(self, shards: Sequence[Shard]) -> None:
        """Compute shards and keep them; those of compiled cells first."""
        self._left = Counter(cell.id for cell, _ in shards)
        by_kernels = [(cell, piece) for cell, piece in shards if self._compiled[cell.id]]
        by_python = [(cell, piece) for cell, piece in shards if not self._compiled[cell.id]]
        every = self.workers.every
        tasks = ((cell, *piece, self._checkpoints(cell, piece), every) for cell, piece in by_python)
        with Writer(self.store, 2 * self.workers.count) as writer:
            for part, found in (
                (by_kernels, self.workers.compiled.run(simulated, ((cell, *piece) for cell, piece in by_kernels))),
                (by_python, self.workers.stepped.run(stepped, tasks)),
            ):
                for i, done in found:
                    self._keep(*part[i], done, writer)
            writer.settle()

    def _whole(self, cell: str) -> bool:
        return cell in self.needed and not self.store.missing(cell, self.needed[cell])

    def _own(self, cell: str) -> bool:
        """Whether all of a cell was computed and written here: the folder need not be looked at."""
        return cell in self.needed and _tiles(sorted(self._computed[cell]), self.needed[cell])

    def _checkpoints(self, cell: Cell, piece: Range) -> Path | None:
        """Where a long run keeps how far it is, if workers see this folder and it can be saved; else that is said."""
        if not self.workers.local or piece[1] - piece[0] > 1:
            return None
        if cell.id not in self._unsaved:
            why = self._unsaved[cell.id] = why_not_saved(cell.setting)
            if why is not None and self.watch is not None:
                for spec in self._specs[cell.id]:
                    self.watch.note(spec, f"a run that is stopped begins anew: {why}")
        if self._unsaved[cell.id] is not None:
            return None
        folder = self.store.folder / CHECKPOINTS
        folder.mkdir(exist_ok=True)
        return folder

    def _keep(self, cell: Cell, piece: Range, done: Computed | Failure, writer: Writer) -> None:
        """Write a shard, or put it aside."""
        if not isinstance(done, Failure) and done.code != cell.code:
            done = Failure("its worker has other code, of hreach or of a module that the study names", 1)
        if isinstance(done, Failure):
            self._quarantine.put(cell, piece, done.why, done.tries)
            self.needed.pop(cell.id, None)
            for spec in self._specs[cell.id]:
                if self.watch is not None:
                    self.watch.failed(spec, piece, done.why)
            return
        writer.put(cell.id, done.runs, done.file, partial(self._kept, cell.id, piece, done))
        if done.seconds > LONG:
            writer.settle()

    def _kept(self, cell: str, piece: Range, done: Computed, new: bool) -> None:
        """A shard is on the disk, written here if it is `new`."""
        if new:
            self._computed[cell][done.runs] = done.result
        self._quarantine.release(cell, piece)
        for progress in self._progress[cell]:
            progress(piece[1] - piece[0])
        self._left[cell] -= 1
        if self._left[cell] == 0 and self.study.until is None and (self._own(cell) or self._whole(cell)):
            self._end(cell)


def _tiles(pieces: Sequence[Range], runs: int) -> bool:
    """Whether ranges in order are [0, runs), cut."""
    return [0, *(end for _, end in pieces)] == [*(first for first, _ in pieces), runs]
