"""When to stop a run: rules for `hreach.run(..., until=...)`, right at whatever time they are met.

Certificates hold at all times at once (`hreach.guarantees.confidence`), so stopping when one says what was wanted does
not change what it is worth. A run looks at steps 10, 12, 14, ..., each at most 15 % later than the last: it stops that
much later than it could have, and looks some 80 times in a million steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from hreach.errors import InputError, finite, one_of, positive, require
from hreach.guarantees.certificate import Certificate, short
from hreach.guarantees.certify import check_reach
from hreach.guarantees.confidence import chance
from hreach.protocols import Acts, State


@runtime_checkable
class Certifies(Protocol):
    """An agent that certifies."""

    def certify(self, delta: float = 0.1, state: State | None = None, h: float | None = None) -> Certificate:
        """What holds of its policy."""


@dataclass
class Certified:
    """Stop when the policy is certified to be within `gap`, or within a `share` of the best, where the run is.

    target   "reachable": of the best that h more samples could show; "optimum": of the best policy
    share    of the target's value, below 1: met where gap <= share * (lower + gap). Then V^pi >= (1 - share) target,
             for target <= V^pi + gap and V^pi/(V^pi + gap) grows with V^pi >= lower; never met where lower is below 0
    state    where; None: the state that the run is in. h: None: the agent's own
    After each look `certificate` is what was found.
    """

    gap: float | None = None
    share: float | None = None
    target: Literal["reachable", "optimum"] = "reachable"
    delta: float = 0.1
    state: int | None = None
    h: float | None = None
    certificate: Certificate | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        one_of(gap=self.gap, share=self.share)
        if self.gap is None:
            self.share = positive("share", self.share)
            require(self.share < 1, "share", self.share, "below 1: a policy that is worth 0 has lost no more")
        else:
            self.gap = positive("gap", self.gap)
        require(self.target in ("reachable", "optimum"), "target", self.target, "'reachable' or 'optimum'")
        self.delta = chance(self.delta)
        if self.h is not None:
            check_reach(self.h)

    def met(self, agent: Acts, state: State) -> str | None:
        """Why to stop now, or None."""
        self.certificate = found = _certificate(agent, self.delta, state if self.state is None else self.state, self.h)
        gap = found.optimality_gap if self.target == "optimum" else found.reachable_gap
        if gap is None:
            raise InputError(f"until is for a reachable gap, but there is none ({'; '.join(found.notes)}).")
        span = found.sets.v_max - found.sets.v_min
        ok = self.gap is None or self.gap < span
        require(ok, "gap", self.gap, f"below {span:g}, the range of values: every policy is within that")
        enough = gap <= (self.gap or 0.0) if self.share is None else gap <= self.share * (found.lower + gap)
        return found.sentence() if enough else None


@dataclass
class Aim:
    """Stop when some policy is certified to be worth `value`, or when no policy can be.

    After each look `certificate` is what was found, and `reached` whether there is such a policy (None: not known yet);
    it is `certificate.safest`.
    """

    value: float
    delta: float = 0.1
    state: int | None = None
    certificate: Certificate | None = field(default=None, init=False)
    reached: bool | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.value, self.delta = finite("value", self.value), chance(self.delta)

    def met(self, agent: Acts, state: State) -> str | None:
        """Why to stop now, or None."""
        self.certificate = found = _certificate(agent, self.delta, state if self.state is None else self.state, None)
        highest = found.sets.v_max
        require(self.value <= highest, "value", self.value, f"at most {highest:g}: no policy is worth more")
        if found.safest.lower >= self.value:
            self.reached = True
            return f"In state {found.state} a policy is worth at least {short(found.safest.lower)}."
        if found.upper < self.value:
            self.reached = False
            return f"In state {found.state} no policy is worth more than {short(found.upper)}."
        return None


def _certificate(agent: Acts, delta: float, state: State, h: float | None) -> Certificate:
    if not isinstance(agent, Certifies):
        raise InputError(f"until needs an agent that certifies, but {type(agent).__name__} does not.")
    return agent.certify(delta, state, h)
