"""How much of h more samples each outcome can get, whatever the truth: the rooms of the box.

The reachable model nearest to the truth P is P^{d*} = (alpha + k)/w, k whole, w = n + prior + h. With the deficit
d_i = w P_i - alpha_i, an outcome gets k_i <= ceil(d_i) units, none if d_i <= 0, and all units together exceed the
deficits by at most min(h, K/4): the m largest of c remainders, which add up to m or more, are rounded up, and lose at
most m (1 - m/c) <= c/4. So with P in its set and p_max,i the largest weight of i in there

    k_i <= ceil(w p_max,i - alpha_i)^+                      of an outcome that was seen
    sum k_i <= floor(w (1 - e^{-b}) + min(h, K/4))          of all that were not, together
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled

ROUNDED = 1e-9  # deficits are rounded to so much before units are counted (`hreach.reach.weight`)


@compiled
def most_share(p: float, b: float) -> float:
    """The upper root q of kl(p | q) = b: the largest weight of an outcome of frequency p in its set.

    kl is convex in q: Newton's method from the right stays there, so that any number of steps gives an upper bound.
    """
    if p >= 1.0 or not b < np.inf:
        return 1.0
    if p <= 0.0:
        return 1.0 - math.exp(-b)
    less = (1.0 - p) * math.exp((p * math.log(p) - b) / (1.0 - p))  # 1 - q, where q counts as 1 in p ln(p/q)
    for _ in range(30):
        q = 1.0 - less
        if less <= 0.0 or q <= p:
            break
        above = p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / less) - b
        if above <= 1e-9 * b:
            break
        less += above * q * less / (q - p)
    return 1.0 - less


@compiled
def rooms(
    first: NDArray[np.int64], count: Array, total: Array, budget: Array, h: float, prior: float, share: float,
    units: float, open_: bool, room: Array, spare: Array,
) -> None:  # fmt: skip
    """room (M,) of each entry, spare (N,) of what has none, in units of probability.

    share   of the prior on one next state; units: min(h, K/4); open_: whether outcomes may follow that have no entry
    """
    for i in range(total.size):
        n, b, weight = total[i], budget[i], total[i] + prior + h
        spare[i] = 0.0
        if open_ and weight > 0.0:
            spare[i] = math.floor(weight * (1.0 - math.exp(-b)) + units + 1e3 * ROUNDED) / weight
        for k in range(first[i], first[i + 1]):
            most = most_share(count[k] / n, b) if n > 0.0 else 1.0
            units_k = math.ceil(weight * most - count[k] - prior * share + ROUNDED)
            room[k] = max(units_k, 0.0) / weight if weight > 0.0 else 0.0
