"""Plain data as text and bytes, and back: the same types, the same bits, and shared where it was shared.

Plain are None, numbers, texts, bytes, NumPy's arrays, numbers and generators, and lists, tuples, tables and queues of
such. The text is JSON: what JSON has stands for itself, everything else is a list that begins with its kind. Arrays
are in the bytes, one after the other. Decoding makes nothing but these types, whatever the text says.
"""

from __future__ import annotations

import json
from collections import deque
from itertools import pairwise
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hreach.errors import InputError

_KINDS = "biufcSU"  # of arrays; none of them holds objects
# Gymnasium's generators are of the first kind. Others keep a place in a buffer, which NumPy would take unchecked.
_BITS = {"PCG64": np.random.PCG64, "PCG64DXSM": np.random.PCG64DXSM}
_POOL = 4  # words of a seed sequence, unless somebody asks for more
_ITSELF = (type(None), bool, int, float, str)
Value = Any  # plain data, whose kind is known only when it is looked at


class NotPlainError(Exception):
    """The message says what is not plain data."""


def encode(value: object) -> tuple[str, bytes]:
    """`value` as (text, bytes); `NotPlainError` if it is not plain data."""
    writer = _Writer()
    try:
        text = json.dumps(writer.node(value))
    except RecursionError:
        raise NotPlainError("nested too deeply") from None
    writer.check_overlaps()
    return text, b"".join(writer.data)


def decode(text: str, data: bytes) -> Value:
    """What was encoded; `InputError` if nothing can have been encoded like this."""
    try:
        return _Reader(data).node(json.loads(text))
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
        raise InputError("what was saved is damaged: it cannot be decoded.") from error


class _Writer:
    """Encodes one value; what can change is numbered as it is met, so that a second mention is the same thing."""

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self._met: dict[int, int] = {}
        self._kept: list[object] = []  # what has a number must live on, or another object might get its id
        self._arrays: list[NDArray[Value]] = []

    def node(self, value: Value) -> object:
        kind = type(value)
        if kind in _ITSELF:
            return value
        if kind is bytes:
            self.data.append(value)
            return ["bytes", len(value)]
        if kind is tuple:
            return ["tuple", *map(self.node, value)]
        if isinstance(value, np.generic):
            return ["number", *self._array(np.asarray(value))]
        if id(value) in self._met:
            return ["same", self._met[id(value)]]
        self._met[id(value)] = len(self._met)
        self._kept.append(value)
        return self._changing(value, kind)

    def _changing(self, value: Value, kind: type) -> object:
        if kind is list:
            return ["list", *map(self.node, value)]
        if kind is dict:
            return ["table", *([self.node(name), self.node(inner)] for name, inner in value.items())]
        if kind is deque:
            return ["queue", value.maxlen, *map(self.node, value)]
        if kind is np.ndarray:
            self._arrays.append(value)
            return ["array", *self._array(value), bool(value.flags.writeable)]
        if kind is np.random.Generator:
            return self._generator(value)
        raise NotPlainError(f"of the type {kind.__name__!r}")

    def _array(self, value: NDArray[Value]) -> tuple[str, list[int], str]:
        """How the array is read again; another order in memory could add up to other bits later."""
        if value.dtype.kind not in _KINDS:
            raise NotPlainError(f"an array of {value.dtype}")
        if not (value.flags.c_contiguous or value.flags.f_contiguous):
            raise NotPlainError("an array with gaps in memory")
        order = "C" if value.flags.c_contiguous else "F"
        self.data.append(value.tobytes(order=cast(Value, order)))
        return value.dtype.str, list(value.shape), order

    def _generator(self, value: np.random.Generator) -> object:
        """The generator's bits, and its seeds, from which others may be spawned."""
        bits = value.bit_generator
        seeds = cast(Value, bits).seed_seq
        ours = type(bits) in _BITS.values() and type(seeds) is np.random.SeedSequence and seeds.pool_size == _POOL
        if not ours:
            raise NotPlainError(f"a generator with {type(bits).__name__}, not the PCG64 that Gymnasium makes")
        spawned = [seeds.entropy, seeds.spawn_key, seeds.n_children_spawned]
        return ["generator", type(bits).__name__, dict(bits.state), *map(self.node, spawned)]

    def check_overlaps(self) -> None:
        """Two arrays that share memory would not share it afterwards."""
        spans = sorted(_span(array) for array in self._arrays if array.size)
        if any(begin < end for (_, end), (begin, _) in pairwise(spans)):
            raise NotPlainError("an array that shares its memory with another one")


def _span(array: NDArray[Value]) -> tuple[int, int]:
    begin = array.__array_interface__["data"][0]
    return begin, begin + array.nbytes


class _Reader:
    """Decodes one value, with everything checked against the bytes that are there."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._met: list[object] = []

    def node(self, said: Value) -> Value:
        if type(said) in _ITSELF:
            return said
        kind, *rest = said
        return getattr(self, f"_{_known(kind)}")(*rest)

    def _bytes(self, size: int) -> bytes:
        if not 0 <= size <= len(self._data) - self._at:
            raise ValueError(size)
        self._at += size
        return self._data[self._at - size : self._at]

    def _tuple(self, *inner: Value) -> tuple[Value, ...]:
        return tuple(map(self.node, inner))

    def _same(self, number: int) -> Value:
        return self._met[number]

    def _list(self, *inner: Value) -> list[Value]:
        result: list[Value] = []
        self._met.append(result)
        result.extend(map(self.node, inner))
        return result

    def _table(self, *pairs: Value) -> dict[Value, Value]:
        result: dict[Value, Value] = {}
        self._met.append(result)
        result.update((self.node(name), self.node(inner)) for name, inner in pairs)
        return result

    def _queue(self, most: int | None, *inner: Value) -> deque[Value]:
        result: deque[Value] = deque(maxlen=most)
        self._met.append(result)
        result.extend(map(self.node, inner))
        return result

    def _number(self, dtype: str, shape: list[int], order: str) -> Value:
        return self._read(dtype, shape, order)[()]

    def _array(self, dtype: str, shape: list[int], order: str, changes: bool) -> NDArray[Value]:
        result = self._read(dtype, shape, order)
        result.flags.writeable = changes
        self._met.append(result)
        return result

    def _read(self, dtype: str, shape: list[int], order: Value) -> NDArray[Value]:
        kind = np.dtype(dtype)
        if kind.kind not in _KINDS or min(shape, default=0) < 0:
            raise ValueError(dtype)
        size = prod(shape) * kind.itemsize
        return np.frombuffer(self._bytes(size), kind, prod(shape)).reshape(shape, order=order).copy(order=order)

    def _generator(self, name: str, state: Value, *seeds: Value) -> np.random.Generator:
        place = len(self._met)
        self._met.append(None)
        entropy, key, spawned = map(self.node, seeds)
        bits = _BITS[name](np.random.SeedSequence(entropy, spawn_key=key, n_children_spawned=spawned))
        bits.state = state
        self._met[place] = result = np.random.Generator(bits)
        return result


def _known(kind: object) -> object:
    if kind not in ("bytes", "tuple", "same", "list", "table", "queue", "number", "array", "generator"):
        raise ValueError(kind)
    return kind
