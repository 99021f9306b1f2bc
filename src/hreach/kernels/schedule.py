"""Constants that change, and models that are drawn anew, at times that the optimism names.

A *schedule* belongs to an optimism and is compiled with it (`hreach.compiling.Schedule`):

    schedule(t, parameters, total, value, q, gamma, v_min, constants, stream) -> (due, changed)

t is the number of samples. It may write `constants` (S, A, P), which the formula reads, and says at which t it wants to
be asked again, and whether (not 0) anything is to be computed anew. An optimism that asks for them gets the certainty-
equivalent value and q of the model at this moment: those of constants that are all 0, which is no optimism. One that
brings a *lookahead* (`hreach.kernels.lookahead`) has its constants chosen by that when the schedule changes something.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, Formula, Schedule, inner, merged
from hreach.kernels.lookahead import lookahead_at
from hreach.kernels.optimistic import refresh_all, refresh_pair
from hreach.kernels.planning import any_ball, plan_arrays
from hreach.kernels.posterior import draw_all
from hreach.kernels.state import Rule, Seen, Table


@merged  # handing over tuples of arrays copies them on the stack, which here costs as much as planning
def revise(
    schedule: Schedule, formula: Formula, rule: Rule, seen: Seen, table: Table, stream: NDArray[np.uint64]
) -> bool:
    """Ask the schedule; whether everything is to be computed anew."""
    b = table
    if rule.asks_certainty:
        _clear(b.constants)
        refresh_all(formula, rule, seen, table)
        finished = False
        while not finished:
            _, _, finished = plan_arrays(
                b.mean, b.gone, b.parting, b.reach, b.base, b.radius, rule.reward, rule.gamma, rule.value_cap,
                0.1 * rule.tolerance, b.certain, b.q, b.target, b.order, b.matrix, seen.total.shape[1],
                any_ball(b.radius), rule.ends,
            )  # fmt: skip
    due, changed = schedule(
        seen.samples[0], rule.parameters, seen.total, b.certain, b.q, rule.gamma, rule.v_min, b.constants, stream
    )
    b.due[0] = due
    if rule.lookahead != 0 and changed != 0.0:
        lookahead_at(rule.lookahead)(formula, rule, seen, table, stream)
    return rule.asks_certainty or changed != 0.0


@inner
def _clear(constants: Array) -> None:
    flat = constants.reshape(constants.size)
    for i in range(flat.size):
        flat[i] = 0.0


@merged
def renew(formula: Formula, rule: Rule, seen: Seen, table: Table, stream: NDArray[np.uint64]) -> None:
    """What is planned with, of every pair: the optimistic model, or a draw from the posterior."""
    if rule.draws:
        draw_all(rule, seen, table, stream)
    else:
        refresh_all(formula, rule, seen, table)


@merged
def catch_up(
    schedule: Schedule, formula: Formula, rule: Rule, seen: Seen, table: Table, stream: NDArray[np.uint64]
) -> bool:
    """Bring what is planned with up to date with what was seen; whether anything changed."""
    news = seen.news
    count = news[0]
    news[0] = 0
    anew = count < 0
    if seen.samples[0] >= table.due[0]:
        anew = revise(schedule, formula, rule, seen, table, stream) or anew
    if anew:
        renew(formula, rule, seen, table, stream)
        return True
    if rule.draws:
        return False
    actions = seen.total.shape[1]
    for k in range(1, count + 1):
        refresh_pair(formula, rule, seen, table, news[k] // actions, news[k] % actions)
    return bool(count > 0)
