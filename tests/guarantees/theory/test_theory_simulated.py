"""Theorem 1 and Corollary 2 against simulated runs of Algorithm 1, which never stops learning.

Two states and two actions, so that all is exact and quick: V~, V^{d*} and V_{h=0} are maxima over all policies of a
2 x 2 solve. V^{A_t}(s_t), the value of the agent that goes on learning, is represented by the value of its policy at
time t under the true dynamics. Bounds are checked by one function, and the same function catches a bound whose constant
was divided until it is wrong, and the printed bounds where gamma is near 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

import hreach
from hreach.guarantees.theory import (
    Sizes,
    bad_steps,
    explicit_exploration_runtime,
    exploring_steps,
    first_violation,
    measured_anytime_error,
    measured_exploration_runtime,
    optimism_slack,
    sample_complexity,
)
from hreach.guarantees.theory.bound import Form
from hreach.reach.nearest import reachable_value

Array = NDArray[np.float64]
REACHABLE, ACHIEVED, INTERNAL, CURRENT, STATE, ACTION = range(6)  # columns of a trace


@njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _best(q: Array, R: Array, gamma: float, options: int) -> tuple[float, float]:
    """Optimal values of two states whose option k leads to state 1 with probability q[s, k] and pays R[s, k, s']."""
    top0, top1 = -np.inf, -np.inf
    for i in range(options):
        r0 = (1 - q[0, i]) * R[0, i, 0] + q[0, i] * R[0, i, 1]
        for j in range(options):
            r1 = (1 - q[1, j]) * R[1, j, 0] + q[1, j] * R[1, j, 1]
            apart = (r1 - r0) / (1 - gamma * (q[1, j] - q[0, i]))
            v0 = (r0 + gamma * q[0, i] * apart) / (1 - gamma)
            top0, top1 = max(top0, v0), max(top1, v0 + apart)
    return top0, top1


@njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _trace(P: Array, R: Array, gamma: float, h: float, draws: Array, values: Array, out: Array) -> None:
    """One run from state 0: a row of `out` for each of `draws`. P[s, a] = P(1|s, a); values[a0, a1, s] = V^pi(s)."""
    n = np.zeros((2, 2, 2))
    hopeful, mean, best = np.empty((2, 4)), np.empty((2, 2)), np.empty((2, 2))
    wide = np.empty((2, 4, 2))
    choice = np.zeros(2, np.int64)
    s = 0
    for t in range(len(draws)):
        for x in range(2):
            for a in range(2):
                one, total = n[x, a, 1], n[x, a, 0] + n[x, a, 1]
                after = total + h
                mean[x, a] = one / total if total > 0 else 0.5
                for b in range(2):  # all h samples in state b; nothing known and nothing hoped for: uniform
                    hopeful[x, 2 * a + b] = (one + h * b) / after if after > 0 else 0.5
                    wide[x, 2 * a + b, 0], wide[x, 2 * a + b, 1] = R[x, a, 0], R[x, a, 1]
                k = min(max(np.rint(after * P[x, a] - one), 0.0), h)
                if P[x, a] == 0:
                    k = 0.0
                if P[x, a] == 1:
                    k = h
                best[x, a] = (one + k) / after if after > 0 else 0.5
        V = _best(hopeful, wide, gamma, 4)
        for x in range(2):
            top = -np.inf
            for a in range(2):
                for b in range(2):
                    p = hopeful[x, 2 * a + b]
                    value = (1 - p) * (R[x, a, 0] + gamma * V[0]) + p * (R[x, a, 1] + gamma * V[1])
                    if value > top + 1e-9:
                        top, choice[x] = value, a
        out[t, 0] = _best(best, R, gamma, 2)[s]
        out[t, 1] = values[choice[0], choice[1], s]
        out[t, 2] = V[s]
        out[t, 3] = _best(mean, R, gamma, 2)[s]
        out[t, 4], out[t, 5] = s, choice[s]
        following = 1 if draws[t] < P[s, choice[s]] else 0
        n[s, choice[s], following] += 1
        s = following


@njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _counts(P: Array, R: Array, gamma: float, h: float, eps: float, draws: Array, values: Array, out: Array) -> None:
    """For each run (eps-bad steps, steps of explicit exploration, the last bad step)."""
    trace = np.empty((draws.shape[1], 6))
    for run in range(len(draws)):
        _trace(P, R, gamma, h, draws[run], values, trace)
        out[run] = 0
        for t in range(len(trace)):
            if trace[t, 0] - trace[t, 1] > eps:
                out[run, 0] += 1
                out[run, 2] = t + 1
            out[run, 1] += abs(trace[t, 2] - trace[t, 3]) > eps


class World(NamedTuple):
    """Two states, two actions: P[s, a] = P(1|s, a), R[s, a, s'] in [0, 1]."""

    P: Array
    R: Array
    gamma: float
    per_transition: bool

    @property
    def sizes(self) -> Sizes:
        return Sizes(2, 2, self.gamma, 1.0, self.per_transition)

    def mdp(self) -> hreach.TabularMDP:
        return hreach.TabularMDP(np.stack([1 - self.P, self.P], axis=-1), self.R, self.gamma)

    def values(self) -> Array:
        mdp = self.mdp()
        return np.array([[mdp.policy_value(np.array([a, b])) for b in range(2)] for a in range(2)])

    def trace(self, h: int, steps: int, seed: int) -> Array:
        out = np.empty((steps, 6))
        _trace(self.P, self.R, self.gamma, float(h), np.random.default_rng(seed).random(steps), self.values(), out)
        return out

    def counts(self, h: int, eps: float, runs: int, steps: int, seed: int) -> Array:
        out = np.empty((runs, 3))
        draws = np.random.default_rng(seed).random((runs, steps))
        _counts(self.P, self.R, self.gamma, float(h), eps, draws, self.values(), out)
        return out


def random_world(seed: int, gamma: float) -> World:
    rng = np.random.default_rng(seed)
    per_transition = bool(seed % 2)
    R = rng.random((2, 2, 2)) if per_transition else np.repeat(rng.random((2, 2, 1)), 2, axis=2)
    return World(rng.random((2, 2)) ** 2, R, gamma, per_transition)


def bandit() -> World:
    """gamma = .1, and it pays to arrive in state 1: often by action 0, seldom by action 1."""
    R = np.zeros((2, 2, 2))
    R[..., 1] = 1
    return World(np.array([[0.95, 0.05], [0.95, 0.05]]), R, 0.1, True)


def way_out(gamma: float, pay: float = 0.5) -> World:
    """State 0 pays `pay` for staying (action 1) and nothing for trying, in vain, to get to state 1, which pays 1."""
    R = np.ones((2, 2, 2))
    R[0, 0], R[0, 1] = 0, pay
    return World(np.array([[1e-12, 0.0], [1.0, 1.0]]), R, gamma, False)


def holds(bound: float, counts: Array, delta: float) -> bool:
    """The test of a bound: not exceeded in at least 1 - delta of the runs."""
    return float(np.mean(counts <= bound)) >= 1 - delta


def divided_until_wrong(bound: float, counts: Array, delta: float) -> float:
    """The bound divided by 10 as often as it takes to be caught."""
    while holds(bound, counts, delta) and bound > 1e-3:
        bound /= 10
    return bound


# --- the simulation is Algorithm 1 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [0, 1, 5])
@pytest.mark.parametrize("seed", range(6))
def test_lemma_1_holds_along_traces_that_agree_with_the_library(seed: int, h: int) -> None:
    world = random_world(seed, 0.8)
    mdp, trace = world.mdp(), world.trace(h, 60, seed)
    agent: Any = hreach.make_agent("pac-rmdp", mdp, h=h, prior=0, tolerance=1e-12, reward=world.R)
    greedy: Any = hreach.make_agent("greedy", mdp, prior=0, tolerance=1e-12, reward=world.R)
    states = [int(s) for s in trace[:, STATE]]
    for t in range(59):
        s, a = states[t], int(trace[t, ACTION])
        assert trace[t, INTERNAL] == pytest.approx(agent.internal_value()[s], abs=1e-9)
        assert trace[t, CURRENT] == pytest.approx(greedy.internal_value()[s], abs=1e-9)
        assert agent.action_values()[s, a] == pytest.approx(agent.action_values()[s].max(), abs=1e-8)
        policy = np.argmax(agent.action_values(), axis=1)
        gaps = np.abs(np.diff(agent.action_values(), axis=1))
        if gaps.min() > 1e-7:
            assert trace[t, ACHIEVED] == pytest.approx(mdp.policy_value(policy)[s], abs=1e-9)
        n = agent.model.seen.counts
        fraction = (n.sum(axis=2) + h) * world.P % 1
        if np.abs(fraction - 0.5).min() > 1e-9:  # else two reachable models are equally near
            assert trace[t, REACHABLE] == pytest.approx(reachable_value(n, h, mdp, ties="first")[s], abs=1e-9)
        for learner in (agent, greedy):
            learner.observe(s, a, 0.0, states[t + 1])
    slack = optimism_slack(trace[:, INTERNAL], trace[:, REACHABLE])
    assert first_violation(slack) is None
    assert first_violation(np.concatenate([slack, [-1.0, 0.0]])) == 60


def test_lemma_1_is_broken_by_an_agent_of_less_optimism() -> None:
    broken = 0
    for seed in range(20):
        world = random_world(seed, 0.8)
        reachable, internal = world.trace(5, 60, seed)[0, REACHABLE], world.trace(0, 60, seed)[0, INTERNAL]
        broken += first_violation(optimism_slack([internal], [reachable])) == 0
    assert broken >= 5


def test_the_counts_are_those_of_the_definitions() -> None:
    world, eps = random_world(3, 0.9), 0.4
    for seed in range(5):
        trace, counts = world.trace(4, 300, seed), world.counts(4, eps, 1, 300, seed)[0]
        assert bad_steps(trace[:, REACHABLE], trace[:, ACHIEVED], eps) == counts[0]
        assert exploring_steps(trace[:, INTERNAL], trace[:, CURRENT], eps) == counts[1] > 0
        error = measured_anytime_error(trace[:, REACHABLE], trace[:, ACHIEVED])
        assert np.max(np.flatnonzero(error > eps), initial=-1) + 1 == counts[2]
        over = int(measured_exploration_runtime(trace[:, INTERNAL], trace[:, CURRENT], eps))
        assert counts[1] <= over <= 300


# --- Theorem 1 ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [1, 8])
def test_theorem_1_is_not_beaten_by_10000_runs_and_a_wrong_constant_is_caught(h: int) -> None:
    """40 random problems, 250 runs each, gamma = .9 and eps = V/10.

    The runs are shorter than the bound, so this can only fail by way of its twin; the next test can fail by itself.
    """
    eps, delta, caught = 1.0, 0.1, 0
    for seed in range(40):
        world = random_world(seed, 0.9)
        counts = world.counts(h, eps, 250, 1000, seed)[:, 0]
        bound = float(sample_complexity(world.sizes, eps, delta, h))
        assert holds(bound, counts, delta)
        caught += divided_until_wrong(bound, counts, delta) >= 1  # while it still allows a step
    assert caught >= 5


def test_theorem_1_holds_for_lives_longer_than_the_bound() -> None:
    """Here the bound is smaller than the number of steps, so it could be exceeded."""
    world, eps, delta, h, steps = bandit(), 0.9, 0.5, 8, 15_000
    bound = sample_complexity(world.sizes, eps, delta, h)
    assert not bool(bound.vacuous)
    assert float(bound) < steps
    counts = world.counts(h, eps, 200, steps, seed=1)[:, 0]
    assert holds(float(bound), counts, delta)
    assert divided_until_wrong(float(bound), counts, delta) >= 1


@pytest.mark.parametrize(("form", "gamma", "steps"), [("printed", 0.99, 60_000), ("proof", 0.9999, 2_000_000)])
def test_theorem_1_as_printed_is_beaten_for_gamma_near_one(form: Form, gamma: float, steps: int) -> None:
    """Optimism about a way out fades after h/(1-gamma) vain tries; as printed, h |S||A| (V/eps)^2, for large h.

    eps is .49 V, the way out does not open in any of these runs, and trying it when staying earns V/2 is eps-bad.
    """
    world, delta, h = way_out(gamma), 0.5, 103
    eps = 0.49 * world.sizes.top
    counts = world.counts(h, eps, 2, steps, seed=0)[:, 0]
    assert not holds(float(sample_complexity(world.sizes, eps, delta, h, form)), counts, delta)
    assert holds(float(sample_complexity(world.sizes, eps, delta, h)), counts, delta)


# --- Corollary 2 ----------------------------------------------------------------------------------------------------


def test_corollary_2_is_not_beaten_by_10000_runs_and_a_wrong_constant_is_caught() -> None:
    eps, delta, h, caught = 1.0, 0.1, 8, 0
    for seed in range(40):
        world = random_world(seed, 0.9)
        counts = world.counts(h, eps, 250, 300, seed)[:, 1]
        bound = float(explicit_exploration_runtime(world.sizes, eps, delta, h))
        assert holds(bound, counts, delta)
        caught += divided_until_wrong(bound, counts, delta) >= 1
    assert caught >= 30


@pytest.mark.parametrize(("form", "gamma", "steps"), [("printed", 0.999, 40_000), ("proof", 0.9999, 400_000)])
def test_corollary_2_as_printed_is_beaten_for_gamma_near_one(form: Form, gamma: float, steps: int) -> None:
    """|V~ - V_{h=0}| > V/10 for h/(1-gamma) steps and more; as printed, of the order h |S||A| (V/eps)^2."""
    world, delta, h = way_out(gamma), 0.5, 1
    eps = 0.1 * world.sizes.top
    counts = world.counts(h, eps, 2, steps, seed=0)[:, 1]
    assert not holds(float(explicit_exploration_runtime(world.sizes, eps, delta, h, form=form)), counts, delta)
    assert holds(float(explicit_exploration_runtime(world.sizes, eps, delta, h)), counts, delta)
