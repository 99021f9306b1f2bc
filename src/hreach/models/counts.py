"""Learning transition probabilities by counting.

    P^(s'|s, a) = alpha(s, a, s') / alpha(s, a),    alpha(s, a, s') = prior / |S| + n(s, a, s')

and of a transition to s' the share ended(s, a, s') / alpha(s, a, s') ends the episode.

The prior is the only difference between the two learning methods: with prior = 0 this is the sample mean
n(s, a, s') / n(s, a), with prior > 0 the mean of a Dirichlet posterior whose first model is uniform and weighs
`prior` samples. A pair without any weight is modelled as uniform.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.errors import at_least, whole

Array = NDArray[np.float64]


class Counts:
    """Explicit state: `counts` alpha(s, a, s') and `ended`, shape (S, A, S), and `total` alpha(s, a), shape (S, A)."""

    def __init__(self, states: int, actions: int, prior: float) -> None:
        self.states = whole("states", states, 1)
        self.actions = whole("actions", actions, 1)
        self.prior = at_least("prior", prior, 0)
        self.counts = np.full((self.states, self.actions, self.states), self.prior / self.states)
        self.ended = np.zeros(self.counts.shape)
        self.total = np.full((self.states, self.actions), self.prior)

    def update(self, state: int, action: int, next_state: int, terminated: bool = False) -> None:
        """Learn from one sample, which may have ended the episode."""
        self.counts[state, action, next_state] += 1
        self.ended[state, action, next_state] += terminated
        self.total[state, action] += 1

    def mean(self) -> Array:
        """P^, shape (S, A, S)."""
        return predict(self.counts)


class SampleMean(Counts):
    """P^ = n(s, a, s') / n(s, a). Paper: Discrete Domain."""

    def __init__(self, states: int, actions: int) -> None:
        super().__init__(states, actions, prior=0)


class Dirichlet(Counts):
    """P^ = mean of an independent Dirichlet posterior for each pair. Paper: Remark 2."""

    def __init__(self, states: int, actions: int, prior: float = 1) -> None:
        super().__init__(states, actions, prior)


def updated(counts: Array, next_state: int) -> Array:
    """The update rule f for the counts (S,) of one pair."""
    result = counts.copy()
    result[next_state] += 1
    return result


def predict(counts: Array) -> Array:
    """The model P^ that counts (..., S) stand for; uniform where there are none."""
    total = counts.sum(axis=-1, keepdims=True)
    uniform = np.full(counts.shape, 1 / counts.shape[-1])
    return np.asarray(np.divide(counts, total, out=uniform, where=total > 0))


def outcome_counts(counts: Array, ended: Array) -> Array:
    """alpha of going on to each s' and of ending there, shapes (S, A, S) twice -> (S, A, 2 S)."""
    return np.concatenate([counts - ended, ended], axis=-1)


def predict_outcomes(counts: Array, ended: Array) -> Array:
    """P^ of going on to each s' and of ending there, (S, A, 2 S); uniform over what goes on where nothing was seen."""
    total = counts.sum(axis=-1, keepdims=True)
    share = np.divide(ended, total, out=np.zeros(counts.shape), where=total > 0)
    return np.concatenate([predict(counts) - share, share], axis=-1)
