"""What all pictures share: they depend on nobody's settings, and the same one is saved as the same bytes."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from hreach.drawing import palette
from hreach.drawing.canvas import canvas, own_style, pixels
from hreach.drawing.saving import encoded, save_as
from hreach.errors import InputError

SOURCE = Path(palette.__file__).parents[1]


@own_style()
def drawn() -> Figure:
    figure = canvas(3, 2)
    figure.add_subplot().plot([0, 1], [1, 0])
    return figure


def test_a_canvas_has_so_many_pixels_and_is_white() -> None:
    assert pixels(canvas(3, 2)).shape == (200, 300, 3)
    assert (pixels(canvas(3, 2)) == 255).all()


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_the_same_figure_is_the_same_bytes_whatever_the_users_settings(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = encoded(drawn(), form)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")  # matplotlib's clock
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9, "savefig.facecolor": "red"}):
        assert encoded(drawn(), form) == before
        assert matplotlib.rcParams["font.size"] == 30


@pytest.mark.parametrize(
    ("name", "start"), [("a", b"\x89PNG"), ("a.PNG", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")]
)
def test_the_ending_of_the_name_is_the_format(name: str, start: bytes, tmp_path: Path) -> None:
    save_as(drawn(), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere/a\.png cannot be written: "):
        save_as(drawn(), tmp_path / "nowhere" / "a.png")


def test_colours_of_the_palette_differ_and_stand_in_no_other_file() -> None:
    names = {name: colour for name, colour in vars(palette).items() if name.isupper() and isinstance(colour, str)}
    assert len(set(names.values())) == len(names) == 16
    luminance = [np.dot(matplotlib.colors.to_rgb(colour), (0.2126, 0.7152, 0.0722)) for colour in palette.COLOURS]
    assert max(luminance) < 0.7  # to be seen on white
    for file in SOURCE.rglob("*.py"):
        text = file.read_text("utf-8").lower()
        found = [colour for colour in names.values() if re.search(rf"[\"']{colour.lower()}[\"']", text)]
        assert not found or file.name == "palette.py", (file, found)
