"""Checks for an agent or a domain of your own; each raises AssertionError with what is wrong.

from hreach.testing import check_agent
check_agent(lambda env, seed: MyAgent(env, seed=seed))
"""

from __future__ import annotations

from hreach.testing.checks import check_agent, check_domain

__all__ = ["check_agent", "check_domain"]
