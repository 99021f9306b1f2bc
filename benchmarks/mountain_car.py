"""Mountain car (paper: Figure 2) with hreach's defaults: mean total reward of an episode and goals reached.

`python benchmarks/mountain_car.py [SEEDS] [EPISODES]` prints them and writes benchmarks/MOUNTAIN_CAR.md.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROWS: list[tuple[str, str, dict[str, Any]]] = [
    ("PAC-RMDP(1)", "linear-pac-rmdp", {"h": 1}),
    ("PAC-RMDP(10)", "linear-pac-rmdp", {"h": 10}),
    ("PAC-RMDP(100)", "linear-pac-rmdp", {"h": 100}),
    ("epsilon-greedy(0.1)", "linear-epsilon-greedy", {"epsilon": 0.1}),
    ("PAC-MDP(1)", "linear-pac-mdp", {"epsilon": 1.0}),
    ("PAC-MDP(100)", "linear-pac-mdp", {"epsilon": 100.0}),
    ("PAC-MDP(1000)", "linear-pac-mdp", {"epsilon": 1000.0}),
    ("PAC-MDP(20000)", "linear-pac-mdp", {"epsilon": 20000.0}),
]


def one_run(agent: str, params: dict[str, Any], run: int, episodes: int) -> tuple[float, int, float]:
    """(mean total reward of an episode, goals reached, seconds) of one seed."""
    import numpy as np

    import hreach

    env = hreach.make_domain("mountain-car")
    env_seed, agent_seed = (int(s) for s in hreach.run_seeds(2016, first=run, runs=1)[0])
    began = time.perf_counter()
    result = hreach.run(env, hreach.make_agent(agent, env, seed=agent_seed, **params), seed=env_seed, episodes=episodes)
    goals = int((result.rewards[result.ended] == 0).sum())  # only the step that reaches the goal pays 0
    return float(np.mean(result.episode_rewards)), goals, time.perf_counter() - began


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    episodes = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read by the workers; small matrices gain nothing from threads
    lines = [
        f"Made by `python benchmarks/mountain_car.py {seeds} {episodes}`: {seeds} seeds, {episodes} episodes.",
        "",
        "| algorithm | mean total reward | worst, best seed | goals: fewest, mean, most | seconds a run |",
        "|---|---|---|---|---|",
    ]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for label, agent, params in ROWS:
            runs = [pool.submit(one_run, agent, params, i, episodes) for i in range(seeds)]
            means, goals, seconds = zip(*(r.result() for r in runs), strict=True)
            reached = f"{min(goals)}, {sum(goals) / seeds:.1f}, {max(goals)}"
            spread = f"{min(means):.0f}, {max(means):.0f}"
            lines.append(f"| {label} | {sum(means) / seeds:.0f} | {spread} | {reached} | {sum(seconds) / seeds:.1f} |")
            print(lines[-1], flush=True)
    Path(__file__).with_name("MOUNTAIN_CAR.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
