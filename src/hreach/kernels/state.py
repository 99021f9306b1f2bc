"""What the kernels pass around: the rule of a run, what was seen, the planner's table, the world; a few constants."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled

TIE = 1e-9  # relative difference below which two action values count as equal
PIECE = 1 << 22  # multiplications of sweeps between two looks at the world: some milliseconds
FINEST = 4e-16  # relative residual below which doubles cannot go
NEWS = 64  # pairs that a model remembers to have changed; of more, all count as changed


class Rule(NamedTuple):
    """What stays fixed during a run."""

    reward: Array  # known reward: (S, A, S), or (S, A, 1) if it does not depend on s'; (0, 0, 0) if unknown
    parameters: Array  # (S, A, P), the formula's constants for each pair, or what a schedule makes them of
    preference: NDArray[np.int64]  # actions in the order in which ties are broken; empty: at random
    gamma: float
    tolerance: float
    r_min: float
    r_max: float
    v_min: float
    v_max: float
    value_cap: float
    freeze_at: float  # a pair with this much weight learns no more
    random_action: float  # probability of an action drawn uniformly
    reward_share: float  # of the reach of a pair, what counts for a reward that is learnt: `refresh`
    asks_certainty: bool  # the schedule wants the certainty-equivalent values: `revise`
    draws: bool  # what is planned with is a draw from the posterior, renewed when the schedule says so
    ends: bool  # whether an episode can end
    prior: float  # weight of the prior in the counts of a pair
    lookahead: int  # address of what chooses constants when the schedule has changed something; 0: nothing does


class Seen(NamedTuple):
    """What was counted: all that a model of counts remembers."""

    counts: Array  # (S, A, S) alpha(s, a, s'): prior weight and samples
    ended: Array  # (S, A, S) how many of these samples ended the episode
    total: Array  # (S, A) alpha(s, a), the sum of counts
    reward_sum: Array  # (S, A) sum of rewards, the prior's included
    terminal: NDArray[np.bool_]  # (S,) closed: episodes ended here, and nothing was seen to go on from here
    open: NDArray[np.bool_]  # (S,) left, or entered without an end
    samples: Array  # (1,) how many samples were learnt
    here: NDArray[np.int64]  # (2,) where the last sample led (-1: to an end), and where its episode began
    news: NDArray[np.int64]  # (1 + NEWS,) how many pairs changed since the last plan, and which; -1: any


class Table(NamedTuple):
    """What a planner holds: the optimistic model, the plan, the constants in force.

    Pair i = s A + a is lane i % 4 of block i // 4, and arrays over pairs are padded to whole blocks: a sweep keeps
    four sums going, so that the additions of one do not wait for each other; each sum runs in the order of the states.
    """

    mean: Array  # (blocks, S, 4) (1 - w) times the mean model, without what ended in open states
    gone: Array  # (4 blocks,) (1 - w) times the weight of that
    parting: Array  # (4 blocks,) where the reward depends on s': the mean reward of that
    reach: Array  # (4 blocks,) w
    base: Array  # (4 blocks,) bonus, plus the reward unless it depends on s'
    radius: Array  # (4 blocks,)
    value: Array  # (S,)
    q: Array  # (4 blocks,)
    order: NDArray[np.int64]  # (S,) workspace
    target: Array  # (S,) workspace
    matrix: Array  # (S, S + 1) workspace
    constants: Array  # (S, A, P), the formula's constants now
    certain: Array  # (S,) where the schedule asks: the certainty-equivalent value when constants were last revised
    due: Array  # (1,) the number of samples at which constants are to be revised (inf: never)


class World(NamedTuple):
    """A tabular MDP as cumulative rows: pair (s, a) owns the entries first[s A + a] .. first[s A + a + 1] - 1."""

    first: NDArray[np.int64]  # (S A + 1,)
    next_state: NDArray[np.int64]  # (nonzeros,)
    cumulative: Array  # (nonzeros,) cumulative probability within the row
    reward: Array  # (nonzeros,) reward paid for this transition
    end: Array  # (nonzeros,) probability that this transition ends the episode
    start: Array  # (S,) cumulative start distribution


@compiled
def copy_array(source: Array, to: Array) -> None:
    """to <- source, of one shape: every number in order."""
    a, b = source.reshape(source.size), to.reshape(to.size)
    for i in range(a.size):
        b[i] = a[i]
