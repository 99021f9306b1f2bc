"""Figures 2 and 3 for the docs: from the results of `hreach reproduce mountain-car hiv hiv-deeper`, and of
`hreach run` with `benchmarks/hiv-nine-tenths.toml` and `benchmarks/hiv-variance.toml`, `--out results`.

`python benchmarks/figures.py [RESULTS]` reads RESULTS/tables (default: results) and writes a table, such as
benchmarks/MOUNTAIN_CAR.md, for each of these studies that is there; pictures that the docs show are copied.
"""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
IMAGES = HERE.parent / "docs" / "images"
SHOWN = ("mountain-car.png", "hiv.png", "hiv-episode-1.png")
STUDIES = ("mountain-car", "hiv", "hiv-deeper", "hiv-nine-tenths", "hiv-variance")


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
    last = "goals: fewest, most" if goals else "plain"
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
    results = Path(sys.argv[1] if len(sys.argv) > 1 else "results")
    for study in STUDIES:
        if (results / "tables" / f"{study}.csv").exists():
            write(results, study)
    for name in SHOWN:
        if (results / "figures" / name).exists():
            shutil.copy(results / "figures" / name, IMAGES / name)


if __name__ == "__main__":
    main()
