"""Models drawn from what an agent believes: rare outcomes are among them in their proportions.

What a pair does has a Dirichlet distribution whose weights are the samples and a belief. The belief is given, one
weight for each next state, or it is a number theta and learns from the pairs that were tried, as a Pitman-Yor process
does: with m next states seen so far,

    alpha(s') = n(s') - d [n(s') > 0] + (theta + d m) (stays [s' = s] + (1 - stays) / |S|),     d = 3/4,

stays the mean share of samples that stayed where they were, over the pairs that were tried and `LEAVING` more that
never did: a first pair that stays is little evidence that all the others do. A pair of which little is known does one
thing, mostly; one that was tried and did several may well do yet another. The end after a next state, where it was
seen, weighs its samples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled
from hreach.kernels.posterior import boosted, draw_reward
from hreach.kernels.state import Rule, Seen
from hreach.randomness.streams import uniform

DISCOUNT = 0.75  # d
LEAVING = 6.0  # pairs


@compiled
def share_that_stays(rule: Rule, seen: Seen) -> float:
    """How much of its samples a pair stayed where it was, on average over pairs that were tried."""
    stayed, tried = 0.0, LEAVING
    states, actions = seen.total.shape
    for s in range(states):
        for a in range(actions):
            samples = seen.total[s, a] - rule.prior
            if samples > 0.5:
                tried += 1.0
                stayed += max(seen.counts[s, a, s] - rule.prior / states, 0.0) / samples
    return min(stayed / tried, 1.0)


@compiled
def _weights(rule: Rule, seen: Seen, belief: Array, stays: float, s: int, a: int, weights: Array) -> None:
    """alpha of going on to each next state, into weights (S,); belief: (S, A, S), or (S, A, 1) for theta."""
    states = seen.total.shape[0]
    given = belief.shape[2] == states > 1
    theta = belief[s, a, 0]
    for j in range(states):
        weights[j] = seen.counts[s, a, j] - seen.ended[s, a, j] - rule.prior / states
        if weights[j] > 0.5 and not given:
            weights[j] -= DISCOUNT
            theta += DISCOUNT
    for j in range(states):
        share = (1.0 - stays) / states + (stays if j == s else 0.0)
        weights[j] += belief[s, a, j] if given else theta * share


@compiled
def stratum(order: float, k: int, size: int) -> int:
    """The k-th of the numbers 0 .. size - 1 (size a power of 2) in one of many orders, chosen by a number in [0, 1):
    a k + b modulo size, a odd."""
    scaled = order * size
    b = np.floor(scaled)
    a = 2.0 * np.floor((scaled - b) * size / 2.0) + 1.0
    return int(a * k + b) % size


@compiled
def draw_model(
    rule: Rule, seen: Seen, belief: Array, stays: float, order: Array, k: int, size: int, weights: Array,
    cumulative: Array, pays: Array, stream: NDArray[np.uint64],
) -> None:  # fmt: skip
    """The k-th of `size` models, a power of 2, as the cumulative rows of its outcomes: (S A, S) or, where episodes can
    end, (S A, 2 S); of rewards that are learnt a draw (`posterior`), into pays (S, A). weights (S,) is workspace.

    How large a part of weight below 1 becomes is decided by a number that, over the models, falls once into each of
    `size` equal intervals, in an order of its own, order (S A, S) in [0, 1): each rare next state is likely in as many
    models as it should be, and not by chance.
    """
    states, actions = seen.total.shape
    for i in range(states * actions):
        s, a = i // actions, i % actions
        _weights(rule, seen, belief, stays, s, a, weights)
        total = 0.0
        for j in range(states):
            u = (stratum(order[i, j], k, size) + uniform(stream)) / size
            total += boosted(weights[j], u, stream)
            cumulative[i, j] = total
        for j in range(states, cumulative.shape[1]):
            total += boosted(seen.ended[s, a, j - states], uniform(stream), stream)
            cumulative[i, j] = total
        for j in range(cumulative.shape[1]):
            cumulative[i, j] = cumulative[i, j] / total if total > 0.0 else min(1.0, (j + 1.0) / states)
        if rule.reward.shape[0] == 0:
            pays[s, a] = draw_reward(rule, seen, s, a, stream)
