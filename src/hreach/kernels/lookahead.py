"""Constants that are chosen by looking ahead: what an optimism may bring beside its schedule.

    lookahead(formula, rule, seen, table, stream)

is handed all that a run is at this moment, writes `table.constants` (S, A, P), and changes nothing else but `stream`,
from which it draws. It is called when the schedule says that something changed, and compiled apart, as a pointer, so
that whoever does not look ahead compiles none of it. It may allocate.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numba import types
from numpy.typing import NDArray

from hreach.compiling import FORMULA, Formula, Pointer, Untyped, at_address, compile_pointer
from hreach.kernels.state import Rule, Seen, Table

Lookahead = Callable[[Formula, Rule, Seen, Table, NDArray[np.uint64]], None]


def _array(dimensions: int, kind: Untyped = types.float64) -> Untyped:
    return types.Array(kind, dimensions, "C")


def _tuple(kind: type, **other: Untyped) -> Untyped:
    """The type of a tuple of numbers but for the fields that are given."""
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    return types.NamedTuple([other.get(name, types.float64) for name in names], kind)


_WHOLE, _TRUTH = _array(1, types.int64), _array(1, types.boolean)
_RULE = _tuple(
    Rule, reward=_array(3), parameters=_array(3), preference=_WHOLE, asks_certainty=types.boolean,
    draws=types.boolean, ends=types.boolean, lookahead=types.int64,
)  # fmt: skip
_SEEN = _tuple(
    Seen, counts=_array(3), ended=_array(3), total=_array(2), reward_sum=_array(2), terminal=_TRUTH, open=_TRUTH,
    samples=_array(1), here=_WHOLE, news=_WHOLE,
)  # fmt: skip
_TABLE = _tuple(
    Table, mean=_array(3), gone=_array(1), parting=_array(1), reach=_array(1), base=_array(1), radius=_array(1),
    value=_array(1), q=_array(1), order=_WHOLE, target=_array(1), matrix=_array(2), constants=_array(3),
    certain=_array(1), due=_array(1),
)  # fmt: skip
_SIGNATURE = types.void(FORMULA, _RULE, _SEEN, _TABLE, _array(1, types.uint64))
lookahead_at: Callable[[int], Lookahead] = at_address(_SIGNATURE)


@functools.cache
def compile_lookahead(lookahead: Lookahead) -> Pointer[[Formula, Rule, Seen, Table, NDArray[np.uint64]], None]:
    """`lookahead` as a pointer; compiled once, kept if it lives in a file."""
    return compile_pointer("lookahead", lookahead, _SIGNATURE, "use what compiled code can use")
