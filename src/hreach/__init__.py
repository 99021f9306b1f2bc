"""hreach: exploration whose guarantee you can choose, check and afford.

Importing it registers the domains with Gymnasium (`hreach/Chain-v0`, ...). What needs the compiler, SciPy or
matplotlib is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hreach._version import __version__
from hreach.domains import make_domain
from hreach.errors import InputError

if TYPE_CHECKING:
    from hreach.agents import make_agent
    from hreach.auditing import audit
    from hreach.loop import Run, run
    from hreach.mdp import TabularMDP
    from hreach.report.plot import plot
    from hreach.seeding import run_seeds
    from hreach.simulation import Runs, simulate
    from hreach.task import Task

_LAZY = {
    "Run": "hreach.loop",
    "Runs": "hreach.simulation",
    "TabularMDP": "hreach.mdp",
    "Task": "hreach.task",
    "audit": "hreach.auditing",
    "make_agent": "hreach.agents",
    "plot": "hreach.report.plot",
    "run": "hreach.loop",
    "run_seeds": "hreach.seeding",
    "simulate": "hreach.simulation",
}

__all__ = [
    "InputError",
    "Run",
    "Runs",
    "TabularMDP",
    "Task",
    "__version__",
    "audit",
    "make_agent",
    "make_domain",
    "plot",
    "run",
    "run_seeds",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'hreach' has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
