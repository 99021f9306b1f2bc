"""The unit of work: a shard, some runs of one cell. Workers compute it and give back its file.

Where shards are cut depends on the cell alone, not on workers or on what was there before, so that one study always
leaves the same files.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from hreach.agents import make_agent
from hreach.domains import make_domain
from hreach.protocols import Environment
from hreach.registry import import_plugins
from hreach.running.simulate import runs_compiled, simulate
from hreach.studies.grid import Cell
from hreach.studies.identity import digest, normal
from hreach.studies.results import Result, joined, result_of
from hreach.studies.stepped import by_steps, run_stepped
from hreach.studies.store import Range, encoded
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


def pending(gaps: Iterable[Range], cell: Cell, compiled: bool, looks: bool = False) -> list[Range]:
    """The shards of the runs of a cell that the store lacks, cut at multiples of their size.

    looks   where one looks at a row while it runs (`until.py`), no shard is longer than from one look to the next
    """
    size = shard_runs(cell, compiled)
    size = min(size, LOOK) if looks else size
    return [piece for gap in gaps for piece in _pieces(*gap, size)]


class Computed(NamedTuple):
    """A shard: the code of the process that computed it (`Cell.code`), the runs, their file, what is read from that
    file, and the seconds that it took."""

    code: str
    runs: Range
    file: bytes
    result: Result
    seconds: float


def simulated(cell: Cell, first: int, end: int) -> Computed:
    """The runs [first, end) of a compiled cell."""
    began = time.perf_counter()
    env, made = _shared_environment(cell), (cell.agent, cell.params)
    done = simulate(env, *made, runs=end - first, steps=cell.steps, seed=cell.entropy, first_run=first, threads=1)
    return _computed(cell, first, by_steps(done.reward, done.agent, cell.marks), began)


def stepped(cell: Cell, first: int, end: int, checkpoints: Path | None = None, every: float = EVERY) -> Computed:
    """The runs [first, end) of a cell that Python steps; a long one keeps in a folder how far it is."""
    began = time.perf_counter()
    return _computed(cell, first, _stepped(cell, first, end, checkpoints, every), began)


def _shared_environment(cell: Cell) -> Environment:
    """The environment of compiled runs, made once for all cells of a domain: they only read what it tells of itself."""
    try:
        key = json.dumps(cell.domain_params, sort_keys=True)
    except TypeError:  # a date, which TOML has and JSON has not
        return cell.setting.environment()
    return _made(cell.domain, key, cell.plugins, cell.code)


@lru_cache(maxsize=2)
def _made(domain: str, params: str, plugins: tuple[str, ...], code: str) -> Environment:
    """`code` names the code that makes it."""
    import_plugins(plugins)
    env: Environment = make_domain(domain, **json.loads(params))
    return env


def _computed(cell: Cell, first: int, done: Result, began: float) -> Computed:
    held, data, columns, about = encoded(cell, first, done)
    result = result_of([(slice(None), columns, about)])
    return Computed(cell.code, held, data, result, time.perf_counter() - began)


def _stepped(cell: Cell, first: int, end: int, checkpoints: Path | None, every: float) -> Result:
    what = (cell.setting, cell.final_episodes, cell.entropy)
    if checkpoints is None or end - first > 1:  # runs that share a shard are short
        return joined([run_stepped(*what, number, cell.marks) for number in range(first, end)])
    return run_stepped(*what, first, cell.marks, checkpoints / f"{cell.id}-{first}.npz", every)


def _pieces(first: int, end: int, size: int) -> list[Range]:
    """[first, end) cut at the multiples of `size`."""
    cuts = [first, *range((first // size + 1) * size, end, size), end]
    return list(pairwise(cuts))
