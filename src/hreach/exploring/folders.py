"""Folders of results: new or empty ones only, and whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hreach.errors import InputError, require


def free_folder(folder: Path) -> Path:
    """The folder with ~ spelt out, if something new can be written there."""
    folder = folder.expanduser()
    require(not folder.exists() or folder.is_dir(), "out", str(folder), "a folder, not a file")
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"out is {str(folder)!r}, which is not empty, but must be a new or an empty folder.")
    parent = folder.absolute().parent
    require(parent.is_dir(), "out", str(folder), "in a folder that exists")
    require(os.access(parent, os.W_OK), "out", str(folder), "in a folder that can be written")
    return folder


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into that becomes `folder` at the end; after an error nothing of it is left."""
    place = folder.absolute()
    temporary = place.parent / f".{place.name}.{secrets.token_hex(4)}.tmp"
    try:
        temporary.mkdir()
        yield temporary
        if place.is_dir():
            place.rmdir()  # it was empty
        os.replace(temporary, place)
    except OSError as error:
        raise InputError(f"out is {str(folder)!r}, but cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
