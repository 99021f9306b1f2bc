"""The rows of a log as a tally, in one pass: memory for what was seen, however many rows there are.

The tally is bit for bit that of adding the good rows one by one (`hreach.journal.tally`): states are numbered in the
order in which they appear, and rewards are summed in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hreach.errors import InputError
from hreach.journal.tally import Tally
from hreach.logs.columns import Columns
from hreach.logs.reading import Bad, Chunk
from hreach.logs.values import Named, binned, joined, named, numbers, truths
from hreach.protocols import Bools, Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

LISTED = 20  # bad rows that are told one by one


class Counter:
    """Counts chunks.

    actions   their names; None: as they appear. most: entries S A S that there may be
    r_min, r_max   rewards outside are bad rows; None: any
    end       the next state of a row that ended the episode and names none
    """

    def __init__(
        self, columns: Columns, actions: Sequence[str] | None, r_min: float | None, r_max: float | None, end: str,
        most: int,
    ) -> None:  # fmt: skip
        self.columns, self._end, self._most = columns, end, most
        self._open = actions is None
        self.actions = {name: i for i, name in enumerate(actions or ())}
        self._low, self._high = -np.inf if r_min is None else r_min, np.inf if r_max is None else r_max
        self.tally = Tally()
        self.rows = self.bad_rows = 0
        self.bad: list[Bad] = []

    def add(self, chunk: Chunk) -> None:
        """Count its good rows, and list its bad ones."""
        self.rows += chunk.lines.size + len(chunk.broken)
        found = list(chunk.broken)
        if chunk.lines.size:
            found += self._add_rows(chunk)
        self.bad = sorted([*self.bad, *found])[:LISTED]
        self.bad_rows += len(chunk.broken)

    def _add_rows(self, chunk: Chunk) -> list[Bad]:
        of, column = self.columns, chunk.columns
        state, following = self._states(column, of.state), self._states(column, of.next)
        action, reward = named(column[of.action]), numbers(column[of.reward])
        ended = None if of.terminated is None else truths(column[of.terminated])
        over = np.zeros(chunk.lines.size, dtype=np.bool_) if ended is None else ended.codes == 1
        marks = _Marks(chunk.lines)
        marks.mark(state.bad, state.reason)
        marks.mark(action.bad, lambda row: f"{of.action} {action.reason(row)}")
        if not self._open:
            known = np.array([name in self.actions for name in action.names])[action.codes]
            marks.mark(~known, lambda row: f"{of.action} is {action.names[action.codes[row]]!r}, which is no action")
        marks.mark(np.isnan(reward.values), lambda row: f"{of.reward} {reward.reason(row)}")
        outside = (reward.values < self._low) | (reward.values > self._high)
        span = f"but must be within [{self._low:g}, {self._high:g}]"
        marks.mark(outside, lambda row: f"{of.reward} is {reward.values[row]:g}, {span}")
        if ended is not None:
            marks.mark(ended.bad, lambda row: f"{of.terminated} {ended.reason(row)}")
        marks.mark(following.bad & ~over, following.reason)
        self.bad_rows += int(marks.bad.sum())
        good = np.flatnonzero(~marks.bad)
        after = _or_end(following, over, self._end)
        self._count(state, action, reward.values[good], after, over[good], good)
        return marks.found

    def _states(self, column: dict[str, pa.Array], names: Sequence[str]) -> Named:
        parts = []
        for name, bins in zip(names, self.columns.binned, strict=True):
            try:
                parts.append(named(column[name], len(names) == 1) if bins is None else binned(column[name], bins))
            except InputError as error:
                raise InputError(f"{name}: {error}") from None
        return joined(parts, names)

    def _count(self, state: Named, action: Named, reward: Floats, after: Named, over: Bools, good: Ints) -> None:
        if not good.size:
            return
        tally = self.tally
        s, a, t = state.codes[good], action.codes[good], after.codes[good]
        _number_new(tally.numbers, (s, state.names), (t, after.names))
        if self._open:
            _number_new(self.actions, (a, action.names))
        states, actions = len(tally.numbers), len(self.actions)
        if states**2 * actions > self._most:
            raise InputError(
                f"states is {states} and more, but must be so few that states x actions x states is at most "
                f"{self._most}; put numbers into bins, or leave a column out."
            )
        s, t = _numbers(tally.numbers, state.names)[s], _numbers(tally.numbers, after.names)[t]
        a = _numbers(self.actions, action.names)[a]
        _add_moves(tally, s, a, t, over, (states, actions))
        _add_rewards(tally, s, a, reward, actions)
        tally.samples += good.size


class _Marks:
    """Which rows are bad, and of the first ones why."""

    def __init__(self, lines: Ints) -> None:
        self.bad = np.zeros(lines.size, dtype=np.bool_)
        self.found: list[Bad] = []
        self._lines = lines

    def mark(self, wrong: Bools, reason: Callable[[int], str]) -> None:
        """These are bad; of one that was bad before the first reason stays."""
        new = np.flatnonzero(wrong & ~self.bad)
        self.bad[new] = True
        self.found += [Bad(int(self._lines[row]), reason(row)) for row in new[:LISTED].tolist()]


def _or_end(following: Named, over: Bools, end: str) -> Named:
    """Next states, and the end where an episode ended and none is named."""
    unnamed = over & following.bad
    if not unnamed.any():
        return following
    codes = np.where(unnamed, len(following.names), following.codes)
    return Named(codes, [*following.names, end], [*following.why, ""])


def _number_new(known: dict[str, int], *columns: tuple[Ints, list[str]]) -> None:
    """Give the names that are new their numbers, in the order of the rows; within a row in that of the columns."""
    new = []
    for place, (codes, names) in enumerate(columns):
        first = np.full(len(names), -1, dtype=np.int64)
        first[codes[::-1]] = np.arange(codes.size)[::-1]  # of equal codes the last one written is the first row
        seen = np.flatnonzero(first >= 0).tolist()
        new += [(int(first[code]), place, names[code]) for code in seen if names[code] not in known]
    for _, _, name in sorted(new):
        known.setdefault(name, len(known))


def _numbers(known: dict[str, int], names: list[str]) -> Ints:
    """The numbers of names; -1 of one that has none, which no good row has."""
    return np.array([known.get(name, -1) for name in names], dtype=np.int64)


def _add_moves(tally: Tally, s: Ints, a: Ints, t: Ints, over: Bools, sizes: tuple[int, int]) -> None:
    states, actions = sizes
    codes, keys = _distinct((s * actions + a) * states + t)
    times, ends = np.bincount(codes).tolist(), np.bincount(codes, over).tolist()
    for key, n, ended in zip(keys.tolist(), times, ends, strict=True):
        pair, following = divmod(key, states)
        move = tally.moves.setdefault((*divmod(pair, actions), following), [0, 0])
        move[0] += n
        move[1] += int(ended)


def _add_rewards(tally: Tally, s: Ints, a: Ints, reward: Floats, actions: int) -> None:
    codes, keys = _distinct(s * actions + a)
    pairs = [divmod(key, actions) for key in keys.tolist()]
    sums = np.array([tally.paid.get(pair, 0.0) for pair in pairs])
    np.add.at(sums, codes, reward)  # one after the other, as the rows come
    tally.paid.update(zip(pairs, sums.tolist(), strict=True))
    tally.low, tally.high = min(tally.low, float(reward.min())), max(tally.high, float(reward.max()))


def _distinct(keys: Ints) -> tuple[Ints, Ints]:
    """Codes (N,) of keys, and the distinct keys in the order in which they appear."""
    import pyarrow as pa

    found = pa.array(keys).dictionary_encode()
    return found.indices.to_numpy(zero_copy_only=False).astype(np.int64), found.dictionary.to_numpy()
