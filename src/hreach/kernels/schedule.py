"""Constants that grow with time, and less where a try is dear."""

from __future__ import annotations

from typing import Any

import numpy as np

from hreach.compiling import Array, compiled
from hreach.kernels.belief import refresh_all
from hreach.kernels.planning import any_ball, plan_arrays
from hreach.kernels.state import TICK, Belief, Rule


@compiled
def due(since: float) -> float:
    """The number of samples at which constants that grew at `since` are to grow again: t + 2 is `TICK` times as large.

    That is at every step until t = 98, and once in 1 % of the life then: constants stay within ln(TICK) < .01 of
    ln(t + 2) times their parameter, and a step costs what it costs with fixed constants.
    """
    return TICK * (since + 2.0) - 2.0


@compiled
def grow(formula: Any, rule: Rule, belief: Belief, samples: float) -> None:
    """From here on the constants are `rule.parameters` times ln(samples + 2), and where they are adaptive times

        min(1, [(1 - gamma) (V(s) - v_min) / (V(s) - Q(s, a))]^2),    V, Q the values without hope:

    less where trying a once costs more than losing one step does. Rewards below r_min can make values lower than v_min;
    then the least of them takes its place.
    """
    b = belief
    states, actions = b.total.shape
    b.clock[1] = samples
    factor = np.log(samples + 2.0)
    if rule.adaptive:
        _set(b.constants, rule.parameters, 0.0)
        refresh_all(formula, rule, belief)
        finished = False
        while not finished:
            _, _, finished = plan_arrays(
                b.mean, b.gone, b.parting, b.reach, b.base, b.radius, rule.reward, rule.gamma, rule.value_cap,
                0.1 * rule.tolerance, b.plain, b.q, b.target, b.order, b.matrix, actions, any_ball(b.radius),
                rule.ends,
            )  # fmt: skip
    _set(b.constants, rule.parameters, factor)
    if rule.adaptive:
        lowest = rule.v_min
        for i in range(states * actions):
            lowest = min(lowest, b.q[i])
        for s in range(states):
            step = (1.0 - rule.gamma) * (b.plain[s] - lowest)
            for a in range(actions):
                cost = b.plain[s] - b.q[s * actions + a]
                if cost > step:
                    for k in range(b.constants.shape[2]):
                        b.constants[s, a, k] *= (step / cost) ** 2
    refresh_all(formula, rule, belief)


@compiled
def _set(constants: Array, parameters: Array, factor: float) -> None:
    """constants <- factor parameters."""
    for s in range(parameters.shape[0]):
        for a in range(parameters.shape[1]):
            for k in range(parameters.shape[2]):
                constants[s, a, k] = factor * parameters[s, a, k]
