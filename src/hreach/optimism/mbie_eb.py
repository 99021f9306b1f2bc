"""MBIE-EB: MBIE with an exploration bonus (Strehl & Littman 2008), the cheap form of MBIE.

Q(s, a) = R + gamma sum_s' P^(s'|s,a) V(s') + beta / sqrt(n(s, a)),
beta = (v_max - v_min) sqrt(ln(2 |S||A| m / delta) / 2),   m as for MBIE;   Q = v_max if n = 0,

where [v_min, v_max] is the range of values (`hreach.problems.ranges`), r_max / (1 - gamma) wide for rewards in
[0, r_max].
"""

from __future__ import annotations

import math

import numpy as np

from hreach.compiling import Array
from hreach.errors import InputError, at_least, one_of
from hreach.optimism.mbie import DELTA, log, threshold
from hreach.optimism.tabular import TabularOptimism
from hreach.problems.problem import Problem


def bonus_constant(states: int, actions: int, gamma: float, m: float, delta: float, reward_range: float) -> float:
    """beta = (v_max - v_min) sqrt(ln(2|S||A|m / delta) / 2); nan where the logarithm is negative."""
    inside = log(2 * states * actions * m / delta) / 2
    return reward_range / (1 - gamma) * math.sqrt(inside) if inside >= 0 else math.nan


def optimistic(counts: Array, total: float, reward: float, parameters: Array) -> tuple[float, float, float]:
    """(reach, bonus, radius) = (0, beta / sqrt(n), 0); the largest value there is if n = 0."""
    if total == 0.0:
        return 0.0, np.inf, 0.0
    return 0.0, parameters[0] / np.sqrt(total), 0.0


def build(
    problem: Problem,
    epsilon: float | None = None,
    delta: float | None = None,
    beta: float | None = None,
    m: float | None = None,
    m_constant: float | None = None,
) -> TabularOptimism:
    """From theory: (epsilon, delta), or (m, delta); delta is .1 unless given. By hand: beta."""
    one_of(beta=beta, epsilon=epsilon, m=m)
    one_of(beta=beta, delta=delta)
    one_of(beta=beta, m=m, m_constant=m_constant)
    if beta is not None:
        return TabularOptimism(optimistic, {"beta": at_least("beta", beta, 0)}, "given")
    delta = DELTA if delta is None else delta
    m = threshold(problem, epsilon, delta, m, m_constant, needed=True)
    assert m is not None
    p = problem
    value = bonus_constant(p.states, p.actions, p.gamma, m, delta, p.values.reward_range)
    if math.isnan(value):
        raise InputError(
            f"epsilon is {epsilon!r} and delta is {delta!r}, which give m = {m:.4g} and no real beta "
            "(2|S||A|m must be at least delta); choose a smaller epsilon, or give beta."
        )
    return TabularOptimism(optimistic, {"beta": value}, "theory", {"m": m})
