"""Mixtures of wealth and Ville's inequality: the core of every statement that is valid at any time.

A bet against a hypothesis is a process W_0 = 1, W_1, W_2, ... >= 0 that is not expected to grow while the hypothesis is
true. So is a mixture of bets whose weights sum to at most 1. By Ville's inequality (1939)

    P(W_t >= 1 / delta at some time t) <= delta        as long as the hypothesis is true,

so that the hypotheses not refuted, {log W_t < log(1 / delta)}, hold the truth at all times at once with probability at
least 1 - delta: also at a time that was chosen by looking at the data. The bets against the mean of bounded numbers
are in `hreach.statistics.anytime`; against a categorical distribution p they are the likelihood ratios
prod_i (q_i / p_i)^(n_i) of other distributions q, weighted by a prior on q.
"""

from __future__ import annotations

import math

import numpy as np

from hreach.statistics.scores import Array


def mixture_log_wealth(log_wealth: Array, log_weights: Array) -> Array:
    """log sum_k w_k W_k over the last axis; -inf, ruin, is allowed."""
    return np.asarray(np.logaddexp.reduce(log_wealth + log_weights, axis=-1))


def threshold(delta: float) -> float:
    """log(1 / delta): the logarithm of a wealth that a true hypothesis lets happen with probability at most delta."""
    return math.log(1 / delta)
