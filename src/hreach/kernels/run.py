"""Whole runs: plan, act, step, learn, without coming back to Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, Formula, Schedule, at, compiled, inlined, merged
from hreach.kernels.acting import choose
from hreach.kernels.ends import follow, meet
from hreach.kernels.optimistic import refresh
from hreach.kernels.planning import any_ball, plan_arrays
from hreach.kernels.schedule import catch_up, renew
from hreach.kernels.state import Rule, Seen, Table, World, copy_array
from hreach.randomness.streams import uniform


@inlined
def draw(cumulative: Array, first: int, end: int, u: float) -> int:
    """First entry k of first .. end - 1 with u < cumulative[k] (the last one at the latest).

    Entries ascend, so those up to u are counted: leaving a loop by chance costs more, as no processor foresees it.
    """
    k = first
    for j in range(first, end - 1):
        k += u >= cumulative[at(j)]
    return k


@merged
def _restore(begin: tuple[Seen, Table], seen: Seen, table: Table) -> None:
    """seen, table <- begin."""
    old, plan = begin
    copy_array(old.counts, seen.counts)
    copy_array(old.ended, seen.ended)
    copy_array(old.total, seen.total)
    copy_array(old.reward_sum, seen.reward_sum)
    copy_array(old.samples, seen.samples)
    for s in range(old.open.size):
        seen.terminal[s] = old.terminal[s]
        seen.open[s] = old.open[s]
        table.order[s] = plan.order[s]
    for k in range(old.news.size):
        seen.news[k] = old.news[k]
    seen.here[0], seen.here[1] = old.here[0], old.here[1]
    copy_array(plan.mean, table.mean)
    copy_array(plan.gone, table.gone)
    copy_array(plan.parting, table.parting)
    copy_array(plan.reach, table.reach)
    copy_array(plan.base, table.base)
    copy_array(plan.radius, table.radius)
    copy_array(plan.value, table.value)
    copy_array(plan.constants, table.constants)
    copy_array(plan.certain, table.certain)
    copy_array(plan.due, table.due)


@inlined
def ends_here(end: float, environment: NDArray[np.uint64]) -> bool:
    """Whether a transition that ends with this probability does; draws only where chance decides."""
    return end >= 1.0 or (end > 0.0 and uniform(environment) < end)


@merged
def _walk(
    formula: Formula, rule: Rule, seen: Seen, table: Table, world: World, environment: NDArray[np.uint64],
    stream: NDArray[np.uint64], state: int, paid: Array, over: NDArray[np.bool_], run: int, begun: int, end: int,
    once: bool, stop: NDArray[np.bool_], stale: bool,
) -> tuple[int, bool]:  # fmt: skip
    """Steps begun .. end - 1 of a run, from `state`; fills paid[run, begun:end], and returns the state after them.
    `over` is filled alike with whether the episode ended, unless it has no columns.

    An episode that ends is followed by a new one, or, if the run is for one episode only (`once`), by nothing: -1.
    `stale`: whether to plan before the first action; the same is returned for what comes after the last one.

    The same steps as `plan`, `act` and `learn`, on arrays taken out of their tuples once: taking them out at
    every step costs more than planning does. Once `stop` is set, nothing that follows means anything.
    """
    actions = seen.total.shape[1]
    reward, preference = rule.reward, rule.preference
    first, successor, cumulative, pays = world.first, world.next_state, world.cumulative, world.reward
    gamma, cap, tolerance = rule.gamma, rule.value_cap, rule.tolerance
    r_min, r_max, v_max, ends = rule.r_min, rule.r_max, rule.v_max, rule.ends
    reward_share, draws = rule.reward_share, rule.draws
    freeze_at, random_action = rule.freeze_at, rule.random_action
    counts, ended, total, reward_sum = seen.counts, seen.ended, seen.total, seen.reward_sum
    constants, terminal = table.constants, seen.terminal
    mean, gone, parting, reach = table.mean, table.gone, table.parting, table.reach
    base, radius = table.base, table.radius
    value, q, order, target, matrix = table.value, table.q, table.order, table.target, table.matrix
    balls = any_ball(radius)
    for t in range(begun, end):
        while stale and not stop[0]:
            _, _, finished = plan_arrays(
                mean, gone, parting, reach, base, radius, reward, gamma, cap, tolerance,
                value, q, target, order, matrix, actions, balls, ends,
            )  # fmt: skip
            stale = not finished
        if stop[0]:
            break
        i = state * actions
        action = choose(q, i, i + actions, random_action, preference, stream)
        pair = at(i + action)
        k = at(draw(cumulative, first[pair], first[at(i + action + 1)], uniform(environment)))
        done = ends and ends_here(world.end[k], environment)
        paid[run, at(t)] = pays[k]
        if over.shape[1] > 0:
            over[run, at(t)] = done
        if ends:
            follow(seen, state, successor[k], done)
        changed = ends and meet(seen, state, successor[k], done)
        stale = changed
        s, a = at(state), at(action)
        if total[s, a] < freeze_at:
            counts[s, a, at(successor[k])] += 1.0
            if ends:
                ended[s, a, at(successor[k])] += done
            total[s, a] += 1.0
            reward_sum[s, a] += pays[k]
            if not draws and not changed:
                refresh(
                    formula, state, action, counts, ended, terminal, total, reward_sum, mean, gone, parting, reach,
                    base, radius, reward, constants, r_min, r_max, v_max, reward_share, ends,
                )  # fmt: skip
            stale = not draws or changed
            balls = balls or radius[pair] > 0.0
        if changed:
            renew(formula, rule, seen, table, stream)
            balls = any_ball(radius)
        state = successor[k]
        if done:
            if once:
                return -1, stale
            state = draw(world.start, 0, world.start.size, uniform(environment))
    return state, stale


@compiled
def simulate(
    schedule: Schedule,
    formula: Formula,
    rule: Rule,
    begin: tuple[Seen, Table],
    scratch: tuple[Seen, Table],
    world: World,
    streams: NDArray[np.uint64],
    paid: Array,
    over: NDArray[np.bool_],
    once: bool,
    stop: NDArray[np.bool_],
) -> None:
    """Runs 0 .. runs - 1, each from `begin`; streams: (runs, 2, 4); paid: (runs, steps) is filled, and so is over,
    (runs, steps) or (runs, 0), with which steps ended an episode.

    `scratch` has the shapes of `begin`. A run is one call of `_walk`, or, where the optimism has a schedule, one
    between two of the times that it names. `once`: a run ends with its first episode. `stop` (1,) may be set by another
    thread: the runs then end at once, unfinished.
    """
    runs, steps = paid.shape
    seen, table = scratch
    for run in range(runs):
        _restore(begin, seen, table)
        environment, stream = streams[run, 0], streams[run, 1]
        state = draw(world.start, 0, world.start.size, uniform(environment))
        first, stale = seen.samples[0], True
        done = 0
        while done < steps and state >= 0 and not stop[0]:
            stale = catch_up(schedule, formula, rule, seen, table, stream) or stale
            until = int(min(np.ceil(table.due[0] - first), float(steps)))
            state, stale = _walk(
                formula, rule, seen, table, world, environment, stream, state, paid, over, run, done, until, once,
                stop, stale,
            )  # fmt: skip
            done = until
            seen.samples[0] = first + done
            if not rule.ends:  # `_walk` follows where episodes end
                seen.here[0] = state
