"""Compiled runs of agents that plan locally: run for run equal to `hreach.run`, like those over tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.agents.tables import LocalAgent
from hreach.compiling import announcing
from hreach.kernels import World
from hreach.kernels.local_run import begin_local, has_room, walk_local
from hreach.models.sparse_counts import SparseCounts
from hreach.planners.local import Local

_PIECE = 10_000  # steps between two looks at `stop`
_begin, _room, _walk = announcing(begin_local), announcing(has_room), announcing(walk_local)


def run_local(
    template: LocalAgent,
    world: World,
    streams: NDArray[np.uint64],
    paid: NDArray[np.float64],
    over: NDArray[np.bool_],
    stop: NDArray[np.bool_],
) -> SparseCounts:
    """One run of an agent like `template` for each row of `paid`; what the last of them has seen.

    streams: (runs, 2, 4) of environments and agents; paid: (runs, steps), filled; over: (runs, steps or 0), filled.
    """
    for own, rewards, ended in zip(streams, paid, over, strict=True):
        model, planner = template.design.make(0, own[1])
        one = Steps(model, planner, world, own[0])
        one.walk(rewards, ended, stop)
    return model


class Steps:
    """A run as far as it has come: model, plan, and the state that the environment is in."""

    def __init__(self, model: SparseCounts, planner: Local, world: World, environment: NDArray[np.uint64]) -> None:
        self.model, self.planner, self._world, self._environment = model, planner, world, environment
        self.state = _begin(world, environment)
        self._stale = True

    def walk(self, paid: NDArray[np.float64], over: NDArray[np.bool_], stop: NDArray[np.bool_] | None = None) -> None:
        """A step for each entry of `paid`, which is filled, as is `over` if it has entries; less once `stop` is set."""
        planner, model, done = self.planner, self.model, 0
        while done < len(paid) and not (stop is not None and stop[0]):
            self._make_room()
            planner.revise()
            until = min(done + _PIECE, len(paid), done + int(np.ceil(min(planner.due - model.samples, _PIECE))))
            steps, self.state, self._stale = _walk(
                planner.formula.address, planner.rule, model.freeze_at, model.arena, planner.lines, self._world,
                self._environment, planner.stream, self.state, self._stale, paid[done:until], over[done:until],
            )  # fmt: skip
            done += steps

    def _make_room(self) -> None:
        if not _room(self.planner.rule, self.model.arena, self.planner.lines):
            self.model.make_room()
            self.planner.make_room()
