"""The average loss of Corollary 1.

The paper adds up T anytime errors, each of which holds with probability 1 - delta alone, and turns them into losses
over T steps by the factor 1 - gamma^(T+1-t). Neither is right: T statements need a union, and an agent that is exact
for all time can still lose over the last steps (it may invest what pays after T). `form="corrected"` repairs both.

Counting. Theorem 1 bounds the number of steps with an error above e by tau(e, delta). For V = e_0 > e_1 > ... > e_k,
each with delta/k, the sum of the errors of T steps is at most

    sum_{i=1..k} (e_{i-1} - e_i) min(T, tau(e_i, delta/k)) + T e_k      with probability 1 - delta,

for any k and any levels chosen beforehand: here e_i = V 2^(-i/2), and the k that gives least.

The end. What comes after T is worth gamma^(T+1-t) (v_max - v_min) at most to the loss of step t.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from hreach.errors import require
from hreach.guarantees.theory.bound import Array, Bound, Form, check_delta, check_form, check_samples, check_steps
from hreach.guarantees.theory.discrete import BELOW_HORIZON, anytime_error, sample_complexity
from hreach.guarantees.theory.ingredients import horizon
from hreach.problems.sizes import Sizes

_EXACT_STEPS = 1000  # every step is added up until here, and one in a thousand after that
_LEVELS = 80  # the finest is V 2^-40


def average_loss(sizes: Sizes, T: ArrayLike, delta: ArrayLike, h: ArrayLike, form: Form = "corrected") -> Bound:
    """The T-step average loss against V^{d*}_{L,t,h}, at most, with probability 1 - delta. Paper: Corollary 1.

    printed, proof   1/T sum_{t=1..T} (1 - gamma^(T+1-t)) eps_{t,h}; eps_{t,h} as it is, though it exceeds V for small
                     t. Beyond 1000 steps eps_{t,h} is taken from the beginning of each thousandth part of t, so the sum
                     is at most .1 % too large
    corrected        1/T of the counting sum above and of sum_{t=1..T} gamma^(T+1-t) V
    """
    T_, d, x = np.broadcast_arrays(check_steps("T", T), check_delta(delta), check_samples("h", h))
    require(bool(np.all(np.floor(T_) == T_)), "T", T, "a whole number of steps")
    check_form(form)
    value, trivial = np.empty(T_.shape), np.empty(T_.shape)
    for i in np.ndindex(T_.shape):
        steps, part, reach = float(T_[i]), float(d[i]), float(x[i])
        begin, weight = _blocks(steps, sizes.gamma)
        trivial[i] = np.sum(weight) * sizes.top / steps
        if form == "corrected":
            after = sizes.top * (steps - np.sum(weight))
            value[i] = min((_counted(sizes, steps, part, reach) + after) / steps, float(trivial[i]))
        else:
            value[i] = np.sum(weight * anytime_error(sizes, begin, part, reach, form).value) / steps
    empty = "the average loss is not below that of earning nothing"
    too_short = horizon(sizes, np.maximum(value, np.finfo(float).tiny)) > T_
    return Bound.of(value, (empty, value >= trivial * (1 - 1e-12)), (BELOW_HORIZON, too_short))


def _counted(sizes: Sizes, T: float, delta: float, h: float) -> float:
    """The least of the counting sums over k = 1, ..., `_LEVELS`."""
    levels = sizes.top * 2.0 ** (-np.arange(_LEVELS + 1) / 2)
    k = np.arange(1, _LEVELS + 1)
    steps = np.minimum(sample_complexity(sizes, levels[1:], (delta / k)[:, None], h).value, T)
    sums = np.cumsum((levels[:-1] - levels[1:]) * steps, axis=1)
    return float((np.diagonal(sums) + T * levels[1:]).min())


def _blocks(T: float, gamma: float) -> tuple[Array, Array]:
    """First steps t of blocks that cover 1..T, and the sum of 1 - gamma^(T+1-t) over each block."""
    begin = np.arange(1.0, min(T, _EXACT_STEPS) + 1)
    if T > _EXACT_STEPS:
        parts = math.ceil(math.log(T / _EXACT_STEPS) / math.log1p(1e-3))
        later = np.floor(np.geomspace(_EXACT_STEPS + 1, T, parts + 1))
        begin = np.concatenate([begin, np.unique(later)])
    length = np.diff(begin, append=T + 1)
    gone = np.power(gamma, T + 2 - begin - length) * (1 - np.power(gamma, length)) / (1 - gamma)
    return begin, length - gone
