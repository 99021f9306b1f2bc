"""h from the lifetime: at a few moments, the h with which copies of the agent earn most until the end.

At the beginning, after |S||A| samples, and whenever they have doubled since, models are drawn from what the agent
believes (`hreach.kernels.imagined`), and in each of them copies of the agent live the rest of the lifetime, one with
every h of `GRID` (`hreach.kernels.copies`). The h with the best mean is used until the next time. So h is large as long
as there may be something to find and time to enjoy it, and falls to 0 towards the end. It is measured, not proved:
benchmarks/LIFETIME.md.

What keeps the comparison cheap and sharp: the copies of one model meet the same chance; an h that lies behind the best
one by `HOPELESS` standard errors of the difference is dropped; the mean of an h is taken together with its neighbours'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, Formula, compiled
from hreach.kernels.copies import live
from hreach.kernels.imagined import draw_model, share_that_stays
from hreach.kernels.state import Rule, Seen, Table, copy_array
from hreach.protocols import Stream
from hreach.randomness.streams import branch, uniform

GRID = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
HOPELESS = 4.0
FEWEST = 8  # models before anything is dropped, and between two times that it is
_LIFETIME, _MODELS, _BELIEF = 1, 2, 3  # the places of constants; the belief is all the rest


def doubling_times(
    t: float, parameters: Array, total: Array, value: Array, q: Array, gamma: float, v_min: float,
    constants: Array, stream: Stream,
) -> tuple[float, float]:  # fmt: skip
    """Look ahead now, and again when the samples have doubled, but not before |S||A| of them; never after the end."""
    if t >= parameters[0, 0, _LIFETIME]:
        return np.inf, 0.0
    return max(2.0 * t, float(total.size)), 1.0


@compiled
def drop_hopeless(earned: Array, models: int, kept: NDArray[np.bool_], means: Array) -> None:
    """Of what every h (columns) earned in the first models (rows): the means, and which h are kept from here on."""
    best = -1
    for c in range(kept.size):
        if kept[c]:
            means[c] = 0.0
            for k in range(models):
                means[c] += earned[k, c] / models
            if best < 0 or means[c] > means[best]:
                best = c
    for c in range(kept.size):
        if kept[c] and c != best:
            behind, square = means[best] - means[c], 0.0
            for k in range(models):
                square += (earned[k, best] - earned[k, c] - behind) ** 2
            kept[c] = not behind > HOPELESS * np.sqrt(square / (models * (models - 1.0)))


@compiled
def best_with_neighbours(means: Array, kept: NDArray[np.bool_]) -> int:
    """The h that is kept whose mean, averaged with those of its neighbours that are kept, is largest."""
    best, most = 0, -np.inf
    for c in range(kept.size):
        together, count = 0.0, 0.0
        for near in range(max(c - 1, 0), min(c + 2, kept.size)):
            if kept[near]:
                together += means[near]
                count += 1.0
        if kept[c] and together / count > most:
            best, most = c, together / count
    return best


@compiled
def _begin(seen: Seen, copy: Seen, constants: Array, h: float) -> None:
    """The copy has seen what the agent has, and has this h."""
    copy_array(seen.counts, copy.counts)
    copy_array(seen.ended, copy.ended)
    copy_array(seen.total, copy.total)
    copy_array(seen.reward_sum, copy.reward_sum)
    for s in range(constants.shape[0]):
        for a in range(constants.shape[1]):
            constants[s, a, 0] = h


def best_of_grid(formula: Formula, rule: Rule, seen: Seen, table: Table, stream: Stream) -> None:
    """Every pair's h, the first of its constants, becomes the one of `GRID` that promises most."""
    states, actions = seen.total.shape
    pairs, models, b = states * actions, int(rule.parameters[0, 0, _MODELS]), table
    steps = rule.parameters[0, 0, _LIFETIME] - seen.samples[0]
    belief, stays = rule.parameters[:, :, _BELIEF:], share_that_stays(rule, seen)
    grid = np.array(GRID)
    copy = Seen(
        seen.counts.copy(), seen.ended.copy(), seen.total.copy(), seen.reward_sum.copy(), seen.terminal, seen.open,
        seen.samples, seen.here, seen.news,
    )  # fmt: skip
    own = Table(
        b.mean.copy(), b.gone.copy(), b.parting.copy(), b.reach.copy(), b.base.copy(), b.radius.copy(), b.value.copy(),
        b.q.copy(), b.order.copy(), b.target.copy(), b.matrix.copy(), b.constants.copy(), b.certain, b.due,
    )  # fmt: skip
    value, due, weights = np.empty((grid.size, states)), np.empty((states, actions)), np.empty(states)
    cumulative, pays = np.empty((pairs, 2 * states if rule.ends else states)), np.zeros((states, actions))
    order, means = np.empty((pairs, states)), np.zeros(grid.size)
    first, streams = np.empty((pairs + 1, 4), np.uint64), np.empty((pairs + 1, 4), np.uint64)
    earned, kept = np.zeros((models, grid.size)), np.ones(grid.size, np.bool_)
    value[:] = b.value
    for i in range(order.size):
        order[i // states, i % states] = uniform(stream)
    size = 1
    while size < models:
        size *= 2
    for k in range(models):
        draw_model(rule, seen, belief, stays, order, k, size, weights, cumulative, pays, stream)
        for i in range(pairs + 1):
            branch(stream, first[i])
        for c in range(grid.size):
            if kept[c]:
                _begin(seen, copy, own.constants, grid[c])
                streams[:] = first
                earned[k, c] = live(
                    formula, rule, copy, own, value[c], due, cumulative, pays, streams, streams[pairs], steps
                )
        if (k + 1) % FEWEST == 0 or k == models - 1:
            drop_hopeless(earned, k + 1, kept, means)
    h = grid[best_with_neighbours(means, kept)]
    for s in range(states):
        for a in range(actions):
            b.constants[s, a, 0] = h
