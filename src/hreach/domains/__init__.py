"""Where transitions come from. A domain is one file and one line in `DOMAINS`.

One of another project is named by "module:name", by an entry point of the group `hreach.domains` or by its id with
Gymnasium, or given as an object: a factory, called as `factory(**params)`, which returns a Gymnasium environment.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from hreach.domains import gymnasium_ids
from hreach.errors import InputError, nearest, unknown_name
from hreach.registry import Entry, Found, Thing, check_parameters, find, imported, offered

if TYPE_CHECKING:
    from hreach.protocols import Environment

GROUP = "hreach.domains"

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
        "a river of any length; the current carries back whoever swims to where it pays",
        "Strehl and Littman 2008",
        "RiverSwim-v0",
    ),
    "sixarms": Entry(
        "hreach.domains.sixarms:SixArms",
        "a hall with six doors; the best room's door opens 1 time in 100",
        "Strehl and Littman 2008",
        "SixArms-v0",
    ),
    "gridworld": Entry(
        "hreach.domains.gridworld:Gridworld",
        "a slippery grid of any size, or a text map with walls, goals and pits",
        "Russell and Norvig 1995, section 17.1",
        "Gridworld-v0",
    ),
    "garnet": Entry(
        "hreach.domains.garnet:Garnet",
        "a random MDP of any size: states, actions, successors of each pair, seed",
        "Archibald et al. 1995; Bhatnagar et al. 2009",
        "Garnet-v0",
    ),
    "deep-sea": Entry(
        "hreach.domains.deep_sea:DeepSea",
        "a diver sinks through a grid; the treasure lies where every step goes to the right, which costs",
        "Osband et al. 2019",
        "DeepSea-v0",
    ),
    "taxi": Entry(
        "hreach.domains.taxi:Taxi",
        "a taxi takes a passenger from one of four stands to another; the table of Gymnasium's Taxi-v4",
        "Dietterich 2000",
        "Taxi-v0",
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


def make_domain(domain: Thing, /, **params: Any) -> Any:
    """The environment of this name, e.g. `make_domain("chain", length=7)`.

    `domain` is a name of `hreach list`, "module:name", the id of an environment that is registered with Gymnasium
    ("FrozenLake-v1", or "module:Id-v0" where importing the module registers it), or a callable that makes one.
    """
    from hreach.protocols import Environment

    found = find_domain(domain)
    check_parameters(f"domain {found.label}", found.factory, params)
    env = found.factory(**params)
    if not isinstance(env, Environment):
        raise InputError(
            f"domain {found.label} made {type(env).__name__!r}, but must make something with reset and step."
        )
    return env


def find_domain(domain: Thing) -> Found:
    """What a domain's name stands for, or an error that suggests the nearest name.

    In "module:name" the name is one of the module, if it has it, or else an id that it registers with Gymnasium.
    """
    if isinstance(domain, str) and (found := _of_gymnasium(domain)) is not None:
        return found
    found = find("domain", domain, DOMAINS, GROUP)
    if found is None:
        error = unknown_name("domain", domain, {*DOMAINS, *offered(GROUP), *_alike(str(domain))})
        raise InputError(f"{str(error)[:-1]}, and every id of Gymnasium.")
    return found


def _of_gymnasium(domain: str) -> Found | None:
    """A registered environment, unless the name is one of ours or of a module."""
    from gymnasium.envs.registration import registry

    module_name, _, name = domain.rpartition(":")
    if domain in DOMAINS:
        return None
    if module_name:
        module = imported("domain", domain, module_name)
        if name in vars(module) or name not in registry:
            return None
    if name not in registry:
        return None
    entry = registry[name].entry_point
    module_name = entry.partition(":")[0] if isinstance(entry, str) else entry.__module__ if callable(entry) else ""
    modules = () if module_name.partition(".")[0] in ("", "hreach") else (module_name,)
    return Found(repr(domain), partial(_make_registered, name), modules)


def _make_registered(name: str, **params: Any) -> Environment:
    import gymnasium

    try:
        return gymnasium.make(name, **params)
    except (gymnasium.error.Error, TypeError) as error:
        why = " ".join(str(error).split())
        raise InputError(f"domain is {name!r}, which Gymnasium cannot make: {why.rstrip('.')}.") from error


def _alike(name: str) -> list[str]:
    """The registered id that is nearest to a name that looks like one."""
    from gymnasium.envs.registration import registry

    close = nearest(name, list(registry)) if re.search(r"/|-v\d+$", name) else None
    return [close] if close else []


# `gymnasium.make("hreach/Chain-v0")` works once hreach is imported, before or after Gymnasium.
gymnasium_ids.register({f"hreach/{entry.gymnasium_id}": entry.target for entry in DOMAINS.values()})
