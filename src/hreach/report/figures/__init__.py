"""Reward and error over time, drawn for print, for colour-blind eyes and for a page that works offline."""

from hreach.report.figures.band import Band
from hreach.report.figures.curves import KEY, average_reward_figure, episodes_figure, promises_figure
from hreach.report.figures.svg import save

__all__ = ["KEY", "Band", "average_reward_figure", "episodes_figure", "promises_figure", "save"]
