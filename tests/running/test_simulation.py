"""Compiled runs equal the plain loop, bit for bit, for every agent and setting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hreach
from hreach.agents import AGENTS
from hreach.domains.tabular import TabularEnv

SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("pac-rmdp", {"h": 8}),
    ("pac-rmdp", {"h": 0, "prior": 0}),
    ("pac-rmdp", {"h": np.inf}),
    ("pac-rmdp", {"h": 2.5, "reward": "learn", "r_max": 1.0, "prior": 0}),
    ("pac-rmdp", {"h": "growing"}),
    ("pac-rmdp", {"h": "adaptive"}),
    ("pac-rmdp", {"h": "growing", "c": 2.5, "reward": "learn", "r_max": 1.0, "prior": 0}),
    ("pac-rmdp", {"h": 8, "value_cap": 3.0}),
    ("pac-rmdp", {"h": 8, "value_cap": 1.0, "ties": [1, 0]}),
    ("bolt", {}),
    ("mbie", {"epsilon": 20.0, "delta": 0.9, "prior": 0}),
    ("mbie", {"m": 30.0, "freeze": True}),
    ("mbie", {"epsilon": 20.0, "reward": "learn", "r_max": 1.0}),
    ("mbie-eb", {"epsilon": 0.01, "delta": 0.1}),
    ("mbie-eb", {"beta": 3.0, "prior": 0, "ties": [1, 0]}),
    ("mbie-reach", {"epsilon": 1e4, "delta": 0.2}),
    ("vbe", {"delta": 0.99}),
    ("vbe", {"delta": 1e3, "prior": 5, "reward": "learn", "r_max": 1.0}),
    ("beb", {}),
    ("beb", {"beta": 50.0, "freeze_at": 20.0}),
    ("r-max", {"m": 4}),
    ("r-max", {"m": 2, "reward": "learn", "r_max": 1.0, "prior": 0}),
    ("posterior-sampling", {}),
    ("posterior-sampling", {"episodes": "doubling", "reward": "learn", "r_max": 1.0}),
    ("greedy", {}),
    ("epsilon-greedy", {"epsilon": 0.2}),
]


def random_env(per_transition: bool) -> TabularEnv:
    """Six states, two actions and a reward of its own for every transition: equal rewards mean equal paths."""
    rng = np.random.default_rng(4)
    P = rng.dirichlet(np.full(6, 0.4), (6, 2))
    R = rng.random((6, 2, 6))
    mdp = hreach.TabularMDP(P / P.sum(axis=2, keepdims=True), R, 0.9, start=np.full(6, 1 / 6))
    return TabularEnv(mdp, R if per_transition else R.mean(axis=2))


def by_the_loop(env: Any, name: str, params: dict[str, Any], run: int, steps: int, seed: int) -> Any:
    env_seed, agent_seed = (int(s) for s in hreach.run_seeds(seed, first=run, runs=1)[0])
    return hreach.run(env, hreach.make_agent(name, env, seed=agent_seed, **params), steps, seed=env_seed).rewards


def test_every_agent_is_compared() -> None:
    assert {name for name, _ in SETTINGS} == set(AGENTS)


@pytest.mark.parametrize(("name", "params"), SETTINGS)
@pytest.mark.parametrize("env", [hreach.make_domain("chain"), random_env(False), random_env(True)])
def test_a_simulated_run_is_the_looped_run_bit_for_bit(name: str, params: dict[str, Any], env: Any) -> None:
    runs = hreach.simulate(env, name, params, runs=3, steps=400, seed=11, threads=2)
    for i in range(3):
        assert np.array_equal(runs.reward[i], by_the_loop(env, name, params, i, 400, 11))


def test_another_seed_gives_other_runs() -> None:
    one, other = (hreach.simulate("chain", "pac-rmdp", {"h": 8}, runs=2, steps=300, seed=s) for s in (0, 1))
    assert not np.array_equal(one.reward, other.reward)
    assert not np.array_equal(one.reward[0], one.reward[1])


def test_results_do_not_depend_on_threads_or_on_how_runs_are_split() -> None:
    whole = hreach.simulate("chain", "vbe", {"delta": 0.99}, runs=30, steps=200, threads=1).reward
    assert np.array_equal(whole, hreach.simulate("chain", "vbe", {"delta": 0.99}, runs=30, steps=200, threads=2).reward)
    parts = [
        hreach.simulate("chain", "vbe", {"delta": 0.99}, runs=n, steps=200, first_run=first).reward
        for first, n in ((0, 7), (7, 1), (8, 22))
    ]
    assert np.array_equal(whole, np.vstack(parts))


def test_a_longer_run_begins_like_a_shorter_one() -> None:
    short, long = (hreach.simulate("chain", "beb", {}, runs=3, steps=n).reward for n in (100, 300))
    assert np.array_equal(long[:, :100], short)


def test_progress_is_told_of_every_run() -> None:
    told: list[int] = []
    hreach.simulate("chain", "greedy", runs=37, steps=50, progress=told.append)
    assert sum(told) == 37


def test_an_mdp_can_be_simulated_and_its_reward_is_known() -> None:
    mdp = hreach.make_domain("modified-chain").mdp()
    by_mdp = hreach.simulate(mdp, "pac-rmdp", {"h": 8}, runs=4, steps=300)
    by_name = hreach.simulate("modified-chain", "pac-rmdp", {"h": 8}, runs=4, steps=300)
    assert np.array_equal(by_mdp.reward, by_name.reward)


def test_visits_are_those_of_the_loop() -> None:
    env = hreach.make_domain("riverswim")
    runs = hreach.simulate(env, "pac-rmdp", {"h": "growing", "prior": 0.3}, runs=3, steps=200, seed=2, visits=True)
    assert runs.visits is not None
    for i in range(3):
        env_seed, agent_seed = (int(s) for s in hreach.run_seeds(2, first=i, runs=1)[0])
        agent = hreach.make_agent("pac-rmdp", env, h="growing", prior=0.3, seed=agent_seed)
        run = hreach.run(env, agent, 200, seed=env_seed)
        seen = np.zeros((6, 2))
        np.add.at(seen, (run.states[:200], run.actions), 1)
        np.testing.assert_array_equal(runs.visits[i], seen)
        assert np.array_equal(runs.reward[i], run.rewards)
    assert hreach.simulate(env, "greedy", runs=2, steps=5).visits is None


def test_summaries_are_those_of_numpy() -> None:
    runs = hreach.simulate("chain", "greedy", runs=25, steps=60)
    averages = runs.reward.mean(axis=1)
    assert runs.mean == pytest.approx(averages.mean())
    assert runs.se == pytest.approx(averages.std(ddof=1) / 5)
    assert runs.quantile(0.1) == pytest.approx(np.quantile(averages, 0.1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": 0}, "runs is 0"),
        ({"steps": 1.5}, "steps is 1.5"),
        ({"threads": 0}, "threads is 0"),
        ({"first_run": -1}, "first_run is -1"),
        ({"seed": -3}, "seed is -3"),
        ({"params": {"h": 1, "seed": 3}}, "params has the key 'seed'"),
        ({"domain": "chian"}, "domain is 'chian'.*did you mean 'chain'"),
    ],
)
def test_bad_arguments_get_one_sentence(arguments: dict[str, Any], message: str) -> None:
    given = {"domain": "chain", "agent": "pac-rmdp", "params": {"h": 1}, "runs": 2, "steps": 10, **arguments}
    with pytest.raises(hreach.InputError, match=message):
        hreach.simulate(given.pop("domain"), given.pop("agent"), given.pop("params"), **given)
