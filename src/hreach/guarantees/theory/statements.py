"""The numbered statements of the paper, in the order and with the numbers that LaTeX prints, and where each one is
computed.

The main text and the appendix number alike with one exception: the explicit exploration runtime of Algorithm 2 is
Corollary 4 in the main text and Corollary 6 in A6. Lemmas 1 and 2 stand in the appendix only. The appendix counts its
equations anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType


@dataclass(frozen=True)
class Statement:
    """One numbered statement: its title, where it stands, and "module:function" for all that compute it.

    Tests of "Theorem 1" are named test_theorem_1_...; `slug` is the middle part.
    """

    name: str
    title: str
    where: str
    functions: tuple[str, ...]
    note: str = ""

    @property
    def slug(self) -> str:
        """The name as part of a test's name."""
        return self.name.lower().replace("eq. (", "equation ").replace(")", "").replace(" ", "_")

    def load(self) -> list[Callable[..., object]]:
        """The functions themselves."""
        pairs = (target.split(":") for target in self.functions)
        return [getattr(import_module(module), name) for module, name in pairs]


def _in(module: str, *names: str) -> tuple[str, ...]:
    return tuple(f"hreach.guarantees.theory.{module}:{name}" for name in names)


_ALL = (
    Statement("Definition 1", "PAC-RMDP(h)", "Bounded Optimal Learning", _in("measured", "bad_steps")),
    Statement("Proposition 1", "PAC-MDP", "Bounded Optimal Learning; A1", _in("propositions", "pac_mdp")),
    Statement(
        "Proposition 2", "Near-Bayes optimality", "Bounded Optimal Learning; A1", _in("propositions", "near_bayes")
    ),
    Statement(
        "Eq. (1)",
        "The internal value of Algorithm 1",
        "Discrete Domain",
        ("hreach.reach.weight:reach_weight", "hreach.reach.weight:most_optimistic_model"),
    ),
    Statement(
        "Theorem 1",
        "PAC-RMDP, discrete",
        "Discrete Domain; A4",
        (
            *_in("ingredients", "log_models", "horizon", "optimism_gap", "estimation_gap", "known_threshold"),
            *_in("discrete", "sample_complexity", "affordable_h", "failure_probability"),
            *_in("orders", "sample_complexity_order"),
            *_in("discrete", "h_star", "reachable_error"),
        ),
    ),
    Statement("Definition 2", "Anytime error", "Discrete Domain", _in("measured", "measured_anytime_error")),
    Statement(
        "Corollary 1",
        "Anytime error bound, discrete",
        "Discrete Domain; A4",
        (
            *_in("discrete", "anytime_error"),
            *_in("orders", "anytime_error_order"),
            *_in("loss", "average_loss"),
            *_in("regret", "horizon_share"),
        ),
        "A4 calls it Corollary 3 once, where it speaks of the average loss.",
    ),
    Statement(
        "Remark 1",
        "Relation to MBIE",
        "Discrete Domain",
        (
            *_in("orders", "mbie_sample_complexity"),
            "hreach.optimism.mbie:known_threshold",
            "hreach.optimism.mbie_reach:h_mbie",
        ),
    ),
    Statement("Remark 2", "Relation to BOLT", "Discrete Domain", _in("orders", "bolt_sample_complexity")),
    Statement(
        "Definition 3",
        "Explicit exploration runtime",
        "Discrete Domain",
        _in("measured", "measured_exploration_runtime"),
    ),
    Statement(
        "Corollary 2",
        "Explicit exploration bound, discrete",
        "Discrete Domain; A4",
        (
            *_in("exploration", "exploration_threshold", "explicit_exploration_runtime"),
            *_in("orders", "explicit_exploration_order"),
            *_in("measured", "exploring_steps"),
        ),
    ),
    Statement(
        "Assumption 1",
        "Continuity",
        "Continuous Domain",
        ("hreach.planners.tree:slope_between",),
        "A6 speaks of an Assumption 2, which does not exist.",
    ),
    Statement(
        "Lemma 3",
        "Sample complexity of PAC-MDP, linear",
        "Continuous Domain; A6",
        _in("linear", "linear_pac_mdp_sample_complexity"),
    ),
    Statement(
        "Theorem 2",
        "PAC-RMDP, linear",
        "Continuous Domain; A6",
        _in("linear", "estimation_error", "interval_width", "linear_sample_complexity", "linear_h_star"),
    ),
    Statement(
        "Corollary 3", "Anytime error bound, linear", "Continuous Domain; A6", _in("linear", "linear_anytime_error")
    ),
    Statement(
        "Corollary 4",
        "Explicit exploration runtime, linear",
        "Continuous Domain; A6",
        _in("linear", "linear_exploration_runtime"),
        "Numbered Corollary 6 in A6.",
    ),
    Statement("Appendix Eq. (1)", "T-step regret", "A3", _in("regret", "regret")),
    Statement(
        "Appendix Eq. (2)",
        "T-step average loss",
        "A3",
        _in("regret", "returns_to_go", "average_loss_of_run", "average_loss_from_values", "truncation"),
    ),
    Statement("Lemma 1", "Optimism", "A4", _in("measured", "optimism_slack", "first_violation")),
    Statement(
        "Lemma 2",
        "Correctness of the h-reachable model interval",
        "A6",
        (*_in("linear", "interval_failure"), "hreach.reach.interval:varsigma"),
    ),
)

STATEMENTS: Mapping[str, Statement] = MappingProxyType({statement.name: statement for statement in _ALL})
