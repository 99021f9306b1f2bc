"""An h that grows with experience: h_t = c ln(t + 2), t the number of samples. What it buys: `optimism.pac_rmdp`."""

from __future__ import annotations

from hreach.errors import positive

GROWTH = 0.5  # c, unless given


def is_growing(h: object) -> bool:
    """Whether h is the word "growing"."""
    return isinstance(h, str) and h == "growing"


def growth(c: float | None) -> float:
    """c as a number above 0; .5 unless given."""
    return GROWTH if c is None else positive("c", c)
