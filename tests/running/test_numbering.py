"""States of any kind as numbers: the agent does what it does when they are numbers already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import hreach
from hreach.errors import InputError
from hreach.running.numbering import Numbered


class Named(gymnasium.Env[Any, int]):
    """RiverSwim whose states are arrays, texts or tuples; it tells nothing of itself."""

    def __init__(self, name: Any) -> None:
        self.inner, self.name = hreach.make_domain("riverswim"), name
        self.action_space = self.inner.action_space

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        state, info = self.inner.reset(seed=seed)
        return self.name(state), info

    def step(self, action: int) -> Any:
        state, *rest = self.inner.step(action)
        return self.name(state), *rest


NAMES = [lambda s: np.array([s, 7]), lambda s: f"place {s}", lambda s: (s, ("x", -s))]
PARAMS: dict[str, Any] = {"h": 2, "reward": "learn", "r_max": 1.0, "r_min": 0.0, "model": "sparse-counts"}


def lived(env: Any, seed: int = 3) -> Any:
    agent = hreach.make_agent("pac-rmdp", env, seed=seed, gamma=0.95, tolerance=1e-6, **PARAMS)
    return agent, hreach.run(env, agent, 300, seed=4)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_actions_whatever_states_are_called(name: Any) -> None:
    env = Numbered(Named(name), most=6)
    _, mine = lived(env)
    _, other = lived(Numbered(Named(int), most=6))
    np.testing.assert_array_equal(mine.actions, other.actions)
    np.testing.assert_array_equal(mine.states, other.states)
    assert mine.states[0] == 0
    assert len(env.names) == len(set(mine.states) | set(mine.next_states))


def test_room_for_a_million_changes_no_action_of_pac_rmdp() -> None:
    """The mean over all states, which depends on how many there are, is not in it."""
    small, large = Numbered(Named(str), most=50), Numbered(Named(str))
    np.testing.assert_array_equal(lived(small)[1].actions, lived(large)[1].actions)


def test_names_are_saved_as_json_and_the_run_goes_on(tmp_path: Path) -> None:
    env = Numbered(Named(NAMES[2]))
    agent, _ = lived(env)
    env.save(tmp_path / "names.json")
    again = Numbered(Named(NAMES[2]))
    again.load(tmp_path / "names.json")
    assert again.names == env.names
    other = agent.clone(8)
    other.load_state_dict(agent.state_dict())
    one, two = hreach.run(env, agent, 100, seed=5), hreach.run(again, other, 100, seed=5)
    np.testing.assert_array_equal(one.actions, two.actions)


def test_what_the_environment_tells_of_other_numbers_is_not_asked_for() -> None:
    with pytest.raises(InputError, match=r"^reward is 'known', but this environment tells none"):
        hreach.make_agent("pac-rmdp", Numbered(hreach.make_domain("riverswim")), h=1, model="sparse-counts")


def test_what_cannot_be_numbered_is_refused_in_one_sentence(tmp_path: Path) -> None:
    env = Numbered(Named(lambda s: {"at": s}))
    with pytest.raises(InputError, match=r"^state is \{'at'.*, but must be a number, a text, or a tuple"):
        env.reset(seed=1)
    with pytest.raises(InputError, match=r"^state is nan, but must be a number"):
        Numbered(Named(lambda s: float("nan"))).reset(seed=1)
    with pytest.raises(InputError, match=r"^most is 2, but must be above the number of different states"):
        lived(Numbered(Named(int), most=2))
    for text in ("{", "3", '["a", "a"]'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(InputError, match=r"bad\.json (is no JSON|holds)"):
            env.load(tmp_path / "bad.json")
    assert env.names == {}
