"""Time that an agent takes for a step of the taxi, 500 states: `hreach explore`'s, and rlberry-scool's UCBVI beside it.

make bench-rlberry        (or: python benchmarks/stepping.py .venv-rlberry/bin/python)

Both learn transitions and rewards of the taxi and plan anew after every step. The environment's own time is left out.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from hreach.exploring.explorer import Explorer, Settings
from hreach.exploring.making import made, place

GAMMA = 0.95
HORIZON = 20  # of UCBVI: 1/(1 - gamma), its own default where there is a discount
PEER = Path(__file__).parent / "peers" / "rlberry_stepping.py"


def ours(steps: int, warm: int = 500) -> float:
    """Seconds for each step after the first ones, which compile; the environment's own are left out."""
    at = place(made("Taxi-v4", {}), None, 0)
    agent = Explorer(Settings(gamma=GAMMA, h=1.0), at.states, len(at.actions))
    state, _ = at.env.reset(seed=0)
    spent = 0.0
    for step in range(warm + steps):
        begun = time.perf_counter()
        action = agent.act(state)
        chosen = time.perf_counter() - begun
        following, reward, terminated, truncated, info = at.env.step(action)
        begun = time.perf_counter()
        agent.observe(state, action, reward, following, terminated, info)
        if step >= warm:
            spent += chosen + time.perf_counter() - begun
        state = at.env.reset()[0] if terminated or truncated else following
    return spent / steps


def theirs(python: str, kind: str, steps: int) -> tuple[float, float]:
    """Seconds for each step: to act and learn, and to plan."""
    command = [python, str(PEER), str(HORIZON), str(steps), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return found["act"], found["plan"]


def main() -> None:
    python, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    here, there = [], []
    for _ in range(rounds):  # one after the other, so that a busy machine is busy for both
        here.append(ours(20_000))
        there.append(theirs(python, "compiled", 60))
    mine, act, plan = statistics.median(here), *(statistics.median(column) for column in zip(*there, strict=True))
    _, slow = theirs(python, "shipped", 2)
    print(f"hreach explore, planning after every step: {1e6 * mine:.0f} us a step (rounds: {_all(here)})")
    print(f"UCBVI, planning after every step, compiled: {1e6 * (act + plan):.0f} us, ratio {(act + plan) / mine:.0f}")
    print(f"UCBVI, planning after every step, as it comes: {slow:.1f} s, ratio {slow / mine:,.0f}")
    rarely = act + plan / HORIZON
    print(f"UCBVI, every {HORIZON} steps, compiled: {1e6 * rarely:.0f} us, ratio {rarely / mine:.0f}")


def _all(seconds: list[float]) -> str:
    return ", ".join(f"{1e6 * x:.0f}" for x in seconds)


if __name__ == "__main__":
    main()
