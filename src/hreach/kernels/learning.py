"""One sample, and what it changes."""

from __future__ import annotations

from hreach.compiling import compiled, formula_at
from hreach.kernels.belief import refresh
from hreach.kernels.ends import meet
from hreach.kernels.schedule import due, grow
from hreach.kernels.state import Belief, Rule


@compiled
def learn(
    address: int, rule: Rule, belief: Belief, s: int, a: int, paid: float, next_state: int, terminated: bool
) -> bool:
    """Add one sample to (s, a); False if nothing changed, for the pair is frozen. `address`: that of the formula."""
    b = belief
    formula = formula_at(address)
    changed = rule.ends and meet(formula, rule, belief, s, next_state, terminated)
    if b.total[s, a] >= rule.freeze_at:
        return changed
    b.counts[s, a, next_state] += 1.0
    b.ended[s, a, next_state] += terminated
    b.total[s, a] += 1.0
    b.income[s, a] += paid
    b.clock[0] += 1.0
    refresh(
        formula, s, a, b.counts, b.ended, b.terminal, b.total, b.income, b.mean, b.gone, b.parting, b.reach,
        b.base, b.radius, rule.reward, b.constants, rule.r_min, rule.r_max, rule.v_max, rule.reward_share, rule.ends,
    )  # fmt: skip
    if b.clock[0] >= due(b.clock[1]):
        grow(formula, rule, belief, b.clock[0])
    return True
