"""Acting on the mean model: greedy (certainty equivalence, h = 0) and epsilon-greedy."""

from __future__ import annotations

from hreach.compiling import Array
from hreach.errors import number, require
from hreach.optimism.tabular import TabularOptimism
from hreach.problems.problem import Problem


def certain(counts: Array, total: float, reward: float, parameters: Array) -> tuple[float, float, float]:
    """(reach, bonus, radius) = (0, 0, 0): the model as it is."""
    return 0.0, 0.0, 0.0


CERTAIN = TabularOptimism(certain, {}, "given")


def greedy(problem: Problem) -> TabularOptimism:
    """Always the best action under the mean model."""
    return CERTAIN


def epsilon_greedy(problem: Problem, epsilon: float = 0.1) -> TabularOptimism:
    """The same, but with probability epsilon an action drawn uniformly."""
    chance = number("epsilon", epsilon)
    require(0 <= chance <= 1, "epsilon", epsilon, "a probability from 0 to 1")
    return TabularOptimism(certain, {}, "given", {"epsilon": chance}, random_action=chance)
