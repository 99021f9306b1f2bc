"""Four numbers at a time: a block of four pairs is one vector of the processor.

    load(array, i)      array[i : i + 4], i counted in the array laid flat
    store(array, i, x)  array[i : i + 4] <- x
    put(array, i, c)    array[i] <- c
    times(x, c)         c x, c a number
    plus(x, y)          x + y

Each lane is computed as a number of its own would be, product and sum rounded apart: the same bits, four at once. The
arrays are C-contiguous and made of whole blocks, which nothing checks.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

from hreach.compiling import Untyped

_VECTOR = ir.VectorType(ir.DoubleType(), 4)


class _Lanes(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name="Lanes")


_LANES = _Lanes()


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Untyped, kind: Untyped) -> None:
        super().__init__(manager, kind, _VECTOR)


def _place(context: Untyped, builder: Untyped, signature: Untyped, args: Untyped) -> Untyped:
    """Pointer to the four numbers of the array args[0] from args[1] on."""
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    return builder.bitcast(builder.gep(data, [args[1]]), _VECTOR.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def load(typingctx: Untyped, array: Untyped, i: Untyped) -> Untyped:
    """array[i : i + 4], the array laid flat."""

    def codegen(context: Untyped, builder: Untyped, signature: Untyped, args: Untyped) -> Untyped:
        return builder.load(_place(context, builder, signature, args), align=8)

    return _LANES(array, types.intp), codegen


@intrinsic  # type: ignore[untyped-decorator]
def store(typingctx: Untyped, array: Untyped, i: Untyped, x: Untyped) -> Untyped:
    """array[i : i + 4] <- x, the array laid flat."""

    def codegen(context: Untyped, builder: Untyped, signature: Untyped, args: Untyped) -> Untyped:
        builder.store(args[2], _place(context, builder, signature, args), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, x), codegen


@intrinsic  # type: ignore[untyped-decorator]
def times(typingctx: Untyped, x: Untyped, c: Untyped) -> Untyped:
    """c x, c a number."""

    def codegen(context: Untyped, builder: Untyped, signature: Untyped, args: Untyped) -> Untyped:
        return builder.fmul(args[0], _spread(builder, args[1]))

    return _LANES(x, types.float64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def plus(typingctx: Untyped, x: Untyped, y: Untyped) -> Untyped:
    """x + y."""

    def codegen(context: Untyped, builder: Untyped, signature: Untyped, args: Untyped) -> Untyped:
        return builder.fadd(*args)

    return _LANES(x, y), codegen


@intrinsic  # type: ignore[untyped-decorator]
def put(typingctx: Untyped, array: Untyped, i: Untyped, number: Untyped) -> Untyped:
    """array[i] <- number, the array laid flat, by storing the whole block of i.

    A `load` soon after a store of one lane would wait until that has reached the cache; a whole block is handed on.
    """

    def codegen(context: Untyped, builder: Untyped, signature: Untyped, args: Untyped) -> Untyped:
        lane = builder.and_(args[1], args[1].type(3))
        place = _place(context, builder, signature, [args[0], builder.sub(args[1], lane)])
        lanes = ir.Constant(ir.VectorType(lane.type, 4), [0, 1, 2, 3])
        chosen = builder.icmp_signed("==", lanes, _spread(builder, lane))
        changed = builder.select(chosen, _spread(builder, args[2]), builder.load(place, align=8))
        builder.store(changed, place, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.float64), codegen


def _spread(builder: Untyped, number: Untyped) -> Untyped:
    """The number in all four lanes."""
    vector = ir.VectorType(number.type, 4)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), 4), [0, 0, 0, 0]))
