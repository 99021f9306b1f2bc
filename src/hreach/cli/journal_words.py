"""A journal on the terminal: an action and why, the last rows, what was learnt."""

from __future__ import annotations

from hreach.guarantees.certificate import short
from hreach.journal.entries import Advice, Entry
from hreach.journal.journal import Journal
from hreach.journal.settings import Settings
from hreach.protocols import Plain


def advice_as_text(advice: Advice, lifetime: int | None) -> str:
    """The action with its id, and four lines that say why."""
    low, high = advice.reward_range
    known = "as given" if advice.range_given else "by what was told"
    lines = [
        f"{advice.action}   (id {advice.id})",
        f"  value with optimism {short(advice.internal_value)}; of the model as it is {short(advice.certain_value)}",
        f"  tried {_times(advice.tried)} in {advice.state}, of {advice.samples:,} told in all",
        f"  certain, but for a probability 0.1: the policy is worth at least {short(advice.lower)} here, none more "
        f"than {short(advice.upper)}",
        f"  rewards are taken to lie in [{low:g}, {high:g}], {known}",
    ]
    if advice.past_lifetime:
        lines.append(f"  past the lifetime of {lifetime:,}: nothing is explored any more where h follows from it")
    return "\n".join(lines)


def told_as_text(id: int, reward: float, settings: Settings) -> str:
    """That a row is told, and whether its reward is one that cannot be, by the range that was given."""
    low, high = settings.r_min, settings.r_max
    bounds = {"r_min": low is not None and reward < low, "r_max": high is not None and reward > high}
    outside = [f"{name} = {getattr(settings, name):g}" for name, is_outside in bounds.items() if is_outside]
    if not outside:
        return f"told, id {id}"
    return (
        f"told, id {id}\n  {reward:g} is outside {outside[0]}, which was given: a slip is taken out by `hreach void` "
        "or `hreach undo`, else the range is wider from now on"
    )


def journal_as_text(journal: Journal, last: int) -> str:
    """How many rows there are, a table of the last ones, and of what was tried."""
    counts, tally, of = journal.counts(), journal.tally(), journal.settings
    head = f"{tally.samples:,} samples, {counts['waiting']} waiting, {counts['void']} void, {len(tally.numbers)} states"
    lines = [head, "", f"{'id':>6} {'unit':<10} {'state':<12} {'action':<10} {'reward':>9} {'next':<12}"]
    lines += [_row(entry) for entry in journal.entries(last)]
    lines += ["", f"{'tried':<12} " + " ".join(f"{action:>10}" for action in of.actions)]
    for state in tally.names:
        lines.append(f"{state:<12} " + " ".join(f"{n:>10,}" for n in tally.tried(state, len(of.actions))))
    if of.lifetime is not None:
        over = tally.samples >= of.lifetime
        left = "past the lifetime" if over else f"{of.lifetime - tally.samples:,} to come of the lifetime"
        lines += ["", f"{left} of {of.lifetime:,}"]
    return "\n".join(line.rstrip() for line in lines)


def journal_as_plain(journal: Journal, last: int) -> Plain:
    """The same, as JSON can hold it."""
    tally, of = journal.tally(), journal.settings
    tried = {state: dict(zip(of.actions, tally.tried(state, len(of.actions)), strict=True)) for state in tally.names}
    rows: list[Plain] = [entry._asdict() for entry in journal.entries(last)]
    counts: Plain = dict(journal.counts())
    return {"samples": tally.samples, "rows": rows, "tried": {s: dict(n) for s, n in tried.items()}, "counts": counts}


def _row(entry: Entry) -> str:
    reward = "waits" if entry.reward is None else f"{entry.reward:g}"
    marks = [
        *([] if entry.recommended else ["own choice"]),
        *(["ended"] if entry.terminated else []),
        *([] if entry.void is None else [f"void: {entry.void}"]),
    ]
    return (
        f"{entry.id:>6} {entry.unit or '':<10} {entry.state:<12} {entry.action:<10} {reward:>9} {entry.next or '':<12} "
        f"{', '.join(marks)}"
    )


def _times(n: int) -> str:
    return "never" if n == 0 else "once" if n == 1 else f"{n:,} times"
