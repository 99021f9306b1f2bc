"""What a choice promises: of (eps, delta, h, t) whatever is not given follows from the rest. Paper: Theorem 1.

eps, delta, h  ->  t        after how many steps Theorem 1 holds        `sample_complexity`
t, delta, h    ->  eps      the anytime error                            `anytime_error`
eps, delta, t  ->  h        the largest h that t steps can afford        `affordable_h`
eps, h, t      ->  delta    the failure probability                      `failure_probability`
eps, delta     ->  h, t     h*(eps, delta): near-optimal, not only near what is reachable

The statements are proved for an agent that stops learning a pair after m samples (`hreach.guarantees.theory.discrete`).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from hreach.errors import InputError
from hreach.guarantees.theory.bound import Bound, Form
from hreach.guarantees.theory.discrete import (
    PROVED_FOR,
    affordable_h,
    anytime_error,
    failure_probability,
    h_star,
    sample_complexity,
)
from hreach.guarantees.theory.exploration import explicit_exploration_runtime
from hreach.guarantees.theory.ingredients import horizon
from hreach.guarantees.theory.loss import average_loss
from hreach.guarantees.theory.orders import bolt_sample_complexity, mbie_sample_complexity
from hreach.problems.sizes import Sizes

FROM_DATA = (
    "What the data of a run promise, at any time and by themselves, is said by its certificate: "
    "agent.certify(), hreach certify."
)


@dataclass(frozen=True)
class Line:
    """One number of the table: what it is, the value, and why it promises nothing, or ""."""

    name: str
    value: float
    why: str
    source: str


@dataclass(frozen=True)
class Promise:
    """eps, delta, h and t that belong together; `found` names those that were computed, `why` says what is empty."""

    sizes: Sizes
    form: Form
    eps: float
    delta: float
    h: float
    t: float
    found: tuple[str, ...]
    why: str
    lines: tuple[Line, ...]

    @property
    def sentence(self) -> str:
        """The promise in plain words."""
        if math.isnan(self.h):
            return f"No h can be afforded in {self.t:.2g} steps: {self.why}."
        if self.why:
            return f"With h = {self.h:.4g} and {self.t:.2g} steps nothing is promised: {self.why}."
        return (
            f"With h = {self.h:.4g} all but {self.t:.2g} steps of the agent are within {self.eps:.3g} of the best that "
            f"{self.h:.4g} more samples of each pair can reach, except with probability {self.delta:.3g}; "
            f"to a run of fewer steps this bound promises nothing. Proved for {PROVED_FOR}."
        )

    def to_dict(self) -> dict[str, object]:
        """Plain data for programs; a number that is infinite or none becomes None."""
        given = {"eps": self.eps, "delta": self.delta, "h": self.h, "t": self.t}
        numbers = {name: value if math.isfinite(value) else None for name, value in given.items()}
        lines = [{**asdict(line), "value": line.value if math.isfinite(line.value) else None} for line in self.lines]
        about = {"sizes": asdict(self.sizes), "form": self.form, "proved_for": PROVED_FOR}
        return {
            **about,
            "computed": list(self.found),
            **numbers,
            "vacuous": bool(self.why),
            "why": self.why,
            "sentence": self.sentence,
            "numbers": lines,
        }


def promise(
    sizes: Sizes,
    *,
    eps: float | None = None,
    delta: float | None = None,
    h: float | None = None,
    t: float | None = None,
    form: Form = "corrected",
) -> Promise:
    """Everything that follows from what is given; see the module for what can be left out.

    >>> from hreach.guarantees.theory import Sizes, promise
    >>> found = promise(Sizes(5, 2, 0.95), eps=2.0, delta=0.1, h=8)
    >>> found.found, f"{found.t:.1e}"
    (('t',), '2.8e+11')
    """
    known = {n: v for n, v in (("eps", eps), ("delta", delta), ("h", h), ("t", t)) if v is not None}
    missing = tuple(name for name in ("eps", "delta", "h", "t") if name not in known)
    why = ""
    if missing == ("h", "t"):
        known["h"], why = _number(h_star(sizes, known["eps"], known["delta"], form))
    elif len(missing) > 1:
        raise InputError(
            f"given is {', '.join(known) or 'none'} of eps, delta, h, t, but must be three of them, or eps and delta."
        )
    if missing[:1] == ("eps",):
        known["eps"], why = _number(anytime_error(sizes, known["t"], known["delta"], known["h"], form))
    elif missing[:1] == ("delta",):
        known["delta"], why = _number(failure_probability(sizes, known["eps"], known["h"], known["t"], form))
    elif missing == ("h",):
        known["h"], why = _number(affordable_h(sizes, known["eps"], known["delta"], known["t"], form))
    else:
        needed, empty = _number(sample_complexity(sizes, known["eps"], known["delta"], known["h"], form))
        if known.setdefault("t", needed) < needed:
            empty = empty or f"Theorem 1 needs {needed:.2g} steps for this"
        why = why or empty
    e, d, h_, steps = (float(known[name]) for name in ("eps", "delta", "h", "t"))
    return Promise(sizes, form, e, d, h_, steps, missing, why, _lines(sizes, e, d, h_, steps, form))


def _lines(sizes: Sizes, eps: float, delta: float, h: float, t: float, form: Form) -> tuple[Line, ...]:
    """Numbers beside the promise, and the rivals' at the same eps and delta."""
    lines = [Line("horizon H'", float(horizon(sizes, eps)), "", "Theorem 1")]
    if not 0 < delta < 1:
        return tuple(lines)

    def add(name: str, bound: Bound, source: str) -> None:
        value, why = _number(bound)
        lines.append(Line(name, value, why, source))

    add("h*(eps, delta)", h_star(sizes, eps, delta, form), "Theorem 1")
    if math.isfinite(h) and h >= 0:
        add(
            "steps of explicit exploration",
            explicit_exploration_runtime(sizes, eps, delta, h, form=form),
            "Corollary 2",
        )
        if math.isfinite(t) and t >= 1:
            add("average loss up to t", average_loss(sizes, math.floor(t), delta, h, form), "Corollary 1")
    add("MBIE, order of steps", mbie_sample_complexity(sizes, eps, delta), "Remark 1")
    H = max(1.0, float(horizon(sizes, eps)))
    add("BOLT, order of steps", bolt_sample_complexity(sizes, eps, delta, H), "Remark 2")
    return tuple(lines)


def _number(bound: Bound) -> tuple[float, str]:
    return float(bound.value.reshape(-1)[0]), str(bound.why.reshape(-1)[0])
