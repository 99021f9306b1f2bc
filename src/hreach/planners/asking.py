"""What planners of continuous problems share: asking about pairs, and how far predictions have moved since."""

from __future__ import annotations

import numpy as np

from hreach.models.regression import Regression
from hreach.optimism.linear import LinearOptimism
from hreach.protocols import Arrays, Comparison, Floats, Pairs, State


class Probes:
    """Pairs that a plan used, and what was predicted for them then."""

    def __init__(self, model: Regression) -> None:
        self._model = model
        self._pairs = Pairs(np.zeros((0, model.task.width)), np.zeros(0, dtype=np.int64))
        self._predicted = np.zeros((0, len(model.task.learnt)))

    def remember(self, pairs: Pairs[Floats]) -> None:
        """Keep the predictions for these pairs."""
        self._pairs, self._predicted = pairs, self._model.predict(*pairs)

    def moved(self) -> float:
        """max |prediction now - then| / sigma; infinite if nothing was kept, such as before the first search."""
        if len(self._predicted) == 0:
            return np.inf
        return float((np.abs(self._model.predict(*self._pairs) - self._predicted) / self._model.task.sigma).max())

    def state_dict(self) -> dict[str, np.ndarray]:
        """Pairs and predictions."""
        pairs = {"probed_states": self._pairs.states.copy(), "probed_actions": self._pairs.actions.copy()}
        return pairs | {"predicted": self._predicted.copy()}

    def load_state_dict(self, saved: Arrays) -> None:
        """Go on from `state_dict`."""
        self._pairs = Pairs(np.array(saved["probed_states"], dtype=np.float64), np.array(saved["probed_actions"]))
        self._predicted = np.array(saved["predicted"], dtype=np.float64)


def unknown(model: Regression, optimism: LinearOptimism, state: State, action: int, slope: float, calls: int) -> bool:
    """Whether the bonus of a pair is infinite."""
    model.settle()
    pair = Pairs(model.state("state", state)[None], np.array([action]))
    return bool(optimism.upper(model, pair, slope, max(calls, 1)).bonus[0] == np.inf)


def reach_of(model: Regression, optimism: LinearOptimism) -> tuple[float, float] | None:
    """The h of the interval now, twice."""
    h = optimism.h(model.samples)
    return None if h is None else (h, h)


def compared(samples: int, states: Floats, internal: Floats, current: Floats, accuracy: float) -> Comparison:
    """The state in which two values (N,) are furthest apart, the first one of several."""
    at = int(np.argmax(np.abs(internal - current)))
    return samples, states[at].copy(), float(internal[at]), float(current[at]), accuracy
