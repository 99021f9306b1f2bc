"""What is kept of runs: one record for every cell, by steps or by episodes, of compiled or Python agents.

Its columns in the store have a row for each mark of each run,

    run            its number
    phase          "learning", or "final": the certainty-equivalent episodes after the last of learning
    at             by steps: the step; by episodes: the number of the episode, from 1
    total_reward   by steps: of the run up to there; by episodes: of the episode
    length         steps of the same
    terminated     whether the episode ended by the environment's rules; never, by steps: a run goes on
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hreach.studies.identity import Data

MARKS = 100  # points of a run by steps that are kept, unless the study asks for another number
SCHEMA = 3  # of the columns and what stands beside them: shards of another one are not looked for
LEARNING, FINAL = "learning", "final"
Column = NDArray[Any]  # of numbers or texts
Columns = dict[str, Column]
Array = NDArray[np.float64]
Maker = Mapping[str, str]


def marks_of(steps: int, marks: int) -> NDArray[np.int64]:
    """Steps at which the total reward is kept: `marks` of them, evenly spread, the last one included."""
    return np.unique(np.ceil(np.linspace(0, steps, marks + 1)[1:]).astype(np.int64))


@dataclass(frozen=True)
class Phase:
    """One phase of runs, arrays (runs, marks): total reward, steps, and whether an episode terminated."""

    total: Array
    length: NDArray[np.int64]
    terminated: NDArray[np.bool_]

    @staticmethod
    def none(runs: int) -> Phase:
        """A phase that there was not."""
        shape = (runs, 0)
        return Phase(np.empty(shape), np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.bool_))

    @staticmethod
    def joined(parts: Sequence[Phase]) -> Phase:
        """The runs of all parts, in order."""
        columns = zip(*((p.total, p.length, p.terminated) for p in parts), strict=True)
        return Phase(*(np.concatenate(column) for column in columns))


@dataclass(frozen=True)
class Episode:
    """One episode of T steps: states (T + 1, nS), actions (T,), rewards (T,)."""

    states: Array
    actions: NDArray[np.int64]
    rewards: Array


@dataclass(frozen=True)
class Result:
    """What a cell earned.

    by       what a run is measured in, "steps" or "episodes"
    at       (marks,): the steps of the marks, or the numbers of the episodes
    last     the last of the final episodes of run 0, if it had any
    agent    the constants in force, by steps at the beginning, by episodes at the end of run 0
    makers   who computed, each once
    """

    by: Literal["steps", "episodes"]
    at: NDArray[np.int64]
    learning: Phase
    final: Phase
    agent: Data
    last: Episode | None = None
    makers: Sequence[Maker] = ()

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.learning.total)

    @property
    def average_reward(self) -> Array:
        """Reward per step up to each mark, shape (runs, marks)."""
        if self.by == "steps":
            return self.learning.total / self.learning.length
        return np.cumsum(self.learning.total, axis=1) / np.cumsum(self.learning.length, axis=1)

    @property
    def headline(self) -> str:
        """The one number that says most, mean over runs: reward per step, or total reward of an episode."""
        if self.by == "steps":
            return f"{self.average_reward[:, -1].mean():.4f}"
        return f"{self.learning.total.mean():.5g}"

    def columns(self, first: int) -> Columns:
        """The columns of the store, of runs that are numbered from `first` on."""
        phases = ((LEARNING, self.learning), (FINAL, self.final))
        marks = [phase.total.shape[1] for _, phase in phases]
        numbers = np.concatenate([self.at, np.arange(1, marks[1] + 1)])
        names = np.repeat([name for name, _ in phases], marks)
        join = [np.concatenate(both, axis=1).reshape(-1) for both in self._pairs()]
        return {
            "run": np.repeat(np.arange(first, first + self.runs, dtype=np.int32), sum(marks)),
            "phase": np.tile(names, self.runs),
            "at": np.tile(numbers.astype(np.int32), self.runs),
            "total_reward": join[0],
            "length": join[1].astype(np.int32),
            "terminated": join[2],
        }

    def _pairs(self) -> list[tuple[Column, Column]]:
        one, two = self.learning, self.final
        return [(one.total, two.total), (one.length, two.length), (one.terminated, two.terminated)]

    def about(self, first: int) -> Data:
        """What stands beside the columns: the constants and, of run 0, the last episode."""
        about: Data = {"by": self.by, "agent": dict(self.agent)}
        if first == 0 and self.last is not None:
            about["last"] = {name: values.tolist() for name, values in vars(self.last).items()}
        return about


def joined(parts: Sequence[Result]) -> Result:
    """The runs of all parts, in order; what stands beside the columns is that of the first, makers apart."""
    one = parts[0]
    phases = (Phase.joined([part.learning for part in parts]), Phase.joined([part.final for part in parts]))
    makers = [maker for part in parts for maker in part.makers]
    return Result(one.by, one.at, *phases, one.agent, one.last, _once(makers))


def result_of(shards: Sequence[tuple[slice, Columns, Data]]) -> Result:
    """The runs of shards, in order, from (which of its runs, columns, about) of each."""
    parts = [_phases(columns, which) for which, columns, _ in shards]
    abouts = [about for _, _, about in shards]
    marks = parts[0][0].total.shape[1]
    return Result(
        abouts[0]["by"],
        shards[0][1]["at"][:marks].astype(np.int64),
        Phase.joined([part[0] for part in parts]),
        Phase.joined([part[1] for part in parts]),
        abouts[0]["agent"],
        _episode(abouts[0].get("last")),
        makers_of(abouts),
    )


def makers_of(abouts: Sequence[Data]) -> list[Maker]:
    """Who computed, each once."""
    return _once([about["made"] for about in abouts])


def _once(made: list[Maker]) -> list[Maker]:
    return [m for i, m in enumerate(made) if m not in made[:i]]


def _phases(columns: Columns, which: slice) -> tuple[Phase, Phase]:
    """(learning, final) of some runs of a shard."""
    held = int(columns["run"][-1] - columns["run"][0]) + 1
    here = columns["phase"] == LEARNING

    def phase(rows: NDArray[np.bool_]) -> Phase:
        names = ("total_reward", "length", "terminated")
        total, length, terminated = (columns[name][rows].reshape(held, -1)[which] for name in names)
        return Phase(total, length.astype(np.int64), terminated)

    return phase(here), phase(~here)


def _episode(saved: Data | None) -> Episode | None:
    if saved is None:
        return None
    return Episode(np.array(saved["states"]), np.array(saved["actions"], dtype=np.int64), np.array(saved["rewards"]))
