"""One h of a comparison: what is promised about it, and what it earned."""

from __future__ import annotations

from dataclasses import dataclass

from hreach.guarantees.theory import Sizes, anytime_error, explicit_exploration_runtime
from hreach.guarantees.theory.bound import Bound


@dataclass(frozen=True)
class Option:
    """One h: its bounds (None where they are vacuous; `_why` says what is wrong with them, "" if nothing), its runs.

    h                 as it was given: "8", "growing", "growing:1" (c = 1), "adaptive"
    h_at_end          its value at the end of the lifetime; None where each pair has its own
    exploration       steps with |V~ - V_{h=0}| > epsilon, at most, with probability 1 - delta
    error             eps_{T,h}: all but T steps are within it of the reachable optimum, with probability 1 - delta
    average, low, high              reward per step or episode, and its bootstrap interval
    loss, loss_low, loss_high       against the best fixed h; None where there is none or it earned nothing
    stuck, poor_end                 shares of runs
    """

    h: str
    h_at_end: float | None
    exploration: float | None
    exploration_why: str
    error: float | None
    error_why: str
    average: float
    low: float
    high: float
    loss: float | None
    loss_low: float | None
    loss_high: float | None
    stuck: float
    poor_end: float


def bounds_of(
    h: float | None, sizes: Sizes, eps: float, delta: float, steps: int
) -> tuple[float | None, str, float | None, str]:
    """exploration, exploration_why, error, error_why of an `Option`."""
    if h is None:
        none = "nobody knows its h beforehand"
        return None, none, None, none
    exploration = _promise(explicit_exploration_runtime(sizes, eps, delta, h))
    if exploration[0] is not None and exploration[0] > steps:
        exploration = exploration[0], "longer than the lifetime"
    return *exploration, *_promise(anytime_error(sizes, steps, delta, h))


def _promise(bound: Bound) -> tuple[float | None, str]:
    return (None, f"vacuous: {bound.why}") if bound.vacuous else (float(bound), "")
