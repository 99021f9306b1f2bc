"""What makes a tabular agent: a formula, its constants, and when they change.

For each pair the formula turns what was seen there into (reach, bonus, radius), see `hreach.protocols.Upper` and
`hreach.kernels`. Constants that change with time and counts have a schedule (`hreach.kernels.schedule`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from hreach.compiling import Formula, Schedule
from hreach.errors import InputError, require
from hreach.kernels.lookahead import Lookahead
from hreach.models.counts import Counts, predict_outcomes
from hreach.protocols import Floats, Ints, Pairs, Upper
from hreach.randomness.streams import agent_stream
from hreach.reach.nearest import optimum


@dataclass(frozen=True)
class TabularOptimism:
    """The formula and constants of an algorithm, and whether these come from theory or were given.

    constants        in the order in which the formula reads them; numbers or arrays (S, A)
    facts            what the constants were computed from
    freeze_at        weight at which a pair learns no more
    random_action    probability of an action drawn uniformly
    schedule         how constants change; None: they stay. What is given as `constants` is its `parameters`
    asks_certainty   whether the schedule wants the certainty-equivalent values; constants of 0 must be no optimism
    draws            whether what is planned with is a draw from the posterior, made when the schedule says so
    lookahead        what chooses the constants when the schedule changes something, in place of the schedule itself
    reward_share     of the samples that optimism considers, those that count for a learnt reward
    lifetime         samples that it is made for; it refuses to plan after more
    """

    formula: Formula
    constants: Mapping[str, ArrayLike]
    origin: Literal["theory", "given"]
    facts: Mapping[str, float] = field(default_factory=dict)
    freeze_at: float = math.inf
    random_action: float = 0.0
    schedule: Schedule | None = None
    asks_certainty: bool = False
    draws: bool = False
    lookahead: Lookahead | None = None
    reward_share: float = 1.0
    lifetime: float = math.inf

    def __post_init__(self) -> None:
        ok = self.schedule is None or self.freeze_at == math.inf
        require(ok, "freeze_at", self.freeze_at, "infinite where constants have a schedule")

    selective = False

    def parameters(self, states: int, actions: int) -> Floats:
        """The constants for each pair, (S, A, P)."""
        shape = (states, actions)
        columns = [np.broadcast_to(np.asarray(c, dtype=np.float64), shape) for c in self.constants.values()]
        return np.ascontiguousarray(np.stack(columns, axis=-1)) if columns else np.zeros((*shape, 0))

    def h(self, samples: int) -> float | None:
        """The least h of any pair; None for an algorithm without one, or whose h depends on more than time."""
        if "h" in self.constants and self.schedule is None:
            return float(np.min(np.asarray(self.constants["h"], dtype=np.float64)))
        if "c" in self.constants and self.schedule is not None and not self.asks_certainty:
            return float(np.min(np.asarray(self.constants["c"], dtype=np.float64))) * math.log(samples + 2)
        return None

    def upper(self, model: Counts, pairs: Pairs[Ints]) -> Upper:
        """What optimism adds to each pair now, by the formula as it is written: the reference of `kernels.optimistic`.

        A schedule is asked as it would be at this number of samples.
        """
        constants, seen = self._constants_now(model), model.seen
        reward = model.mean_reward()
        rows = [
            self.formula(seen.counts[s, a], seen.total[s, a], reward[s, a, 0] if reward.shape[2] == 1 else 0.0, c)
            for s, a, c in zip(*pairs, constants[pairs.states, pairs.actions], strict=True)
        ]
        reach, bonus, radius = np.array(rows, dtype=np.float64).reshape(-1, 3).T
        return Upper(reach, bonus, radius, np.zeros((len(rows), 0)), np.zeros(len(rows)))

    def constants_in_force(self) -> dict[str, object]:
        """Constants and what they were computed from, as plain numbers."""
        constants = {k: np.asarray(v).tolist() for k, v in self.constants.items()}
        others = {
            "schedule": None if self.schedule is None else self.schedule.__name__,
            "freeze_at": digest(self.freeze_at),
            "random_action": self.random_action,
            "reward_share": self.reward_share,
            **self._chosen_by(),
        }
        return {"origin": self.origin, "constants": constants, **others, **dict(self.facts)}

    def identity(self) -> dict[str, object]:
        """All that decides what it does, as plain data; arrays by their digest."""
        return {
            "formula": _name(self.formula),
            **{name: digest(value) for name, value in self.constants.items()},
            "schedule": None if self.schedule is None else _name(self.schedule),
            "freeze_at": digest(self.freeze_at),
            "random_action": self.random_action,
            "reward_share": self.reward_share,
            **self._chosen_by(),
        }

    def _chosen_by(self) -> dict[str, object]:
        return {} if self.lookahead is None else {"lookahead": _name(self.lookahead)}

    def _constants_now(self, model: Counts) -> Floats:
        known = model.problem
        constants = self.parameters(known.states, known.actions)
        if self.schedule is None:
            return constants
        if self.lookahead is not None:
            raise InputError(f"lookahead is {_name(self.lookahead)!r}, whose constants only a planner knows.")
        value, q = np.zeros(known.states), np.zeros(known.states * known.actions)
        if self.asks_certainty:
            value, q = _certainty_equivalent(model)
        changed, stream = constants.copy(), agent_stream(0)
        self.schedule(
            float(model.samples), constants, model.seen.total, value, q, known.gamma, known.values.low, changed, stream
        )
        return changed


def _certainty_equivalent(model: Counts) -> tuple[Floats, Floats]:
    """The values of the model as it is, exact: (V (S,), Q (S A,))."""
    seen, reward = model.seen, model.mean_reward()
    chance = predict_outcomes(seen.counts, seen.ended) * ~seen.terminal[:, None, None]
    table = reward[:, :, 0] if reward.shape[2] == 1 else reward
    value = optimum(chance, table, model.problem.gamma).value
    paid = chance.sum(axis=2) * table if table.ndim == 2 else (chance * np.tile(table, 2)).sum(axis=2)
    q = paid + model.problem.gamma * (chance[:, :, : len(value)] @ value)
    return value, q.reshape(-1)


def _name(function: Formula | Schedule | Lookahead) -> str:
    return f"{function.__module__}:{function.__qualname__}"


def digest(value: ArrayLike) -> float | str:
    """A number as it is; an array by sixteen hexadecimal digits of its SHA-256."""
    array = np.asarray(value, dtype=np.float64)
    if array.ndim:
        return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
    return float(array) if np.isfinite(array) else str(array)
