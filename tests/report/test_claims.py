"""Verdicts on claims: right when the data are clear, undecided when they are not, wrong no more often than promised."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from hreach.report.claims import COLUMNS, FEWEST_RUNS, Judged, judge, judge_all, rule, statistic, to_csv
from hreach.studies.results import Phase, Result
from hreach.studies.spec import AgentSpec, Claim, Study

Array = NDArray[np.float64]
RUNS = 10


def result(total: ArrayLike, goals: ArrayLike | None = None, final: ArrayLike | None = None) -> Result:
    """Runs with these totals (runs, episodes); by default every episode reaches the goal."""
    totals = np.array(total, dtype=np.float64)
    reached = np.ones(totals.shape, dtype=bool) if goals is None else np.array(goals, dtype=bool)
    ends = np.empty((len(totals), 0)) if final is None else np.array(final, dtype=np.float64)

    def phase(values: Array, ends: NDArray[np.bool_]) -> Phase:
        return Phase(values, np.ones(values.shape, dtype=np.int64), ends)

    at = np.arange(1, totals.shape[1] + 1)
    return Result("episodes", at, phase(totals, reached), phase(ends, np.ones(ends.shape, dtype=bool)), {})


def around(mean: float, spread: float = 1.0, runs: int = RUNS, seed: int = 0) -> Result:
    """One episode in each run."""
    return result(np.random.default_rng(seed).normal(mean, spread, size=(runs, 1)))


def claim(**fields: Any) -> Claim:
    given = {"text": "t", "kind": "greater", "statistic": "total", "algorithm": "A", "than": "B"} | fields
    return Claim(**given)


def verdict(about: Claim, **results: Result) -> str:
    return judge(about, "", results, about.rivals).verdict


# --- statistics --------------------------------------------------------------


def test_statistics_of_a_run() -> None:
    totals = np.arange(24.0).reshape(2, 12)
    runs = result(totals, goals=totals % 2 == 0, final=[[1, 3], [5, 7]])
    assert statistic("total", runs).tolist() == [5.5, 17.5]
    assert statistic("last10", runs).tolist() == [6.5, 18.5]
    assert statistic("goals", runs).tolist() == [6, 6]
    assert statistic("final", runs).tolist() == [2, 6]


def test_the_last_ten_of_fewer_than_ten_episodes_are_all() -> None:
    assert statistic("last10", result([[1.0, 2.0, 6.0]])).tolist() == [3.0]


# --- means -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "mean", "word"),
    [
        ("greater", 5, "holds"),
        ("greater", -5, "does not hold"),
        ("greater", 0.1, "undecided"),
        ("less", -5, "holds"),
        ("less", 5, "does not hold"),
        ("less", 0.1, "undecided"),
    ],
)
@pytest.mark.parametrize("than", ["B", 0])
def test_the_means_decide(kind: str, mean: float, word: str, than: str | int) -> None:
    assert verdict(claim(kind=kind, than=than), A=around(mean, seed=1), B=around(0, seed=2)) == word


def test_equal_constants_decide_nothing() -> None:
    same = result(np.full((RUNS, 2), -1800.0))
    assert verdict(claim(), A=same, B=same) == "undecided"
    assert verdict(claim(kind="less"), A=same, B=same) == "undecided"


@pytest.mark.parametrize("runs", [1, FEWEST_RUNS - 1])
def test_few_runs_decide_nothing(runs: int) -> None:
    few, many = around(50, runs=runs), around(0, runs=RUNS)
    assert verdict(claim(), A=few, B=many) == "undecided"
    assert verdict(claim(), A=around(50), B=around(0, runs=runs)) == "undecided"
    assert verdict(claim(than=0), A=few) == "undecided"
    assert verdict(claim(), A=around(50, runs=FEWEST_RUNS), B=many) == "holds"


def test_a_factor_multiplies_the_other_mean() -> None:
    results = {"A": around(95, 0.1, seed=1), "B": around(100, 0.1, seed=2)}
    assert verdict(claim(), **results) == "does not hold"
    assert verdict(claim(times=0.9), **results) == "holds"
    (made,) = judge(claim(times=0.9), "", results, ["B"]).comparisons
    assert made.other == pytest.approx(90, abs=0.2)


def test_another_statistic_can_decide_otherwise() -> None:
    early = np.concatenate([np.full((RUNS, 10), 5.0), np.full((RUNS, 10), 0.0)], axis=1)
    results = {"A": result(early), "B": result(early[:, ::-1] - 1.0)}
    assert verdict(claim(statistic="total"), **results) == "holds"
    assert verdict(claim(statistic="last10"), **results) == "does not hold"


def test_a_claim_about_several_holds_if_every_pair_does() -> None:
    about = claim(algorithm=["A", "B"], than=["C", "D"])
    high, low, between = around(9, seed=1), around(0, seed=2), around(9.1, seed=3)
    assert verdict(about, A=high, B=high, C=low, D=low) == "holds"
    assert verdict(about, A=high, B=high, C=low, D=between) == "undecided"
    assert verdict(about, A=high, B=low, C=low, D=between) == "does not hold"


def test_best_is_greater_than_every_other_row_but_the_references() -> None:
    def study(reference: bool) -> Study:
        rows = [AgentSpec(agent="x", algorithm=label, variant="v") for label in "AB"]
        rows.append(AgentSpec(agent="x", algorithm="R", variant="v", reference=reference))
        fields = {"title": "t", "domain": "d", "episodes": 1, "runs": RUNS, "seed": 0}
        return Study(**fields, agent=rows, claim=[claim(kind="best", than=None)])  # type: ignore[arg-type]

    def judged(reference: bool) -> Judged:
        data = {"A": around(5, seed=1), "B": around(0, seed=2), "R": around(9, seed=3)}
        made = study(reference)
        ((only,),) = judge_all(made, [(spec, data[spec.label]) for spec in made.agent])
        return only

    assert judged(reference=True).verdict == "holds"
    assert judged(reference=False).verdict == "does not hold"
    assert [c.than for c in judged(reference=True).comparisons] == ["B"]


def error_rate(rivals: int, bonferroni: bool) -> float:
    """How often "best" is said not to hold although all algorithms are equal."""
    labels = [f"B{i}" for i in range(rivals)]
    rng = np.random.default_rng(8)
    wrong = 0
    for _ in range(150):
        data = {label: result(rng.normal(size=(RUNS, 1))) for label in ["A", *labels]}
        about = claim(kind="best", than=labels)
        if bonferroni:
            wrong += judge(about, "", data, labels).verdict == "does not hold"
        else:
            wrong += any(judge(about, "", data, [label]).verdict == "does not hold" for label in labels)
    return wrong / 150


@pytest.mark.usefixtures("fewer_resamples")
def test_many_rivals_do_not_make_a_wrong_refutation_likely() -> None:
    assert error_rate(8, bonferroni=True) < 0.1


@pytest.mark.usefixtures("fewer_resamples")
def test_without_the_correction_they_would() -> None:
    assert error_rate(8, bonferroni=False) > 0.1


# --- every run ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "bound", "word"),
    [
        ("at most", 3, "holds"),
        ("at most", 2, "does not hold"),
        ("at least", 1, "holds"),
        ("at least", 2, "does not hold"),
    ],
)
def test_every_run_is_compared_with_the_number(kind: str, bound: int, word: str) -> None:
    goals = np.zeros((RUNS, 4), dtype=bool)
    goals[:, 0] = True
    goals[3, :3] = True
    assert verdict(claim(kind=kind, statistic="goals", than=bound), A=result(np.zeros((RUNS, 4)), goals)) == word


def test_few_runs_show_a_counterexample_but_no_rule() -> None:
    few = result(np.zeros((2, 3)), goals=np.zeros((2, 3)))
    assert verdict(claim(kind="at most", statistic="goals", than=0), A=few) == "undecided"
    assert verdict(claim(kind="at least", statistic="goals", than=1), A=few) == "does not hold"


# --- claims that cannot fail -------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "than", "possible", "word"),
    [
        ("at most", 9, [0.0, 9.0], "cannot fail"),
        ("at most", 9, [0.0, 9.5], "holds"),
        ("less", 9, [0.0, 9.0], "holds"),
        ("less", 9, [0.0, 8.5], "cannot fail"),
        ("at least", 1, [1.0, 9.0], "cannot fail"),
        ("at least", 1, [0.5, 9.0], "holds"),
        ("greater", 1, [1.0, 9.0], "holds"),
        ("greater", 1, [1.5, 9.0], "cannot fail"),
    ],
)
def test_a_claim_that_is_true_of_all_that_is_possible_cannot_fail(
    kind: str, than: float, possible: list[float], word: str
) -> None:
    about = claim(kind=kind, than=than, possible=possible, because="physics")
    data = {"A": around(5, 0.1)}
    judged = judge(about, "", data, [])
    assert judged.verdict == word
    assert judged.evidence.endswith(": physics") == (word == "cannot fail")
    assert verdict(claim(kind=kind, than=than), **data) == "holds"


def test_a_run_beyond_what_is_possible_is_still_a_counterexample() -> None:
    about = claim(kind="at most", than=9, possible=[0.0, 8.0], because="we thought so")
    assert verdict(about, A=around(20)) == "does not hold"


# --- words and files ---------------------------------------------------------


def test_variants_are_judged_each_on_its_own() -> None:
    rows = [AgentSpec(agent="x", algorithm=a, variant=v) for v in ("one", "two") for a in "AB"]
    rows.append(AgentSpec(agent="x", algorithm="A", variant="three"))
    fields = {"title": "t", "domain": "d", "episodes": 1, "runs": RUNS, "seed": 0, "claim": [claim()]}
    study = Study(**fields, agent=rows)  # type: ignore[arg-type]
    data = [around(m, seed=i) for i, m in enumerate((5, 0, 0, 5, 7))]
    (judged,) = judge_all(study, list(zip(rows, data, strict=True)))
    assert [(j.variant, j.verdict) for j in judged] == [("one", "holds"), ("two", "does not hold")]


def test_the_evidence_is_the_comparison_that_supports_the_claim_least() -> None:
    data = {"A": around(5, seed=1), "B": around(0, seed=2), "C": around(4.9, seed=3)}
    judged = judge(claim(than=["B", "C"]), "", data, ["B", "C"])
    assert judged.evidence.startswith("A ")
    assert ", C " in judged.evidence
    assert "the tightest of 2 comparisons" in judged.evidence
    against = judge(claim(than=["B", "C"], kind="less"), "", data, ["B", "C"])
    assert ", B " in against.evidence


def test_the_evidence_shows_value_difference_and_interval() -> None:
    data = {"A": result(np.full((RUNS, 1), -124.25)), "B": result(np.full((RUNS, 1), -1800.0))}
    assert judge(claim(), "", data, ["B"]).evidence == "A −124.2, B −1800: difference 1676 [1676, 1676]"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "mean total reward of an episode; A greater than B."),
        ({"kind": "less", "than": 2000}, "A less than 2000."),
        ({"kind": "best", "than": None}, "A greater than all others."),
        ({"times": 0.9, "statistic": "last10"}, "last ten episodes; A greater than 0.9 times that of B."),
        ({"kind": "at most", "statistic": "goals", "than": 0}, "that reached the goal; A at most 0 in every run."),
        ({"algorithm": ["A", "C"]}, "A, C greater than B."),
    ],
)
def test_the_rule_says_what_decides(fields: dict[str, Any], words: str) -> None:
    assert rule(claim(**fields)).endswith(words)


def test_what_a_sentence_of_the_paper_means_in_numbers_is_our_reading() -> None:
    assert rule(claim(source="Section 5")).startswith("Our reading, decided by: ")
    assert rule(claim()).startswith("Decided by: ")


def test_the_csv_has_every_comparison_with_its_interval() -> None:
    data = {"A": around(5, seed=1), "B": around(0, seed=2), "C": around(4.9, seed=3)}
    judged = judge(claim(than=["B", "C"], text='say "x", <b>', source="here"), "v", data, ["B", "C"])
    rows = list(csv.DictReader(io.StringIO(to_csv([judged]), newline="")))
    assert list(rows[0]) == COLUMNS
    assert [(row["algorithm"], row["than"], row["comparison"]) for row in rows] == [
        ("A", "B", "holds"),
        ("A", "C", "undecided"),
    ]
    about = {(row["claim"], row["source"], row["ours"], row["variant"]) for row in rows}
    assert about == {('say "x", <b>', "here", "False", "v")}
    assert {row["verdict"] for row in rows} == {"undecided"}
    for row, made in zip(rows, judged.comparisons, strict=True):
        assert float(row["low"]) <= float(row["difference"]) <= float(row["high"])
        assert float(row["difference"]) == pytest.approx(made.value - made.other, rel=1e-4)
        assert row["runs"] == "10"


def test_a_verdict_is_the_same_each_time() -> None:
    data = {"A": around(1, seed=1), "B": around(0, seed=2)}
    once, twice = (judge(claim(), "", data, ["B"]) for _ in range(2))
    assert once.comparisons == twice.comparisons
    assert replace(once) == twice
