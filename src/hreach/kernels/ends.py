"""Which states are closed: episodes ended there, and nothing was seen to go on."""

from __future__ import annotations

from typing import Any

from hreach.compiling import compiled
from hreach.kernels.belief import close, refresh_all
from hreach.kernels.state import Belief, Rule


@compiled
def _open(formula: Any, rule: Rule, belief: Belief, s: int) -> None:
    """Something goes on from s; if it was closed, all that ended there is to be set apart."""
    belief.open[s] = True
    if belief.terminal[s]:
        belief.terminal[s] = False
        refresh_all(formula, rule, belief)


@compiled
def meet(formula: Any, rule: Rule, belief: Belief, s: int, next_state: int, terminated: bool) -> bool:
    """Learn from a sample which states are closed; whether that changed."""
    b = belief
    closed = b.terminal[s]
    if not b.open[s]:
        _open(formula, rule, belief, s)
    if not terminated:
        closed = closed or b.terminal[next_state]
        if not b.open[next_state]:
            _open(formula, rule, belief, next_state)
    elif not b.open[next_state] and not b.terminal[next_state]:
        b.terminal[next_state] = True
        close(belief, next_state)
        return True
    return bool(closed)
