"""What a log says, on the terminal: sentences and a table, or JSON."""

from __future__ import annotations

from hreach.logs.learning import Learnt
from hreach.protocols import Plain

_PAIRS = 5  # where to try next
_LISTED = 5  # bad rows, and pairs that are not covered


def learnt_as_text(found: Learnt) -> str:
    """What there is, what is certain, what is not covered, where to try next, and what is taken for granted."""
    sure, states, actions = found.certificate, found.states, found.actions
    head = f"{found.log}: {found.rows:,} rows, {len(states)} states, {len(actions)} actions"
    parts = [head + (f"; {found.bad_rows:,} bad rows are left out" if found.bad_rows else "")]
    parts += [f"  {bad.line}: {bad.why}" for bad in found.bad[:_LISTED]]
    parts += ["", found.sentence, "", _coverage(found)]
    if found.limits:
        parts += ["", f"{'where to try next':<30} {'tried':>10} {'of the gap':>11} {'100 more give':>14}"]
        for limit in found.limits[:_PAIRS]:
            pair = f"{states[limit.state]}, {actions[limit.action]}"
            parts.append(f"{pair:<30} {limit.n:>10,} {limit.share:>11.0%} {limit.gain:>14.3g}")
    return "\n".join([*parts, "", *(f"assumes: {line}" for line in sure.assumes)])


def learnt_as_plain(found: Learnt) -> Plain:
    """The same, as JSON can hold it."""
    sure, states, actions = found.certificate, found.states, found.actions
    return {
        "log": found.log,
        "rows": found.rows,
        "bad_rows": found.bad_rows,
        "bad": [bad._asdict() for bad in found.bad],
        "states": states,
        "actions": list(actions),
        "sentence": found.sentence,
        "samples": sure.samples,
        "delta": sure.delta,
        "state": states[sure.state],
        "lower": sure.lower,
        "upper": sure.upper,
        "optimality_gap": sure.optimality_gap,
        "policy": found.policy,
        "uncovered": [list(pair) for pair in found.uncovered],
        "next": [
            {**limit._asdict(), "state": states[limit.state], "action": actions[limit.action]} for limit in found.limits
        ],
        "assumes": list(sure.assumes),
    }


def _coverage(found: Learnt) -> str:
    pairs, lacking = found.pairs, found.uncovered
    if not lacking:
        return f"covered: all {pairs:,} pairs of a state and an action"
    named = ", ".join(f"({state}, {action})" for state, action in lacking[:_LISTED])
    more = f" and {len(lacking) - _LISTED:,} more" if len(lacking) > _LISTED else ""
    return f"not covered: {len(lacking):,} of {pairs:,} pairs of a state and an action: {named}{more}"
