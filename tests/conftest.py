"""Fixtures of several files of tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hreach import kernels

KernelPlan = Callable[[Any, float], tuple[int, float, bool]]


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
