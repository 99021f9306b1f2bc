"""Files of results: written whole or not at all, and refused before any work is done if they cannot be."""

from __future__ import annotations

import os
from pathlib import Path

from hreach.errors import InputError, require

PICTURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp")


def write_whole(path: Path, data: bytes) -> None:
    """Write to a temporary name in the same folder, then rename: the file is whole or absent."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        temporary.unlink(missing_ok=True)


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
