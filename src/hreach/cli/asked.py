"""What a certificate was asked for, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hreach.guarantees.certificate import Certificate
from hreach.guarantees.certificate_picture import Look

_LOOKS = 40  # at the steps of a record


class Asked(NamedTuple):
    """What is to be certified: delta, where, against which h, and whether also over time."""

    delta: float
    state: int | None
    h: float | None
    over_time: bool


@dataclass(frozen=True)
class Found:
    """A certificate, what was certain at each look, whose it is, and why the run was stopped.

    names   of the states and of the actions, where these have some
    """

    certificate: Certificate
    looks: Sequence[Look]
    title: str
    stopped: str = ""
    names: tuple[Sequence[str], Sequence[str]] | None = None

    @property
    def sentence(self) -> str:
        """What can be said, in one sentence."""
        sure = self.certificate
        return sure.sentence() if self.names is None else sure.sentence(self.names[0][sure.state])

    def pair(self, state: int, action: int) -> str:
        """A pair in words."""
        if self.names is None:
            return f"state {state}, action {action}"
        return f"{self.names[0][state]}, {self.names[1][action]}"


def times(steps: int, asked: Asked) -> list[int]:
    """Numbers of steps to look at, of so many: the last one, and earlier ones where time is asked for."""
    first = min(100, steps) if asked.over_time else steps
    return [int(t) for t in np.unique(np.geomspace(first, steps, _LOOKS).astype(np.int64))]
