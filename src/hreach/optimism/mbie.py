"""MBIE: Model-Based Interval Estimation (Strehl & Littman, J. Comput. Syst. Sci. 74, 2008).

Plan with the best model in an L1 ball around the sample mean (Weissman et al. 2003), solved exactly:

    radius(s, a) = sqrt(2 [ln(2^|S| - 2) - ln(delta / (2 |S||A| m))] / n(s, a)),

and, where rewards are not known, with r^ + (r_max - r_min) sqrt(ln(4 |S||A| m / delta) / (2 n)). The known-threshold is

    m = |S| / (eps^2 (1-gamma)^4) + ln(|S||A| / (eps (1-gamma) delta)) / (eps^2 (1-gamma)^4)      (Paper: Remark 1)

up to a constant that the theorem leaves open (`m_constant`), for rewards in [0, 1]; eps is divided by their range.
What stands under a root counts as 0 where it is negative, and m need not be whole: an eps so large that m < 1 is
meaningless but allowed.
"""

from __future__ import annotations

import math

import numpy as np

from hreach.compiling import Array
from hreach.errors import at_least, one_of, positive, require
from hreach.optimism.tabular import TabularOptimism
from hreach.problems.problem import Problem

DELTA = 0.1  # unless given


def known_threshold(
    states: int, actions: int, gamma: float, epsilon: float, delta: float, reward_range: float, constant: float = 1
) -> float:
    """m of Remark 1, with the hidden constant given; 0 where epsilon is so large that the formula is negative."""
    eps = positive("epsilon", epsilon) / positive("r_max - r_min", reward_range)
    scale = eps**2 * (1 - gamma) ** 4
    inner = states + math.log(states * actions / (eps * (1 - gamma) * positive("delta", delta)))
    return positive("m_constant", constant) * max(inner, 0.0) / scale


def log_simplex(states: int) -> float:
    """ln(2^|S| - 2) without overflow; -inf for one state, whose only distribution is known."""
    return states * math.log(2) + math.log1p(-(2.0 ** (1 - states))) if states > 1 else -math.inf


def radius_constant(states: int, actions: int, m: float, delta: float) -> float:
    """sqrt(2 [ln(2^|S| - 2) - ln(delta / (2|S||A|m))]): the radius at n = 1."""
    inside = log_simplex(states) + log(2 * states * actions * m / delta)
    return math.sqrt(2 * max(inside, 0.0))


def log(x: float) -> float:
    """ln x, with ln 0 = -inf."""
    return math.log(x) if x > 0 else -math.inf


def optimistic(counts: Array, total: float, reward: float, parameters: Array) -> tuple[float, float, float]:
    """(reach, bonus, radius) = (0, c_R / sqrt(n), c_T / sqrt(n)); a point mass on the best state if n = 0."""
    if total == 0.0:
        return 1.0, 0.0, 0.0
    return 0.0, parameters[1] / np.sqrt(total), parameters[0] / np.sqrt(total)


def build(
    problem: Problem,
    epsilon: float | None = None,
    delta: float | None = None,
    radius: float | None = None,
    m: float | None = None,
    m_constant: float | None = None,
    freeze: bool = False,
) -> TabularOptimism:
    """From theory: (epsilon, delta), or (m, delta); delta is .1 unless given. By hand: `radius`, the radius at n = 1.

    `freeze` stops learning a pair after m samples, as the analysis does. Where rewards are learnt, their interval
    needs m, so with `radius` by hand give m (or epsilon) as well.
    """
    p = problem
    one_of(epsilon=epsilon, m=m)
    one_of(m=m, m_constant=m_constant)
    if radius is not None and not freeze and p.reward is not None:
        for name, value in (("epsilon", epsilon), ("m", m), ("delta", delta), ("m_constant", m_constant)):
            require(value is None, name, value, "left out where radius is given")
    delta = DELTA if delta is None else delta
    m = threshold(p, epsilon, delta, m, m_constant, needed=radius is None or freeze)
    reward = _reward_constant(p, m, delta) if p.reward is None and m is not None else 0.0
    facts = {} if m is None else {"m": m}
    freeze_at = p.prior + m if freeze and m is not None else math.inf
    if radius is not None:
        constants = {"radius": at_least("radius", radius, 0), "reward_radius": reward}
        return TabularOptimism(optimistic, constants, "given", facts, freeze_at)
    assert m is not None
    constants = {"radius": radius_constant(p.states, p.actions, m, delta), "reward_radius": reward}
    return TabularOptimism(optimistic, constants, "theory", facts, freeze_at)


def _reward_constant(problem: Problem, m: float, delta: float) -> float:
    """Half-width of the reward interval at n = 1: (r_max - r_min) sqrt(ln(2/delta_R)/2), delta_R = delta/(2|S||A|m)."""
    inside = log(4 * problem.states * problem.actions * m / delta)
    return (problem.r_max - problem.r_min) * math.sqrt(max(inside, 0.0) / 2)


def threshold(
    problem: Problem, epsilon: float | None, delta: float, m: float | None, m_constant: float | None, needed: bool
) -> float | None:
    """m as given, or from (epsilon, delta); None if neither is given and nobody needs it."""
    positive("delta", delta)
    if m is not None:
        return positive("m", m)
    if epsilon is None and not needed:
        return None
    p = problem
    eps = positive("epsilon (or m)", epsilon)
    constant = 1 if m_constant is None else m_constant
    return known_threshold(p.states, p.actions, p.gamma, eps, delta, p.values.reward_range, constant)
