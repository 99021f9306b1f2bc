"""Fixtures of several files of tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hreach import kernels

KernelPlan = Callable[[Any, float], tuple[int, float, bool]]

# What comes first: files that compile most, so that no test waits for that whose processes are to be killed; then those
# that take longest, and wait for others in between, so that nobody is alone at the end.
LONG = (
    "planners/test_local", "test_protocols", "guarantees/test_certify", "agents/test_tabular_agents",
    "optimism/test_lifetime", "planners/test_robust", "running/test_simulation", "agents/test_linear_agents_on_a_tree",
    "running/test_executors", "test_docs", "faults/test_orders", "faults/test_killed_workers", "cli/test_cli",
    "running/test_checkpoint", "test_own_package", "faults/test_kill",
    "cli/test_studies_commands", "compiling/test_caching", "faults/test_full_disks", "cli/test_cli_places",
    "agents/test_linear_agents", "faults/test_hostile", "guarantees/audit/test_audit", "studies/test_work",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files come first; the order of all others, and within a file, stays."""
    tests = Path(__file__).parent
    place = {tests / f"{name}.py": i for i, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path, len(LONG)))


@pytest.fixture
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for tests that repeat everything hundreds of times."""
    for module in ("difference", "intervals"):
        monkeypatch.setattr(f"hreach.statistics.{module}.RESAMPLES", 1000)


@pytest.fixture(scope="session")
def kernel_plan() -> KernelPlan:
    """One call of the compiled planner of a tabular agent with this tolerance, needed or not; 1e300 is one sweep."""

    def plan(agent: Any, tolerance: float) -> tuple[int, float, bool]:
        planner, seen = agent.planner, agent.model.seen
        rule = planner.rule._replace(tolerance=tolerance)
        addresses = planner.schedule.address, planner.formula.address
        return kernels.plan(*addresses, rule, seen, planner.table, planner.stream, True)

    return plan
