"""Certificates at the checkpoints of an audit, each held against the truth.

A certificate speaks of the greedy policy of the plan, frozen, of actions as good as equal the lowest; so do the true
values here, which is why they may differ from the audit's own where the agent leaves a tie to chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hreach.agents.tables import TableAgent
from hreach.guarantees.audit.certificates import judged, nearest_value
from hreach.guarantees.certificate import Certificate
from hreach.problems.mdp import TabularMDP

Array = NDArray[np.float64]


class Curve(NamedTuple):
    """After the run, over h (H,), infinite included: the certified gap to V^{d*}_h, and the true one."""

    h: Array
    gap: Array
    error: Array


@dataclass(frozen=True, eq=False)
class Certified:
    """Certificates at the checkpoints, arrays (C,), of the states s_t.

    lower, upper                       V^pi is at least, V* at most this
    policy                             V^pi, true
    reachable_gap, reachable_error     V^{d*}_h - V^pi: at most, and truly; nan where the reward is learnt
    optimality_gap, optimality_error   V* - V^pi: at most, and truly
    false                              names of the statements that were false in some state
    curve                              at the last checkpoint; None where the reward is learnt
    """

    lower: Array
    upper: Array
    policy: Array
    reachable_gap: Array
    reachable_error: Array
    optimality_gap: Array
    optimality_error: Array
    false: tuple[tuple[str, ...], ...]
    curve: Curve | None

    @property
    def violations(self) -> int:
        """Checkpoints at which a statement was false."""
        return sum(bool(names) for names in self.false)

    def columns(self) -> dict[str, Array]:
        """The arrays, by the names that they have in files; `certified_false` counts statements."""
        names = ("lower", "upper", "policy", "reachable_gap", "reachable_error", "optimality_gap", "optimality_error")
        counted = np.array([len(found) for found in self.false], dtype=np.int64)
        return {f"certified_{name}": vars(self)[name] for name in names} | {"certified_false": counted}

    def summary(self, step: NDArray[np.int64]) -> dict[str, object]:
        """Everything but the arrays over the checkpoints, at these steps, as plain data."""
        wrong = [int(t) for t, names in zip(step, self.false, strict=True) if names]
        curve = None if self.curve is None else {name: part.tolist() for name, part in self.curve._asdict().items()}
        return {
            "violations": len(wrong),
            "first_violation": wrong[0] if wrong else None,
            "false_statements": sorted({name for names in self.false for name in names}),
            "curve": curve,
        }


class Certifying:
    """Certifies an agent at checkpoints, and holds each certificate against the truth."""

    def __init__(self, truth: TabularMDP, delta: float) -> None:
        self._truth, self._delta = truth, delta
        self._rows: list[dict[str, float]] = []
        self._false: list[tuple[str, ...]] = []
        self._curve: Curve | None = None

    def __call__(self, agent: TableAgent, h: int, s: int, last: bool) -> None:
        """Look once, in state s; the `last` time also at the curve."""
        known = agent.model.problem.reward is not None
        found = agent.certify(self._delta, state=s, h=h if known else None)
        truth = judged(found, self._truth, agent.model.seen.counts, agent.model.seen.ended)
        own, best = truth.policy[s], truth.optimal[s]
        nearest = np.nan if truth.reachable is None else truth.reachable[s]
        gap = found.reachable_gap
        self._rows.append(
            {
                "lower": found.lower,
                "upper": found.upper,
                "policy": own,
                "reachable_gap": np.nan if gap is None else gap,
                "reachable_error": nearest - own,
                "optimality_gap": found.optimality_gap,
                "optimality_error": best - own,
            }
        )
        self._false.append(truth.false)
        if last and known:
            self._curve = _curve(found, self._truth, agent)

    def result(self) -> Certified:
        """All that was seen."""
        arrays = {name: np.array([row[name] for row in self._rows]) for name in self._rows[0]}
        return Certified(**arrays, false=tuple(self._false), curve=self._curve)


def _curve(found: Certificate, truth: TabularMDP, agent: TableAgent) -> Curve:
    """Of the certificate's state; the truth for every h."""
    gaps = found.curve
    assert gaps is not None
    own, seen = truth.policy_value(found.policy)[found.state], agent.model.seen
    best = [nearest_value(found, h, truth, seen.counts, seen.ended)[found.state] for h in gaps]
    return Curve(np.array(list(gaps)), np.array(list(gaps.values())), np.array(best) - own)


def too_many_false(runs: Sequence[Certified], delta: float) -> bool:
    """Whether some certificate was false in more than the share delta of the runs."""
    return sum(run.violations > 0 for run in runs) > delta * len(runs)
