"""Names for agents and domains, open to those of other projects.

A thing is named by a name of hreach, by an entry point that an installed distribution offers (groups `hreach.agents`
and `hreach.domains`), by "module:name", or is given as an object. What a name stands for is imported only when it is
used, so listing them is quick.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hreach.errors import InputError, nearest, require, shown, unknown_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Factory = Callable[..., Any]
Params = Mapping[str, Any]  # of an agent, a domain or a feature map, by name
Thing = str | Factory
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_ONLY)


@dataclass(frozen=True)
class Entry:
    """Where a thing is ("module:name"), what it is in one line, and whom to cite."""

    target: str
    description: str
    citation: str
    gymnasium_id: str = ""

    def load(self) -> Factory:
        """The function or class itself."""
        module, name = self.target.split(":")
        return attrgetter(name)(import_module(module))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Found:
    """What a name stands for.

    label     what messages call it
    factory   the function or class that makes it
    modules   those of other projects whose source decides what it does
    """

    label: str
    factory: Factory
    modules: tuple[str, ...] = ()


def find(kind: str, thing: Thing, entries: Mapping[str, Entry], group: str) -> Found | None:
    """What `thing` stands for, or None for a name that is neither ours, nor offered, nor "module:name"."""
    if not isinstance(thing, str):
        require(callable(thing), kind, thing, "a name, 'module:name' or a callable that makes one")
        return Found(_label(thing), thing)
    if thing in entries:
        return Found(repr(thing), entries[thing].load())
    if ":" in thing:
        return load(kind, thing)
    point = offered(group).get(thing)
    return None if point is None else load(kind, point.value, thing)


def offered(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group that installed distributions offer, by name; of two of a name the first."""
    from importlib.metadata import entry_points

    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        points.setdefault(point.name, point)
    return points


def load(kind: str, target: str, name: str | None = None) -> Found:
    """What "module:name" stands for; `name` is what it was called, if otherwise."""
    module_name, _, attribute = target.partition(":")
    called = target if name is None else name
    module = imported(kind, called, module_name)
    try:
        factory = attrgetter(attribute)(module)
    except AttributeError:
        raise InputError(f"{kind} is {called!r}, but {lacking(module, attribute)}.") from None
    require(callable(factory), kind, called, f"something to call, and {attribute!r} is {shown(factory)}")
    modules = {module_name, inspect.unwrap(factory).__module__ if inspect.isroutine(factory) else factory.__module__}
    return Found(repr(called), factory, tuple(sorted(m for m in modules if m.partition(".")[0] != "hreach")))


def imported(kind: str, called: str, module: str) -> ModuleType:
    """The module, or one sentence on why it cannot be imported."""
    require(all(part.isidentifier() for part in module.split(".")), kind, called, "'module:name' or a known name")
    try:
        return import_module(module)
    except Exception as error:  # whatever the module's own code comes upon
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{kind} is {called!r}, but module {module!r} cannot be imported ({why}).") from error


def import_plugins(modules: Sequence[str]) -> None:
    """Import modules for what they register, such as environments with Gymnasium."""
    for module in modules:
        imported("plugins", module, module)


def lacking(module: ModuleType, attribute: str) -> str:
    """That a module has no such name, with the nearest one that it has."""
    close = nearest(attribute, [name for name in vars(module) if not name.startswith("_")])
    return f"module {module.__name__!r} has no {attribute!r}" + (f" (did you mean {close!r}?)" if close else "")


def reference(thing: Thing) -> str | None:
    """The text by which another process finds the same thing, or None if there is none.

    Of an object it is "module:name", unless it was made inside a function or in the script that is being run.
    """
    if isinstance(thing, str):
        return thing
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return None
    module, name = thing.__module__, thing.__qualname__
    if module == "__main__" or "<" in name:
        return None
    try:
        same = attrgetter(name)(sys.modules[module]) is thing
    except (AttributeError, KeyError):
        return None
    return f"{module}:{name}" if same else None


def source_digest(module: str) -> str:
    """Sixteen hexadecimal digits of SHA-256 over a module's source file; "" of one without a file."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return ""
    return hashlib.sha256(Path(spec.origin).read_bytes().replace(b"\r\n", b"\n")).hexdigest()[:16]


def check_parameters(
    what: str,
    function: Factory,
    params: Mapping[str, object],
    given: int = 0,
    also: Iterable[str] = (),
) -> None:
    """Refuse parameters that `function` does not take (after the first `given`) and name missing ones.

    `also` are names that are taken elsewhere, to be suggested.
    """
    signature = _signature(function)[given:]
    names = {p.name for p in signature if p.kind in _NAMED}
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature)
    for name in params:
        if name not in names and not takes_any:
            raise unknown_name(f"parameter of {what}", name, names | set(also))
    for p in signature:
        if p.kind in _NAMED and p.default is inspect.Parameter.empty and p.name not in params:
            raise InputError(f"{what} needs the parameter {p.name!r}.")


def takes(function: Factory, name: str) -> bool:
    """Whether a function can be given a parameter of this name."""
    return any(p.name == name or p.kind is inspect.Parameter.VAR_KEYWORD for p in _signature(function))


def parameters_of(function: Factory) -> list[str]:
    """Names of a function's parameters."""
    return [p.name for p in _signature(function)]


def defaults_of(function: Factory) -> dict[str, object]:
    """A function's parameters that have a default, with it."""
    return {p.name: p.default for p in _signature(function) if p.default is not inspect.Parameter.empty}


def _signature(function: Factory) -> list[inspect.Parameter]:
    """A function's parameters; of one that does not tell them, that it takes any."""
    try:
        return _known_signature(function)  # the rows of a study ask over and over
    except TypeError:  # it has no hash
        return _read_signature(function)


@lru_cache(maxsize=256)
def _known_signature(function: Factory) -> list[inspect.Parameter]:
    return _read_signature(function)


def _read_signature(function: Factory) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        anything = inspect.Parameter("params", inspect.Parameter.VAR_KEYWORD)
        return [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL), anything]


def _label(thing: Factory) -> str:
    named = thing if inspect.isclass(thing) or inspect.isroutine(thing) else type(thing)
    return repr(named.__qualname__)
