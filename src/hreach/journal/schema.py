"""The file of a journal: SQLite in WAL mode, one table of rows, snapshots of what they add up to.

    PRAGMA application_id   says that it is a journal; PRAGMA user_version is the version of the format
    settings                what the journal was made with, JSON, in one row
    rows                    one for each ask and each tell; `told` numbers the tells in the order in which they came
    events                  what was done to the journal, in order, for `undo`
    snapshots               tallies of the rows up to `told`, with a checksum; that of told = 0 is what was there first

Every change is one transaction, on the disk when it returns (synchronous = FULL); writers wait for each other.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hreach.errors import InputError, require

APPLICATION = 0x68724A31  # "hrJ1"
FORMAT = 1
PATIENCE = 60.0  # seconds that a writer waits for another one
_HEADER = b"SQLite format 3\0"
_TABLES = """
CREATE TABLE settings (text TEXT NOT NULL);
CREATE TABLE rows (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    unit TEXT, state TEXT NOT NULL, action INTEGER NOT NULL, recommended INTEGER NOT NULL,
    asked_at TEXT, told INTEGER UNIQUE, told_at TEXT,
    reward REAL, next TEXT, terminated INTEGER, void TEXT
);
CREATE TABLE events (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, id INTEGER NOT NULL);
CREATE TABLE snapshots (told INTEGER PRIMARY KEY, checksum TEXT NOT NULL, data BLOB NOT NULL);
"""


def is_journal(path: Path) -> bool:
    """Whether the file is SQLite's; `connect` says whether it is a journal."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER
    return False


def create(path: Path, settings: str, first: tuple[str, bytes] | None = None) -> None:
    """A new journal, whole or not at all; `first` is a tally to begin with (checksum, data)."""
    require(path.parent.is_dir(), "journal", str(path), "a file in a folder that exists")
    temporary = path.parent / f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        with telling(path):
            _fill(temporary, settings, first)
        try:
            os.link(temporary, path)  # unlike a renaming, it writes over nothing
        except FileExistsError:
            raise InputError(f"{path} exists, but must be a new file.") from None
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            Path(f"{temporary}{end}").unlink(missing_ok=True)


def _fill(path: Path, settings: str, first: tuple[str, bytes] | None) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {_TABLES}")
        connection.execute("BEGIN")
        connection.execute("INSERT INTO settings VALUES (?)", (settings,))
        if first is not None:
            connection.execute("INSERT INTO snapshots VALUES (0, ?, ?)", first)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
    finally:
        connection.close()


def connect(path: Path) -> sqlite3.Connection:
    """An open journal; `InputError` if the file is none, or of a format that is not known here."""
    require(path.is_file(), "journal", str(path), "a file that `hreach new` made")
    if not is_journal(path):
        raise InputError(f"{path} is no journal of hreach; `hreach new` makes one.")
    _check_length(path)
    mode = "rw" if os.access(path, os.W_OK) else "ro"
    with telling(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=PATIENCE
        )
        try:
            _check(path, connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _check_length(path: Path) -> None:
    """A file that is shorter than its header says was cut off, unless the rest waits beside it."""
    beside = Path(f"{path}-wal")
    if beside.exists() and beside.stat().st_size > 0:
        return
    with path.open("rb") as file:
        header = file.read(100)
    size = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    if len(header) < 100 or path.stat().st_size < pages * (65536 if size == 1 else size):
        raise InputError(f"{path} {_reason('malformed')}")


def _check(path: Path, connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = FULL")
    [kind], [version] = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
    if kind != APPLICATION:
        raise InputError(f"{path} is no journal of hreach; `hreach new` makes one.")
    require(1 <= version <= FORMAT, f"format of {path}", version, f"at most {FORMAT}, which this hreach knows")


@contextmanager
def reading(path: Path, connection: sqlite3.Connection) -> Iterator[None]:
    """The file as it was at one moment, whatever others write meanwhile."""
    with telling(path):
        connection.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):
                connection.execute("COMMIT")


@contextmanager
def writing(path: Path, connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction, which other writers wait for: all of it is kept, or nothing."""
    with telling(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # a full disk may have ended it already
                connection.execute("ROLLBACK")
            raise


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """SQLite's errors, each in one sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise InputError(f"{path} {_reason(str(error))}") from error


def _reason(said: str) -> str:
    if "locked" in said or "busy" in said:
        return f"is in use by another program for more than {PATIENCE:g} s, but must be free; nothing was changed."
    if "readonly" in said or "unable to open" in said:
        return "cannot be written, but must be, its folder too; nothing was changed."
    if "full" in said or "disk I/O" in said:
        return f"cannot be written: {said}; nothing was changed, what was told before is kept."
    if "malformed" in said or "not a database" in said:
        return "is damaged or cut off, but must be whole; take a copy of it from a backup."
    return f"cannot be used: {said}."
