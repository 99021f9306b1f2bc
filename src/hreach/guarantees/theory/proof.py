"""The parts of the proof of Theorem 1 as functions of y = ln(1/delta), which neither overflows nor underflows.

Arguments are checked arrays. Notation and forms are those of `hreach.guarantees.theory.discrete`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from hreach.guarantees.theory.bound import Array, Form, check_delta, check_epsilon, check_samples
from hreach.problems.sizes import Sizes


def checked_accuracy(eps: ArrayLike, delta: ArrayLike, h: ArrayLike) -> tuple[Array, ...]:
    """eps, delta and h, checked and of one shape."""
    return np.broadcast_arrays(check_epsilon(eps), check_delta(delta), check_samples("h", h))


def log_models_at(sizes: Sizes, y: Array) -> Array:
    """Lam."""
    return np.asarray((sizes.states + 1.0) * math.log(2) + math.log(sizes.pairs) + y)


def horizon_of(sizes: Sizes, eps: Array, parts: float) -> Array:
    """Steps after which the rest is worth eps/parts at most."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(np.log(parts * sizes.top / eps), 0) / (1 - sizes.gamma))


def few_samples(sizes: Sizes, eps: Array, y: Array, form: Form) -> Array:
    """m for small h."""
    constant = 18 if form == "corrected" else 72
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(constant * (sizes.error_scale(form) / eps) ** 2 * log_models_at(sizes, y))


def case_changes_at(sizes: Sizes, eps: Array, y: Array) -> Array:
    """The h at which the printed m changes its case: h = sqrt(2 m Lam) for the m of small h."""
    return np.asarray(12 * sizes.top / eps * log_models_at(sizes, y))


def known_threshold_at(sizes: Sizes, eps: Array, y: Array, h: Array, form: Form) -> Array:
    """m of `known_threshold`."""
    few = few_samples(sizes, eps, y, form)
    with np.errstate(over="ignore", divide="ignore"):
        if form == "printed":
            return np.where(h <= case_changes_at(sizes, eps, y), few, h * sizes.top / (6 * eps))
        return np.maximum(few, 6 * sizes.error_scale(form) * h / eps)
