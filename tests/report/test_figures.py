"""The figure of average reward over time: can it be read, repeated and put into a page with others?"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from drawings import points
from hreach.drawing.saving import encoded
from hreach.report.figures import Band, average_reward_figure, save
from hreach.report.figures.labels import spread
from hreach.report.figures.pens import pens_of

CHAIN = {
    "PAC-RMDP(1)": 0.357,
    "PAC-RMDP(8)": 0.343,
    "PAC-RMDP(16)": 0.328,
    "PAC-RMDP(growing)": 0.352,
    "PAC-RMDP(adaptive)": 0.335,
    "MBIE(0.01, 0.1)": 0.160,
    "MBIE(20, 0.9)": 0.160,
    "MBIE(1e4, 0.2)": 0.267,
    "VBE(0.1)": 0.155,
    "VBE(0.99)": 0.156,
    "VBE(1e3)": 0.220,
    "BEB(2x148^2)": 0.148,
    "BOLT(148)": 0.240,
}


def band(label: str, final: float, last: int = 3000, width: float = 0.02) -> Band:
    steps = np.arange(20, last + 1, 20)
    mean = final + (0.15 - final) * np.exp(-steps / 400)
    mean[-1] = final
    return Band(label, steps, mean, mean - width, mean + width)


def chain(optimal: float | None = 0.3677, title: str = "Five-state chain") -> Figure:
    return average_reward_figure([band(k, v) for k, v in CHAIN.items()], title=title, optimal=optimal)


def label_boxes(figure: Figure) -> dict[str, Bbox]:
    return {text.get_text(): text.get_window_extent() for text in figure.axes[0].texts}


def assert_readable(figure: Figure, count: int) -> None:
    boxes = label_boxes(figure)
    assert len(boxes) == count
    for (one, a), (two, b) in combinations(boxes.items(), 2):
        assert not a.overlaps(b), (one, two)
    axes = figure.axes[0].get_window_extent()
    for label, box in boxes.items():
        assert box.x0 > axes.x1, label
        assert figure.bbox.x1 >= box.x1, label
        assert axes.y0 - 1 <= box.y0, label
        assert box.y1 <= axes.y1 + 1, label


def line_of(figure: Figure, final: float) -> Line2D:
    return next(line for line in figure.axes[0].lines if line.get_ydata()[-1] == final)  # type: ignore[index]


def test_labels_of_the_chain_do_not_overlap() -> None:
    assert_readable(chain(), len(CHAIN) + 1)


@pytest.mark.parametrize("final", [0.13, 0.15, 0.3])
def test_fourteen_lines_on_one_spot_keep_readable_labels(final: float) -> None:
    bands = [band(f"Rival number {i} (x)", final) for i in range(13)] + [band("other", 0.29)]
    assert_readable(average_reward_figure(bands, title="t", optimal=0.3), 15)


def test_more_labels_than_fit_the_usual_height_make_the_figure_taller() -> None:
    bands = [band(f"R{i}", 0.2) for i in range(40)]
    assert_readable(average_reward_figure(bands, title="t", optimal=None), 40)


def test_labels_stand_in_the_order_of_the_final_values() -> None:
    boxes = label_boxes(chain())
    distinct = ["PAC-RMDP(1)", "PAC-RMDP(8)", "MBIE(1e4, 0.2)", "BOLT(148)", "VBE(0.99)", "VBE(0.1)"]
    heights = [boxes[label].y0 for label in distinct]
    assert heights == sorted(heights, reverse=True)


def test_a_lonely_label_stands_beside_its_line() -> None:
    figure = average_reward_figure([band("alone", 0.3)], title="t", optimal=None)
    box = label_boxes(figure)["alone"]
    end = figure.axes[0].transData.transform((3000, 0.3))[1]
    assert abs((box.y0 + box.y1) / 2 - end) < 4


def test_spreading_moves_as_little_as_needed_and_keeps_the_bounds() -> None:
    assert spread([50, 10, 80], 10, 0, 100) == [50, 10, 80]
    assert spread([50, 50], 10, 0, 100) == [45, 55]
    assert spread([1, 2], 10, 0, 100) == [0, 10]
    assert spread([99, 98, 40], 10, 0, 100) == [100, 90, 40]


def test_a_very_long_label_is_cut_and_leaves_room_for_the_lines() -> None:
    figure = average_reward_figure([band("long " * 60, 0.3)], title="t " * 400, optimal=None)
    assert_readable(figure, 1)
    assert figure.axes[0].get_position().width > 0.4


def test_dollars_are_dollars() -> None:
    label, title = r"cost $\frac$ {", "$$ $_^"
    figure = average_reward_figure([band(label, 0.3)], title=title, optimal=None)
    figure.canvas.draw()
    assert list(label_boxes(figure)) == [label]
    assert title in [text.get_text() for text in figure.texts]


def test_control_characters_and_newlines_do_not_reach_the_drawing(tmp_path: Path) -> None:
    figure = average_reward_figure([band("a\x00b\n c", 0.3)], title="x\x08", optimal=None)
    assert list(label_boxes(figure)) == ["ab c"]
    ElementTree.fromstring(save(figure, tmp_path, "f"))


def test_a_figure_tells_where_the_names_of_its_lines_are(tmp_path: Path) -> None:
    """A window that holds every name and its sample, and nothing of the axes."""
    figure = chain()
    told = re.search(r'data-names="(\S+) (\S+) (\S+) (\S+)"', save(figure, tmp_path, "chain"))
    assert told is not None
    figure.canvas.draw()
    left, top, width, height = map(float, told.groups())
    points, tall = 72 / figure.dpi, figure.get_size_inches()[1] * 72
    for box in label_boxes(figure).values():
        assert left + 20 < box.x0 * points < box.x1 * points < left + width
        assert top < tall - box.y1 * points < tall - box.y0 * points < top + height
    assert left > figure.axes[-1].get_position().x1 * figure.get_size_inches()[0] * 72 + 10
    empty = Figure()
    empty.add_subplot().plot([0, 1])
    assert "data-names" not in save(empty, tmp_path, "empty")


def test_the_same_figure_is_saved_as_the_same_bytes(tmp_path: Path) -> None:
    texts = [save(chain(), tmp_path / folder, "chain") for folder in "ab"]
    assert texts[0] == texts[1]
    for name in ("chain.svg", "chain.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_users_settings_neither_leak_in_nor_get_changed(tmp_path: Path) -> None:
    plain = save(chain(), tmp_path, "chain")
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9, "svg.hashsalt": "mine"}):
        before = dict(matplotlib.rcParams)
        assert save(chain(), tmp_path, "chain") == plain
        assert dict(matplotlib.rcParams) == before


def test_ids_of_two_figures_do_not_clash_and_every_reference_resolves(tmp_path: Path) -> None:
    texts = [save(chain(), tmp_path, name) for name in ("one", "two")]
    ids = [re.findall(r'\bid="([^"]+)"', text) for text in texts]
    for found, text in zip(ids, texts, strict=True):
        assert len(found) == len(set(found)) > 50
        references = re.findall(r'(?:href="#|url\(#)([^")]+)', text)
        assert any("clip-path" in line for line in text.splitlines())
        assert set(references) <= set(found)
    assert not set(ids[0]) & set(ids[1])


def test_a_figure_needs_no_style_sheet(tmp_path: Path) -> None:
    """A page that allows no styles but its own would not show it as it is."""
    text = save(chain(), tmp_path, "one")
    assert "<style" not in text
    assert "style=" not in text
    root = ElementTree.fromstring(text)
    assert (root.get("stroke-linejoin"), root.get("stroke-linecap")) == ("round", "butt")


def test_the_smaller_drawing_has_the_same_shapes(tmp_path: Path) -> None:
    """Compared with what matplotlib writes: every path with its commands, to within half of the last place."""
    figure = chain()
    full = ElementTree.fromstring(encoded(figure, "svg", salt="f").decode("utf-8"))
    short = save(figure, tmp_path, "f")
    pairs = zip(paths_of(full), paths_of(ElementTree.fromstring(short)), strict=True)
    for (commands, numbers), (again, rounded) in pairs:
        assert commands == again
        assert rounded == pytest.approx(numbers, abs=0.0501)
    assert len(short) < 0.75 * len(encoded(figure, "svg", salt="f"))


def paths_of(root: ElementTree.Element) -> list[tuple[list[str], list[float]]]:
    """(commands, numbers) of every path, its points absolute."""
    drawn = [points(str(path.get("d"))) for path in root.iter("{http://www.w3.org/2000/svg}path")]
    return [([c for c, _ in path], [n for _, some in path for point in some for n in point]) for path in drawn]


def test_svg_is_one_scalable_element_without_outside_resources(tmp_path: Path) -> None:
    text = save(chain(), tmp_path, "chain")
    root = ElementTree.fromstring(text)
    assert text.startswith("<svg ")
    assert root.get("viewBox")
    assert root.get("role") == "img"
    assert "PAC-RMDP(1) 0.357" in (root.get("aria-label") or "")
    assert "optimal policy 0.368" in (root.get("aria-label") or "")
    assert not re.search(r'(?:href|src)="(?!#)', text)
    assert "<!--" not in text
    assert (tmp_path / "chain.svg").read_text(encoding="utf-8").endswith(text)


def test_markup_in_labels_and_titles_stays_text(tmp_path: Path) -> None:
    evil = '"><script>alert(1)</script>--><b a="'
    text = save(average_reward_figure([band(evil, 0.3)], title=evil, optimal=None), tmp_path, "f")
    ElementTree.fromstring(text)
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_save_leaves_the_two_files_and_nothing_else(tmp_path: Path) -> None:
    save(chain(), tmp_path / "new", "chain")
    save(chain(), tmp_path / "new", "chain")
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["chain.png", "chain.svg"]
    assert (tmp_path / "new" / "chain.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["", "../up", "a/b", "a b", 'a"b', "."])
def test_names_that_are_no_plain_file_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        save(chain(), tmp_path, name)
    assert not list(tmp_path.iterdir())


def test_families_share_a_colour_and_members_differ_otherwise() -> None:
    pens = dict(zip(CHAIN, pens_of(list(CHAIN)), strict=True))
    assert len({pens[k].colour for k in CHAIN}) == 6
    assert pens["PAC-RMDP(growing)"].colour == pens["PAC-RMDP(adaptive)"].colour != pens["PAC-RMDP(8)"].colour
    assert pens["VBE(0.1)"].colour == pens["VBE(1e3)"].colour != pens["BEB(2x148^2)"].colour
    assert len({(p.colour, p.dashes) for p in pens.values()}) == len(CHAIN)
    assert len({p.marker for p in pens.values()}) == len(CHAIN)


def test_a_family_keeps_its_colour_whatever_else_is_drawn() -> None:
    assert pens_of(["new", "BOLT(148)"])[1].colour == pens_of(["BOLT(1)"])[0].colour
    strangers = pens_of([f"family{i}(1)" for i in range(14)])
    assert len({(p.colour, p.dashes) for p in strangers}) == 14


def test_lines_show_the_data_and_the_axes_the_whole_time() -> None:
    figure = chain()
    assert figure.axes[0].get_xlim() == (0, 3000)
    assert line_of(figure, 0.357).get_xdata()[-1] == 3000  # type: ignore[index]
    low, high = figure.axes[0].get_ylim()
    assert low < 0.148 - 0.02
    assert high > 0.357 + 0.02


def test_a_wild_first_average_does_not_flatten_the_rest() -> None:
    calm = band("a", 0.3)
    high = calm.high.copy()
    high[0] = 50.0
    figure = average_reward_figure([Band("a", calm.steps, calm.mean, calm.low, high)], title="", optimal=None)
    assert figure.axes[0].get_ylim()[1] < 1


def test_no_reference_line_without_an_optimal_value() -> None:
    assert "optimal policy" in label_boxes(chain())
    assert "optimal policy" not in label_boxes(chain(optimal=None))


def test_lines_of_different_length_a_single_point_and_a_constant_can_be_drawn() -> None:
    one = np.array([3000])
    zero = np.array([0.0])
    bands = [Band("point", one, zero, zero, zero), band("short", 0.0, last=400, width=0.0)]
    assert_readable(average_reward_figure(bands, title="", optimal=0.0), 3)


def test_many_checkpoints_do_not_make_a_huge_file(tmp_path: Path) -> None:
    steps = np.arange(1, 30_001)
    noise = np.random.default_rng(1).normal(0.3, 0.01, steps.size)
    figure = average_reward_figure([Band("a", steps, noise, noise - 1, noise + 1)], title="", optimal=None)
    assert len(save(figure, tmp_path, "f")) < 100_000
    assert line_of(figure, noise[-1]).get_xdata()[-1] == 30_000  # type: ignore[index]


def test_what_cannot_be_drawn_is_refused() -> None:
    good = band("a", 0.3)
    nan = np.full(good.steps.size, np.nan)
    with pytest.raises(ValueError, match="at least one"):
        average_reward_figure([], title="t", optimal=None)
    with pytest.raises(ValueError, match=r"'b'.*equally long"):
        average_reward_figure([Band("b", good.steps, good.mean[:3], good.low, good.high)], title="", optimal=1)
    with pytest.raises(ValueError, match="finite"):
        average_reward_figure([Band("b", good.steps, nan, good.low, good.high)], title="", optimal=None)
    with pytest.raises(ValueError, match="increase"):
        average_reward_figure([Band("b", good.steps[::-1], good.mean, good.low, good.high)], title="", optimal=1)
    with pytest.raises(ValueError, match="optimal"):
        average_reward_figure([good], title="", optimal=float("inf"))


def test_a_png_is_made_where_it_lacks_or_is_of_another_drawing_and_left_alone_otherwise(tmp_path: Path) -> None:
    save(chain(), tmp_path, "name")
    png, svg = tmp_path / "name.png", tmp_path / "name.svg"
    first, there = png.read_bytes(), svg.read_bytes()
    png.write_bytes(b"as it was")
    save(chain(), tmp_path, "name")
    assert (png.read_bytes(), svg.read_bytes()) == (b"as it was", there)
    save(chain(title="Another"), tmp_path, "name")
    assert png.read_bytes() not in (first, b"as it was")
    assert svg.read_bytes() != there
    png.unlink()
    save(chain(), tmp_path, "name")
    png.unlink()
    save(chain(), tmp_path, "name")
    assert (png.read_bytes(), svg.read_bytes()) == (first, there)
