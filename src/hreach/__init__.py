"""hreach: exploration whose guarantee you can choose, check and afford.

Once it is imported, Gymnasium knows the domains (`hreach/Chain-v0`, ...). What needs NumPy, Gymnasium, the compiler,
SciPy or Matplotlib is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hreach.domains import make_domain
from hreach.errors import InputError

__version__ = "0.1.0"

if TYPE_CHECKING:
    from hreach.agents import make_agent
    from hreach.exploring.bins import Quantiles
    from hreach.exploring.exploring import Exploration, explore
    from hreach.exploring.playing import play
    from hreach.guarantees.audit import audit
    from hreach.guarantees.certify import certify_counts
    from hreach.guarantees.stopping import Aim, Certified
    from hreach.journal.journal import Journal
    from hreach.logs.learning import learn
    from hreach.problems.certified import Solution, solve
    from hreach.problems.mdp import TabularMDP
    from hreach.problems.task import Preset, Task
    from hreach.randomness.seeding import run_seeds
    from hreach.report.plot import plot
    from hreach.running.loop import Run, run
    from hreach.running.runs import Runs
    from hreach.running.simulate import simulate

_LAZY = {
    "Aim": "hreach.guarantees.stopping",
    "Certified": "hreach.guarantees.stopping",
    "Exploration": "hreach.exploring.exploring",
    "Journal": "hreach.journal.journal",
    "Preset": "hreach.problems.task",
    "Quantiles": "hreach.exploring.bins",
    "Run": "hreach.running.loop",
    "Runs": "hreach.running.runs",
    "Solution": "hreach.problems.certified",
    "TabularMDP": "hreach.problems.mdp",
    "Task": "hreach.problems.task",
    "audit": "hreach.guarantees.audit",
    "certify_counts": "hreach.guarantees.certify",
    "explore": "hreach.exploring.exploring",
    "learn": "hreach.logs.learning",
    "make_agent": "hreach.agents",
    "play": "hreach.exploring.playing",
    "plot": "hreach.report.plot",
    "run": "hreach.running.loop",
    "run_seeds": "hreach.randomness.seeding",
    "simulate": "hreach.running.simulate",
    "solve": "hreach.problems.certified",
}

__all__ = [
    "Aim",
    "Certified",
    "Exploration",
    "InputError",
    "Journal",
    "Preset",
    "Quantiles",
    "Run",
    "Runs",
    "Solution",
    "TabularMDP",
    "Task",
    "__version__",
    "audit",
    "certify_counts",
    "explore",
    "learn",
    "make_agent",
    "make_domain",
    "play",
    "plot",
    "run",
    "run_seeds",
    "simulate",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'hreach' has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
