"""A draw from the posterior: of each pair a Dirichlet distribution, of a learnt reward a Beta distribution.

With g_j independent and Gamma(alpha_j)-distributed, (g_j / sum_k g_k) is Dirichlet(alpha)-distributed; the outcomes j
are the next states, and the end after each of them. A reward that is learnt, with the mean r of n samples in
[r_min, r_max], is r_min + (r_max - r_min) B with B ~ Beta(n x, n (1 - x)), x = (r - r_min)/(r_max - r_min): what n
rewards of r_min or r_max would teach (Agrawal & Goyal 2012).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import compiled, inner, merged
from hreach.kernels.optimistic import close
from hreach.kernels.state import Rule, Seen, Table
from hreach.randomness.streams import uniform


@compiled
def normal(stream: NDArray[np.uint64]) -> float:
    """A standard normal number, by the polar method (Marsaglia & Bray 1964); the second one is not kept."""
    while True:
        x, y = 2.0 * uniform(stream) - 1.0, 2.0 * uniform(stream) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return float(x * np.sqrt(-2.0 * np.log(square) / square))


@compiled
def gamma_variate(shape: float, stream: NDArray[np.uint64]) -> float:
    """A number with the Gamma(shape) distribution of scale 1 (Marsaglia & Tsang 2000); 0 for shape 0."""
    return boosted(shape, uniform(stream) if 0.0 < shape < 1.0 else 0.0, stream)


@inner
def boosted(shape: float, u: float, stream: NDArray[np.uint64]) -> float:
    """`gamma_variate` whose size, for a shape below 1, u in [0, 1) decides: Gamma(shape + 1) (1 - u)^(1/shape)."""
    if shape <= 0.0:
        return 0.0
    boost = 1.0
    if shape < 1.0:
        boost = (1.0 - u) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = normal(stream)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and np.log(1.0 - uniform(stream)) < 0.5 * x * x + d - d * v + d * np.log(v):
            return float(boost * d * v)


@inner
def draw_reward(rule: Rule, seen: Seen, s: int, a: int, stream: NDArray[np.uint64]) -> float:
    """R(s, a) as it is known, a draw of it where it is learnt, or 0 where it depends on s' (`draw_pair` adds that)."""
    if rule.reward.shape[0] > 0:
        return float(rule.reward[s, a, 0]) if rule.reward.shape[2] == 1 else 0.0
    weight, span = seen.total[s, a], rule.r_max - rule.r_min
    if weight <= 0.0 or span <= 0.0:
        return rule.r_min + span * uniform(stream)
    share = min(max((seen.reward_sum[s, a] / weight - rule.r_min) / span, 0.0), 1.0)
    high, low = gamma_variate(weight * share, stream), gamma_variate(weight * (1.0 - share), stream)
    return rule.r_min + span * (high / (high + low) if high + low > 0.0 else share)


@merged
def draw_pair(rule: Rule, seen: Seen, table: Table, s: int, a: int, stream: NDArray[np.uint64]) -> None:
    """A model of (s, a): drawn where something was seen or the prior weighs something, else uniform."""
    b, states, actions = table, seen.total.shape[0], seen.total.shape[1]
    i = s * actions + a
    going, ending = b.target, b.matrix[0]  # workspace (S,), (S + 1,)
    total = 0.0
    for j in range(states):
        going[j] = gamma_variate(seen.counts[s, a, j] - seen.ended[s, a, j], stream)
        ending[j] = gamma_variate(seen.ended[s, a, j], stream) if rule.ends else 0.0
        total += going[j] + ending[j]
    b.reach[i] = b.radius[i] = b.gone[i] = b.parting[i] = 0.0
    base = draw_reward(rule, seen, s, a, stream)
    pays = 0.0
    for j in range(states):
        b.mean[i // 4, j, i % 4] = going[j] / total if total > 0.0 else 1.0 / states
        if total > 0.0 and ending[j] > 0.0:
            b.gone[i] += ending[j] / total
            if rule.reward.shape[2] == states and states > 1:
                pays += ending[j] / total * rule.reward[s, a, j]
    if b.gone[i] > 0.0:
        b.parting[i] = pays / b.gone[i]
    b.base[i] = base + pays


@inner
def draw_all(rule: Rule, seen: Seen, table: Table, stream: NDArray[np.uint64]) -> None:
    """A model of every pair, drawn from the posterior."""
    states, actions = seen.total.shape
    for s in range(states):
        for a in range(actions):
            draw_pair(rule, seen, table, s, a, stream)
        if seen.terminal[s]:
            close(table, s, actions)
