"""The unit of work: a shard, some runs of one cell. Workers compute it and give back its file.

Where shards are cut depends on the cell alone, not on workers or on what was there before, so that one study always
leaves the same files.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from hreach.agents import make_agent
from hreach.running.simulate import runs_compiled, simulate
from hreach.studies.grid import Cell
from hreach.studies.identity import digest, normal
from hreach.studies.results import Result, joined, result_of
from hreach.studies.stepped import by_steps, run_stepped
from hreach.studies.store import Range, Store, encoded
from hreach.studies.until import LOOK

# Steps of a shard: some tenths of a second of compiled code, or of Python.
COMPILED_STEPS, STEPPED_STEPS = 1_500_000, 20_000
EVERY = 60.0  # seconds between two checkpoints of a long run


def is_compiled(cell: Cell) -> bool:
    """Whether the kernels can run it."""
    if cell.steps is None:
        return False
    env = cell.setting.environment()
    return runs_compiled(env, make_agent(cell.agent, env, **cell.params))


def which_compiled(cells: Iterable[Cell]) -> dict[str, bool]:
    """`is_compiled` of each cell, by its id; cells that differ in numbers only are alike, and one of them is tried."""
    found: dict[str, bool] = {}
    tried: dict[str, bool] = {}
    for cell in cells:
        params = {key: value if isinstance(value, str) else "" for key, value in cell.params.items()}
        kind = digest([cell.domain, normal(cell.domain_params), cell.agent, params, cell.plugins, cell.steps is None])
        if kind not in tried:
            tried[kind] = is_compiled(cell)
        found[cell.id] = tried[kind]
    return found


def shard_runs(cell: Cell, compiled: bool) -> int:
    """How many runs a shard of a cell has: one by episodes, which may be long."""
    if cell.steps is None:
        return 1
    return max(1, (COMPILED_STEPS if compiled else STEPPED_STEPS) // cell.steps)


def pending(store: Store, cell: Cell, runs: int, compiled: bool, looks: bool = False) -> list[Range]:
    """The shards that the store lacks for the first `runs` runs of a cell, cut at multiples of their size.

    looks   where one looks at a row while it runs (`until.py`), no shard is longer than from one look to the next
    """
    size = shard_runs(cell, compiled)
    size = min(size, LOOK) if looks else size
    return [piece for gap in store.missing(cell.id, runs) for piece in _pieces(*gap, size)]


# The code of the process that computed (`Cell.code`), the runs, their file, and what is read from that file.
Computed = tuple[str, Range, bytes, Result]


def simulated(cell: Cell, first: int, end: int) -> Computed:
    """The runs [first, end) of a compiled cell."""
    env, made = cell.setting.environment(), (cell.agent, cell.params)
    done = simulate(env, *made, runs=end - first, steps=cell.steps, seed=cell.entropy, first_run=first, threads=1)
    return _computed(cell, first, by_steps(done.reward, done.agent, cell.marks))


def stepped(cell: Cell, first: int, end: int, checkpoints: Path | None = None, every: float = EVERY) -> Computed:
    """The runs [first, end) of a cell that Python steps; a long one keeps in a folder how far it is."""
    return _computed(cell, first, _stepped(cell, first, end, checkpoints, every))


def _computed(cell: Cell, first: int, done: Result) -> Computed:
    held, data, columns, about = encoded(cell, first, done)
    return cell.code, held, data, result_of([(slice(None), columns, about)])


def _stepped(cell: Cell, first: int, end: int, checkpoints: Path | None, every: float) -> Result:
    what = (cell.setting, cell.final_episodes, cell.entropy)
    if checkpoints is None or end - first > 1:  # runs that share a shard are short
        return joined([run_stepped(*what, number, cell.marks) for number in range(first, end)])
    return run_stepped(*what, first, cell.marks, checkpoints / f"{cell.id}-{first}.npz", every)


def _pieces(first: int, end: int, size: int) -> list[Range]:
    """[first, end) cut at the multiples of `size`."""
    cuts = [first, *range((first // size + 1) * size, end, size), end]
    return list(pairwise(cuts))
