"""Tables that a user has: counts of transitions, rewards and policies from CSV and npz, and recorded runs.

    counts   CSV: state, action, next_state, count and, if episodes end, ended; rows of one transition add up
             npz: counts (S, A, S) and, if episodes end, ended (S, A, S)
    run      npz: states, actions, next_states of each step and, if episodes end, ended and terminated, as `hreach.Run`
             has them; or a checkpoint of `hreach.run`
    reward   CSV: state, action, reward and, where it depends on it, next_state; npz: reward (S, A) or (S, A, S)
    policy   CSV: state, action; npz: policy (S,)

Nothing in them is trusted, and nothing is unpickled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hreach.cli.tables import field, index_at, names_of, read_array, read_arrays, read_rows
from hreach.errors import InputError, array, require
from hreach.guarantees.confidence import whole_counts
from hreach.protocols import Floats, Ints
from hreach.running.checkpoint import read as read_checkpoint
from hreach.running.record import Run

Contents = Mapping[str, NDArray[Any]]
_COUNTS = ("state", "action", "next_state", "count")
_STEPS = ("states", "actions", "next_states")
_LARGEST = 10**8  # entries of a table (S, A, S) that a file may ask for


class Moves(NamedTuple):
    """Transitions (N,) each: from, action, to, how often, and how often of these the episode ended."""

    states: Ints
    actions: Ints
    following: Ints
    times: Floats
    ended: Floats | None

    def table(self, states: int, actions: int, last: int) -> tuple[Floats, Floats | None]:
        """Counts (S, A, S) of the first `last` of them, and those that ended the episode."""
        part = slice(last)
        place = (self.states[part], self.actions[part], self.following[part])
        shape = (states, actions, states)
        return _added(place, self.times[part], shape), None if self.ended is None else _added(
            place, self.ended[part], shape
        )


class Counted(NamedTuple):
    """A file of counts or of a run; `in_order`: every move is one step of a run."""

    moves: Moves
    in_order: bool

    def check_sizes(self, states: int, actions: int) -> None:
        """Every move is one of a problem of this size."""
        for name, column, size in (
            ("state", self.moves.states, states),
            ("action", self.moves.actions, actions),
            ("next_state", self.moves.following, states),
        ):
            top = int(column.max(initial=0))
            require(top < size, f"largest {name} of the counts", top, f"below {size}, of which there are rewards")


def read_counts(path: Path) -> Counted:
    """Counts, or the steps of a run, from a file."""
    if path.suffix.lower() == ".csv":
        return Counted(_moves_of_rows(path), in_order=False)
    found = _contents(path)
    if "counts" in found:
        return Counted(_moves_of_table(path, found), in_order=False)
    if all(name in found for name in _STEPS):
        return Counted(_moves_of_run(path, found), in_order=True)
    if any(name.startswith("model.") for name in found):
        raise InputError(f"source is the state of an agent, but must be a domain with it: DOMAIN AGENT --saved {path}")
    raise InputError(f"{path} has {names_of(found)}, but must have counts, or {', '.join(_STEPS)} of a run.")


def read_reward(path: Path) -> Floats:
    """Rewards (S, A) or (S, A, S) from a file."""
    if path.suffix.lower() != ".csv":
        table = array("reward", read_array(path, "reward"))
        require(table.ndim in (2, 3) and table.size > 0, "reward shape", table.shape, "(S, A) or (S, A, S)")
        return table
    rows = read_rows(path, ("state", "action", "reward"))
    names = ("state", "action", "next_state") if "next_state" in rows[0][1] else ("state", "action")
    places = [tuple(index_at(path, line, row, name) for name in names) for line, row in rows]
    paid = [field(path, line, row, "reward") for line, row in rows]
    shape = [max(column) + 1 for column in zip(*places, strict=True)]
    if len(names) == 3:
        shape[0] = shape[2] = max(shape[0], shape[2])
    _check_large(path, shape)
    table = np.full(shape, np.nan)
    for place, value in zip(places, paid, strict=True):
        table[place] = value
    lacking = np.argwhere(np.isnan(table))
    if lacking.size:
        raise InputError(f"{path} has no reward of {dict(zip(names, lacking[0].tolist(), strict=True))}.")
    return table


def read_policy(path: Path, states: int) -> Ints:
    """Actions (S,) from a file."""
    if path.suffix.lower() != ".csv":
        return np.asarray(read_array(path, "policy"))
    policy = np.full(states, -1, dtype=np.int64)
    for line, row in read_rows(path, ("state", "action")):
        state = index_at(path, line, row, "state")
        require(state < states, f"{path}, line {line}: state", state, f"below {states}")
        policy[state] = index_at(path, line, row, "action")
    lacking = np.flatnonzero(policy < 0)
    if lacking.size:
        raise InputError(f"{path} has no action of state {lacking[0]}.")
    return policy


def _contents(path: Path) -> Contents:
    """The arrays of an npz file, or the record of a checkpoint."""
    if path.suffix.lower() == ".npz":
        return read_arrays(path)
    try:
        record = read_checkpoint(path).get("record")
    except InputError as error:
        raise InputError(f"{path} is neither CSV nor npz by its name, and no checkpoint: {error}") from error
    require(isinstance(record, dict), f"record of {path}", record, "that of a run")
    return {name: value for name, value in dict(record or {}).items() if isinstance(value, np.ndarray)}


def _moves_of_rows(path: Path) -> Moves:
    rows = read_rows(path, _COUNTS)
    names = [*_COUNTS, *(["ended"] if "ended" in rows[0][1] else [])]
    table = np.array([[index_at(path, line, row, name) for name in names] for line, row in rows], dtype=np.int64)
    states, actions, following, times = table.T[:4]
    ended = table[:, 4].astype(np.float64) if len(names) == 5 else None
    return Moves(states, actions, following, times.astype(np.float64), ended)


def _moves_of_table(path: Path, found: Contents) -> Moves:
    counts = whole_counts(f"counts of {path}", found["counts"])
    square = counts.ndim == 3 and counts.shape[0] == counts.shape[2] and counts.size > 0
    require(square, f"counts shape of {path}", counts.shape, "(S, A, S): states, actions, next states")
    states, actions, following = place = np.nonzero(counts)
    ended = None
    if "ended" in found:
        over = whole_counts(f"ended of {path}", found["ended"])
        require(over.shape == counts.shape, f"ended shape of {path}", over.shape, f"that of counts, {counts.shape}")
        require(bool((over <= counts).all()), f"ended of {path}", "more than counts", "at most the counts")
        ended = over[place]
    return Moves(states, actions, following, counts[place], ended)


def _moves_of_run(path: Path, found: Contents) -> Moves:
    states, actions, following = (_indices(f"{name} of {path}", found[name]) for name in _STEPS)
    steps = states.size
    require(steps > 0, f"states of {path}", states, "those of at least one step")
    lengths = (states.size, actions.size, following.size)
    require(lengths == 3 * (steps,), f"lengths of {path}", lengths, "the same")
    ended = None
    if "ended" in found and "terminated" in found:
        last, goals = _indices(f"ended of {path}", found["ended"]), np.asarray(found["terminated"])
        ok = goals.shape == last.shape and goals.dtype.kind == "b" and int(last.max(initial=0)) < steps
        require(ok, f"ended of {path}", last, "steps of the run, with terminated for each")
        # A run in which nothing terminated says nothing about whether anything can.
        ended = np.isin(np.arange(steps), last[goals]).astype(np.float64) if goals.any() else None
    return Moves(states, actions, following, np.ones(steps), ended)


def moves_of(done: Run) -> Moves:
    """The steps of a run."""
    ended = np.isin(np.arange(done.rewards.size), done.ended[done.terminated]).astype(np.float64)
    states, following = done.states.astype(np.int64), done.next_states.astype(np.int64)
    return Moves(states, done.actions, following, np.ones(done.rewards.size), ended)


def _indices(field: str, values: NDArray[Any]) -> Ints:
    numbers = np.asarray(values)
    ok = numbers.ndim == 1 and numbers.dtype.kind in "iu" and bool((numbers >= 0).all())
    require(ok, field, values, "whole numbers of at least 0, one for each step")
    return numbers.astype(np.int64)


def _check_large(path: Path, shape: Sequence[int]) -> None:
    entries = int(np.prod([float(n) for n in shape]))
    require(entries <= _LARGEST, f"entries of the table of {path}", entries, f"at most {_LARGEST}")


def _added(place: tuple[Ints, Ints, Ints], weight: Floats, shape: tuple[int, int, int]) -> Floats:
    """Weights added up into a table."""
    flat = np.ravel_multi_index(place, shape)
    return np.asarray(np.bincount(flat, weight, int(np.prod(shape))).reshape(shape), dtype=np.float64)
