"""Microseconds of CPU time per step of PAC-RMDP(h) with a local plan: plan, act, step, learn in the compiled loop.

    python benchmarks/local.py                                      writes benchmarks/LOCAL.md and its picture
    python benchmarks/local.py grid 32 100 316 1000 [--error]       prints slippery grids of these sides
    python benchmarks/local.py garnet 1000 10000 100000 [--error]   prints Garnets of so many states

Every cell is run twice from the same seeds: once for the mean, and once with a look at the thread's clock after every
single step, of which the quantile and the worst are (reading that clock takes part of a microsecond, which they hold).
The tolerance is 1 % of the range of values; with --error it is (1 - gamma) times that, so that values are certified to
1 % of their range.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

import hreach
from hreach.drawing.canvas import canvas, own_style
from hreach.drawing.palette import COLOURS
from hreach.drawing.saving import save_as
from hreach.files import write_text
from hreach.kernels.local_run import walk_local
from hreach.kernels.local_state import EDGES, SAMPLES, X
from hreach.kernels.state import World
from hreach.models.sparse_counts import SparseCounts
from hreach.optimism.pac_rmdp import build
from hreach.planners.local import Local
from hreach.problems.problem import Problem
from hreach.randomness.streams import agent_stream
from hreach.running.local_runs import Steps
from hreach.running.simulate import _world

HERE = Path(__file__).parent
Floats = NDArray[np.float64]
_clock = ctypes.CDLL(None).clock_gettime
_clock.argtypes, _clock.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_int
OF_THREAD = time.CLOCK_THREAD_CPUTIME_ID


def grid(side: int) -> tuple[World, Floats]:
    """A square without inner walls: 4 moves, each slips to either side with probability .1; one state pays 1."""
    y, x = np.divmod(np.arange(side * side), side)
    moves = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    to = [np.clip(y + dy, 0, side - 1) * side + np.clip(x + dx, 0, side - 1) for dy, dx in moves]
    following = np.stack([np.stack([to[a], to[(a + 1) % 4], to[(a + 3) % 4]], axis=1) for a in range(4)], axis=1)
    pairs = side * side * 4
    reward = np.zeros((side * side, 4))
    reward[side * side // 2 + side // 2] = 1.0
    return World(
        first=np.arange(0, 3 * pairs + 1, 3),
        next_state=following.reshape(-1).astype(np.int64),
        cumulative=np.tile([0.8, 0.9, 1.0], pairs),
        reward=np.repeat(reward.reshape(-1), 3),
        end=np.zeros(3 * pairs),
        start=np.ones(side * side),
    ), reward


def garnet(states: int) -> tuple[World, Floats]:
    """A Garnet of 4 actions and 5 successors."""
    mdp = hreach.make_domain("garnet", states=states, seed=1).mdp()
    return _world(mdp), mdp.reward_table()


@numba.njit
def timed(formula, rule, freeze_at, arena, lines, world, environment, stream, state, stale, paid, over, spent, now):  # type: ignore[no-untyped-def]
    """`walk_local` step by step; spent: nanoseconds of each."""
    _clock(OF_THREAD, now.ctypes)
    last = now[0] * 1_000_000_000 + now[1]
    for t in range(paid.size):
        more, state, stale = walk_local(
            formula, rule, freeze_at, arena, lines, world, environment, stream, state, stale, paid[t : t + 1], over
        )
        if more == 0:
            return t, state, stale
        _clock(OF_THREAD, now.ctypes)
        this = now[0] * 1_000_000_000 + now[1]
        spent[t] = this - last
        last = this
    return paid.size, state, stale


class TimedSteps(Steps):
    """Steps with the time that each takes; growth counts for the step that needs it."""

    def walk_timed(self, spent: Floats) -> None:
        planner, model, done, growth = self.planner, self.model, 0, 0.0
        paid, over, now = np.zeros(spent.size), np.zeros(0, dtype=bool), np.zeros(2, dtype=np.int64)
        while done < spent.size:
            begun = time.thread_time_ns()
            self._make_room()
            growth = time.thread_time_ns() - begun
            steps, self.state, self._stale = timed(
                planner.formula.address, planner.rule, model.freeze_at, model.arena, planner.lines, self._world,
                self._environment, planner.stream, self.state, self._stale, paid[done:], over, spent[done:], now,
            )  # fmt: skip
            if steps:
                spent[done] += growth
            done += steps


def recomputed(model: SparseCounts, planner: Local, h: float) -> tuple[float, float]:
    """(max |TV - V|, max |Q - its backup of V|) over the states that were met, from the counts, by plain NumPy.

    The second is what pushes have rounded: a Q is V's backup at x but for that, however long ago its row was computed.
    """
    planner.plan()
    arena, met = model.arena, model.met
    edge, known = arena.edge[: arena.size[EDGES]], met.size
    _, stored = planner.stored_value()
    value = planner.internal_value()
    value[met] = stored
    n = np.bincount(edge[:, 0], weights=edge[:, 2], minlength=4 * known)
    future = np.bincount(edge[:, 0], weights=edge[:, 2] * stored[edge[:, 1]], minlength=4 * known)
    reward = planner.rule.reward[met].reshape(-1)
    at_best, at_x = (
        (reward + planner.rule.gamma * (future + h * x) / (n + h)).reshape(known, 4)
        for x in (value.max(), planner.lines.number[X])
    )
    off = np.abs(at_best.max(axis=1) - stored).max()
    return float(off), float(np.abs(at_x - planner.action_values(met)).max())


def begin(world: World, reward: Floats, h: float, gamma: float, tolerance: float) -> TimedSteps:
    """A run that has made no step."""
    problem = Problem(len(reward), 4, gamma, reward[:, :, None], 1.0, 0.0)
    model = SparseCounts(problem)
    planner = Local(model, build(problem, h=h), agent_stream(1), tolerance=tolerance)
    return TimedSteps(model, planner, world, agent_stream(2))


def bytes_of(model: SparseCounts, planner: Local) -> int:
    """All arrays of model and plan, room for more included; of what has the size of the problem, `ids` and `order`."""
    lines = planner.lines._replace(scratch=np.zeros(0))
    return sum(array.nbytes for array in (*model.arena, *lines, planner.rule.order))


class Cell(NamedTuple):
    """What a row of the table says."""

    states: int
    h: float
    gamma: float
    mean: float  # microseconds, as the next two
    quantile: float
    worst: float
    size: float  # bytes for each pair that was tried
    tried: float  # share of all pairs
    off: float  # residual over tolerance
    rounding: float

    def row(self) -> str:
        return (
            f"| {self.states:,} | {self.h:g} | {self.gamma} | {self.mean:.2f} | {self.quantile:.1f} | {self.worst:.0f} "
            f"| {self.size:.0f} | {self.tried:.2f} | {self.off:.3f} | {self.rounding:.0e} |"
        )


HEAD = (
    "| states | h | gamma | us per step | 99.9 % of steps, us | worst step, us | bytes per tried pair "
    "| pairs tried | residual / tolerance | rounding |\n" + "|---" * 10 + "|"
)


def measured(world: World, reward: Floats, h: float, gamma: float, error: bool, steps_per_state: int = 20) -> Cell:
    states = len(reward)
    tolerance = 0.01 if error else 0.01 / (1 - gamma)
    steps = steps_per_state * states
    one = begin(world, reward, h, gamma, tolerance)
    begun = time.thread_time()
    one.walk(np.zeros(steps), np.zeros(0, dtype=bool))
    mean = 1e6 * (time.thread_time() - begun) / steps
    two, spent = begin(world, reward, h, gamma, tolerance), np.zeros(steps)
    two.walk_timed(spent)
    assert (one.model.arena.size == two.model.arena.size).all()
    assert two.model.arena.size[SAMPLES] == steps
    tried = int((one.model.arena.tally[:, 0] > 0).sum())
    size = bytes_of(one.model, one.planner) / tried
    q, worst = np.quantile(spent, 0.999) / 1e3, spent.max() / 1e3
    off, rounding = recomputed(one.model, one.planner, h)
    return Cell(states, h, gamma, mean, q, worst, size, tried / (4 * states), off / tolerance, rounding)


def cells(kind: str, sizes: Iterable[int], error: bool) -> Iterator[Cell]:
    """Every size with every h and gamma, printed as they come."""
    print(HEAD)
    for size in sizes:
        world, reward = grid(size) if kind == "grid" else garnet(size)
        for h in (1.0, 8.0):
            for gamma in (0.95, 0.99):
                cell = measured(world, reward, h, gamma, error)
                print(cell.row(), flush=True)
                yield cell


TICKS = (0.2, 0.3, 0.5, 1, 2, 3, 5)


def picture(found: dict[str, list[Cell]], path: Path) -> None:
    """Microseconds per step over |S|."""
    with own_style():
        figure = canvas(7.2, 3.6, layout="constrained")
        axes = figure.subplots()
        for kind, marker, colours in (("slippery grid", "o", COLOURS[:2]), ("Garnet", "s", COLOURS[2:4])):
            for h, colour in zip((1.0, 8.0), colours, strict=True):
                for gamma, line in ((0.95, "-"), (0.99, "--")):
                    own = [cell for cell in found[kind] if (cell.h, cell.gamma) == (h, gamma)]
                    sizes, means = [cell.states for cell in own], [cell.mean for cell in own]
                    label = f"{kind}, h = {h:g}, γ = {gamma}"
                    axes.plot(sizes, means, marker + line, color=colour, markersize=4, linewidth=1.3, label=label)
        axes.set(xscale="log", yscale="log", xlabel="states", ylabel="microseconds per step")
        axes.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
        axes.set_yticks([], minor=True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        save_as(figure, path)


def page() -> None:
    """Everything, as a page and a picture."""
    found = {
        "slippery grid": list(cells("grid", (32, 100, 316, 1000), False)),
        "Garnet": list(cells("garnet", (1000, 10_000, 100_000), False)),
        "slippery grid, tight": list(cells("grid", (32, 100, 316), True)),
        "Garnet, tight": list(cells("garnet", (1000, 10_000), True)),
    }
    lines = [
        "Made by `python benchmarks/local.py`: 20 steps per state, one seed, one thread. The time is the processor's,",
        "of plan, act, step and learn in the compiled loop. The residual is recomputed from the counts by plain NumPy;",
        "rounding is what the plan's own numbers are off after all these steps, 2 10^7 of them at 10^6 states.",
    ]
    for name, own in found.items():
        kind, _, tight = name.partition(", ")
        what = "1 % of the range of values" + (" times 1 - gamma: values are certified to 1 %" if tight else "")
        title = "Slippery grid" if kind == "slippery grid" else "Garnet, 4 actions, 5 successors"
        lines += ["", f"*{title}, tolerance {what}*", "", HEAD, *(cell.row() for cell in own)]
    write_text(HERE / "LOCAL.md", "\n".join(lines) + "\n")
    picture(found, HERE.parent / "docs" / "images" / "local.png")


def main() -> None:
    begin(*grid(4), 1.0, 0.9, 0.1).walk_timed(np.zeros(300))
    if not sys.argv[1:]:
        page()
        return
    error, (kind, *sizes) = "--error" in sys.argv, [word for word in sys.argv[1:] if not word.startswith("-")]
    list(cells(kind, map(int, sizes), error))


if __name__ == "__main__":
    main()
