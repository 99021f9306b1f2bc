"""Streams of random numbers that compiled code can step: PCG64 as four plain words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import announcing
from hreach.kernels import begin_streams
from hreach.seeding import seed_words

_begin = announcing(begin_streams)


def streams(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """State of `numpy.random.PCG64(seed)` for every seed: shape (*seeds.shape, 4).

    The words are (state high, state low, increment high, increment low); `hreach.kernels.uniform` steps them.
    """
    words = seed_words(seeds.reshape(-1))
    out = np.empty_like(words)
    _begin(words, out)
    return out.reshape(*seeds.shape, 4)
