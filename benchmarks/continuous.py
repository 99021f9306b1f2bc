"""Speed of the linear agents, on one core, warm. `make bench` runs it after speed.py; writes benchmarks/CONTINUOUS.md.

Ratios compare two programs in one run: the compiled search of a tree with the plain NumPy one that tests compare it
with, and leverages in a batch with one solve for each of them.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # small matrices gain nothing from threads

import numpy as np

import hreach
from hreach.models.least_squares import Factor

RUNS: list[tuple[str, str, dict[str, Any], int]] = [
    ("mountain car, PAC-RMDP(1), 100 episodes", "mountain-car", {"h": 1}, 100),
    ("mountain car, PAC-RMDP(100), 100 episodes", "mountain-car", {"h": 100}, 100),
    ("HIV, 21 features, depth 4, 30 episodes", "hiv", {"h": 1, "task": {"model": "step"}}, 30),
    ("HIV, 163 features, segments 5, 10, 10, 30 episodes", "hiv", {"h": 1, "task": {"share": False}}, 30),
    ("HIV, defaults (202 features, 163 for an action), 30 episodes", "hiv", {"h": 1}, 30),
]


def run(domain: str, params: dict[str, Any], episodes: int, plain: bool = False) -> None:
    env = hreach.make_domain(domain)
    agent = hreach.make_agent("linear-pac-rmdp", env, seed=3, **params)
    if plain:
        agent.planner._follower, agent.model.linear.flat = None, [None]  # as for features that have no compiled form
    hreach.run(env, agent, episodes=episodes, seed=3)


def seconds(work: Callable[[], Any], rounds: int = 3) -> float:
    """The smallest of several turns."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def leverages() -> tuple[float, float]:
    """Microseconds of one leverage of 30 features: in a batch of 2700, and by a solve each."""
    rng = np.random.default_rng(0)
    factor = Factor(30, 1, 1, 0.1, 1e-9)
    factor.learn(rng.normal(size=(500, 30)), np.zeros(500, dtype=np.int64), rng.normal(size=(500, 1)))
    phi, block = rng.normal(size=(2700, 30)), np.zeros(2700, dtype=np.int64)
    A = factor.gram[0] + 0.1 * np.eye(30)
    batch = seconds(lambda: [factor.leverage(phi, block) for _ in range(20)]) / 20
    single = seconds(lambda: [p @ np.linalg.solve(A, p) for p in phi])
    return 1e6 * batch / len(phi), 1e6 * single / len(phi)


def where_time_goes(domain: str, params: dict[str, Any], episodes: int) -> list[tuple[str, float]]:
    """Share of the time, in its own code, of the functions that cost most."""
    profile = cProfile.Profile()
    profile.runcall(run, domain, params, episodes)
    stats = pstats.Stats(profile)
    total = sum(entry[2] for entry in stats.stats.values())  # type: ignore[attr-defined]
    own = [(f"{Path(k[0]).name}:{k[2]}", v[2] / total) for k, v in stats.stats.items()]  # type: ignore[attr-defined]
    return sorted(own, key=lambda entry: -entry[1])[:6]


def main() -> None:
    lines = ["Made by `python benchmarks/continuous.py`, one core, warm.", "", "| run | seconds |", "|---|---|"]
    for label, domain, params, episodes in RUNS:
        run(domain, params, 1)
        lines.append(f"| {label} | {seconds(lambda: run(domain, params, episodes)):.2f} |")  # noqa: B023 (called here)
        print(lines[-1], flush=True)
    batch, single = leverages()
    lines += [
        "",
        f"One leverage of 30 features in a batch of 2700: {batch:.3f} us; a solve each: {single / batch:.0f}x.",
    ]
    for label, params in (
        ("21", {"h": 1, "task": {"model": "step"}}),
        ("163", {"h": 1, "task": {"share": False}}),
    ):
        fast, slow = (seconds(lambda: run("hiv", params, 2, plain), 2) for plain in (False, True))  # noqa: B023
        lines += ["", f"HIV with {label} features, the search in NumPy against the compiled one: {slow / fast:.1f}x."]
    lines += ["", "Where the time goes (share in a function's own code, with the profiler's own cost):"]
    for label, domain, params, episodes in (RUNS[0], *RUNS[2:]):
        shares = ", ".join(
            f"`{name}` {share:.0%}" for name, share in where_time_goes(domain, params, min(episodes, 30))
        )
        lines += ["", f"- {label.rpartition(',')[0]}: {shares}"]
    print("\n".join(lines))
    Path(__file__).with_name("CONTINUOUS.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
