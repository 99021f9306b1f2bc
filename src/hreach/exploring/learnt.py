"""What a run has learnt: what was counted as plain arrays, and the best policy for it, certainty-equivalent.

    Q(s, a) = r^(s, a) + gamma sum_s' P^(s'|s, a) V(s'),    V(s) = max_a Q(s, a) over the actions that were tried

An action that was never tried is never the learnt one's choice, and a state in which nothing was tried is worth the
least there is, unless episodes ended there: then it is worth 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from hreach.kernels.local_state import CLOSED, COUNT, EDGES, ENDED, FLAGS, PAIR, TIMES, TO
from hreach.models.counts import Counts
from hreach.models.sparse_counts import SparseCounts
from hreach.problems.certified import solve
from hreach.problems.mdp import TabularMDP
from hreach.problems.problem import Problem
from hreach.protocols import Bools, Floats, Ints

EXACT = 3000  # states up to which values are exact; above, within PRECISION of the range of values
PRECISION = 1e-4


@dataclass(frozen=True)
class Tally:
    """What was counted in S states: entry i says that `state`, `action` was followed n[i] times by `following`.

    ended    how many of the n ended the episode
    tried, paid   (S, A) samples, and the sum of what they paid
    closed   (S,) states in which episodes ended and which nothing was seen to leave
    ends     whether an episode has ended
    """

    state: Ints
    action: Ints
    following: Ints
    n: Ints
    ended: Ints
    tried: Ints
    paid: Floats
    closed: Bools
    ends: bool

    @property
    def visits(self) -> Ints:
        """(S,) how often each state was left."""
        return np.asarray(self.tried.sum(axis=1))

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return int(self.tried.sum())


def tally_of(model: SparseCounts | Counts, states: int) -> Tally:
    """What a model has counted, of states 0 .. states - 1."""
    return _of_sparse(model, states) if isinstance(model, SparseCounts) else _of_table(model, states)


def _of_sparse(model: SparseCounts, states: int) -> Tally:
    arena, actions, met = model.arena, model.problem.actions, model.met
    edge = arena.edge[: arena.size[EDGES]].astype(np.int64)
    pairs = len(met) * actions
    tried, paid = np.zeros((states, actions), dtype=np.int64), np.zeros((states, actions))
    tried[met] = arena.tally[:pairs, COUNT].reshape(-1, actions)
    paid[met] = arena.paid[:pairs].reshape(-1, actions)
    closed = np.zeros(states, dtype=np.bool_)
    closed[met] = (arena.node[: len(met), FLAGS] & CLOSED) > 0
    ended = edge[:, ENDED] if edge.shape[1] > ENDED else np.zeros(len(edge), dtype=np.int64)
    state, action, following = met[edge[:, PAIR] // actions], edge[:, PAIR] % actions, met[edge[:, TO]]
    order = np.lexsort((following, action, state))
    state, action, following, n, ended = (column[order] for column in (state, action, following, edge[:, TIMES], ended))
    return Tally(state, action, following, n, ended, tried, paid, closed, model.problem.ends)


def _of_table(model: Counts, states: int) -> Tally:
    seen = model.seen
    counts = np.rint(seen.counts[:states, :, :states]).astype(np.int64)
    state, action, following = (np.asarray(place, dtype=np.int64) for place in np.nonzero(counts))
    ended = np.rint(seen.ended[state, action, following]).astype(np.int64)
    return Tally(
        state,
        action,
        following,
        counts[state, action, following],
        ended,
        counts.sum(axis=2),
        seen.reward_sum[:states].copy(),
        seen.terminal[:states].copy(),
        model.problem.ends,
    )


def counted(tally: Tally, problem: Problem) -> Counts:
    """A table that has counted the same; `problem` has a prior of 0."""
    model = Counts(problem)
    seen, at = model.seen, (tally.state, tally.action, tally.following)
    seen.counts[at], seen.ended[at] = tally.n, tally.ended
    seen.total[...], seen.reward_sum[...] = tally.tried, tally.paid
    seen.terminal[...] = tally.closed
    seen.samples[0] = tally.samples
    return model


class Learnt:
    """The certainty-equivalent policy of what was counted, and its values."""

    def __init__(self, tally: Tally, problem: Problem) -> None:
        self.tally, self.problem = tally, problem

    @cached_property
    def _mdp(self) -> TabularMDP:
        """The frequencies as an MDP; what was never tried stays where it is and pays the least."""
        tally, (states, actions) = self.tally, self.tally.tried.shape
        lowest = self.problem.values.low * (1 - self.problem.gamma)
        tried = tally.tried.reshape(-1)
        idle = np.flatnonzero(tried == 0)
        row = tally.state * actions + tally.action
        rows, columns = np.concatenate([row, idle]), np.concatenate([tally.following, idle // actions])
        chance = np.concatenate([tally.n / tried[row], np.ones(idle.size)])
        over = np.concatenate([tally.ended / tally.n, np.zeros(idle.size)])
        P, end = (sparse.csr_array((x, (rows, columns)), shape=(states * actions, states)) for x in (chance, over))
        reward = np.full(states * actions, lowest)
        np.divide(tally.paid.reshape(-1), tried, out=reward, where=tried > 0)
        reward = np.where(np.repeat(tally.closed, actions), 0.0, reward)
        return TabularMDP(P, reward.reshape(states, actions), self.problem.gamma, end=end if tally.ends else None)

    @cached_property
    def values(self) -> Floats:
        """(S,) what the policy is worth, if the frequencies are the truth."""
        if self._mdp.states <= EXACT:
            return self._mdp.optimal_value()
        return solve(self._mdp, PRECISION * max(self.problem.values.span, 1e-12)).value

    @cached_property
    def action_values(self) -> Floats:
        """(S, A) of one action, followed by the policy; nan where the action was never tried."""
        return np.where(self.tally.tried > 0, self._mdp.backup(self.values), np.nan)

    @cached_property
    def policy(self) -> Ints:
        """(S,) the best action that was tried, of equally good ones the one tried most, then the lowest; else 0."""
        q = np.where(self.tally.tried > 0, self.action_values, -np.inf)
        best = q.max(axis=1, keepdims=True)
        near = 1e-9 * np.maximum(1.0, np.abs(np.where(np.isfinite(best), best, 0.0)))
        return np.asarray(np.argmax(np.where(q >= best - near, self.tally.tried, -1), axis=1), dtype=np.int64)
