"""FrozenLake 8x8 where the reward has to be learnt: what each h earns, and how optimistic a learnt reward should be.

`python benchmarks/learnt_rewards.py` writes benchmarks/LEARNT_REWARDS.md, in some five minutes on two cores. The lake
is Gymnasium's table (slippery) without its limit of 200 steps an episode; gamma is .99, the prior 0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import hreach

STEPS, RUNS, SEED = 50_000, 10, 0
HS: tuple[Any, ...] = (1, 4, 16, "growing", "adaptive")
LEARN: dict[str, Any] = {"reward": "learn", "r_max": 1, "r_min": 0}
SETTINGS: dict[str, dict[str, Any]] = {
    "share 1": {**LEARN, "reward_share": 1},
    "**share .1**": LEARN,
    "share .1, `value_cap=1`": {**LEARN, "value_cap": 1.0},
    "reward known": {"reward": "known"},
}
SMALL = {"chain": 3000, "modified-chain": 3000, "riverswim": 5000, "sixarms": 5000}
PAGE = Path(__file__).with_name("LEARNT_REWARDS.md")


def lake() -> hreach.TabularMDP:
    """FrozenLake 8x8 as an MDP; holes and the goal end the episode."""
    table = gymnasium.make("FrozenLake-v1", map_name="8x8").unwrapped.P  # type: ignore[attr-defined]
    P, R, end = np.zeros((64, 4, 64)), np.zeros((64, 4, 64)), np.zeros((64, 4, 64))
    for s, actions in table.items():
        for a, outcomes in actions.items():
            for chance, following, reward, over in outcomes:
                P[s, a, following] += chance
                R[s, a, following], end[s, a, following] = reward, over
    return hreach.TabularMDP(P, R, 0.99, end=end)


def reached(mdp: hreach.TabularMDP, params: dict[str, Any]) -> tuple[float, float]:
    """The share of episodes that reach the goal: of all, and of those in the last tenth of the steps."""
    runs = hreach.simulate(mdp, "pac-rmdp", {"prior": 0, **params}, runs=RUNS, steps=STEPS, seed=SEED, endings=True)
    assert runs.ended is not None
    last = slice(STEPS * 9 // 10, None)
    shares = [runs.reward[:, part].sum(axis=1) / runs.ended[:, part].sum(axis=1) for part in (slice(None), last)]
    return float(shares[0].mean()), float(shares[1].mean())


def earned(domain: str, params: dict[str, Any]) -> float:
    """Reward per step as a share of the optimum's."""
    env = hreach.make_domain(domain)
    mdp = env.mdp()
    runs = hreach.simulate(env, "pac-rmdp", {**params, "r_max": float(mdp.reward.max())}, runs=200, steps=SMALL[domain])
    return runs.mean / float(mdp.average_reward(mdp.optimal_policy()))


def row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    mdp = lake()
    named = [f"h = {h}" if isinstance(h, int) else str(h) for h in HS]
    lines = [
        "Made by `python benchmarks/learnt_rewards.py`. FrozenLake 8x8, 50,000 steps, 10 seeds: the share of episodes",
        "that reach the goal, in the last tenth of the steps (in brackets: in all of them).",
        "",
        row(["", *named]),
        "|" + "---|" * (len(HS) + 1),
    ]
    for name, params in SETTINGS.items():
        found = [reached(mdp, {"h": h, **params}) for h in HS]
        lines.append(row([name, *(f"{last:.2f} ({every:.2f})" for every, last in found)]))
        print(lines[-1], flush=True)
    lines += ["", "The small problems with learnt rewards, as a share of what the optimum earns (200 runs):", ""]
    lines += [row(["", "reward share", *named]), "|" + "---|" * (len(HS) + 2)]
    for domain, steps in SMALL.items():
        for share in (1, 0.1):
            got = [earned(domain, {"h": h, "reward": "learn", "r_min": 0, "reward_share": share}) for h in HS]
            lines.append(row([f"{domain}, {steps} steps", f"{share:g}", *(f"{x:.2f}" for x in got)]))
            print(lines[-1], flush=True)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
