"""PAC-RMDP(h), Algorithm 1 of the paper: hope for whatever h more samples of each pair could show.

    V~(s) = max_a { sum_s' alpha(s,a,s') / (alpha(s,a) + h) [R(s,a,s') + gamma V~(s')]
                    + h / (alpha(s,a) + h) max_s' [R(s,a,s') + gamma V~(s')] }                     (Paper: Eq. (1))

Rewards that are not known are treated alike: (n r + h r_max) / (n + h).
"""

from __future__ import annotations

from collections.abc import Callable

from numba import njit
from numpy.typing import ArrayLike

from hreach.agents.tabular import Problem, Strategy
from hreach.compiling import Array, Formula
from hreach.errors import require
from hreach.reach.counts import check_h, hopeful


def build(problem: Problem, h: ArrayLike | Callable[[float], float]) -> Strategy:
    """h: a number, an array (S, A), or a function of n = alpha(s, a) in plain arithmetic; h >= 0, real."""
    if callable(h):
        return Strategy(_hopeful_by(h), {}, "given")
    table = check_h(h)
    shape = (problem.states, problem.actions)
    require(table.shape in ((), shape), "h shape", table.shape, f"a number or an array of shape {shape}")
    return Strategy(hopeful, {"h": table}, "given")


def _hopeful_by(h: Callable[[float], float]) -> Formula:
    """`hopeful` with h a function of the pair's weight; a negative or nan h counts as 0."""
    inner = njit(h)

    def hopeful_by(counts: Array, total: float, reward: float, parameters: Array) -> tuple[float, float, float]:
        extra = float(inner(total))
        if not extra > 0.0:
            return 0.0, 0.0, 0.0
        if extra > 1e300:
            return 1.0, 0.0, 0.0
        return extra / (total + extra), 0.0, 0.0

    return hopeful_by
