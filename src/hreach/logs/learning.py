"""`hreach.learn`: what a log of any behaviour says, and where to try next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from hreach.agents.files import save_agent
from hreach.agents.tables import TableAgent
from hreach.errors import InputError, finite, require, unknown_name
from hreach.guarantees.certificate import Certificate, short
from hreach.guarantees.certify import of_safest
from hreach.guarantees.confidence import chance
from hreach.guarantees.limits import Limit, gap_limits_of
from hreach.journal.deciding import LARGEST, Mind
from hreach.journal.journal import END, Journal
from hreach.journal.settings import Settings, checked
from hreach.journal.tally import Tally
from hreach.logs.columns import columns_of
from hreach.logs.counting import Counter
from hreach.logs.minari import PREFIX, MinariLog
from hreach.logs.reading import Bad, source_of
from hreach.running.progress import Telling, telling

LEFT_OUT = "{0:,} bad rows were left out, and that they were bad has nothing to do with what happened in them"


class BadRowsError(InputError):
    """A log has rows that cannot be used.

    bad   the first of them, in order; total: how many there are
    """

    def __init__(self, log: str, word: str, bad: Sequence[Bad], total: int, rows: int) -> None:
        self.word, self.bad, self.total = word, tuple(bad), total
        first = f"{word} {bad[0].line} {bad[0].why}"
        rest = "" if total == 1 else f", and {total - 1:,} more"
        super().__init__(
            f"{log} has {total:,} bad of {rows:,} rows, but must have none, unless bad rows are to be skipped: "
            f"{first}{rest}."
        )


@dataclass(frozen=True)
class Learnt:
    """What a log says.

    log         where it is from; rows: how many it has; bad: the first of its bad rows, of `bad_rows`
    settings    actions, discount and h; tally: what the good rows add up to
    delta       probability that what is certified is false; at: the state that it is about, None: of the largest gap
    """

    log: str
    rows: int
    bad: tuple[Bad, ...]
    bad_rows: int
    settings: Settings
    tally: Tally
    delta: float
    at: str | None

    @cached_property
    def mind(self) -> Mind:
        """The agent that these rows make, with the names of its states."""
        return Mind(self.settings, self.tally)

    @property
    def agent(self) -> TableAgent:
        """The agent, which goes on learning from here."""
        return self.mind.agent

    @property
    def states(self) -> list[str]:
        """The names of the states, in the order in which they appear."""
        return self.mind.names

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions."""
        return self.settings.actions

    @cached_property
    def certificate(self) -> Certificate:
        """What is certain of the policy that is sure to be worth most: its policy is `policy`, by numbers."""
        sure = of_safest(self.mind.certify(self.delta, self.at))
        if not self.bad_rows:
            return sure
        return replace(sure, assumes=(*sure.assumes, LEFT_OUT.format(self.bad_rows)))

    @property
    def policy(self) -> dict[str, str]:
        """The action in each state, of the policy that is sure to be worth most."""
        chosen = self.certificate.policy.tolist()
        return {name: self.actions[action] for name, action in zip(self.states, chosen, strict=True)}

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """The pairs that make the gap between `lower` and `upper`, the one that does most first: try these next."""
        sure = self.certificate
        return gap_limits_of(sure.sets, sure.policy, sure.state)

    @property
    def pairs(self) -> int:
        """Pairs of an action and a state that something follows."""
        return int((~self.agent.model.seen.terminal).sum()) * len(self.actions)

    @cached_property
    def uncovered(self) -> list[tuple[str, str]]:
        """Pairs that never occur, of states that something follows."""
        model = self.agent.model.seen
        where = np.argwhere((model.total == 0) & ~model.terminal[:, None])
        return [(self.states[s], self.actions[a]) for s, a in where.tolist()]

    @property
    def sentence(self) -> str:
        """What is certain, and what makes the gap, in two sentences at most."""
        sure = self.certificate
        said = sure.sentence(self.states[sure.state])
        if not self.limits:
            return said
        first = self.limits[0]
        pair = f"({self.states[first.state]}, {self.actions[first.action]})"
        tried = "never tried" if first.n == 0 else "tried once" if first.n == 1 else f"tried {first.n:,} times"
        most = "is mostly" if first.share >= 0.5 else "is most of all"
        return f"{said} The gap from {short(sure.lower)} to {short(sure.upper)} {most} pair {pair}, {tried}."

    def to_journal(self, path: str | Path) -> Journal:
        """A new journal that begins with these rows, to ask and tell from here on."""
        of = self.settings
        return Journal.new(
            path, of.actions, h=of.h, gamma=of.gamma, lifetime=of.lifetime, r_min=of.r_min, r_max=of.r_max,
            seed=of.seed, first=self.tally,
        )  # fmt: skip

    def save(self, path: str | Path) -> None:
        """The agent's state, with the names of states and actions (`hreach.agents.files`)."""
        save_agent(self.agent, path, {"states": self.states, "actions": list(self.actions)})


def learn(
    log: str | Path,
    *,
    state: str | Sequence[str] = "state",
    action: str = "action",
    reward: str = "reward",
    next: str | Sequence[str] = "next",
    terminated: str | None = None,
    bins: Mapping[str, Iterable[float]] | None = None,
    actions: Sequence[str] | None = None,
    gamma: float = 0.95,
    h: float | str | None = None,
    lifetime: int | None = None,
    r_min: float | None = None,
    r_max: float | None = None,
    seed: int = 0,
    delta: float = 0.1,
    at: str | None = None,
    skip_bad: bool = False,
    progress: Telling = None,
) -> Learnt:
    """Count the rows of a log, `.csv`, `.csv.gz`, `.parquet` or "minari:ID", in one pass.

    state, next   columns of the state and of the next one, each one column or several, which make one state
    terminated    the column that says whether the episode ended: then nothing follows
    bins          edges of numeric columns of the state, {"speed": [0, 5, 10]}
    actions       their names, if others are to be refused; default: those that appear
    gamma, h, lifetime, r_min, r_max, seed   as of `hreach.Journal.new`; rewards outside [r_min, r_max] are bad rows
    delta         probability that what is certified is false
    at            the state that this is about; default: the one of the largest gap
    skip_bad      leave bad rows out; else one of them is an error, which lists the first
    progress      as of `hreach.run`

    How the actions were chosen does not matter, as long as nobody looked at what followed first.
    """
    columns = columns_of(state, action, reward, next, terminated, bins)
    low = None if r_min is None else finite("r_min", r_min)
    high = None if r_max is None else finite("r_max", r_max)
    chosen = h if h is not None else 4.0 if lifetime is None else "lifetime"
    checked(actions or ["any"], (), chosen, gamma, lifetime, low, high, seed)
    chance(delta)
    name = str(log)
    source = MinariLog(name, columns) if name.startswith(PREFIX) else source_of(Path(log).expanduser(), columns)
    counter = Counter(columns, actions, low, high, END, LARGEST)
    with telling(progress, source.total, "log") as told:
        before = 0
        for chunk in source.chunks():
            counter.add(chunk)
            if told is not None:
                told(chunk.done - before)
            before = chunk.done
    if counter.bad_rows and not skip_bad:
        raise BadRowsError(name, source.word, counter.bad, counter.bad_rows, counter.rows)
    require(counter.tally.samples > 0, "log", name, "one with at least one good row")
    settings = checked(list(counter.actions), (), chosen, gamma, lifetime, low, high, seed)
    if at is not None and at not in counter.tally.numbers:
        raise unknown_name("at", at, counter.tally.names)
    return Learnt(name, counter.rows, tuple(counter.bad), counter.bad_rows, settings, counter.tally, delta, at)
