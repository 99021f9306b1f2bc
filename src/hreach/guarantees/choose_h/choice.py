"""Which h fits a lifetime: bounds and simulations for a grid of h, side by side.

The problem at hand is not known, so it is stood in for by *surrogates*: domains or MDPs that are like it, or a family
of random MDPs of its size (`surrogates.py`). For each h, over the same surrogates and the same random numbers:

    bounds    the explicit exploration runtime (Paper: Corollary 2) and the anytime error at T (Paper: Corollary 1)
    average   reward per step over the lifetime, mean over runs, with a bootstrap interval (runs resampled within each
              surrogate); where the optima of all surrogates cost and their episodes end, reward per episode
    loss      what is missing to the average of the fixed h that earned most in these runs, which is known in hindsight
              only, as a share of its size
    stuck     the share of runs that never took a pair of the set B below
    poor end  the share of runs that earned less than half of the optimum in the last tenth of the lifetime (where the
              optimum is a cost: paid half as much again)

Let pi be an optimal policy of the surrogate and mu(s) the share of time that pi spends in s in the long run, from the
start distribution. Its support is {(s, pi(s)): mu(s) > 0}, and B are the pairs of the support with the largest expected
reward. Whoever has never taken a pair of B has never been paid as the optimal policy is paid at its best.

Bounds of a growing h are those of its value at T, h_T; they hold for its last phase only (`hreach.optimism.pac_rmdp`).
An adaptive h has one for each pair and no bound, nor has one from the lifetime, which has runs of its own for each.

>>> choice = choose_h(300, 0.95, surrogates="chain", hs=[1, 8, "growing"], runs=5, threads=1)
>>> [row["h"] for row in choice.rows()]
['1', '8', 'growing']
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from hreach.errors import discount, positive, require, whole
from hreach.guarantees.choose_h.candidates import HS, Candidate, candidates
from hreach.guarantees.choose_h.lifetimes import Trial, earned_in, trials_of
from hreach.guarantees.choose_h.option import Option, bounds_of
from hreach.guarantees.choose_h.recommending import ENDS, losses_against_best, recommended
from hreach.guarantees.choose_h.surrogates import Surrogate, family, given, largest_sizes, listed, true_mdp
from hreach.guarantees.theory import PROVED_FOR
from hreach.guarantees.theory.bound import check_delta
from hreach.running.progress import Telling, telling
from hreach.statistics import resampled_means

Array = NDArray[np.float64]
GAMMA = 0.95  # of random MDPs, unless given
RESAMPLES = 2000
_TENTH = 0.1


@dataclass(frozen=True, eq=False)
class Choice:
    """The options in the order of `hs`, the recommended one, and why.

    lifetimes: (L,), the last one is `lifetime`; averages: (H, L), the average reward of every h up to every one of
    them; losses: (H, L, 3), the loss against the fixed h that is best up to then, and the ends of its bootstrap
    interval; nan where there is no fixed h or none earned anything.
    """

    lifetime: int
    gamma: float
    epsilon: float
    delta: float
    runs: int
    seed: int
    surrogates: tuple[str, ...]
    unit: str  # of averages and optimum: per "step" or per "episode"
    optimum: float  # what the optimal policies earn in the long run, mean over the surrogates
    options: tuple[Option, ...]
    recommended: str
    reason: str
    lifetimes: NDArray[np.int64]
    averages: Array
    losses: Array

    @property
    def proved_for(self) -> str:
        """The agent for which the bounds are proved."""
        return PROVED_FOR

    def rows(self) -> list[dict[str, float | str | bool | None]]:
        """One dict for each h: the fields of `Option` and whether it is recommended."""
        return [{**asdict(o), "recommended": o.h == self.recommended} for o in self.options]

    def to_json(self) -> str:
        """Everything, as JSON."""
        arrays = ("options", "lifetimes", "averages", "losses")
        single = {name: value for name, value in vars(self).items() if name not in arrays}
        single["proved_for"] = self.proved_for
        tables = {"lifetimes": self.lifetimes.tolist(), "averages": self.averages.tolist()}
        tables["losses"] = [[[_or_none(x) for x in cell] for cell in row] for row in self.losses.tolist()]
        return json.dumps({**single, "options": self.rows(), **tables}, indent=1)


def choose_h(
    lifetime: int,
    gamma: float | None = None,
    *,
    sizes: tuple[int, int] | None = None,
    surrogates: Surrogate | Sequence[Surrogate] | None = None,
    hs: Sequence[float | str] = HS,
    runs: int = 100,
    seed: int = 0,
    epsilon: float | None = None,
    delta: float = 0.1,
    members: int = 10,
    lifetimes: Sequence[int] | None = None,
    threads: int | None = None,
    progress: Telling = None,
) -> Choice:
    """Compare `hs` for an agent that acts for `lifetime` steps.

    gamma        discount; default: the surrogates' own, .95 for random MDPs; the bounds take the largest
    sizes        (|S|, |A|): the surrogates are `members` random MDPs of that size
    surrogates   instead: the name of a domain, an environment with `.mdp()`, a `TabularMDP`, or a sequence of these
    hs           numbers of at least 0, "growing" (c = .5), "growing:c", "adaptive", "lifetime" (which takes longest)
    runs         simulated runs for each h, shared among the surrogates (each gets at least one)
    epsilon      accuracy of the explicit exploration bound; default: a tenth of the range of values
    delta        failure probability of the bounds
    lifetimes    shorter lifetimes to be reported too, the beginnings of the same runs (but for h = "lifetime");
                 default: twelve, evenly spaced on a logarithmic scale
    progress     called with the number of runs that were finished since its last call; True shows a bar

    Recommended is, among the h that cannot be told from the best average (the 95 % bootstrap interval of the difference
    contains 0), the one that got stuck least often, and of these the one that earned most.
    """
    steps, runs = whole("lifetime", lifetime, 1), whole("runs", runs, 1)
    discounted = None if gamma is None else discount(gamma)
    seed, confidence = whole("seed", seed, 0), float(check_delta(delta))
    require((sizes is None) != (surrogates is None), "sizes", sizes, "given if surrogates are not, and only then")
    tried = candidates(hs)
    own = GAMMA if discounted is None else discounted
    problems = family(sizes, own, whole("members", members, 1), seed) if sizes else given(surrogates)
    truths = [true_mdp(env, discounted) for _, env in problems]
    largest = largest_sizes(problems, truths)
    accuracy = _TENTH * largest.top if epsilon is None else positive("epsilon", epsilon)
    share = max(1, round(runs / len(problems)))
    upto = _lifetimes(steps, lifetimes)
    trials = trials_of([env for _, env in problems], truths)
    earned, failed = _simulated(tried, trials, share, upto, seed, threads, progress)
    averages, shares = earned.mean(axis=(1, 2)), failed.mean(axis=(1, 2))
    # The same runs are drawn for every h and lifetime, because they share their random numbers.
    means = resampled_means(earned.transpose(1, 2, 0, 3), RESAMPLES, np.random.default_rng((seed, 1)))
    losses = losses_against_best(averages, means, [i for i, each in enumerate(tried) if each.fixed])
    options = tuple(
        Option(
            each.label,
            each.after(steps),
            *bounds_of(each.after(steps), largest, accuracy, confidence, steps),
            float(averages[i, -1]),
            *(float(end) for end in np.quantile(means[:, i, -1], ENDS)),
            *(_or_none(x) for x in losses[i, -1].tolist()),
            *(float(x) for x in shares[i]),
        )
        for i, each in enumerate(tried)
    )
    unit = "episode" if trials[0].per_episode else "step"
    chosen, reason = recommended(options, means[:, :, -1], steps, unit)
    return Choice(
        lifetime=steps,
        gamma=largest.gamma,
        epsilon=accuracy,
        delta=confidence,
        runs=share * len(problems),
        seed=seed,
        surrogates=tuple(name for name, _ in problems),
        unit=unit,
        optimum=float(np.mean([trial.optimum for trial in trials])),
        options=options,
        recommended=chosen,
        reason=reason,
        lifetimes=upto,
        averages=averages,
        losses=losses,
    )


def _simulated(
    tried: Sequence[Candidate], trials: Sequence[Trial], runs: int, upto: NDArray[np.int64], seed: int,
    threads: int | None, progress: Telling,
) -> tuple[Array, NDArray[np.bool_]]:  # fmt: skip
    """What each run of each h on each problem P earned up to each lifetime (H, P, runs, L); how it failed (..., 2)."""
    earned = np.empty((len(tried), len(trials), runs, len(upto)))
    failed = np.empty((len(tried), len(trials), runs, 2), dtype=np.bool_)
    with telling(progress, failed[..., 0].size, "runs") as finished:
        for i, each in enumerate(tried):
            for j, trial in enumerate(trials):
                params = {**each.params, "gamma": trial.truth.gamma}
                earned[i, j], failed[i, j] = earned_in(trial, params, runs, upto, (seed, j), threads, finished)
    return earned, failed


def _lifetimes(steps: int, given: Sequence[int] | None) -> NDArray[np.int64]:
    """The lifetimes to be reported, the whole one last."""
    if given is None:
        return np.unique(np.geomspace(min(steps, 100), steps, 12).round().astype(np.int64))
    shorter = [whole("lifetimes", t, 1) for t in listed("lifetimes", given)]
    require(max(shorter) <= steps, "lifetimes", given, f"at most the lifetime, {steps}")
    return np.unique(np.array([*shorter, steps], dtype=np.int64))


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
