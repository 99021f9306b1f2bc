"""RiverSwim of Strehl & Littman (2008), "An analysis of model-based interval estimation for Markov decision processes".

Rewards / 10^4. Action 0 swims left and always succeeds; action 1 swims right, against the current. Inside, it moves
right with probability `forward` and is carried left with probability `back`, else it stays. In the first state it moves
with probability `first`, else stays; in the last it stays with probability `last`, else is carried left. Swimming left
in the first state pays `small`, staying in the last one pays `large`. The start is drawn from the states `start`.

The variant of Osband, Russo & Van Roy (2013), which pays for swimming right in the last state, carried away or not:

    RiverSwim(forward=.35, back=.05, first=.6, last=.6, small=.005, large=1, start=(0,), pays="trying")

The known reward is the expected one, R(s, a).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

from hreach.domains.drawn import DrawnEnv
from hreach.domains.rows import room_for, rows_of
from hreach.errors import finite, number, require, whole
from hreach.problems.mdp import TabularMDP

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class RiverSwim(DrawnEnv):
    """`RiverSwim(length=6, forward=0.3, back=0.1, first=0.3, last=0.3, small=0.0005, large=1.0, start=(1, 2))`."""

    def __init__(
        self,
        length: int = 6,
        forward: float = 0.3,
        back: float = 0.1,
        first: float = 0.3,
        last: float = 0.3,
        small: float = 0.0005,
        large: float = 1.0,
        start: Sequence[int] = (1, 2),
        pays: Literal["staying", "trying"] = "staying",
        gamma: float = 0.95,
        render_mode: str | None = None,
    ) -> None:
        length = whole("length", length, 2)
        for name, value in (("forward", forward), ("back", back), ("first", first), ("last", last)):
            require(0 <= number(name, value) <= 1, name, value, "a probability from 0 to 1")
        require(forward + back <= 1, "forward + back", forward + back, "a probability from 0 to 1")
        require(pays in ("staying", "trying"), "pays", pays, "'staying' or 'trying'")
        room_for(f"a river of {length} states", 2 * length, 3)
        here = np.arange(length, dtype=np.int32)
        around = np.stack([np.maximum(here - 1, 0), here, np.minimum(here + 1, length - 1)], axis=1)
        chance = np.tile([[1.0, 0, 0], [back, 1 - forward - back, forward]], (length, 1))
        chance[1], chance[-1] = [0, 1 - first, first], [1 - last, last, 0]
        first_entry, following, probability = rows_of(np.repeat(around, 2, axis=0), chance)
        P = sparse.csr_array((probability, following, first_entry), shape=(2 * length, length))
        paid = [(0, 0, finite("small", small)), (2 * length - 1, length - 1, finite("large", large))]
        if pays == "trying":
            paid.append((2 * length - 1, length - 2, large))
        row, column, reward = zip(*paid, strict=True)
        R = sparse.csr_array((reward, (row, column)), shape=P.shape)
        mdp = TabularMDP(P, R, gamma, start=_anywhere(start, length))
        super().__init__(mdp, mdp.expected_reward, render_mode)

    def figure(self, state: int | None = None) -> Figure:
        """The states along a bend of the river, with all transitions and those of this state, by default the present
        one."""
        from hreach.domains.graph_picture import bend, draw

        return draw(self._mdp, bend(self._mdp.states), self._state if state is None else state)


def _anywhere(start: Sequence[int], length: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The uniform distribution over the states `start`, shape (length,)."""
    allowed = f"different states from 0 to {length - 1}"
    require(isinstance(start, Sequence | np.ndarray) and not isinstance(start, str), "start", start, allowed)
    chosen = [whole("start", s, 0) for s in start]
    require(0 < len(chosen) == len(set(chosen)) and max(chosen) < length, "start", start, allowed)
    weights = np.zeros(length)
    weights[chosen] = 1 / len(chosen)
    return weights
