"""Algorithm 1 with the h*(s, a) of Remark 1, the paper's link from MBIE to reachability.

    h*(s, a) = n z / (1 - z),    z = 2 sqrt(2 [ln(2^|S| - 2) - ln(delta / (2|S||A|m))] / n(s, a)),

so that h* / (n + h*) = z. For z >= 1 every model is within reach (h* infinite). Mixing moves the mass z, taken from
all states alike, where MBIE moves at most z / 4, taken from the worst: Algorithm 1 with this h is more
optimistic than MBIE and does not behave identically.
"""

from __future__ import annotations

import numpy as np

from hreach.compiling import Array
from hreach.errors import one_of
from hreach.optimism.mbie import radius_constant, threshold
from hreach.optimism.tabular import TabularOptimism
from hreach.problems.problem import Problem


def h_mbie(n: float, states: int, actions: int, m: float, delta: float) -> float:
    """h*(s, a) for a pair with n samples; infinite where z >= 1. Paper: Remark 1."""
    z = 2 * radius_constant(states, actions, m, delta) / np.sqrt(n) if n > 0 else np.inf
    return float(n * z / (1 - z)) if z < 1 else float("inf")


def optimistic(counts: Array, total: float, reward: float, parameters: Array) -> tuple[float, float, float]:
    """(reach, bonus, radius) = (min(z, 1), 0, 0)."""
    if total == 0.0:
        return 1.0, 0.0, 0.0
    return min(2.0 * parameters[0] / np.sqrt(total), 1.0), 0.0, 0.0


def build(
    problem: Problem,
    epsilon: float | None = None,
    delta: float = 0.1,
    m: float | None = None,
    m_constant: float | None = None,
) -> TabularOptimism:
    """From (epsilon, delta), or (m, delta)."""
    one_of(epsilon=epsilon, m=m)
    one_of(m=m, m_constant=m_constant)
    m = threshold(problem, epsilon, delta, m, m_constant, needed=True)
    assert m is not None
    constants = {"radius": radius_constant(problem.states, problem.actions, m, delta)}
    return TabularOptimism(optimistic, constants, "theory", {"m": m})
