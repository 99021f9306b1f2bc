"""How h grows: schedules of `TabularOptimism` (`hreach.kernels.schedule`). What they buy: `hreach.optimism.pac_rmdp`.

Constants are brought up to date when t + 2 has grown by the factor `TICK`: at every step until t = 98, and once in 1 %
of the run then, so that they stay within ln(TICK) < .01 of ln(t + 2) times their parameter, and a step costs what it
costs with fixed constants.
"""

from __future__ import annotations

import numpy as np

from hreach.compiling import Array
from hreach.protocols import Stream

TICK = 1.01


def growing(
    t: float, parameters: Array, total: Array, value: Array, q: Array, gamma: float, v_min: float,
    constants: Array, stream: Stream,
) -> tuple[float, float]:  # fmt: skip
    """Constants are their parameters times ln(t + 2)."""
    factor = np.log(t + 2.0)
    for s in range(parameters.shape[0]):
        for a in range(parameters.shape[1]):
            for k in range(parameters.shape[2]):
                constants[s, a, k] = factor * parameters[s, a, k]
    return TICK * (t + 2.0) - 2.0, 1.0


def adaptive(
    t: float, parameters: Array, total: Array, value: Array, q: Array, gamma: float, v_min: float,
    constants: Array, stream: Stream,
) -> tuple[float, float]:  # fmt: skip
    """Those of `growing` times min(1, [(1 - gamma) (V(s) - v_min) / (V(s) - Q(s, a))]^2), V, Q without optimism:

    less where trying a once costs more than losing one step does. Rewards below r_min can make values lower than v_min;
    then the least of them takes its place.
    """
    states, actions = total.shape
    factor = np.log(t + 2.0)
    lowest = v_min
    for i in range(states * actions):
        lowest = min(lowest, q[i])
    for s in range(states):
        step = (1.0 - gamma) * (value[s] - lowest)
        for a in range(actions):
            cost = value[s] - q[s * actions + a]
            for k in range(parameters.shape[2]):
                constants[s, a, k] = factor * parameters[s, a, k]
                if cost > step:
                    constants[s, a, k] *= (step / cost) ** 2
    return TICK * (t + 2.0) - 2.0, 1.0


def never(
    t: float, parameters: Array, total: Array, value: Array, q: Array, gamma: float, v_min: float,
    constants: Array, stream: Stream,
) -> tuple[float, float]:  # fmt: skip
    """Constants stay."""
    return np.inf, 0.0
