"""Drawings in fewer letters: every point stays within a twentieth of where it was."""

from __future__ import annotations

import re

import numpy as np
import pytest

from drawings import points
from hreach.report.figures.compact import compact

COUNT = {"M": 1, "L": 1, "Q": 2, "C": 3, "z": 0}


def random_path(stream: np.random.Generator) -> str:
    commands = ["M", *stream.choice([*"MLLLQCz"], size=stream.integers(1, 40))]
    return " ".join(
        f"{c} {' '.join(f'{v:.6f}' for v in stream.choice([3000.0, 0.3]) * stream.normal(size=2 * COUNT[c]))}"
        for c in commands
    )


def shortened(path: str) -> str:
    found = re.search(r' d="([^"]*)"', compact(f'<svg xmlns="x"><path d="{path}"/></svg>', "kept"))
    assert found is not None
    return found[1]


@pytest.mark.parametrize("seed", range(30))
def test_no_point_moves_by_more_than_half_a_place_however_long_the_path(seed: int) -> None:
    path = random_path(np.random.default_rng(seed))
    before, after = points(path), points(shortened(path))
    assert [command for command, _ in after] == [command for command, _ in before]
    for (_, old), (_, new) in zip(before, after, strict=True):
        np.testing.assert_allclose(np.reshape(new, (-1, 2)), np.reshape(old, (-1, 2)), rtol=0, atol=0.0501)


def test_neighbours_are_written_as_short_differences() -> None:
    assert shortened("M 100 200 L 100.52 199.9 L 101 199.9 z M 1 1 L 2 2") == "M100 200l.5-.1l.5 0zm-99-199l1 1"
