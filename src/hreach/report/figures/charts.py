"""The figures of `curves` and `profiles` as numbers for the page, on the same scales and with the same pens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hreach.report.figures.band import Band
from hreach.report.figures.curves import KEY, SETTLED
from hreach.report.figures.frame import y_range_of
from hreach.report.figures.numbers import Chart, Panel, Range, Scale
from hreach.report.figures.pens import pens_of, shaded
from hreach.report.figures.profiles import FADE, PROFILE_KEY, SHARE, SHARES

OVER_RUNS = ("mean", "10 %", "90 %")


def average_reward_chart(bands: Sequence[Band], *, title: str, optimal: float | None) -> Chart:
    """`average_reward_figure`."""
    levels = {} if optimal is None else {"optimal policy": optimal}
    lines = list(zip(bands, pens_of([band.label for band in bands]), strict=True))
    return Chart(
        title,
        "step",
        "average reward per step so far",
        KEY,
        OVER_RUNS,
        [Panel(lines, levels)],
        _steps(bands),
        y_range_of(bands, levels, after=SETTLED),
        _runs_range(bands, levels, after=SETTLED),
    )


def episodes_chart(
    panels: Mapping[str, Sequence[Band]], references: Mapping[str, Mapping[str, float]], *, title: str, log: bool
) -> Chart:
    """`episodes_figure`."""
    bands = [band for some in panels.values() for band in some]
    levels = {label: y for some in references.values() for label, y in some.items()}
    labels = list(dict.fromkeys(band.label for band in bands))
    pens = dict(zip(labels, shaded(labels, pens_of(labels)), strict=True))
    y_range = y_range_of(bands, levels, log=log)
    scale: Scale = "linear" if not log else "log" if y_range[0] > 0 else "symlog"
    return Chart(
        title,
        "episode",
        "total reward of an episode",
        KEY,
        OVER_RUNS,
        [Panel([(b, pens[b.label]) for b in some], references.get(v, {}), v) for v, some in panels.items()],
        _steps(bands),
        y_range,
        _runs_range(bands, levels, log=scale == "log"),
        scale,
    )


def profiles_chart(bands: Sequence[Band], *, title: str, xlabel: str) -> Chart:
    """`profiles_figure`."""
    lines = list(zip(bands, pens_of([band.label for band in bands]), strict=True))
    at = bands[0].steps
    words = ("share", "95 % band from", "to")
    x_range = float(at[0]), float(at[-1])
    return Chart(
        title, xlabel, SHARE, PROFILE_KEY, words, [Panel(lines)], x_range, SHARES, log_x=False, rank="area", fade=FADE
    )


def _steps(bands: Sequence[Band]) -> Range:
    return 0.0, max(float(band.steps[-1]) for band in bands)


def _runs_range(
    bands: Sequence[Band], levels: Mapping[str, float], *, after: float = 0.0, log: bool = False
) -> Range | None:
    """`y_range_of` the single runs, if the bands have them; a logarithm of totals that are not above 0 is not drawn."""
    if any(band.runs is None for band in bands):
        return None
    ends = []
    for band in bands:
        runs = np.asarray(band.runs, dtype=np.float64)
        runs = np.where(runs > 0, runs, np.asarray(band.low)) if log else runs
        ends.append(replace(band, low=runs.min(axis=0), high=runs.max(axis=0)))
    return y_range_of(ends, levels, after=after, log=log)
