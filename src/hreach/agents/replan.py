"""When to plan again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hreach.errors import at_least, positive, require, whole
from hreach.registry import check_parameters


@dataclass(frozen=True)
class Replan:
    """When to plan again, with what was seen since: any of

    episode   at the start of an episode
    growth    when the samples grew by that share
    steps     after so many more samples
    moved     when a prediction that the last plan used has moved by more than so many standard deviations of the noise
    """

    episode: bool = True
    growth: float | None = 0.05
    steps: int | None = None
    moved: float | None = None

    def __post_init__(self) -> None:
        if self.growth is not None:
            at_least("growth", self.growth, 0)
        if self.steps is not None:
            whole("steps", self.steps, 1)
        if self.moved is not None:
            positive("moved", self.moved)
        ok = self.episode or not (self.growth is None and self.steps is None and self.moved is None)
        require(ok, "replan", self, "at least one of episode, growth, steps and moved")

    def due(self, new_episode: bool, version: int, planned_with: int) -> bool:
        """Whether a plan made with the model of `planned_with` samples is out of date, `moved` aside."""
        new = version - planned_with
        return (
            (self.episode and new_episode)
            or (self.growth is not None and new > self.growth * planned_with)
            or (self.steps is not None and new >= self.steps)
        )


EVERY_SAMPLE = Replan(episode=False, growth=None, steps=1)


def replan_rule(settings: Replan | Mapping[str, object] | None) -> Replan | None:
    """A `Replan` from a table, as a study gives it; None stays the planner's default."""
    if settings is None or isinstance(settings, Replan):
        return settings
    require(isinstance(settings, Mapping), "replan", settings, "a table of episode, growth, steps and moved")
    check_parameters("replan", Replan, settings)
    return Replan(**{"episode": False, "growth": None, **settings})  # type: ignore[arg-type]
