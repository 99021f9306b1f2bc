"""Whether saved counts can have been counted: nothing that was saved is trusted."""

from __future__ import annotations

import numpy as np

from hreach.errors import require
from hreach.problems.problem import Problem
from hreach.protocols import Arrays, Floats

_WEIGHT = 1e-6  # relative: what adding up many samples may lose


def check_counts(problem: Problem, saved: Arrays) -> None:
    """Counts that can have been counted, and numbers where there must be numbers; `InputError` if not."""
    numbers = {name: np.asarray(saved[name], dtype=np.float64) for name in ("counts", "ended", "total", "reward_sum")}
    for name, values in numbers.items():
        require(bool(np.isfinite(values).all()), name, "nan or infinite", "finite everywhere")
    counts, ended = numbers["counts"], numbers["ended"]
    samples = counts - problem.prior / problem.states
    _check_whole("counts", samples, "the prior's share and a whole number of samples, at least 0")
    _check_whole("ended", ended, "whole numbers of at least 0")
    require(bool((ended <= samples + 0.5).all()), "ended", "more than counts", "at most the samples counted")
    total = counts.sum(axis=2)
    fits = np.abs(total - numbers["total"]) <= _WEIGHT * np.maximum(1.0, total)
    require(bool(fits.all()), "total", "not the sum of counts", "the sum of counts over next states")
    learnt, counted = float(saved["samples"][0]), float(np.rint(samples).sum())
    require(abs(learnt - counted) <= 0.5, "samples", learnt, f"the number of samples, {counted:g}")
    news = np.asarray(saved["news"], dtype=np.int64)
    ok = -1 <= news[0] < news.size and bool(((news[1:] >= 0) & (news[1:] < total.size)).all())
    require(ok, "news", news, "pairs of the problem")
    here = np.asarray(saved["here"], dtype=np.int64)
    require(bool(((here >= -1) & (here < problem.states)).all()), "here", here, "states of the problem, or -1")
    some = bool(ended.any() or np.any(saved["terminal"]))
    require(bool(saved["ends"]) or not some, "ends", False, "true, for episodes ended")
    both = bool(np.logical_and(saved["terminal"], saved["open"]).any())
    require(not both, "terminal", "an open state", "a state that nothing was seen to leave")


def _check_whole(name: str, samples: Floats, allowed: str) -> None:
    whole = np.rint(samples)
    ok = bool((whole >= 0).all() and (np.abs(samples - whole) <= _WEIGHT * np.maximum(1.0, whole)).all())
    require(ok, name, "another number", allowed)
