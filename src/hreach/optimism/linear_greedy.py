"""Acting on a linear model as it is, with a random action now and then."""

from __future__ import annotations

from hreach.errors import number, require
from hreach.optimism.linear import Hope, Plain
from hreach.problems.task import Task


def build(task: Task, epsilon: float = 0.1) -> Hope:
    """The best action under the model, but with probability epsilon one drawn uniformly."""
    return Hope(Plain(), random_action=probability(epsilon))


def true_model(task: Task, epsilon: float = 0.0) -> Hope:
    """The same with the true model: what the planner earns when there is nothing left to learn."""
    return Hope(Plain(), random_action=probability(epsilon), truth=True)


def probability(epsilon: object) -> float:
    """`epsilon` as a number from 0 to 1."""
    chance = number("epsilon", epsilon)
    require(0 <= chance <= 1, "epsilon", epsilon, "a probability from 0 to 1")
    return chance
