"""Functions for compiled callers alone."""

from __future__ import annotations

import pytest

from hreach.compiling import compiled, inlined, inlined_too, inner


@inner
def doubled(x: float) -> float:
    return 2.0 * x


@inlined
def more(x: float) -> float:
    return x + 1.0


@inlined_too
def less(x: float) -> float:
    return x - 1.0


@compiled
def all_of_them(x: float) -> float:
    return less(more(doubled(x)))


def test_compiled_functions_call_them_and_python_is_told_that_it_cannot() -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match=r"^doubled can be called by compiled functions only$"):
            doubled(1.0)
        with pytest.raises(TypeError, match=r"^more can be called by compiled functions only$"):
            more(1.0)
        assert (all_of_them(3.0), less(3.0)) == (6.0, 2.0)
