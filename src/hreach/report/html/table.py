"""Tables as HTML: what stands in the cells, one list of columns for each kind of table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from hreach.report.estimates import KIND
from hreach.report.html.layout import Column, Table, laid_out
from hreach.report.html.verdict import shown_verdict
from hreach.report.numbers import number, span, total
from hreach.report.rows import EpisodeRow, PromiseRow, Row
from hreach.report.verdicts import too_often_false

Rows = Sequence[Row] | Sequence[EpisodeRow] | Sequence[PromiseRow]
Measured = Row | EpisodeRow
Written = Callable[[float | None], str]


def table(title: str, rows: Rows) -> str:
    """All rows, those of one variant together, the paper's own run first; the rows are of one kind."""
    kinds = (
        laid_out(title, STEPS, [row for row in rows if isinstance(row, Row)]),
        laid_out(title, EPISODES, [row for row in rows if isinstance(row, EpisodeRow)]),
        laid_out(title, PROMISES, [row for row in rows if isinstance(row, PromiseRow)]),
    )
    return "".join(kinds)


# --- cells -----------------------------------------------------------------------------------------------------------


def _estimate(mean: float | None, low: float | None, high: float | None, written: Written = number) -> str:
    """Write `mean [p10, p90]`; a narrow table may break the line only before the bracket."""
    if mean is None:
        return written(None)
    if low is None and high is None:
        return f"<b>{written(mean)}</b>"
    return f"<b>{written(mean)}</b> <span>[{written(low)}, {written(high)}]</span>"


def _middle(values: Sequence[float], written: Written = total) -> str:
    """Write `median [least, most]`; runs that agree have no range."""
    median, low, high = values
    return _estimate(median, None, None, written) if low == high else _estimate(median, low, high, written)


def _promised(bound: float | None, limit: float) -> str:
    """A bound; from the limit on it says nothing."""
    if bound is None:
        return "<small>nothing promised</small>"
    return total(bound) + (" <small>says nothing</small>" if bound >= limit else "")


def _certified(values: Sequence[float] | None, limit: float) -> str:
    """What a certificate says at most; as much as the limit says nothing."""
    if values is None:
        return "<small>not certified</small>"
    return _middle(values, _hundredths) + (" <small>says nothing</small>" if values[0] >= limit else "")


def _hundredths(value: float | None) -> str:
    return number(value, 2)


def _fine(value: float | None) -> str:
    return number(value, 4)


def _step(value: float | None) -> str:
    return "never" if value is not None and math.isinf(value) else total(value)


def _interval_of_mean(row: Measured, written: Written) -> str:
    """Write [low, high] of the mean."""
    if row.sure.mean_low is None:
        return written(None)
    return f"<span>[{written(row.sure.mean_low)}, {written(row.sure.mean_high)}]</span>"


def _better(row: Measured) -> str:
    """Write `probability [low, high]`; the best row is not compared with itself."""
    return _estimate(row.sure.better, row.sure.better_low, row.sure.better_high, _hundredths)


def _false(row: PromiseRow) -> str:
    """Runs in which a certificate was false; too many stand out."""
    words = f"{row.false_runs} of {row.runs}"
    return f'<span class="no">{words}</span>' if too_often_false(row) else words


def _violations(row: PromiseRow) -> str:
    return f"violated {row.lemma_1_violations} times" if row.lemma_1_violations else "holds"


# --- the tables ------------------------------------------------------------------------------------------------------


def _compared(rows: Sequence[Row]) -> bool:
    return any(row.printed_mean is not None for row in rows)


def _alone(rows: Sequence[Row]) -> bool:
    return not _compared(rows)


def _goals(rows: Sequence[EpisodeRow]) -> bool:
    return any(row.goals_most > 0 for row in rows)


def _final(rows: Sequence[EpisodeRow]) -> bool:
    return any(row.final is not None for row in rows)


def _repeated(rows: Sequence[Measured]) -> bool:
    return any(row.sure.mean_low is not None for row in rows)


def _rivals(rows: Sequence[Measured]) -> bool:
    return any(row.sure.better is not None for row in rows)


def _runs(rows: Sequence[Measured]) -> str:
    counts = [row.runs for row in rows]
    return f"{span(min(counts), max(counts))} {'run' if max(counts) == 1 else 'runs'} of each row"


def _counted_runs(rows: Sequence[PromiseRow]) -> str:
    if all(row.runs == 1 for row in rows):
        return "One run of each row."
    most, fewest = max(row.runs for row in rows), min(row.runs for row in rows)
    return f"{span(fewest, most)} runs of each row: their median [least, most], which is no interval of the median."


_VERDICTS = (
    "✓ reproduced, ✗ not reproduced, ? not the print, by fewer runs than the paper's, – not compared. "
    "Informative: the print excludes most of the settings around the one that was run."
)
_INTERVAL = f" 95 % of mean: 95 % interval of the expected value, {KIND}."
_BETTER = (
    " Beats best: probability that a run of the row earns more than one of the row with the highest mean of its group,"
    " which these runs chose (–), ties by half [95 % interval, Wilson's of the placements]."
)
_BOUNDS = (
    " ε-bad: steps, counted at checkpoints, each standing for the steps to the next; bounded by Theorem 1."
    " Error: the anytime error at the last step, bounded by Corollary 1 and, from the data, by a certificate. To V*:"
    " the certified gap to the optimum, median. False: runs in which a certificate was false at some checkpoint."
    " Over: the step from which on no step explores explicitly, median."
    " A bound says nothing unless it is below the worst that is possible: all steps of a"
    " run, or an error as large as the largest value."
)

STEPS: Table[Row] = Table(
    lambda rows: f"Average reward per step, {_runs(rows)}: mean over runs [10 %, 90 % of runs]. ",
    [
        Column("Ours", lambda row: _estimate(row.mean, row.p10, row.p90), lambda row: row.mean, shown=_compared),
        Column("Mean", lambda row: _estimate(row.mean, row.p10, row.p90), lambda row: row.mean, shown=_alone),
        Column(
            "Printed", lambda row: _estimate(row.printed_mean, row.printed_p10, row.printed_p90),
            lambda row: row.printed_mean, shown=_compared,
        ),
        Column(
            '<span class="verdict">Verdict</span>', lambda row: shown_verdict(row.verdict),
            lambda row: row.verdict or None, css="", shown=_compared, legend=_VERDICTS,
        ),
        Column(
            "95 % of mean", lambda row: _interval_of_mean(row, _fine), lambda row: row.sure.mean_low,
            shown=_repeated, legend=_INTERVAL,
        ),
        Column("Beats best", _better, lambda row: row.sure.better, shown=_rivals, legend=_BETTER),
        Column("Runs", lambda row: str(row.runs), lambda row: row.runs),
    ],
)  # fmt: skip

EPISODES: Table[EpisodeRow] = Table(
    lambda rows: f"Total reward of an episode, {_runs(rows)}: mean over runs [10 %, 90 % of runs].",
    [
        Column(
            "All episodes", lambda row: _estimate(row.total, row.total_p10, row.total_p90, total),
            lambda row: row.total,
        ),
        Column(
            "95 % of mean", lambda row: _interval_of_mean(row, total), lambda row: row.sure.mean_low,
            shown=_repeated, legend=_INTERVAL,
        ),
        Column("Beats best", _better, lambda row: row.sure.better, shown=_rivals, legend=_BETTER),
        Column(
            "Last ten", lambda row: _estimate(row.last10, row.last10_p10, row.last10_p90, total),
            lambda row: row.last10,
        ),
        Column(
            "Ended", lambda row: span(row.goals_fewest, row.goals_most), lambda row: row.goals, shown=_goals,
            legend=" Ended: episodes of a run that ended by the rules, such as at a goal; fewest to most of the runs.",
        ),
        Column(
            "Final", lambda row: _estimate(row.final, row.final_p10, row.final_p90, total), lambda row: row.final,
            shown=_final, legend=" Final: episodes after the last one, acting on the learnt model as it is.",
        ),
        Column("Runs", lambda row: str(row.runs), lambda row: row.runs),
    ],
)  # fmt: skip

PROMISES: Table[PromiseRow] = Table(
    _counted_runs,
    [
        Column("h", lambda row: str(row.h), lambda row: row.h, legend=_BOUNDS),
        Column("ε-bad", lambda row: _middle(row.bad_steps), lambda row: row.bad_steps[0]),
        Column("Bound", lambda row: _promised(row.bad_steps_bound, row.steps), lambda row: row.bad_steps_bound),
        Column("Error", lambda row: _middle(row.anytime_error, _hundredths), lambda row: row.anytime_error[0]),
        Column(
            "Bound", lambda row: _promised(row.anytime_error_bound, row.largest), lambda row: row.anytime_error_bound
        ),
        Column(
            "Certified", lambda row: _certified(row.certified, row.largest),
            lambda row: None if row.certified is None else row.certified[0],
        ),
        Column("To V*", lambda row: _hundredths(row.optimality[0]), lambda row: row.optimality[0]),
        Column("False", _false, lambda row: row.false_runs),
        Column("Over", lambda row: _step(row.exploration_over[0]), lambda row: row.exploration_over[0]),
        Column("Lemma 1", _violations, lambda row: row.lemma_1_violations),
    ],
)  # fmt: skip
