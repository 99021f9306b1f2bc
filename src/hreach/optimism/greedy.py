"""Acting on the mean model: greedy (certainty equivalence, h = 0) and epsilon-greedy."""

from __future__ import annotations

from hreach.compiling import Array
from hreach.errors import number, require
from hreach.optimism.tabular import Strategy
from hreach.problems.problem import Problem


def plain(counts: Array, total: float, reward: float, parameters: Array) -> tuple[float, float, float]:
    """(reach, bonus, radius) = (0, 0, 0): the model as it is."""
    return 0.0, 0.0, 0.0


def greedy(problem: Problem) -> Strategy:
    """Always the best action under the mean model."""
    return Strategy(plain, {}, "given")


def epsilon_greedy(problem: Problem, epsilon: float = 0.1) -> Strategy:
    """The same, but with probability epsilon an action drawn uniformly."""
    chance = number("epsilon", epsilon)
    require(0 <= chance <= 1, "epsilon", epsilon, "a probability from 0 to 1")
    return Strategy(plain, {}, "given", {"epsilon": chance}, random_action=chance)
