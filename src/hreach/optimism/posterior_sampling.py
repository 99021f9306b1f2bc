"""Posterior sampling (Strens, ICML 2000; Osband, Russo & Van Roy, NIPS 2013), for discounted problems.

Draw a model from the Dirichlet posterior (`hreach.kernels.posterior`), act as is best in it, and draw anew

    episodes="geometric"   after a number of steps that is geometric with mean `length`, 1/(1-gamma) unless given: what
                           is not discounted away is seen by one model
    episodes="doubling"    when a pair was tried as often since the last draw as before it, its prior's weight included

A reward that is learnt is drawn from a Beta posterior. Nothing is added to the drawn model: what makes the agent
explore is that a model of which little is known may be drawn better than it is.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from hreach.compiling import Array
from hreach.errors import at_least, require
from hreach.optimism.greedy import certain
from hreach.optimism.tabular import TabularOptimism
from hreach.problems.problem import Problem
from hreach.protocols import Stream
from hreach.randomness.streams import uniform


def geometric(
    t: float, parameters: Array, total: Array, value: Array, q: Array, gamma: float, v_min: float,
    constants: Array, stream: Stream,
) -> tuple[float, float]:  # fmt: skip
    """Draw now, and again after k = 1 + floor(ln u / ln(1 - p)) steps, P(k) = (1 - p)^(k - 1) p with p = 1 / length."""
    p = 1.0 / parameters[0, 0, 0]
    return t + 1.0 + np.floor(np.log(1.0 - uniform(stream)) / np.log(1.0 - p)), 1.0


def doubling(
    t: float, parameters: Array, total: Array, value: Array, q: Array, gamma: float, v_min: float,
    constants: Array, stream: Stream,
) -> tuple[float, float]:  # fmt: skip
    """Draw if a pair's weight has doubled since the last draw (which `constants` remember), and at the beginning."""
    changed = 1.0 if t == 0.0 else 0.0
    for s in range(total.shape[0]):
        for a in range(total.shape[1]):
            if total[s, a] >= 2.0 * constants[s, a, 0]:
                changed = 1.0
    if changed > 0.0:
        for s in range(total.shape[0]):
            for a in range(total.shape[1]):
                constants[s, a, 0] = total[s, a]
    return t + 1.0, changed


def build(problem: Problem, episodes: str = "geometric", length: float | None = None) -> TabularOptimism:
    """How long one draw is acted on: see the module."""
    require(episodes in ("geometric", "doubling"), "episodes", episodes, "'geometric' or 'doubling'")
    require(problem.prior > 0, "prior", problem.prior, "above 0: a posterior needs a prior")
    if episodes == "doubling":
        require(length is None, "length", length, "left out where episodes is 'doubling'")
        return TabularOptimism(certain, {"weight": problem.prior}, "given", schedule=doubling, draws=True)
    mean = 1 / (1 - problem.gamma) if length is None else at_least("length", length, 1)
    origin: Literal["given", "theory"] = "theory" if length is None else "given"
    return TabularOptimism(certain, {"length": mean}, origin, schedule=geometric, draws=True)
