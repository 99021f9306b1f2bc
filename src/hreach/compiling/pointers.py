"""Functions of an algorithm's own that the kernels call: compiled apart, given to them as pointers.

Formula    (counts of the pair (S,), their total, mean reward, constants (P,)) -> (reach, bonus, radius)
Schedule   (t, parameters (S, A, P), total (S, A), value (S,), q (padded), gamma, v_min, constants (S, A, P), stream)
           -> (when it wants to be asked again, whether anything is to be computed anew): `hreach.kernels.schedule`
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

import numba
import numpy as np
from numba import types
from numba.core import cgutils, sigutils
from numba.core.ccallback import CFunc
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array
from numpy.typing import NDArray

from hreach.compiling import cache, turns
from hreach.compiling.functions import Array
from hreach.compiling.untyped import Untyped
from hreach.errors import InputError

Formula = Callable[[Array, float, float, Array], tuple[float, float, float]]
Schedule = Callable[[float, Array, Array, Array, Array, float, float, Array, NDArray[np.uint64]], tuple[float, float]]


Taken = ParamSpec("Taken")
Given = TypeVar("Given", covariant=True)


class Pointer(Protocol[Taken, Given]):
    """A compiled function: numba knows its type, kernels its address. From Python it is called as what it was."""

    @property
    def address(self) -> int: ...  # noqa: D102

    def __call__(self, *args: Taken.args, **kwargs: Taken.kwargs) -> Given: ...  # noqa: D102


def _flat(dimensions: int) -> types.Array:
    return types.Array(types.float64, dimensions, "C")


_NUMBER = types.float64
_FORMULA = types.UniTuple(_NUMBER, 3)(_flat(1), _NUMBER, _NUMBER, _flat(1))
FORMULA = types.FunctionType(_FORMULA)  # a formula as an argument
_SCHEDULE = types.UniTuple(_NUMBER, 2)(
    _NUMBER, _flat(3), _flat(2), _flat(1), _flat(1), _NUMBER, _NUMBER, _flat(3), types.Array(types.uint64, 1, "C")
)


@functools.cache
def compile_formula(formula: Formula) -> Pointer[[Array, float, float, Array], tuple[float, float, float]]:
    """`formula` as a pointer; compiled once, kept if it lives in a file."""
    return compile_pointer(
        "formula", formula, _FORMULA, "use arithmetic on its arguments and return (reach, bonus, radius)"
    )


@functools.cache
def compile_schedule(
    schedule: Schedule,
) -> Pointer[[float, Array, Array, Array, Array, float, float, Array, NDArray[np.uint64]], tuple[float, float]]:
    """`schedule` as a pointer; compiled once, kept if it lives in a file."""
    return compile_pointer("schedule", schedule, _SCHEDULE, "use arithmetic on its arguments and return (due, changed)")


def compile_pointer(
    kind: str, function: Callable[Taken, Given], signature: Untyped, advice: str
) -> Pointer[Taken, Given]:
    """`function` as a pointer of this signature; `InputError` with some advice where it cannot be compiled."""
    try:
        pointer: Untyped = CFunc(function, sigutils.normalize_signature(signature), {}, {"error_model": "numpy"})
        if function.__closure__ is None and Path(function.__code__.co_filename).is_file():
            pointer._cache = cache.kept(function)
        with turns.compiling():
            pointer.compile()
    except numba.core.errors.NumbaError as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{kind} {function.__name__!r} cannot be compiled ({reason}); {advice}.") from error
    return pointer  # type: ignore[no-any-return]


def at_address(signature: Untyped) -> Callable[[int], Untyped]:
    """The function of this signature at an address, for compiled code to call.

    A pointer can be given to a kernel itself, but then numba asks Python for its address at every call: 6 us, which is
    nothing to a simulation, and ten times what learning takes.
    """
    kind = types.FunctionType(signature)

    @intrinsic  # type: ignore[untyped-decorator]
    def pointer_at(typingctx: Untyped, address: Untyped) -> Untyped:
        def codegen(context: Untyped, builder: Untyped, signature: Untyped, args: Untyped) -> Untyped:
            pointer = cgutils.create_struct_proxy(kind)(context, builder)
            pointer.c_addr = builder.inttoptr(args[0], cgutils.voidptr_t)
            return pointer._getvalue()

        return kind(types.int64), codegen

    return pointer_at  # type: ignore[no-any-return]


formula_at: Callable[[int], Formula] = at_address(_FORMULA)
schedule_at: Callable[[int], Schedule] = at_address(_SCHEDULE)


def arrays_at(dtype: Untyped) -> Callable[[int, tuple[int, ...]], Untyped]:
    """(address, shape) -> the array of this dtype in C order that lies there, for compiled code to use.

    To hand over an array takes 25 ns; an address takes nothing. Whoever hands it over keeps the array alive.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def array_at(typingctx: Untyped, address: Untyped, shape: Untyped) -> Untyped:
        kind = types.Array(dtype, len(shape), "C")

        def codegen(context: Untyped, builder: Untyped, signature: Untyped, args: Untyped) -> Untyped:
            array, size = make_array(kind)(context, builder), context.get_abi_sizeof(context.get_data_type(dtype))
            lengths, strides = cgutils.unpack_tuple(builder, args[1]), [context.get_constant(types.intp, size)]
            for length in lengths[:0:-1]:
                strides.insert(0, builder.mul(strides[0], length))
            memory = builder.inttoptr(args[0], array.data.type)
            populate_array(array, memory, lengths, strides, strides[-1], meminfo=None)
            return array._getvalue()

        return kind(types.int64, shape), codegen

    return array_at  # type: ignore[no-any-return]


floats_at: Callable[[int, tuple[int, ...]], Array] = arrays_at(types.float64)
flags_at: Callable[[int, tuple[int, ...]], NDArray[np.bool_]] = arrays_at(types.boolean)
