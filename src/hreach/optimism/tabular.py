"""What makes a tabular agent: its formula and its constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from hreach.compiling import Formula
from hreach.errors import require


@dataclass(frozen=True)
class Strategy:
    """What makes an agent: its formula and constants, and whether these come from theory or were given."""

    formula: Formula
    constants: Mapping[str, ArrayLike]  # in the order in which the formula reads them; numbers or (S, A)
    origin: Literal["theory", "given"]
    facts: Mapping[str, float] = field(default_factory=dict)  # what the constants were computed from
    freeze_at: float = np.inf
    random_action: float = 0.0
    growing: bool = False  # the constants in force are these times ln(t + 2), t the samples: `kernels.schedule`
    adaptive: bool = False  # and less where a try is dear: `kernels.grow`
    reward_share: float = 1.0  # of the samples hoped about, those that count for a learnt reward: `kernels.belief`

    def __post_init__(self) -> None:
        ok = not self.growing or self.freeze_at == np.inf
        require(ok, "freeze_at", self.freeze_at, "infinite where constants grow")
