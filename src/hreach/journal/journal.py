"""Ask and tell, in Python: `hreach.Journal`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from hreach.errors import InputError, finite, require, unknown_name, whole
from hreach.journal import schema, snapshots
from hreach.journal.entries import Advice, Entry
from hreach.journal.settings import Settings, check_name, checked
from hreach.journal.tally import Tally, checksum

if TYPE_CHECKING:
    from hreach.guarantees.certificate import Certificate
    from hreach.journal.deciding import Mind

END = "(end)"  # the next state of an episode that has ended, unless it is named
_COLUMNS = "id, unit, state, action, recommended, asked_at, told_at, reward, next, terminated, void"


class Journal:
    """Experience of a process outside Python, in one file: ask for an action, tell what followed.

    `Journal.new` makes the file, `Journal(path)` opens it. Every call is one transaction: what was told is on the disk
    when it returns, and several programs may use the file at once. The same told rows give the same next action.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Journal.new(f"{folder.name}/run.hreach", ["low", "high"]) as journal:
    ...     advice = journal.ask("morning")
    ...     _ = journal.tell(1.5, "evening", id=advice.id)
    ...     [entry.reward for entry in journal.entries()]
    [1.5]
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self._connection = schema.connect(self.path)
        with schema.reading(self.path, self._connection):
            [text] = self._connection.execute("SELECT text FROM settings").fetchone()
        self.settings = Settings.from_text(text)

    @staticmethod
    def new(
        path: str | Path,
        actions: Sequence[str],
        states: Sequence[str] = (),
        *,
        h: float | str | None = None,
        gamma: float = 0.95,
        lifetime: int | None = None,
        r_min: float | None = None,
        r_max: float | None = None,
        seed: int = 0,
        first: Tally | None = None,
    ) -> Journal:
        """A new file; `InputError` if there is one.

        actions    their names; states: those known beforehand, others appear as they come
        h          a number, "growing", "adaptive" or "lifetime"; None: "lifetime" where that is given, else 4
        lifetime   how many rows will be told, if that is known; r_min, r_max: the range of rewards, if that is
        first      a tally that it begins with, such as that of a log
        """
        chosen = h if h is not None else 4.0 if lifetime is None else "lifetime"
        settings = checked(actions, states, chosen, gamma, lifetime, r_min, r_max, seed)
        data = None if first is None else first.to_bytes()
        where = Path(path).expanduser()
        schema.create(where, settings.to_text(), None if data is None else (checksum(data), data))
        return Journal(where)

    def ask(self, state: str, allow: Sequence[str] | None = None, unit: str | None = None) -> Advice:
        """The best action in a state, of those allowed (None: all), and why; it waits for its `tell` under its id."""
        name, of = check_name("state", state), _unit(unit)
        allowed = [self._action(action) for action in (self.settings.actions if allow is None else allow)]
        require(bool(allowed), "allow", allow, "at least one action")
        mind = self.mind(name)
        why = mind.decide(name, allowed)
        row = (of, name, why.action, _now())
        with schema.writing(self.path, self._connection):
            sql = "INSERT INTO rows (unit, state, action, recommended, asked_at) VALUES (?, ?, ?, 1, ?)"
            number = self._done("ask", self._connection.execute(sql, row).lastrowid)
        given = mind.range == (self.settings.r_min, self.settings.r_max)
        return Advice(
            number, name, self.settings.actions[why.action], of, why.internal, why.certain, why.tried, why.lower,
            why.upper, mind.range, given, mind.tally.samples, mind.past,
        )  # fmt: skip

    def tell(
        self,
        reward: float,
        next: str | None = None,
        *,
        id: int | None = None,
        state: str | None = None,
        action: str | None = None,
        terminated: bool = False,
        unit: str | None = None,
    ) -> int:
        """What followed: after the action of `id`, or after one that nobody recommended, by its state and action.

        `terminated`: the episode ended, nothing follows. The id of the row is returned.
        """
        require(next is not None or terminated, "next", next, "given unless the episode terminated")
        told = finite("reward", reward), check_name("next", END if next is None else next), int(terminated), _now()
        if id is not None:
            for field, value in (("state", state), ("action", action), ("unit", unit)):
                require(value is None, field, value, "left out where an id is given")
            return self._tell_asked(whole("id", id, 1), told)
        if state is None or action is None:
            raise InputError("id is not given, but must be, or state and action of an own choice.")
        own = _unit(unit), check_name("state", state), self._action(action)
        with schema.writing(self.path, self._connection):
            sql = "INSERT INTO rows (unit, state, action, recommended) VALUES (?, ?, ?, 0)"
            number = self._connection.execute(sql, own).lastrowid
            return self._write(self._done("tell", number), told)

    def void(self, id: int, because: str) -> None:
        """Leave a row out of the model; it stays in the file, with the reason."""
        reason = check_name("because", because)
        with schema.writing(self.path, self._connection):
            [told, void] = self._row(whole("id", id, 1))
            require(void is None, f"id {id}", f"void: {void}", "a row that is not void yet")
            self._connection.execute("UPDATE rows SET void = ? WHERE id = ?", (reason, id))
            self._forget(told)
            self._done("void", id)

    def undo(self) -> str:
        """Take back what was done last (an ask, a tell, a void), and say what that was."""
        with schema.writing(self.path, self._connection):
            last = self._connection.execute("SELECT number, kind, id FROM events ORDER BY number DESC").fetchone()
            require(last is not None, "undo", None, "of something: nothing was asked or told yet")
            number, kind, id = last
            [told, _] = self._row(id)
            own = self._connection.execute("SELECT asked_at IS NULL FROM rows WHERE id = ?", (id,)).fetchone()[0]
            if kind == "void":
                self._connection.execute("UPDATE rows SET void = NULL WHERE id = ?", (id,))
            elif kind == "tell" and not own:
                sql = "UPDATE rows SET told = NULL, told_at = NULL, reward = NULL, next = NULL, terminated = NULL"
                self._connection.execute(f"{sql} WHERE id = ?", (id,))
            else:
                self._connection.execute("DELETE FROM rows WHERE id = ?", (id,))
            self._connection.execute("DELETE FROM events WHERE number = ?", (number,))
            self._forget(told)
        return f"{kind} of id {id}"

    def entries(self, last: int | None = None) -> Iterator[Entry]:
        """The rows in the order of their ids; the last so many of them."""
        chosen, names = (
            "" if last is None else f"ORDER BY id DESC LIMIT {whole('last', last, 0)}",
            self.settings.actions,
        )
        with schema.telling(self.path):
            for row in self._connection.execute(f"SELECT * FROM (SELECT {_COLUMNS} FROM rows {chosen}) ORDER BY id"):
                ended = None if row[9] is None else bool(row[9])
                yield Entry(
                    row[0], row[1], row[2], names[row[3]], bool(row[4]), row[5], row[6], row[7], row[8], ended, row[10]
                )

    def counts(self) -> dict[str, int]:
        """How many rows wait, were told, and are void."""
        sql = """SELECT coalesce(sum(void IS NULL AND told IS NULL), 0), coalesce(sum(void IS NULL AND told > 0), 0),
                 coalesce(sum(void IS NOT NULL), 0) FROM rows"""
        with schema.telling(self.path):
            return dict(zip(("waiting", "told", "void"), self._connection.execute(sql).fetchone(), strict=True))

    def tally(self) -> Tally:
        """What the told rows add up to, those that are void left out."""
        with schema.reading(self.path, self._connection):
            return snapshots.tally_of(self._connection, self.settings.states)[0]

    def mind(self, state: str | None = None) -> Mind:
        """The agent that the told rows make, for whoever wants to look into it."""
        from hreach.journal.deciding import Mind

        return Mind(self.settings, self.tally(), state)

    def certify(self, delta: float = 0.1, state: str | None = None) -> Certificate:
        """What is certain of the policy that would be followed now; states are numbers, `mind().names` names them."""
        return self.mind().certify(delta, None if state is None else check_name("state", state))

    def close(self) -> None:
        """Close the file; nothing is lost without it."""
        self._connection.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _tell_asked(self, id: int, told: tuple[float, str, int, str]) -> int:
        with schema.writing(self.path, self._connection):
            [before, void] = self._row(id)
            require(void is None, f"id {id}", f"void: {void}", "one that waits to be told")
            require(before is None, f"id {id}", "told already", "one that waits to be told; `undo` takes back the last")
            return self._write(self._done("tell", id), told)

    def _write(self, id: int, told: tuple[float, str, int, str]) -> int:
        """Within a transaction: the row of `id` is the last one told."""
        sql = "UPDATE rows SET reward = ?, next = ?, terminated = ?, told_at = ?, told = ? WHERE id = ?"
        self._connection.execute(sql, (*told, snapshots.last_told(self._connection) + 1, id))
        snapshots.keep(self._connection, self.settings.states)
        return id

    def _forget(self, told: int | None) -> None:
        if told is not None:
            snapshots.forget(self._connection, told)
            snapshots.keep(self._connection, self.settings.states)

    def _done(self, kind: str, id: int | None) -> int:
        """Note within a transaction what was done, for `undo`."""
        assert id is not None
        self._connection.execute("INSERT INTO events (kind, id) VALUES (?, ?)", (kind, id))
        return id

    def _row(self, id: int) -> tuple[int | None, str | None]:
        found = self._connection.execute("SELECT told, void FROM rows WHERE id = ?", (id,)).fetchone()
        require(found is not None, "id", id, "that of a row in the journal")
        return found[0], found[1]

    def _action(self, name: str) -> int:
        if name not in self.settings.actions:
            raise unknown_name("action", name, self.settings.actions)
        return self.settings.actions.index(name)


def _unit(unit: str | None) -> str | None:
    return None if unit is None else check_name("unit", unit)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
