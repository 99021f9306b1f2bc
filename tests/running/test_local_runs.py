"""Compiled runs of agents that plan locally are those of `hreach.run`, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hreach

OWN: list[tuple[str, dict[str, Any]]] = [
    ("pac-rmdp", {"h": 4}),
    ("pac-rmdp", {"h": "growing"}),
    ("pac-rmdp", {"h": 2, "successors": "known"}),
    ("pac-rmdp", {"h": 4, "freeze_at": 3, "tolerance": 1e-6}),
    ("pac-rmdp", {"h": 2, "reward": "learn", "r_max": 1.0, "r_min": -1.0}),
    ("bolt", {"eta": 3}),
    ("greedy", {"ties": [1, 0]}),
    ("epsilon-greedy", {}),
    ("mbie-eb", {"beta": 1.0}),
    ("vbe", {"beta": 1.0}),
    ("beb", {"beta": 1.0}),
    ("r-max", {"m": 3}),
    ("mbie-reach", {"m": 10}),
]


@pytest.mark.parametrize("domain", ["riverswim", "gridworld"])
@pytest.mark.parametrize(("name", "params"), OWN)
def test_a_compiled_run_is_the_loop_bit_for_bit(name: str, params: dict[str, Any], domain: str) -> None:
    params = {**params, "model": "sparse-counts"}
    if domain == "gridworld" and "ties" in params:
        params["ties"] = [3, 1, 2, 0]
    found = hreach.simulate(domain, name, params, runs=3, steps=250, seed=5, threads=2, endings=True, visits=True)
    assert found.ended is not None
    assert found.visits is not None
    for i, (env_seed, seed) in enumerate(hreach.run_seeds(5, 0, 3).tolist()):
        env = hreach.make_domain(domain)
        agent = hreach.make_agent(name, env, seed=seed, **params)
        one = hreach.run(env, agent, 250, seed=env_seed)
        np.testing.assert_array_equal(one.rewards, found.reward[i])
        np.testing.assert_array_equal(one.ended, np.flatnonzero(found.ended[i]))
        np.testing.assert_array_equal(agent.model.visits(), found.visits[i])


def test_another_planner_of_sparse_counts_is_stepped() -> None:
    """The kernels run the very class `Local`, and no other."""
    env = hreach.make_domain("riverswim")
    agent = hreach.make_agent("greedy", env, model="sparse-counts")
    assert hreach.running.simulate.runs_compiled(env, agent)
    agent.planner.__class__ = type("Other", (type(agent.planner),), {})
    assert not hreach.running.simulate.runs_compiled(env, agent)
