"""A model that learns nothing: the true dynamics, or a draw from a posterior, with the interface of a learnt model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from hreach.models.feature_map import Array, Integers


class FixedModel:
    """`predict` asks a function (states (N, nS), actions (N,)) -> (N, L) of the learnt components, without noise."""

    samples = 0
    width = 0

    def __init__(self, predicts: Callable[[Array, Integers], Array], outputs: int) -> None:
        self._predicts, self.outputs = predicts, outputs

    @property
    def error_mean(self) -> Array:
        """0, (L,)."""
        return np.zeros(self.outputs)

    def predict(self, states: ArrayLike, actions: ArrayLike) -> Array:
        """The learnt components (N, L) of the next states without noise."""
        return np.asarray(self._predicts(np.asarray(states, dtype=np.float64), np.asarray(actions)))

    def leverage(self, states: Array, actions: Integers) -> Array:
        """0, (N, L): one more sample changes nothing."""
        return np.zeros((len(states), self.outputs))

    def drawn(self, sigma: Array, generator: np.random.Generator) -> FixedModel:
        """Itself: there is no doubt about it."""
        return self

    def learn(self, states: Array, actions: Integers, following: Array) -> None:
        """Nothing."""

    def keep(self, states: Array, actions: Integers) -> None:
        """Nothing."""

    def state_dict(self) -> dict[str, Array]:
        """Nothing."""
        return {}

    def load_state_dict(self, saved: object) -> None:
        """Nothing."""
