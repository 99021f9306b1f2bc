"""BEB: Bayesian Exploration Bonus (Kolter & Ng, ICML 2009), in its discounted form.

    Q(s, a) = R + beta / (1 + alpha(s, a)) + gamma sum_s' P^(s'|s,a) V(s'),   alpha with the prior's weight.

Its analysis sets beta = 2 H^2 for rewards in [0, 1] (times their range otherwise), H the planning horizon, and stops
learning a pair at alpha = 4 H^3 / eps (`freeze_at`; never by default, as in the paper's experiments).
"""

from __future__ import annotations

import math

from hreach.compiling import Array
from hreach.errors import at_least, one_of, positive
from hreach.optimism.bolt import ACCURACY, horizon
from hreach.optimism.tabular import TabularOptimism
from hreach.problems.problem import Problem


def bonus(counts: Array, total: float, reward: float, parameters: Array) -> tuple[float, float, float]:
    """(reach, bonus, radius) = (0, beta / (1 + alpha), 0)."""
    return 0.0, parameters[0] / (1.0 + total), 0.0


def build(
    problem: Problem, beta: float | None = None, accuracy: float | None = None, freeze_at: float | None = None
) -> TabularOptimism:
    """beta by hand, or from theory: 2 H^2 times the range of rewards, H the horizon for `accuracy` (default .01)."""
    one_of(beta=beta, accuracy=accuracy)
    stop = math.inf if freeze_at is None else positive("freeze_at", freeze_at)
    if beta is not None:
        return TabularOptimism(bonus, {"beta": at_least("beta", beta, 0)}, "given", freeze_at=stop)
    H = horizon(problem.gamma, ACCURACY if accuracy is None else accuracy)
    return TabularOptimism(bonus, {"beta": 2.0 * H**2 * problem.values.reward_range}, "theory", {"H": H}, stop)
