"""Sweeps, the queue, and the way that takes less: microseconds of CPU time per step, over sizes, gammas and tolerances.

    python benchmarks/local_auto.py [SECONDS [STATES ...]]

Without numbers of states it writes benchmarks/LOCAL_AUTO.md.

Each cell is the same run three times, with `way` "queue", "sweeps" and "both", compared after as many steps as the
slowest made in SECONDS; then, without a prior, the dense table. `auto` is what planner="auto" chooses.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import hreach
from hreach.agents.parts import chosen_parts
from hreach.files import write_text
from hreach.planners.local import Local
from hreach.problems.mdp import TabularMDP
from hreach.randomness.streams import run_streams
from hreach.running.local_runs import Steps
from hreach.running.simulate import _world, simulate_from

PIECE = 50
REPEATS = 3


class Only(Local):
    """A local planner that goes one way."""

    only: Any = "both"

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, way=self.only, **settings)


def domains(states: int, gamma: float) -> dict[str, TabularMDP]:
    side = round(states**0.5)
    grid = hreach.make_domain("gridworld", rows=side, columns=side, gamma=gamma)
    return {
        "grid": grid.mdp(),
        "garnet": hreach.make_domain("garnet", states=states, seed=1, gamma=gamma).mdp(),
    }


def curve(mdp: TabularMDP, name: str, params: dict[str, Any], way: str, seconds: float) -> np.ndarray:
    """CPU seconds after PIECE, 2 PIECE, ... steps."""
    kind = type("Way", (Only,), {"only": way})
    agent = hreach.make_agent(name, mdp, seed=1, model="sparse-counts", planner=kind, **params)
    streams = run_streams(hreach.run_seeds(3, 0, 1))[0]
    steps = Steps(agent.model, agent.planner, _world(mdp), streams[0])
    times: list[float] = []
    spent, paid, over = 0.0, np.zeros(PIECE), np.zeros(0, dtype=bool)
    while spent < seconds and len(times) < 20 * mdp.states * mdp.actions // PIECE + 40:
        begun = time.thread_time()
        steps.walk(paid, over)
        spent += time.thread_time() - begun
        times.append(spent)
    return np.array(times)


def dense(mdp: TabularMDP, name: str, params: dict[str, Any], steps: int) -> float:
    """CPU seconds of a run over a dense table."""
    agent = hreach.make_agent(name, mdp, seed=1, model="counts", prior=0, **params)
    paid, over = np.empty((1, steps)), np.empty((1, 0), dtype=bool)
    begun = time.thread_time()
    streams = run_streams(hreach.run_seeds(3, 0, 1))
    simulate_from(agent.planner, agent.planner.begin, _world(mdp), streams, paid, over, False, np.zeros(1, dtype=bool))
    return time.thread_time() - begun


def least(*curves: np.ndarray) -> np.ndarray:
    """The least time of all runs, as far as the shortest came."""
    pieces = min(map(len, curves))
    return np.asarray(np.min([c[:pieces] for c in curves], axis=0))


HEAD = (
    "| domain | agent | states | gamma | tolerance, of the range | steps | queue | sweeps | both | dense | "
    "auto / best |\n" + "|---" * 11 + "|"
)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.5
    print(HEAD)
    worst, rows = 0.0, []
    warm = hreach.make_domain("garnet", states=30, seed=1).mdp()
    for way in ("queue", "sweeps", "both"):
        for name, params in (("pac-rmdp", {"h": 2.0}), ("greedy", {})):
            curve(warm, name, params, way, 0.01)
            dense(warm, name, params, 5)
    for states in map(int, sys.argv[2:] or (16, 64, 256, 1024, 10_000)):
        for gamma in (0.9, 0.99, 0.999):
            for label, mdp in domains(states, gamma).items():
                for name, own in (("pac-rmdp", {"h": 2.0}), ("greedy", {})):
                    for share in (1e-2, 1e-4, 1e-6):
                        params = {**own, "tolerance": share * mdp.values.span}
                        rounds = [
                            {way: curve(mdp, name, params, way, seconds) for way in ("queue", "sweeps", "both")}
                            for _ in range(REPEATS)
                        ]
                        curves = {way: least(*(each[way] for each in rounds)) for way in rounds[0]}
                        pieces = min(map(len, curves.values()))
                        found = {way: 1e6 * c[pieces - 1] / (pieces * PIECE) for way, c in curves.items()}
                        steps = pieces * PIECE
                        if states <= 256:
                            found["dense"] = 1e6 * min(dense(mdp, name, params, steps) for _ in range(2)) / steps
                        small = chosen_parts(mdp.states, mdp.actions, planner="auto").model == "counts"
                        auto = found["dense"] if small else found["both"]
                        ratio = auto / min(found.values())
                        worst = max(worst, ratio)
                        numbers = " | ".join(f"{found[k]:.2f}" if k in found else "" for k in (*curves, "dense"))
                        cells = f"{label} | {name} | {mdp.states} | {gamma} | {share:g} | {steps} | {numbers}"
                        rows.append(f"| {cells} | {ratio:.2f} |")
                        print(rows[-1], flush=True)
    print(f"\nworst {worst:.2f}")
    if not sys.argv[2:]:
        words = (
            "Made by `python benchmarks/local_auto.py`: microseconds of CPU time per step of the same run, by the",
            "queue alone, by sweeps alone, by whichever seems to take less, and over a dense table, one thread. `auto`",
            f'is what `planner="auto"` chooses; it takes {worst:.2f} times the best of these at most.',
        )
        write_text(Path(__file__).with_name("LOCAL_AUTO.md"), "\n".join([*words, "", HEAD, *rows]) + "\n")


if __name__ == "__main__":
    main()
