"""What guarantees cost, on one core, warm. `make bench` runs it after the others; writes benchmarks/GUARANTEES.md.

Ratios compare two programs in one run: a loop that asks for the exploration gap at every step with one that does not,
an audit with the run that it audits, and the best reachable models of all pairs at once with those of one pair after
the other.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # small matrices gain nothing from threads

import numpy as np

import hreach
from hreach.domains.tabular import TabularEnv
from hreach.reach.nearest import best_models
from hreach.reach.weight import best_reachable_model

H, EPS, STEPS, PIECE = 8, 2.0, 3000, 100


def seconds(work: Callable[[], Any], rounds: int = 3) -> float:
    """The smallest of several turns."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def bare_steps(env: Any, agent: Any, state: Any) -> Any:
    """`PIECE` steps of the plain loop from `state`; the state after them."""
    for _ in range(PIECE):
        action = agent.act(state)
        following, reward, terminated, *_ = env.step(action)
        agent.observe(state, action, reward, following, terminated)
        state = following
    return state


def measured_steps(env: Any, agent: Any, state: Any) -> Any:
    """The same steps, with the exploration gap at each."""
    for _ in range(PIECE):
        action = agent.act(state)
        agent.exploration_gap(state, eps=EPS)
        following, reward, terminated, *_ = env.step(action)
        agent.observe(state, action, reward, following, terminated)
        state = following
    return state


def loop(walk: Callable[[Any, Any, Any], Any]) -> np.ndarray:
    """Seconds of each piece of a run on the chain."""
    env = hreach.make_domain("chain")
    agent = hreach.make_agent("pac-rmdp", env, h=H)
    agent.exploration_gap(0, eps=EPS)
    state, _ = env.reset(seed=0)
    found = np.empty(STEPS // PIECE)
    for i in range(found.size):
        began = time.perf_counter()
        state = walk(env, agent, state)
        found[i] = time.perf_counter() - began
    return found


def pieces(rounds: int) -> np.ndarray:
    """Seconds of each piece without and with gaps, (2, pieces): the smallest of several turns."""
    turns = [[loop(bare_steps), loop(measured_steps)] for _ in range(rounds)]
    return np.asarray(np.min(turns, axis=0))


def seconds_per_step(processes: int = 6, rounds: int = 12) -> tuple[float, float]:
    """Seconds of a step without and with gaps: the sum of the smallest turns of each piece of the run.

    A piece takes a millisecond, so that a busy machine leaves some of its turns alone; and there are several processes,
    so that an unlucky place in memory does not matter.
    """
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        smallest = np.min(pool.map(pieces, [rounds] * processes, chunksize=1), axis=0)
    bare, measured = smallest.sum(axis=1) / STEPS
    return float(bare), float(measured)


def random_problem(states: int, actions: int, successors: int) -> TabularEnv:
    """A random MDP whose pairs have few successors each."""
    rng = np.random.default_rng(0)
    P = np.zeros((states, actions, states))
    for row in P.reshape(-1, states):
        row[rng.choice(states, successors, replace=False)] = rng.dirichlet(np.ones(successors))
    R = rng.random((states, actions))
    return TabularEnv(hreach.TabularMDP(P, R, 0.95), R)


def audited(env: Any, steps: int, rounds: int) -> tuple[float, float, np.ndarray]:
    """Seconds of a run and of its audit with 100 checkpoints, and the counts after it."""

    def live() -> tuple[hreach.Run, Any]:
        agent = hreach.make_agent("pac-rmdp", env, h=H)
        return hreach.run(env, agent, steps=steps), agent

    run, agent = live()
    hreach.audit(run, env.mdp(), agent, eps=EPS, checkpoints=1)  # compiled from here on
    lived = seconds(live, rounds)
    checked = seconds(lambda: hreach.audit(run, env.mdp(), agent, eps=EPS, checkpoints=100), rounds)
    return lived, checked, agent.model.seen.counts


def main() -> None:
    lines = [
        "Made by `python benchmarks/guarantees.py`, one core, warm.",
        "",
        "| what | measured | goal |",
        "|---|---|---|",
    ]

    def say(what: str, measured: str, goal: str) -> None:
        lines.append(f"| {what} | {measured} | {goal} |")
        print(lines[-1], flush=True)

    bare, measured = seconds_per_step()
    say(f"a step of PAC-RMDP({H}) on the chain, in Python", f"{1e6 * bare:.1f} us", "-")
    say("with the exploration gap at every step / without", f"{measured / bare:.2f}", "at most 1.20")
    lived, checked, _ = audited(hreach.make_domain("chain"), STEPS, 5)
    say(f"audit of {STEPS} steps of the chain, 100 checkpoints", f"{checked:.2f} s", "under 1 s")
    say("the audit / the run", f"{checked / lived:.1f}", "-")
    env = random_problem(200, 4, 5)
    lived, checked, counts = audited(env, 10_000, 2)
    say("audit of 10000 steps, 200 states, 4 actions, 100 checkpoints", f"{checked:.1f} s", "under 60 s")
    say("the audit / the run", f"{checked / lived:.1f}", "-")
    truth = env.mdp().transitions()
    single = seconds(lambda: best_reachable_model(counts, H, truth))
    say(
        "best reachable models of its 800 pairs, one by one / all at once",
        f"{single / seconds(lambda: best_models(counts, H, truth)):.1f}",
        "-",
    )
    (Path(__file__).parent / "GUARANTEES.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
