"""Compiling once: functions kept on disk, and a word on the screen while it happens."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

import numba
import numpy as np
from numba.core import event
from numpy.typing import NDArray

from hreach.compiling import cache as caching
from hreach.compiling import turns
from hreach.compiling.untyped import Untyped
from hreach.errors import require

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

require(
    not numba.config.DISABLE_JIT,
    "NUMBA_DISABLE_JIT",
    numba.config.DISABLE_JIT,
    "0 or unset (what hreach compiles steps random numbers and calls formulas in ways that Python cannot)",
)

Array = NDArray[np.float64]
at = np.uintp  # x[at(i)]: i is not below 0. Of a signed index compiled code asks each time if it counts from the end
F = TypeVar("F", bound=Callable[..., object])

# Kernels allocate nothing, so numba need not count references (_nrt): counting cost twice what planning does, and
# two threads would wait for each other's counters. Nobody calls them from C (no_cfunc_wrapper).
_OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


class _Announce(event.Listener):  # type: ignore[misc]
    """Says once, on the error stream, that a compilation has begun; once for all processes that share a flag."""

    said = False
    shared: Synchronized[int] | None = None  # a multiprocessing.Value, true once one of the processes has spoken

    def on_start(self, event: Untyped) -> None:
        if self.said:
            return
        self.said = True
        if self.shared is not None:
            with self.shared.get_lock():
                before, self.shared.value = self.shared.value, True
            if before:
                return
        sys.stderr.write(f"hreach: {_words()} ...\n")
        sys.stderr.flush()

    def on_end(self, event: Untyped) -> None:
        pass


def _words() -> str:
    if caching.lost():
        return "compiling (10 to 30 s; not kept, as no folder can be written: set NUMBA_CACHE_DIR to one)"
    return "compiling once (10 to 30 s, kept for the next time)"


_announce = _Announce()


def announced() -> bool:
    """Whether this process has said that it compiles."""
    return _announce.said


def announce_with(shared: Synchronized[int]) -> None:
    """Of the processes with this flag (`multiprocessing.Value("b")`) only one says that it compiles."""
    _announce.shared = shared


def compiled(function: F) -> F:
    """`function` compiled on first call and kept on disk."""
    return _njit(function)


def inner(function: F) -> F:
    """`compiled`, for compiled callers alone: what reads a dozen arrays out of Python's tuples is much to compile."""
    return _inner(function)


def inlined(function: F) -> F:
    """`inner`, and merged into its compiled callers: passing a dozen arrays costs more than a sweep."""
    return _inner(function, forceinline=True)


def inlined_too(function: F) -> F:
    """`inlined`, and Python can call it as well."""
    return _njit(function, forceinline=True)


def merged(function: F) -> F:
    """Written out in its compiled callers before they are compiled, so never compiled by itself.

    For what is long and has few callers: `inlined` would compile and optimise it once alone and again in each caller.
    """
    return _njit(function, inline="always")


def inlined_with(*freedom: str) -> Callable[[F], F]:
    """`inlined`, for loops over numbers that must run four lanes wide: the arithmetic gets some freedom to round.

    "contract" fuses a b + c into one rounding; "reassoc" and "nsz" let a sum be taken in another, fixed order.
    """
    return functools.partial(_inner, forceinline=True, fastmath=set(freedom))


def _inner(function: F, **options: object) -> F:
    """Without what Python would need to call it; numba itself would then jump to an address that is none."""
    dispatcher: Untyped = _njit(function, no_cpython_wrapper=True, **options)

    def refuse(*args: object, **named: object) -> None:
        raise TypeError(f"{function.__name__} can be called by compiled functions only")

    dispatcher._compile_for_args = refuse  # what a call from Python comes to where no compiled version is known,
    dispatcher._insert = lambda *version: None  # and none is made known: compiled callers look elsewhere
    return dispatcher  # type: ignore[no-any-return]


def _njit(function: F, **options: object) -> F:
    dispatcher = numba.njit(**_OPTIONS, **options)(function)
    dispatcher._cache = caching.kept(function, _words_of({**_OPTIONS, **options}))
    dispatcher.compile = turns.compiling()(dispatcher.compile)
    return dispatcher  # type: ignore[no-any-return]


def _words_of(options: Mapping[str, object]) -> str:
    """The options as text that is the same in every process: the order of a set is not."""
    return repr([(name, sorted(v) if isinstance(v, set) else v) for name, v in sorted(options.items())])


def announcing(function: F) -> F:
    """Tell the user when the first call of `function` has to compile; later calls cost nothing."""
    called = False

    @functools.wraps(function)
    def call(*args: object) -> object:
        nonlocal called
        if called or _announce.said:
            return function(*args)
        event.register("numba:compile", _announce)
        try:
            result = function(*args)
        finally:
            event.unregister("numba:compile", _announce)
        called = True
        return result

    return call  # type: ignore[return-value]


def resolved(function: F, *arguments: object) -> F:
    """The machine code of a compiled `function` for arguments of the types of these, found or made once.

    Otherwise numba reads the type of every argument, and of every array in a tuple, at each call, which takes ten times
    as long as planning does. What is returned trusts its arguments to be of these types. Tells when it has to compile.
    """
    machine_code = announcing(function.compile)  # type: ignore[attr-defined]
    return machine_code(tuple(numba.typeof(value) for value in arguments))  # type: ignore[no-any-return]
