"""Propositions 1 and 2: what Theorem 1 says about PAC-MDP and near-Bayes optimality."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hreach.guarantees.theory.bound import (
    Array,
    Bound,
    Form,
    check_delta,
    check_epsilon,
    check_samples,
    check_steps,
    too_coarse,
)
from hreach.guarantees.theory.discrete import h_star, sample_complexity
from hreach.problems.sizes import Sizes


@dataclass(frozen=True, eq=False)
class PacMdp:
    """V^{A_t}(s_t) >= V*(s_t) - eps for all but `steps` steps, with probability 1 - delta, by PAC-RMDP(`h`)."""

    h: Array
    steps: Bound


def pac_mdp(sizes: Sizes, eps: ArrayLike, delta: ArrayLike, form: Form = "corrected") -> PacMdp:
    """The PAC-MDP numbers of PAC-RMDP(h*): h* = h*(eps/2, delta/2), rounded up to whole samples. Paper: Proposition 1.

    Both conditions of Definition 1 at (eps/2, delta/2) give an error of 2 eps/2 and a failure probability of 2 delta/2.
    """
    e, d = np.broadcast_arrays(check_epsilon(eps), check_delta(delta))
    h = np.ceil(h_star(sizes, e / 2, d / 2, form).value)
    steps = sample_complexity(sizes, e / 2, d / 2, h, form)
    return PacMdp(h, Bound.of(steps.value, too_coarse(e, sizes.top)))


def near_bayes(
    sizes: Sizes, eps: ArrayLike, delta: ArrayLike, H: ArrayLike, assumed: ArrayLike = 0, form: Form = "corrected"
) -> Bound:
    """Steps without V^{A_t} >= V*_{b,H} - eps, at most, with probability 1 - delta, by PAC-RMDP(H).
    Paper: Proposition 2.

    `assumed` is the number of steps after which V*_{b,H} and V^{d*}_{L,t,H} are eps/2 apart at most: the
    proposition's assumption.
    """
    e, d, H_ = np.broadcast_arrays(check_epsilon(eps), check_delta(delta), check_steps("H", H))
    steps = sample_complexity(sizes, e / 2, d, H_, form).value + check_samples("assumed", assumed)
    return Bound.of(steps, too_coarse(e, sizes.top))
