"""What a journal hands out: an action that was asked for, and a row as it stands in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Advice:
    """An action, why, and the id under which to tell what followed.

    internal_value       Q~(state, action), with optimism; certain_value: Q of the model as it is
    tried                how often this action was tried in this state
    lower, upper         the policy is worth at least `lower` here, and none more than `upper`, but for a probability .1
    reward_range         what rewards are taken to lie in; range_given: whether that is as given, not wider or unknown
    samples              rows that it was learnt from; past_lifetime: whether these are as many as the lifetime
    """

    id: int
    state: str
    action: str
    unit: str | None
    internal_value: float
    certain_value: float
    tried: int
    lower: float
    upper: float
    reward_range: tuple[float, float]
    range_given: bool
    samples: int
    past_lifetime: bool


class Entry(NamedTuple):
    """A row: asked for (`recommended`) or somebody's own choice, waiting (`told_at` None), told or void."""

    id: int
    unit: str | None
    state: str
    action: str
    recommended: bool
    asked_at: str | None
    told_at: str | None
    reward: float | None
    next: str | None
    terminated: bool | None
    void: str | None
