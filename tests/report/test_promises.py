"""Promise and truth: are these the study's own runs, the right bounds beside them, and nothing else changed?"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hreach import simulate
from hreach.drawing.palette import BLUE, INK
from hreach.guarantees import theory
from hreach.report.figures import Band, Gaps, gaps_figure
from hreach.report.figures.pens import Pen
from hreach.report.finished import Finished, audits_of, finished
from hreach.report.html.page import Section, render
from hreach.report.promised_figures import CERTIFIED, THEOREM, TRUTH, Audited, figures_of
from hreach.report.promises import promise_row, section, to_csv
from hreach.report.publish import publish
from hreach.report.rows import PromiseRow, Row
from hreach.report.verdicts import promises_summary
from hreach.running.loop import Run, run
from hreach.studies import audits
from hreach.studies.audited import Counted, OverReach
from hreach.studies.audits import chosen, run_audits
from hreach.studies.finish import begin, finish
from hreach.studies.grid import cell_of
from hreach.studies.loading import load_catalog
from hreach.studies.record import Record
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.store import Store

STEPS = 150
ROW = Row("VBE(0.1)", "as printed", 0.15, 0.1, 0.2, 0.0006, 1000, 0.155, 0.11, 0.21, "reproduced", "")
OTHER = Section("chain", "Chain", "text", [], [ROW], "chain.csv")


def short(name: str, steps: int = STEPS, **fields: Any) -> Study:
    return load_catalog(name).model_copy(update={"steps": steps, **fields})


def audited(study: Study, folder: Path, runs: int) -> list[Audited]:
    """The audits of a study of so many runs."""
    store = Store(folder)
    rows = run_audits(study, store, runs)
    return audits_of(store, Record(name="x", study=study, cells=[], runs=runs, seconds=0, audits=rows))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Audited]:
    return audited(short("modified-chain"), tmp_path_factory.mktemp("found"), 1000)


@pytest.fixture(scope="module")
def rows(found: list[Audited]) -> list[PromiseRow]:
    return [promise_row(short("modified-chain"), one) for one in found]


def test_one_row_of_each_family_is_chosen_as_defined() -> None:
    for name in ("chain", "modified-chain"):
        specs = chosen(load_catalog(name))
        assert [s.label for s in specs] == [
            *("PAC-RMDP(1)", "PAC-RMDP(8)", "PAC-RMDP(16)"),
            *("MBIE(0.01, 0.1)", "BOLT(148)", "PAC-RMDP(1)"),
        ]
        assert [s.variant for s in specs] == [*5 * ["as defined"], "as printed"]
        assert [s.params["prior"] for s in specs] == [0, 0, 0, 0, 1, 1]


def test_without_that_variant_all_rows_are_candidates_and_missing_ones_are_left_out() -> None:
    mine = [AgentSpec(agent="greedy"), AgentSpec(agent="bolt", algorithm="BOLT(9)"), AgentSpec(agent="mbie-eb")]
    assert [s.label for s in chosen(short("chain", agent=mine))] == ["BOLT(9)"]


@pytest.mark.parametrize("name", ["chain", "modified-chain"])
def test_the_audited_runs_are_the_studys_own(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Run] = []

    def recorded(*args: Any, **options: Any) -> Run:
        made.append(run(*args, **options))
        return made[-1]

    monkeypatch.setattr(audits, "run", recorded)
    study = short(name)
    audited(study, tmp_path, 500)
    cells = [cell_of(study, spec) for spec in chosen(study)]
    theirs = [simulate(name, c.agent, c.params, runs=2, steps=STEPS, seed=c.entropy).reward for c in cells]
    assert np.array_equal(np.concatenate(theirs), [one.rewards for one in made])


def test_the_bounds_are_those_of_the_theory_at_a_tenth_of_the_largest_value(
    found: list[Audited], rows: list[PromiseRow]
) -> None:
    problem = theory.Sizes(5, 2, 0.95, 1.0)
    assert problem.top == found[0].runs[0].largest
    for row, h in zip(rows, (1, 8, 16, None, 148, 1), strict=True):
        assert row.eps == pytest.approx(problem.r_max / (1 - problem.gamma) / 10)
        if h is None:
            continue
        assert row.h == h
        assert row.bad_steps_bound == theory.sample_complexity(problem, row.eps, row.delta, h).value
        assert row.anytime_error_bound == theory.anytime_error(problem, STEPS, row.delta, h).value


def test_mbie_is_judged_by_8_says_so_and_has_no_bound(rows: list[PromiseRow]) -> None:
    mbie = rows[3]
    assert (mbie.h, mbie.bad_steps_bound, mbie.anytime_error_bound, mbie.exploring_steps_bound) == (8, None, None, None)
    assert "judged by h = 8" in mbie.note
    assert not any("judged by" in row.note for row in rows if row is not mbie)


def test_the_first_and_the_last_step_are_looked_at(found: list[Audited]) -> None:
    for one in found:
        for each in one.runs:
            assert (each.step[0], each.step[-1], len(each.step)) == (0, STEPS - 1, audits.CHECKPOINTS)


def test_a_row_has_median_least_and_most_of_the_runs(found: list[Audited]) -> None:
    one = found[1]
    bad = [Counted(float(n), 1e9, "") for n in (30, 10, 20)]
    over = [7, None, 5]
    changed = [
        replace(a, bad_steps=b, exploration_over=o, violations=2) for a, b, o in zip(one.runs, bad, over, strict=True)
    ]
    row = promise_row(short("modified-chain"), replace(one, runs=changed))
    assert row.bad_steps == (20, 10, 30)
    assert row.exploration_over == (7, 5, np.inf)
    assert row.lemma_1_violations == 6
    last = sorted(a.error[-1] for a in one.runs)
    assert row.anytime_error == (last[1], last[0], last[2])


def test_a_broken_promise_is_named_at_the_top(found: list[Audited], rows: list[PromiseRow]) -> None:
    shares = [np.median([run.certified_gap[-1] for run in one.runs]) / 20 for one in found]
    said = (
        f"No promise was broken: in 18 runs no certificate was false, and after {STEPS} steps they bound the error by "
    )
    said += f"{min(shares):.0%} to {max(shares):.0%} of the range."
    assert promises_summary(rows) == f"{said} The theorem's bounds say nothing about so few steps."
    broken = replace(found[2].runs[1], kept=False)
    one = replace(found[2], runs=[found[2].runs[0], broken])
    row = promise_row(short("modified-chain"), one)
    assert row.kept is False
    assert [r.kept for r in rows] == [None] * len(rows)
    assert promises_summary([*rows, row]) == "Not every promise was kept: PAC-RMDP(16) (Modified chain)."
    telling = replace(rows[0], kept=True)
    assert promises_summary([telling, *rows]).endswith("The theorem's bounds say something of 1 of 7 rows.")


def test_false_certificates_are_told_and_too_many_are_a_broken_promise(
    found: list[Audited], rows: list[PromiseRow]
) -> None:
    one = replace(found[1], runs=[replace(found[1].runs[0], false=2), *found[1].runs[1:]])
    row = promise_row(short("modified-chain"), one)
    assert row.false_runs == 1
    assert '<span class="no">1 of 3</span>' in cells(row)[7]
    assert "1 of 3" not in cells(rows[1])[7]
    assert promises_summary([row]) == "Not every promise was kept: PAC-RMDP(8) (Modified chain)."
    few = replace(row, runs=10)
    assert promises_summary([few]).startswith(
        "No promise was broken: in 10 runs certificates were false in 1, within δ"
    )
    assert "span" not in cells(few)[7]


def test_a_row_has_what_was_certified_at_the_end(found: list[Audited], rows: list[PromiseRow]) -> None:
    for one, row in zip(found, rows, strict=True):
        for column, shown in (("certified_gap", row.certified), ("optimality_gap", row.optimality)):
            last = sorted(float(getattr(run, column)[-1]) for run in one.runs)
            assert shown == (last[1], last[0], last[2])
        assert row.false_runs == 0


def test_the_csv_has_every_number_and_is_empty_where_there_is_none(rows: list[PromiseRow]) -> None:
    first = replace(rows[0], bad_steps=(2.0, 1.0, 3.0), exploration_over=(9.0, 4.0, np.inf))
    lines = list(csv.DictReader(io.StringIO(to_csv([first, rows[3], replace(rows[0], kept=True)]))))
    assert [lines[0][f"bad_steps{end}"] for end in ("", "_least", "_most")] == ["2", "1", "3"]
    assert [lines[0][f"exploration_over{end}"] for end in ("", "_least", "_most")] == ["9", "4", ""]
    assert float(lines[0]["bad_steps_bound"]) == pytest.approx(first.bad_steps_bound, rel=1e-5)
    assert (lines[1]["algorithm"], lines[1]["anytime_error_bound"], lines[1]["h"]) == ("MBIE(0.01, 0.1)", "", "8")
    assert "PAC-RMDP(h)" in lines[1]["why"]
    assert [line["kept"] for line in lines] == ["", "", "True"]


def cells(row: PromiseRow) -> list[str]:
    page = render("t", "l", [Section("p", "P", "", [], [row], None)], {})
    return page.split('<th scope="row"')[1].split("</tr>")[0].split("<td")[1:]


def test_the_page_says_which_bounds_say_nothing(rows: list[PromiseRow]) -> None:
    row = replace(rows[0], bad_steps_bound=STEPS - 1.0, anytime_error_bound=rows[0].largest)
    shown = cells(row)
    assert "149" in shown[2]
    assert "nothing" not in shown[2]
    assert "says nothing" in shown[4]
    assert [("nothing promised" in cell) for cell in cells(rows[3])] == [i in (2, 4) for i in range(10)]
    assert "never" in cells(replace(row, exploration_over=(np.inf, 3.0, np.inf)))[8]
    assert ["holds" in cells(row)[9], "violated 4 times" in cells(replace(row, lemma_1_violations=4))[9]] == [True] * 2


def test_other_sections_are_as_they_were(rows: list[PromiseRow]) -> None:
    alone = render("t", "l", [OTHER], {})
    both = render("t", "l", [OTHER, Section("promises", "P", "", [], rows, None)], {})
    part = alone[alone.index('<section id="chain">') : alone.index('<section id="provenance">')]
    assert part in both


STEP = np.arange(5)
ERROR = np.array([3.0, -1.0, 0.5, 0.0, 0.3])
BOUND = np.array([900.0, 500.0, 300.0, 200.0, 150.0])


def gaps(**changed: Any) -> Gaps:
    errors = Band("truth", STEP, ERROR, ERROR - 1, ERROR + 1)
    panels = {"PAC-RMDP(8)": [Band("theorem", STEP, BOUND, BOUND, BOUND), errors], "MBIE": [errors]}
    pens = {"theorem": Pen(INK, "--", ""), "truth": Pen(BLUE, "-", "o")}
    how: dict[str, Any] = {"floor": 0.02, "largest": 20.0, "key": "key", "levels": {"ε = 2": 2.0}, **changed}
    return Gaps("T", "step", panels, pens, **how)


def drawn_lines(axes: Any) -> dict[str, Any]:
    """The lines that have data of their own, by colour: y values."""
    return {str(line.get_color()): line.get_ydata() for line in axes.lines if len(line.get_xdata()) == 5}


def test_the_figure_draws_errors_no_lower_than_its_edge_and_the_bound_as_it_is() -> None:
    figure = gaps_figure(gaps())
    left, right = figure.axes
    assert (left.get_title(loc="left"), right.get_title(loc="left")) == ("PAC-RMDP(8)", "MBIE")
    assert left.get_ylim() == right.get_ylim()
    assert left.get_yscale() == right.get_yscale() == "log"
    np.testing.assert_array_equal(drawn_lines(left)[INK], BOUND)
    assert set(drawn_lines(right)) == {BLUE}
    for axes in figure.axes:
        np.testing.assert_allclose(drawn_lines(axes)[BLUE], np.maximum(ERROR, 0.02))
    low, high = left.get_ylim()
    assert low < 0.02
    assert high > 900
    words = {text.get_text() for text in right.texts}
    assert words == {"theorem", "truth", "ε = 2", "from 20 on: no promise"}
    assert "MBIE: truth 0.300" in str(figure.get_label())


def test_an_axis_of_names_has_them_and_the_last_one() -> None:
    names = ["0", "1", "2", "4", "∞"]
    shown = [tick.get_text() for tick in gaps_figure(gaps(x_names=names)).axes[0].get_xticklabels()]
    assert shown == names


def test_the_figures_show_for_every_row_what_was_stored(found: list[Audited], tmp_path: Path) -> None:
    shown = list(figures_of(tmp_path, "p", short("modified-chain"), found))
    first, second, curves = (json.loads(one.numbers) for one in shown)
    panels = {panel["title"]: {line["label"]: line for line in panel["lines"]} for panel in first["panels"]}
    panels |= {panel["title"]: {line["label"]: line for line in panel["lines"]} for panel in second["panels"]}
    assert list(panels) == [one.name for one in found]
    assert found[-1].name == "PAC-RMDP(1), as printed"
    floor = found[0].runs[0].eps / 100
    for one in found:
        lines = panels[one.name]
        assert (THEOREM in lines) == one.runs[0].promised
        expected = {CERTIFIED: "certified_gap", TRUTH: "certified_error", THEOREM: "bound"}
        for label, line in lines.items():
            values = np.maximum([getattr(run, expected[label]) for run in one.runs], floor)
            np.testing.assert_allclose(line["middle"], np.median(values, axis=0), rtol=1e-3)
            np.testing.assert_allclose(line["low"], values.min(axis=0), rtol=1e-3)
            np.testing.assert_allclose(line["high"], values.max(axis=0), rtol=1e-3)
    assert (curves["xNames"][0], curves["xNames"][-1], curves["logX"]) == ("0", "∞", False)
    for panel, name in zip(curves["panels"], ("gap", "error"), strict=True):
        reaching = [one for one in found if one.spec.agent == "pac-rmdp"]
        for line, one in zip(panel["lines"], reaching, strict=True):
            assert line["label"] == one.name
            values = np.maximum([getattr(run.curve, name) for run in one.runs], floor)
            np.testing.assert_allclose(line["middle"], np.median(values, axis=0), rtol=1e-3)


def test_rows_that_learn_their_reward_have_no_figure_but_a_row(found: list[Audited], tmp_path: Path) -> None:
    blind = [replace(run, certified_gap=np.full_like(run.error, np.nan), curve=OverReach()) for run in found[0].runs]
    rows = [replace(found[0], runs=blind), found[1]]
    shown = list(figures_of(tmp_path, "p", short("modified-chain"), rows))
    assert [len(json.loads(one.numbers)["panels"][0]["lines"]) for one in shown] == [3, 1]
    row = promise_row(short("modified-chain"), rows[0])
    assert row.certified is None
    assert "not certified" in cells(row)[5]
    assert next(csv.DictReader(io.StringIO(to_csv([row]))))["certified"] == ""
    assert list(figures_of(tmp_path, "p", short("modified-chain"), rows[:1])) == []


def test_the_section_is_the_same_every_time(tmp_path: Path) -> None:
    made, study = [], short("chain", 60)
    for name in ("a", "b"):
        (tmp_path / name / "tables").mkdir(parents=True)
        made.append(section(tmp_path / name, [("chain", study, audited(study, tmp_path / name, 20))]))
    assert made[0] == made[1]
    assert len(made[0].rows) == 6
    names = [f"figures/promises-chain-{part}.{kind}" for part in ("1", "2", "h") for kind in ("svg", "png")]
    for file in ("tables/promises.csv", *names):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_small_study_has_few_audits() -> None:
    assert [audits.audited_runs(n) for n in (1, 100, 1000, 100_000)] == [1, 1, 3, 3]


def test_what_is_read_of_an_audit_is_what_was_found(tmp_path: Path) -> None:
    study = short("chain", 60)
    spec, cell = chosen(study)[1], cell_of(study, chosen(study)[1])
    (read,) = (one for one in audited(study, tmp_path, 20) if one.spec == spec)
    direct = audits.audited(cell.setting, None, cell.entropy, 0)
    for name, value in vars(direct).items():
        again = vars(read.runs[0])[name]
        assert np.array_equal(again, value) if isinstance(value, np.ndarray) else again == value, name


def test_an_audit_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, calls = short("chain", 60), []

    def counted(*args: Any) -> Any:
        calls.append(args[-1])
        return audited_once(*args)

    audited_once = audits.audited
    monkeypatch.setattr(audits, "audited", counted)
    first = audited(study, tmp_path, 20)
    assert calls == [0] * 6
    again = audited(study, tmp_path, 20)
    assert len(calls) == 6
    assert [promise_row(study, one) for one in again] == [promise_row(study, one) for one in first]
    audited(study, tmp_path, 500)
    assert calls == [0] * 6 + [1] * 6


@pytest.mark.parametrize("name", ["DELTA", "PART_OF_TOP", "CHECKPOINTS"])
def test_other_settings_are_another_audit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = cell_of(short("chain"), chosen(short("chain"))[0])
    before = audits.AuditCell(cell, None).id
    assert audits.AuditCell(cell, 8).id != before
    monkeypatch.setattr(audits, name, 7)
    assert audits.AuditCell(cell, None).id != before


def test_an_audit_of_other_runs_or_by_other_code_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    study = short("chain")
    cell = cell_of(study, chosen(study)[0])
    before = audits.AuditCell(cell, None).id
    assert audits.AuditCell(replace(cell, seed=1), None).id != before
    monkeypatch.setattr(audits, "code_digest", lambda *args: "another")
    assert audits.AuditCell(cell, None).id != before


class Diary:
    """A watch that remembers audits."""

    def __init__(self) -> None:
        self.told: list[int] = []

    def begin(self, spec: AgentSpec, runs: int) -> Callable[[int], None]:
        return lambda done: None

    def end(self, spec: AgentSpec, result: Any) -> None:
        pass

    def failed(self, spec: AgentSpec, runs: tuple[int, int], why: str) -> None:
        raise AssertionError(why)

    def note(self, spec: AgentSpec, text: str) -> None:
        raise AssertionError(text)

    def audits(self, left: int) -> Callable[[int], None]:
        self.told.append(left)
        return self.told.append


def test_only_the_studies_asked_for_are_audited(tmp_path: Path) -> None:
    study, store, diary = short("chain", 40, printed=None), Store(tmp_path), Diary()
    record, results = finish(begin("chain", study, store, 2), store, watch=diary)
    page = publish(tmp_path, [Finished(record, results)]).read_text("utf-8")
    assert not (tmp_path / "tables/promises.csv").exists()
    assert diary.told == []
    finish(begin("chain", study, store, 2), store, watch=diary, audited=True)
    assert diary.told == [6, 1, 1, 1, 1, 1, 1]
    with_promises = publish(tmp_path, [finished(store, "chain")]).read_text("utf-8")
    assert ('<section id="promises">' in page, '<section id="promises">' in with_promises) == (False, True)
    assert "the first run of each row" in with_promises
    assert (tmp_path / "tables/promises.csv").read_text("utf-8").count("Five-state chain,") == 6
