"""The best action under a plan of lines."""

from __future__ import annotations

from numpy import uint64
from numpy.typing import NDArray

from hreach.compiling import compiled, inlined
from hreach.kernels.acting import choose
from hreach.kernels.local_state import NO_X, PLANNED, QA, QB, Arena, Lines, LocalRule, X


@inlined
def choose_local(
    rule: LocalRule, arena: Arena, lines: Lines, s: int, random_action: float, stream: NDArray[uint64]
) -> int:
    """The best action in state s of the problem, or a random one; the values go through the scratch space."""
    own, x, q = arena.ids[s], lines.number[X], lines.action
    for a in range(rule.actions):
        if 0 < own <= lines.tick[PLANNED]:
            p = (own - 1) * rule.actions + a
            q[a] = lines.q[p, QA] + lines.q[p, QB] * x
        elif rule.mode == NO_X:
            q[a] = rule.v_max
        else:
            q[a] = rule.fresh + rule.gamma * x + (rule.reward[s, a] if rule.reward.size > 0 else 0.0)
        q[a] = min(q[a], rule.value_cap)
    return choose(q, 0, rule.actions, random_action, rule.preference, stream)


@compiled
def act_local(rule: LocalRule, arena: Arena, lines: Lines, s: int, stream: NDArray[uint64]) -> int:
    """The best action in state s of the problem."""
    return choose_local(rule, arena, lines, s, 0.0, stream)
