"""Columns of a chunk as codes of names, as numbers, as truths; what cannot be one is marked and says why.

A column of N values is encoded first: its distinct values are looked at one by one in Python, its rows by NumPy only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hreach.errors import InputError, shown
from hreach.logs.columns import JOIN, MISSING, Bins
from hreach.protocols import Bools, Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

_TRUE, _FALSE = {"true", "t", "yes", "y", "1", "1.0"}, {"false", "f", "no", "n", "0", "0.0"}
MOST = 100_000  # different values of a column in one chunk


class Named(NamedTuple):
    """Values (N,) as codes of names; `why` says of a code that it stands for no name ("" if it does)."""

    codes: Ints
    names: list[str]
    why: list[str]

    @property
    def bad(self) -> Bools:
        """(N,) which values are no names."""
        return np.array([bool(why) for why in self.why] or [False])[self.codes]

    def reason(self, row: int) -> str:
        """Why this value is none."""
        return self.why[int(self.codes[row])]


class Numbers(NamedTuple):
    """Values (N,) as numbers, NaN where they are none; `reason` says why."""

    values: Floats
    reason: Callable[[int], str]


def named(column: pa.Array, single: bool = True) -> Named:
    """The values as names of one line; unless `single`, they may not hold what joins several."""
    codes, values = _encoded(column)
    found = [_name(value, single) for value in values]
    return Named(codes, [name for name, _ in found], [why for _, why in found])


def binned(column: pa.Array, bins: Bins) -> Named:
    """The bins that the values lie in."""
    found = numbers(column)
    bad = np.isnan(found.values)
    codes = np.where(bad, 0, bins.numbers(np.where(bad, 0.0, found.values)))
    rows = np.flatnonzero(bad)
    # Each bad value gets a code of its own, for its own reason.
    shown_rows = rows[:MOST]
    codes[rows] = len(bins.names)
    codes[shown_rows] = len(bins.names) + np.arange(shown_rows.size)
    reasons = [found.reason(row) for row in shown_rows.tolist()]
    return Named(codes, bins.names + [""] * len(reasons), [""] * len(bins.names) + reasons)


def joined(parts: Sequence[Named], columns: Sequence[str]) -> Named:
    """A state of several columns: the names of its parts, with a bar between them."""
    if len(parts) == 1:
        one = parts[0]
        return Named(one.codes, one.names, [why and f"{columns[0]} {why}" for why in one.why])
    if math.prod(len(part.names) for part in parts) > 1 << 62:
        raise InputError(f"{', '.join(columns)} have too many different values; put numbers into bins.")
    codes = np.zeros_like(parts[0].codes)
    for part in parts:
        codes = codes * len(part.names) + part.codes
    import pyarrow as pa

    encoded = pa.array(codes).dictionary_encode()
    names, whys = [], []
    for code in encoded.dictionary.to_pylist():
        places = []
        for part in reversed(parts):
            code, place = divmod(code, len(part.names))
            places.append(place)
        own = list(zip(columns, parts, reversed(places), strict=True))
        names.append(JOIN.join(part.names[place] for _, part, place in own))
        whys.append(next((f"{name} {part.why[place]}" for name, part, place in own if part.why[place]), ""))
    return Named(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), names, whys)


def numbers(column: pa.Array) -> Numbers:
    """The values as finite numbers."""
    values = _quick(column)
    if values is None:
        texts = column.to_pylist()
        values = np.array([_number(text) for text in texts], dtype=np.float64)
    values[~np.isfinite(values)] = np.nan

    def reason(row: int) -> str:
        text = _plain(column[row].as_py())
        if text in (None, ""):
            return MISSING
        finite = isinstance(text, float) or (isinstance(text, str) and not math.isnan(_number(text)))
        word = "a finite number" if finite or str(text).strip().lower() in ("nan", "-nan") else "a number"
        return f"is {shown(text)}, but must be {word}"

    return Numbers(values, reason)


def truths(column: pa.Array) -> Named:
    """The values as codes 0 (false) and 1 (true); others are marked."""
    codes, values = _encoded(column)
    place, why = [], ["", ""]
    for value in values:
        text = _plain(value)
        word = str(text).strip().lower()
        if text is not None and (word in _TRUE or word in _FALSE):
            place.append(int(word in _TRUE))
        else:
            place.append(len(why))
            why.append(MISSING if text in (None, "") else f"is {shown(text)}, but must be true or false (or 1 or 0)")
    return Named(np.array(place or [0], dtype=np.int64)[codes], ["false", "true", *[""] * (len(why) - 2)], why)


def _encoded(column: pa.Array) -> tuple[Ints, list[object]]:
    """Codes (N,) of the distinct values, and these."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    encoded = column.dictionary_encode(null_encoding="encode")
    values = encoded.dictionary
    if len(values) > MOST:
        raise InputError(
            f"a column has more than {MOST:,} different values, but states must be few; put numbers into bins."
        )
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), values.to_pylist()


def _plain(value: object) -> object:
    """Bytes as text, if they are UTF-8."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value


def _name(value: object, single: bool) -> tuple[str, str]:
    """A value as a name, and why it is none."""
    plain = _plain(value)
    if isinstance(plain, bytes):
        return "", f"is {shown(plain)}, but must be UTF-8"
    if plain is None or (isinstance(plain, float) and math.isnan(plain)):
        return "", MISSING
    text = str(int(plain)) if isinstance(plain, float) and plain.is_integer() else str(plain).strip()
    if not text:
        return "", MISSING
    if not text.isprintable():
        return "", f"is {shown(text)}, but must be one line of letters"
    if not single and JOIN in text:
        return "", f"is {shown(text)}, but must be without {JOIN}, which joins columns"
    return text, ""


def _quick(column: pa.Array) -> Floats | None:
    """All values at once, or None where one of them is no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_boolean(kind):
        return np.full(len(column), np.nan)
    try:
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            column = pc.cast(column, pa.string())
        floats = pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        return None
    return np.array(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def _number(value: object) -> float:
    """NaN if it is none."""
    text = _plain(value)
    if text is None or isinstance(text, bytes | bool) or (isinstance(text, str) and "_" in text):
        return math.nan
    try:
        return float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan
