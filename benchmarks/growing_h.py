"""An h that needs no choosing beside every fixed h: what it loses against the best of them, known in hindsight only.

`python benchmarks/growing_h.py` writes benchmarks/GROWING_H.md and docs/images/growing-h.png, in some five minutes on
two cores. No h here knows how long it lives, so one run of 100,000 steps has all the lifetimes as its beginnings.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import hreach
from hreach.drawing.saving import save_as
from hreach.guarantees.choose_h import Choice, choose_h

HERE = Path(__file__).parent
FIXED = (0, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128)
RULES = {"growing": "growing, c = .5", "growing:1": "growing, c = 1", "adaptive": "adaptive"}
DOMAINS = {"chain": "Chain", "modified-chain": "Modified chain", "riverswim": "RiverSwim", "sixarms": "SixArms"}
LIFETIMES = (300, 1000, 3000, 10_000, 30_000, 100_000)
RUNS, SEED = 200, 0
MANY_RUNS, MIDDLE = 1000, 10_000  # of the second table: SixArms needs them to tell 2 % from 5 %
CLOSE, RARELY = 0.05, 0.02
COLOURS = {"growing": "#882255", "growing:1": "#D55E00", "adaptive": "#0072B2"}
WORST_SHOWN = 60  # % of loss in the picture
SPACE = "\N{NO-BREAK SPACE}"


def copied(domain: str, times: int) -> hreach.TabularMDP:
    """The domain with every action `times` times: more to try, nothing to gain."""
    mdp = hreach.make_domain(domain).mdp()
    P, R = (np.repeat(table, times, axis=1) for table in (mdp.transitions(), mdp.reward_table()))
    return hreach.TabularMDP(P, R, mdp.gamma, start=mdp.start)


def not_fitted_to() -> dict[str, dict[str, Any]]:
    """Problems that were not looked at when the adaptive rule was made, as arguments of `choose_h`."""
    osband = {"forward": 0.35, "back": 0.05, "first": 0.6, "last": 0.6, "small": 0.005, "start": (0,), "pays": "trying"}
    return {
        "chain of 10 states": {"surrogates": hreach.make_domain("chain", length=10)},
        "modified chain, first step 1 in 50": {"surrogates": hreach.make_domain("modified-chain", escape=0.02)},
        "RiverSwim of Osband and others": {"surrogates": hreach.make_domain("riverswim", **osband)},
        "RiverSwim, every action 3 times": {"surrogates": copied("riverswim", 3)},
        "SixArms, rooms half as likely": {
            "surrogates": hreach.make_domain("sixarms", chances=(1, 0.075, 0.05, 0.025, 0.015, 0.005))
        },
        "random, 6 states, 2 actions": {"sizes": (6, 2)},
        "random, 20 states, 4 actions": {"sizes": (20, 4)},
    }


# --- tables ---------------------------------------------------------------------------------------------------


def best_fixed(choice: Choice, k: int) -> int:
    """The row of the fixed h that earned most up to lifetime k."""
    return int(np.argmax(choice.averages[: len(FIXED), k]))


def reward(value: float) -> str:
    return f"{value:.4f}".removeprefix("0")


def percent(share: float) -> str:
    return f"{100 * share:.1f}".replace("-", "−")


def interval(cell: Iterable[float]) -> str:
    """`5.0 [3.4, 6.6]`, not to be broken in two lines."""
    middle, low, high = map(percent, cell)
    return f"{middle}{SPACE}[{low},{SPACE}{high}]"


def half_width(cell: Iterable[float]) -> str:
    """`5.0 ± 1.6`: the interval where there is little room."""
    middle, low, high = cell
    return f"{percent(middle)}{SPACE}±{SPACE}{percent((high - low) / 2)}"


def lifetimes_table(choice: Choice) -> list[str]:
    """One row for each h; a cell has the average reward and, below it, the loss in %."""
    lines = ["| h | " + " | ".join(f"{t:,}" for t in choice.lifetimes) + " | poor end |"]
    lines.append("|---" * (len(choice.lifetimes) + 2) + "|")
    for i, option in enumerate(choice.options):
        cells = [
            f"{reward(average)}<br>{'**best**' if i == best_fixed(choice, k) else half_width(choice.losses[i, k])}"
            for k, average in enumerate(choice.averages[i])
        ]
        name = RULES.get(option.h, option.h)
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {100 * option.poor_end:.1f} % |")
    return lines


def problems_table(choices: dict[str, Choice]) -> list[str]:
    """One row for each problem: the best fixed h, and what each rule loses against it in %."""
    lines = ["| problem | best fixed h | " + " | ".join(RULES.values()) + " |", "|---" * (len(RULES) + 2) + "|"]
    for name, choice in choices.items():
        best = choice.options[best_fixed(choice, -1)]
        cells = " | ".join(interval(row[-1]) for row in choice.losses[len(FIXED) :])
        lines.append(f"| {name} | {best.h}: {reward(best.average)} | {cells} |")
    return lines


def statements(long: dict[str, Choice], middle: dict[str, Choice]) -> list[str]:
    """What is asked of the rules, and whether these runs show it."""
    ends = {name: {o.h: o.poor_end for o in choice.options} for name, choice in long.items()}
    easy = [name for name in long if name != DOMAINS["sixarms"]]
    hard = [DOMAINS["modified-chain"], DOMAINS["sixarms"]]

    def within(h: str, names: list[str]) -> str:
        """By the intervals: yes if all are below 5 %, no if one is above."""
        cells = [middle[name].losses[[o.h for o in middle[name].options].index(h), -1] for name in names]
        if any(low > CLOSE for _, low, _ in cells):
            return "no"
        return "yes" if all(high <= CLOSE for _, _, high in cells) else "cannot be told from 5 %"

    found = {
        "growing, c = 1: a poor end in less than 2 % of runs, on all four": yes_or_no(
            all(e["growing:1"] < RARELY for e in ends.values())
        ),
        "h = 1: a poor end in most runs, on the modified chain and SixArms": yes_or_no(
            all(ends[name]["1"] > 0.5 for name in hard)
        ),
        "growing, c = .5: at most 5 % lost after 10,000 steps, on the chains and RiverSwim": within("growing", easy),
        "adaptive: at most 5 % lost after 10,000 steps, on all four": within("adaptive", list(long)),
        "adaptive: the same on the problems it was not fitted to": within("adaptive", list(not_fitted_to())),
    }
    return ["| statement | |", "|---|---|", *(f"| {words} | {answer} |" for words, answer in found.items())]


def yes_or_no(fact: bool) -> str:
    return "yes" if fact else "no"


# --- picture --------------------------------------------------------------------------------------------------


def picture(long: dict[str, Choice], path: Path) -> None:
    """Loss against lifetime, a panel for each domain: fixed h in grey, the rules in colour with their intervals."""
    figure = Figure(figsize=(9, 6.6), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, (name, choice) in zip(panels.flat, long.items(), strict=True):
        panel(axes, choice)
        axes.set_title(name, loc="left", fontsize=10)
    for axes in panels[:, 0]:
        axes.set_ylabel("loss against the best fixed h (%)", fontsize=9)
    for axes in panels[1]:
        axes.set_xlabel("lifetime (steps)", fontsize=9)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, fontsize=9, frameon=False)
    save_as(figure, path)


def panel(axes: Axes, choice: Choice) -> None:
    shown, lives = 100 * choice.losses, choice.lifetimes
    names: dict[float, str] = {FIXED[0]: "another fixed h", 1: "h = 1"}
    for i, h in enumerate(FIXED):
        line, grey = ("--", "#707070") if h == 1 else ("-", "#c9c9c9")
        axes.plot(lives, shown[i, :, 0], line, color=grey, linewidth=1.2, label=names.get(h))
    for (rule, words), marker, cells in zip(RULES.items(), "os^", shown[len(FIXED) :], strict=True):
        axes.fill_between(lives, cells[:, 1], cells[:, 2], color=COLOURS[rule], alpha=0.15, linewidth=0)
        axes.plot(lives, cells[:, 0], f"{marker}-", color=COLOURS[rule], markersize=4, label=words)
    axes.axhline(100 * CLOSE, color="black", linewidth=0.7, linestyle=":")
    axes.set_xscale("log")
    axes.set_xticks(lives, [f"{t:,}" for t in lives], fontsize=8)
    axes.set_xticks([], minor=True)
    axes.set_ylim(-8, WORST_SHOWN)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


# --- all of it ------------------------------------------------------------------------------------------------


def main() -> None:
    began = time.perf_counter()
    hs: list[float | str] = [*FIXED, *RULES]
    long = {}
    for domain, name in DOMAINS.items():
        long[name] = choose_h(LIFETIMES[-1], surrogates=domain, hs=hs, runs=RUNS, seed=SEED, lifetimes=LIFETIMES)
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    middle = {}
    problems = {name: {"surrogates": domain} for domain, name in DOMAINS.items()} | not_fitted_to()
    for name, problem in problems.items():
        middle[name] = choose_h(MIDDLE, hs=hs, runs=MANY_RUNS, seed=SEED + 1, lifetimes=[MIDDLE], **problem)
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    lines = [
        "Made by `python benchmarks/growing_h.py`. Losses are in % of the average reward of the fixed h that earned",
        f"most in the same runs (of h = {', '.join(f'{h:g}' for h in FIXED)}), with 95 % bootstrap intervals;",
        "below 0 means more than every fixed h.",
        "",
        *statements(long, middle),
        "",
        f"After {MIDDLE:,} steps, {MANY_RUNS} runs; the rules were made with the first four problems in view:",
        "",
        *problems_table(middle),
        "",
        f"Average reward and loss up to each lifetime, {RUNS} runs of {LIFETIMES[-1]:,} steps; ± is half the width of",
        "the interval. Poor end: runs that earned less than half of the optimum in the last tenth.",
    ]
    for name, choice in long.items():
        lines += ["", f"*{name}*", "", *lifetimes_table(choice)]
    print("\n".join(lines))
    (HERE / "GROWING_H.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    picture(long, HERE.parent / "docs" / "images" / "growing-h.png")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
