"""What the files of this package share: a bound that says when it is empty, checked arrays, and one root finder.

Statements come in up to three forms:

    "printed"    to the letter, slips of arithmetic included
    "proof"      what the printed proof gives once its arithmetic is repaired
    "corrected"  what remains true once the argument is repaired as well; each function says by which factor it differs
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.errors import array, number, require

Array = NDArray[np.float64]
Form = Literal["printed", "proof", "corrected"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True, eq=False)
class Bound:
    """value: the number; why: "" where it promises something, else the reason why it promises nothing. One shape.

    >>> bound = Bound.of(np.array([1.0, 30.0]), ("any policy is that close", np.array([False, True])))
    >>> bound.vacuous.tolist(), bound.why.tolist()
    ([False, True], ['', 'any policy is that close'])
    """

    value: Array
    why: NDArray[np.str_]

    @classmethod
    def of(cls, value: Array, *reasons: tuple[str, ArrayLike]) -> Bound:
        """A bound with the first of the reasons that apply, each (sentence, where)."""
        where = [np.broadcast_to(np.asarray(mask, dtype=bool), np.shape(value)) for _, mask in reasons]
        why = np.select(where, [np.asarray(text) for text, _ in reasons], default=np.asarray(""))
        return cls(np.asarray(value, dtype=np.float64), np.asarray(why, dtype=np.str_))

    @property
    def vacuous(self) -> NDArray[np.bool_]:
        """Where it promises nothing."""
        return np.asarray(self.why != "")

    def __float__(self) -> float:
        return float(self.value)


def too_coarse(eps: Array, top: float) -> tuple[str, Array]:
    """A reason: eps is no smaller than the range of values (or smaller by a rounding error in 1 - gamma)."""
    return f"epsilon is not below the range of values, {top:.6g}: every policy is that close", np.asarray(
        eps >= top * (1 - 1e-12)
    )


def no_probability(delta: Array) -> tuple[str, Array]:
    """A reason: delta is not a probability below 1."""
    return "delta is not a probability below 1, so nothing is promised", np.asarray(delta >= 1)


def check_form(form: str, forms: tuple[str, ...] = FORMS) -> None:
    """Refuse a form that does not exist."""
    require(form in forms, "form", form, " or ".join(repr(f) for f in forms))


def check_epsilon(eps: ArrayLike) -> Array:
    """An accuracy: finite and above 0."""
    return _checked("epsilon", eps, lambda x: (x > 0) & (x < np.inf), "a finite number above 0")


def check_delta(delta: ArrayLike) -> Array:
    """A failure probability: between 0 and 1."""
    return _checked("delta", delta, lambda x: (x > 0) & (x < 1), "above 0 and below 1")


def check_any_delta(delta: ArrayLike) -> Array:
    """A rival's delta: finite and above 0, though above 1 it is not a probability."""
    return _checked("delta", delta, lambda x: (x > 0) & (x < np.inf), "a finite number above 0")


def check_samples(field: str, value: ArrayLike) -> Array:
    """A number of samples (h, n): finite, at least 0, not always whole."""
    return _checked(field, value, lambda x: (x >= 0) & (x < np.inf), "a finite number of at least 0")


def check_steps(field: str, value: ArrayLike) -> Array:
    """A number of steps (t, T): finite and at least 1."""
    return _checked(field, value, lambda x: (x >= 1) & (x < np.inf), "a finite number of at least 1")


def check_probability(field: str, value: ArrayLike) -> Array:
    """A probability above 0, 1 included."""
    return _checked(field, value, lambda x: (x > 0) & (x <= 1), "above 0 and at most 1")


def _checked(field: str, value: ArrayLike, ok: Callable[[Array], NDArray[np.bool_]], allowed: str) -> Array:
    """`value` as an array; the error shows the first number that is not allowed."""
    several = isinstance(value, list | tuple | np.ndarray)
    x = array(field, value) if several else np.asarray(number(field, value))
    bad = ~ok(x)
    if bad.any():
        require(False, field, float(x[bad][0]), allowed)
    return x


def largest_within(f: Callable[[Array], Array], limit: Array, start: Array) -> Array:
    """The largest x with f(x) <= limit, to the last bit or so; f rises from below `limit` to above it."""
    low, high = start - 1.0, start + 1.0
    step = 1.0
    while np.any(over := f(low) > limit):
        low = np.where(over, low - step, low)
        step *= 2
    step = 1.0
    while np.any(within := f(high) <= limit):
        high = np.where(within, high + step, high)
        step *= 2
    while True:
        middle = (low + high) / 2
        if np.all((middle <= low) | (middle >= high)):
            return np.asarray(low)
        within = f(middle) <= limit
        low, high = np.where(within, middle, low), np.where(within, high, middle)
