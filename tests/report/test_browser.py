"""The page in a real browser: what can be done with it at a desk and on a telephone, and that text stays text."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hreach
from helpers import succeed
from hreach.report.figures import Band, Gaps, as_json, gaps_chart, gaps_figure, save
from hreach.report.figures.pens import Pen
from hreach.report.finished import finished
from hreach.report.html.figure import FigureShown
from hreach.report.html.page import Section, render
from hreach.report.publish import publish
from hreach.studies.store import Store
from pages import foreign_scripts

pytest.importorskip("selenium", reason="the browser is driven with selenium, of the extra [dev]")
if not (shutil.which("chromium") and shutil.which("chromedriver")):
    pytest.skip("chromium and chromedriver are not installed", allow_module_level=True)

from browser import Browser, browser

STUDY = """
title = "Reach and bonus"
domain = "chain"
steps = 200
runs = 40
seed = 3
"""
AGENTS = {"PAC-RMDP(8)": ("pac-rmdp", "h = 8"), "MBIE-EB": ("mbie-eb", "beta = 1.0"), "greedy": ("greedy", "")}
CHART, PROFILE = "figure:nth-of-type(1) ", "figure:nth-of-type(2) "
LINE = f'{CHART}g.line[data-label="MBIE-EB"]'
EVIL = '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">\u2028\'"'


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small study."""
    folder = tmp_path_factory.mktemp("page")
    rows = [
        f'[[agent]]\nagent = "{agent}"\nparams = {{ {params} }}\nalgorithm = "{label}"\n'
        for label, (agent, params) in AGENTS.items()
    ]
    (folder / "small.toml").write_text(STUDY + "\n".join(rows), "utf-8")
    succeed("run", folder / "small.toml", "--out", folder / "out", "--jobs", "1")
    return folder / "out" / "report.html"


def ticks(chromium: Browser, axis: str, figure: str = CHART) -> list[str]:
    return chromium.texts(f"{figure}text.{axis}.tick")


def table(page: Path) -> dict[str, dict[str, str]]:
    with (page.parent / "tables" / "small.csv").open(newline="", encoding="utf-8") as file:
        return {row["algorithm"]: row for row in csv.DictReader(file)}


def place(chromium: Browser, share: float, line: str = LINE) -> tuple[float, float]:
    """A point of a line, at this share of its length, as a place of the window."""
    chromium.ask("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", line)
    found = chromium.ask(
        """const path = document.querySelector(arguments[0] + " > path[fill=none]");
        const point = path.getPointAtLength(arguments[1] * path.getTotalLength()).matrixTransform(path.getScreenCTM());
        return [point.x, point.y];""",
        line,
        share,
    )
    return float(found[0]), float(found[1])


def area(chromium: Browser) -> tuple[float, float, float, float]:
    """Left, top, width and height of what the axes enclose."""
    chromium.ask("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", f"{CHART}.chart")
    found = chromium.ask(
        """const box = document.querySelector(arguments[0]).getBoundingClientRect();
        return [box.left, box.top, box.width, box.height];""",
        f"{CHART}.area > rect",
    )
    return found[0], found[1], found[2], found[3]


# --- at both widths ----------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_complained_of_and_nothing_is_wider_than_the_window(
    chromium: Browser, page: Path, width: int
) -> None:
    chromium.open(page, width)
    for view in ("Quantiles", "Single runs", "Log steps", "+", "Reset"):
        chromium.click(f"{CHART}.controls button", view)
    assert chromium.complaints() == []
    assert chromium.ask("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert chromium.count(".live") == chromium.count("figure") == 2
    if width == 1280:
        assert chromium.ask("const t = document.querySelector('.scroll'); return t.scrollWidth <= t.clientWidth")


@pytest.mark.parametrize("width", [1280, 400])
def test_a_point_of_a_line_tells_its_numbers(chromium: Browser, page: Path, width: int) -> None:
    chromium.open(page, width)
    chromium.mouse("mouseMoved", *place(chromium, 1))
    row = table(page)["MBIE-EB"]
    label, step, mean, band = chromium.texts(f"{CHART}.tip > *")
    assert (label, step) == ("MBIE-EB", "step 200")
    assert number(mean.removeprefix("mean ")) == pytest.approx(float(row["mean"]), abs=0.00006)
    low, high = (number(end.split()[-1]) for end in band.split(","))
    assert (low, high) == pytest.approx((float(row["p10"]), float(row["p90"])), abs=0.00006)
    assert chromium.find(f"{CHART}.tip").is_displayed()


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_the_legend_tells_every_line_at_the_pointer(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.mouse("mouseMoved", *place(chromium, 0.5))
    step = int(chromium.texts(f"{CHART}.tip > *")[1].split()[1])
    told = dict(zip(chromium.texts(f"{CHART}.legend .name"), chromium.texts(f"{CHART}.legend .value"), strict=True))
    results = {spec.label: result for spec, result in finished(Store(page.parent), "small").results}
    assert set(told) == set(results)
    for label, result in results.items():
        (mark,) = np.flatnonzero(result.at == step)
        assert number(told[label]) == pytest.approx(result.average_reward[:, mark].mean(), abs=0.00006)


@pytest.mark.parametrize("width", [1280, 400])
def test_the_legend_hides_a_line_and_shows_it_again(chromium: Browser, page: Path, width: int) -> None:
    chromium.open(page, width)
    for hidden in (True, False):
        chromium.click(f"{CHART}.legend button", "MBIE-EB")
        assert chromium.count(LINE) == (0 if hidden else 1)
        assert pressed(chromium, f"{CHART}.legend button")["MBIE-EB"] == str(not hidden).lower()
    assert chromium.count(f"{CHART}g.line") == len(AGENTS)
    chromium.click(f"{CHART}.legend button", "Hide all")
    assert chromium.count(f"{CHART}g.line") == 0
    assert chromium.count(f"{PROFILE}g.line") == len(AGENTS)
    chromium.click(f"{CHART}.legend button", "Show all")
    assert chromium.count(f"{CHART}g.line") == len(AGENTS)


def pressed(chromium: Browser, selector: str) -> dict[str, str]:
    script = "return [...document.querySelectorAll(arguments[0])].map(b => [b.innerText, b.ariaPressed])"
    return {words.strip(): state for words, state in chromium.ask(script, selector)}


@pytest.mark.parametrize("width", [1280, 400])
def test_buttons_zoom_in_and_out_and_back(chromium: Browser, page: Path, width: int) -> None:
    chromium.open(page, width)
    before = ticks(chromium, "x"), ticks(chromium, "y")
    reset = chromium.find(f"{CHART}.controls span:last-child button:last-child")
    assert reset.get_attribute("aria-disabled") == "true"
    chromium.click(f"{CHART}.controls button", "+")
    chromium.click(f"{CHART}.controls button", "+")
    assert reset.get_attribute("aria-disabled") == "false"
    assert ticks(chromium, "x") != before[0]
    assert ticks(chromium, "y") != before[1]
    chromium.click(f"{CHART}.controls button", "Reset")
    assert (ticks(chromium, "x"), ticks(chromium, "y")) == before
    chromium.click(f"{CHART}.controls button", "+")
    chromium.click(f"{CHART}.controls button", "−")
    assert (ticks(chromium, "x"), ticks(chromium, "y")) == before


def test_a_rectangle_and_the_wheel_zoom_and_the_page_still_scrolls(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    before = ticks(chromium, "x")
    left, top, width, height = area(chromium)
    chromium.drag((left + width / 2, top + height / 2), (left + 3 * width / 4, top + height / 2 + 5))
    inside = [int(tick) for tick in ticks(chromium, "x")]
    assert 95 <= min(inside) < max(inside) <= 155
    chromium.mouse("mousePressed", left + 9, top + 9, button="left", clickCount=2)
    chromium.mouse("mouseReleased", left + 9, top + 9, button="left", clickCount=2)
    assert ticks(chromium, "x") == before
    chromium.ask("document.activeElement.blur()")
    chromium.mouse("mouseWheel", left + width / 2, top + height / 2, deltaX=0, deltaY=-120)
    assert ticks(chromium, "x") == before
    for _ in range(4):
        chromium.mouse("mouseWheel", left + width / 2, top + height / 2, deltaX=0, deltaY=-120, modifiers=2)
    assert ticks(chromium, "x") != before


def test_steps_on_a_logarithmic_axis(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    before = [place(chromium, 0)[0], place(chromium, 1)[0]]
    chromium.click(f"{CHART}.controls button", "Log steps")
    assert pressed(chromium, f"{CHART}.controls button")["Log steps"] == "true"
    xs = centres(chromium, f"{CHART}text.x.tick")
    assert xs[20] - xs[10] == pytest.approx(xs[200] - xs[100], abs=1)
    chromium.click(f"{CHART}.controls button", "Log steps")
    assert [place(chromium, 0)[0], place(chromium, 1)[0]] == pytest.approx(before, abs=0.5)
    assert not chromium.texts(f"{PROFILE}.controls button")[0].startswith("Log")


def centres(chromium: Browser, selector: str) -> dict[int, float]:
    """Where on the axis each number stands."""
    script = (
        "return [...document.querySelectorAll(arguments[0])].map(t => [t.textContent, Number(t.getAttribute('x'))])"
    )
    return {int(words): x for words, x in chromium.ask(script, selector)}


NAMES = ["0", "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "∞"]


def page_of_gaps(folder: Path, levels: Mapping[str, float] | None = None) -> Path:
    """A page with one figure of gaps over h."""
    at, gap = np.arange(len(NAMES)), np.linspace(0.5, 9, len(NAMES))
    panels = {"certified": [Band("a", at, gap, gap, gap)], "truth": [Band("a", at, gap / 2, gap / 2, gap / 2)]}
    gaps = Gaps(
        "T", "h", panels, {"a": Pen("#0072B2", "-", "o")}, 0.02, 20.0, "key", x_names=NAMES, levels=levels or {}
    )
    shown = FigureShown("c", save(gaps_figure(gaps), folder, "g"), as_json(gaps_chart(gaps)))
    (folder / "gaps.html").write_text(render("t", "l", [Section("s", "S", "", [shown], [], None)], {}), "utf-8")
    return folder / "gaps.html"


@pytest.mark.parametrize("width", [1280, 400])
def test_an_axis_of_names_shows_them_and_tells_the_one_at_the_pointer(
    chromium: Browser, tmp_path: Path, width: int
) -> None:
    chromium.open(page_of_gaps(tmp_path), width)
    shown = ticks(chromium, "x", ".panel:nth-of-type(1) ")
    assert (shown[0], shown[-1]) == ("0", "∞")
    assert set(shown) <= set(NAMES)
    assert chromium.count("button[aria-pressed]") == 1  # the line; steps that are names have no logarithm
    chromium.mouse("mouseMoved", *place(chromium, 0.999, 'g.line[data-label="a"]'))
    assert "h ∞" in chromium.texts("output.tip")[0]
    assert chromium.complaints() == []


def test_the_name_of_a_level_stands_on_top_of_the_lines(chromium: Browser, tmp_path: Path) -> None:
    chromium.open(page_of_gaps(tmp_path))
    last = "return [...document.querySelectorAll('.area > *')].findLastIndex(e => e.matches(arguments[0]))"
    assert chromium.ask(last, "text.level") > chromium.ask(last, "g.line") > chromium.ask(last, "path.level") >= 0


def test_names_of_near_levels_stand_one_below_the_other(chromium: Browser, tmp_path: Path) -> None:
    chromium.open(page_of_gaps(tmp_path, {"one": 9.0, "two": 8.6, "three": 0.1}))
    names = "document.querySelector('.panel').querySelectorAll('text.level')"
    places = chromium.ask(f"return [...{names}].map(t => Number(t.getAttribute('y')))")
    assert len(places) == 4
    assert min(np.diff(places)) >= 12


@pytest.mark.parametrize(("low", "high"), [(0.19, 0.88), (0.21, 0.39), (0.0, 1.0), (-7.0, 12.0), (3.01, 3.02)])
def test_an_axis_has_two_numbers_at_least(chromium: Browser, page: Path, low: float, high: float) -> None:
    chromium.open(page)
    script = (Path(hreach.__file__).parent / "report" / "html" / "script" / "scales.js").read_text("utf-8")
    found = chromium.ask(f"{script}; return [2, 3, 4, 6, 9].map(n => evenTicks({low}, {high}, n).length)")
    assert all(2 <= n <= 12 for n in found)


def test_views_show_means_quantiles_and_single_runs(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    drawn = f"{LINE} > path[fill=none]"
    for view, count, word in (("Single runs", 30, "run "), ("Quantiles", 3, "median "), ("Mean and band", 1, "mean ")):
        chromium.click(f"{CHART}.controls button", view)
        assert pressed(chromium, f"{CHART}.controls button")[view] == "true"
        assert chromium.count(drawn) == count
        chromium.mouse("mouseMoved", *place(chromium, 0.7))
        assert chromium.texts(f"{CHART}.tip > *")[2].startswith(word)
    chromium.click(f"{CHART}.controls button", "Single runs")
    assert "the first 30 runs of each line" in chromium.texts(f"{CHART}p.y")[0]


# --- tables ------------------------------------------------------------------


def column(chromium: Browser, place: int) -> list[float]:
    cells = chromium.texts(f"tbody tr > :nth-child({place})")
    return [number(cell.split()[0]) for cell in cells]


def test_a_column_sorts_by_its_numbers_both_ways_and_back(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    before = column(chromium, 2)
    head = "thead th:nth-child(2)"
    for order, wanted in (("ascending", sorted(before)), ("descending", sorted(before)[::-1]), ("none", before)):
        chromium.click(f"{head} button", "Mean")
        assert column(chromium, 2) == wanted
        assert chromium.find(head).get_attribute("aria-sort") == order


def test_numbers_sort_as_numbers_and_nothing_stands_last(chromium: Browser, page: Path) -> None:
    """Cells whose order as texts is another one: 9 before 10, and −2 before −1."""
    chromium.open(page)
    values = ["10", "9", "-2", "-1", "", "1.5e3"]
    chromium.ask(
        """const body = document.querySelector("tbody"), row = body.querySelector("tr:not(.group)");
        const copies = arguments[0].map((value) => {
          const copy = row.cloneNode(true);
          copy.children[1].dataset.sort = value;
          return copy;
        });
        const table = row.closest("table"), again = table.cloneNode(true);
        again.querySelector("tbody").replaceChildren(...copies);
        again.querySelectorAll("th button").forEach((b) => b.replaceWith(...b.childNodes));
        table.replaceWith(again);""",
        values,
    )
    script = page.read_text("utf-8").rsplit("<script>", 1)[1].split("</script>")[0]
    chromium.command("Runtime.evaluate", expression=script.replace("figure > script", "nothing"))
    shown = "return [...document.querySelectorAll('tbody tr')].map(r => r.children[1].dataset.sort)"
    chromium.click("thead th:nth-child(2) button", "Mean")
    assert chromium.ask(shown) == ["-2", "-1", "9", "10", "1.5e3", ""]
    chromium.click("thead th:nth-child(2) button", "Mean")
    assert chromium.ask(shown) == ["1.5e3", "10", "9", "-1", "-2", ""]


# --- keys --------------------------------------------------------------------


def focus(chromium: Browser, selector: str) -> None:
    chromium.ask("document.querySelector(arguments[0]).focus()", selector)


def press(chromium: Browser, key: str) -> None:
    text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
    more: dict[str, Any] = {"text": text} if text else {}
    chromium.command("Input.dispatchKeyEvent", type="keyDown", key=key, code="Space" if key == " " else key, **more)
    chromium.command("Input.dispatchKeyEvent", type="keyUp", key=key, code="Space" if key == " " else key)


@pytest.mark.parametrize("key", ["Enter", " "])
def test_keys_hide_a_line_and_sort_a_table(chromium: Browser, page: Path, key: str) -> None:
    chromium.open(page)
    focus(chromium, f"{CHART}.legend li:first-child button")
    (first, *_) = chromium.texts(f"{CHART}.legend .name")
    press(chromium, key)
    assert chromium.count(f'{CHART}g.line[data-label="{first}"]') == 0
    focus(chromium, "thead th:nth-child(2) button")
    press(chromium, key)
    assert column(chromium, 2) == sorted(column(chromium, 2))
    assert chromium.find("thead th:nth-child(2)").get_attribute("aria-sort") == "ascending"


def test_everything_is_reached_with_the_tabulator(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    reached = set()
    for _ in range(60):
        chromium.command("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
        reached.add(chromium.ask("const e = document.activeElement; return `${e.tagName} ${e.textContent.trim()}`"))
    wanted = {f"BUTTON {words}" for words in ("Mean and band", "Single runs", "Log steps", "+", "−", *AGENTS)}
    assert wanted <= {words.removesuffix("↕") for words in reached}
    assert any(words.startswith("svg") for words in reached)


def test_arrow_keys_read_values_and_signs_zoom(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    before = ticks(chromium, "x")
    focus(chromium, f"{CHART}.chart")
    press(chromium, "ArrowLeft")
    assert chromium.texts(f"{CHART}.tip > *")[1] == "step 200"
    press(chromium, "ArrowLeft")
    assert chromium.texts(f"{CHART}.tip > *")[1] == "step 198"
    label = chromium.texts(f"{CHART}.tip > b")
    press(chromium, "ArrowDown")
    assert chromium.texts(f"{CHART}.tip > b") != label
    press(chromium, "+")
    assert ticks(chromium, "x") != before
    press(chromium, "0")
    assert ticks(chromium, "x") == before


# --- without a script, and on paper ------------------------------------------


@pytest.mark.parametrize("width", [1280, 400])
def test_without_a_script_there_are_drawings_and_tables(chromium: Browser, page: Path, width: int) -> None:
    chromium.open(page, width, script=False)
    assert chromium.count(".live, button") == 0
    assert chromium.count(".still svg[role=img]") == 2
    for selector in (".still svg[role=img]", "table", "figcaption a"):
        assert chromium.find(selector).is_displayed()
    assert chromium.find(".still svg[role=img]").size["height"] > 150
    assert chromium.ask("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert chromium.complaints() == []


def test_paper_has_the_drawings_and_no_buttons(chromium: Browser, page: Path) -> None:
    chromium.open(page, media="print")
    assert chromium.find(".still svg[role=img]").is_displayed()
    assert not chromium.find(".live").is_displayed()
    assert len(chromium.command("Page.printToPDF")["data"]) > 10_000


# --- hostile text ------------------------------------------------------------


def trouble(chromium: Browser, page: Path) -> list[str]:
    """What a text of the study did in the page."""
    chromium.open(page)
    found = chromium.complaints() + foreign_scripts(page.read_text("utf-8"))
    if chromium.ask("return window.hacked") is not None:
        found.append("a text was run")
    if chromium.count("img"):
        found.append("a text is an image")
    if chromium.count(".live") != chromium.count("figure"):
        found.append("the page's own script did not run")
    return found


def published(page: Path, out: Path) -> Path:
    """The page of the same runs, with text that tries everything."""
    done = finished(Store(page.parent), "small")
    agents = [spec.model_copy(update={"algorithm": f"{spec.label}{EVIL}", "note": EVIL}) for spec, _ in done.results]
    study = done.study.model_copy(update={"title": EVIL, "text": EVIL, "agent": agents})
    record = done.record.model_copy(update={"study": study})
    results = list(zip(agents, (result for _, result in done.results), strict=True))
    return publish(out, [type(done)(record, results)])


def test_hostile_text_is_text(chromium: Browser, page: Path, tmp_path: Path) -> None:
    hostile = published(page, tmp_path)
    assert trouble(chromium, hostile) == []
    assert EVIL.replace("\u2028", "") in " ".join(chromium.texts("h1")).replace("\u2028", "")
    assert f"greedy{EVIL}" in chromium.texts(f"{CHART}.legend .name")


@pytest.mark.parametrize("policy", [True, False])
def test_text_that_is_not_escaped_is_caught(
    chromium: Browser, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: bool
) -> None:
    """The twins that are wrong on purpose: with the page's policy a text cannot run, without it it does."""
    monkeypatch.setattr("hreach.report.html.layout.escape", str)
    if not policy:
        monkeypatch.setattr("hreach.report.html.page._policy", lambda css, script: "img-src data:")
    found = trouble(chromium, published(page, tmp_path))
    assert found
    assert ("a text was run" in found) == (not policy)


def test_numbers_that_can_end_their_element_are_caught(
    chromium: Browser, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hreach.report.figures.numbers.harmless", str)
    assert trouble(chromium, published(page, tmp_path))
