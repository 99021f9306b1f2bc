"""h from the lifetime beside growing and adaptive h: what each loses against the best fixed h, known in hindsight only.

`python benchmarks/lifetime.py` writes benchmarks/LIFETIME.md, in some ten minutes on one core. The random problems are
members of the family of `hreach choose-h` that were not looked at when the method was made.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import hreach
from hreach.files import write_text
from hreach.guarantees.choose_h import Choice, choose_h
from hreach.guarantees.choose_h.surrogates import random_mdp

HERE = Path(__file__).parent
FIXED = (0, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128)
RULES = ("growing", "adaptive", "lifetime")
LIFETIMES = (1000, 3000)
SEED = 1
SPACE = "\N{NO-BREAK SPACE}"


class Problem(NamedTuple):
    """What is run, how often, and the loss in % that was aimed at."""

    name: str
    arguments: dict[str, Any]
    example: Any  # to measure the cost on
    runs: int
    goal: float


PROBLEMS = (
    Problem("chain", {"surrogates": "chain"}, "chain", 100, 3),
    Problem("modified chain", {"surrogates": "modified-chain"}, "modified-chain", 100, 3),
    Problem("RiverSwim", {"surrogates": "riverswim"}, "riverswim", 100, 3),
    Problem("SixArms", {"surrogates": "sixarms"}, "sixarms", 200, 10),
    Problem("random 6x2, 10 members", {"sizes": (6, 2)}, random_mdp(6, 2, 0.95, (SEED, 0)), 100, 5),
    Problem("random 20x4, 10 members", {"sizes": (20, 4)}, random_mdp(20, 4, 0.95, (SEED, 0)), 100, 15),
)


def percent(share: float) -> str:
    return f"{100 * share:.1f}".replace("-", "−")


def interval(cell: Iterable[float]) -> str:
    """`5.0 [3.4, 6.6]`, not to be broken in two lines."""
    middle, low, high = map(percent, cell)
    return f"{middle}{SPACE}[{low},{SPACE}{high}]"


def seconds_a_run(example: Any, runs: int = 5) -> float:
    """Processor time of a run of the longest lifetime, compilation aside."""
    setting = {"h": "lifetime", "lifetime": LIFETIMES[-1]}
    hreach.simulate(example, "pac-rmdp", setting, runs=1, steps=100, threads=1)
    begun = time.process_time()
    hreach.simulate(example, "pac-rmdp", setting, runs=runs, steps=LIFETIMES[-1], threads=1)
    return (time.process_time() - begun) / runs


def reached(loss: Iterable[float], goal: float) -> str:
    """By the interval: yes if all of it is at most the goal, no if none is."""
    _, low, high = loss
    return "no" if low > goal else "yes" if high <= goal else "cannot be told"


def rows(problem: Problem, choice: Choice) -> list[str]:
    """One row for each lifetime."""
    lines = []
    for k, steps in enumerate(LIFETIMES):
        best = int(choice.averages[: len(FIXED), k].argmax())
        verdict = reached(100 * choice.losses[len(FIXED) + RULES.index("lifetime"), k], problem.goal)
        cells = " | ".join(interval(row[k]) for row in choice.losses[len(FIXED) :])
        average = f"{choice.averages[best, k]:.4f}".removeprefix("0")
        lines.append(
            f"| {problem.name} | {steps:,} | {choice.options[best].h}: {average} | {cells} | "
            f"{problem.goal:g} | {verdict} |"
        )
    return lines


def page(table: list[str], costs: dict[str, float], measured: list[Problem]) -> str:
    """What was measured so far."""
    head = "problem | lifetime | best fixed h | growing | adaptive | **lifetime** | goal | reached"
    runs = ", ".join(f"{problem.name.split(',')[0]} {problem.runs}" for problem in measured)
    seconds = ", ".join(f"{name} {cost:.2f}" for name, cost in costs.items())
    words = [
        "*What is lost against the best fixed h, in %, with 95 % bootstrap intervals; runs:*",
        f"*{runs}. `python benchmarks/lifetime.py`*",
        "",
        f"| {head} |",
        "|---" * 8 + "|",
        *table,
        "",
        f"Processor time of a run of {LIFETIMES[-1]:,} steps with h from the lifetime, in seconds: {seconds}.",
    ]
    return "\n".join(words) + "\n"


def main() -> None:
    """Measure, and write the page after each problem."""
    table: list[str] = []
    costs: dict[str, float] = {}
    for i, problem in enumerate(PROBLEMS):
        choice = choose_h(
            LIFETIMES[-1], hs=[*FIXED, *RULES], runs=problem.runs, lifetimes=LIFETIMES, seed=SEED, threads=1,
            **problem.arguments,
        )  # fmt: skip
        table += rows(problem, choice)
        costs[problem.name.split(",")[0]] = seconds_a_run(problem.example)
        write_text(HERE / "LIFETIME.md", page(table, costs, list(PROBLEMS[: i + 1])))


if __name__ == "__main__":
    main()
