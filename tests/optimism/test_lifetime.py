"""h = "lifetime": equal runs, saved states, bad input, what it earns."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

import hreach
from helpers import h_of, living
from hreach.kernels.imagined import draw_model
from hreach.randomness.streams import agent_stream
from hreach.testing import check_agent

Array = NDArray[np.float64]


# --- the four verbs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"prior": 0}, {"reward": "learn", "r_max": 1.0}, {"belief": 2, "models": 4}])
def test_compiled_runs_are_those_of_the_loop(params: dict[str, Any]) -> None:
    env, steps = hreach.make_domain("riverswim"), 200
    given = {"h": "lifetime", "lifetime": steps, "models": 8, **params}
    runs = hreach.simulate(env, "pac-rmdp", given, runs=2, steps=steps, seed=5, threads=1)
    for i, (env_seed, seed) in enumerate(hreach.run_seeds(5, 0, 2).tolist()):
        agent = hreach.make_agent("pac-rmdp", env, seed=seed, **given)
        assert (hreach.run(env, agent, steps, seed=env_seed).rewards == runs.reward[i]).all()


def with_ends() -> hreach.TabularMDP:
    """Three states; a step on from state 1 pays 1 and ends the episode half of the time."""
    P, R, end = np.zeros((3, 2, 3)), np.zeros((3, 2)), np.zeros((3, 2, 3))
    P[:, 0, 0] = 1
    P[0, 1, 1] = P[1, 1, 2] = P[2, 1, 0] = 1
    R[1, 1], end[1, 1, 2] = 1.0, 0.5
    return hreach.TabularMDP(P, R, 0.9, start=np.array([0.5, 0.0, 0.5]), end=end)


def test_compiled_runs_are_those_of_the_loop_where_episodes_end() -> None:
    from hreach.domains.tabular import TabularEnv

    mdp, steps = with_ends(), 100
    env = TabularEnv(mdp, mdp.reward_table())
    given = {"h": "lifetime", "lifetime": steps, "models": 4}
    runs = hreach.simulate(env, "pac-rmdp", given, runs=4, steps=steps, seed=2, threads=1)
    for i, (env_seed, seed) in enumerate(hreach.run_seeds(2, 0, 4).tolist()):
        agent = hreach.make_agent("pac-rmdp", env, seed=seed, **given)
        assert (hreach.run(env, agent, steps, seed=env_seed).rewards == runs.reward[i]).all()


@pytest.mark.parametrize("steps", [15, 90])
def test_an_agent_keeps_its_promises_and_goes_on_from_a_saved_state(steps: int) -> None:
    def make(env: Any, seed: int) -> Any:
        return hreach.make_agent("pac-rmdp", env, seed=seed, h="lifetime", lifetime=400, models=4)

    check_agent(make, hreach.make_domain("chain"), steps=steps)


def test_where_an_agent_is_and_where_its_episode_began() -> None:
    agent = hreach.make_agent("pac-rmdp", gymnasium.make("hreach/Chain-v0"), h=1)
    here = agent.model.seen.here
    assert here.tolist() == [-1, -1]
    for (s, following, ended), after in (
        ((2, 3, False), [3, 2]),
        ((3, 4, False), [4, 2]),
        ((4, 0, True), [-1, 2]),
        ((1, 2, False), [2, 1]),
        ((0, 1, False), [1, 0]),  # an episode was cut off
    ):
        agent.observe(s, 0, 0.0, following, terminated=ended)
        assert here.tolist() == after
    saved = agent.model.state_dict()
    saved["here"] = np.array([5, 0])
    with pytest.raises(hreach.InputError, match=r"^here is array\(\[5, 0\]\), but must be states of the problem"):
        agent.model.load_state_dict(saved)


def test_it_looks_at_the_beginning_then_after_every_pair_then_when_samples_have_doubled() -> None:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent("pac-rmdp", env, h="lifetime", lifetime=75, models=2, seed=1)
    state, _ = env.reset(seed=1)
    times = []
    for t in range(75):
        due = agent.planner.table.due[0]
        action = agent.act(state)
        if agent.planner.table.due[0] != due:
            times.append(t)
        following, reward, *_ = env.step(action)
        agent.observe(state, action, float(reward), following)
        state = following
    assert times == [0, 10, 20, 40]
    agent.plan()  # the end, which is no time to look ahead
    assert agent.planner.reach() == (h_of(agent), h_of(agent))


def test_it_tells_what_it_is() -> None:
    told = hreach.make_agent("pac-rmdp", hreach.make_domain("chain"), h="lifetime", lifetime=3000).describe()
    assert told["constants"] == {"h_at_first": 0.0, "lifetime": 3000, "models": 32, "belief": 0.3}
    assert told["schedule"] == "doubling_times"
    assert told["lookahead"] == "hreach.optimism.lifetime:best_of_grid"


# --- bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, r"^lifetime is None, but must be given where h is 'lifetime': how many steps the agent acts\.$"),
        ({"lifetime": 0}, r"^lifetime is 0, but must be a whole number of at least 1\.$"),
        ({"lifetime": 10.5}, r"^lifetime is 10\.5, but must be a whole number of at least 1\.$"),
        ({"lifetime": math.inf}, r"^lifetime is inf, but must be a whole number"),
        ({"lifetime": "long"}, r"^lifetime is 'long', but must be a number\.$"),
        ({"lifetime": 9, "models": 1}, r"^models is 1, but must be a whole number of at least 2\.$"),
        ({"lifetime": 9, "belief": 0}, r"^belief is 0, but must be a finite number above 0\.$"),
        ({"lifetime": 9, "belief": np.ones((5, 2))}, r"^belief shape is \(5, 2\), but must be a number or an array of"),
        ({"lifetime": 9, "belief": np.full((5, 2, 5), -1.0)}, r"^belief is .*, but must be finite and at least 0"),
        ({"lifetime": 9, "freeze_at": 5}, r"^h is 'lifetime', but must be numbers where freeze_at"),
        ({"lifetime": 9, "c": 1}, r"^c is 1, but must be left out unless h is 'growing'\.$"),
        ({"h": 8, "lifetime": 9}, r"^lifetime is 9, but must be left out unless h is 'lifetime'\.$"),
        ({"h": "growing", "models": 9}, r"^models is 9, but must be left out unless h is 'lifetime'\.$"),
        ({"h": "adaptive", "belief": 1}, r"^belief is 1, but must be left out unless h is 'lifetime'\.$"),
    ],
)
def test_bad_parameters_get_one_sentence(params: dict[str, Any], message: str) -> None:
    with pytest.raises(hreach.InputError, match=message) as caught:
        hreach.make_agent("pac-rmdp", hreach.make_domain("chain"), **{"h": "lifetime", **params})
    assert "\n" not in str(caught.value)


def test_a_lifetime_that_is_shorter_than_what_is_lived_is_refused() -> None:
    env = hreach.make_domain("chain")
    with pytest.raises(hreach.InputError, match=r"^lifetime is 20, but must be at least the number of steps, 21\.$"):
        hreach.simulate(env, "pac-rmdp", {"h": "lifetime", "lifetime": 20, "models": 2}, runs=1, steps=21)
    agent = living(env, 20, lifetime=20, models=2)
    agent.plan()
    with pytest.raises(
        hreach.InputError, match=r"^lifetime is 20, but must be at least the 21 samples that were lived\."
    ):
        hreach.run(env, agent, 2, seed=1)
    other = hreach.make_agent("pac-rmdp", env, h="lifetime", lifetime=19, models=2)
    saved = living(env, 20, lifetime=20, models=2).state_dict()
    with pytest.raises(hreach.InputError, match=r"^lifetime of the saved agent is 20\.0, but must be this agent's, 19"):
        other.load_state_dict(saved)


# --- what it earns --------------------------------------------------------------------------------------------


def test_a_belief_of_surrogates_is_drawn_from() -> None:
    """With a belief that is the truth and heavy, an agent that has seen nothing does not explore: h is small."""
    env = hreach.make_domain("modified-chain")
    truth = 1e4 * env.mdp().transitions()
    sure = hreach.make_agent("pac-rmdp", env, h="lifetime", lifetime=1000, belief=truth, prior=0)
    rows = np.empty((10, 5))
    rule, seen, stream = sure.planner.rule, sure.model.seen, agent_stream(1)
    draw_model(rule, seen, truth, 0.0, np.zeros((10, 5)), 0, 1, np.empty(5), rows, np.zeros((5, 2)), stream)
    np.testing.assert_allclose(np.diff(rows, axis=1, prepend=0), truth.reshape(10, 5) / 1e4, atol=0.05)


def test_it_explores_where_there_is_time_and_not_where_there_is_none() -> None:
    """A rule that ignores the lifetime must lose: what serves 3000 steps costs too much of 60, and the other way."""
    steps, short, runs = 3000, 60, 40

    def earned(domain: str, lifetime: int, upto: int) -> Array:
        given = {"h": "lifetime", "lifetime": lifetime, "models": 16}
        done = hreach.simulate(domain, "pac-rmdp", given, runs=runs, steps=upto, seed=3, threads=1)
        return np.asarray(done.reward.mean(axis=1))

    gain = earned("modified-chain", short, short) - earned("modified-chain", steps, short)
    assert gain.mean() > 3 * gain.std(ddof=1) / math.sqrt(runs)
    stuck = hreach.simulate("modified-chain", "pac-rmdp", {"h": 0}, runs=runs, steps=steps, seed=3, threads=1)
    more = earned("modified-chain", steps, steps) - stuck.reward.mean(axis=1)
    assert more.mean() > 3 * more.std(ddof=1) / math.sqrt(runs)
