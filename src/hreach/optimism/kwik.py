"""Linear PAC-MDP: R-max on top of KWIK linear regression (Strehl & Littman 2007; Li et al. 2011).

With the eigenvalues of X'X split at 1 as in the paper's I_h, ||q||^2 = phi' g phi and ||u|| = ||w phi||. A pair is
*known* if both are small, for every learnt component; one that is not known is worth the most there is.

    by hand:    ||q|| <= alpha1  and  ||u|| <= alpha2
    from eps:   Delta ||q|| sqrt(2 ln(2 nS / delta)) + 2 c3 ||u|| <= tolerance of the model's error, with
                tolerance = eps (1 - gamma) / (L sqrt(nS))                by="slope"
                tolerance = eps (1 - gamma) sigma / (Vmax sqrt(nS))       by="noise"

The first tolerance turns a value error eps into an error of the model by the slope L that Algorithm 2 uses, the second
by how far apart two Gaussians are (a shift by sigma costs at most the whole value Vmax). Delta stands for the size of
the error in training, c3 for a bound on the weights. All this is a calibration, not a certified constant: the theory's
own alpha1 and alpha2 leave theirs open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array
from hreach.errors import at_least, positive, require
from hreach.models.linear import LinearModel
from hreach.optimism.linear import LinearOptimism
from hreach.problems.task import Task


@dataclass(frozen=True)
class KnownWithin:
    """Known if the error that epsilon allows is not exceeded.

    sensitivity   loss of value per step for an error of 1 in each component, (nS,); None: the slope L
    """

    epsilon: float
    delta: float
    Delta: float | None
    c3: float
    gamma: float
    sensitivity: Array | None = None

    def __call__(
        self, model: LinearModel, states: Array, actions: NDArray[np.int64], calls: int, slope: float
    ) -> Array:
        """0 where a pair is known, infinite where it is not: (N,)."""
        gain, w = model.known_terms(states, actions)
        Delta = model.error_mean if self.Delta is None else self.Delta
        scale = np.sqrt(2 * max(np.log(2 * model.outputs / self.delta), 0.0))
        error = Delta * np.sqrt(np.maximum(gain, 0.0)) * scale + 2 * self.c3 * w
        allowed = self.epsilon * (1 - self.gamma)
        loss = slope if self.sensitivity is None else self.sensitivity
        known = (error * loss * np.sqrt(model.outputs) <= allowed).all(axis=1)
        return np.where(known, 0.0, np.inf)


@dataclass(frozen=True)
class KnownByThresholds:
    """Known if ||q|| <= alpha1 and ||u|| <= alpha2."""

    alpha1: float
    alpha2: float

    def __call__(
        self, model: LinearModel, states: Array, actions: NDArray[np.int64], calls: int, slope: float
    ) -> Array:
        """0 where a pair is known, infinite where it is not: (N,)."""
        gain, w = model.known_terms(states, actions)
        known = (np.sqrt(np.maximum(gain, 0.0)) <= self.alpha1) & (w <= self.alpha2)
        return np.where(known.all(axis=1), 0.0, np.inf)


def build(
    task: Task,
    epsilon: float | None = None,
    delta: float = 0.9,
    Delta: float | None = None,
    c3: float = 1.0,
    alpha1: float | None = None,
    alpha2: float | None = None,
    store: str = "all",
    by: str = "slope",
) -> LinearOptimism:
    """From epsilon (Delta: the running mean residual unless given), or alpha1 and alpha2 by hand.

    by      how a value error becomes an error of the model: "slope" or "noise", see the module
    store   "all" learns from every sample, "unknown" only from those of pairs that are not known, as the original does
    """
    require(store in ("all", "unknown"), "store", store, "'all' or 'unknown'")
    require(by in ("slope", "noise"), "by", by, "'slope' or 'noise'")
    selective = store == "unknown"
    if alpha1 is not None or alpha2 is not None:
        rule = KnownByThresholds(at_least("alpha1", alpha1, 0), at_least("alpha2", alpha2, 0))
        return LinearOptimism(rule, selective=selective, constants={"alpha1": rule.alpha1, "alpha2": rule.alpha2})
    given = None if Delta is None else at_least("Delta", Delta, 0)
    eps = positive("epsilon (or alpha1 and alpha2)", epsilon)
    sensitivity = None if by == "slope" else max(abs(v) for v in task.values) / task.sigma
    within = KnownWithin(eps, positive("delta", delta), given, positive("c3", c3), task.gamma, sensitivity)
    constants = {"epsilon": eps, "delta": within.delta, "Delta": "mean" if given is None else given, "c3": within.c3}
    return LinearOptimism(within, selective=selective, constants={**constants, "by": by})
