"""One plan: catch up with what was seen, then sweep and solve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import compiled, formula_at, schedule_at
from hreach.kernels.planning import any_ball, plan_arrays
from hreach.kernels.schedule import catch_up
from hreach.kernels.state import Rule, Seen, Table


@compiled
def plan(
    schedule: int, formula: int, rule: Rule, seen: Seen, table: Table, stream: NDArray[np.uint64], unfinished: bool
) -> tuple[int, float, bool]:
    """Bring `value` and `q` up to date with the model: (sweeps, residual, finished); to be called until finished.

    `schedule` and `formula` are addresses. q is the backup of a value V with max |TV - V| <= residual, and `value` is
    TV, so |value - V~| <= gamma residual / (1 - gamma). When it is finished the residual is at most the tolerance,
    unless that is finer than doubles can hold. Without any change, and not `unfinished`, nothing is done: no sweeps.
    """
    b = table
    if not catch_up(schedule_at(schedule), formula_at(formula), rule, seen, table, stream) and not unfinished:
        return 0, np.inf, True
    return plan_arrays(
        b.mean, b.gone, b.parting, b.reach, b.base, b.radius, rule.reward, rule.gamma, rule.value_cap, rule.tolerance,
        b.value, b.q, b.target, b.order, b.matrix, seen.total.shape[1], any_ball(b.radius), rule.ends,
    )  # fmt: skip
