"""Observations as plain names that are hashed by what they hold, and all actions in a list: whatever the spaces are.

    Discrete(3, start=1)   1, 2, 3                 MultiDiscrete, MultiBinary   tuples of whole numbers
    Tuple, Dict            tuples of names, those of a Dict in the order of its keys
    Box                    tuples of bins, one for each dimension (`hreach.exploring.bins`)

What is no element of its space is refused: a state that is called by a wrong name would be learnt as another one.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from gymnasium import spaces

from hreach.errors import InputError, require, shown
from hreach.exploring.bins import Edges
from hreach.protocols import State
from hreach.running.numbering import Name

Naming = Callable[[State], Name]
MOST_ACTIONS = 10_000
_WRITE = "for one of another kind, write an ObservationWrapper that makes it one of these"
FINITE = f"Discrete, MultiDiscrete, MultiBinary, Box, or a Tuple or Dict of these: {_WRITE}"
DISCRETIZE = "gymnasium.wrappers.DiscretizeAction(env, bins=5) makes finitely many of them"


def naming(space: spaces.Space[State], edges: Sequence[Edges], what: str = "observation") -> Naming:
    """What an observation of this space is called; `edges` of the bins, for each dimension of every Box in it."""
    return _naming(space, iter(edges), what)


def _naming(space: spaces.Space[State], edges: Iterator[Edges], what: str) -> Naming:
    if isinstance(space, spaces.Discrete):
        return _of_discrete(space, what)
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        return _of_wholes(space, what)
    if isinstance(space, spaces.Box):
        return _of_box(space, [next(edges) for _ in range(math.prod(space.shape))], what)
    if isinstance(space, spaces.Tuple):
        return _of_tuple([_naming(each, edges, f"{what}[{i}]") for i, each in enumerate(space.spaces)], what)
    if isinstance(space, spaces.Dict):
        parts = {key: _naming(each, edges, f"{what}[{key!r}]") for key, each in space.spaces.items()}
        return _of_dict(parts, what)
    raise InputError(f"observation_space is {shown(space)}, but must be {FINITE}.")


def states_of(space: spaces.Space[State], edges: Sequence[Edges]) -> int:
    """How many names there can be."""
    return _states(space, iter(edges))


def _states(space: spaces.Space[State], edges: Iterator[Edges]) -> int:
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return math.prod(int(n) for n in space.nvec.flat)
    if isinstance(space, spaces.MultiBinary):
        return 1 << math.prod(space.shape)
    if isinstance(space, spaces.Box):
        return math.prod(len(next(edges)) + 1 for _ in range(math.prod(space.shape)))
    return math.prod(_states(each, edges) for each in _inner(space))


def _inner(space: spaces.Space[State]) -> list[spaces.Space[State]]:
    """The parts of a Tuple or Dict."""
    assert isinstance(space, spaces.Dict | spaces.Tuple)
    return list(space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces)


def actions_of(space: spaces.Space[State]) -> list[State]:
    """Every action, in order; one sentence where there are infinitely or too many."""
    count = _count(space)
    require(
        count <= MOST_ACTIONS, "action_space", space, f"a space of at most {MOST_ACTIONS} actions, not of {count}: a "
        "wrapper (gymnasium.ActionWrapper) can leave out those that make no difference"
    )  # fmt: skip
    return _values(space)


def _count(space: spaces.Space[State]) -> int:
    if isinstance(space, spaces.Box):
        raise InputError(f"action_space is {shown(space)}, but must have finitely many actions: {DISCRETIZE}.")
    if not isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary | spaces.Tuple | spaces.Dict):
        raise InputError(
            f"action_space is {shown(space)}, but must be Discrete, MultiDiscrete, MultiBinary, or a Tuple or Dict of "
            "these: an ActionWrapper can make it one."
        )
    if isinstance(space, spaces.Tuple | spaces.Dict):
        return math.prod(_count(each) for each in _inner(space))
    return _states(space, iter(()))


def _values(space: spaces.Space[State]) -> list[State]:
    if isinstance(space, spaces.Discrete):
        return list(range(int(space.start), int(space.start) + int(space.n)))
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        ranges = [range(2)] * math.prod(space.shape)
        if isinstance(space, spaces.MultiDiscrete):
            starts = np.broadcast_to(space.start, space.nvec.shape).flat
            ranges = [range(int(s), int(s) + int(n)) for s, n in zip(starts, space.nvec.flat, strict=True)]
        return [np.array(v, dtype=space.dtype).reshape(space.shape) for v in itertools.product(*ranges)]
    if isinstance(space, spaces.Dict):
        keys, parts = list(space.spaces), [_values(each) for each in space.spaces.values()]
        return [dict(zip(keys, v, strict=True)) for v in itertools.product(*parts)]
    assert isinstance(space, spaces.Tuple)
    return list(itertools.product(*(_values(each) for each in space.spaces)))


def written(value: State) -> str:
    """An action or a name as it is shown: short and plain."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {written(each)}" for key, each in value.items())
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(written, value)) + ")"
    return str(value)


def _outside(what: str, value: State, space: object) -> InputError:
    return InputError(
        f"{what} is {shown(value)}, but must be an element of {shown(space)}: mend observation_space, or what reset "
        "and step return."
    )


def _of_discrete(space: spaces.Discrete, what: str) -> Naming:
    first, end = int(space.start), int(space.start) + int(space.n)

    def name(value: State) -> Name:
        if type(value) is not int:
            scalar = isinstance(value, np.integer | np.bool_ | bool)
            scalar = scalar or (isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iub")
            if not scalar:
                raise InputError(
                    f"{what} is {shown(value)}, but must be a whole number of {shown(space)}, int or NumPy's: return "
                    "int(observation)."
                )
            value = int(value)
        if not first <= value < end:
            raise _outside(what, value, space)
        return int(value)

    return name


def _of_wholes(space: spaces.MultiDiscrete | spaces.MultiBinary, what: str) -> Naming:
    if isinstance(space, spaces.MultiDiscrete):
        low = np.broadcast_to(space.start, space.nvec.shape)
        high = low + space.nvec
    else:
        low, high = np.zeros(space.shape, dtype=np.int64), np.full(space.shape, 2)

    def name(value: State) -> Name:
        found = _as_array(what, value)
        if found.dtype.kind not in "iub":
            raise InputError(
                f"{what} has the type {found.dtype}, but must be whole numbers of {shown(space)}: return "
                f"np.array(..., dtype=np.{space.dtype})."
            )
        if found.shape != low.shape or (found < low).any() or (found >= high).any():
            raise _outside(what, value, space)
        return tuple(found.reshape(-1).tolist())

    return name


def _of_box(space: spaces.Box, edges: Sequence[Edges], what: str) -> Naming:
    shape = space.shape
    lists = [list(each) for each in edges]

    def name(value: State) -> Name:
        found = _as_array(what, value)
        if found.dtype.kind not in "iubf" or found.shape != shape:
            raise InputError(
                f"{what} has the shape {found.shape} and the type {found.dtype}, but must be numbers of the shape "
                f"{shape}, as in observation_space: mend what reset and step return."
            )
        readings = found.reshape(-1).tolist()
        for i, x in enumerate(readings):
            if x != x:
                raise InputError(f"{what}[{i}] is nan, but must be a number: no bin holds it, and nothing equals it.")
        return tuple(map(bisect_right, lists, readings))

    return name


def _as_array(what: str, value: State) -> np.ndarray:
    try:
        return np.asarray(value)
    except ValueError:
        raise InputError(f"{what} is {shown(value)}, but must be an array of numbers.") from None


def _of_tuple(parts: Sequence[Naming], what: str) -> Naming:
    def name(value: State) -> Name:
        if not isinstance(value, tuple | list) or len(value) != len(parts):
            raise InputError(f"{what} is {shown(value)}, but must be a tuple of {len(parts)}, as in observation_space.")
        return tuple([part(each) for part, each in zip(parts, value, strict=True)])

    return name


def _of_dict(parts: Mapping[str, Naming], what: str) -> Naming:
    def name(value: State) -> Name:
        if not isinstance(value, Mapping) or set(value) != set(parts):
            raise InputError(
                f"{what} is {shown(value)}, but must be a dict with the keys {', '.join(map(str, parts))}, as in "
                "observation_space."
            )
        return tuple([part(value[key]) for key, part in parts.items()])

    return name
