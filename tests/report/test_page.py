"""The page: is it valid, self-contained, honest about the counts, and safe with any text?"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from hreach.report.estimates import Estimates
from hreach.report.figures import Band, average_reward_figure, save
from hreach.report.html.figure import FigureShown
from hreach.report.html.page import Section, render
from hreach.report.rows import Row
from hreach.report.verdicts import summary
from pages import foreign_scripts

VOID = {"meta", "br", "hr", "img", "link", "input"}
EVIL = '<script>alert("x")</script>&'
SVG = '<svg viewBox="0 0 10 10" id="fig-a"><path id="fig-a-p" d="M0 0"/></svg>'


class Outline(HTMLParser):
    """Checks that tags nest, and collects what the tests ask about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.tags if tag == name]

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))


ROW = Row("VBE(0.1)", "as printed", 0.1551, 0.1, 0.2, 0.00061, 1000, 0.155, 0.11, 0.21, "reproduced", "")
SURE = replace(ROW, sure=Estimates(0.1531, 0.1572, 0.155, 0.153, 0.157, 0.25, 0.2, 0.3))
DEFINED = replace(ROW, variant="as defined", verdict="")
SECTION = Section("chain", "Chain", "one\n\ntwo", [FigureShown("a caption", SVG)], [DEFINED, ROW], "chain.csv")


def shown(*rows: Row) -> str:
    """Give the text of a page with these rows."""
    return Outline(render("t", "l", [replace(SECTION, rows=rows)], {})).text


def test_the_page_is_one_complete_document() -> None:
    text = render("Title", "lead", [SECTION], {"seed": "1"})
    outline = Outline(text)
    assert text.startswith("<!DOCTYPE html>")
    assert outline.all("html") == [{"lang": "en"}]
    assert {"charset": "utf-8"} in outline.all("meta")
    assert any("width=device-width" in (m.get("content") or "") for m in outline.all("meta"))
    assert len(outline.all("h1")) == len(outline.all("title")) == len(outline.all("main")) == 1


def test_the_page_needs_nothing_from_outside_and_runs_its_own_script_only() -> None:
    text = render("Title", "lead", [SECTION], {"seed": "1"})
    outline = Outline(text)
    assert not [tag for tag, _ in outline.tags if tag in ("link", "img", "iframe")]
    assert foreign_scripts(text) == []
    assert not re.search(r"https?://|@import|url\(", text)
    assert not [a for _, attrs in outline.tags for a in attrs if a.startswith("on") or a == "src"]


def test_all_given_text_is_escaped() -> None:
    row = replace(ROW, algorithm=EVIL, note=EVIL, verdict=EVIL)
    other = replace(row, variant=EVIL)
    section = Section("a", EVIL, EVIL, [FigureShown(EVIL, SVG, files=[EVIL])], [row, other], EVIL, record=EVIL)
    text = render(EVIL, EVIL, [section], {EVIL: EVIL})
    outline = Outline(text)
    assert foreign_scripts(text) == []
    assert outline.text.count(EVIL) >= 13


def test_a_csv_link_stays_relative() -> None:
    for link in ("javascript:alert(1)", 'x" onclick="y', "tables/five state.csv"):
        outline = Outline(render("t", "l", [replace(SECTION, csv=link)], {}))
        (href,) = [str(a["href"]) for a in outline.all("a") if not str(a["href"]).startswith("#")]
        assert re.fullmatch(r"[A-Za-z0-9%/._-]+", href)
    assert "CSV" not in Outline(render("t", "l", [replace(SECTION, csv=None)], {})).text


def test_a_blank_line_starts_a_paragraph() -> None:
    section = replace(SECTION, text="one\nstill one\n\n \n two\n\n", rows=[], figures=[], csv=None)
    inside = render("t", "", [section], {"a": "b"}).split('<section id="chain">')[1]
    assert re.findall(r"<p>(.*?)</p>", inside, flags=re.DOTALL) == ["one\nstill one", "two"]


def test_links_of_the_contents_lead_to_ids_that_exist_once() -> None:
    outline = Outline(render("t", "l", [SECTION, replace(SECTION, anchor="two", figures=[])], {}))
    ids = [attrs["id"] for _, attrs in outline.tags if "id" in attrs]
    targets = [str(a["href"])[1:] for a in outline.all("a") if str(a["href"]).startswith("#")]
    assert targets == ["chain", "two", "provenance"]
    assert len(ids) == len(set(ids))
    assert set(targets) <= set(ids)


@pytest.mark.parametrize("anchor", ["", "a b", "provenance", "contents", 'x"y', "fig-a", "chain"])
def test_anchors_that_would_mislead_are_refused(anchor: str) -> None:
    with pytest.raises(ValueError, match="anchor"):
        render("t", "l", [SECTION, replace(SECTION, anchor=anchor)], {})


def test_summary_counts_only_printed_numbers_of_the_run_as_printed() -> None:
    missed = replace(ROW, algorithm="BEB(1)", verdict="not reproduced")
    nothing = replace(ROW, printed_mean=None, printed_p10=None, printed_p90=None, verdict="")
    rows = [ROW, ROW, missed, nothing]
    assert summary(rows) == "2 of 3 printed rows reproduced by chosen settings; not reproduced: BEB(1)."
    defined = [DEFINED, replace(DEFINED, verdict="reproduced"), replace(DEFINED, printed_mean=None)]
    assert (
        summary(rows + defined)
        == "2 of 3 printed rows reproduced by chosen settings; not reproduced: BEB(1); as defined: 1 of 2."
    )
    telling = [replace(ROW, informative=True), replace(missed, informative=True), ROW]
    assert (
        summary(telling)
        == "2 of 3 printed rows reproduced by chosen settings (1 of the 2 informative); not reproduced: BEB(1)."
    )
    assert summary([ROW]) == "1 of 1 printed row reproduced by chosen settings."
    assert summary([replace(ROW, verdict="")]) == "0 of 1 printed row reproduced by chosen settings."
    assert summary([nothing, DEFINED]) == summary([]) == ""


def test_each_summary_stands_at_the_top() -> None:
    sections = [SECTION, replace(SECTION, anchor="b", rows=[replace(ROW, verdict="not reproduced")])]
    top = Outline(render("t", "l", sections, {})).text.split("Provenance")[0]
    assert "1 of 1 printed row reproduced by chosen settings; as defined: 0 of 1." in top
    assert "0 of 1 printed row reproduced by chosen settings; not reproduced: VBE(0.1)." in top


def test_numbers_are_written_as_in_the_paper() -> None:
    text = shown(ROW)
    assert ".155 [.100, .200]" in text
    assert ".155 [.110, .210]" in text
    assert "0.1" not in text.replace("VBE(0.1)", "")
    assert "1.250 [−.012, .000]" in shown(replace(ROW, mean=1.25, p10=-0.012, p90=-0.0001))


def test_missing_printed_numbers_leave_a_dash_or_the_mean_alone() -> None:
    bare = replace(ROW, mean=9, p10=9, p90=9, printed_mean=0.111, printed_p10=None, printed_p90=None)
    assert "<b>.111</b></td>" in render("t", "l", [replace(SECTION, rows=[bare])], {})
    none = replace(bare, printed_mean=None)
    assert '<td class="n" data-sort="">–</td>' in render("t", "l", [replace(SECTION, rows=[bare, none])], {})
    alone = render("t", "l", [replace(SECTION, rows=[none])], {})
    assert "Printed" not in alone
    assert "Verdict" not in alone


def test_the_run_as_printed_comes_first_and_other_variants_last() -> None:
    text = shown(replace(ROW, variant="extra"), DEFINED, ROW)
    assert text.index("As printed") < text.index("As defined") < text.index("extra")


def test_a_verdict_is_told_by_symbol_and_word() -> None:
    assert "✓ reproduced" in shown(ROW).split("Runs")[1]
    assert "✗ not reproduced" in shown(replace(ROW, verdict="not reproduced")).split("Runs")[1]
    assert "– not compared" in shown(DEFINED).split("Runs")[1]
    assert "? undecided" in shown(replace(ROW, verdict="undecided"))


def test_every_row_of_the_table_fills_the_columns() -> None:
    text = render("t", "l", [replace(SECTION, rows=[SURE, DEFINED])], {})
    for row in re.findall(r"<tr.*?</tr>", text, flags=re.DOTALL):
        width = sum(int(n or 1) for n in re.findall(r'<t[hd](?: [^>]*?(?:colspan="(\d+)")?)?>', row))
        assert width == 7, row


def test_narrow_windows_scroll_the_table_and_scale_the_figure() -> None:
    text = render("t", "l", [SECTION], {})
    assert re.search(r'<div class="scroll"[^>]*tabindex="0"[^>]*>\s*<table>', text)
    assert re.search(r"\.scroll \{[^}]*overflow-x: auto", text)
    assert re.search(r"\.plot svg \{[^}]*height: auto", text)
    assert re.search(r"@media \(min-width: 40\.01rem\), print \{ \.plot svg \{ width: 100%", text)
    assert re.search(r"\.plot \{[^}]*background: #fff", text)
    assert f'<div class="plot">{SVG}</div>' in text
    for media in ("prefers-color-scheme: dark", "max-width: 40rem", "print"):
        assert re.search(rf"@media [^{{]*{media}", text), media


def test_the_policy_allows_this_script_and_this_style_and_nothing_else() -> None:
    text = render("t", "l", [SECTION], {})
    (policy,) = [m["content"] for m in Outline(text).all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(str(rule).strip().split(" ", 1) for rule in str(policy).split(";"))
    for name, inside in (("script-src", "<script>(.*?)</script>"), ("style-src", "<style>(.*?)</style>")):
        (content,) = re.findall(inside, text, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")
        assert rules.pop(name) == f"'sha256-{digest}'"
    assert rules == {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'", "img-src": "data:"}
    assert [attrs for _, attrs in Outline(text).tags if "style" in attrs] == []


def test_a_table_says_how_many_runs_and_which_interval() -> None:
    text = shown(SURE, replace(SURE, runs=20))
    assert "Average reward per step, 20–1000 runs of each row: mean over runs [10 %, 90 % of runs]." in text
    assert "95 % interval of the expected value, studentised bootstrap" in text
    assert "[.1531, .1572]" in text
    assert ".25 [.20, .30]" in text
    assert "95 % interval" not in shown(ROW)


def test_no_fixed_width_is_wider_than_a_phone() -> None:
    css = render("t", "l", [], {}).split("<style>")[1].split("</style>")[0]
    # A figure may be wider, so that its words stay readable: its own frame scrolls, the page does not.
    assert re.findall(r"([^\n{}]*\S) *{[^}]*min-width: *[1-9]", css) == ["  .plot svg"]
    assert re.search(r"\.plot {[^}]*overflow-x: auto", css)
    assert not re.search(r"[^-]width: *\d{3,}px", css)


def test_the_names_of_the_lines_stand_below_the_plot_where_there_is_no_room_beside_it(tmp_path: Path) -> None:
    """The page shows the part of the drawing that holds the names a second time; wide screens hide it."""
    steps = np.array([1.0, 2.0, 3.0])
    bands = [Band(label, steps, steps / k, steps / k, steps / k) for k, label in enumerate(("one", "two"), 1)]
    svg = save(average_reward_figure(bands, title="t", optimal=None), tmp_path, "f")
    text = render("t", "l", [replace(SECTION, figures=[FigureShown("c", svg)])], {})
    Outline(text)
    left, top, width, height = re.search(r'data-names="(\S+) (\S+) (\S+) (\S+)"', svg).groups()  # type: ignore[union-attr]
    again = re.search(
        r'<svg class="names" aria-hidden="true" viewBox="([^"]+)" [^>]*><use href="#([^"]+)"/></svg>', text
    )
    assert again is not None
    assert again[1] == f"{left} {top} {width} {height}"
    assert f'<g id="{again[2]}">' in svg  # what is shown again is there
    assert (
        f' width="{100 * (float(left) + float(width)) / float(left):.1f}%" '
        in text.split('<div class="plot beside">')[1]
    )
    css = text.split("<style>")[1].split("</style>")[0]
    wide, narrow = css.split("@media (max-width: 40rem)")
    assert re.search(r"\.names { display: none", wide)
    assert re.search(r"\.names { display: block", narrow)
    assert re.search(r"\.beside { overflow-x: hidden; } \.beside svg { min-width: 0; }", narrow)
    assert 'class="names"' not in render("t", "l", [SECTION], {})  # a figure without names


def test_a_caption_is_as_wide_as_what_is_seen_of_its_table() -> None:
    """Not as the window, of which a scroll bar takes a part."""
    css = render("t", "l", [], {}).split("<style>")[1].split("</style>")[0]
    assert re.search(r"\.scroll {[^}]*container-type: inline-size", css)
    assert re.search(r"caption span, \.group span {[^}]*max-width: 100cqi", css)


def test_provenance_is_a_definition_list_in_the_given_order() -> None:
    outline = Outline(render("t", "l", [], {"version": "0.1.0", "seed": "7"}))
    assert len(outline.all("dt")) == len(outline.all("dd")) == 2
    assert re.search(r"version\s*0\.1\.0\s*seed\s*7", outline.text)
    assert not Outline(render("t", "l", [], {})).all("dl")


def test_braces_in_text_are_only_text() -> None:
    assert "{css} {0} %s" in Outline(render("{css} {0} %s", "l", [], {})).text
