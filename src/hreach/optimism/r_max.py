"""R-max: optimism until a pair is known (Brafman & Tennenholtz, J. Mach. Learn. Res. 3, 2002).

A pair tried fewer than m times is worth the most there is, v_max; one that is known, what its sample mean says, and it
is learnt no more. From theory, for rewards in [0, 1] (eps is divided by their range otherwise),

    m = C (|S| + ln(|S||A| / delta)) / (eps^2 (1-gamma)^4)        (Strehl, Li & Littman, J. Mach. Learn. Res. 10, 2009)

up to a constant C that the theorem leaves open (`m_constant`).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from hreach.compiling import Array
from hreach.errors import one_of, positive
from hreach.optimism.tabular import TabularOptimism
from hreach.problems.problem import Problem

DELTA = 0.1  # unless given


def until_known(counts: Array, total: float, reward: float, constants: Array) -> tuple[float, float, float]:
    """(reach, bonus, radius) = (0, 0, 0) for a pair that is known, the largest value there is for any other."""
    return (0.0, 0.0, 0.0) if total >= constants[0] else (0.0, np.inf, 0.0)


def known_after(problem: Problem, epsilon: float, delta: float, constant: float = 1) -> float:
    """m, the samples after which a pair is known."""
    p = problem
    eps = positive("epsilon", epsilon) / positive("r_max - r_min", p.values.reward_range)
    inner = p.states + math.log(p.states * p.actions / positive("delta", delta))
    return positive("m_constant", constant) * max(inner, 0.0) / (eps**2 * (1 - p.gamma) ** 4)


def build(
    problem: Problem,
    m: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    m_constant: float | None = None,
) -> TabularOptimism:
    """m by hand, or from theory: epsilon, delta (.1 unless given) and m_constant (1 unless given)."""
    one_of(m=m, epsilon=epsilon)
    one_of(m=m, delta=delta)
    one_of(m=m, m_constant=m_constant)
    if m is not None:
        known, facts = positive("m", m), {}
    else:
        d, constant = DELTA if delta is None else delta, 1 if m_constant is None else m_constant
        known = known_after(problem, positive("epsilon (or m)", epsilon), d, constant)
        facts = {"epsilon": float(positive("epsilon", epsilon)), "delta": float(d)}
    limit = problem.prior + known
    origin: Literal["given", "theory"] = "given" if m is not None else "theory"
    return TabularOptimism(until_known, {"weight": limit}, origin, {"m": known, **facts}, freeze_at=limit)
