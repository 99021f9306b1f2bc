"""A number with its interval, and what a table has to say of both."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A value, the ends of its interval at this level, the number of runs behind it, and the kind of the interval."""

    value: float
    low: float
    high: float
    level: float
    runs: int
    kind: str
