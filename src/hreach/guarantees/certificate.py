"""A certificate: what holds of a policy, whatever the truth is, by the data alone; but for a probability delta.

One event of probability at least 1 - delta, that every row is in its confidence set at every time (`confidence.py`),
carries all of it at once: for every state, every time of looking and every h, also those picked by looking.

    V^pi(s) >= lower                                          (1)
    V^pi(s) >= V^{d*}_h(s) - reachable_gap                    (2)    Paper: Definition 2, from Lemma 1
    V^pi(s) >= V*(s) - optimality_gap,   V*(s) <= upper       (3)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hreach.errors import require
from hreach.guarantees.limits import Limit, limits_of
from hreach.guarantees.merged import Places
from hreach.planners.robust import Robust, Sets
from hreach.problems.spaces import index_of
from hreach.protocols import Floats, Ints

GRID = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, np.inf)  # h of the curve


class Safest(NamedTuple):
    """The policy of the largest certified value, (S,), and that value where the certificate looks."""

    policy: Ints
    lower: float


@dataclass(frozen=True)
class Bounds:
    """All that was bounded, in every state: arrays (S,).

    lower      of V^pi; safest: of the safest policy; gap: V* - V^pi is at most this; reachable: V^{d*}_h is at most
               this, or None where that cannot be said
    """

    lower: Floats
    upper: Floats
    gap: Floats
    safest: Floats
    safest_policy: Ints
    reachable: Floats | None


def spread(bounds: Bounds, place: Ints) -> Bounds:
    """Bounds of rows as bounds of states, each of which has the row `place` says."""
    return Bounds(
        lower=bounds.lower[place],
        upper=bounds.upper[place],
        gap=bounds.gap[place],
        safest=bounds.safest[place],
        safest_policy=bounds.safest_policy[place],
        reachable=None if bounds.reachable is None else bounds.reachable[place],
    )


@dataclass(frozen=True)
class Certificate:
    """What holds of `policy` (S,), frozen, after `samples` samples, with probability at least 1 - delta.

    state      where; `at` says the same of another one
    h          further samples of each pair that `reachable_gap` is about; None: none
    learnt     whether the reward is learnt; prior: samples that the first model weighs
    assumes    what has to be true besides, in plain words; notes: what falls away, and why
    places     of sparse counts: which row of `sets` has which state
    """

    samples: int
    delta: float
    state: int
    h: float | None
    policy: Ints
    bounds: Bounds
    sets: Sets
    prior: float
    learnt: bool
    assumes: tuple[str, ...]
    notes: tuple[str, ...]
    places: Places | None = None

    def at(self, state: object) -> Certificate:
        """The same certificate, of another state."""
        return replace(self, state=index_of("state", state, self.policy.size))

    @property
    def lower(self) -> float:
        """The policy is worth at least this: V^pi(s) >= lower."""
        return float(self.bounds.lower[self.state])

    @property
    def upper(self) -> float:
        """No policy is worth more: V*(s) <= upper."""
        return float(self.bounds.upper[self.state])

    @property
    def optimality_gap(self) -> float:
        """The best policy is worth at most this much more: V*(s) - V^pi(s)."""
        return float(self.bounds.gap[self.state])

    @property
    def reachable_gap(self) -> float | None:
        """The best that h more samples of each pair could show is at most this much more: V^{d*}_h(s) - V^pi(s)."""
        reachable = self.bounds.reachable
        return None if reachable is None else float(max(reachable[self.state] - self.bounds.lower[self.state], 0.0))

    @property
    def safest(self) -> Safest:
        """The policy of the largest lower value; it may truly earn less than this one."""
        return Safest(self.bounds.safest_policy, float(self.bounds.safest[self.state]))

    @cached_property
    def curve(self) -> Mapping[float, float] | None:
        """h -> reachable gap, for h = 0, 1, 2, 4, ... and infinity; None where rewards are learnt: (2) falls away."""
        if self.learnt:
            return None
        return {h: self._reachable_gap(h) for h in GRID}

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """The pairs that hold the lower value down, the one that does most first."""
        if self.places is None:
            return limits_of(self.sets, self.policy, self.state)
        place, first = self.places
        found = limits_of(self.sets, self.policy[first], int(place[self.state]))
        return tuple(limit._replace(state=int(first[limit.state])) for limit in found)

    def sharpened(self, before: Certificate) -> Certificate:
        """This certificate with what an earlier one of the same data knew better: all times share one event.

        The lower value of a policy counts on if it is the same policy; upper values and the safest policy always do.
        """
        same = self.delta == before.delta and self.policy.shape == before.policy.shape
        require(same and before.samples <= self.samples, "before", before.samples, "of the same data, earlier")
        now, old = self.bounds, before.bounds
        lower, gap = now.lower, now.gap
        if np.array_equal(self.policy, before.policy):
            lower, gap = np.maximum(lower, old.lower), np.minimum(gap, old.gap)
        upper = np.minimum(now.upper, old.upper)
        kept = bool(old.safest[self.state] > now.safest[self.state])
        return replace(
            self,
            bounds=Bounds(
                lower=lower,
                upper=upper,
                gap=np.minimum(gap, upper - lower),
                safest=old.safest if kept else now.safest,
                safest_policy=old.safest_policy if kept else now.safest_policy,
                reachable=now.reachable,
            ),
        )

    def sentence(self, name: str | None = None) -> str:
        """What can be said, in one sentence; `name` is that of the state, where states have names."""
        parts = [f"in state {self.state if name is None else name} this policy is worth at least {short(self.lower)}"]
        if self.reachable_gap is not None and self.h is not None:
            best = f"the best that {self.h:g} more samples of each pair could show"
            parts.append(f"{best} is at most {short(self.reachable_gap, 3)} more")
        parts.append(f"the optimum is at most {short(self.upper)} and at most {short(self.optimality_gap, 3)} more")
        return f"From {self.samples:,} samples, with probability at least {1 - self.delta:g}: {'; '.join(parts)}."

    def __str__(self) -> str:
        return self.sentence()

    def _reachable_gap(self, h: float) -> float:
        """V^{d*}_h - V^pi at most, in the certificate's state."""
        if np.isinf(h):
            return self.optimality_gap
        first = slice(None) if self.places is None else self.places.first
        row = self.state if self.places is None else self.places.place[self.state]
        robust, start = Robust(self.sets), np.append(self.bounds.lower[first], 0.0)
        bound = robust.reachable(h, self.prior, robust.reach(h, self.prior, self.policy[first], start))
        return float(max(bound[row] - self.lower, 0.0))


def short(value: float, digits: int = 4) -> str:
    """A value in a sentence: so many digits, no exponent below a million, and 0 for what rounding has left of it."""
    text = f"{value:.{digits}g}"
    if abs(value) < 1e-9:
        return "0"
    return f"{value:.0f}" if "e+" in text and abs(value) < 1e6 else text
