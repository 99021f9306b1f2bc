"""Files of a user's own: the rows of a CSV file and the arrays of an npz file, of which nothing is trusted."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hreach.errors import InputError, finite, require, shown, whole


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of an npz file."""
    try:
        file = np.load(path, allow_pickle=False)
        if isinstance(file, np.lib.npyio.NpzFile):
            with file:
                return {name: file[name] for name in file.files}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError) as error:
        raise InputError(f"{path} is no npz file of plain arrays.") from error
    raise InputError(f"{path} is one array, but must be an npz file, whose arrays have names.")


def read_rows(path: Path, needed: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with the line each is in; at least one, and all columns that are needed."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            header = [name.strip() for name in reader.fieldnames or []]
            reader.fieldnames = header
            rows = [(reader.line_num, row) for row in reader]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} is no CSV file in UTF-8.") from error
    lacking = [name for name in needed if name not in header]
    require(not lacking, f"columns of {path}", header, f"at least {', '.join(needed)}")
    require(bool(rows), f"rows of {path}", len(rows), "at least one")
    return rows


def field(path: Path, line: int, row: Mapping[str, str], name: str) -> float:
    """A number of a row."""
    text = row.get(name)
    try:
        value: object = float(text) if isinstance(text, str) else text
    except ValueError:
        value = text
    return finite(f"{path}, line {line}: {name}", text if value is None or value != value else value)


def index_at(path: Path, line: int, row: Mapping[str, str], name: str) -> int:
    """A whole number of at least 0 of a row."""
    return whole(f"{path}, line {line}: {name}", field(path, line, row, name), 0)


def read_array(path: Path, name: str) -> NDArray[Any]:
    """One array of an npz file."""
    found = read_arrays(path)
    if name not in found:
        raise InputError(f"{path} has {names_of(found)}, but must have {name}.")
    return found[name]


def names_of(found: Mapping[str, NDArray[Any]]) -> str:
    """What there is, for a message."""
    return shown(sorted(found)) if found else "nothing"
