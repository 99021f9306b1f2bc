"""What PAC-RMDP earns over a lifetime, and how often it fails: simulations of one agent on one problem.

earned     reward per step up to each lifetime; or, where that says nothing because every step costs and episodes
           end, reward per episode: of those that ended until then, or of the first one if none has
stuck      the run never took a pair of a given set
poor end   in the last tenth of the lifetime the run earned less than a given number
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hreach.guarantees.choose_h.surrogates import best_pairs
from hreach.problems.mdp import TabularMDP
from hreach.protocols import Environment
from hreach.running.progress import Told
from hreach.running.simulate import simulate

Array = NDArray[np.float64]
BLOCK = 4_000_000  # rewards held in memory at once


@dataclass(frozen=True)
class Trial:
    """A problem to act in: environment, truth, its best pairs (S, A), what the optimum earns, and in which unit."""

    env: Environment | TabularMDP
    truth: TabularMDP
    best: NDArray[np.bool_]
    optimum: float
    per_episode: bool

    @property
    def little(self) -> float:
        """What an end is poor below: the optimum less half of its size."""
        return self.optimum - abs(self.optimum) / 2


def optimal_earnings(mdp: TabularMDP) -> tuple[float, float]:
    """What an optimal policy earns in the long run: per step, and per episode (infinite if none ends)."""
    policy = mdp.optimal_policy()
    average = mdp.average_reward(policy)
    ending = mdp.ending_chance[np.arange(mdp.states), policy]
    rate = float(mdp.long_run_shares(policy) @ ending)
    return average, average / rate if rate > 0 else np.inf


def trials_of(envs: Sequence[Environment | TabularMDP], truths: Sequence[TabularMDP]) -> list[Trial]:
    """The problems with what their optima earn, all in one unit."""
    optima = [optimal_earnings(truth) for truth in truths]
    per_episode = all(average <= 0 and np.isfinite(total) for average, total in optima)
    return [
        Trial(env, truth, best_pairs(truth), total if per_episode else average, per_episode)
        for env, truth, (average, total) in zip(envs, truths, optima, strict=True)
    ]


def earned_in(
    trial: Trial, params: Mapping[str, float | str], runs: int, lifetimes: NDArray[np.int64], seed: tuple[int, int],
    threads: int | None, progress: Told | None = None,
) -> tuple[Array, NDArray[np.bool_]]:  # fmt: skip
    """Earned up to each lifetime (runs, L); whether a run got stuck, and had a poor end (runs, 2).

    An h from the lifetime has runs of its own for each, as it acts otherwise in a longer one; the last ones may fail.
    """
    if params["h"] != "lifetime":
        return _one_lifetime(trial, params, runs, lifetimes, seed, threads, progress)
    ends = [(lifetimes[k : k + 1], {**params, "lifetime": int(t)}) for k, t in enumerate(lifetimes)]
    *shorter, whole = [_one_lifetime(trial, own, runs, end, seed, threads) for end, own in ends]
    if progress is not None:
        progress(runs)
    return np.hstack([earned for earned, _ in (*shorter, whole)]), whole[1]


def _one_lifetime(
    trial: Trial, params: Mapping[str, float | str], runs: int, lifetimes: NDArray[np.int64], seed: tuple[int, int],
    threads: int | None, progress: Told | None = None,
) -> tuple[Array, NDArray[np.bool_]]:  # fmt: skip
    """`earned_in` by runs of the longest lifetime, whose beginnings are the others."""
    steps = int(lifetimes[-1])
    earned, failed = np.empty((runs, len(lifetimes))), np.empty((runs, 2), dtype=np.bool_)
    for part in _parts(runs, max(1, BLOCK // steps)):
        done = simulate(
            trial.env,
            "pac-rmdp",
            params,
            runs=part.stop - part.start,
            steps=steps,
            seed=seed,
            first_run=part.start,
            threads=threads,
            visits=True,
            endings=trial.per_episode,
            progress=progress,
        )
        assert done.visits is not None
        for k, t in enumerate(lifetimes):
            earned[part, k] = earnings(done.reward, done.ended, 0, int(t))
        failed[part, 0] = ~(done.visits[:, trial.best] > 0).any(axis=1)
        failed[part, 1] = earnings(done.reward, done.ended, steps * 9 // 10, steps) < trial.little
    return earned, failed


def earnings(reward: Array, ended: NDArray[np.bool_] | None, first: int, end: int) -> Array:
    """What steps first .. end - 1 earned, (runs,): per step, or per episode that ended in them if `ended` is given."""
    if ended is None:
        return np.asarray(reward[:, first:end].mean(axis=1))
    count = ended[:, first:end].sum(axis=1)
    begun, over = _last_end(ended, first), _last_end(ended, end)
    upto = np.where(count > 0, over, end)
    inside = (np.arange(end) >= begun[:, None]) & (np.arange(end) < upto[:, None])
    return np.asarray((reward[:, :end] * inside).sum(axis=1) / np.maximum(count, 1))


def _last_end(ended: NDArray[np.bool_], t: int) -> NDArray[np.int64]:
    """The steps that were over when the last episode before step t was, (runs,); 0 if none was."""
    steps = np.where(ended[:, :t], np.arange(1, t + 1), 0)
    return np.asarray(steps.max(axis=1, initial=0), dtype=np.int64)


def _parts(runs: int, size: int) -> Iterator[slice]:
    return (slice(first, min(first + size, runs)) for first in range(0, runs, size))
