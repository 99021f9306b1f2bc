"""An agent as plain arrays, and back: nothing that was saved is trusted.

A state holds what the model learnt ("model."), where the plan stands ("planner."), where the agent's random numbers
stand, what it was made with ("agent", JSON), and a checksum of all that. Loading checks all of it before anything
changes: an agent that goes on from a state takes the actions that it would have taken, or the state is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hreach.errors import InputError, require, shown
from hreach.protocols import Arrays

if TYPE_CHECKING:
    from hreach.agents.agent import Agent
    from hreach.protocols import AnyModel, AnyPlanner, Optimism

    AnyAgent = Agent[AnyModel, Optimism, AnyPlanner]

# Of these there are as many rows as there are.
_ANY_LENGTH = (
    "committed",
    "expected",
    "model.unlearnt",
    "planner.predicted",
    "planner.probed_states",
    "planner.probed_actions",
    "model.node",
    "model.tally",
    "model.edge",
    "model.paid",
    "planner.line",
    "planner.action_line",
    "planner.link",
    "planner.heap",
)


def state_dict(agent: AnyAgent) -> dict[str, NDArray[np.generic]]:
    """Everything that changed since construction, what the agent was made with, and a checksum."""
    saved: dict[str, NDArray[np.generic]] = {
        "seed": np.array(agent.seed, dtype=np.uint64),
        "stream": agent.stream.copy(),
        "planned_with": np.array(agent.planned_with),
        "committed": np.array(agent.committed, dtype=np.int64),
        "expected": np.frombuffer(agent.expected).copy(),
    }
    for prefix, part in (("model", agent.model), ("planner", agent.planner)):
        saved |= {f"{prefix}.{name}": value for name, value in part.state_dict().items()}
    saved["agent"] = np.array(json.dumps(made_with(agent), sort_keys=True))
    saved["checksum"] = np.array(_checksum(saved))
    return saved


def load_state_dict(agent: AnyAgent, state: Arrays) -> None:
    """Put a saved state into the agent; `InputError` if it is damaged or another agent's, and nothing is changed."""
    mine = state_dict(agent)
    saved = {name: _like(name, state, value) for name, value in mine.items()}
    _check_agent(str(saved["agent"]), made_with(agent))
    model, planner = (_part(saved, prefix) for prefix in ("model.", "planner."))
    agent.model.check_state_dict(model)
    agent.planner.check_state_dict(planner)
    intact = str(saved["checksum"]) == _checksum(saved)
    require(intact, "checksum", str(saved["checksum"]), "that of the rest: the state was damaged or edited")
    if int(saved["seed"]) != agent.seed:
        agent.build(int(saved["seed"]))  # random features are drawn from it
    agent.model.load_state_dict(model)
    agent.planner.load_state_dict(planner)
    agent.stream[...] = saved["stream"]
    agent.planned_with = int(saved["planned_with"])
    agent.committed = [int(action) for action in saved["committed"].tolist()]
    agent.expected = np.asarray(saved["expected"], dtype=np.float64).tobytes()


def made_with(agent: AnyAgent) -> dict[str, object]:
    """What decides how the agent learns and acts, as plain data; arrays by their digest."""
    return {**agent.optimism.identity(), **agent.settings}


def _part(saved: Arrays, prefix: str) -> dict[str, NDArray[np.generic]]:
    return {name.removeprefix(prefix): value for name, value in saved.items() if name.startswith(prefix)}


def _checksum(saved: Arrays) -> str:
    digest = hashlib.sha256()
    for name in sorted(set(saved) - {"checksum"}):
        array = np.ascontiguousarray(saved[name])
        digest.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _like(name: str, state: Arrays, mine: NDArray[np.generic]) -> NDArray[np.generic]:
    """The saved array of this name, of the shape and kind that this agent has."""
    if name not in state:
        raise InputError(f"state_dict has no {name!r}; it is of another version or kind of agent.")
    saved = np.asarray(state[name])
    free = 1 if name in _ANY_LENGTH else 0
    fits = saved.ndim == mine.ndim and saved.shape[free:] == mine.shape[free:]
    require(fits, f"{name} shape", saved.shape, f"{mine.shape}")
    same = saved.dtype.kind == "U" if mine.dtype.kind == "U" else saved.dtype == mine.dtype
    require(same, f"{name} type", str(saved.dtype), str(mine.dtype) if mine.dtype.kind != "U" else "text")
    return saved


def _check_agent(text: str, mine: Mapping[str, object]) -> None:
    """The state is of an agent that was made alike; the message names the first difference."""
    try:
        theirs = json.loads(text)
        assert isinstance(theirs, dict)
    except (ValueError, AssertionError):
        raise InputError(f"agent of the state is {shown(text)}, but must say what the agent was made with.") from None
    ours = json.loads(json.dumps(mine))
    for name in [*ours, *theirs]:
        own, saved = ours.get(name), theirs.get(name)
        require(own == saved, f"{name} of the saved agent", saved, f"this agent's, {shown(own)}")
