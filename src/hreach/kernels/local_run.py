"""Steps of a run with a local plan, without coming back to Python: plan, act, step, learn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled, formula_at
from hreach.kernels.local_act import act_local
from hreach.kernels.local_learn import learn_sample
from hreach.kernels.local_plan import plan_lines
from hreach.kernels.local_state import EDGES, KNOWN, Arena, Lines, LocalRule
from hreach.kernels.state import World
from hreach.randomness.streams import uniform


@compiled
def walk_local(
    formula: int, rule: LocalRule, freeze_at: float, arena: Arena, lines: Lines, world: World,
    environment: NDArray[np.uint64], stream: NDArray[np.uint64], state: int, steps: int, paid: Array,
) -> tuple[int, int]:  # fmt: skip
    """(steps taken, the state after them) in a world without ends; it comes back early when arrays are to grow."""
    done = 0
    while done < steps:
        room = arena.size[KNOWN] + 2 <= arena.node.shape[0] or arena.node.shape[0] == rule.states
        if not room or arena.size[EDGES] + 1 > arena.edge.shape[0]:
            break
        plan_lines(formula_at(formula), rule, arena, lines)
        action = act_local(rule, arena, lines, state, stream)
        pair, u = state * rule.actions + action, uniform(environment)
        k = world.first[pair]
        while k < world.first[pair + 1] - 1 and u >= world.cumulative[k]:
            k += 1
        paid[0] += world.reward[k]
        learn_sample(
            arena, rule.actions, freeze_at, False, state, action, world.reward[k], world.next_state[k], False
        )  # fmt: skip
        state = world.next_state[k]
        done += 1
    return done, state
