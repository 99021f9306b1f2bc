"""What names a result: everything that it depends on, as plain data in normal form, and a digest of that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Protocol

from hreach.protocols import Plain

_WHOLE = 10**6  # a whole number below this is an int in normal form, any other number a float


class Identified(Protocol):
    """What the store keeps results of."""

    @property
    def identity(self) -> Plain:
        """Everything that the results depend on."""

    @property
    def id(self) -> str:
        """`id_of(identity)`."""


def id_of(identity: Plain) -> str:
    """Sixteen hexadecimal digits."""
    return digest(identity)[:16]


def digest(content: object) -> str:
    """SHA-256 of plain data, in hexadecimal digits."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def normal(value: Any) -> Any:
    """A value in normal form: lists for tuples, and one way to write a number, whether it came as 1 or as 1.0."""
    if isinstance(value, Mapping):
        return {str(key): normal(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [normal(inner) for inner in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, float) or abs(value) <= 2**53:
        real = float(value)
        return int(real) if real.is_integer() and abs(real) < _WHOLE else real
    return value
