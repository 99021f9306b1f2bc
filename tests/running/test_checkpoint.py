"""A run that is stopped and goes on ends with the bytes of one that was never stopped."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hreach
from hreach.agents import AGENTS, LINEAR_AGENTS
from hreach.domains import DOMAINS
from hreach.problems import plain, saving
from hreach.running.pace import Steps

Case = tuple[Callable[[], Any], str, dict[str, Any]]  # the environment, the agent, its parameters
LEARN: dict[str, Any] = {"reward": "learn", "r_max": 1.0}
CLIFF = max(name for name in gymnasium.registry if name.startswith("CliffWalking-v"))  # Gymnasium's newest
CAR: dict[str, Any] = {"grid": (6, 6)}


class Bins(gymnasium.ObservationWrapper[Any, Any, Any]):
    """CartPole's angle and speed in 6 bins."""

    def __init__(self) -> None:
        super().__init__(gymnasium.make("CartPole-v1", max_episode_steps=30))
        self.observation_space = gymnasium.spaces.Discrete(6)

    def observation(self, observation: Any) -> int:
        return int(np.searchsorted([-0.05, 0.05], observation[2]) * 2 + (observation[3] > 0))


class Hand(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Blackjack with the player's sum alone."""

    def __init__(self) -> None:
        super().__init__(gymnasium.make("Blackjack-v1"))
        self.observation_space = gymnasium.spaces.Discrete(32)

    def observation(self, observation: Any) -> int:
        return int(observation[0])


class Counted(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A machine that says itself what its state is, some of which is not plain data."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.machine = iter(range(10**9))
        self.steps = 0

    def step(self, action: Any) -> Any:
        self.steps += 1
        assert next(self.machine) == self.steps - 1
        state, reward, terminated, truncated, info = self.env.step(action)
        return state, float(reward) + (self.steps % 7 == 0), terminated, truncated, info

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        self.steps, self.machine = saved["steps"], iter(range(saved["steps"], 10**9))


def domain(name: str, **params: Any) -> Callable[[], Any]:
    return lambda: hreach.make_domain(name, **params)


def limited(name: str, steps: int) -> Callable[[], Any]:
    return lambda: gymnasium.wrappers.TimeLimit(hreach.make_domain(name), steps)


SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("pac-rmdp", {"h": 4}),
    ("pac-rmdp", {"h": "growing"}),
    ("pac-rmdp", {"h": "adaptive"}),
    ("pac-rmdp", {"h": 2, "freeze_at": 3}),
    ("pac-rmdp", {"h": 4, **LEARN, "prior": 0}),
    ("pac-rmdp", {"h": "lifetime", "lifetime": 70, "models": 4}),
    ("pac-rmdp", {"h": 4, "model": "sparse-counts"}),
    ("pac-rmdp", {"h": 1, "model": "sparse-counts", **LEARN}),
    ("mbie-eb", {"beta": 3.0, "model": "sparse-counts"}),
    ("bolt", {"eta": 4}),
    ("mbie", {"radius": 1.0}),
    ("mbie-eb", {"beta": 3.0}),
    ("mbie-reach", {"m": 10.0, "delta": 0.5}),
    ("vbe", {"beta": 5.0}),
    ("beb", {"beta": 5.0}),
    ("r-max", {"m": 3.0}),
    ("posterior-sampling", {"length": 10.0}),
    ("posterior-sampling", {**LEARN}),
    ("greedy", {}),
    ("epsilon-greedy", {"epsilon": 0.3}),
]
SPARSE: dict[str, Any] = {"model": "sparse-counts"}  # taxi has 500 states, which a table takes long for
NAMES = ("chain", "riverswim", "sixarms", "gridworld", "garnet", "deep-sea")
TABLES: dict[str, Case] = {
    **{f"{name} {params}": (limited("modified-chain", 11), name, params) for name, params in SETTINGS},
    **{f"on {name}": (domain(name), "pac-rmdp", {"h": 4}) for name in NAMES},
    **{f"on {name}, sparse": (domain(name), "pac-rmdp", {"h": 4, **SPARSE}) for name in (*NAMES, "taxi")},
    "FrozenLake": (domain("FrozenLake-v1"), "pac-rmdp", {"h": 1, **LEARN}),
    "CliffWalking": (domain(CLIFF), "pac-rmdp", {"h": 1, **LEARN, "r_max": -1.0, "r_min": -100.0}),
    "CartPole": (Bins, "posterior-sampling", {**LEARN}),
    "Blackjack": (Hand, "epsilon-greedy", {"epsilon": 0.5, **LEARN, "r_min": -1.0}),
    "Counted": (lambda: Counted(gymnasium.make("FrozenLake-v1")), "pac-rmdp", {"h": 1, **LEARN}),
    "statistics": (
        lambda: gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("FrozenLake-v1")),
        "pac-rmdp",
        {"h": 1, **LEARN},
    ),
}
CONTINUOUS: dict[str, Case] = {
    "car, pac-rmdp": (domain("mountain-car", max_steps=20), "linear-pac-rmdp", {"h": 1, **CAR}),
    "car, growing": (domain("mountain-car", max_steps=20), "linear-pac-rmdp", {"h": "growing", **CAR}),
    "car, moved": (domain("mountain-car"), "linear-pac-rmdp", {"h": 1, "replan": {"moved": 0.1}, **CAR}),
    "car, learnt": (domain("mountain-car"), "linear-pac-rmdp", {"h": 1, "reward": "learn", **CAR}),
    "car, pac-mdp": (domain("mountain-car", max_steps=20), "linear-pac-mdp", {"epsilon": 5.0, **CAR}),
    "car, greedy": (domain("mountain-car", max_steps=20), "linear-epsilon-greedy", {"epsilon": 0.3, **CAR}),
    "car, true": (domain("mountain-car", max_steps=20), "linear-true-model", {"epsilon": 0.2, **CAR}),
    "hiv": (domain("hiv", episode_days=60), "linear-pac-rmdp", {"h": 1, "segments": (5, 5)}),
    "hiv, all": (domain("hiv", episode_days=60), "linear-pac-rmdp", {"h": 1, "segments": (5, 5), "commit": "all"}),
}


class StoppedError(Exception):
    """A run that was stopped."""


def lived(case: Case, length: dict[str, int], dies: int | None = None, **saved: Any) -> tuple[hreach.Run, Any]:
    """The run of a new environment and a new agent, and the agent; `dies` before so many more steps were taken."""
    make, name, params = case
    env = make()
    agent = hreach.make_agent(name, env, seed=7, **params)
    act, left = agent.act, dies

    def mortal(state: Any) -> int:
        nonlocal left
        if left is not None:
            if left == 0:
                raise StoppedError
            left -= 1
        return int(act(state))

    agent.act = mortal
    return hreach.run(env, agent, length.get("steps"), 3, episodes=length.get("episodes"), **saved), agent


def interrupted(case: Case, length: dict[str, int], stops: list[int], every: int) -> tuple[hreach.Run, Any]:
    """The same, stopped after so many steps, and stopped again, and saved after every so many."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.checkpoint"
        for stop in [*stops, None]:
            try:
                done = lived(case, length, stop, checkpoint=path, every=Steps(every))
            except StoppedError:
                assert path.exists()
                continue
            assert list(path.parent.iterdir()) == []
            return done
    raise AssertionError


def same(one: tuple[hreach.Run, Any], other: tuple[hreach.Run, Any]) -> bool:
    """Bit for bit, agents and runs."""

    def bits(value: Any) -> tuple[Any, ...]:
        array = np.asarray(value)
        return array.dtype.str, array.shape, array.tobytes()

    pairs = [(vars(one[0]), vars(other[0])), (one[1].state_dict(), other[1].state_dict())]
    return all({n: bits(v) for n, v in a.items()} == {n: bits(v) for n, v in b.items()} for a, b in pairs)


def test_every_agent_and_every_domain_is_here() -> None:
    cases = [*TABLES.values(), *CONTINUOUS.values()]
    assert {name for _, name, _ in cases} == set(AGENTS) | set(LINEAR_AGENTS)
    cores = {type(make().unwrapped) for make, _, _ in cases}
    assert {type(hreach.make_domain(name)) for name in DOMAINS} <= cores


@pytest.mark.parametrize("name", TABLES)
@settings(max_examples=8, deadline=None)
@given(stops=st.lists(st.integers(0, 60), min_size=1, max_size=3), every=st.integers(1, 25))
def test_stopped_at_any_step_a_run_goes_on_as_if_it_had_not_been(name: str, stops: list[int], every: int) -> None:
    case, length = TABLES[name], {"steps": 70}
    assert same(interrupted(case, length, stops, every), lived(case, length))


@pytest.mark.parametrize("name", ["FrozenLake", "CartPole", "Blackjack", "pac-rmdp {'h': 4}", "r-max {'m': 3.0}"])
@settings(max_examples=8, deadline=None)
@given(stops=st.lists(st.integers(0, 40), min_size=1, max_size=3), every=st.integers(1, 25))
def test_runs_by_episodes_go_on_as_well(name: str, stops: list[int], every: int) -> None:
    case, length = TABLES[name], {"episodes": 6}
    assert same(interrupted(case, length, stops, every), lived(case, length))


@pytest.mark.parametrize("name", CONTINUOUS)
@settings(max_examples=3, deadline=None)
@given(stops=st.lists(st.integers(0, 30), min_size=1, max_size=2), every=st.integers(1, 9))
def test_runs_in_continuous_problems_go_on_as_well(name: str, stops: list[int], every: int) -> None:
    case, length = CONTINUOUS[name], {"steps": 35}
    assert same(interrupted(case, length, stops, every), lived(case, length))


def test_a_longer_run_goes_on_from_a_shorter_one(tmp_path: Path) -> None:
    case, path = TABLES["FrozenLake"], tmp_path / "run"
    with pytest.raises(StoppedError):
        lived(case, {"steps": 50}, 30, checkpoint=path, every=Steps(7))
    assert same(lived(case, {"steps": 90}, checkpoint=path), lived(case, {"steps": 90}))


def test_the_same_objects_go_on_too(tmp_path: Path) -> None:
    """In a notebook nobody makes environment and agent anew."""
    path, env = tmp_path / "run", gymnasium.make("FrozenLake-v1")
    agent = hreach.make_agent("pac-rmdp", env, h=1, seed=7, **LEARN)
    told: list[int] = []

    def stop(more: int) -> None:
        told.append(more)
        if len(told) == 40:
            raise StoppedError

    with pytest.raises(StoppedError):
        hreach.run(env, agent, 70, seed=3, progress=stop, checkpoint=path, every=Steps(9))
    told.clear()
    done = hreach.run(env, agent, 70, seed=3, progress=told.append, checkpoint=path)
    assert told == [36] + [1] * 34
    assert same((done, agent), lived(TABLES["FrozenLake"], {"steps": 70}))


# ------------------------------------------------------------------------------------------- twins, which must differ


def differs(case: Case) -> bool:
    return not same(interrupted(case, {"steps": 70}, [30], 10), lived(case, {"steps": 70}))


def test_a_saver_that_forgets_the_generator_of_the_environment_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = saving.put_back

    def forgetful(env: Any, state: dict[str, Any]) -> None:
        whole(env, {**state, **{n: env.unwrapped.np_random for n in state if n.endswith("._np_random")}})

    monkeypatch.setattr("hreach.running.keeping.put_back", forgetful)
    assert differs(TABLES["on riverswim"])


def test_a_saver_that_forgets_the_time_limit_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = saving.put_back

    def forgetful(env: Any, state: dict[str, Any]) -> None:
        whole(env, {**state, **{n: 0 for n in state if n.endswith("._elapsed_steps")}})

    monkeypatch.setattr("hreach.running.keeping.put_back", forgetful)
    assert differs(TABLES["pac-rmdp {'h': 4}"])


def test_an_agent_that_forgets_its_stream_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = hreach.agents.agent.Agent.load_state_dict

    def forgetful(self: Any, saved: Any) -> None:
        before = self.stream.copy()
        whole(self, saved)
        self.stream[...] = before

    monkeypatch.setattr("hreach.agents.agent.Agent.load_state_dict", forgetful)
    assert differs(TABLES["epsilon-greedy {'epsilon': 0.3}"])


def test_a_generator_goes_on_and_spawns_as_it_would_have() -> None:
    one = np.random.default_rng(5)
    one.random(3, dtype=np.float32)  # leaves half a word behind
    one.spawn(2)
    other = plain.decode(*plain.encode(one))
    assert other.random(dtype=np.float32) == one.random(dtype=np.float32)
    assert other.spawn(1)[0].random() == one.spawn(1)[0].random()
