"""When a row may stop before it has all its runs, without cheating: rules that hold however often one looks.

    until = "ci_width < 0.005"   a row stops when the 95 % interval of its mean is narrower
    until = "ranked"             the rows of a variant stop when the order of their means is settled at 95 %

The intervals are anytime-valid (`hreach.statistics.anytime`): with probability 95 % they hold at all looks at once, for
each row of the first rule and for all pairs of rows of a variant together of the second. The numbers are one for each
run, its average reward by steps, or the mean total reward of its episodes, and lie in `bounds`. One looks after every
`LOOK` runs. A row's number of runs is a function of its results alone, so neither workers nor interruptions change it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hreach.domains import make_domain
from hreach.errors import InputError, require, shown
from hreach.problems.truth import truth_of
from hreach.statistics import anytime_interval, separated
from hreach.studies.results import Result
from hreach.studies.spec import Study

LOOK = 50  # runs between two looks
LEVEL = 0.95
_WIDTH = re.compile(r"\s*ci_width\s*<\s*(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)\s*")
Numbers = NDArray[np.float64]


def check_until(until: str) -> None:
    """Refuse what is none of the rules."""
    found = _WIDTH.fullmatch(until)
    ok = until == "ranked" or (found is not None and float(found[1]) > 0)
    require(ok, "until", until, '"ranked", or "ci_width < x" with a number x above 0')


def bounds_of(study: Study) -> tuple[float, float]:
    """[low, high] of the number of any run: as given, or the rewards of a domain that tells its truth."""
    if study.bounds is not None:
        return study.bounds[0], study.bounds[1]
    mdp = truth_of(make_domain(study.domain, **study.domain_params))
    if mdp is None:
        raise InputError(f"bounds is missing, but must be given: domain {study.domain!r} does not tell its rewards.")
    return float(mdp.reward.min()), float(mdp.reward.max())


def numbers_of(result: Result, bounds: tuple[float, float]) -> Numbers:
    """One number for each run, (runs,); `InputError` if one is outside the bounds."""
    by_steps = result.by == "steps"
    values = result.average_reward[:, -1] if by_steps else result.learning.total.mean(axis=1)
    slack = 1e-9 * (bounds[1] - bounds[0])  # a mean of equal rewards may be off by a rounding
    outside = values[(values < bounds[0] - slack) | (values > bounds[1] + slack)]
    if len(outside):
        raise InputError(f"bounds is {list(bounds)}, but a run came out as {shown(float(outside[0]))}.")
    return np.asarray(values.clip(*bounds))


def stops(
    until: str, groups: Sequence[Sequence[str]], numbers: Mapping[str, Numbers], bounds: tuple[float, float], most: int
) -> dict[str, int]:
    """For each cell the number of runs that it needs, as far as its results tell: where it stops, or the next look.

    groups    the cells of each variant
    numbers   one for each run that is there, from the first on, by cell
    most      no cell needs more runs
    """
    needed: dict[str, int] = {}
    for group in groups:
        singles = [group] if until == "ranked" else [[cell] for cell in group]
        for cells in singles:
            runs = _stop(until, [numbers[cell] for cell in cells], bounds, most)
            needed |= {cell: max(runs, needed.get(cell, 0)) for cell in cells}
    return needed


def _stop(until: str, rows: Sequence[Numbers], bounds: tuple[float, float], most: int) -> int:
    """The first look at which these rows may stop, or the first one that is not possible yet."""
    there = min(map(len, rows))
    for look in range(min(LOOK, most), most, LOOK):
        if look > there or _settled(until, [row[:look] for row in rows], bounds):
            return look
    return most


def _settled(until: str, rows: Sequence[Numbers], bounds: tuple[float, float]) -> bool:
    if until == "ranked":
        return separated({str(i): row for i, row in enumerate(rows)}, *bounds, LEVEL)
    found = _WIDTH.fullmatch(until)
    assert found is not None
    low, high = anytime_interval(rows[0], *bounds, LEVEL)
    return high - low < float(found[1])
