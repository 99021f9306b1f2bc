"""Compiled functions without the search for their types, and formulas by their address."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hreach.compiling import Array, compile_formula, compiled, formula_at, resolved
from hreach.optimism.beb import bonus
from hreach.optimism.greedy import plain
from hreach.reach.weight import hopeful


@compiled
def twice(x: Any) -> Any:
    return x + x


@compiled
def said(address: int, counts: Array, parameters: Array) -> Any:
    formula = formula_at(address)
    return formula(counts, 4.0, 0.5, parameters)


def test_what_is_resolved_is_the_code_for_these_types() -> None:
    whole, real = resolved(twice, 1), resolved(twice, 1.0)
    assert (whole(3), type(whole(3))) == (6, int)
    assert (real(3), type(real(3))) == (6.0, float)


@pytest.mark.parametrize("formula", [hopeful, bonus, plain])
def test_a_formula_at_its_address_says_the_same(formula: Any) -> None:
    counts, parameters = np.array([1.0, 3.0]), np.array([8.0, 2.0])
    expected = formula(counts, 4.0, 0.5, parameters)
    assert said(compile_formula(formula).address, counts, parameters) == expected
