"""The words in which the report judges, and what came out in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hreach.report.rows import PromiseRow, Row

AS_PRINTED, AS_DEFINED = "as printed", "as defined"
REPRODUCED, NOT_REPRODUCED, UNDECIDED = "reproduced", "not reproduced", "undecided"
HOLDS, FAILS, CANNOT_FAIL = "holds", "does not hold", "cannot fail"


@dataclass(frozen=True)
class Outcome:
    """What the data of one variant say about a claim: the verdict and the numbers behind it."""

    variant: str
    verdict: str
    evidence: str


@dataclass(frozen=True)
class ClaimShown:
    """A claim, where the paper makes it ("": it is ours), what decides it, and what came out in each variant."""

    text: str
    source: str
    rule: str
    outcomes: Sequence[Outcome]


def summary(rows: Iterable[Row]) -> str:
    """Say in one sentence how much of what the paper printed came out again, naming what did not."""
    compared = [row for row in rows if row.printed_mean is not None]
    fitted, defined = ([row for row in compared if row.variant == v] for v in (AS_PRINTED, AS_DEFINED))
    if not fitted:
        return ""
    noun = "row" if len(fitted) == 1 else "rows"
    tail = ""
    for word in (NOT_REPRODUCED, UNDECIDED):
        if missed := [row.algorithm for row in fitted if row.verdict == word]:
            tail += f"; {word}: {', '.join(missed)}"
    if defined:
        tail += f"; as defined: {_share_reproduced(defined)}"
    return f"{_share_reproduced(fitted, f'printed {noun} reproduced by chosen settings')}{tail}."


def _share_reproduced(rows: Sequence[Row], words: str = "") -> str:
    """How many of the rows came out, and of those that are informative."""
    counts = [(sum(r.verdict == REPRODUCED for r in some), len(some)) for some in (rows, _informative(rows))]
    among = f"{counts[1][0]} of the {counts[1][1]} informative" if counts[1][1] else ""
    return f"{counts[0][0]} of {counts[0][1]} {words}".rstrip() + (f" ({among})" if among else "")


def _informative(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.informative]


def claims_summary(claims: Sequence[ClaimShown]) -> str:
    """Say in one sentence for each variant how many claims of the paper, and of ours, hold, do not, or are open."""
    verdicts: dict[str, dict[str, Counter[str]]] = {}
    for claim in claims:
        whose = "claims of the paper" if claim.source else "of ours"
        for outcome in claim.outcomes:
            verdicts.setdefault(outcome.variant, {}).setdefault(whose, Counter())[outcome.verdict] += 1
    sentences = []
    for variant, parties in verdicts.items():
        counted = ", ".join(_counted(whose, counts) for whose, counts in parties.items())
        sentences.append(f"{variant}: {counted}" if variant else counted)
    return "; ".join(sentences) + "." if sentences else ""


def _counted(whose: str, counts: Counter[str]) -> str:
    others = (FAILS, UNDECIDED, CANNOT_FAIL)
    tail = "".join(f", {counts[word]} {_plural(word, counts[word])}" for word in others if counts[word])
    return f"{counts[HOLDS]} of {counts.total()} {whose} {_plural(HOLDS, counts[HOLDS])}{tail}"


def promises_summary(rows: Sequence[PromiseRow]) -> str:
    """Say in a sentence or two whether what was promised was kept, and what it said."""
    if not rows:
        return ""
    broken = [f"{row.algorithm} ({row.study})" for row in rows if row.kept is False or too_often_false(row)]
    if broken:
        return f"Not every promise was kept: {', '.join(broken)}."
    runs, false = sum(row.runs for row in rows), sum(row.false_runs for row in rows)
    told = "no certificate was false" if false == 0 else f"certificates were false in {false}, within δ"
    return f"No promise was broken: in {runs} runs {told}{_said_by_certificates(rows)}. {_said_by_theorem(rows)}"


def too_often_false(row: PromiseRow) -> bool:
    """Whether a certificate was false in more than the share delta of the runs."""
    return row.false_runs > row.delta * row.runs


def _said_by_certificates(rows: Sequence[PromiseRow]) -> str:
    """The range of what certificates said of the error, as shares of the largest value."""
    shares = [row.certified[0] / row.largest for row in rows if row.certified is not None]
    if not shares:
        return ""
    steps = sorted({row.steps for row in rows})
    after = " to ".join(str(n) for n in dict.fromkeys((steps[0], steps[-1])))
    return f", and after {after} steps they bound the error by {min(shares):.0%} to {max(shares):.0%} of the range"


def _said_by_theorem(rows: Sequence[PromiseRow]) -> str:
    promised = [row for row in rows if row.kept is not None]
    if not promised:
        return "The theorem's bounds say nothing about so few steps."
    return f"The theorem's bounds say something of {len(promised)} of {len(rows)} rows."


def _plural(verdict: str, count: int) -> str:
    return verdict if count == 1 else {HOLDS: "hold", FAILS: "do not hold"}.get(verdict, verdict)
