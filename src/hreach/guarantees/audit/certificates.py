"""A certificate beside the truth: what its statements speak of, and which of them are false."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hreach.guarantees.certificate import Certificate
from hreach.models.counts import outcome_counts
from hreach.problems.mdp import TabularMDP
from hreach.protocols import Floats
from hreach.reach.nearest import reachable_optimum

_ROUNDING = 1e-9  # relative to the range of values


class Judged(NamedTuple):
    """The truth about a certificate, arrays (S,).

    policy      V^pi of the certified policy; optimal: V*
    reachable   V^{d*}_h, ties to the largest, of the certificate's h; None where it speaks of none
    false       names of the statements that are false in some state
    """

    policy: Floats
    optimal: Floats
    reachable: Floats | None
    false: tuple[str, ...]


def judged(certificate: Certificate, truth: TabularMDP, counts: Floats, ended: Floats | None = None) -> Judged:
    """Hold a certificate against the truth; `truth` pays what the certificate takes as the reward.

    counts   (S, A, S) alpha, the prior's weight included: what V^{d*}_h is reached from; ended: (S, A, S)
    """
    bounds, sets = certificate.bounds, certificate.sets
    allowed = _ROUNDING * (sets.v_max - sets.v_min)
    alive = ~sets.rows.closed
    own, safest = truth.policy_value(certificate.policy), truth.policy_value(bounds.safest_policy)
    best, nearest = truth.optimal_value(), None
    excess = {
        "lower": bounds.lower - own,
        "safest": bounds.safest - safest,
        "upper": best - bounds.upper,
        "optimality_gap": best - own - bounds.gap,
    }
    if bounds.reachable is not None and certificate.h is not None:
        nearest = nearest_value(certificate, certificate.h, truth, counts, ended)
        excess["reachable"] = nearest - bounds.reachable
        excess["reachable_gap"] = nearest - own - np.maximum(bounds.reachable - bounds.lower, 0.0)
    false = tuple(name for name, by in excess.items() if bool((by[alive] > allowed).any()))
    return Judged(own, best, nearest, false)


def broken(certificate: Certificate, truth: TabularMDP, counts: Floats, ended: Floats | None = None) -> tuple[str, ...]:
    """`judged(...).false`."""
    return judged(certificate, truth, counts, ended).false


def nearest_value(
    certificate: Certificate, h: float, truth: TabularMDP, counts: Floats, ended: Floats | None
) -> Floats:
    """V^{d*}_h, (S,), ties to the largest."""
    if np.isinf(h):
        return truth.optimal_value()
    outcomes, closed = truth.transitions(), certificate.sets.rows.closed
    if truth.ends:
        going = np.zeros(counts.shape) if ended is None else ended
        counts = outcome_counts(counts, going)
        outcomes = np.concatenate([outcomes - truth.endings(), truth.endings()], axis=2)
    reward = truth.reward_table()
    return reachable_optimum(counts, int(h), outcomes, reward, truth.gamma, ties="largest", worthless=closed).value
