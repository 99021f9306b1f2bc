"""A finite MDP as an environment: what a step costs in memory, and that it draws what the MDP says."""

from __future__ import annotations

import tracemalloc

import numpy as np
from scipy import sparse

import hreach
from hreach.domains.tabular import TabularEnv

STATES = 20_000


def ring(states: int) -> hreach.TabularMDP:
    """Forward or back, once in ten to the far side."""
    rows = np.repeat(np.arange(2 * states), 2)
    s, a = rows // 2, rows % 2
    step = np.where(a == 0, 1, -1)
    step[1::2] += states // 2
    P = sparse.csr_array((np.tile([0.9, 0.1], 2 * states), (rows, (s + step) % states)), shape=(2 * states, states))
    return hreach.TabularMDP(P, np.ones((states, 2)), gamma=0.9)


def test_a_step_does_not_copy_the_mdp() -> None:
    """Its index array alone has 40,000 numbers; a step needs a handful of them."""
    mdp = ring(STATES)
    env = TabularEnv(mdp, None)
    env.reset(seed=0)
    env.step(np.int64(0))
    tracemalloc.start()
    try:
        copied = mdp.indptr.copy()
        assert tracemalloc.get_traced_memory()[1] > 300_000  # such a copy would be seen
        del copied
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        for k in range(50):
            env.step(np.int64(k % 2))
        assert tracemalloc.get_traced_memory()[1] - before < 20_000
    finally:
        tracemalloc.stop()


def test_steps_are_those_of_the_rows_of_the_mdp() -> None:
    """The same draws by hand, from the dense P: the first state whose cumulated probability exceeds the number."""
    mdp = ring(12)
    env = TabularEnv(mdp, None)
    state, _ = env.reset(seed=4)
    stream = np.random.default_rng(4)
    stream.random()  # the start state
    P = mdp.transitions()
    for k in range(300):
        expected = int(np.searchsorted(np.cumsum(P[state, k % 2]), stream.random(), side="right"))
        state, *_ = env.step(np.int64(k % 2))
        assert state == expected
