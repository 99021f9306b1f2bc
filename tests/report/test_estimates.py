"""What a table says of how sure its numbers are."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from hreach.report.estimates import NOTHING, estimates_of
from hreach.report.figures.profiles import profile_bands, profiles_figure
from hreach.report.tables import rows, to_csv
from hreach.statistics import iqm_interval, mean_interval, performance_profile, probability_of_improvement
from hreach.studies.results import Phase, Result
from hreach.studies.spec import AgentSpec

pytestmark = pytest.mark.usefixtures("fewer_resamples")
RNG = np.random.default_rng(5)
SCORES = [RNG.normal(level, 1, size) for level, size in ((0.0, 50), (1.0, 30), (0.5, 50), (9.0, 50))]
VARIANTS = ["x", "x", "x", "y"]


def test_every_number_is_the_one_of_the_statistics() -> None:
    for i, found in enumerate(estimates_of(SCORES, VARIANTS)):
        mean, iqm = mean_interval(SCORES[i]), iqm_interval(SCORES[i])
        assert (found.mean_low, found.mean_high) == pytest.approx((mean.low, mean.high))
        assert (found.iqm, found.iqm_low, found.iqm_high) == pytest.approx((iqm.value, iqm.low, iqm.high))


def test_rows_are_compared_with_the_best_of_their_variant() -> None:
    first, best, third, alone = estimates_of(SCORES, VARIANTS)
    assert best.better is alone.better is None
    for found, scores in ((first, SCORES[0]), (third, SCORES[2])):
        wanted = probability_of_improvement(scores, SCORES[1])
        assert (found.better, found.better_low, found.better_high) == (wanted.value, wanted.low, wanted.high)
    assert first.better is not None
    assert first.better < 0.5


def test_one_run_says_nothing_about_other_runs() -> None:
    single, many = estimates_of([np.array([5.0]), SCORES[0]], ["x", "x"])
    assert single == NOTHING
    assert many.mean_low is not None
    assert many.better is None  # the best row is that single run


def test_the_estimates_stand_in_the_csv() -> None:
    results = []
    for i, scores in enumerate(SCORES[:3]):
        learning = Phase(
            10 * scores[:, None], np.full((len(scores), 1), 10), np.zeros((len(scores), 1), dtype=np.bool_)
        )
        spec = AgentSpec(agent="vbe", algorithm=f"row {i}")
        results.append((spec, Result("steps", np.array([10]), learning, Phase.none(len(scores)), {})))
    read = list(csv.DictReader(io.StringIO(to_csv(rows(results, {})))))
    for line, found in zip(read, estimates_of(SCORES[:3], [""] * 3), strict=True):
        for name, value in vars(found).items():
            assert line[name] == ("" if value is None else f"{value:.6g}"), name
    assert [line["runs"] for line in read] == ["50", "30", "50"]


# --- profiles ----------------------------------------------------------------


def test_profiles_are_those_of_the_statistics_from_the_lowest_to_the_highest_run() -> None:
    scores = [(f"row {i}", values) for i, values in enumerate(SCORES)]
    bands = profile_bands(scores)
    lowest, highest = min(map(np.min, SCORES)), max(map(np.max, SCORES))
    for band, values in zip(bands, SCORES, strict=True):
        assert band.steps[0] < lowest < highest < band.steps[-1]
        assert (band.mean[0], band.mean[-1]) == (1, 0)
        wanted = performance_profile(values, np.asarray(band.steps, dtype=np.float64))
        assert np.array_equal(band.low, wanted.low)
        assert np.array_equal(band.high, wanted.high)
        middle = len(band.steps) // 2
        assert band.mean[middle] == pytest.approx((values > band.steps[middle]).mean())


def test_runs_that_are_all_alike_have_a_profile_too() -> None:
    (band,) = profile_bands([("a", np.zeros(5))])
    assert band.steps[0] < 0 < band.steps[-1]
    assert profiles_figure([band], title="t", xlabel="x").axes


def test_names_of_profiles_stand_in_the_order_of_the_lines() -> None:
    scores = [(f"row {i}", values) for i, values in enumerate(SCORES)]
    figure = profiles_figure(profile_bands(scores), title="t", xlabel="x")
    heights = {text.get_text(): text.get_window_extent().y0 for text in figure.axes[0].texts}
    assert sorted(heights, key=heights.__getitem__) == ["row 0", "row 2", "row 1", "row 3"]
    assert "Half of the runs earned more than: row 0 " in str(figure.get_label())
