"""Gymnasium ids of the domains. Importing Gymnasium takes longer than the rest of hreach, so ids wait until it is here.

Gymnasium finds an id only after `register`, and has had no plugins since 1.0; so where it is not imported yet, a finder
that stands first in `sys.meta_path` registers the ids at the end of that import, and steps aside.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

REGISTRATION = "gymnasium.envs.registration"


def register(targets: Mapping[str, str]) -> None:
    """Make `gymnasium.make(id)` build the target ("module:name") of each id: now, or when Gymnasium is imported."""

    def register_all() -> None:
        from gymnasium.envs.registration import register as register_one

        for name, target in targets.items():
            register_one(id=name, entry_point=target)

    if REGISTRATION in sys.modules:
        register_all()
    else:
        sys.meta_path.insert(0, _AfterImport(REGISTRATION, register_all))


class _AfterImport:
    """A finder that calls `then` once, after the module of this name was imported; others find and load it."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name, self._then = name, then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders say; the module's loader calls `then` in the end."""
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self._then()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
