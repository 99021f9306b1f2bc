"""What told rows add up to: all that a model needs to know of them.

    n(s, a, s'), ended(s, a, s')    how often s' followed, and how often the episode ended with it
    paid(s, a)                      the sum of rewards, added in the order in which they were told
    low, high                       the range of rewards so far

States have the numbers 0, 1, ... in the order in which they appeared. A tally of a snapshot and the rows after it is
bit for bit that of all rows, for every sum is taken in the same order.
"""

from __future__ import annotations

import hashlib
import io
import math
import zipfile
from collections.abc import Iterable, Sequence

import numpy as np

from hreach.errors import InputError

Row = tuple[str, int, float, str, int]  # state, action, reward, next state, terminated


class Tally:
    """A tally of nothing, in which the states of `declared` come first."""

    def __init__(self, declared: Sequence[str] = ()) -> None:
        self.numbers = {name: i for i, name in enumerate(declared)}
        self.moves: dict[tuple[int, int, int], list[int]] = {}  # (s, a, s') -> [n, ended]
        self.paid: dict[tuple[int, int], float] = {}
        self.low, self.high = math.inf, -math.inf
        self.samples = 0

    @property
    def names(self) -> list[str]:
        """The states, in the order of their numbers."""
        return list(self.numbers)

    def add(self, rows: Iterable[Row]) -> None:
        """Count these rows, in this order."""
        numbers, moves, paid = self.numbers, self.moves, self.paid
        for state, action, reward, following, terminated in rows:
            s = numbers.setdefault(state, len(numbers))
            t = numbers.setdefault(following, len(numbers))
            move = moves.setdefault((s, action, t), [0, 0])
            move[0] += 1
            move[1] += terminated
            paid[s, action] = paid.get((s, action), 0.0) + reward
            self.low, self.high = min(self.low, reward), max(self.high, reward)
            self.samples += 1

    def tried(self, state: str, actions: int) -> list[int]:
        """How often each action was tried in a state."""
        s, counts = self.numbers.get(state, -1), [0] * actions
        for (where, action, _), (n, _) in self.moves.items():
            if where == s:
                counts[action] += n
        return counts

    def to_bytes(self) -> bytes:
        """An npz file of plain arrays."""
        places = np.array(list(self.moves), dtype=np.int64).reshape(-1, 3)
        pairs = np.array(list(self.paid), dtype=np.int64).reshape(-1, 2)
        file = io.BytesIO()
        np.savez_compressed(
            file,
            names=np.frombuffer("\0".join(self.names).encode(), dtype=np.uint8),
            moves=np.hstack([places, np.array(list(self.moves.values()), dtype=np.int64).reshape(-1, 2)]),
            pairs=pairs,
            paid=np.array(list(self.paid.values()), dtype=np.float64),
            range=np.array([self.low, self.high]),
        )
        return file.getvalue()

    @staticmethod
    def from_bytes(data: bytes) -> Tally:
        """The tally of `to_bytes`; `InputError` if it is none."""
        found = Tally()
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                text = file["names"].tobytes().decode()
                found.numbers = {name: i for i, name in enumerate(text.split("\0") if text else [])}
                for s, a, t, n, ended in file["moves"].tolist():
                    found.moves[s, a, t] = [n, ended]
                found.paid = {
                    (s, a): x for (s, a), x in zip(file["pairs"].tolist(), file["paid"].tolist(), strict=True)
                }
                found.low, found.high = file["range"].tolist()
        except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile) as error:
            raise InputError("data of the snapshot cannot be read.") from error
        found.samples = sum(n for n, _ in found.moves.values())
        return found


def checksum(data: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
