"""From what was earned to a recommendation: losses against the best fixed h, and which h to take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hreach.guarantees.choose_h.option import Option

Array = NDArray[np.float64]
ENDS = (0.025, 0.975)  # of a bootstrap interval of 95 %


def losses_against_best(averages: Array, means: Array, fixed: Sequence[int]) -> Array:
    """`Choice.losses` of averages (H, L) and their resampled means (N, H, L); `fixed` are rows.

    A sample in which the best h earned next to nothing counts as one in which it earned a thousandth of its average.
    """
    losses = np.full((*averages.shape, 3), np.nan)
    if not fixed:
        return losses
    for k in range(averages.shape[1]):
        best = fixed[int(np.argmax(averages[fixed, k]))]
        most = averages[best, k]
        if most != 0:
            losses[:, k, 0] = (most - averages[:, k]) / abs(most)
            top = means[:, best, k, None]
            size = np.maximum(np.abs(top), 0.001 * abs(most))
            losses[:, k, 1:] = np.quantile((top - means[:, :, k]) / size, ENDS, axis=0).T
    return losses


def recommended(options: tuple[Option, ...], means: Array, steps: int, unit: str) -> tuple[str, str]:
    """(label, one sentence) of the h to take; `means` are resampled averages (N, H)."""
    top = int(np.argmax([o.average for o in options]))
    like_the_best = np.quantile(means[:, top, None] - means, ENDS[0], axis=0) <= 0
    like_the_best[top] = True
    _, _, i = min((o.stuck, -o.average, i) for i, o in enumerate(options) if like_the_best[i])
    chosen = options[i]
    earned = f"{chosen.average:.4g} per {unit} over {steps} steps ({chosen.low:.4g} to {chosen.high:.4g})"
    if i == top:
        why = f"it earned most, {earned}, and {_stuck(chosen.stuck)}"
    else:  # it got stuck less often than the one that earned most
        most = f"{options[top].average:.4g}, {_named(options[top].h)}"
        why = (
            f"it earned {earned}, which cannot be told from the most ({most}), "
            f"and {_stuck(chosen.stuck)}, the other {options[top].stuck:.0%}"
        )
    worst = max((o for o in options if not like_the_best[options.index(o)]), key=lambda o: o.stuck, default=None)
    warning = ""
    if worst is not None and worst.stuck > max(0.1, chosen.stuck):
        warning = f"; {_named(worst.h)} got stuck in {worst.stuck:.0%}"
    return chosen.h, f"Take {_named(chosen.h)}: {why}{warning}."


def _stuck(share: float) -> str:
    return "never got stuck" if share == 0 else f"got stuck in {share:.0%} of runs"


def _named(label: str) -> str:
    return f"h = {label}"
