"""The file of a checkpoint: a line that says what it is, a checksum, then plain data as JSON and arrays.

    hreach checkpoint 1\\n      what it is
    32 bytes                   SHA-256 of all that follows
    8 bytes                    length of the text, least byte first
    text, bytes                `hreach.problems.plain`

Nothing in it is trusted: reading makes plain data that is as large as the file says it is, or refuses.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from hreach.errors import InputError
from hreach.files import write_bytes
from hreach.problems.plain import decode, encode

_FIRST = b"hreach checkpoint 1\n"
_SUM, _LENGTH = 32, 8


class CheckpointError(InputError):
    """A file that is there, but no checkpoint of this run."""


def write(path: Path, content: dict[str, Any]) -> None:
    """The file is whole or as it was; `OSError` if it cannot be written, `NotPlainError` if this is not plain data."""
    text, data = encode(content)
    encoded = text.encode()
    rest = b"".join([len(encoded).to_bytes(_LENGTH, "little"), encoded, data])
    write_bytes(path, b"".join([_FIRST, hashlib.sha256(rest).digest(), rest]))


def read(path: Path) -> dict[str, Any]:
    """What was written; `InputError` if the file is damaged or something else."""
    try:
        with path.open("rb") as file:
            if file.read(len(_FIRST)) != _FIRST:
                raise InputError("it is something else.")
            checksum, rest = file.read(_SUM), file.read()
    except OSError as error:
        raise InputError(f"it cannot be read: {error.strerror or error}.") from error
    if hashlib.sha256(rest).digest() != checksum:
        raise InputError("it is damaged: its checksum is not that of the rest.")
    end = _LENGTH + int.from_bytes(rest[:_LENGTH], "little")
    try:
        content = decode(rest[_LENGTH:end].decode(), rest[end:])
    except UnicodeDecodeError:
        raise InputError("it is damaged: its text is no text.") from None
    if type(content) is not dict:
        raise InputError("it is damaged: it holds no table.")
    return content
