"""Reward and gaps over time, drawn for print, for colour-blind eyes and for a page that works offline."""

from hreach.report.figures.band import Band
from hreach.report.figures.charts import average_reward_chart, episodes_chart, profiles_chart
from hreach.report.figures.curves import KEY, average_reward_figure, episodes_figure
from hreach.report.figures.gaps import Gaps, gaps_chart, gaps_figure
from hreach.report.figures.numbers import Chart, as_json
from hreach.report.figures.profiles import profile_bands, profiles_figure
from hreach.report.figures.svg import save

__all__ = [
    "KEY",
    "Band",
    "Chart",
    "Gaps",
    "as_json",
    "average_reward_chart",
    "average_reward_figure",
    "episodes_chart",
    "episodes_figure",
    "gaps_chart",
    "gaps_figure",
    "profile_bands",
    "profiles_chart",
    "profiles_figure",
    "save",
]
