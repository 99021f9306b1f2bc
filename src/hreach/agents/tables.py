"""Agents of tables: counts, planned with sweeps, and sparse counts, planned locally. The kernels can run both."""

from __future__ import annotations

from typing import TypeGuard

from hreach.agents.agent import Agent
from hreach.models.counts import Counts
from hreach.models.sparse_counts import SparseCounts
from hreach.optimism.tabular import TabularOptimism
from hreach.planners.local import Local
from hreach.planners.sweeps import Sweeps

TableAgent = Agent[Counts, TabularOptimism, Sweeps]
LocalAgent = Agent[SparseCounts, TabularOptimism, Local]


def is_table(agent: object) -> TypeGuard[TableAgent]:
    """Whether this is an agent of a table, of these very classes: the kernels do not know what another one does."""
    return type(agent) is Agent and type(agent.model) is Counts and type(agent.planner) is Sweeps


def is_local(agent: object) -> TypeGuard[LocalAgent]:
    """The same, of an agent of sparse counts whose problem has so many states, whether it met them or not."""
    same = type(agent) is Agent and type(agent.model) is SparseCounts and type(agent.planner) is Local
    return same and not agent.model.problem.open  # type: ignore[attr-defined]  # mypy does not follow `same`
