"""docs/images/local-planning.png: microseconds per step over |S|, from the tables of benchmarks/LOCAL.md.

python benchmarks/local_picture.py
"""

from __future__ import annotations

from pathlib import Path

from hreach.drawing.canvas import canvas, own_style
from hreach.drawing.palette import BLUE, GREEN, GREY, INK, RULE, VERMILION
from hreach.drawing.saving import save_as

HERE = Path(__file__).parent
Row = dict[str, str]


def table(heading: str) -> list[Row]:
    """The rows of the table under a heading of LOCAL.md."""
    text = (HERE / "LOCAL.md").read_text(encoding="utf-8")
    part = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("|")]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def points(rows: list[Row], column: str, divided_by: str | None = None, **of: str) -> tuple[list[float], list[float]]:
    chosen = [row for row in rows if all(row[key] == value for key, value in of.items()) and row[column]]
    factor = [float(row[divided_by]) if divided_by else 1.0 for row in chosen]
    found = [float(row[column].split()[0]) for row in chosen]
    return [float(row["states"]) for row in chosen], [a * b for a, b in zip(found, factor, strict=True)]


def main() -> None:
    grid, garnet, rivals = table("Grid"), table("Garnet"), table("Rivals")
    full, own = "full warm sweeps / local", "local, us a model"
    with own_style():
        figure = canvas(8.6, 4.3)
        axes = figure.add_axes((0.09, 0.14, 0.66, 0.68))
        axes.set_xscale("log")
        axes.set_yscale("log")
        drawn = [
            ("full warm sweeps,\ngrid", GREY, "s", points(rivals, full, own, domain="grid", gamma="0.99")),
            ("Garnet, h = 1", VERMILION, "o", points(garnet, "us per step", h="1", gamma="0.99")),
            ("Garnet, h = 8", GREEN, "o", points(garnet, "us per step", h="8", gamma="0.99")),
            ("grid, h = 1", BLUE, "o", points(grid, "us per step", h="1", gamma="0.99")),
        ]
        for label, colour, marker, (x, y) in drawn:
            axes.plot(x, y, color=colour, marker=marker, linewidth=1.6, markersize=5)
            axes.annotate(label, (x[-1], y[-1]), (8, 0), textcoords="offset points", va="center", color=colour)
        axes.grid(color=RULE)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel("states", color=INK)
        axes.set_ylabel("microseconds per step", color=INK)
        figure.text(0.03, 0.93, "What a plan after every step costs", fontsize=13, fontweight="bold", color=INK)
        figure.text(0.03, 0.875, "gamma = .99, values certified to 1 % of their range", fontsize=9.5, color=GREY)
        save_as(figure, HERE.parent / "docs" / "images" / "local-planning.png")


if __name__ == "__main__":
    main()
