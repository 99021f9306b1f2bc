"""VBE: variance-based exploration (Sorg, Singh & Lewis, UAI 2010).

Plan with the posterior mean and a bonus for posterior spread, beta sigma_P + beta_R sigma_R:

    sigma_P^2 = sum_s' Var[p(s')] = (1 - sum_s' P^(s')^2) / (alpha(s, a) + 1)          (Dirichlet posterior)
    beta = gamma |S| (v_max - v_min) / sqrt(rho),   beta_R = 1 / sqrt(rho),   rho = delta / (2 |S|^2 |A|^2)

(by Chebyshev's inequality; constant not re-verified against the original). sigma_R is 0 where rewards are known,
else sqrt((r - r_min) (r_max - r) / (alpha + 1)), the spread of a Beta posterior on [r_min, r_max]. A delta of 1 or more
is not a probability, but is accepted: the paper runs VBE(10^3).
"""

from __future__ import annotations

import math

import numpy as np

from hreach.compiling import Array
from hreach.errors import at_least, one_of, positive
from hreach.optimism.tabular import TabularOptimism
from hreach.problems.problem import Problem


def spread_bonus(counts: Array, total: float, reward: float, parameters: Array) -> tuple[float, float, float]:
    """(reach, bonus, radius) = (0, beta sigma_P + beta_R sigma_R, 0); the largest value there is if n = 0."""
    if total == 0.0:
        return 0.0, np.inf, 0.0
    concentration = 0.0
    for c in counts:
        concentration += (c / total) ** 2
    spread = np.sqrt(max(1.0 - concentration, 0.0) / (total + 1.0))
    reward_spread = np.sqrt(max((reward - parameters[3]) * (parameters[2] - reward), 0.0) / (total + 1.0))
    return 0.0, parameters[0] * spread + parameters[1] * reward_spread, 0.0


def beta_theory(states: int, actions: int, gamma: float, delta: float, reward_range: float) -> float:
    """gamma |S| (v_max - v_min) / sqrt(rho), rho = delta / (2 |S|^2 |A|^2)."""
    return gamma * states * reward_range / ((1 - gamma) * math.sqrt(_rho(states, actions, delta)))


def _rho(states: int, actions: int, delta: float) -> float:
    return positive("delta", delta) / (2 * states**2 * actions**2)


def build(problem: Problem, delta: float | None = None, beta: float | None = None) -> TabularOptimism:
    """From theory: delta. By hand: beta, the weight of sigma_P.

    Where rewards are learnt, beta_R follows beta in the theory's proportion; for gamma = 0, where that has no meaning,
    it is beta itself.
    """
    p = problem
    one_of(beta=beta, delta=delta)
    if beta is None:
        given = positive("delta (or beta)", delta)
        value = beta_theory(p.states, p.actions, p.gamma, given, p.values.reward_range)
        beta_reward = 1 / math.sqrt(_rho(p.states, p.actions, given))
    else:
        value = at_least("beta", beta, 0)
        scale = p.gamma * p.states * p.values.span
        beta_reward = value / scale if scale > 0 else value
    reward = {"beta_reward": beta_reward if p.reward is None else 0.0, "r_max": p.r_max, "r_min": p.r_min}
    return TabularOptimism(spread_bonus, {"beta": value, **reward}, "theory" if beta is None else "given")
