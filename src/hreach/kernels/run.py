"""Whole runs: plan, act, step, learn, without coming back to Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, at, compiled, inlined
from hreach.kernels.acting import choose
from hreach.kernels.belief import refresh
from hreach.kernels.ends import meet
from hreach.kernels.planning import any_ball, plan_arrays
from hreach.kernels.schedule import due, grow
from hreach.kernels.state import Belief, Rule, World
from hreach.randomness.streams import uniform


@inlined
def _draw(cumulative: Array, first: int, end: int, u: float) -> int:
    """First entry k of first .. end - 1 with u < cumulative[k] (the last one at the latest)."""
    k = first
    while k < end - 1 and u >= cumulative[at(k)]:
        k += 1
    return k


@compiled
def _copy(source: Array, to: Array) -> None:
    a, b = source.reshape(source.size), to.reshape(to.size)
    for i in range(a.size):
        b[i] = a[i]


@compiled
def _restore(begin: Belief, belief: Belief) -> None:
    """belief <- begin."""
    _copy(begin.counts, belief.counts)
    _copy(begin.ended, belief.ended)
    _copy(begin.gone, belief.gone)
    _copy(begin.parting, belief.parting)
    _copy(begin.total, belief.total)
    _copy(begin.income, belief.income)
    _copy(begin.clock, belief.clock)
    _copy(begin.constants, belief.constants)
    _copy(begin.plain, belief.plain)
    _copy(begin.mean, belief.mean)
    _copy(begin.reach, belief.reach)
    _copy(begin.base, belief.base)
    _copy(begin.radius, belief.radius)
    _copy(begin.value, belief.value)
    for s in range(begin.order.size):
        belief.order[s] = begin.order[s]
        belief.terminal[s] = begin.terminal[s]
        belief.open[s] = begin.open[s]


@inlined
def _ends_here(end: float, environment: NDArray[np.uint64]) -> bool:
    """Whether a transition that ends with this probability does; draws only where chance decides."""
    return end >= 1.0 or (end > 0.0 and uniform(environment) < end)


@inlined
def _walk(
    formula: Any, rule: Rule, belief: Belief, world: World, environment: NDArray[np.uint64],
    coins: NDArray[np.uint64], state: int, paid: Array, over: NDArray[np.bool_], run: int, begun: int, end: int,
    once: bool, stop: NDArray[np.bool_],
) -> int:  # fmt: skip
    """Steps begun .. end - 1 of a run, from `state`; fills paid[run, begun:end], and returns the state after them.
    `over` is filled alike with whether the episode ended, unless it has no columns.

    An episode that ends is followed by a new one, or, if the run is for one episode only (`once`), by nothing: -1.

    The same steps as `plan`, `act` and `learn`, on arrays taken out of their tuples once: taking them out at
    every step costs more than planning does. Once `stop` is set, nothing that follows means anything.
    """
    actions = belief.total.shape[1]
    reward, preference = rule.reward, rule.preference
    first, successor, cumulative, pays = world.first, world.next_state, world.cumulative, world.reward
    gamma, cap, tolerance = rule.gamma, rule.value_cap, rule.tolerance
    r_min, r_max, v_max, ends = rule.r_min, rule.r_max, rule.v_max, rule.ends
    reward_share = rule.reward_share
    freeze_at, random_action = rule.freeze_at, rule.random_action
    counts, ended, total, income = belief.counts, belief.ended, belief.total, belief.income
    constants, terminal = belief.constants, belief.terminal
    mean, gone, parting, reach = belief.mean, belief.gone, belief.parting, belief.reach
    base, radius = belief.base, belief.radius
    value, q, order, target, matrix = belief.value, belief.q, belief.order, belief.target, belief.matrix
    stale = True
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
        action = choose(q, i, i + actions, random_action, preference, coins)
        pair = at(i + action)
        k = at(_draw(cumulative, first[pair], first[at(i + action + 1)], uniform(environment)))
        done = ends and _ends_here(world.end[k], environment)
        paid[run, at(t)] = pays[k]
        if over.shape[1] > 0:
            over[run, at(t)] = done
        stale = ends and meet(formula, rule, belief, state, successor[k], done)
        s, a = at(state), at(action)
        if total[s, a] < freeze_at:
            stale = True
            counts[s, a, at(successor[k])] += 1.0
            if ends:
                ended[s, a, at(successor[k])] += done
            total[s, a] += 1.0
            income[s, a] += pays[k]
            refresh(
                formula, state, action, counts, ended, terminal, total, income, mean, gone, parting, reach,
                base, radius, reward, constants, r_min, r_max, v_max, reward_share, ends,
            )  # fmt: skip
            balls = balls or radius[pair] > 0.0
        state = successor[k]
        if done:
            if once:
                return -1
            state = _draw(world.start, 0, world.start.size, uniform(environment))
    return state


@compiled
def simulate(
    formula: Any,
    rule: Rule,
    begin: Belief,
    belief: Belief,
    world: World,
    streams: NDArray[np.uint64],
    paid: Array,
    over: NDArray[np.bool_],
    once: bool,
    stop: NDArray[np.bool_],
) -> None:
    """Runs 0 .. runs - 1, each from the belief `begin`; streams: (runs, 2, 4); paid: (runs, steps) is filled, and so is
    over, (runs, steps) or (runs, 0), with which steps ended an episode.

    `belief` is scratch space of the same shapes as `begin`. A run is one walk, or, where constants grow, one walk
    after each time that they did. `once`: a run ends with its first episode. `stop` (1,) may be set by another thread:
    the runs then end at once, unfinished.
    """
    runs, steps = paid.shape
    for run in range(runs):
        _restore(begin, belief)
        environment, coins = streams[run, 0], streams[run, 1]
        state = _draw(world.start, 0, world.start.size, uniform(environment))
        done = min(steps, 0)  # a plain 0 is a literal, for which `_walk` would be compiled once more
        while done < steps and state >= 0 and not stop[0]:
            until = int(min(np.ceil(due(belief.clock[1]) - begin.clock[0]), float(steps)))
            state = _walk(
                formula, rule, belief, world, environment, coins, state, paid, over, run, done, until, once, stop
            )
            done = until
            if begin.clock[0] + done >= due(belief.clock[1]):
                grow(formula, rule, belief, begin.clock[0] + done)
