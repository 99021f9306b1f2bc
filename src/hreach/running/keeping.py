"""A run that goes on where it stopped: agent, environment and record in one file, from time to time.

What is saved is a moment between two steps. Ctrl-C waits for the end of the step, and the run is saved once more; after
a crash the last file stands, and what was done since is done again. Either way the run ends with the bytes of one that
never stopped. An agent or an environment that cannot be saved is named in a warning, and its run begins anew.

The whole record is written every time. That takes longer and longer, so at most 1/50 of the time is spent on it
(`hreach.running.pace`).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hreach
from hreach.errors import InputError, require
from hreach.files import writable_file
from hreach.problems.plain import NotPlainError, encode
from hreach.problems.saving import (
    NotSavedError,
    SavesItself,
    check_made_alike,
    kind_of,
    marks_of,
    picture,
    put_back,
    saves_itself,
)
from hreach.problems.saving import why_not_saved as why_not
from hreach.protocols import Acts, Environment, State
from hreach.running.checkpoint import CheckpointError, read, write
from hreach.running.interrupting import late_interrupt
from hreach.running.looking import Watch
from hreach.running.pace import Pace
from hreach.running.progress import Told
from hreach.running.record import Record, Run

Advance = Callable[[State, float], State]  # from a state on until there are so many steps; the state that it ends in


@dataclass(frozen=True)
class Journey:
    """Who runs where, what was recorded, and for how long: until `last` steps or `wanted` episodes, or for ever.

    watch   what may stop the run earlier
    """

    env: Environment
    agent: Acts
    record: Record
    seed: int
    last: float
    wanted: float
    watch: Watch | None = None

    def finished(self) -> bool:
        """Whether nothing is left to do."""
        stopped = self.watch is not None and bool(self.watch.why)
        return stopped or len(self.record.rewards) >= self.last or len(self.record.ended) >= self.wanted


def why_not_saved(env: object, agent: object) -> str | None:
    """Why a run of this agent in this environment cannot be saved, as a clause; None if it can."""
    name = type(agent).__name__
    if not saves_itself(agent):
        return f"{name} has no state_dict and load_state_dict"
    try:
        encode(_state_of(agent))
    except NotPlainError as error:
        return f"something in the state_dict of {name} is {error}"
    return why_not(env)


def keep_going(
    journey: Journey,
    reset: Callable[[], State],
    advance: Advance,
    told: tuple[Told | None, Told | None],
    path: Path,
    pace: Pace,
) -> None:
    """Go on from the file, if it is there, or else begin; save at this pace; remove the file in the end."""
    path = writable_file("checkpoint", path) or path
    before = marks_of(journey.env)
    state = reset()
    try:
        state, begun = _started(journey, path, state, before)
    except (NotSavedError, NotPlainError) as error:
        warnings.warn(f"{path} is not written: {_why(error)}; if this run is stopped, it begins anew.", stacklevel=3)
        advance(state, journey.last)
        return
    _tell(journey, told)
    with late_interrupt() as interrupted:
        while not journey.finished():
            state = advance(state, min(journey.last, len(journey.record.rewards) + pace.stretch()))
            if pace.due() or interrupted():
                pace.saved(_save(journey, path, state, begun))
            if interrupted():
                raise KeyboardInterrupt
    path.unlink(missing_ok=True)


def _started(journey: Journey, path: Path, state: State, before: Mapping[str, str]) -> tuple[State, Mapping[str, str]]:
    """The state to go on from, and the marks of what the environment was made with; `before`: those before its reset.

    The first file is written before any work is done: where none can be written, the run does not begin.
    """
    why = why_not_saved(journey.env, journey.agent)
    if why is not None:
        raise NotSavedError(why)
    if path.exists():
        return _restored(journey, path)
    # What the reset has changed, such as the time of day, is no part of what the environment was made with.
    begun = {name: mark for name, mark in marks_of(journey.env).items() if before.get(name, mark) == mark}
    try:
        write(path, _content(journey, state, begun))
    except OSError as error:
        raise InputError(f"checkpoint {path} cannot be written: {_why(error)}.") from error
    return state, begun


def _why(error: Exception) -> str:
    if isinstance(error, NotPlainError):
        return f"something in it is {error}"
    return str((isinstance(error, OSError) and error.strerror) or error)


def _tell(journey: Journey, told: tuple[Told | None, Told | None]) -> None:
    for tell, done in zip(told, (len(journey.record.rewards), len(journey.record.ended)), strict=True):
        if tell is not None and done:
            tell(done)


def _save(journey: Journey, path: Path, state: State, begun: Mapping[str, str]) -> float:
    """The seconds that it took. What was saved before stands if this cannot be: a run of hours goes on."""
    before = time.monotonic()
    try:
        write(path, _content(journey, state, begun))
    except (OSError, NotSavedError, NotPlainError) as error:
        said = f"{path} was not written: {_why(error)}; the run goes on, and what was saved before stands."
        warnings.warn(said, stacklevel=2)
    return time.monotonic() - before


def _content(journey: Journey, state: State, begun: Mapping[str, str]) -> dict[str, Any]:
    """The run as plain data; `begun` are the marks of what the environment was made with."""
    assert saves_itself(journey.agent)
    now = picture(journey.env, begun)
    return {
        **_identity(journey),
        "begun": dict(begun),
        "marks": now.marks,
        "env": now.state,
        "state": state,
        "agent": _state_of(journey.agent),
        "record": vars(journey.record.run()),
    }


def _state_of(agent: SavesItself) -> dict[str, Any]:
    """Its state, with the arrays one by one: whether they share memory is the agent's own affair."""
    saved = agent.state_dict()
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in saved.items()}


def _identity(journey: Journey) -> dict[str, Any]:
    """What must be the same for a run to go on, besides what agent and environment check themselves."""
    agent = journey.agent
    seed = getattr(agent, "seed", None)
    return {
        "hreach": hreach.__version__,
        "seed": int(journey.seed),
        "environment": kind_of(journey.env),
        "agent class": f"{type(agent).__module__}:{type(agent).__qualname__}",
        "agent seed": int(seed) if isinstance(seed, int | np.integer) else None,
    }


def _restored(journey: Journey, path: Path) -> tuple[State, Mapping[str, str]]:
    """Put everything back; (the state to go on from, the marks of what the environment was made with)."""
    assert saves_itself(journey.agent)
    try:
        saved = read(path)
        for name, ours in _identity(journey).items():
            require(saved.get(name) == ours, f"{name} of the checkpoint", saved.get(name), f"this run's, {ours!r}")
        done = _record(saved)
        enough = len(done.rewards) <= journey.last and len(done.ended) <= journey.wanted
        require(enough, "steps", journey.last, f"at least the {len(done.rewards)} that were done")
        check_made_alike(journey.env, saved["begun"], saved["marks"], saved["env"])
        journey.agent.load_state_dict(saved["agent"])
    except InputError as error:
        raise CheckpointError(f"{path} is no checkpoint of this run: {error}") from error
    put_back(journey.env, saved["env"])
    journey.record.begin_with(done)
    return saved["state"], saved["begun"]


def _record(saved: Mapping[str, Any]) -> Run:
    """The steps that were done, with as many of each thing as there must be."""
    parts = [saved.get(name) for name in ("begun", "marks", "env", "agent", "record")]
    whole = "state" in saved and all(type(part) is dict and all(type(name) is str for name in part) for part in parts)
    require(whole, "content", sorted(map(str, saved)), "a saved run")
    record = saved["record"]
    kinds = {name: value.dtype.kind for name, value in record.items() if isinstance(value, np.ndarray) and value.ndim}
    lengths = {name: len(record[name]) for name in kinds}
    ok = set(kinds) == {"rewards", "states", "actions", "ended", "terminated", "next_states"}
    ok = ok and (kinds["rewards"], kinds["actions"], kinds["ended"], kinds["terminated"]) == ("f", "i", "i", "b")
    ok = ok and len({lengths[name] for name in ("rewards", "states", "actions", "next_states")}) == 1
    ok = ok and lengths["ended"] == lengths["terminated"]
    require(ok, "record", lengths, "as many rewards, states and actions as there were steps")
    return Run(**record)
