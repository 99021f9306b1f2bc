"""Tables, verdicts, summaries and the picture of a run."""

from __future__ import annotations

import csv
import io
import math
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import norm

import hreach
from hreach.errors import InputError
from hreach.report.rows import Row
from hreach.report.tables import Printed, load_printed, misses, rows, to_csv, verdict
from hreach.statistics import summarise
from hreach.studies.results import Phase, Result
from hreach.studies.spec import AgentSpec

PRINTED = Printed(mean=0.5, p10=0.4, p90=0.6, note="")
ROW = Row("A", "as printed", 0.5, 0.4, 0.6, 0.01, 1000, 0.5, None, 0.6, "reproduced", "a note")


# --- verdicts ----------------------------------------------------------------


def runs(n: int, middle: float = 0.5, spread: float = 0.02) -> NDArray[np.float64]:
    """n values whose mean is `middle` and whose law is symmetric and near normal, without chance."""
    return np.asarray(middle + spread * norm.ppf((np.arange(n) + 0.5) / n))


def print_of(values: NDArray[np.float64], digits: int = 9) -> Printed:
    mean, p10, p90 = (round(float(x), digits) for x in (values.mean(), *np.quantile(values, [0.1, 0.9])))
    return Printed(mean, p10, p90, "")


def with_(thing: Any, field: str, value: float | None) -> Any:
    return replace(thing, **{field: value})


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("n", [1000, 4000])
@pytest.mark.parametrize("spread", [0.02, 0.0001, 0.0])
def test_the_mean_may_differ_by_three_combined_standard_errors_and_the_rounding(
    n: int, spread: float, sign: int
) -> None:
    values = runs(n, spread=spread)
    limit = 3 * values.std(ddof=1) * math.sqrt(1 / n + 1 / 1000) + 0.0005
    for factor, word in ((0.999, "reproduced"), (1.001, "not reproduced")):
        printed = Printed(float(values.mean()) + sign * factor * limit, None, None, "")
        assert verdict(values, printed) == word


@pytest.mark.parametrize(("field", "p"), [("p10", 0.1), ("p90", 0.9)])
@pytest.mark.parametrize("spread", [0.02, 0.001])
def test_a_quantile_may_differ_by_three_standard_errors_and_the_rounding(field: str, p: float, spread: float) -> None:
    """The oracle: the standard error of a normal quantile, sqrt(p (1 - p) / n) / density, of both samples."""
    values = runs(1000, spread=spread)
    error = spread * math.sqrt(p * (1 - p) * 2 / 1000) / norm.pdf(norm.ppf(p))
    for sign in (-1, 1):
        for factor, word in ((0.8, "reproduced"), (1.25, "not reproduced")):
            moved = float(np.quantile(values, p)) + sign * factor * (3 * error + 0.0005)
            assert verdict(values, with_(print_of(values), field, moved)) == word


def miss_rate(allowed: float, draw: Any) -> float:
    """How often a setting that is the right one misses, printed with three digits: 1000 runs each."""
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(400):
        theirs, ours = draw(rng), draw(rng)
        printed = print_of(theirs, digits=3)
        missed += bool(misses(theirs.mean() + allowed * (ours - theirs.mean()), printed))
    return missed / 400


LAWS = {
    "normal": lambda rng: rng.normal(0.3, 0.02, 1000),
    "skewed": lambda rng: 0.2 + 0.05 * rng.exponential(size=1000),
    "two peaks": lambda rng: np.where(
        rng.random(1000) < 0.77, rng.normal(0.2, 0.002, 1000), rng.normal(0.75, 0.03, 1000)
    ),
}


@pytest.mark.parametrize("law", LAWS)
def test_the_right_setting_misses_by_chance_about_once_in_a_hundred_times(law: str) -> None:
    assert miss_rate(1.0, LAWS[law]) < 0.03


@pytest.mark.parametrize("law", LAWS)
def test_a_setting_with_another_spread_misses_often(law: str) -> None:
    """The twin that is wrong on purpose: everything a third farther from the mean."""
    assert miss_rate(4 / 3, LAWS[law]) > 0.5


def test_what_a_wide_tolerance_passes_is_refused() -> None:
    """MBIE(1e4, 0.2) on the chain: .0028 from the print, seven standard errors of either sample."""
    printed = load_printed("chain.csv")["MBIE(1e4, 0.2)"]
    values = runs(1000, 0.2642, 0.0132)
    assert abs(values.mean() - printed.mean) < 0.003
    assert np.abs(np.quantile(values, [0.1, 0.9]) - [printed.p10, printed.p90]).max() < 0.012
    assert misses(values, printed) == ["mean"]


@pytest.mark.parametrize("field", ["p10", "p90"])
def test_a_misprinted_quantile_is_not_compared(field: str) -> None:
    values = runs(1000)
    assert verdict(values, with_(print_of(values), field, 0.9)) == "not reproduced"
    assert verdict(values, with_(print_of(values), field, None)) == "reproduced"


@pytest.mark.parametrize("missed", ["mean", "p10", "p90"])
@pytest.mark.parametrize(
    ("n", "word"), [(2, "undecided"), (999, "undecided"), (1000, "not reproduced"), (5000, "not reproduced")]
)
def test_a_miss_is_a_verdict_only_with_as_many_runs_as_the_paper(missed: str, n: int, word: str) -> None:
    values = runs(n)
    assert misses(values, with_(print_of(values), missed, 0.9)) == [missed]
    assert verdict(values, with_(print_of(values), missed, 0.9)) == word


def test_a_hit_with_few_runs_is_a_hit() -> None:
    assert verdict(runs(20), print_of(runs(20))) == "reproduced"


def test_a_single_run_decides_nothing() -> None:
    assert verdict(np.array([0.5]), Printed(0.5, 0.5, 0.5, "")) == "undecided"


# --- rows --------------------------------------------------------------------


def result(*averages: float) -> Result:
    """Runs of two checkpoints, 10 and 20 steps, that end with these averages."""
    ends, at = np.array(averages), np.array([10, 20])
    total = np.stack([np.zeros(len(ends)), 20 * ends], axis=1)
    learning = Phase(total, np.tile(at, (len(ends), 1)), np.zeros(total.shape, dtype=np.bool_))
    return Result("steps", at, learning, Phase.none(len(ends)), {})


def spec(variant: str, label: str = "VBE(0.1)", note: str = "") -> AgentSpec:
    return AgentSpec(agent="vbe", algorithm=label, variant=variant, note=note)


@pytest.mark.parametrize(
    ("variant", "word"), [("as printed", "undecided"), ("as defined", "undecided"), ("", ""), ("As Printed", "")]
)
def test_only_rows_as_printed_and_as_defined_are_judged(variant: str, word: str) -> None:
    (row,) = rows([(spec(variant), result(0.1, 0.3))], {"VBE(0.1)": Printed(0.9, 0.9, 0.9, "")})
    assert row.verdict == word
    assert row.printed_mean == 0.9


def test_a_row_that_the_paper_does_not_have_is_not_judged() -> None:
    (row,) = rows([(spec("as printed", label="VBE(7)"), result(0.1, 0.3))], {"VBE(0.1)": PRINTED})
    assert (row.printed_mean, row.printed_p10, row.printed_p90, row.verdict) == (None, None, None, "")


def test_a_row_summarises_the_average_reward_at_the_last_step() -> None:
    (row,) = rows([(spec(""), result(0.1, 0.2, 0.6))], {})
    assert row.runs == 3
    assert row.mean == pytest.approx(0.3)
    assert row.p10 == pytest.approx(0.12)
    assert row.p90 == pytest.approx(0.52)


def test_rows_keep_the_order_of_the_study() -> None:
    made = rows([(spec("", label=name), result(0.1, 0.2)) for name in "cab"], {})
    assert [row.algorithm for row in made] == ["c", "a", "b"]


def test_the_papers_note_stands_only_where_the_paper_is_compared_with() -> None:
    printed = {"VBE(0.1)": replace(PRINTED, note="theirs")}
    made = rows([(spec(v, note="ours"), result(0.1, 0.2)) for v in ("as printed", "as defined")], printed)
    assert [row.note for row in made] == ["ours; theirs", "ours"]


@pytest.mark.parametrize("name", ["chain.csv", "modified-chain.csv"])
def test_printed_numbers_are_in_order_where_they_are_printed(name: str) -> None:
    printed = load_printed(name)
    assert len(printed) == 11
    for row in printed.values():
        assert (row.p10 or 0) < row.mean < (row.p90 or 1)


def test_the_misprint_of_the_paper_is_left_out() -> None:
    row = load_printed("chain.csv")["PAC-RMDP(16)"]
    assert (row.mean, row.p10, row.p90) == (0.328, 0.305, None)
    assert "misprint" in row.note


# --- CSV ---------------------------------------------------------------------


def read_back(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_csv_has_the_columns_of_the_interface() -> None:
    printed = "printed_mean,printed_p10,printed_p90,verdict,informative"
    sure = "mean_low,mean_high,iqm,iqm_low,iqm_high,better,better_low,better_high"
    assert to_csv([ROW]).splitlines()[0] == f"algorithm,variant,mean,p10,p90,se,runs,{printed},{sure}"


def test_the_csv_tells_every_number_and_leaves_absent_ones_empty() -> None:
    line = to_csv([replace(ROW, mean=0.123456789)]).splitlines()[1]
    assert line == "A,as printed,0.123457,0.4,0.6,0.01,1000,0.5,,0.6,reproduced," + 8 * ","
    assert to_csv([replace(ROW, informative=True)]).splitlines()[1].endswith(",reproduced,True" + 8 * ",")


@pytest.mark.parametrize("text", ["MBIE(0.01, 0.1)", 'say "x"', "two\nlines", "semi;colon", "<b>&", " space ", "Ä"])
def test_any_label_survives_the_csv(text: str) -> None:
    (read,) = read_back(to_csv([replace(ROW, algorithm=text, variant=text)]))
    assert (read["algorithm"], read["variant"], read["verdict"]) == (text, text, "reproduced")


@given(label=st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_any_text_survives_the_csv(label: str) -> None:
    (read,) = read_back(to_csv([replace(ROW, algorithm=label)]))
    assert read["algorithm"] == label


# --- summaries ---------------------------------------------------------------


@pytest.mark.parametrize("runs", [2, 3, 10, 1001])
def test_a_summary_is_what_numpy_says(runs: int) -> None:
    values = np.random.default_rng(runs).normal(size=runs)
    summary = summarise(values)
    assert summary.runs == runs
    assert summary.mean == pytest.approx(float(np.mean(values)))
    assert summary.p10 == pytest.approx(float(np.quantile(values, 0.1)))
    assert summary.p90 == pytest.approx(float(np.quantile(values, 0.9)))
    assert summary.se == pytest.approx(math.sqrt(np.sum((values - values.mean()) ** 2) / (runs - 1) / runs))


def test_a_summary_of_known_numbers() -> None:
    summary = summarise(np.arange(11, dtype=np.float64))
    assert (summary.mean, summary.p10, summary.p90) == (5.0, 1.0, 9.0)
    assert summary.se == pytest.approx(1.0)


def test_a_single_run_has_no_standard_error() -> None:
    summary = summarise(np.array([0.25]))
    assert (summary.mean, summary.p10, summary.p90, summary.runs) == (0.25, 0.25, 0.25, 1)
    assert math.isnan(summary.se)


# --- pictures ----------------------------------------------------------------


def one_run() -> hreach.Run:
    env = hreach.make_domain("chain")
    return hreach.run(env, hreach.make_agent("pac-rmdp", env, h=8), steps=30)


def many_runs() -> hreach.Runs:
    return hreach.simulate("chain", "pac-rmdp", {"h": 8}, runs=3, steps=30)


def lines(figure: Figure) -> list[list[float]]:
    return [np.asarray(line.get_ydata(), dtype=float).tolist() for line in figure.axes[0].lines]


def running_mean(reward: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([reward[..., : t + 1].mean(axis=-1) for t in range(reward.shape[-1])]).T


def holds(figure: Figure, expected: NDArray[np.float64]) -> bool:
    return any(len(y) == len(expected) and np.allclose(y, expected) for y in lines(figure))


def test_the_picture_of_a_run_shows_its_average_reward_so_far() -> None:
    run = one_run()
    assert holds(hreach.plot(run), running_mean(run.rewards))


def test_the_picture_of_many_runs_shows_their_mean() -> None:
    runs = many_runs()
    assert holds(hreach.plot(runs), running_mean(runs.reward).mean(axis=0))


def test_the_picture_shows_label_and_optimum() -> None:
    figure = hreach.plot(one_run(), label="mine", optimal=0.375)
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"mine", "optimal policy"} <= texts
    assert any(set(y) == {0.375} for y in lines(figure))


@pytest.mark.parametrize("make", [one_run, many_runs])
def test_a_picture_is_written_whole_as_png(make: Any, tmp_path: Path) -> None:
    figure = hreach.plot(make(), tmp_path / "run.png")
    data = (tmp_path / "run.png").read_bytes()
    assert isinstance(figure, Figure)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert data.endswith(b"IEND\xaeB`\x82")
    assert [p.name for p in tmp_path.iterdir()] == ["run.png"]


@pytest.mark.parametrize("make", [one_run, many_runs])
def test_a_picture_is_written_whole_as_svg(make: Any, tmp_path: Path) -> None:
    hreach.plot(make(), str(tmp_path / "run.svg"))
    assert ET.parse(tmp_path / "run.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert [p.name for p in tmp_path.iterdir()] == ["run.svg"]


def test_a_picture_without_a_path_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(hreach.plot(one_run()), Figure)
    assert list(tmp_path.iterdir()) == []


def test_a_picture_that_cannot_be_drawn_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.png"
    path.write_bytes(b"old")

    def draw_half(self: Figure, target: Any, **options: Any) -> None:
        target.write(b"half") if hasattr(target, "write") else Path(target).write_bytes(b"half")
        raise OSError("no space")

    monkeypatch.setattr(Figure, "savefig", draw_half)
    with pytest.raises(OSError, match="no space"):
        hreach.plot(one_run(), path)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("run.png", b"old")]


def test_a_picture_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.svg"
    path.write_bytes(b"old")

    def write_half(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError("no space")

    with monkeypatch.context() as full:
        full.setattr(Path, "write_bytes", write_half)
        with pytest.raises(InputError, match="no space"):
            hreach.plot(one_run(), path)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("run.svg", b"old")]
