"""What certificates say, whether it is true, and what they cost. Writes benchmarks/CERTIFICATES.md.

    python benchmarks/certificates.py [part ...]     validity, twin, tightness, sets, cost; default: all

What was found is kept in benchmarks/certificates.json after every piece of work: a run that is stopped goes on from
there, and what is there is not computed again. One process; everything takes ten to twenty minutes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # small matrices gain nothing from threads

import numpy as np
from numpy.typing import NDArray

import hreach
from hreach.agents.tables import TableAgent
from hreach.domains.tabular import TabularEnv
from hreach.files import write_text
from hreach.guarantees.audit.certificates import broken
from hreach.guarantees.audit.lived import last_state, lived
from hreach.guarantees.audit.record import known_problem, sizes_of_problem
from hreach.guarantees.certificate import Certificate
from hreach.guarantees.certify import bounds_of
from hreach.guarantees.following import Following
from hreach.guarantees.sets import per_sample, radii_of
from hreach.guarantees.theory import anytime_error
from hreach.kernels.robust import Rows
from hreach.planners.robust import Robust, Sets

Array = NDArray[np.float64]
HERE = Path(__file__).parent
KEPT, PAGE = HERE / "certificates.json", HERE / "CERTIFICATES.md"
DELTA, H, GAMMA = 0.1, 8, 0.95
TIMES = np.unique(np.round(np.geomspace(10, 1e4, 41)).astype(int))  # 41 of them
VALIDITY = {"chain": 2000, "riverswim": 2000, "modified-chain": 500, "sixarms": 500, "garnet": 500, "frozen-lake": 500}
TWIN = 500
LENGTHS = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
PIECE = 50


# --- problems ---------------------------------------------------------------------------------------------------------


def garnet(states: int = 20, actions: int = 4, successors: int = 5, seed: int = 0) -> TabularEnv:
    """A random problem: so many successors for each pair, rewards R(s, a) in [0, 1]."""
    rng = np.random.default_rng(seed)
    P = np.zeros((states, actions, states))
    for row in P.reshape(-1, states):
        row[rng.choice(states, successors, replace=False)] = rng.dirichlet(np.ones(successors))
    R = rng.random((states, actions))
    return TabularEnv(hreach.TabularMDP(P, R, GAMMA), R)


def frozen_lake() -> TabularEnv:
    """FrozenLake 4x4 of Gymnasium, slippery: holes and the goal end the episode, the goal pays 1."""
    import gymnasium

    core: Any = gymnasium.make("FrozenLake-v1").unwrapped
    P, end, R = np.zeros((16, 4, 16)), np.zeros((16, 4, 16)), np.zeros((16, 4, 16))
    R[:, :, 15] = 1.0
    for s, actions in core.P.items():
        for a, outcomes in actions.items():
            for p, following, _, over in outcomes:
                P[s, a, following] += p
                end[s, a, following] = over
    return TabularEnv(hreach.TabularMDP(P, R, GAMMA, start=0, end=end), R)


def problem(name: str) -> TabularEnv:
    made = {"garnet": garnet, "frozen-lake": frozen_lake}
    env: TabularEnv = made[name]() if name in made else hreach.make_domain(name)
    return env


# --- what is kept -----------------------------------------------------------------------------------------------------


def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    return found


def keep(key: str, value: Any) -> None:
    write_text(KEPT, json.dumps(kept() | {key: value}, indent=1) + "\n")


def pieces(part: str, name: str, runs: int) -> Iterator[range]:
    """Runs of a piece of work that are not kept yet."""
    for first in range(0, runs, PIECE):
        if f"{part}/{name}/{first}" not in kept():
            yield range(first, min(first + PIECE, runs))


# --- validity ---------------------------------------------------------------------------------------------------------


def validity(name: str, runs: int, scale: float = 1.0) -> None:
    """How many of the runs had a false statement at some time in some state; kept piece by piece."""
    part, env = "validity" if scale == 1.0 else "twin", problem(name)
    for piece in pieces(part, name, runs):
        false = [sorted(false_in_run(env, seed, scale)) for seed in piece]
        keep(f"{part}/{name}/{piece.start}", {"runs": len(piece), "false": [f for f in false if f]})
        print(f"{part} {name}: {piece.stop} of {runs} runs", flush=True)


def false_in_run(env: TabularEnv, seed: int, scale: float) -> set[str]:
    """Names of the statements that were false at some time of one run, in some state."""
    agent = hreach.make_agent("pac-rmdp", env, h=H, seed=seed)
    truth = known_problem(env.mdp(), agent)
    false: set[str] = set()
    for steps in TIMES:
        after = lived(agent, env.mdp(), int(steps), seed + 10**6)
        found = after.certify(DELTA)
        if scale != 1.0:
            found = rescaled(found, scale)
        seen = after.model.seen
        false |= set(broken(found, truth, seen.counts, seen.ended if truth.ends else None))
    return false


def rescaled(found: Certificate, scale: float) -> Certificate:
    """The same certificate with all radii multiplied."""
    sets = found.sets._replace(floor=scale * found.sets.floor, ceiling=scale * found.sets.ceiling)
    return replace(found, sets=sets, bounds=bounds_of(sets, found.policy, found.h, found.prior))


# --- tightness --------------------------------------------------------------------------------------------------------

TIGHT = ("chain", "modified-chain", "riverswim", "sixarms", "garnet", "frozen-lake")
GOALS = (
    ("chain", 8, 12_000, "reachable_gap", 20),
    ("modified-chain", 8, 6_000, "reachable_gap", 20),
    ("riverswim", 8, 25_000, "reachable_gap", 20),
    ("garnet", 8, 40_000, "reachable_gap", 20),
    ("riverswim", 16, 250_000, "optimality_gap", 5),
)


def shares(env: TabularEnv, h: float, steps: int, runs: int = 20) -> dict[str, Any]:
    """Medians over runs, in % of V*(s_t): reachable and optimality gap, the true gap, and the theorem's bound.

    "start" is the reachable gap in the likeliest state to begin in, in % of V* there: s_t is another one in every run.
    """
    names = "reachable_gap", "start", "optimality_gap", "true_gap", "theorem"
    found: dict[str, list[float]] = {name: [] for name in names}
    for seed in range(runs):
        agent = hreach.make_agent("pac-rmdp", env, h=h, seed=seed)
        truth = known_problem(env.mdp(), agent)
        after = lived(agent, env.mdp(), steps, seed + 10**6)
        first = int(np.argmax(truth.start))
        where = first if truth.ends else last_state(after, _start(env, seed + 10**6))
        certificate, best = after.certify(DELTA, where), truth.optimal_value()[where]
        at_start = float(certificate.at(first).reachable_gap or 0.0) / truth.optimal_value()[first]
        bound = anytime_error(sizes_of_problem(truth, after), steps, DELTA, h)
        found["reachable_gap"].append(100 * float(certificate.reachable_gap or 0.0) / best)
        found["start"].append(100 * at_start)
        found["optimality_gap"].append(100 * certificate.optimality_gap / best)
        found["true_gap"].append(100 * (best - truth.policy_value(certificate.policy)[where]) / best)
        found["theorem"].append(100 * float(bound.value) / best)
    return {name: float(np.median(values)) for name, values in found.items()}


def _start(env: TabularEnv, seed: int) -> int:
    return int(env.reset(seed=seed)[0])


def tightness() -> None:
    for name in TIGHT:
        for steps in LENGTHS:
            _once(f"tightness/{name}/{steps}", partial(shares, problem(name), H, steps))
    for name, h, steps, *_ in GOALS:
        _once(f"goal/{name}/{h}/{steps}", partial(shares, problem(name), h, steps, 200))


def _once(key: str, work: Callable[[], Any]) -> None:
    if key not in kept():
        keep(key, work())
        print(key, kept()[key], flush=True)


# --- other sets, same data --------------------------------------------------------------------------------------------


def jonsson(sets: Sets) -> Sets:
    """Jonsson et al. (2020): n KL <= ln(1/d) + (S - 1) ln(e (1 + n/(S - 1)))."""
    n, size = sets.rows.total, sets.outcomes
    beta = np.log(n.size / DELTA) + (size - 1) * np.log(np.e * (1 + n / (size - 1)))
    budget = np.divide(beta, n, out=np.full(n.size, np.inf), where=n > 0)
    return sets._replace(floor=budget, ceiling=budget)


def l1_lower(counts: Array, reward: Array, policy: NDArray[np.int64], gamma: float) -> Array:
    """L^pi over L1 balls of radius sqrt(2 ln((2^S - 2) n (n + 1)/d)/n) (Weissman et al. 2003, a union over n)."""
    states, actions, _ = counts.shape
    every = np.arange(states)
    rows = counts[every, policy]
    n = rows.sum(axis=1)
    log = np.log(2.0**states - 2) + np.log(np.maximum(n * (n + 1), 1)) + np.log(states * actions / DELTA)
    radius = np.where(n > 0, np.sqrt(2 * log / np.maximum(n, 1)), 2.0)
    p = np.where(n[:, None] > 0, rows / np.maximum(n, 1)[:, None], 1 / states)
    value = np.zeros(states)
    for _ in range(1000):
        order = np.argsort(-value)
        taken = np.minimum(np.cumsum(p[:, order], axis=1), np.minimum(radius, 2.0)[:, None] / 2)
        moved = np.diff(taken, axis=1, prepend=0)
        worst = p @ value - (moved * (value[order] - value.min())).sum(axis=1)
        value = reward[every, policy] + gamma * worst
    return value


def other_sets(name: str, steps: int, runs: int = 20) -> dict[str, float]:
    """Medians of V~_h - L in % of V*(s_t), by each of the sets, from the same counts."""
    env = problem(name)
    found: dict[str, list[float]] = {"ours": [], "known successors": [], "Jonsson et al.": [], "L1": []}
    for seed in range(runs):
        agent = hreach.make_agent("pac-rmdp", env, h=H, seed=seed)
        truth = known_problem(env.mdp(), agent)
        after = lived(agent, env.mdp(), steps, seed + 10**6)
        where = last_state(after, _start(env, seed + 10**6))
        best = truth.optimal_value()[where]
        for key, gap in _gaps(after, truth, where).items():
            found[key].append(100 * gap / best)
    return {key: float(np.median(values)) for key, values in found.items()}


def _gaps(after: TableAgent, truth: hreach.TabularMDP, where: int) -> dict[str, float]:
    own = after.certify(DELTA, where)
    assert own.bounds.reachable is not None
    top, reward = own.bounds.reachable[where], truth.reward_table()
    counts = np.rint(after.model.seen.counts - own.prior / truth.states)
    known = hreach.certify_counts(
        counts, reward, truth.gamma, own.policy, delta=DELTA, state=where, possible=truth.transitions() > 0
    )
    return {
        "ours": top - own.lower,
        "known successors": top - known.lower,
        "Jonsson et al.": float(top - Robust(jonsson(own.sets)).lower(own.policy)[where]),
        "L1": float(top - l1_lower(counts, reward, own.policy, truth.gamma)[where]),
    }


# --- cost -------------------------------------------------------------------------------------------------------------


def random_sets(states: int, actions: int = 4, successors: int = 5) -> tuple[Rows, Array]:
    """Counts of a random problem with few successors, about 1000 samples a pair, as rows; rewards (N,)."""
    rng = np.random.default_rng(0)
    pairs = states * actions
    following = rng.integers(0, states, size=(pairs, successors))
    p = rng.dirichlet(np.ones(successors), size=pairs)
    n = rng.geometric(1e-3, size=pairs)
    counts = np.array([rng.multinomial(k, row) for k, row in zip(n, p, strict=True)]).astype(np.float64)
    seen = counts > 0
    first = np.concatenate([[0], np.cumsum(seen.sum(axis=1))]).astype(np.int64)
    rows = Rows(
        first, following[seen], counts[seen], np.zeros(int(seen.sum())), counts.sum(axis=1), np.zeros((0, 0, 0)),
        np.zeros(states, dtype=np.bool_), GAMMA, True, False, np.ones(states),
    )  # fmt: skip
    return rows, rng.random(pairs)


def sets_of(rows: Rows, reward: Array) -> Sets:
    states = rows.closed.size
    budget = per_sample(radii_of(rows, states, DELTA / rows.total.size), rows.total)
    return Sets(rows, reward, reward, budget, budget, states, 0.0, 1 / (1 - GAMMA))


def seconds(work: Callable[[], Any], rounds: int) -> float:
    """The smallest of several turns."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def cost() -> dict[str, float]:
    """Milliseconds of a certificate: radii, L, U, the safest policy, D, V~_h and U^d_h."""
    found = {}
    for states in (5, 50, 500, 5000):
        rows, reward = random_sets(states)
        start = np.zeros(states, dtype=np.int64)
        policy = bounds_of(sets_of(rows, reward), start, 8.0, 1.0).safest_policy

        def certificate(rows: Rows = rows, reward: Array = reward, policy: NDArray[np.int64] = policy) -> None:
            bounds_of(sets_of(rows, reward), policy, 8.0, 1.0)

        found[f"from rows, S = {states}"] = 1e3 * seconds(certificate, 7)
    rows, reward = random_sets(5000)
    sets = sets_of(rows, reward)
    following = Following(sets, Robust(sets).safest(*_beginning(sets))[1], DELTA)
    rng, times = np.random.default_rng(1), []
    for _ in range(200):
        pair = int(rng.integers(rows.total.size))
        entry = rows.first[pair] + int(rng.integers(rows.first[pair + 1] - rows.first[pair]))
        began = time.perf_counter()
        following.learn(pair // 4, pair % 4, int(rows.following[entry]))
        times.append(time.perf_counter() - began)
    found["one more sample, L and U kept up to date, S = 5000 (median)"] = 1e3 * float(np.median(times))
    found["one more sample, L and U kept up to date, S = 5000 (slowest of 200)"] = 1e3 * max(times)
    for name, env in (("the chain, S = 5", problem("chain")), ("dense counts, S = 500", garnet(500))):
        agent = hreach.make_agent("pac-rmdp", env, h=H)
        after = lived(agent, env.mdp(), 3000, 1)
        after.certify()
        found[f"agent.certify, {name}"] = 1e3 * seconds(after.certify, 7)
    return found


def _beginning(sets: Sets) -> tuple[NDArray[np.int64], Array]:
    policy = np.zeros(sets.rows.closed.size, dtype=np.int64)
    return policy, Robust(sets).lower(policy)


# --- the page ---------------------------------------------------------------------------------------------------------


def page() -> str:
    found = kept()
    lines = ["Made by `python benchmarks/certificates.py`, one process; delta = .1, gamma = .95, PAC-RMDP(8).", ""]
    lines += ["## Runs with a false statement", ""]
    lines += [f"{TIMES.size} times from {TIMES[0]} to {TIMES[-1]} steps, every statement in every state.", ""]
    lines += ["| problem | runs | false at some time | allowed |", "|---|---|---|---|"]
    for part in ("validity", "twin"):
        for name in VALIDITY:
            done = [v for key, v in found.items() if key.startswith(f"{part}/{name}/")]
            runs, false = sum(d["runs"] for d in done), [f for d in done for f in d["false"]]
            label = name if part == "validity" else f"{name}, every radius a tenth (must fail)"
            if runs:
                lines.append(f"| {label} | {runs} | {len(false)} ({100 * len(false) / runs:.1f} %) | 10 % |")
    lines += ["", "## How much is certified, medians of 20 runs, in % of V*(s_t)", ""]
    lines += [
        "| problem | steps | reachable gap | at the start | optimality gap | true gap to V* | Corollary 1 |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in TIGHT:
        for steps in LENGTHS:
            got = found.get(f"tightness/{name}/{steps}")
            if got:
                lines.append(f"| {name} | {steps:,} | {_row(got)} |")
    lines += [
        "",
        "## Goals, medians of 200 runs",
        "",
        "| problem | h | steps | what | measured | goal |",
        "|---|---|---|---|---|---|",
    ]
    for name, h, steps, what, goal in GOALS:
        got = found.get(f"goal/{name}/{h}/{steps}")
        if got:
            word = what.replace("_", " ")
            lines.append(f"| {name} | {h} | {steps:,} | {word} | {got[what]:.1f} % | below {goal} % |")
    lines += ["", "## V~_h - L by other sets, same data, medians of 20 runs, in % of V*(s_t)", ""]
    lines += ["| problem | steps | ours | successors known | Jonsson et al. | L1 |", "|---|---|---|---|---|---|"]
    for key, got in found.items():
        if key.startswith("sets/"):
            _, name, length = key.split("/")
            lines.append(f"| {name} | {int(length):,} | " + " | ".join(f"{v:.1f}" for v in got.values()) + " |")
    lines += ["", "## Cost", "", "| a certificate | ms |", "|---|---|"]
    lines += [f"| {name} | {ms:.2f} |" for name, ms in found.get("cost", {}).items()]
    return "\n".join(lines) + "\n"


def _row(got: dict[str, float]) -> str:
    shown = [f"{got[name]:.1f}" for name in ("reachable_gap", "start", "optimality_gap", "true_gap")]
    return " | ".join([*shown, f"{got['theorem']:.3g}"])


def main(parts: list[str]) -> None:
    if "cost" in parts:
        keep("cost", cost())
    if "tightness" in parts:
        tightness()
    if "sets" in parts:
        for name in ("chain", "modified-chain", "riverswim", "garnet"):
            for steps in (3000, 10_000, 100_000):
                _once(f"sets/{name}/{steps}", partial(other_sets, name, steps))
    if "validity" in parts:
        for name, runs in VALIDITY.items():
            validity(name, runs)
    if "twin" in parts:
        validity("chain", TWIN, 0.1)
    write_text(PAGE, page())


if __name__ == "__main__":
    main(sys.argv[1:] or ["validity", "twin", "tightness", "sets", "cost"])
