"""Files of results: written whole or not at all, and refused before any work is done if they cannot be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hreach.errors import InputError, require

PICTURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary name in the same folder to write to; it becomes `path` if all goes well, and vanishes if not."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """The file is whole or as it was; `OSError` if it cannot be written."""
    with whole_file(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """`write_bytes` of a text, as UTF-8."""
    write_bytes(path, text.encode("utf-8"))


def write_whole(path: Path, data: bytes) -> None:
    """`write_bytes` of a file that a user named: `InputError` if it cannot be written."""
    try:
        write_bytes(path, data)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error


def writable_file(option: str, path: Path | None) -> Path | None:
    """The path with ~ spelt out, if a file can be written there."""
    if path is None:
        return None
    path = path.expanduser()
    require(not path.is_dir(), option, str(path), "a file, not a folder")
    require(path.parent.is_dir(), option, str(path), "a file in a folder that exists")
    require(os.access(path.parent, os.W_OK), option, str(path), "a file in a folder that can be written")
    return path


def writable_picture(option: str, path: Path | None) -> Path | None:
    """`writable_file`, whose name says which kind of picture it is."""
    if path is not None:
        require(path.suffix.lower() in ("", *PICTURES), option, str(path), f"a file that ends in {', '.join(PICTURES)}")
    return writable_file(option, path)
