"""1000 successive models, each one count further: a local plan, full warm sweeps, and QuantEcon started warm.

    make bench-peers
    .venv-peers/bin/python benchmarks/local_rivals.py [STATES ...]

Without numbers of states it writes benchmarks/LOCAL_RIVALS.md.

Garnets and slippery grids in which every pair was tried 5 times; then a walk with random actions adds one count after
the other, and after each of them every solver brings the value of the mean model (h = 0) up to date from its last one.
What all of them certify is the same: 1 % of the range of values, that is a residual of (1 - gamma) times that.
Nobody's time holds a conversion: of the rivals, one row of a matrix that is kept is changed in place. CPU time, in one
process, one thread. Sweeps are those of Gauss and Seidel over contiguous rows. QuantEcon is modified policy iteration
with the better of k = 5 and 20 evaluation sweeps; without it, as in hreach's own environment, its columns are empty.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import hreach
from hreach.files import write_text
from hreach.kernels.local_learn import learn_sample
from hreach.kernels.local_plan import plan_local
from hreach.models.sparse_counts import SparseCounts
from hreach.optimism.greedy import CERTAIN
from hreach.planners.local import Local
from hreach.problems.mdp import TabularMDP
from hreach.problems.problem import Problem
from hreach.randomness.streams import agent_stream

try:
    import quantecon
except ImportError:
    quantecon = None

Floats = NDArray[np.float64]
MODELS, BEFORE, ERROR = 1000, 5, 0.01


class Samples:
    """The first counts of every entry of the true rows, and the entries that come one after the other."""

    def __init__(self, mdp: TabularMDP, seed: int = 1) -> None:
        draw, self.mdp = np.random.default_rng(seed), mdp
        pairs, first = mdp.states * mdp.actions, mdp.indptr
        self.pair = np.repeat(np.arange(pairs), np.diff(first))
        u = draw.random((BEFORE, pairs))
        beyond = np.arange(pairs) + u  # entry: the first whose cumulative probability is above u, found in one search
        entry = np.searchsorted(self.pair + np.minimum(mdp.cumulative, 1 - 1e-12), beyond, side="right")
        self.entry = np.clip(entry, first[:-1], first[1:] - 1)
        self.times = np.bincount(self.entry.ravel(), minlength=len(self.pair)).astype(np.float64)
        self.following = np.zeros(MODELS, dtype=np.int64)
        state = 0
        for t in range(MODELS):
            p = state * mdp.actions + int(draw.integers(mdp.actions))
            k = first[p] + int((draw.random() >= mdp.cumulative[first[p] : first[p + 1] - 1]).sum())
            self.following[t], state = k, int(mdp.next_state[k])


@numba.njit
def learn_all(arena, actions, pair, following):  # type: ignore[no-untyped-def]
    for p, s in zip(pair, following):  # noqa: B905 (compiled)
        learn_sample(arena, actions, np.inf, False, p // actions, p % actions, 0.0, s, False)


@numba.njit
def plan_each(formula, rule, arena, lines, pair, following):  # type: ignore[no-untyped-def]
    for p, s in zip(pair, following):  # noqa: B905 (compiled)
        learn_sample(arena, rule.actions, np.inf, False, p // rule.actions, p % rule.actions, 0.0, s, False)
        plan_local(formula, rule, arena, lines)


def local(samples: Samples, tolerance: float) -> tuple[float, Floats]:
    """CPU seconds for all models, and the last value."""
    mdp, entries = samples.mdp, samples.entry.ravel()
    reward = mdp.reward_table()
    problem = Problem(mdp.states, mdp.actions, mdp.gamma, reward[:, :, None], float(reward.max()), 0.0)
    model = SparseCounts(problem)
    model._resize(mdp.states, len(samples.pair) + MODELS)
    planner = Local(model, CERTAIN, agent_stream(1), tolerance=tolerance)
    learn_all(model.arena, mdp.actions, samples.pair[entries], mdp.next_state[entries])
    planner.plan()
    arguments = (planner.formula.address, planner.rule, model.arena, planner.lines)
    plan_each(*arguments, samples.pair[:0], mdp.next_state[:0])
    k = samples.following
    begun = time.thread_time()
    plan_each(*arguments, samples.pair[k], mdp.next_state[k])
    return time.thread_time() - begun, planner.internal_value()


@numba.njit
def sweep_until(first, following, weight, reward, gamma, actions, value, tolerance):  # type: ignore[no-untyped-def]
    while True:
        residual = 0.0
        for s in range(value.size):
            best = -np.inf
            for p in range(s * actions, (s + 1) * actions):
                total = 0.0
                for k in range(first[p], first[p + 1]):
                    total += weight[k] * value[following[k]]
                best = max(best, reward[p] + gamma * total)
            residual = max(residual, abs(best - value[s]))
            value[s] = best
        if residual <= tolerance:
            return


class Rows:
    """The mean model in contiguous rows, one of which changes at a time."""

    def __init__(self, samples: Samples) -> None:
        self._samples, self._times = samples, samples.times.copy()
        n = np.bincount(samples.pair, weights=self._times)
        self.weight = self._times / n[samples.pair]

    def add(self, t: int) -> None:
        k, first = self._samples.following[t], self._samples.mdp.indptr
        p = self._samples.pair[k]
        row = slice(first[p], first[p + 1])
        self._times[k] += 1
        self.weight[row] = self._times[row] / self._times[row].sum()


def sweeps(samples: Samples, tolerance: float, models: int) -> tuple[float, Floats]:
    """CPU seconds for so many models, and the value after the last."""
    mdp, rows = samples.mdp, Rows(samples)
    reward, value = mdp.reward_table().ravel(), np.zeros(mdp.states)
    arguments = (mdp.indptr, mdp.next_state, rows.weight, reward, mdp.gamma, mdp.actions, value, tolerance)
    sweep_until(*arguments)
    return timed_models(models, rows, lambda: sweep_until(*arguments)), value


def timed_models(models: int, rows: Rows, solve: Callable[[], Any]) -> float:
    spent = 0.0
    for t in range(models):
        rows.add(t)
        begun = time.thread_time()
        solve()
        spent += time.thread_time() - begun
    return spent


def of_quantecon(samples: Samples, error: float, models: int, k: int) -> tuple[float, Floats]:
    """The same of QuantEcon's modified policy iteration from the last value: its v is within epsilon / 2."""
    from scipy import sparse

    mdp, rows = samples.mdp, Rows(samples)
    matrix = sparse.csr_matrix((rows.weight, mdp.next_state, mdp.indptr), shape=(len(mdp.indptr) - 1, mdp.states))
    rows.weight = matrix.data
    pairs = np.arange(mdp.states * mdp.actions)
    problem = quantecon.markov.DiscreteDP(
        mdp.reward_table().ravel(), matrix, mdp.gamma, pairs // mdp.actions, pairs % mdp.actions
    )
    assert np.shares_memory(problem.Q.data, rows.weight)
    value = [np.zeros(mdp.states)]

    def solve() -> None:
        found = problem.modified_policy_iteration(v_init=value[0], epsilon=2 * error, max_iter=10**6, k=k)
        value[0] = found.v

    solve()
    return timed_models(models, rows, solve), value[0]


def measured(label: str, mdp: TabularMDP) -> str:
    samples, error = Samples(mdp), ERROR * mdp.values.span
    tolerance = (1 - mdp.gamma) * error
    fewer = max(10, min(MODELS, 10**7 // mdp.states))
    own, mine = local(samples, tolerance)
    full, theirs = sweeps(samples, tolerance, fewer)
    per = 1e6 * own / MODELS
    cells = f"| {label} | {mdp.states} | {mdp.gamma} | {per:.2f} | {fewer} | {1e6 * full / fewer / per:.0f} |"
    if fewer == MODELS:
        assert np.abs(mine - theirs).max() <= 2 * error
    if quantecon is None:
        return f"{cells} | |"
    asked = min(fewer, max(10, 2 * 10**6 // mdp.states))
    times = {k: of_quantecon(samples, error, asked, k)[0] for k in (5, 20)}
    best = min(times, key=lambda k: times[k])
    return f"{cells} {1e6 * times[best] / asked / per:.0f} (k = {best}) | {asked} |"


HEAD = (
    "| domain | states | gamma | local, us a model | models of the sweeps | full warm sweeps / local "
    "| QuantEcon, warm / local | models of QuantEcon |\n" + "|---" * 8 + "|"
)


def main() -> None:
    print(HEAD)
    rows = []
    for states in map(int, sys.argv[1:] or (1000, 10_000, 100_000)):
        for gamma in (0.95, 0.99):
            side = round(states**0.5)
            garnet = hreach.make_domain("garnet", states=states, seed=1, gamma=gamma).mdp()
            grid = walls(side, gamma)
            for label, mdp in (("garnet", garnet), ("grid", grid)):
                rows.append(measured(label, mdp))
                print(rows[-1], flush=True)
    if not sys.argv[1:]:
        said = f"QuantEcon {version('quantecon')}" if quantecon else "without QuantEcon"
        words = (
            f"Made by `.venv-peers/bin/python benchmarks/local_rivals.py` ({said}): {MODELS} successive models, each",
            f"one count further, brought up to date after each; certified to {100 * ERROR:g} % of the range of values;",
            "one thread, CPU time in one process. Ratios are of the time for a model; slow ones are asked for fewer.",
        )
        write_text(Path(__file__).with_name("LOCAL_RIVALS.md"), "\n".join([*words, "", HEAD, *rows]) + "\n")


def walls(side: int, gamma: float) -> TabularMDP:
    """A slippery grid in which nothing ends, and one state pays 1."""
    mdp = hreach.make_domain("gridworld", rows=side, columns=side, gamma=gamma).mdp()
    reward = np.zeros((mdp.states, mdp.actions))
    reward[mdp.states // 2 + side // 2] = 1.0
    return TabularMDP((mdp.indptr, mdp.next_state, mdp.probability), reward, gamma)


if __name__ == "__main__":
    main()
