"""The steps of the corrected arguments, exactly: nothing is drawn at random in them once the counts are there.

Theorem 1, for every state s, K the pairs with m samples or more, e the largest L1 error in K:

    V^A(s) >= V^{d*}_h(s) - V Pr_s(leave K within H steps) - gamma^H V - kappa (h/(m + h) + e/2).

Corollary 2, with gamma' = (1+gamma)/2, eta = (1-gamma)/(2 gamma), P^ <= (1 + eta) P + c/m on K:

    V~(s) - V_{h=0}(s) <= V Pr_s(leave K within H steps) + gamma'^H V + 2 kappa h/m + 2/(1-gamma) gamma |S| V c/m.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from hreach import TabularMDP
from hreach.guarantees.theory import Sizes
from hreach.models.counts import predict
from hreach.reach.nearest import reachable_value

Array = NDArray[np.float64]
HORIZONS = [1, 3, 10, 60]


class Case(NamedTuple):
    """A problem with rewards in [0, 1], counts (S, A, S), and m: pairs with fewer samples are unknown."""

    mdp: TabularMDP
    counts: Array
    m: float
    h: int

    @property
    def sizes(self) -> Sizes:
        per_transition = self.mdp.reward_table().ndim == 3
        return Sizes(self.mdp.states, self.mdp.actions, self.mdp.gamma, 1.0, per_transition)

    @property
    def known(self) -> NDArray[np.bool_]:
        return np.asarray(self.counts.sum(axis=2) >= self.m)

    def internal(self) -> tuple[Array, NDArray[np.int64]]:
        """V~ and its policy, by an MDP whose actions are pairs (action, state that h samples are hoped to show)."""
        S, A = self.mdp.states, self.mdp.actions
        hoped = self.counts[:, :, None, :] + self.h * np.eye(S)
        P = hoped / hoped.sum(axis=3, keepdims=True)
        R = np.broadcast_to(self.mdp.reward_table().reshape(S, A, 1, -1), P.shape)
        wide = TabularMDP(P.reshape(S, A * S, S), R.reshape(S, A * S, S), self.mdp.gamma)
        return wide.optimal_value(), wide.optimal_policy() // S

    def leaving(self, policy: NDArray[np.int64], H: int) -> Array:
        """Pr_s that the policy takes an unknown pair within H steps of the true dynamics."""
        here = np.arange(self.mdp.states)
        unknown, P = ~self.known[here, policy], self.mdp.transitions()[here, policy]
        chance = np.zeros(self.mdp.states)
        for _ in range(H):
            chance = np.where(unknown, 1.0, P @ chance)
        return chance


def draw_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    S, A, m, h = int(rng.integers(2, 5)), 2, int(rng.integers(5, 60)), int(rng.integers(1, 9))
    P = rng.random((S, A, S)) ** 4 + 1e-3
    P /= P.sum(axis=2, keepdims=True)
    R = rng.random((S, A, S) if seed % 2 else (S, A)) ** 3
    samples = np.where(rng.random((S, A)) < 0.75, rng.integers(m, 4 * m, (S, A)), rng.integers(0, m, (S, A)))
    counts = np.array([[rng.multinomial(samples[s, a], P[s, a]) for a in range(A)] for s in range(S)], dtype=float)
    return Case(TabularMDP(P, R, float(rng.choice([0.5, 0.9, 0.97]))), counts, float(m), h)


def shortfall(case: Case, H: int, escape: bool = True) -> float:
    """By how much the inequality of Theorem 1 fails, at most over s (negative: it holds)."""
    s = case.sizes
    _, policy = case.internal()
    reachable, achieved = reachable_value(case.counts, case.h, case.mdp), case.mdp.policy_value(policy)
    apart = np.abs(predict(case.counts) - case.mdp.transitions()).sum(axis=2)[case.known].max(initial=0)
    known = s.error_scale() * (case.h / (case.m + case.h) + apart / 2)
    chance = case.leaving(policy, H) if escape else 0.0
    return float(np.max(reachable - achieved - s.top * chance - s.gamma**H * s.top - known))


def excess(case: Case, H: int, belief: bool = True) -> float:
    """By how much the inequality of Corollary 2 fails, at most over s."""
    s, gamma = case.sizes, case.mdp.gamma
    internal, policy = case.internal()
    mean = predict(case.counts)
    current = TabularMDP(mean / mean.sum(axis=2, keepdims=True), case.mdp.reward_table(), gamma).optimal_value()
    over = mean - (1 + (1 - gamma) / (2 * gamma)) * case.mdp.transitions()
    c = case.m * np.maximum(over, 0)[case.known].max(initial=0) if belief else 0.0
    known = 2 * s.error_scale() * case.h / case.m + 2 / (1 - gamma) * gamma * s.states * s.top * c / case.m
    bound = s.top * case.leaving(policy, H) + ((1 + gamma) / 2) ** H * s.top + known
    return float(np.max(internal - current - bound))


@pytest.mark.parametrize("seed", range(60))
def test_theorem_1_the_corrected_chain_of_inequalities_holds(seed: int) -> None:
    case = draw_case(seed)
    for H in HORIZONS:
        assert shortfall(case, H) <= 1e-9


@pytest.mark.parametrize("seed", range(60))
def test_corollary_2_the_corrected_chain_of_inequalities_holds(seed: int) -> None:
    case = draw_case(seed)
    for H in HORIZONS:
        assert excess(case, H) <= 1e-9


def test_theorem_1_without_the_escape_the_chain_breaks() -> None:
    """The twin: five vain tries of a way to state 1 are not enough to give it up, and staying would earn V/2."""
    P = np.array([[[1 - 1e-9, 1e-9], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]])
    counts = np.array([[[5.0, 0.0], [1e4, 0.0]], [[0.0, 1e4], [0.0, 1e4]]])
    case = Case(TabularMDP(P, [[0.0, 0.5], [1.0, 1.0]], 0.9), counts, 1e4, 100)
    assert shortfall(case, 60) <= 0
    assert shortfall(case, 60, escape=False) > 1


def test_corollary_2_h_alone_does_not_do() -> None:
    """20 of 2000 samples tell of a way to an unknown pair that is hardly there: a gap, but no escapes to close it."""
    P = np.array([[[1 - 1e-7, 1e-7]], [[0.0, 1.0]]])
    counts = np.array([[[1980.0, 20.0]], [[0.0, 0.0]]])
    case = Case(TabularMDP(P, [[0.0], [1.0]], 0.9), counts, 2000.0, 1)
    assert excess(case, 200) <= 0
    assert excess(case, 200, belief=False) > 0.1
