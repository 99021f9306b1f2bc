"""A certificate on the terminal: a sentence and small tables, or JSON."""

from __future__ import annotations

import math

from hreach.cli.asked import Found
from hreach.guarantees.certificate import Certificate, short
from hreach.guarantees.certificate_picture import Look
from hreach.protocols import Plain

_PAIRS = 5  # that hold the value down, in the table


def as_text(found: Found) -> str:
    """The sentence, what is certain, the curve, what holds it down, and what is taken for granted."""
    sure = found.certificate
    parts = [
        found.sentence,
        *([found.stopped] if found.stopped not in ("", found.sentence) else []),
        "",
        *_bounds(sure),
    ]
    if sure.curve is not None:
        parts += ["", "h      " + "".join(f"{_h(h):>7}" for h in sure.curve)]
        parts += ["gap    " + "".join(f"{short(gap):>7}" for gap in sure.curve.values())]
    if sure.limits:
        parts += ["", f"{'held down by':<24} {'samples':>8} {'share':>6} {'100 more give':>14}"]
        for limit in sure.limits[:_PAIRS]:
            pair = found.pair(limit.state, limit.action)
            parts.append(f"{pair:<24} {limit.n:>8,} {limit.share:>6.0%} {short(limit.gain):>14}")
    parts += ["", *(f"assumes: {line}" for line in sure.assumes), *(f"note: {line}" for line in sure.notes)]
    return "\n".join(parts)


def as_plain(found: Found) -> Plain:
    """Everything, as JSON can hold it; an infinite h is "inf"."""
    sure = found.certificate
    return {
        "of": found.title,
        "sentence": found.sentence,
        "stopped": found.stopped or None,
        "samples": sure.samples,
        "delta": sure.delta,
        "state": sure.state,
        "h": None if sure.h is None else _plain_h(sure.h),
        "lower": sure.lower,
        "upper": sure.upper,
        "optimality_gap": sure.optimality_gap,
        "reachable_gap": sure.reachable_gap,
        "policy": sure.policy.tolist(),
        "safest": {"policy": sure.safest.policy.tolist(), "lower": sure.safest.lower},
        "curve": None if sure.curve is None else [{"h": _plain_h(h), "gap": gap} for h, gap in sure.curve.items()],
        "limits": [limit._asdict() for limit in sure.limits],
        "over_time": [_look(look, sure.state) for look in found.looks],
        "assumes": list(sure.assumes),
        "notes": list(sure.notes),
        "names": None if found.names is None else {"states": [*found.names[0]], "actions": [*found.names[1]]},
    }


def _bounds(sure: Certificate) -> list[str]:
    lines = [
        ("this policy is worth at least", sure.lower),
        ("the safest policy is worth at least", sure.safest.lower),
        ("the optimum is worth at most", sure.upper),
        ("the optimum is at most this much more", sure.optimality_gap),
    ]
    if sure.reachable_gap is not None and sure.h is not None and math.isfinite(sure.h):
        lines.append((f"what {sure.h:g} more samples could show, at most", sure.reachable_gap))
    return [f"{words:<42} {short(value):>9}" for words, value in lines]


def _look(look: Look, state: int) -> Plain:
    bounds = look.bounds
    return {
        "samples": look.samples,
        "lower": float(bounds.lower[state]),
        "upper": float(bounds.upper[state]),
        "optimality_gap": float(bounds.gap[state]),
        "safest": float(bounds.safest[state]),
        "reachable": None if bounds.reachable is None else float(bounds.reachable[state]),
    }


def _plain_h(h: float) -> float | str:
    return "inf" if math.isinf(h) else h


def _h(h: float) -> str:
    return "inf" if math.isinf(h) else f"{h:g}"
