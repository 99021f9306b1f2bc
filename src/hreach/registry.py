"""Names for agents and domains. An entry is imported only when it is used, so listing them is quick."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from hreach.errors import InputError, unknown_name


@dataclass(frozen=True)
class Entry:
    """Where a thing is ("module:name"), what it is in one line, and whom to cite."""

    target: str
    description: str
    citation: str
    gymnasium_id: str = ""

    def load(self) -> Callable[..., Any]:
        """The function or class itself."""
        module, name = self.target.split(":")
        return getattr(import_module(module), name)  # type: ignore[no-any-return]

    def build(self, what: str, params: Mapping[str, Any], *args: Any) -> Any:
        """Call it; a parameter that it does not have is named, with the nearest one that it has."""
        function = self.load()
        check_parameters(what, function, params, given=len(args))
        return function(*args, **params)


def lookup(kind: str, name: str, entries: Mapping[str, Entry]) -> Entry:
    """The entry of this name, or an error that suggests the nearest name."""
    if name not in entries:
        raise unknown_name(kind, name, entries)
    return entries[name]


def check_parameters(
    what: str,
    function: Callable[..., Any],
    params: Mapping[str, Any],
    given: int = 0,
    also: Iterable[str] = (),
) -> None:
    """Refuse parameters that `function` does not take (after the first `given`) and name missing ones.

    `also` are names that are taken elsewhere, to be suggested.
    """
    signature = list(inspect.signature(function).parameters.values())[given:]
    names = {p.name for p in signature}
    for name in params:
        if name not in names:
            raise unknown_name(f"parameter of {what}", name, names | set(also))
    for p in signature:
        if p.default is inspect.Parameter.empty and p.name not in params:
            raise InputError(f"{what} needs the parameter {p.name!r}.")


def parameters_of(function: Callable[..., Any]) -> list[str]:
    """Names of a function's parameters."""
    return list(inspect.signature(function).parameters)


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """A function's parameters that have a default, with it."""
    signature = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in signature if p.default is not inspect.Parameter.empty}
