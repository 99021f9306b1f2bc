"""What a study by episodes shows: figure, table, claims, pictures; readable, honest and safe with any text."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hreach.report.figures import Band, episodes_figure, save
from hreach.report.finished import Finished
from hreach.report.html.figure import FigureShown
from hreach.report.html.page import Section, render
from hreach.report.numbers import total
from hreach.report.publish import publish
from hreach.report.rows import EpisodeRow
from hreach.report.tables import table_of, to_csv
from hreach.report.verdicts import ClaimShown, Outcome, claims_summary
from hreach.studies.record import Record
from hreach.studies.results import Episode, Phase, Result
from hreach.studies.spec import AgentSpec, Claim, Study
from pages import foreign_scripts

EVIL = '<script>alert("x")</script>&'
SURE = "mean_low,mean_high,iqm,iqm_low,iqm_high,better,better_low,better_high"
CAR = {
    "epsilon-greedy(0.1)": -1800.0,
    "PAC-RMDP(1)": -1138.0,
    "PAC-RMDP(10)": -124.0,
    "PAC-RMDP(100)": -150.0,
    "PAC-MDP(1)": -1783.0,
    "PAC-MDP(1000)": -1226.0,
    "PAC-MDP(5000)": -171.0,
    "PAC-MDP(20000)": -127.0,
}


def band(label: str, final: float, count: int = 100, width: float = 0.1) -> Band:
    episodes = np.arange(1, count + 1)
    mean = final + 0.1 * abs(final) * np.sin(episodes)
    mean[-1] = final
    return Band(label, episodes, mean, mean - width * abs(final), mean + width * abs(final))


def car(**options: Any) -> Figure:
    bands = [band(label, final) for label, final in CAR.items()]
    return episodes_figure({"as printed": bands, "hreach defaults": bands[::-1]}, {}, title="Mountain car", **options)


def names(figure: Figure) -> dict[str, Any]:
    return {text.get_text(): text.get_window_extent() for text in figure.axes[-1].texts}


def colours(axes: Axes) -> dict[float, str]:
    """Colour of each line, by its last value."""
    return {
        float(np.asarray(line.get_ydata())[-1]): str(line.get_color()) for line in axes.lines if line.get_zorder() == 3
    }


# --- the figure --------------------------------------------------------------


def test_panels_share_the_scale_and_stand_side_by_side() -> None:
    left, right = car().axes
    assert left.get_ylim() == right.get_ylim()
    assert left.get_window_extent().x1 < right.get_window_extent().x0
    assert left.get_window_extent().width == pytest.approx(right.get_window_extent().width)
    assert [axes.get_title(loc="left") for axes in (left, right)] == ["as printed", "hreach defaults"]
    assert left.get_ylabel() == "total reward of an episode"
    assert [axes.get_xlabel() for axes in (left, right)] == ["episode", "episode"]


def test_names_neither_overlap_nor_leave_the_figure() -> None:
    figure = car()
    boxes = names(figure)
    assert set(boxes) == set(CAR)
    for (one, a), (two, b) in combinations(boxes.items(), 2):
        assert not a.overlaps(b), (one, two)
    for label, box in boxes.items():
        assert figure.axes[-1].get_window_extent().x1 < box.x0, label
        assert box.x1 <= figure.bbox.x1, label


def test_nothing_is_cut_off_at_the_edges() -> None:
    figure = car()
    for axes in figure.axes:
        assert axes.get_tightbbox().x0 >= 0  # type: ignore[union-attr]
        assert axes.get_tightbbox().y0 >= 0  # type: ignore[union-attr]


def test_tick_labels_of_neighbouring_panels_do_not_touch() -> None:
    figure = car()
    figure.canvas.draw()
    last = figure.axes[0].get_xticklabels()[-1].get_window_extent()
    first = figure.axes[1].get_xticklabels()[0].get_window_extent()
    assert last.x1 + 3 < first.x0


def test_a_label_has_one_colour_in_all_panels_and_members_of_a_family_differ() -> None:
    left, right = (colours(axes) for axes in car().axes)
    assert left == right
    assert len(left) == len(set(left.values())) == len(CAR)


def test_a_name_that_only_another_panel_has_is_shown_too() -> None:
    panels = {"x": [band("A", -5.0), band("B", -9.0)], "y": [band("A", -5.0)]}
    assert set(names(episodes_figure(panels, {}, title="t"))) == {"A", "B"}


def test_one_variant_without_a_name_is_one_panel_without_a_title() -> None:
    figure = episodes_figure({"": [band("A", -5.0)]}, {}, title="t")
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == ""


def test_a_reference_is_a_horizontal_line_with_a_name() -> None:
    figure = episodes_figure({"x": [band("A", -5.0)]}, {"x": {"true model": -3.0}}, title="t")
    flat = [line for line in figure.axes[0].lines if set(np.asarray(line.get_ydata()).tolist()) == {-3.0}]
    assert len(flat) == 1
    assert "true model" in names(figure)
    assert "true model -3.000" in str(figure.get_label())
    assert figure.axes[0].get_ylim()[1] > -3.0


def test_a_reference_far_away_is_still_in_the_picture() -> None:
    figure = episodes_figure({"x": [band("A", 5.0)]}, {"x": {"true model": 1e6}}, title="t")
    assert figure.axes[0].get_ylim()[1] > 1e6


def test_a_logarithmic_scale_keeps_small_and_large_totals_apart() -> None:
    panels = {"": [band("A", 1e7), band("B", 4e8), band("C", 1.5e11)]}
    figure = episodes_figure(panels, {}, title="t", log=True)
    axes = figure.axes[0]
    assert axes.get_yscale() == "log"
    heights = [axes.transAxes.inverted().transform(axes.transData.transform((1, y)))[1] for y in (1e7, 4e8, 1.5e11)]
    assert heights[0] > 0
    assert np.diff(heights).min() > 0.2
    boxes = names(figure)
    assert boxes["A"].y0 < boxes["B"].y0 < boxes["C"].y0


def test_totals_below_zero_can_be_drawn_on_a_logarithmic_scale(tmp_path: Path) -> None:
    figure = episodes_figure({"": [band("A", -1e4), band("C", 1.5e11)]}, {}, title="t", log=True)
    assert figure.axes[0].get_yscale() == "symlog"
    ElementTree.fromstring(save(figure, tmp_path, "f"))


def test_the_linear_scale_is_the_default() -> None:
    assert {axes.get_yscale() for axes in car().axes} == {"linear"}


def test_the_first_episode_is_in_the_picture() -> None:
    wild = band("A", -5.0)
    mean = wild.mean.copy()
    mean[0] = -400.0
    figure = episodes_figure({"": [replace(wild, mean=mean)]}, {}, title="t")
    assert figure.axes[0].get_ylim()[0] < -400


def test_a_single_episode_can_be_drawn(tmp_path: Path) -> None:
    ElementTree.fromstring(save(episodes_figure({"": [band("A", -5.0, count=1)]}, {}, title="t"), tmp_path, "f"))


def test_markup_and_dollars_stay_text(tmp_path: Path) -> None:
    panels = {EVIL: [band(EVIL, -5.0)], "$x_{": [band("$", -5.0)]}
    text = save(episodes_figure(panels, {EVIL: {EVIL: -3.0}}, title=EVIL), tmp_path, "f")
    ElementTree.fromstring(text)
    assert "<script" not in text


def test_a_band_that_cannot_be_drawn_is_refused() -> None:
    good = band("A", -5.0)
    with pytest.raises(ValueError, match=r"'A'.*finite"):
        episodes_figure({"": [replace(good, mean=good.mean * np.nan)]}, {}, title="t")


# --- the table ---------------------------------------------------------------


def result(totals: Any, goals: Any = None, final: Any = None, last: Episode | None = None) -> Result:
    values = np.array(totals, dtype=np.float64)
    reached = np.zeros(values.shape, dtype=bool) if goals is None else np.array(goals, dtype=bool)
    ends = np.empty((len(values), 0)) if final is None else np.array(final, dtype=np.float64)
    none = np.zeros(ends.shape, dtype=np.int64)
    learning = Phase(values, np.ones(values.shape, dtype=np.int64), reached)
    at = np.arange(1, values.shape[1] + 1)
    return Result("episodes", at, learning, Phase(ends, none, none > 0), {"constants": {"slope": 7.0}}, last)


A = AgentSpec(agent="linear-pac-rmdp", params={"h": 1}, algorithm="A", variant="v", note="a note")


def rows_of(*results: Result) -> list[EpisodeRow]:
    made = table_of(study(agent=[A]), [(A, each) for each in results])
    return [row for row in made if isinstance(row, EpisodeRow)]


def test_a_row_summarises_the_runs() -> None:
    totals = np.arange(60.0).reshape(5, 12)
    (row,) = rows_of(result(totals, goals=totals % 3 == 0, final=totals[:, :2]))
    assert row.total == pytest.approx(totals.mean())
    assert row.last10 == pytest.approx(totals[:, 2:].mean())
    assert row.total_p10 == pytest.approx(np.quantile(totals.mean(axis=1), 0.1))
    assert row.last10_p90 == pytest.approx(np.quantile(totals[:, 2:].mean(axis=1), 0.9))
    assert (row.goals, row.goals_fewest, row.goals_most, row.runs) == (4.0, 4, 4, 5)
    assert row.final == pytest.approx(totals[:, :2].mean())
    assert (row.algorithm, row.variant, row.note) == ("A", "v", "a note")


def test_goals_are_those_of_the_worst_and_of_the_best_run() -> None:
    (row,) = rows_of(result(np.zeros((3, 4)), goals=[[0, 0, 0, 0], [1, 0, 1, 1], [1, 0, 0, 0]]))
    assert (row.goals_fewest, row.goals_most) == (0, 3)
    assert row.goals == pytest.approx(4 / 3)


def test_the_csv_leaves_absent_numbers_empty() -> None:
    (row,) = rows_of(result(np.full((2, 3), -1783.25)))
    head, line = to_csv([row]).splitlines()
    totals = "total,total_p10,total_p90,last10,last10_p10,last10_p90"
    assert head == f"algorithm,variant,{totals},goals,goals_fewest,goals_most,final,final_p10,final_p90,runs,{SURE}"
    # Runs that all came out alike have a point for an interval; the only row has none to be compared with.
    assert line == f"A,v,{'-1783.25,' * 6}0,0,0,,,,2,{'-1783.25,' * 5},,"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1783.4, "−1783"),
        (-124.46, "−124.5"),
        (1.513e11, "1.51e11"),
        (-2.5e7, "−2.50e7"),
        (0.0, "0"),
        (-0.0, "0"),
        (0.25, "0.25"),
        (100.0, "100"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_totals_of_any_size_are_short(value: float | None, text: str) -> None:
    assert total(value) == text


# --- the page ----------------------------------------------------------------

ROW = EpisodeRow("A", "v", -124.0, -126.0, -121.0, -114.0, -124.0, -105.0, 99.5, 99, 100, None, None, None, 10, "")
OUTCOMES = [Outcome("as printed", "holds", "A 1, B 0"), Outcome("hreach defaults", "does not hold", "A 0, B 1")]
SECTION = Section(
    "car",
    "Car",
    "text",
    [],
    [ROW],
    "tables/car.csv",
    [
        ClaimShown("A is better", "Section 5", "Decided by: x.", OUTCOMES),
        ClaimShown("B is cheap", "", "Decided by: y.", [Outcome("as printed", "cannot fail", "B 0")]),
    ],
    "tables/car-claims.csv",
)


def page(section: Section) -> str:
    return render("t", "l", [section], {})


def test_a_claim_stands_with_its_source_its_rule_and_the_verdict_of_each_variant() -> None:
    text = page(SECTION)
    shown, ours = re.findall(r'<ol class="claims">.*?</ol>', text, re.DOTALL)
    for part in ("A is better", "Section 5", "Decided by: x.", "A 1, B 0", "A 0, B 1"):
        assert part in shown
    assert re.search(r"as printed: <span class=\"verdict yes\">.*✓.*holds", shown)
    assert re.search(r"hreach defaults: <span class=\"verdict no\">.*✗.*does not hold", shown)
    assert "<q>A is better</q>" in shown
    assert "B is cheap" not in shown
    assert "<q>" not in ours
    assert re.search(r"<b>B is cheap</b>.*<span class=\"verdict none\">.*○.*cannot fail", ours, re.DOTALL)
    assert text.index("What the paper says") < text.index("What we say, not the paper") < text.index("B is cheap")


def test_claims_stand_under_the_figures_and_above_the_table() -> None:
    text = page(replace(SECTION, figures=[FigureShown("c", "<svg></svg>")]))
    assert text.index("<figure>") < text.index('class="claims"') < text.index("<table>")


def test_the_contents_say_how_many_claims_hold() -> None:
    paper = "as printed: 1 of 1 claims of the paper holds, 0 of 1 of ours hold, 1 cannot fail; "
    assert paper + "hreach defaults: 0 of 1 claims of the paper hold, 1 does not hold." in page(SECTION)


def test_the_summary_counts_every_verdict() -> None:
    def shown(verdict: str, source: str = "Section 5") -> ClaimShown:
        return ClaimShown("", source, "", [Outcome("v", verdict, "")])

    words = ("holds", "holds", "undecided", "does not hold", "does not hold", "cannot fail")
    claims = [*map(shown, words), shown("holds", source="")]
    counts = "2 of 6 claims of the paper hold, 2 do not hold, 1 undecided, 1 cannot fail, 1 of 1 of ours holds"
    assert claims_summary(claims) == f"v: {counts}."
    assert claims_summary([]) == ""


def test_all_text_of_a_claim_is_escaped() -> None:
    claim = ClaimShown(EVIL, EVIL, EVIL, [Outcome(EVIL, EVIL, EVIL)])
    text = page(replace(SECTION, claims=[claim], rows=[replace(ROW, algorithm=EVIL, variant=EVIL, note=EVIL)]))
    assert foreign_scripts(text) == []
    assert text.count("&lt;script&gt;") >= 8


def test_columns_without_content_are_left_out() -> None:
    assert '<th scope="col" class="n">Ended</th>' in page(SECTION)
    assert "99–100" in page(SECTION)
    assert "Final" not in page(SECTION)
    without = page(replace(SECTION, rows=[replace(ROW, goals=0.0, goals_fewest=0, goals_most=0)]))
    assert "Ended" not in without
    final = page(replace(SECTION, rows=[replace(ROW, final=1.5e11, final_p10=1e11, final_p90=2e11)]))
    assert "<b>1.50e11</b> <span>[1.00e11, 2.00e11]</span>" in final


# --- everything --------------------------------------------------------------


def study(**fields: Any) -> Study:
    claims = [Claim(text="A wins", kind="greater", statistic="total", algorithm="A", than="B")]
    given: dict[str, Any] = {"title": "T", "domain": "mountain-car", "episodes": 3, "runs": 6, "seed": 1}
    return Study(**(given | {"claim": claims} | fields))


def done(rows: list[AgentSpec], results: list[tuple[AgentSpec, Result]], **fields: Any) -> Finished:
    asked = study(agent=rows, **fields)
    return Finished(Record(name="car", study=asked, cells=["x"] * len(rows), runs=6, seconds=1.5), results)


def finished(**fields: Any) -> Finished:
    rows = [A, A.model_copy(update={"algorithm": "B"}), A.model_copy(update={"algorithm": "R", "reference": True})]
    totals = np.random.default_rng(1).normal(size=(6, 3))
    results = [(spec, result(totals + level)) for spec, level in zip(rows, (9, 0, 20), strict=True)]
    return done(rows, results, **fields)


def test_publishing_writes_page_tables_and_figures_and_nothing_else(tmp_path: Path) -> None:
    publish(tmp_path, [finished()])
    files = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert files == {
        "report.html",
        "tables/car.csv",
        "tables/car-claims.csv",
        *(f"figures/{name}.{ending}" for name in ("car", "car-v-profile") for ending in ("svg", "png")),
    }
    with (tmp_path / "tables" / "car-claims.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["verdict"], row["variant"], row["algorithm"], row["than"]) == ("holds", "v", "A", "B")


def test_a_reference_is_drawn_as_a_line_and_not_as_a_curve(tmp_path: Path) -> None:
    publish(tmp_path, [finished()])
    spoken = re.findall(r'aria-label="([^"]*)"', (tmp_path / "figures" / "car.svg").read_text("utf-8"))[0]
    values = {name: float(value) for name, value in re.findall(r"([ABR]) (-?\d+\.\d+)", spoken)}
    assert values["R"] == pytest.approx(20 + np.random.default_rng(1).normal(size=(6, 3)).mean(), abs=0.001)
    assert set(values) == {"A", "B", "R"}


def test_the_provenance_tells_size_seed_and_parameters(tmp_path: Path) -> None:
    text = publish(tmp_path, [finished()]).read_text("utf-8")
    assert "6 runs of 3 episodes, seed 1; no shared settings" in text
    assert "A (v): linear-pac-rmdp with h = 1; at the end of the first run: slope = 7" in text


def test_a_study_without_claims_has_no_list_of_them(tmp_path: Path) -> None:
    text = publish(tmp_path, [finished(claim=[])]).read_text("utf-8")
    assert 'class="claims"' not in text
    assert not (tmp_path / "tables" / "car-claims.csv").exists()


def test_a_row_that_asks_for_it_is_pictured_as_the_domain_draws_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []

    def episode_figure(self: Any, states: Any, actions: Any) -> Figure:
        drawn.append((states.tolist(), actions.tolist()))
        figure = Figure()
        figure.add_subplot().plot(states[:, 0])
        return figure

    monkeypatch.setattr("hreach.domains.mountain_car.MountainCar.episode_figure", episode_figure, raising=False)
    last = Episode(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([2]), np.array([-4.5]))
    rows = [
        A.model_copy(update={"picture": picture, "algorithm": name}) for picture, name in ((True, "A"), (False, "B"))
    ]
    results = [(spec, result(np.ones((6, 3)), final=np.ones((6, 1)), last=last)) for spec in rows]
    text = publish(tmp_path, [done(rows, results, final_episodes=1)]).read_text("utf-8")
    assert drawn == [([[0, 1], [2, 3]], [2])]
    assert (tmp_path / "figures" / "car-episode-1.png").is_file()
    assert "under the model that A, v learnt, without exploration: total reward −4.5." in text
    assert "6 runs of 3 episodes (and 1 without exploration)" in text


def test_the_same_results_make_the_same_files(tmp_path: Path) -> None:
    for folder in "ab":
        publish(tmp_path / folder, [finished()])
    for path in (tmp_path / "a").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()
