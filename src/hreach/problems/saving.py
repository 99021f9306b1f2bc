"""An environment as plain data, and back.

An environment that has `state_dict` and `load_state_dict` says itself what its state is. Of any other one the state is
its attributes, and those of each of its wrappers, if that is sure to be all: every attribute is plain data
(`hreach.problems.plain`) or one of the few things that stay as they are (a space, an MDP, a class, a function with a
name), and its class hides nothing. In doubt an environment cannot be saved, and `why_not_saved` says why.

An attribute that did not change since the run began belongs to what the environment was made with: an environment
that has another value there is another one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Protocol, TypeGuard

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import PassiveEnvChecker

from hreach.errors import InputError, require
from hreach.problems.mdp import TabularMDP
from hreach.problems.plain import NotPlainError, Value, encode

_OWN = "its own state"
_OF_CLASS = "class "
# Of these a class may hold some; how they are shown tells whether they have changed.
_SHOWN = (type(None), bool, int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset)


class NotSavedError(Exception):
    """The message is a clause that says why."""


class SavesItself(Protocol):
    """An environment or an agent that says what its state is."""

    def state_dict(self) -> Mapping[str, Value]:
        """Everything that changed since construction: plain data by name."""

    def load_state_dict(self, saved: Value, /) -> None:
        """Go on from it."""


def saves_itself(thing: object) -> TypeGuard[SavesItself]:
    """By methods of its class: what only hands questions on to something else has a state of its own as well."""
    return all(callable(getattr(type(thing), name, None)) for name in ("state_dict", "load_state_dict"))


class _Nothing:
    """The size of an object without slots and without a base that is not written in Python."""


@dataclass(frozen=True)
class Picture:
    """An environment at one moment.

    state   its plain data by name: what is put back
    marks   a digest of every attribute, by the same names and those of what cannot be put back
    """

    state: dict[str, Value]
    marks: dict[str, str]


def why_not_saved(env: object) -> str | None:
    """Why the state of this environment cannot be saved, as a clause; None if it can."""
    try:
        encode(picture(env).state)
    except (NotSavedError, NotPlainError) as error:
        return str(error)
    return None


def marks_of(env: object) -> dict[str, str]:
    """A digest of every attribute, by name; of none if the environment cannot be saved as it is."""
    try:
        return picture(env).marks
    except NotSavedError:
        return {}


def picture(env: object, begun: Mapping[str, str] | None = None) -> Picture:
    """The environment as it is; `begun` are its marks when the run began. `NotSavedError` if it cannot be saved."""
    state: dict[str, Value] = {}
    marks: dict[str, str] = {}
    for number, layer in enumerate(layers(env)):
        for name, value in _fields(layer).items():
            field = f"{number}.{name}"
            try:
                fixed = _fixed(layer, name, value)
                marks[field] = _digest(*encode(value)) if fixed is None else fixed
            except NotPlainError as error:
                raise NotSavedError(f"{_place(layer, name)} is {error}") from None
            if fixed is None:
                state[field] = value
            elif begun is not None and begun.get(field) != fixed:
                raise NotSavedError(f"{_place(layer, name)} has changed and cannot be put back")
    return Picture(state, marks)


def layers(env: object) -> Iterator[Value]:
    """The environment and, if it is a wrapper, what is inside it, from the outermost; what only checks is left out."""
    while isinstance(env, gymnasium.Wrapper):
        if not isinstance(env, PassiveEnvChecker):
            yield env
        env = env.env
    yield env


def kind_of(env: object) -> list[str]:
    """The classes of its layers."""
    return [f"{type(layer).__module__}:{type(layer).__qualname__}" for layer in layers(env)]


def check_made_alike(
    env: object, begun: Mapping[str, str], then: Mapping[str, str], state: Mapping[str, Value]
) -> None:
    """`InputError` if the environment, which was reset with the run's seed, is not the one that was saved.

    begun, then   its marks when the run began and when it was saved: what is equal in both, the run does not change
    state         what is to be put back
    """
    own = {f"{number}.{_OWN}" for number, layer in enumerate(layers(env)) if saves_itself(layer)}
    require(own <= state.keys(), "state of the environment", sorted(state), "that of every part which saves itself")
    now = picture(env).marks
    for field in sorted(now.keys() & begun.keys() & then.keys()):
        number, _, name = field.partition(".")
        made_with = name != _OWN and not name.startswith(_OF_CLASS)
        if made_with and begun[field] == then[field] != now[field]:
            place = _place(list(layers(env))[int(number)], name)
            raise InputError(f"env is not the one that was saved, but must be made alike: {place} is another one.")


def put_back(env: object, state: Mapping[str, Value]) -> None:
    """Make the environment what `picture` saw: attributes that it did not have then are taken away."""
    for number, layer in enumerate(layers(env)):
        prefix = f"{number}."
        saved = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
        if saves_itself(layer):
            layer.load_state_dict(saved[_OWN])
            continue
        for name, value in _fields(layer).items():
            if name not in saved and _fixed(layer, name, value) is None:
                del vars(layer)[name]
        vars(layer).update(saved)


def _fields(layer: Value) -> dict[str, Value]:
    """What may be state, by name."""
    if saves_itself(layer):
        return {_OWN: layer.state_dict()}
    if type(layer).__basicsize__ != _Nothing.__basicsize__:
        raise NotSavedError(f"{type(layer).__name__} may have a state outside its attributes")
    of_classes = {
        f"{_OF_CLASS}{name}": value
        for kind in reversed(type(layer).__mro__)
        for name, value in vars(kind).items()
        if _may_change(name, value)
    }
    return of_classes | {name: value for name, value in vars(layer).items() if not _left_out(layer, name, value)}


def _may_change(name: str, value: object) -> bool:
    """Whether something that a class holds, for all of its kind, is more than code."""
    private = name.startswith("__") or name == "_abc_impl"
    return not (private or callable(value) or hasattr(value, "__get__"))


def _left_out(layer: object, name: str, value: object) -> bool:
    """The next layer, and how Gymnasium would make this one."""
    return isinstance(value, EnvSpec) or (isinstance(layer, gymnasium.Wrapper) and name in ("env", "_cached_spec"))


def _fixed(layer: object, name: str, value: object) -> str | None:
    """A digest of what stays as it is and cannot be put back; None of anything else."""
    if name.startswith(_OF_CLASS):
        return _digest(repr(value)) if isinstance(value, _SHOWN) else _digest(*encode(value))
    if isinstance(value, gymnasium.Space):
        if _has_drawn(value):
            raise NotSavedError(f"{_place(layer, name)} is a space that has drawn random numbers")
        return _digest(repr(value))
    if type(value) is TabularMDP:
        arrays = [value.indptr, value.next_state, value.probability, value.reward, value.end, value.start]
        return _digest(*encode([value.gamma, value.actions, *(array.copy() for array in arrays)]))
    if isinstance(value, type) or (isinstance(value, FunctionType) and not value.__closure__ and not vars(value)):
        full = f"{value.__module__}:{value.__qualname__}"
        if "<" in full:  # another one might have the same name
            raise NotSavedError(f"{_place(layer, name)} is a function without a name")
        return _digest(full)
    return None


def _has_drawn(space: Value) -> bool:
    inner = getattr(space, "spaces", ())
    parts = inner.values() if isinstance(inner, Mapping) else inner
    return space._np_random is not None or any(map(_has_drawn, parts))


def _place(layer: object, name: str) -> str:
    return f"{name if name == _OWN else repr(name)} of {type(layer).__name__}"


def _digest(text: str, data: bytes = b"") -> str:
    return hashlib.sha256(text.encode() + b"|" + data).hexdigest()[:16]
