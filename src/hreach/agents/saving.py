"""A tabular agent as plain arrays, and back: nothing that was saved is trusted.

A state holds what the agent learnt (counts, endings, rewards), where its plan and its coins stand, what it was made
with ("agent", JSON), and a checksum of all that. Loading checks all of it before anything changes: an agent that goes
on from a state takes the actions that it would have taken, or the state is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hreach.errors import InputError, require, shown

if TYPE_CHECKING:
    from hreach.agents.tabular import TabularAgent

Saved = Mapping[str, NDArray[Any]]
_LEARNT = ("counts", "ended", "total", "income", "clock", "value", "q", "order", "terminal", "open")
_GROWING = ("constants", "plain")
_WEIGHT = 1e-6  # relative: what adding up many samples may lose


def state_dict(agent: TabularAgent) -> dict[str, NDArray[Any]]:
    """Everything that changed since construction, what the agent was made with, and a checksum."""
    belief = agent.belief
    saved = {name: getattr(belief, name).copy() for name in (*_LEARNT, *_growing(agent))}
    saved["stream"] = agent.stream.copy()
    saved["ends"] = np.array(agent.problem.ends)
    saved["stale"] = np.array(agent._stale)
    saved["residual"] = np.array(agent.residual)
    saved["agent"] = np.array(json.dumps(made_with(agent), sort_keys=True))
    saved["checksum"] = np.array(_checksum(saved))
    return saved


def load_state_dict(agent: TabularAgent, state: Saved) -> None:
    """Put a saved state into the agent; `InputError` if it is damaged or another agent's, and nothing is changed."""
    mine = state_dict(agent)
    saved = {name: _like(name, state, value) for name, value in mine.items()}
    _check_agent(str(saved["agent"]), made_with(agent))
    _check_learnt(agent, saved)
    intact = str(saved["checksum"]) == _checksum(saved)
    require(intact, "checksum", str(saved["checksum"]), "that of the rest: the state was damaged or edited")
    if saved["ends"] and not agent.problem.ends:
        agent.expect_ends()
    for name in (*_LEARNT, *_growing(agent)):
        getattr(agent.belief, name)[...] = saved[name]
    agent.stream[...] = saved["stream"]
    agent._stale = bool(saved["stale"])
    agent.residual = float(saved["residual"])


def made_with(agent: TabularAgent) -> dict[str, Any]:
    """What decides how the agent learns and acts, as plain data; arrays by their digest."""
    problem, strategy, rule = agent.problem, agent.strategy, agent.rule
    formula = strategy.formula
    return {
        "formula": f"{formula.__module__}:{formula.__qualname__}",
        **{name: _plain(value) for name, value in strategy.constants.items()},
        "growing": strategy.growing,
        "adaptive": strategy.adaptive,
        "freeze_at": _plain(strategy.freeze_at),
        "random_action": strategy.random_action,
        "reward_share": strategy.reward_share,
        "gamma": problem.gamma,
        "prior": problem.prior,
        "reward": None if problem.reward is None else _plain(problem.reward),
        "r_min": problem.r_min,
        "r_max": problem.r_max,
        "tolerance": rule.tolerance,
        "value_cap": _plain(rule.value_cap),
        "ties": rule.preference.tolist() or "random",
    }


def _growing(agent: TabularAgent) -> tuple[str, ...]:
    return _GROWING if agent.strategy.growing else ()


def _plain(value: Any) -> Any:
    array = np.asarray(value, dtype=np.float64)
    if array.ndim:
        return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
    return float(array) if np.isfinite(array) else str(array)


def _checksum(saved: Saved) -> str:
    digest = hashlib.sha256()
    for name in sorted(set(saved) - {"checksum"}):
        array = np.ascontiguousarray(saved[name])
        digest.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _like(name: str, state: Saved, mine: NDArray[Any]) -> NDArray[Any]:
    """The saved array of this name, of the shape and kind that this agent has."""
    if name not in state:
        raise InputError(f"state_dict has no {name!r}; it is of another version or kind of agent.")
    saved = np.asarray(state[name])
    require(saved.shape == mine.shape, f"{name} shape", saved.shape, f"{mine.shape}")
    same = saved.dtype.kind == "U" if mine.dtype.kind == "U" else saved.dtype == mine.dtype
    require(same, f"{name} type", str(saved.dtype), str(mine.dtype) if mine.dtype.kind != "U" else "text")
    return saved


def _check_agent(text: str, mine: dict[str, Any]) -> None:
    """The state is of an agent that was made alike; the message names the first difference."""
    try:
        theirs = json.loads(text)
        assert isinstance(theirs, dict)
    except (ValueError, AssertionError):
        raise InputError(f"agent of the state is {shown(text)}, but must say what the agent was made with.") from None
    for name in [*mine, *theirs]:
        ours, saved = mine.get(name), theirs.get(name)
        require(ours == saved, f"{name} of the saved agent", saved, f"this agent's, {shown(ours)}")


def _check_learnt(agent: TabularAgent, saved: Saved) -> None:
    """Counts that can have been counted, and numbers where there must be numbers."""
    finite = ("counts", "ended", "total", "income", "value", "q", *(("plain",) if agent.strategy.growing else ()))
    for name in finite:
        require(bool(np.isfinite(saved[name]).all()), name, "nan or infinite", "finite everywhere")
    prior, states = agent.problem.prior, agent.problem.states
    samples = saved["counts"] - prior / states
    _check_whole("counts", samples, "the prior's share and a whole number of samples, at least 0")
    _check_whole("ended", saved["ended"], "whole numbers of at least 0")
    require(bool((saved["ended"] <= samples + 0.5).all()), "ended", "more than counts", "at most the samples counted")
    total = saved["counts"].sum(axis=2)
    fits = np.abs(total - saved["total"]) <= _WEIGHT * np.maximum(1.0, total)
    require(bool(fits.all()), "total", "not the sum of counts", "the sum of counts over next states")
    steps, since = (float(x) for x in saved["clock"])
    counted = float(np.rint(samples).sum())
    require(abs(steps - counted) <= 0.5, "clock", steps, f"the number of samples, {counted:g}")
    grows = agent.strategy.growing
    require(np.isfinite(since) == grows and (not grows or 0 <= since <= steps), "clock", since, "a time in the past")
    order = np.sort(saved["order"])
    require(bool((order == np.arange(states)).all()), "order", saved["order"], "every state once")
    some = bool(saved["ended"].any() or saved["terminal"].any())
    require(bool(saved["ends"]) or not some, "ends", False, "true, for episodes ended")
    both = bool((saved["terminal"] & saved["open"]).any())
    require(not both, "terminal", "an open state", "a state that nothing was seen to leave")
    residual = float(saved["residual"])
    require(residual >= 0, "residual", residual, "at least 0")
    if grows:
        require(bool((saved["constants"] >= 0).all()), "constants", "nan or negative", "at least 0")


def _check_whole(name: str, samples: NDArray[Any], allowed: str) -> None:
    whole = np.rint(samples)
    ok = bool((whole >= 0).all() and (np.abs(samples - whole) <= _WEIGHT * np.maximum(1.0, whole)).all())
    require(ok, name, "another number", allowed)
