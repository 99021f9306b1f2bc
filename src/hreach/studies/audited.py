"""What is kept of the audit of a run: columns with a row for each checkpoint, the rest beside them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hreach.studies.identity import Data
from hreach.studies.results import Array, Columns

# Arrays over the checkpoints, besides the steps.
MEASURED = ("error", "bound", "certified_gap", "certified_error", "optimality_gap", "optimality_error")
COUNTED = ("bad_steps", "exploring_steps")


@dataclass(frozen=True)
class Counted:
    """A number of steps that was measured, what was promised ("at most"), and why that says nothing ("" if it does)."""

    measured: float
    bound: float
    why: str


@dataclass(frozen=True)
class OverReach:
    """Over h, infinite included: the certified gap to V^{d*}_h and the true one, after the run; all empty where the
    reward is learnt."""

    h: tuple[float, ...] = ()
    gap: tuple[float, ...] = ()
    error: tuple[float, ...] = ()


@dataclass(frozen=True)
class AuditedRun:
    """A run held against what was promised (`hreach.guarantees.audit`); arrays are over the checkpoints, (C,).

    own_reach          whether h is the agent's own
    largest            the largest value there is: an error as large promises nothing
    step               the checkpoints
    error, bound       the anytime error, and its bound by Corollary 1
    certified_gap, certified_error     V^{d*}_h - V^pi of the certified policy: at most, and truly; nan: not certified
    optimality_gap, optimality_error   V* - V^pi: at most, and truly
    curve              the first two over h
    false              checkpoints at which a certificate was false
    exploration_over   the step from which on no step explores explicitly; None if the last one does
    violations         of Lemma 1
    promised           whether Theorem 1 is about this agent and this h at all
    kept               whether everything that was promised was kept; None if nothing was
    """

    h: int
    own_reach: bool
    eps: float
    delta: float
    steps: int
    largest: float
    step: NDArray[np.int64]
    error: Array
    bound: Array
    certified_gap: Array
    certified_error: Array
    optimality_gap: Array
    optimality_error: Array
    curve: OverReach
    false: int
    bad_steps: Counted
    exploring_steps: Counted
    exploration_over: int | None
    violations: int
    promised: bool
    kept: bool | None
    notes: tuple[str, ...] = field(default=())

    def columns(self, first: int) -> Columns:
        """The columns of the store, of the run of this number."""
        run = np.full(len(self.step), first, dtype=np.int32)
        measured = {name: vars(self)[name] for name in MEASURED}
        return {"run": run, "step": self.step.astype(np.int32), **measured}

    def about(self, first: int) -> Data:
        """Everything but the columns; null is the infinite h, which JSON does not have."""
        rest = {name: value for name, value in vars(self).items() if name not in ("step", *MEASURED)}
        counted = {name: vars(rest[name]) for name in COUNTED}
        reach = [h if np.isfinite(h) else None for h in self.curve.h]
        curve = {"h": reach, "gap": list(self.curve.gap), "error": list(self.curve.error)}
        return {"audit": rest | counted | {"curve": curve, "notes": list(self.notes)}}


def audited_of(columns: Columns, about: Data) -> AuditedRun:
    """An audited run from its shard."""
    saved = dict(about["audit"])
    for name in COUNTED:
        saved[name] = Counted(**saved[name])
    saved["notes"] = tuple(saved["notes"])
    curve = dict(saved["curve"])
    curve["h"] = [np.inf if h is None else h for h in curve["h"]]
    saved["curve"] = OverReach(**{name: tuple(map(float, values)) for name, values in curve.items()})
    saved |= {name: columns[name] for name in MEASURED}
    return AuditedRun(step=columns["step"].astype(np.int64), **saved)
