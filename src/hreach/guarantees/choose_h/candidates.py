"""The h that are compared: fixed, growing with the steps, one for each pair, or from the lifetime."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from hreach.errors import InputError, at_least, positive, require, shown
from hreach.guarantees.choose_h.surrogates import listed
from hreach.reach.growing import GROWTH

HS: tuple[float | str, ...] = (0.5, 1, 4, 8, 16, 64, "growing", "growing:1", "adaptive")


@dataclass(frozen=True)
class Candidate:
    """One h: its label, the parameters of pac-rmdp, and its value after so many steps (None: nobody knows before)."""

    label: str
    params: dict[str, float | str]
    after: Callable[[int], float | None]

    @property
    def fixed(self) -> bool:
        """Whether h is a number."""
        return not isinstance(self.params["h"], str)


def candidates(hs: object) -> list[Candidate]:
    """The entries of `hs`, none twice."""
    found = [_candidate(h) for h in listed("hs", hs)]
    require(len({each.label for each in found}) == len(found), "hs", hs, "different from each other")
    return found


def _candidate(h: object) -> Candidate:
    if isinstance(h, str) and h in ("adaptive", "lifetime"):
        return Candidate(h, {"h": h}, lambda steps: None)
    if isinstance(h, str) and (h == "growing" or h.startswith("growing:")):
        c = GROWTH if h == "growing" else positive("c", _as_number("c", h.removeprefix("growing:")))
        label = "growing" if c == GROWTH else f"growing:{c:g}"
        return Candidate(label, {"h": "growing", "c": c}, lambda steps: c * math.log(steps + 2))
    value = at_least("h", _as_number("h", h), 0)
    return Candidate(f"{value:g}", {"h": value}, lambda steps: value)


def _as_number(field: str, value: object) -> object:
    """Text as a number, where it is one; the checks that follow refuse the rest."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        raise InputError(
            f"{field} is {shown(value)}, but must be a number, 'growing', 'growing:c', 'adaptive' or 'lifetime'."
        ) from None
