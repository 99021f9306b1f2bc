"""What has to hold of the rows of a large MDP, looked at in one pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, at, compiled

UNORDERED, OUTSIDE, ZEROS = 1, 2, 4  # columns that do not ascend; that are no states; weights of 0


@compiled
def look(
    first: NDArray[np.int64], following: NDArray[np.int64], weight: Array, states: int, found: Array, begin: int,
    end: int,
) -> None:  # fmt: skip
    """Of the rows begin .. end - 1, found: the largest |1 - sum|, infinite where a weight is no probability or a column
    no state; the longest row; which of the above occur."""
    off, longest = 0.0, 0
    unordered = outside = zeros = False
    for i in range(begin, end):
        total, before, least = 0.0, np.int64(-1 << 62), 0.0
        for k in range(first[at(i)], first[at(i + 1)]):
            column = np.int64(following[at(k)])
            unordered |= bool(column <= before)
            outside |= bool(column < 0) or bool(column >= states)
            before = column
            zeros |= bool(weight[at(k)] == 0.0)
            least = min(least, weight[at(k)])
            total += weight[at(k)]
        distance = abs(total - 1.0) if least >= 0.0 else np.inf
        if not off >= distance:  # also where a sum is not a number
            off = distance if distance == distance else np.inf
        longest = max(longest, first[at(i + 1)] - first[at(i)])
    found[0], found[1] = off, longest
    found[2] = UNORDERED * unordered + OUTSIDE * outside + ZEROS * zeros
