"""What a journal is made with: actions, states that are known before, the agent's constants."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hreach.errors import InputError, at_least, discount, finite, require, whole

CHOOSING = ("growing", "adaptive", "lifetime")


@dataclass(frozen=True)
class Settings:
    """Everything that decides, with the rows, which action comes next.

    actions   their names; states: those declared, which count as there from the first; others appear as they come
    h         a number, "growing", "adaptive" or "lifetime"; lifetime: how many tells there will be, if that is known
    r_min, r_max   the range of rewards; None: 0 and the rewards so far
    """

    actions: tuple[str, ...]
    states: tuple[str, ...]
    h: float | str
    gamma: float
    lifetime: int | None
    r_min: float | None
    r_max: float | None
    seed: int

    def to_text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def from_text(text: str) -> Settings:
        """Settings as they stand in a file, checked as if they were given."""
        try:
            return checked(**json.loads(text))
        except (TypeError, ValueError) as error:
            raise InputError(f"settings of the journal cannot be used: {error}") from error


def checked(
    actions: Sequence[str],
    states: Sequence[str] = (),
    h: float | str = 4,
    gamma: float = 0.95,
    lifetime: int | None = None,
    r_min: float | None = None,
    r_max: float | None = None,
    seed: int = 0,
) -> Settings:
    """Settings, if they can be used."""
    require(len(actions) >= 1, "actions", actions, "at least one name")
    for field, names in (("actions", actions), ("states", states)):
        require(len(set(names)) == len(names), field, list(names), "different names")
        for name in names:
            check_name(field, name)
    if isinstance(h, str):
        require(h in CHOOSING, "h", h, f"a number of at least 0, or one of {', '.join(CHOOSING)}")
        require(h != "lifetime" or lifetime is not None, "lifetime", lifetime, "given where h is 'lifetime'")
    low = None if r_min is None else finite("r_min", r_min)
    high = None if r_max is None else finite("r_max", r_max)
    require(low is None or high is None or low <= high, "r_min", low, f"at most r_max, {high}")
    return Settings(
        tuple(actions),
        tuple(states),
        h if isinstance(h, str) else at_least("h", h, 0),
        discount(gamma),
        None if lifetime is None else whole("lifetime", lifetime, 1),
        low,
        high,
        whole("seed", seed, 0),
    )


def check_name(field: str, value: Any) -> str:
    """A name, or a number as its name: one line of at least one letter."""
    text = str(value)
    require(
        text.strip() == text != "" and text.isprintable(), field, value, "a name of one line, without spaces around"
    )
    return text
