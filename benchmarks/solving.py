"""One solve of a fixed, large MDP: `hreach.solve` against QuantEcon's modified policy iteration and mdpsolver.

    make bench-peers
    OMP_WAIT_POLICY=passive .venv-peers/bin/python benchmarks/solving.py [states ...]

Everybody is given the same CSR arrays and solves to the same error, conversion into a form of its own included. The
programs take turns in one process, everything compiled before; the times are medians of 5 turns, fewer once a
problem has taken a minute, the ratios those of medians. The error of every value is bounded here from its residual, by
scipy, whatever the program says of it. Writes benchmarks/SOLVING.md.
"""

from __future__ import annotations

import gc
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import NamedTuple

import mdpsolver
import numpy as np
from numpy.typing import NDArray
from quantecon.markov import DiscreteDP
from scipy import sparse

import hreach
from hreach.domains.garnet import Garnet
from hreach.domains.gridworld import Gridworld

Array = NDArray[np.float64]
ERROR = 0.01
ENOUGH = 60.0  # seconds, after which no further turn begins
SIZES = (10_000, 100_000, 1_000_000)
GAMMAS = (0.95, 0.99)
LISTS = 3e6  # entries up to which mdpsolver is tried: it takes lists of Python's


class Given(NamedTuple):
    """CSR arrays, row s A + a, every row summing to 1; R (S, A)."""

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    data: Array
    R: Array
    gamma: float


def garnet(states: int, gamma: float) -> Given:
    """4 actions, 5 successors."""
    return plain(Garnet(states=states, gamma=gamma).mdp())


def grid(states: int, gamma: float) -> Given:
    """A slippery grid; at the goal everything starts anew, so that episodes do not end and everybody can solve it."""
    side = round(states**0.5)
    mdp = Gridworld(rows=side, columns=side, gamma=gamma).mdp()
    given = plain(mdp)
    given.indices[given.indptr[-5] :] = 0
    return given


def plain(mdp: hreach.TabularMDP) -> Given:
    """The arrays, copied."""
    indptr, indices = mdp.indptr.astype(np.int32), mdp.next_state.astype(np.int32)
    return Given(indptr, indices, mdp.probability.copy(), mdp.expected_reward.copy(), mdp.gamma)


def ours(given: Given, storage: str, threads: int | None = None) -> Array:
    mdp = hreach.TabularMDP((given.indptr, given.indices, given.data), given.R, given.gamma)
    return hreach.solve(mdp, ERROR, storage=storage, threads=threads).value  # type: ignore[arg-type]


def quantecon(given: Given, k: int) -> Array:
    """Its epsilon bounds the span of the error: twice the error of the middle."""
    states, actions = given.R.shape
    pairs = states * actions
    Q = sparse.csr_matrix((given.data, given.indices, given.indptr), shape=(pairs, states))
    s, a = np.repeat(np.arange(states), actions), np.tile(np.arange(actions), states)
    found = DiscreteDP(given.R.reshape(-1), Q, given.gamma, s, a).solve("mpi", epsilon=2 * ERROR, max_iter=10**6, k=k)
    return np.asarray(found.v)


def lists(given: Given) -> Array:
    """mdpsolver, with its defaults: modified policy iteration, all cores."""
    states, actions = given.R.shape
    cuts, chances, columns = given.indptr.tolist(), given.data.tolist(), given.indices.tolist()
    pairs = range(actions)
    first = range(0, states * actions, actions)
    model = mdpsolver.model()
    model.mdp(
        discount=given.gamma,
        rewards=given.R.tolist(),
        tranMatProbs=[[chances[cuts[s + a] : cuts[s + a + 1]] for a in pairs] for s in first],
        tranMatColumns=[[columns[cuts[s + a] : cuts[s + a + 1]] for a in pairs] for s in first],
    )
    began = time.perf_counter()
    model.solve(tolerance=ERROR)
    Alone.seconds = time.perf_counter() - began
    return np.array(model.getValueVector())


class Alone:
    """Seconds of mdpsolver's last solve, conversion not included."""

    seconds = 0.0


def error(given: Given, value: Array) -> float:
    """|value - V*| at most: V* lies within gamma/(1 - gamma) [min, max] of (TV - V) around TV (Puterman 2005, 6.6)."""
    states, actions = given.R.shape
    P = sparse.csr_array((given.data, given.indices, given.indptr), shape=(states * actions, states))
    T = (given.R + given.gamma * np.asarray(P @ value).reshape(states, actions)).max(axis=1)
    change, share = T - value, given.gamma / (1 - given.gamma)
    low, high = T + share * change.min(), T + share * change.max()
    return float(max((high - value).max(), (value - low).max()))


Programs = dict[str, Callable[[Given], Array]]
PROGRAMS: Programs = {
    "hreach, 8 bytes": lambda given: ours(given, "float64"),
    "hreach, 4 bytes": lambda given: ours(given, "float32"),
    "hreach, 1 thread": lambda given: ours(given, "float64", 1),
    "QuantEcon, k = 5": lambda given: quantecon(given, 5),
    "QuantEcon, k = 20": lambda given: quantecon(given, 20),
    "mdpsolver": lists,
}


def measured(given: Given) -> tuple[dict[str, float], dict[str, float]]:
    """Median seconds and the bound on the error of each program."""
    tried = {n: p for n, p in PROGRAMS.items() if n != "mdpsolver" or given.data.size <= LISTS}
    seconds: dict[str, list[float]] = {name: [] for name in tried}
    errors, alone = dict.fromkeys(tried, 0.0), list[float]()
    began = time.perf_counter()
    for turn in range(5):
        if turn and time.perf_counter() - began > ENOUGH:
            break
        for name, program in tried.items():
            gc.collect()
            start = time.perf_counter()
            value = program(given)
            seconds[name].append(time.perf_counter() - start)
            errors[name] = max(errors[name], error(given, value))
            if name == "mdpsolver":
                alone.append(Alone.seconds)
    found = {name: median(each) for name, each in seconds.items()}
    if alone:
        found["mdpsolver, its solve alone"], errors["mdpsolver, its solve alone"] = median(alone), errors["mdpsolver"]
    return found, errors


def main() -> None:
    if os.environ.get("OMP_WAIT_POLICY") != "passive":
        sys.exit("set OMP_WAIT_POLICY=passive: on a busy core the threads of mdpsolver wait by spinning, for long")
    sizes = [int(n) for n in sys.argv[1:]] or SIZES
    small = grid(100, 0.9)
    for program in PROGRAMS.values():
        program(small)
    lines = [
        "# One solve of a large MDP",
        "",
        f"`OMP_WAIT_POLICY=passive .venv-peers/bin/python benchmarks/solving.py {' '.join(map(str, sizes))}`: "
        f"certified error {ERROR:g}, conversion included, medians of turns in one process. QuantEcon "
        f"{version('quantecon')}, mdpsolver {version('mdpsolver')}, Python {platform.python_version()}, two shared "
        "cores. Ratio: seconds over those of hreach with 8 bytes. Error: bounded from the residual of the value, by "
        "scipy.",
        "",
        "| problem | states | gamma | program | seconds | ratio | error |",
        "|---|---|---|---|---|---|---|",
    ]
    for states in sizes:
        for make in (garnet, grid):
            for gamma in GAMMAS:
                seconds, errors = measured(make(states, gamma))
                unit = seconds["hreach, 8 bytes"]
                for name, each in seconds.items():
                    row = f"| {make.__name__} | {states:,} | {gamma:g} | {name} | {each:.3g} | {each / unit:.2f} "
                    lines.append(row + f"| {errors[name]:.4f} |")
                    print(lines[-1], flush=True)
                Path(__file__).with_name("SOLVING.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
