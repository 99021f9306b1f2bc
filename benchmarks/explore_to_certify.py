"""Steps until a gap is certified, by who explores; what it prints is kept as benchmarks/EXPLORE_TO_CERTIFY.md.

Two targets: the best that 8 more samples of each pair could show (V^{d*}_8), and the optimum (V*). A share is that of
V* in the state where the run is, known reward, no prior (it is part of what V^{d*} is); medians over runs; looks are at
most 15 % apart, as those of `hreach.run(until=)`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hreach
from hreach.agents.tables import TableAgent
from hreach.guarantees.audit.lived import last_state, lived
from hreach.guarantees.audit.record import known_problem
from hreach.running.looking import next_look

DOMAINS = ("chain", "modified-chain", "riverswim", "sixarms")
AGENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "pac-rmdp, h = 8": ("pac-rmdp", {"h": 8, "prior": 0}),
    "pac-rmdp, h = 64": ("pac-rmdp", {"h": 64, "prior": 0}),
    "certify": ("certify", {}),
}
SHARES = (0.5, 0.2, 0.1, 0.05)
LENGTHS = {"pac-rmdp": (20, 300_000), "certify": (5, 200_000)}  # runs and steps; this agent is not compiled
H, DELTA = 8, 0.1


class Shares:
    """Keeps, at each look, both gaps as shares of V* where the run is; a rule that is met when no share is left."""

    def __init__(self, best: NDArray[np.float64]) -> None:
        self._best = best
        self.found: list[tuple[int, float, float]] = []

    def met(self, agent: Any, state: Any) -> str | None:
        """Why to stop now, or None."""
        sure = agent.certify(DELTA, state, H)
        size = float(self._best[state])
        self.found.append((sure.samples, sure.reachable_gap / size, sure.optimality_gap / size))
        least = np.array(self.found)[:, 1:].min(axis=0)
        return "both gaps were below every share" if least.max() <= min(SHARES) else None


def steps_of_run(domain: str, agent: str, seed: int) -> NDArray[np.float64]:
    """Steps of the first look at which each share was certified, (targets, shares); infinite: at none."""
    name, params = AGENTS[agent]
    env = hreach.make_domain(domain)
    learner = hreach.make_agent(name, env, seed=seed, **params)
    rule = Shares(known_problem(env.mdp(), learner).optimal_value())
    if name == "certify":
        hreach.run(env, learner, LENGTHS[name][1], seed=seed, until=rule)
    else:
        compiled_run(env, learner, LENGTHS[name][1], seed, rule)
    found = np.array(rule.found)
    below = found[:, 1:, None] <= np.array(SHARES)  # (looks, targets, shares)
    first = found[np.argmax(below, axis=0), 0]
    return np.where(below.any(axis=0), first, np.inf)


def compiled_run(env: Any, learner: TableAgent, steps: int, seed: int, rule: Shares) -> None:
    """The run of `hreach.run(env, learner, steps, seed, until=rule)`, compiled; from its beginning to each look."""
    look, start = next_look(0), int(env.reset(seed=seed)[0])
    while look <= steps:
        after = lived(learner, env.mdp(), look, seed)
        if rule.met(after, last_state(after, start)):
            break
        look = next_look(look)


def page() -> str:
    """The table as Markdown."""
    heads = [f"{target} {share:.0%}" for target in ("reach", "V\\*") for share in SHARES]
    lengths = "; ".join(f"{name} {runs} runs of at most {steps:,} steps" for name, (runs, steps) in LENGTHS.items())
    lines = [
        "# Steps until a gap is certified",
        "",
        f"Medians of runs, delta = {DELTA:g}, gaps in % of V\\*(s_t): {lengths}.",
        f"reach: against the best that {H} more samples of each pair could show; –: not by then.",
        "Looks are 15 % apart, and medians of 5 runs are rough.",
        "",
        f"| | | {' | '.join(heads)} |",
        "|---|---|" + "---|" * len(heads),
    ]
    for domain in DOMAINS:
        for agent in AGENTS:
            steps = np.array([steps_of_run(domain, agent, seed) for seed in range(LENGTHS[AGENTS[agent][0]][0])])
            cells = np.median(steps, axis=0).reshape(-1)
            print(f"{domain}, {agent}: done", file=sys.stderr, flush=True)
            lines.append(f"| {domain} | {agent} | {' | '.join(_short(cell) for cell in cells)} |")
    return "\n".join(lines)


def _short(steps: float) -> str:
    return "–" if not np.isfinite(steps) else f"{steps:,.0f}"


if __name__ == "__main__":
    print(page())
