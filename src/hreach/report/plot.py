"""A picture of one run, or of many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from hreach.drawing.saving import save_as
from hreach.report.figures import KEY, Band, average_reward_figure
from hreach.running.runs import Runs

if TYPE_CHECKING:
    from hreach.running.loop import Run


def plot(
    run: Run | Runs, path: str | Path | None = None, *, label: str = "agent", optimal: float | None = None
) -> Figure:
    """Average reward so far against the step; of `Runs`, the mean and the 10-90 % band. Saved if `path` is given."""
    reward = run.reward if isinstance(run, Runs) else run.rewards[None]
    steps = np.arange(1, reward.shape[1] + 1)
    average = np.cumsum(reward, axis=1) / steps
    low, high = np.quantile(average, [0.1, 0.9], axis=0)
    band = Band(label, steps, average.mean(axis=0), low, high)
    title, key = "Average reward per step so far", "one run" if len(reward) == 1 else KEY
    figure = average_reward_figure([band], title=title, optimal=optimal, key=key)
    if path is not None:
        save_as(figure, path)
    return figure
