"""BOLT: Bayesian Optimistic Local Transitions (Araya-Lopez, Thomas & Buffet, ICML 2012).

Pretend eta more observations of the best transition: Algorithm 1 with h = eta on a Dirichlet model (Paper:
Remark 2). Its analysis sets eta to the planning horizon H = ceil(log_gamma(epsilon' (1 - gamma))).
"""

from __future__ import annotations

import math

from hreach.errors import one_of, positive
from hreach.optimism.tabular import TabularOptimism
from hreach.problems.problem import Problem
from hreach.reach.weight import check_h, reach_formula

ACCURACY = 0.01  # of the horizon, unless given


def horizon(gamma: float, accuracy: float) -> int:
    """H = ceil(log_gamma(accuracy (1 - gamma))): rewards after H steps are worth less than `accuracy`.

    Paper: Experimental Example, where H is rounded down to 148 for gamma .95 and accuracy .01; this gives 149.
    """
    if gamma == 0:
        return 1
    return max(1, math.ceil(math.log(positive("accuracy", accuracy) * (1 - gamma)) / math.log(gamma)))


def build(problem: Problem, eta: float | None = None, accuracy: float | None = None) -> TabularOptimism:
    """eta by hand, or from theory: the horizon for `accuracy` (.01 if not given)."""
    one_of(eta=eta, accuracy=accuracy)
    if eta is not None:
        return TabularOptimism(reach_formula, {"eta": check_h(eta)}, "given")
    H = horizon(problem.gamma, ACCURACY if accuracy is None else accuracy)
    return TabularOptimism(reach_formula, {"eta": float(H)}, "theory", {"H": H})
