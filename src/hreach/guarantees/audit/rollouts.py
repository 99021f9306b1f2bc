"""The value of the agent that goes on learning, by copies of it that do."""

from __future__ import annotations

import math
import os
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hreach.agents.tables import TableAgent
from hreach.errors import whole
from hreach.kernels import Seen, Table, World
from hreach.problems.mdp import TabularMDP
from hreach.randomness.seeding import run_seeds
from hreach.randomness.streams import run_streams
from hreach.running.simulate import in_threads, simulate_from

LEVEL = 0.95


class Rollouts:
    """Copies of an agent continued from a state: unbiased for sum_{i < horizon} gamma^i r_i, V^{A_t}(s_t) cut off.

    A copy ends with its episode.

    horizon is the first H with gamma^H max|R|/(1-gamma) <= accuracy. The interval is Student's, 95 %, made wider by
    what may come after the horizon; each copy has its own environment and its own stream. The copies begin with what
    the agent knew before it planned for this step, so that they plan as it did (an agent that learns a pair no more
    may plan once too often; that moves its value within the tolerance).
    """

    def __init__(
        self, truth: TabularMDP, agent: TableAgent, copies: int, accuracy: float, seed: int, threads: int | None
    ) -> None:
        self._threads = whole("threads", threads, 1) if threads is not None else os.cpu_count() or 1
        self._planner, self._copies, self._seed = agent.planner, copies, whole("seed", seed, 0)
        table = truth.reward_table()
        self._tail = (min(float(table.min()), 0.0), max(float(table.max()), 0.0))
        largest = float(np.abs(table).max()) / (1 - truth.gamma)
        self.horizon = 1
        if truth.gamma > 0 and largest > accuracy:
            self.horizon = math.ceil(math.log(accuracy / largest) / math.log(truth.gamma))
        self._discount = truth.gamma ** np.arange(self.horizon)
        self._after = truth.gamma**self.horizon / (1 - truth.gamma)
        moves = (truth.indptr, truth.next_state, truth.cumulative, truth.reward, truth.end)
        self._world = World(*moves, start=np.zeros(truth.states))

    def __call__(self, begin: tuple[Seen, Table], state: int, step: int) -> dict[str, float]:
        """Mean and interval of the value from `state` on, of agents that begin with `begin`."""
        values = self.returns(begin, state, step)
        mean, half = float(values.mean()), self._half_width(values)
        low, high = mean - half + self._after * self._tail[0], mean + half + self._after * self._tail[1]
        return {"learning": mean, "learning_low": low, "learning_high": high}

    def returns(self, begin: tuple[Seen, Table], state: int, step: int) -> NDArray[np.float64]:
        """The discounted rewards of each copy, (copies,)."""
        streams = run_streams(run_seeds((self._seed, step), 0, self._copies))
        world = self._world._replace(start=(np.arange(self._world.start.size) >= state).astype(np.float64))
        paid = np.zeros((self._copies, self.horizon))

        def part(chosen: slice, stop: NDArray[np.bool_]) -> None:
            unseen = np.empty((len(paid[chosen]), 0), dtype=np.bool_)
            simulate_from(self._planner, begin, world, streams[chosen], paid[chosen], unseen, True, stop)

        edges = np.linspace(0, self._copies, min(self._threads, self._copies) + 1).astype(int)
        list(in_threads(part, [slice(a, b) for a, b in pairwise(edges)], len(edges) - 1))
        return np.asarray(paid @ self._discount)

    def _half_width(self, values: NDArray[np.float64]) -> float:
        from scipy.special import stdtrit  # takes a tenth of a second to import

        error = values.std(ddof=1) / math.sqrt(len(values))
        return float(stdtrit(len(values) - 1, (1 + LEVEL) / 2) * error)


def copied(begin: tuple[Seen, Table]) -> tuple[Seen, Table]:
    """What a model has seen and a planner's table, as they are now."""
    seen, table = begin
    return Seen._make(array.copy() for array in seen), Table._make(array.copy() for array in table)
