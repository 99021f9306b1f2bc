"""How sure numbers of many runs are: summaries, bootstrap intervals, profiles, comparisons, anytime-valid intervals."""

from hreach.statistics.aggregates import interquartile_mean
from hreach.statistics.anytime import anytime_difference, anytime_interval, separated
from hreach.statistics.comparing import probability_of_improvement
from hreach.statistics.difference import ROUNDING, difference_interval
from hreach.statistics.estimate import Estimate
from hreach.statistics.intervals import estimates, iqm_interval, mean_interval
from hreach.statistics.paired import Comparison, holm, paired_comparisons
from hreach.statistics.profiles import Profile, performance_profile
from hreach.statistics.resampling import RESAMPLES, bootstrap, resampled_means
from hreach.statistics.scores import Array, Scores
from hreach.statistics.summary import Summary, summarise

__all__ = [
    "RESAMPLES",
    "ROUNDING",
    "Array",
    "Comparison",
    "Estimate",
    "Profile",
    "Scores",
    "Summary",
    "anytime_difference",
    "anytime_interval",
    "bootstrap",
    "difference_interval",
    "estimates",
    "holm",
    "interquartile_mean",
    "iqm_interval",
    "mean_interval",
    "paired_comparisons",
    "performance_profile",
    "probability_of_improvement",
    "resampled_means",
    "separated",
    "summarise",
]
