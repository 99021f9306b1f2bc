"""From the rows of a file to their tally: the last snapshot that is whole, and the rows after it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from hreach.errors import InputError
from hreach.journal.tally import Tally, checksum

EVERY = 1000  # rows between two snapshots, at least
KEPT = 3
_ROWS = """SELECT state, action, reward, next, terminated FROM rows
           WHERE told > ? AND void IS NULL ORDER BY told"""


def last_told(connection: sqlite3.Connection) -> int:
    """The number of the last tell, 0 if there is none."""
    return int(connection.execute("SELECT coalesce(max(told), 0) FROM rows").fetchone()[0])


def tally_of(connection: sqlite3.Connection, declared: Sequence[str]) -> tuple[Tally, int]:
    """The tally of all told rows that are not void, and how many rows were read for it.

    A damaged snapshot is passed over; only what was there first cannot be had from the rows.
    """
    tally, told = Tally(declared), 0
    for number, said, data in connection.execute("SELECT told, checksum, data FROM snapshots ORDER BY told DESC"):
        if checksum(data) == said:
            tally, told = Tally.from_bytes(data), number
            break
        if number == 0:
            raise InputError("snapshot 0 is damaged, but must be whole: it is what the journal began with.")
    before = tally.samples
    tally.add(connection.execute(_ROWS, (told,)))
    return tally, tally.samples - before


def keep(connection: sqlite3.Connection, declared: Sequence[str]) -> None:
    """Within a transaction: a new snapshot, if one is due."""
    told = last_told(connection)
    [before] = connection.execute("SELECT coalesce(max(told), 0) FROM snapshots").fetchone()
    if told - before < EVERY:
        return
    data = tally_of(connection, declared)[0].to_bytes()
    connection.execute("INSERT INTO snapshots VALUES (?, ?, ?)", (told, checksum(data), data))
    connection.execute(
        "DELETE FROM snapshots WHERE told > 0 AND told NOT IN (SELECT told FROM snapshots ORDER BY told DESC LIMIT ?)",
        (KEPT,),
    )


def forget(connection: sqlite3.Connection, told: int) -> None:
    """Within a transaction: no snapshot knows this row any more."""
    connection.execute("DELETE FROM snapshots WHERE told >= ?", (told,))
