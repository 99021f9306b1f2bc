"""Files of results: written whole or not at all, and refused before any work is done if they cannot be."""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
from contextlib import suppress
from pathlib import Path

from hreach.errors import InputError, require

TEMPORARY, _DAY = ".tmp", 86400.0
PICTURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp")


def write_bytes(path: Path, data: bytes, through: Path | None = None) -> None:
    """The file is whole or as it was, and on the disk when this returns; `OSError` if it cannot be written.

    It is written under a temporary name, in its own folder or in the folder `through`, flushed, and renamed. A process
    that is killed may leave a temporary file, which `remove_leftovers` finds.
    """
    token = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    temporary = (through or path.parent) / f".{path.name}.{token}{TEMPORARY}"
    try:
        temporary.write_bytes(data)
        _flush(temporary)
        os.replace(temporary, path)
        _flush(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of processes of this machine that are no more, and all that are older than a day."""
    mine = re.compile(rf".*\.{re.escape(socket.gethostname())}-(\d+)-[0-9a-f]+{re.escape(TEMPORARY)}")
    for entry in list(folder.glob(f".*{TEMPORARY}")) if folder.is_dir() else []:
        found = mine.fullmatch(entry.name)
        with suppress(OSError):  # somebody else was quicker
            dead = found is not None and not _alive(int(found[1]))
            if dead or time.time() - entry.stat().st_mtime > _DAY:
                entry.unlink()


def _flush(path: Path) -> None:
    """A file, or the names in a folder, to the disk; Windows has no way to ask this of a folder."""
    if os.name == "nt" and path.is_dir():
        return
    number = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


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
