"""Agents of tables: counts, planned with sweeps. The kernels can run them, and audits look into them."""

from __future__ import annotations

from typing import TypeGuard

from hreach.agents.agent import Agent
from hreach.models.counts import Counts
from hreach.optimism.tabular import TabularOptimism
from hreach.planners.sweeps import Sweeps

TableAgent = Agent[Counts, TabularOptimism, Sweeps]


def is_table(agent: object) -> TypeGuard[TableAgent]:
    """Whether this is an agent of a table, of these very classes: the kernels do not know what another one does."""
    return type(agent) is Agent and type(agent.model) is Counts and type(agent.planner) is Sweeps
