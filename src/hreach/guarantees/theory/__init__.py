"""The paper's statements as functions.

discrete       Algorithm 1: Theorem 1 and Corollary 1; ingredients (of the proof), exploration (Corollary 2), orders
               (constants left open, rivals), propositions (1 and 2), loss, promise
linear         Algorithm 2
regret         A3
measured       the definitions, of a run

`STATEMENTS` maps every numbered statement to its functions.

>>> from hreach.guarantees.theory import Sizes, sample_complexity
>>> bound = sample_complexity(Sizes(states=5, actions=2, gamma=0.95), eps=[1, 25], delta=0.1, h=8)
>>> [f"{steps:.1e}" for steps in bound.value], bound.vacuous.tolist()
(['2.6e+12', '5.7e+07'], [False, True])
"""

from __future__ import annotations

from hreach.guarantees.theory.bound import FORMS, Bound, Form
from hreach.guarantees.theory.discrete import (
    PROVED_FOR,
    affordable_h,
    anytime_error,
    failure_probability,
    h_star,
    reachable_error,
    sample_complexity,
)
from hreach.guarantees.theory.exploration import explicit_exploration_runtime, exploration_threshold
from hreach.guarantees.theory.ingredients import estimation_gap, horizon, known_threshold, log_models, optimism_gap
from hreach.guarantees.theory.linear import (
    LinearSizes,
    estimation_error,
    interval_failure,
    interval_width,
    linear_anytime_error,
    linear_exploration_runtime,
    linear_h_star,
    linear_pac_mdp_sample_complexity,
    linear_sample_complexity,
)
from hreach.guarantees.theory.loss import average_loss
from hreach.guarantees.theory.measured import (
    bad_steps,
    exploring_steps,
    first_violation,
    measured_anytime_error,
    measured_exploration_runtime,
    optimism_slack,
)
from hreach.guarantees.theory.orders import (
    anytime_error_order,
    bolt_sample_complexity,
    explicit_exploration_order,
    mbie_sample_complexity,
    sample_complexity_order,
)
from hreach.guarantees.theory.promise import Promise, promise
from hreach.guarantees.theory.propositions import PacMdp, near_bayes, pac_mdp
from hreach.guarantees.theory.regret import (
    average_loss_from_values,
    average_loss_of_run,
    horizon_share,
    regret,
    returns_to_go,
    truncation,
)
from hreach.guarantees.theory.statements import STATEMENTS, Statement
from hreach.problems.sizes import Sizes

__all__ = [
    "FORMS",
    "PROVED_FOR",
    "STATEMENTS",
    "Bound",
    "Form",
    "LinearSizes",
    "PacMdp",
    "Promise",
    "Sizes",
    "Statement",
    "affordable_h",
    "anytime_error",
    "anytime_error_order",
    "average_loss",
    "average_loss_from_values",
    "average_loss_of_run",
    "bad_steps",
    "bolt_sample_complexity",
    "estimation_error",
    "estimation_gap",
    "explicit_exploration_order",
    "explicit_exploration_runtime",
    "exploration_threshold",
    "exploring_steps",
    "failure_probability",
    "first_violation",
    "h_star",
    "horizon",
    "horizon_share",
    "interval_failure",
    "interval_width",
    "known_threshold",
    "linear_anytime_error",
    "linear_exploration_runtime",
    "linear_h_star",
    "linear_pac_mdp_sample_complexity",
    "linear_sample_complexity",
    "log_models",
    "mbie_sample_complexity",
    "measured_anytime_error",
    "measured_exploration_runtime",
    "near_bayes",
    "optimism_gap",
    "optimism_slack",
    "pac_mdp",
    "promise",
    "reachable_error",
    "regret",
    "returns_to_go",
    "sample_complexity",
    "sample_complexity_order",
    "truncation",
]
