"""A figure as numbers for the page: as precise as it says, as small as it can be, and harmless."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hreach.report.figures import Band, Gaps, as_json, average_reward_chart, episodes_chart, gaps_chart, profiles_chart
from hreach.report.figures.band import MOST_POINTS
from hreach.report.figures.numbers import Floats, harmless, packed
from hreach.report.figures.pens import Pen, pens_of

STEPS = np.arange(30, 3001, 30)


def unpacked(column: Sequence[float], unit: float | None) -> Floats:
    """The oracle: what the script of the page makes of a column."""
    return np.array(column) if unit is None else np.cumsum(column) * unit


def band(label: str, seed: int = 0, level: float = 0.3, scale: float = 0.05) -> Band:
    runs = level + scale * np.random.default_rng(seed).normal(size=(40, len(STEPS)))
    low, median, high = np.quantile(runs, [0.1, 0.5, 0.9], axis=0)
    return Band(label, STEPS, runs.mean(axis=0), low, high, median, runs[:30])


def chart(*bands: Band, **options: Any) -> Any:
    return json.loads(as_json(average_reward_chart(bands, title="t", optimal=0.37, **options)))


def test_every_column_comes_back_to_within_half_a_unit() -> None:
    given_ = [band("a"), band("b", 1, 0.2)]
    made = chart(*given_)
    unit = made["unit"]
    span = made["yRange"][1] - made["yRange"][0]
    assert unit <= span / 1000
    (panel,) = made["panels"]
    for line, one in zip(panel["lines"], given_, strict=True):
        assert unpacked(line["at"], made["xUnit"]).tolist() == STEPS.tolist()
        columns = {"middle": one.mean, "low": one.low, "high": one.high, "median": one.median}
        for name, values in columns.items():
            assert unpacked(line[name], unit) == pytest.approx(np.asarray(values), abs=0.5001 * unit), name
        for run, values in zip(line["runs"], np.asarray(one.runs), strict=True):
            assert unpacked(run, 10 * unit) == pytest.approx(values, abs=5.001 * unit)


def test_levels_and_pens_are_those_of_the_figure() -> None:
    made = chart(band("VBE(1)"), band("VBE(2)"))
    assert made["panels"][0]["levels"] == [{"label": "optimal policy", "y": 0.37}]
    pens = pens_of(["VBE(1)", "VBE(2)"])
    lines = made["panels"][0]["lines"]
    assert [line["colour"] for line in lines] == [pen.colour for pen in pens]
    assert lines[0]["dashes"] == []
    assert lines[1]["dashes"] == pytest.approx([5.55, 2.4])
    assert all(line["marker"].startswith("M") and line["marker"].endswith("z") for line in lines)
    assert lines[0]["marker"] != lines[1]["marker"]


def test_lines_of_one_name_can_be_told_apart() -> None:
    lines = chart(band("a"), band("a"), band("b"), band("a"))["panels"][0]["lines"]
    assert [line["label"] for line in lines] == ["a", "a (2)", "b", "a (3)"]


def test_single_runs_of_a_family_have_colours_of_their_own() -> None:
    lines = chart(band("VBE(1)"), band("VBE(2)"), band("BEB"))["panels"][0]["lines"]
    assert len({line["colour"] for line in lines}) == 2
    assert len({line["runColour"] for line in lines}) == 3
    alone = chart(band("VBE(1)"), band("BEB"))["panels"][0]["lines"]
    assert [line["runColour"] for line in alone] == [line["colour"] for line in alone]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.sampled_from([1e-4, 0.01, 1.0, 100.0]))
def test_packing_is_undone_by_sums(values: list[float], unit: float) -> None:
    column = packed(np.array(values), unit)
    assert unpacked(column, unit) == pytest.approx(np.array(values), abs=0.5001 * unit)


def test_a_logarithmic_scale_keeps_four_digits_of_every_size() -> None:
    values = np.array([1.23456e7, 4.56789e11])
    assert packed(values, None) == [1.235e7, 4.568e11]
    high = [band("a", level=1e7, scale=1e5), band("b", 1, 1e11, 1e9)]
    made = json.loads(as_json(episodes_chart({"": high}, {}, title="t", log=True)))
    assert (made["scale"], made["unit"]) == ("log", None)
    assert made["panels"][0]["lines"][0]["middle"] == pytest.approx(high[0].mean, rel=0.0005)


def test_totals_below_zero_have_a_scale_that_goes_through_zero() -> None:
    made = json.loads(as_json(episodes_chart({"": [band("a", level=-5.0, scale=4.0)]}, {}, title="t", log=True)))
    assert made["scale"] == "symlog"


def test_many_points_are_thinned() -> None:
    steps = np.arange(1, 30_001)
    flat = np.full(len(steps), 0.3)
    line = chart(Band("a", steps, flat, flat, flat))["panels"][0]["lines"][0]
    assert len(line["at"]) == len(line["middle"]) == MOST_POINTS
    assert unpacked(line["at"], 1)[-1] == 30_000
    assert "runs" not in line
    assert "median" not in line


def test_thresholds_are_no_steps() -> None:
    at = np.linspace(-0.1, 0.4, 50)
    share = np.linspace(1, 0, 50)
    made = json.loads(as_json(profiles_chart([Band("a", at, share, share, share)], title="t", xlabel="x")))
    assert made["xUnit"] < 0.001
    assert (made["logX"], made["rank"], made["runsRange"]) == (False, "area", None)
    assert unpacked(made["panels"][0]["lines"][0]["at"], made["xUnit"]) == pytest.approx(at, abs=0.0001)


def test_gaps_are_lines_on_a_logarithmic_scale_over_numbers_or_names() -> None:
    lines = [band("a", level=2.0, scale=0.1), Band("bound", STEPS, *(3 * (np.full(len(STEPS), 500.0),)))]
    pens = {"a": Pen("#000000", "-", ""), "bound": Pen("#000000", "--", "")}
    gaps = Gaps("t", "step", {"p": lines}, pens, floor=0.01, largest=20.0, key="k")
    made = json.loads(as_json(gaps_chart(gaps)))
    assert [line["label"] for line in made["panels"][0]["lines"]] == ["a", "bound"]
    assert (made["scale"], made["shadeFrom"], made["logX"], made["xNames"]) == ("log", 20.0, True, None)
    assert made["yRange"][1] == pytest.approx(750)
    named = json.loads(as_json(gaps_chart(replace(gaps, x_names=["0", "<1>"]))))
    assert (named["logX"], named["xNames"]) == (False, ["0", "<1>"])


@given(st.text())
def test_no_text_can_end_the_element(text: str) -> None:
    """Whatever is in a text, what stands in the page has no '<', and means the same."""
    made = harmless(json.dumps({"label": text}))
    assert not set("<>&\u2028\u2029") & set(made)
    assert json.loads(made) == {"label": text}
