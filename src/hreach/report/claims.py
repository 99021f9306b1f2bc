"""Verdicts on claims, computed from the runs.

"less", "greater", "best": for each pair of an algorithm and what it is compared with, an interval of the difference of
the means over runs that holds for few runs too (`statistics.difference_interval`), at 95 % for all pairs of the claim
together (Bonferroni). A pair *holds* if the interval lies on the right side of 0, *does not hold* if it lies on the
wrong side, else it is *undecided*.

"at most", "at least": every run is compared; one that is beyond the number is a counterexample.

A claim that is true of everything that is possible (`Claim.possible`) *cannot fail*: that it holds says nothing.

A claim holds if all its pairs do, and does not hold if one of them does not. With fewer than `FEWEST_RUNS` runs nothing
is decided, except by a counterexample.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hreach.report.numbers import total
from hreach.report.verdicts import CANNOT_FAIL, FAILS, HOLDS, UNDECIDED
from hreach.statistics import Array, difference_interval
from hreach.studies.results import Result
from hreach.studies.spec import AgentSpec, Claim, Study

FEWEST_RUNS = 5
LEVEL = 0.95
WORDS = {
    "total": "mean total reward of an episode",
    "last10": "mean total reward of the last ten episodes",
    "goals": "episodes that reached the goal",
    "final": "mean total reward of the final episodes, without exploration",
}
COLUMNS = [
    "claim",
    "source",
    "ours",
    "variant",
    "verdict",
    "kind",
    "statistic",
    "algorithm",
    "than",
    "value",
    "other",
    "difference",
    "low",
    "high",
    "runs",
    "comparison",
]
EVERY_RUN = ("at most", "at least")


@dataclass(frozen=True)
class Comparison:
    """One algorithm against another, or against a number.

    value, other   means over runs; of "at most" the largest, of "at least" the smallest of the runs, and the number
    low, high      interval of value - other; both equal to it where every run is compared
    support        how far the less favourable end of the interval is on the claim's side of 0
    """

    algorithm: str
    than: str
    value: float
    other: float
    low: float
    high: float
    support: float
    verdict: str


@dataclass(frozen=True)
class Judged:
    """A claim in one variant: what came out, and every comparison behind it."""

    claim: Claim
    variant: str
    verdict: str
    comparisons: Sequence[Comparison]
    runs: int

    @property
    def evidence(self) -> str:
        """The comparison that supports the claim least, in words, and why the claim cannot fail if it cannot."""
        if self.verdict != CANNOT_FAIL:
            return self._tightest
        possible = " to ".join(total(end) for end in self.claim.possible or ())
        return f"{self._tightest}; possible are {possible}: {self.claim.because}"

    @property
    def _tightest(self) -> str:
        least = min(self.comparisons, key=lambda c: c.support)
        others = f"; the tightest of {len(self.comparisons)} comparisons" if len(self.comparisons) > 1 else ""
        if self.claim.kind in EVERY_RUN:
            extreme = {"at most": "most", "at least": "fewest"} if self.claim.statistic == "goals" else {}
            word = extreme.get(self.claim.kind, {"at most": "largest", "at least": "smallest"}[self.claim.kind])
            return f"{least.algorithm}: the {word} in {self.runs} runs is {total(least.value)}{others}"
        times = f"{self.claim.times:g} × " if self.claim.times != 1 else ""
        return (
            f"{least.algorithm} {total(least.value)}, {times}{least.than} {total(least.other)}: "
            f"difference {total(least.value - least.other)} [{total(least.low)}, {total(least.high)}]{others}"
        )


def judge(claim: Claim, variant: str, results: Mapping[str, Result], rivals: Sequence[str]) -> Judged:
    """The verdict on a claim from the results of one variant, by label; without rivals against its number."""
    against: Sequence[str | None] = rivals or [None]
    pairs = [(results[label], label, rival) for label in claim.algorithms for rival in against]
    if claim.kind in EVERY_RUN:
        made = [_every_run(claim, label, result) for result, label, _ in pairs]
    else:
        level = 1 - (1 - LEVEL) / len(pairs)
        made = [_means(claim, label, result, rival, results.get(rival or ""), level) for result, label, rival in pairs]
    verdicts = {comparison.verdict for comparison in made}
    verdict = next((word for word in (FAILS, UNDECIDED) if word in verdicts), HOLDS)
    if claim.cannot_fail and verdict != FAILS:
        verdict = CANNOT_FAIL
    return Judged(claim, variant, verdict, made, min(result.runs for result, _, _ in pairs))


def judge_all(study: Study, results: Sequence[tuple[AgentSpec, Result]]) -> list[list[Judged]]:
    """For each claim the verdict of every variant that has the rows it speaks of."""
    judged = []
    for claim in study.claim:
        variants = study.variants_with(claim)
        rows = {v: {spec.label: result for spec, result in results if spec.variant == v} for v in variants}
        judged.append([judge(claim, v, rows[v], study.rivals_of(claim, v)) for v in variants])
    return judged


def rule(claim: Claim) -> str:
    """What decides the claim, in words; what a sentence of the paper means in numbers is our reading."""
    who, what = ", ".join(claim.algorithms), WORDS[claim.statistic]
    begin = "Decided by" if claim.ours else "Our reading, decided by"
    if claim.kind in EVERY_RUN:
        return f"{begin}: {what}; {who} {claim.kind} {total(claim.than)} in every run."
    times = f"{claim.times:g} times that of " if claim.times != 1 else ""
    than = (
        times + ", ".join(claim.rivals) if claim.rivals else "all others" if claim.than is None else total(claim.than)
    )
    word = "less" if claim.kind == "less" else "greater"
    return f"{begin}: {what}; {who} {word} than {than}."


def to_csv(judged: Iterable[Judged]) -> str:
    """Every comparison of every claim, numbers in full."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for j in judged:
        about = (j.claim.text, j.claim.source, j.claim.ours, j.variant, j.verdict, j.claim.kind, j.claim.statistic)
        for c in j.comparisons:
            numbers = (f"{x:.6g}" for x in (c.value, c.other, c.value - c.other, c.low, c.high))
            writer.writerow([*about, c.algorithm, c.than, *numbers, j.runs, c.verdict])
    return out.getvalue()


def _every_run(claim: Claim, label: str, result: Result) -> Comparison:
    """Every run against the number; the run that is farthest out stands for all."""
    values, bound = statistic(claim.statistic, result), float(claim.than)
    value = float(values.max() if claim.kind == "at most" else values.min())
    support = bound - value if claim.kind == "at most" else value - bound
    verdict = FAILS if support < 0 else HOLDS if len(values) >= FEWEST_RUNS else UNDECIDED
    return Comparison(label, total(bound), value, bound, value - bound, value - bound, support, verdict)


def _means(
    claim: Claim, label: str, result: Result, rival: str | None, other: Result | None, level: float
) -> Comparison:
    """The mean over runs against that of another algorithm, or against a number."""
    ours = statistic(claim.statistic, result)
    theirs = np.array([float(claim.than)]) if other is None else statistic(claim.statistic, other)
    times = 1.0 if other is None else claim.times
    low, high = difference_interval(ours, theirs, times, level)
    support, against = (-high, low) if claim.kind == "less" else (low, -high)
    enough = len(ours) >= FEWEST_RUNS and (other is None or len(theirs) >= FEWEST_RUNS)
    verdict = UNDECIDED if not enough else HOLDS if support > 0 else FAILS if against > 0 else UNDECIDED
    than = total(claim.than) if rival is None else rival
    return Comparison(label, than, float(ours.mean()), times * float(theirs.mean()), low, high, support, verdict)


def statistic(name: str, result: Result) -> Array:
    """One number for each run, (runs,): the statistics of `hreach.studies.spec.Claim`."""
    if name == "goals":
        return np.asarray(result.learning.terminated.sum(axis=1), dtype=np.float64)
    last = {"total": 0, "last10": 10, "final": 0}[name]
    phase = result.final if name == "final" else result.learning
    return np.asarray(phase.total[:, -last:].mean(axis=1))
