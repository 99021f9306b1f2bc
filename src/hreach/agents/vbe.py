"""VBE: variance-based exploration (Sorg, Singh & Lewis, UAI 2010).

Plan with the posterior mean and a bonus for posterior spread, beta sigma_P + beta_R sigma_R:

    sigma_P^2 = sum_s' Var[p(s')] = (1 - sum_s' P^(s')^2) / (alpha(s, a) + 1)          (Dirichlet posterior)
    beta = gamma |S| r_max / ((1 - gamma) sqrt(rho)),   beta_R = 1 / sqrt(rho),   rho = delta / (2 |S|^2 |A|^2)

(by Chebyshev's inequality; constant not re-verified against the original). sigma_R is 0 where rewards are known,
else sqrt(r (r_max - r) / (alpha + 1)), the spread of a Beta posterior. A delta of 1 or more is not a probability,
but is accepted: the paper runs VBE(10^3).
"""

from __future__ import annotations

import math

import numpy as np

from hreach.agents.tabular import Problem, Strategy
from hreach.compiling import Array
from hreach.errors import at_least, positive


def spread_bonus(counts: Array, total: float, reward: float, parameters: Array) -> tuple[float, float, float]:
    """(reach, bonus, radius) = (0, beta sigma_P + beta_R sigma_R, 0); the largest value there is if n = 0."""
    if total == 0.0:
        return 0.0, np.inf, 0.0
    concentration = 0.0
    for c in counts:
        concentration += (c / total) ** 2
    spread = np.sqrt(max(1.0 - concentration, 0.0) / (total + 1.0))
    reward_spread = np.sqrt(max(reward * (parameters[2] - reward), 0.0) / (total + 1.0))
    return 0.0, parameters[0] * spread + parameters[1] * reward_spread, 0.0


def beta_theory(states: int, actions: int, gamma: float, delta: float, r_max: float) -> float:
    """gamma |S| r_max / ((1 - gamma) sqrt(rho)), rho = delta / (2 |S|^2 |A|^2)."""
    rho = positive("delta", delta) / (2 * states**2 * actions**2)
    return gamma * states * r_max / ((1 - gamma) * math.sqrt(rho))


def build(problem: Problem, delta: float | None = None, beta: float | None = None) -> Strategy:
    """From theory: delta. By hand: beta, the weight of sigma_P (beta_R follows in the theory's proportion)."""
    p = problem
    ratio = (1 - p.gamma) / (p.gamma * p.states * p.r_max) if p.gamma > 0 and p.r_max > 0 else 1.0
    value = (
        beta_theory(p.states, p.actions, p.gamma, positive("delta (or beta)", delta), p.r_max)
        if beta is None
        else at_least("beta", beta, 0)
    )
    beta_reward = value * ratio if p.reward is None else 0.0
    constants = {"beta": value, "beta_reward": beta_reward, "r_max": p.r_max}
    return Strategy(spread_bonus, constants, "theory" if beta is None else "given")
