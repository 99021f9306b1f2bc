"""Steps of a run with a local plan, without coming back to Python: plan, act, step, learn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled, formula_at
from hreach.kernels.local_act import choose_local
from hreach.kernels.local_learn import learn_sample
from hreach.kernels.local_plan import plan_lines
from hreach.kernels.local_state import EDGES, KNOWN, Arena, Lines, LocalRule
from hreach.kernels.run import draw, ends_here
from hreach.kernels.state import World
from hreach.randomness.streams import uniform


@compiled
def has_room(rule: LocalRule, arena: Arena, lines: Lines) -> bool:
    """Whether one more sample fits: two states and an edge."""
    states = min(arena.node.shape[0], lines.value.shape[0])
    fits = arena.size[KNOWN] + 2 <= states or states == rule.states
    return bool(fits and arena.size[EDGES] + 1 <= arena.edge.shape[0])


@compiled
def begin_local(world: World, environment: NDArray[np.uint64]) -> int:
    """The first state of an episode: as `draw` has it, by bisection."""
    u, low, high = uniform(environment), 0, world.start.size - 1
    while low < high:
        middle = (low + high) // 2
        if u < world.start[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def walk_local(
    formula: int, rule: LocalRule, freeze_at: float, arena: Arena, lines: Lines, world: World,
    environment: NDArray[np.uint64], stream: NDArray[np.uint64], state: int, stale: bool, paid: Array,
    over: NDArray[np.bool_],
) -> tuple[int, int, bool]:  # fmt: skip
    """(steps taken, the state after them, whether the plan is stale); one step for each entry of `paid`, which is
    filled, as is `over` with whether an episode ended, if it has entries. It comes back early when arrays are to grow.

    The same steps as those of `hreach.run` with an agent that plans locally.
    """
    for t in range(paid.size):
        if not has_room(rule, arena, lines):
            return t, state, stale
        if stale:
            plan_lines(formula_at(formula), rule, arena, lines)
        action = choose_local(rule, arena, lines, state, rule.random_action, stream)
        pair = state * rule.actions + action
        k = draw(world.cumulative, world.first[pair], world.first[pair + 1], uniform(environment))
        done = rule.ends and ends_here(world.end[k], environment)
        paid[t] = world.reward[k]
        if over.size > 0:
            over[t] = done
        following = world.next_state[k]
        stale = learn_sample(arena, rule.actions, freeze_at, rule.ends, state, action, paid[t], following, done)
        state = following
        if done:
            state = begin_local(world, environment)
    return paid.size, state, stale
