"""Acting on a linear model as it is, with a random action now and then."""

from __future__ import annotations

from hreach.errors import number, require
from hreach.optimism.linear import LinearOptimism
from hreach.problems.task import Task


def build(task: Task, epsilon: float = 0.1) -> LinearOptimism:
    """The best action under the model, but with probability epsilon one drawn uniformly."""
    chance = probability(epsilon)
    return LinearOptimism(random_action=chance, constants={"epsilon": chance})


def true_model(task: Task, epsilon: float = 0.0) -> LinearOptimism:
    """The same with the true model: what the planner earns when there is nothing left to learn."""
    chance = probability(epsilon)
    return LinearOptimism(random_action=chance, truth=True, constants={"epsilon": chance})


def probability(epsilon: object) -> float:
    """`epsilon` as a number from 0 to 1."""
    chance = number("epsilon", epsilon)
    require(0 <= chance <= 1, "epsilon", epsilon, "a probability from 0 to 1")
    return chance
