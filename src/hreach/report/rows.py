"""What a row of each table says: of a study by steps, of one by episodes, of the promises."""

from __future__ import annotations

from dataclasses import dataclass

from hreach.report.estimates import NOTHING, Estimates


@dataclass(frozen=True)
class Row:
    """One algorithm in one variant: what we measured and, where the paper has it, what it printed.

    `informative` says whether the printed numbers tell the setting from most of those around it (None: not printed).
    `sure` is about the mean.
    """

    algorithm: str
    variant: str
    mean: float
    p10: float
    p90: float
    se: float
    runs: int
    printed_mean: float | None
    printed_p10: float | None
    printed_p90: float | None
    verdict: str
    note: str
    informative: bool | None = None
    sure: Estimates = NOTHING


@dataclass(frozen=True)
class EpisodeRow:
    """One algorithm in one variant of a study by episodes; every mean is over runs, as are the 10 % and 90 %.

    total, last10   mean total reward of a run's episodes, and of its last ten
    goals           episodes of a run that terminated
    final           mean total reward of the final episodes without exploration, if there were any
    sure            about `total`
    """

    algorithm: str
    variant: str
    total: float
    total_p10: float
    total_p90: float
    last10: float
    last10_p10: float
    last10_p90: float
    goals: float
    goals_fewest: int
    goals_most: int
    final: float | None
    final_p10: float | None
    final_p90: float | None
    runs: int
    note: str
    sure: Estimates = NOTHING


@dataclass(frozen=True)
class PromiseRow:
    """One algorithm in one study: what was measured, as (median, least, most) of the runs, and what was promised.

    bad_steps, exploring_steps   of a run's `steps`, and their bounds by Theorem 1 and Corollary 2
    anytime_error                at the last step, and its bound, which says nothing unless it is below `largest`
    certified, optimality        at the last step, at most: the error by a certificate (None: it says nothing of it),
                                 and the gap to V*; false_runs: runs in which a certificate was false
    exploration_over             the step from which on no step explores explicitly; infinite if the last one does
    lemma_1_violations           in all runs together
    kept                         whether no promise of the paper was broken; None where nothing was promised
    why                          why Theorem 1's bound says nothing, "" if it does
    """

    algorithm: str
    variant: str
    study: str
    eps: float
    delta: float
    h: int
    runs: int
    steps: int
    bad_steps: tuple[float, float, float]
    bad_steps_bound: float | None
    anytime_error: tuple[float, float, float]
    anytime_error_bound: float | None
    largest: float
    certified: tuple[float, float, float] | None
    optimality: tuple[float, float, float]
    false_runs: int
    exploring_steps: tuple[float, float, float]
    exploring_steps_bound: float | None
    exploration_over: tuple[float, float, float]
    lemma_1_violations: int
    kept: bool | None
    why: str
    note: str
