"""PAC-RMDP(h), Algorithm 1 of the paper: plan with the best that h more samples of each pair could show.

    V~(s) = max_a { sum_s' alpha(s,a,s') / (alpha(s,a) + h) [R(s,a,s') + gamma V~(s')]
                    + h / (alpha(s,a) + h) max_s' [R(s,a,s') + gamma V~(s')] }                     (Paper: Eq. (1))

Rewards that are not known are treated alike, with fewer samples: (n r + c h r_max)/(n + c h), c = .1 (`reward_share`).
The statements of the paper take the reward as known and do not say. With c = 1 every pair pays r_max until it was tried
many times, so every state is worth a visit for its own sake, and a goal that pays r_max once is no better than any of
them: on FrozenLake 8x8 next to nothing is learnt in 50,000 steps for h > 1 (benchmarks/LEARNT_REWARDS.md). Most rewards
are the same every time, and a sample or two say what they are; c = 1 is for those that are as random as transitions.

h = "lifetime" is for those who know: `hreach.optimism.lifetime`.

h = "growing" is h_t = c ln(t + 2), t the number of samples seen so far, for those who do not know how long they live.

What can be said. With probability 1 - delta, |V* - V^{d*}_{L,t,h}| is at most of the order 1/sqrt(n + h), n the samples
of the pair that has fewest (`theory.reachable_error`), and h_t passes every bound: V^{d*}_{L,t,h_t} tends to V*.
A pair that is left alone is judged by the weight h_t/(n + h_t), which tends to 1, so sooner or later by the best that
it could be; with a fixed h the first few samples may decide for ever. While h_t rises from h to h + 1, V~ is at least
that of h (Lemma 1 at h) and its optimism at most that of h + 1, so Theorem 1 and Corollaries 1 and 2 hold for the
steps of this phase with h + 1 in their counts of bad steps and V^{d*} at h: t + 2 grows by the factor e^{1/c} in a
phase and the count like h, that is like ln t, so the share of bad steps tends to 0.

What cannot. The phases do not add up to one statement about a lifetime, no statement knows a best c, and the numbers
of Theorem 1 are far beyond the lifetimes (10^2 to 10^5 steps) at which growing is measured to do well. Whoever needs a
certain h to get unstuck gets it after e^{h/c} steps, which is long for a small c.

h = "adaptive" has no constant to set. With V, Q the values of the model as it is (h = 0) and rewards of at least 0,

    h_t(s, a) = 2 ln(t + 2) min(1, [(1 - gamma) V(s) / (V(s) - Q(s, a))]^2):

pairs of which one try costs no more than losing one step get the whole, dearer ones less, but never less than the share
(1 - gamma)^2, so that h_t passes every bound here too. (Where rewards may be negative, V(s) counts from the lowest
value there is.) This is measured, not proved: the form was found by trying on the two chains, RiverSwim and SixArms,
where after 10,000 steps it loses 2 to 5 % against the best fixed h, as "growing" does with no one c. Of problems that
it was not fitted to, it earns more than every fixed h on one and loses up to 10 % on others, and a third on random MDPs
of 20 states and 4 actions ("growing": a quarter), for whose 80 pairs 10,000 steps are few: benchmarks/GROWING_H.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from hreach.compiling import Array, Formula
from hreach.errors import InputError, array, at_least, positive, require, shown, whole
from hreach.guarantees.theory.ingredients import known_threshold
from hreach.optimism.lifetime import best_of_grid, doubling_times
from hreach.optimism.schedules import adaptive, growing
from hreach.optimism.tabular import TabularOptimism
from hreach.problems.problem import Problem
from hreach.reach.growing import growth, is_growing
from hreach.reach.weight import check_h, reach_formula

ADAPTIVE = 2.0  # c of an adaptive h
REWARD_SHARE = 0.1  # unless given
MODELS, BELIEF = 32, 0.3  # of h = "lifetime", unless given


def build(
    problem: Problem,
    h: ArrayLike | Callable[[float], float],
    c: float | None = None,
    freeze_at: float | str | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    reward_share: float | None = None,
    lifetime: int | None = None,
    models: int | None = None,
    belief: ArrayLike | None = None,
) -> TabularOptimism:
    """h: a number, an array (S, A), or a function of n = alpha(s, a) in plain arithmetic; h >= 0, real.

    Or "growing": h = c ln(t + 2), c above 0, .5 unless given; or "adaptive". When: `hreach.optimism.schedules`.
    Or "lifetime": what promises most for the rest of `lifetime` steps, by `hreach.optimism.lifetime`, in so many
    `models` (32 unless given) drawn from the samples and a `belief`: a number above 0, .3 unless given, or weights
    (S, A, S), such as the mean transitions of problems like this one.

    freeze_at   samples after which a pair is learnt no more (default: never); "theory": the m of Theorem 1 for
                `epsilon` and `delta` (.1 unless given), the agent for which the bounds are proved

    reward_share   of the h samples, those that count for a reward that is learnt (default .1)
    """
    require(reward_share is None or problem.reward is None, "reward_share", reward_share, "left out: rewards are known")
    share = REWARD_SHARE if reward_share is None else at_least("reward_share", reward_share, 0)
    frozen = freeze_at is not None or epsilon is not None or delta is not None
    if frozen and (is_growing(h) or isinstance(h, str) or callable(h)):
        raise InputError(f"h is {shown(h)}, but must be numbers where freeze_at, epsilon or delta is given.")
    if isinstance(h, str) and h == "lifetime":
        require(c is None, "c", c, "left out unless h is 'growing'")
        return _for_a_lifetime(problem, lifetime, models, belief, share)
    for name, value in (("lifetime", lifetime), ("models", models), ("belief", belief)):
        require(value is None, name, value, "left out unless h is 'lifetime'")
    if is_growing(h):
        return TabularOptimism(reach_formula, {"c": growth(c)}, "given", schedule=growing, reward_share=share)
    require(c is None, "c", c, "left out unless h is 'growing'")
    if isinstance(h, str) and h == "adaptive":
        return TabularOptimism(
            reach_formula, {"c": ADAPTIVE}, "given", schedule=adaptive, asks_certainty=True, reward_share=share
        )
    if callable(h):
        return TabularOptimism(_reach_by(h), {}, "given", reward_share=share)
    table = check_h(h)
    shape = (problem.states, problem.actions)
    require(table.shape in ((), shape), "h shape", table.shape, f"a number or an array of shape {shape}")
    facts = _freezing(problem, float(table.max()), freeze_at, epsilon, delta)
    stop = problem.prior + facts["m"] if facts else math.inf
    return TabularOptimism(reach_formula, {"h": table}, "given", facts, stop, reward_share=share)


def _for_a_lifetime(
    problem: Problem, lifetime: int | None, models: int | None, belief: ArrayLike | None, share: float
) -> TabularOptimism:
    require(lifetime is not None, "lifetime", lifetime, "given where h is 'lifetime': how many steps the agent acts")
    steps, drawn = whole("lifetime", lifetime, 1), MODELS if models is None else whole("models", models, 2)
    constants = {"h_at_first": 0.0, "lifetime": steps, "models": drawn, **_believed(problem, belief)}
    return TabularOptimism(
        reach_formula, constants, "given", schedule=doubling_times, lookahead=best_of_grid, lifetime=steps,
        reward_share=share,
    )  # fmt: skip


def _believed(problem: Problem, belief: ArrayLike | None) -> dict[str, ArrayLike]:
    """The belief as constants: a number, or the weights of every next state."""
    if belief is None or np.ndim(belief) == 0:
        return {"belief": BELIEF if belief is None else positive("belief", belief)}
    weights, shape = array("belief", belief), (problem.states, problem.actions, problem.states)
    require(weights.shape == shape, "belief shape", weights.shape, f"a number or an array of shape {shape}")
    ok = bool(np.isfinite(weights).all() and (weights >= 0).all())
    require(ok, "belief", belief, "finite and at least 0 everywhere")
    return {f"belief in {j}": weights[:, :, j] for j in range(problem.states)}


def _freezing(
    problem: Problem, h: float, freeze_at: float | str | None, epsilon: float | None, delta: float | None
) -> dict[str, float]:
    """m, the samples after which a pair is frozen, and the epsilon and delta that it is for; empty: never."""
    if isinstance(freeze_at, str) and freeze_at == "theory":
        e, d = positive("epsilon", epsilon), 0.1 if delta is None else delta
        return {"m": math.ceil(float(known_threshold(problem.sizes, e, d, h))), "epsilon": e, "delta": float(d)}
    require(epsilon is None, "epsilon", epsilon, "left out unless freeze_at is 'theory'")
    require(delta is None, "delta", delta, "left out unless freeze_at is 'theory'")
    require(not isinstance(freeze_at, str), "freeze_at", freeze_at, "a number of samples or 'theory'")
    return {} if freeze_at is None else {"m": positive("freeze_at", freeze_at)}


def _reach_by(h: Callable[[float], float]) -> Formula:
    """`reach_formula` with h a function of the pair's weight; a negative or nan h counts as 0."""
    inner = njit(h)

    def reach_by(counts: Array, total: float, reward: float, parameters: Array) -> tuple[float, float, float]:
        extra = float(inner(total))
        if not extra > 0.0:
            return 0.0, 0.0, 0.0
        if extra > 1e300:
            return 1.0, 0.0, 0.0
        return extra / (total + extra), 0.0, 0.0

    return reach_by
