"""Rows that stop early: where they stop is a function of their results alone, and looking often does not mislead."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hreach import InputError
from hreach.running.executors.inline import Inline
from hreach.statistics import anytime_interval, separated
from hreach.studies.grid import cell_of
from hreach.studies.runner import run_study
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.stepped import by_steps
from hreach.studies.store import Store
from hreach.studies.until import LOOK, Numbers, bounds_of, check_until, numbers_of, stops
from hreach.studies.workers import Workers

UNIT = (0.0, 1.0)


@pytest.mark.parametrize("until", ["ranked", "ci_width < 0.005", "ci_width<1e-3", " ci_width <.5 ", "ci_width < 2."])
def test_rules_are_taken(until: str) -> None:
    check_until(until)


WIDTHS = ["< 0", "< 0.0", "> 1", "<= 1", "< -1", "< nan", "< inf", "< 1 or 1", "< 1e", "< 1.2.3", ""]


@pytest.mark.parametrize("until", ["", "Ranked", "ranked ", "width < 1", "0 < 1", *(f"ci_width {w}" for w in WIDTHS)])
def test_anything_else_is_refused(until: str) -> None:
    with pytest.raises(
        InputError, match=r'^until is .*, but must be "ranked", or "ci_width < x" with a number x above'
    ):
        check_until(until)


# --- where rows stop ---------------------------------------------------------


def first_look(most: int, settled: Callable[[int], bool]) -> int:
    """The oracle: every look one after the other, with all results at hand."""
    return next((n for n in range(LOOK, most, LOOK) if settled(n)), most)


def first_narrow(row: Numbers, bounds: tuple[float, float], width: float, most: int) -> int:
    """The same for a row whose interval is to be narrower than this."""

    def narrow(n: int) -> bool:
        low, high = anytime_interval(row[:n], *bounds, 0.95)
        return high - low < width

    return first_look(most, narrow)


def needed_by(until: str, rows: dict[str, Numbers], there: dict[str, int], most: int) -> dict[str, int]:
    """What a study ends with that begins with so many runs of each row."""
    there = dict(there)
    while True:
        needed = stops(until, [list(rows)], {cell: rows[cell][: there[cell]] for cell in rows}, UNIT, most)
        if all(there[cell] >= needed[cell] for cell in rows):
            return needed
        there = {cell: max(there[cell], needed[cell]) for cell in rows}


BEGUN = st.lists(st.integers(0, 600), min_size=3, max_size=3)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), begun=BEGUN, most=st.sampled_from([1, 30, 50, 120, 600]))
@pytest.mark.parametrize("until", ["ranked", "ci_width < 0.2"])
def test_the_number_of_runs_is_a_function_of_results_alone(until: str, seed: int, begun: list[int], most: int) -> None:
    rng = np.random.default_rng(seed)
    rows = {name: rng.beta(*shape, size=most) for name, shape in {"a": (2, 8), "b": (5, 5), "c": (60, 30)}.items()}
    if until == "ranked":
        each = first_look(most, lambda n: separated({k: row[:n] for k, row in rows.items()}, *UNIT, 0.95))
        expected = dict.fromkeys(rows, each)
    else:
        expected = {k: first_narrow(row, UNIT, 0.2, most) for k, row in rows.items()}
    for there in (dict.fromkeys(rows, 0), {k: min(n, most) for k, n in zip(rows, begun, strict=True)}):
        assert needed_by(until, rows, there, most) == expected
    backwards = dict(reversed(rows.items()))
    assert needed_by(until, backwards, dict.fromkeys(rows, 0), most) == expected


def test_rows_of_two_variants_stop_when_the_later_one_may() -> None:
    rng = np.random.default_rng(0)
    rows = {"a": rng.beta(2, 8, 600), "b": rng.beta(8, 2, 600), "c": rng.beta(2.4, 8, 600)}
    early, late = (stops("ranked", [group], rows, UNIT, 600) for group in (["a", "b"], ["a", "c"]))
    assert early["a"] < late["a"]
    together = stops("ranked", [["a", "b"], ["a", "c"]], rows, UNIT, 600)
    assert together == {"a": late["a"], "b": early["b"], "c": late["c"]}


# --- looking often does not mislead ------------------------------------------

REPEATS, MOST = 300, 600


def stopped_wrongly(stop: Callable[[Sequence[Numbers]], int]) -> float:
    """The share of pairs of rows with equal means whose order is taken for settled at some look."""
    rng = np.random.default_rng(7)
    pairs = ((rng.random((2, MOST)) < 0.5).astype(np.float64) for _ in range(REPEATS))
    return float(np.mean([stop(list(pair)) < MOST for pair in pairs]))


def ranked(rows: Sequence[Numbers]) -> int:
    return stops("ranked", [["a", "b"]], dict(zip("ab", rows, strict=True)), UNIT, MOST)["a"]


def ranked_by_one_look(rows: Sequence[Numbers]) -> int:
    """Wrong on purpose: at every look the normal interval for a number of runs that was fixed."""

    def settled(n: int) -> bool:
        difference = rows[0][:n] - rows[1][:n]
        return bool(abs(difference.mean()) > 1.96 * difference.std(ddof=1) / math.sqrt(n))

    return first_look(MOST, settled)


def test_rows_that_are_equal_are_ranked_as_rarely_as_stated() -> None:
    assert stopped_wrongly(ranked) <= 0.05


def test_by_an_interval_for_one_look_more_often() -> None:
    """The twin."""
    assert stopped_wrongly(ranked_by_one_look) > 0.1


def test_rows_that_differ_are_ranked_before_their_last_run() -> None:
    rng = np.random.default_rng(8)
    rows = [(rng.random(MOST) < p).astype(np.float64) for p in (0.3, 0.7)]
    assert ranked(rows) < MOST / 2


# --- studies -----------------------------------------------------------------

AGENTS = [AgentSpec(agent="pac-rmdp", params={"h": 8}), AgentSpec(agent="greedy")]
STUDY = Study(title="T", domain="chain", steps=40, runs=400, seed=3, agent=AGENTS, until="ci_width < 0.03")


def changed(**fields: Any) -> Study:
    return STUDY.model_copy(update=fields)


def used(study: Study, store: Store) -> dict[str, int]:
    return {spec.label: result.runs for spec, result in run_study(study, store)}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """From all 400 runs of each row, and the rule."""
    results = run_study(changed(until=None), Store(tmp_path_factory.mktemp("all")))
    bounds = bounds_of(STUDY)
    found = {}
    for spec, result in results:
        found[spec.label] = first_narrow(numbers_of(result, bounds), bounds, 0.03, 400)
    return found


def test_a_study_stops_where_its_results_say(expected: dict[str, int], tmp_path: Path) -> None:
    assert used(STUDY, Store(tmp_path)) == expected
    assert len({*expected.values()}) == 2
    assert any(LOOK < runs < 400 for runs in expected.values())
    held = {spec.label: Store(tmp_path).held(cell_of(STUDY, spec).id)[-1][1] for spec in AGENTS}
    assert held == expected


def test_whatever_was_there_before_and_in_whichever_order(expected: dict[str, int], tmp_path: Path) -> None:
    run_study(changed(until=None, agent=AGENTS[1:]), Store(tmp_path), runs=333)
    run_study(changed(until=None, agent=AGENTS[:1]), Store(tmp_path), runs=7)
    assert used(changed(agent=AGENTS[::-1]), Store(tmp_path)) == expected


class Interrupted(Inline):
    """Ctrl-C after so many tasks."""

    def __init__(self, after: int) -> None:
        self.after = after

    def run(self, function: Callable[..., Any], tasks: Any) -> Iterator[tuple[int, Any]]:
        for done in super().run(function, tasks):
            yield done
            self.after -= 1
            if self.after == 0:
                raise KeyboardInterrupt


def test_and_however_often_it_was_interrupted(expected: dict[str, int], tmp_path: Path) -> None:
    for after in (1, 1, 2):
        stopping = Interrupted(after)
        with pytest.raises(KeyboardInterrupt):
            run_study(STUDY, Store(tmp_path), workers=Workers(stopping, stopping))
    assert used(STUDY, Store(tmp_path)) == expected


def test_bounds_are_those_given_or_the_rewards_of_the_domain() -> None:
    assert bounds_of(changed(bounds=[-1.0, 3.0])) == (-1.0, 3.0)
    low, high = bounds_of(STUDY)
    assert (low, high) == (0.0, 1.0)


def test_a_run_outside_of_the_bounds_ends_the_study() -> None:
    result = by_steps(np.full((3, 4), 0.5), {})
    assert numbers_of(result, (0.0, 0.5)).tolist() == [0.5] * 3
    with pytest.raises(InputError, match=r"^bounds is \[0\.0, 0\.4\], but a run came out as 0\.5\.$"):
        numbers_of(result, (0.0, 0.4))
