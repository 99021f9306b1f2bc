"""Learning transition probabilities by counting.

    P^(s'|s, a) = alpha(s, a, s') / alpha(s, a),    alpha(s, a, s') = prior / |S| + n(s, a, s')

and of a transition to s' the share ended(s, a, s') / alpha(s, a, s') ends the episode.

The prior is the only difference between the two learning methods of the paper: with prior = 0 this is the sample mean
n(s, a, s') / n(s, a) (Discrete Domain), with prior > 0 the mean of a Dirichlet posterior whose first model is uniform
and weighs `prior` samples (Remark 2). A pair without any weight is modelled as uniform.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from operator import index

import numpy as np

from hreach import kernels
from hreach.compiling import resolved
from hreach.errors import require
from hreach.kernels import NEWS, Seen
from hreach.models.saved_counts import check_counts
from hreach.problems.problem import Problem
from hreach.problems.spaces import index_of
from hreach.protocols import Arrays, Floats, Info, Ints, Outcomes, Pairs, State, Stream
from hreach.randomness.streams import generator


class RewardWarning(UserWarning):
    """A learnt reward was outside [r_min, r_max]."""


class Counts:
    """A model of `problem` by counting; a pair of weight `freeze_at` learns no more.

    Explicit state: `seen`, whose `counts` are alpha(s, a, s') and `ended`, shape (S, A, S), and `total` alpha(s, a).
    """

    def __init__(self, problem: Problem, freeze_at: float = math.inf) -> None:
        self.problem = problem
        self.freeze_at = float(freeze_at)
        self.version = 0
        self._states = problem.states
        self._warned = False
        shape = (problem.states, problem.actions)
        total = np.full(shape, float(problem.prior))
        self.seen = Seen(
            counts=np.full((*shape, problem.states), problem.prior / problem.states),
            ended=np.zeros((*shape, problem.states)),
            total=total,
            reward_sum=total * ((problem.r_min + problem.r_max) / 2),  # an unseen reward is the middle of the range
            terminal=np.zeros(problem.states, dtype=np.bool_),
            open=np.zeros(problem.states, dtype=np.bool_),
            samples=np.zeros(1),
            here=np.array([-1, -1], dtype=np.int64),
            news=np.array([-1] + [0] * NEWS, dtype=np.int64),
        )

    @property
    def samples(self) -> int:
        """How many samples were learnt."""
        return int(self.seen.samples[0])

    def state(self, field: str, value: State) -> int:
        """A state as a whole number from 0 to |S| - 1."""
        try:
            number = index(value)  # of whole numbers, NumPy's too, a third of the time of `int` and a comparison
        except TypeError:
            return index_of(field, value, self._states)
        return number if 0 <= number < self._states else index_of(field, value, self._states)

    def learn(
        self, state: State, action: int, reward: float, next_state: State, terminated: bool, info: Info | None = None
    ) -> None:
        """Learn from one transition; one that `terminated` the episode led to its end, after which nothing follows."""
        known = self.problem
        s, following = self.state("state", state), self.state("next_state", next_state)
        a = int(action)
        if not (0 <= a < known.actions and a == action):
            index_of("action", action, known.actions)
        paid = float(reward)
        if not (known.r_min <= paid <= known.r_max):
            self._outside(paid)
        if terminated and not known.ends:
            self.expect_ends()
        if self._learn(self.seen, self.freeze_at, self.problem.ends, s, a, paid, following, bool(terminated)):
            self.version += 1

    def expect_ends(self) -> None:
        """Episodes can end after all: from here on the end is an outcome of every pair, worth 0."""
        self.problem = replace(self.problem, ends=True)
        seen = self.seen
        entered = (seen.counts > self.problem.prior / self.problem.states).any(axis=(0, 1))
        seen.open[:] = entered | (seen.total > self.problem.prior).any(axis=1)
        seen.news[0] = -1
        self.version += 1

    def mean(self) -> Floats:
        """P^, shape (S, A, S)."""
        return predict(self.seen.counts)

    def mean_reward(self) -> Floats:
        """R as it is known, (S, A, 1) or (S, A, S), or as it was learnt, (S, A, 1)."""
        if self.problem.reward is not None:
            return self.problem.reward
        middle = np.full(self.seen.total.shape, (self.problem.r_min + self.problem.r_max) / 2)
        known = np.divide(self.seen.reward_sum, self.seen.total, out=middle, where=self.seen.total > 0)
        return np.asarray(known[:, :, None])

    def outcomes(self, pairs: Pairs[Ints], shift: Floats | None = None) -> Outcomes[Ints]:
        """Every next state, once as what goes on and once as the end; those of weight 0 are left out."""
        require(shift is None, "shift", shift, "None: counts predict no numbers that could be moved")
        s, a = pairs.states, pairs.actions
        chance = predict_outcomes(self.seen.counts[s, a], self.seen.ended[s, a])
        rows, columns = np.nonzero(chance > 0)
        following = columns % self.problem.states
        reward = self.mean_reward()[s, a]
        paid = reward[rows, following] if reward.shape[1] > 1 else reward[rows, 0]
        goes_on = (columns < self.problem.states) & ~self.seen.terminal[following]
        first = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(s)))])
        return Outcomes(first, following, chance[rows, columns], paid, goes_on)

    def leverage(self, pairs: Pairs[Ints]) -> Floats:
        """1 / n, (N, 1); infinite where nothing was seen."""
        total = self.seen.total[pairs.states, pairs.actions]
        return np.asarray(np.divide(1.0, total, out=np.full(total.shape, np.inf), where=total > 0)[:, None])

    def error(self) -> Floats:
        """(1,) 0: frequencies are the mean of what was seen."""
        return np.zeros(1)

    def sample(self, stream: Stream) -> Counts:
        """Counts of the same weight whose mean is a draw from the Dirichlet posterior, outcome by outcome."""
        drawn = Counts(self.problem, freeze_at=0.0)  # which learns nothing more
        seen = self.seen
        alpha = np.concatenate([seen.counts - seen.ended, seen.ended], axis=2)
        parts = generator(stream).standard_gamma(np.maximum(alpha, 0.0))
        weight = parts.sum(axis=2, keepdims=True)
        scale = np.divide(seen.total[:, :, None], weight, out=np.zeros(weight.shape), where=weight > 0)
        going, ending = np.split(parts * scale, 2, axis=2)
        for mine, theirs in zip(drawn.seen, seen, strict=True):
            mine[...] = theirs
        drawn.seen.counts[...], drawn.seen.ended[...], drawn.seen.news[0] = going + ending, ending, -1
        return drawn

    def state_dict(self) -> dict[str, np.ndarray]:
        """What was counted."""
        own = {"ends": np.array(self.problem.ends), "version": np.array(self.version)}
        return {name: array.copy() for name, array in self.seen._asdict().items()} | own

    def check_state_dict(self, saved: Arrays) -> None:
        """Whether these counts can have been counted; `InputError` if not."""
        check_counts(self.problem, saved)

    def load_state_dict(self, saved: Arrays) -> None:
        """Go on from what was counted."""
        self.check_state_dict(saved)
        if saved["ends"] and not self.problem.ends:
            self.problem = replace(self.problem, ends=True)
        for name, array in self.seen._asdict().items():
            array[...] = saved[name]
        self.version = int(saved["version"])

    def _outside(self, paid: float) -> None:
        """A reward that is not in [r_min, r_max]: an error if it is no number; a warning if it is learnt."""
        require(math.isfinite(paid), "reward", paid, "a finite number")
        if self.problem.reward is None and not self._warned:
            self._warned = True
            low, high = self.problem.r_min, self.problem.r_max
            text = (
                f"reward is {paid:g}, outside [r_min, r_max] = [{low:g}, {high:g}]: optimism and bounds rely on them."
            )
            warnings.warn(text, RewardWarning, stacklevel=4)

    @cached_property
    def _learn(self) -> Callable[[Seen, float, bool, int, int, float, int, bool], bool]:
        return resolved(kernels.learn, self.seen, 0.0, False, 0, 0, 0.0, 0, False)


def updated(counts: Floats, next_state: int) -> Floats:
    """The update rule f for the counts (S,) of one pair."""
    result = counts.copy()
    result[next_state] += 1
    return result


def predict(counts: Floats) -> Floats:
    """The model P^ that counts (..., S) stand for; uniform where there are none."""
    total = counts.sum(axis=-1, keepdims=True)
    uniform = np.full(counts.shape, 1 / counts.shape[-1])
    return np.asarray(np.divide(counts, total, out=uniform, where=total > 0))


def outcome_counts(counts: Floats, ended: Floats) -> Floats:
    """alpha of going on to each s' and of ending there, shapes (S, A, S) twice -> (S, A, 2 S)."""
    return np.concatenate([counts - ended, ended], axis=-1)


def predict_outcomes(counts: Floats, ended: Floats) -> Floats:
    """P^ of going on to each s' and of ending there, (S, A, 2 S); uniform over what goes on where nothing was seen."""
    total = counts.sum(axis=-1, keepdims=True)
    share = np.divide(ended, total, out=np.zeros(counts.shape), where=total > 0)
    return np.concatenate([predict(counts) - share, share], axis=-1)
