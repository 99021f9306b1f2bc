"""Where transitions come from. A domain is one file and one line in `DOMAINS`."""

from __future__ import annotations

from typing import Any

from hreach.domains import gymnasium_ids
from hreach.registry import Entry, lookup

DOMAINS = {
    "chain": Entry(
        "hreach.domains.chain:Chain",
        "five states in a row; resetting pays a little at once, walking to the end pays more",
        "Strens 2000",
        "Chain-v0",
    ),
    "modified-chain": Entry(
        "hreach.domains.modified_chain:ModifiedChain",
        "the chain with a first step that succeeds 1 time in 20; small h gets stuck",
        "Kawaguchi 2016, A5",
        "ModifiedChain-v0",
    ),
    "riverswim": Entry(
        "hreach.domains.riverswim:RiverSwim",
        "six states along a river; the current carries back whoever swims to where it pays",
        "Strehl and Littman 2008",
        "RiverSwim-v0",
    ),
    "sixarms": Entry(
        "hreach.domains.sixarms:SixArms",
        "a hall with six doors; the best room's door opens 1 time in 100",
        "Strehl and Littman 2008",
        "SixArms-v0",
    ),
    "mountain-car": Entry(
        "hreach.domains.mountain_car:MountainCar",
        "a weak car must swing back to get out of a valley; noisy, and waiting in the valley is cheap",
        "Sutton and Barto 1998; Kawaguchi 2016, A7",
        "MountainCar-v0",
    ),
    "hiv": Entry(
        "hreach.domains.hiv:HIV",
        "two drugs, a decision every five days; only interruptions of treatment teach the immune system",
        "Adams et al. 2004; Ernst et al. 2006; Kawaguchi 2016, A7",
        "HIV-v0",
    ),
}


def make_domain(name: str, **params: Any) -> Any:
    """The environment of this name, e.g. `make_domain("chain", length=7)`."""
    return lookup("domain", name, DOMAINS).build(f"domain {name!r}", params)


# `gymnasium.make("hreach/Chain-v0")` works once hreach is imported, before or after Gymnasium.
gymnasium_ids.register({f"hreach/{entry.gymnasium_id}": entry.target for entry in DOMAINS.values()})
