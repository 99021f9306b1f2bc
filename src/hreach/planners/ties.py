"""Equally good actions: the one rule, in NumPy; compiled: `hreach.kernels.acting.choose`."""

from __future__ import annotations

import numpy as np

from hreach.kernels import TIE
from hreach.protocols import Bools, Floats


def best_actions(q: Floats) -> Bools:
    """Which of the action values q (..., A) count as the largest: within `TIE`, relative, of it."""
    best = q.max(axis=-1, keepdims=True)
    return np.asarray(q >= best - TIE * np.maximum(1.0, np.abs(best)))
