"""The true model behind the face of a learnt one: for what an agent would earn if it had nothing to learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.models.feature_map import Array, Integers


class TrueModel:
    """`predict` asks the truth; there is nothing to learn and nothing to save."""

    samples = 0
    width = 0

    def __init__(self, truth: Callable[[Array, Integers], Array], learnt: Sequence[int]) -> None:
        self._truth, self._learnt = truth, list(learnt)

    def predict(self, states: ArrayLike, actions: ArrayLike) -> Array:
        """The learnt components (N, L) of the next states without noise."""
        points = np.asarray(states, dtype=np.float64)
        return np.asarray(self._truth(points, np.asarray(actions))[:, self._learnt])

    def learn(self, states: Array, actions: Integers, following: Array) -> None:
        """Nothing."""

    def keep(self, states: Array, actions: Integers) -> None:
        """Nothing."""

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Nothing."""
        return {}

    def load_state_dict(self, saved: Any) -> None:
        """Nothing."""
