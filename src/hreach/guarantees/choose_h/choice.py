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
An adaptive h has one for each pair and no bound.

>>> choice = choose_h(300, 0.95, surrogates="chain", hs=[1, 8, "growing"], runs=5, threads=1)
>>> [row["h"] for row in choice.rows()]
['1', '8', 'growing']
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hreach.errors import InputError, at_least, discount, positive, require, shown, whole
from hreach.guarantees.choose_h.lifetimes import Trial, lived, optimal_earnings
from hreach.guarantees.choose_h.surrogates import best_pairs, family, given, listed, told_sizes, true_mdp
from hreach.guarantees.theory import PROVED_FOR, Sizes, anytime_error, explicit_exploration_runtime
from hreach.guarantees.theory.bound import Bound, check_delta
from hreach.problems.mdp import TabularMDP
from hreach.reach.growing import GROWTH
from hreach.running.progress import Telling, telling

Array = NDArray[np.float64]
HS: tuple[float | str, ...] = (0.5, 1, 4, 8, 16, 64, "growing", "growing:1", "adaptive")
ENDS, RESAMPLES = (0.025, 0.975), 2000  # of a bootstrap interval of 95 %
GAMMA = 0.95  # of random MDPs, unless given
_TENTH = 0.1


@dataclass(frozen=True)
class Option:
    """One h: its bounds (None where they are vacuous; `_why` says what is wrong with them, "" if nothing), its runs.

    h                 as it was given: "8", "growing", "growing:1" (c = 1), "adaptive"
    h_at_end          its value at the end of the lifetime; None where each pair has its own
    exploration       steps with |V~ - V_{h=0}| > epsilon, at most, with probability 1 - delta
    error             eps_{T,h}: all but T steps are within it of the reachable optimum, with probability 1 - delta
    average, low, high              reward per step or episode, and its bootstrap interval
    loss, loss_low, loss_high       against the best fixed h; None where there is none or it earned nothing
    stuck, poor_end                 shares of runs
    """

    h: str
    h_at_end: float | None
    exploration: float | None
    exploration_why: str
    error: float | None
    error_why: str
    average: float
    low: float
    high: float
    loss: float | None
    loss_low: float | None
    loss_high: float | None
    stuck: float
    poor_end: float


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

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each h: the fields of `Option` and whether it is recommended."""
        return [{**asdict(o), "recommended": o.h == self.recommended} for o in self.options]

    def to_json(self) -> str:
        """Everything, as JSON."""
        own = (
            "lifetime",
            "gamma",
            "epsilon",
            "delta",
            "runs",
            "seed",
            "surrogates",
            "unit",
            "optimum",
            "recommended",
            "reason",
            "proved_for",
        )
        tables = {"lifetimes": self.lifetimes.tolist(), "averages": self.averages.tolist()}
        tables["losses"] = [[[_or_none(x) for x in cell] for cell in row] for row in self.losses.tolist()]
        return json.dumps({**{name: getattr(self, name) for name in own}, "options": self.rows(), **tables}, indent=1)


def choose_h(
    lifetime: int,
    gamma: float | None = None,
    *,
    sizes: tuple[int, int] | None = None,
    surrogates: Any = None,
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
    """Compare `hs` for an agent that lives `lifetime` steps.

    gamma        discount; default: the surrogates' own, .95 for random MDPs; the bounds take the largest
    sizes        (|S|, |A|): the surrogates are `members` random MDPs of that size
    surrogates   instead: the name of a domain, an environment with `.mdp()`, a `TabularMDP`, or a sequence of these
    hs           numbers of at least 0, "growing" (c = .5), "growing:c", "adaptive"
    runs         simulated runs for each h, shared among the surrogates (each gets at least one)
    epsilon      accuracy of the explicit exploration bound; default: a tenth of the range of values
    delta        failure probability of the bounds
    lifetimes    shorter lives to be told of as well, the beginnings of the same runs (no h here knows its lifetime);
                 default: twelve, evenly spaced on a logarithmic scale
    progress     is told how many runs were finished since it was last told; True shows a bar

    Recommended is, among the h that cannot be told from the best average (the 95 % bootstrap interval of the difference
    contains 0), the one that got stuck least often, and of these the one that earned most.
    """
    steps, runs = whole("lifetime", lifetime, 1), whole("runs", runs, 1)
    discounted = None if gamma is None else discount(gamma)
    seed, confidence = whole("seed", seed, 0), float(check_delta(delta))
    require((sizes is None) != (surrogates is None), "sizes", sizes, "given if surrogates are not, and only then")
    agents = [_agent(h) for h in listed("hs", hs)]
    labels = [label for label, _, _ in agents]
    require(len(set(labels)) == len(labels), "hs", hs, "different from each other")
    own = GAMMA if discounted is None else discounted
    problems = family(sizes, own, whole("members", members, 1), seed) if sizes else given(surrogates)
    truths = [true_mdp(env, discounted) for _, env in problems]
    told = told_sizes(problems, truths)
    accuracy = _TENTH * told.top if epsilon is None else positive("epsilon", epsilon)
    share = max(1, round(runs / len(problems)))
    lives = _lifetimes(steps, lifetimes)
    trials = _trials([env for _, env in problems], truths)
    earned = np.empty((len(agents), len(problems), share, len(lives)))
    failed = np.empty((len(agents), len(problems), share, 2), dtype=np.bool_)
    with telling(progress, failed[..., 0].size, "runs") as told_of:
        for i, (_, params, _) in enumerate(agents):
            for j, trial in enumerate(trials):
                both = {**params, "gamma": trial.truth.gamma}
                earned[i, j], failed[i, j] = lived(trial, both, share, lives, (seed, j), threads, told_of)
    averages, means, shares = earned.mean(axis=(1, 2)), _resampled(earned, seed), failed.mean(axis=(1, 2))
    fixed = [i for i, (_, params, _) in enumerate(agents) if not isinstance(params["h"], str)]
    losses = _losses(averages, means, fixed)
    options = tuple(
        Option(
            label,
            h_at(steps),
            *_bounds(h_at(steps), told, accuracy, confidence, steps),
            float(averages[i, -1]),
            *(float(end) for end in np.quantile(means[i, -1], ENDS)),
            *(_or_none(x) for x in losses[i, -1].tolist()),
            *(float(x) for x in shares[i]),
        )
        for i, (label, _, h_at) in enumerate(agents)
    )
    unit = "episode" if trials[0].per_episode else "step"
    chosen, reason = _recommend(options, means[:, -1], steps, unit)
    return Choice(
        lifetime=steps,
        gamma=told.gamma,
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
        lifetimes=lives,
        averages=averages,
        losses=losses,
    )


# --- parts -------------------------------------------------------------------------------------------------------


def _trials(envs: Sequence[Any], truths: Sequence[TabularMDP]) -> list[Trial]:
    """The surrogates with what their optima earn, all in one unit."""
    optima = [optimal_earnings(truth) for truth in truths]
    per_episode = all(average <= 0 and np.isfinite(total) for average, total in optima)
    return [
        Trial(env, truth, best_pairs(truth), total if per_episode else average, per_episode)
        for env, truth, (average, total) in zip(envs, truths, optima, strict=True)
    ]


def _agent(h: float | str) -> tuple[str, dict[str, Any], Any]:
    """(label, parameters of pac-rmdp, h at the end of a lifetime as a function of it) of an entry of `hs`."""
    if isinstance(h, str) and h == "adaptive":
        return h, {"h": h}, lambda _: None
    if isinstance(h, str) and (h == "growing" or h.startswith("growing:")):
        c = GROWTH if h == "growing" else positive("c", _as_number("c", h.removeprefix("growing:")))
        label = "growing" if c == GROWTH else f"growing:{c:g}"
        return label, {"h": "growing", "c": c}, lambda steps: c * math.log(steps + 2)
    value = at_least("h", _as_number("h", h), 0)
    return f"{value:g}", {"h": value}, lambda _: value


def _as_number(field: str, text: Any) -> Any:
    """Text as a number, where it is one; the checks that follow refuse the rest."""
    try:
        return float(text) if isinstance(text, str) else text
    except ValueError:
        raise InputError(
            f"{field} is {shown(text)}, but must be a number, 'growing', 'growing:c' or 'adaptive'."
        ) from None


def _lifetimes(steps: int, given: Sequence[int] | None) -> NDArray[np.int64]:
    """The lifetimes to be told of, the whole one last."""
    if given is None:
        return np.unique(np.geomspace(min(steps, 100), steps, 12).round().astype(np.int64))
    shorter = [whole("lifetimes", t, 1) for t in listed("lifetimes", given)]
    require(max(shorter) <= steps, "lifetimes", given, f"at most the lifetime, {steps}")
    return np.unique(np.array([*shorter, steps], dtype=np.int64))


def _resampled(values: Array, seed: int) -> Array:
    """Means (H, L, RESAMPLES) of bootstrap samples of values (H, problems, runs, L), drawn within each problem.

    The same runs are drawn for every h and lifetime, because they share their random numbers.
    """
    agents, problems, runs, lifetimes = values.shape
    rng = np.random.default_rng((seed, 1))
    total = np.zeros((agents, lifetimes, RESAMPLES))
    for j in range(problems):
        drawn = rng.multinomial(runs, np.full(runs, 1 / runs), size=RESAMPLES)  # how often each run
        total += np.tensordot(values[:, j], drawn / runs, axes=(1, 1))
    return np.asarray(total / problems)


def _losses(averages: Array, means: Array, fixed: Sequence[int]) -> Array:
    """`Choice.losses` of averages (H, L) and their resampled means (H, L, RESAMPLES); `fixed` are rows.

    A sample in which the best h earned next to nothing counts as one in which it earned a thousandth of its average.
    """
    losses = np.full((*averages.shape, 3), np.nan)
    if not fixed:
        return losses
    for k in range(averages.shape[1]):
        best = fixed[int(np.argmax(averages[fixed, k]))]
        most = averages[best, k]
        if most != 0:
            losses[:, k, 0] = (most - averages[:, k]) / abs(most)
            size = np.maximum(np.abs(means[best, k]), 0.001 * abs(most))
            losses[:, k, 1:] = np.quantile((means[best, k] - means[:, k]) / size, ENDS, axis=1).T
    return losses


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _bounds(
    h: float | None, sizes: Sizes, eps: float, delta: float, steps: int
) -> tuple[float | None, str, float | None, str]:
    """exploration, exploration_why, error, error_why of an `Option`."""
    if h is None:
        none = "each pair has an h of its own"
        return None, none, None, none
    exploration = _promise(explicit_exploration_runtime(sizes, eps, delta, h))
    if exploration[0] is not None and exploration[0] > steps:
        exploration = exploration[0], "longer than the lifetime"
    return *exploration, *_promise(anytime_error(sizes, steps, delta, h))


def _promise(bound: Bound) -> tuple[float | None, str]:
    return (None, f"vacuous: {bound.why}") if bound.vacuous else (float(bound), "")


def _recommend(options: tuple[Option, ...], means: Array, steps: int, unit: str) -> tuple[str, str]:
    """(label, one sentence)."""
    top = int(np.argmax([o.average for o in options]))
    like_the_best = np.quantile(means[top] - means, ENDS[0], axis=1) <= 0
    like_the_best[top] = True
    _, _, i = min((o.stuck, -o.average, i) for i, o in enumerate(options) if like_the_best[i])
    chosen = options[i]
    earned = f"{chosen.average:.4g} per {unit} over {steps} steps ({chosen.low:.4g} to {chosen.high:.4g})"
    if i == top:
        why = f"it earned most, {earned}, and {_stuck(chosen.stuck)}"
    else:
        other = options[top]
        why = (
            f"it earned {earned}, which cannot be told from the most ({other.average:.4g}, {_named(other.h)}), "
            f"and {_stuck(chosen.stuck)}, the other {other.stuck:.0%}"
            if other.stuck > chosen.stuck
            else f"it earned {earned} and {_stuck(chosen.stuck)}"
        )
    worst = max((o for o in options if not like_the_best[options.index(o)]), key=lambda o: o.stuck, default=None)
    warning = ""
    if worst is not None and worst.stuck > max(0.1, chosen.stuck):
        warning = f"; {_named(worst.h)} got stuck in {worst.stuck:.0%}"
    return chosen.h, f"Take {_named(chosen.h)}: {why}{warning}."


def _stuck(share: float) -> str:
    return "never got stuck" if share == 0 else f"got stuck in {share:.0%} of runs"


def _named(label: str) -> str:
    return f"h = {label}"
