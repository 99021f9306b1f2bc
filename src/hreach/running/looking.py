"""A run that a rule may end: it is looked at after steps whose distance grows, and never in between.

Rules are asked between steps, so the steps themselves cost what they cost without one.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from hreach.protocols import Acts, State, Until
from hreach.running.record import Record

FIRST_LOOK, STRETCH = 10, 1.15  # steps after which a rule is first asked, and by how much the next time is later


class Watch:
    """A rule and the run that it watches; `why` is its sentence once it has ended the run."""

    def __init__(self, rule: Until, agent: Acts, record: Record) -> None:
        self._rule, self._agent, self._record = rule, agent, record
        self._looked = 0  # the step of the last look
        self.why = ""

    def advance(self, go: Callable[[State, float], State], state: State, last: float) -> State:
        """`go` until there are `last` steps, or it goes no further, or the rule is met; the state that it ends in."""
        done = self._record.rewards
        while not self.why:
            # A run that goes on from a checkpoint may have been ended in the very step in which it was saved.
            look = next_look(max(self._looked, len(done) - 1))
            state = go(state, min(last, look))
            if len(done) < look:
                break
            self._looked = look
            self.why = self._rule.met(self._agent, state) or ""
        return state


def next_look(steps: int) -> int:
    """The first step after `steps` at which a rule is asked."""
    look = FIRST_LOOK
    while look <= steps:
        look = ceil(STRETCH * look)
    return look
