"""Checks for what you write yourself; each raises AssertionError with what is wrong.

from hreach.testing import check_agent
check_agent(lambda env, seed: MyAgent(env, seed=seed))
"""

from __future__ import annotations

from hreach.testing.checks import check_agent, check_domain, check_model, check_optimism, check_planner

__all__ = ["check_agent", "check_domain", "check_model", "check_optimism", "check_planner"]
