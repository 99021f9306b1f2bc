"""Pictures and tables of the docs.

`python benchmarks/figures.py h` draws docs/images/h-matters.png, README's picture of what h does: PAC-RMDP(h) on the
modified chain, 1000 runs.

`python benchmarks/figures.py [RESULTS]` is for Figures 2 and 3. From the results of `hreach reproduce mountain-car hiv
hiv-deeper`, and of `hreach run` with `benchmarks/hiv-nine-tenths.toml` and `benchmarks/hiv-variance.toml`, `--out
results`, it reads RESULTS/tables (default: results) and writes a table, such as benchmarks/MOUNTAIN_CAR.md, for each of
these studies that is there; pictures that the docs show are copied.
"""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

import hreach
from hreach.drawing.canvas import COLOURS, GREY, INK, canvas

HERE = Path(__file__).parent
IMAGES = HERE.parent / "docs" / "images"
SHOWN = ("mountain-car.png", "hiv.png", "hiv-episode-1.png")
STUDIES = ("mountain-car", "hiv", "hiv-deeper", "hiv-nine-tenths", "hiv-variance")

HS, RUNS, STEPS, DRAWN = (1, 8, 64), 1000, 3000, 60
STUCK = 0.25  # reward per step; resetting for ever earns .2, the optimal policy .81


def draw_h_matters() -> None:
    """Three panels, one for each h: single runs as thin lines, their mean as a thick one."""
    figure = canvas(1000, 380)
    panels = figure.subplots(1, len(HS), sharey=True)
    figure.subplots_adjust(left=0.065, right=0.975, top=0.74, bottom=0.13, wspace=0.1)
    for axes, h, colour in zip(panels, HS, COLOURS, strict=False):
        draw_runs(axes, h, colour)
    panels[0].set_ylabel("average reward per step so far", color=INK)
    mdp = hreach.make_domain("modified-chain").mdp()
    for axes in panels:
        axes.axhline(mdp.average_reward(mdp.optimal_policy()), color=GREY, linestyle=":", linewidth=1.4)
    panels[-1].annotate("the optimal policy", (STEPS, 0.79), ha="right", va="top", color=GREY, fontsize=9)
    figure.text(0.012, 0.93, "PAC-RMDP(h) on the modified chain", fontsize=13, fontweight="bold", color=INK)
    key = f"thin: one run, {DRAWN} of {RUNS}   thick: mean of all {RUNS}"
    figure.text(0.975, 0.93, key, ha="right", fontsize=9.5, color=GREY)
    figure.savefig(IMAGES / "h-matters.png", dpi=150)


def draw_runs(axes: Axes, h: int, colour: str) -> None:
    """The first runs and the mean of all of them, with what they say in words."""
    steps = np.arange(1, STEPS + 1)
    average = np.cumsum(hreach.simulate("modified-chain", "pac-rmdp", {"h": h}, runs=RUNS).reward, axis=1) / steps
    shown = slice(29, None, 10)  # not the first steps, where an average of few rewards swings wildly
    axes.plot(steps[shown], average[:DRAWN, shown].T, color=colour, linewidth=0.6, alpha=0.35)
    axes.plot(steps[shown], average[:, shown].mean(axis=0), color=INK, linewidth=2.4)
    stuck = (average[:, -1] < STUCK).mean()
    words = f"mean {average[:, -1].mean():.2f}; {f'{stuck:.0%} of the runs are' if stuck else 'no run is'} stuck"
    axes.set_title(f"h = {h}\n{words}", loc="left", fontsize=10.5, color=INK)
    axes.set(xlim=(0, STEPS), ylim=(0, 0.9), xlabel="step", xticks=(0, 1000, 2000, 3000))
    axes.spines[["top", "right"]].set_visible(False)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def number(text: str) -> str:
    """Rewards of mountain car as they are, those of HIV in units of 1e10."""
    if not text:
        return "–"
    value = float(text)
    return f"{value:.0f}" if abs(value) < 1e5 else f"{value / 1e10:.3g}"


def table(rows: list[dict[str, str]], goals: bool) -> list[str]:
    last = "goals: fewest, most" if goals else "certainty equivalent"
    lines = [f"| algorithm | all episodes | last ten [10 %, 90 %] | {last} |", "|---|---|---|---|"]
    for row in rows:
        ten = f"{number(row['last10'])} [{number(row['last10_p10'])}, {number(row['last10_p90'])}]"
        end = f"{row['goals_fewest']}, {row['goals_most']}" if goals else number(row["plain"])
        lines.append(f"| {row['algorithm']} | {number(row['total'])} | {ten} | {end} |")
    return lines


def verdicts(rows: list[dict[str, str]]) -> list[str]:
    """Each claim once, with the verdict of each variant; the paper's in quotation marks."""
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    found = {(row["claim"], row["variant"]): row["verdict"] for row in rows}
    lines = ["| claim | " + " | ".join(variants) + " |", "|---" * (1 + len(variants)) + "|"]
    for claim, ours in dict.fromkeys((row["claim"], row["ours"] == "True") for row in rows):
        said = f"ours: {claim}" if ours else f"“{claim}”"
        lines.append(f"| {said} | " + " | ".join(found.get((claim, v), "–") for v in variants) + " |")
    return lines


def write(results: Path, study: str) -> None:
    rows = read(results / "tables" / f"{study}.csv")
    goals = any(float(row["goals_most"]) > 0 for row in rows)
    own = HERE / f"{study}.toml"
    command = f"run benchmarks/{own.name} --out results" if own.exists() else f"reproduce {study}"
    lines = [f"Made by `hreach {command}` and `python benchmarks/figures.py`: {rows[0]['runs']} runs."]
    for variant in dict.fromkeys(row["variant"] for row in rows):
        lines += ["", f"*{variant}*", "", *table([row for row in rows if row["variant"] == variant], goals)]
    lines += ["", *verdicts(read(results / "tables" / f"{study}-claims.csv"))]
    name = study.upper().replace("-", "_")
    (HERE / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    if sys.argv[1:] == ["h"]:
        draw_h_matters()
        return
    results = Path(sys.argv[1] if len(sys.argv) > 1 else "results")
    for study in STUDIES:
        if (results / "tables" / f"{study}.csv").exists():
            write(results, study)
    for name in SHOWN:
        if (results / "figures" / name).exists():
            shutil.copy(results / "figures" / name, IMAGES / name)


if __name__ == "__main__":
    main()
