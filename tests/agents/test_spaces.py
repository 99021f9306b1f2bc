"""Which spaces an agent takes, and what it advises where it cannot take one."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import hreach

BOX = spaces.Box(-1.0, 1.0, (2,), np.float64)
FEW = spaces.Discrete(3)


class Blank(gymnasium.Env[Any, Any]):
    """Has spaces and nothing else."""

    def __init__(self, observation: Any, action: Any) -> None:
        self.observation_space, self.action_space = observation, action


def refusal(observation: Any, action: Any) -> str:
    with pytest.raises(hreach.InputError) as raised:
        hreach.make_agent("pac-rmdp", Blank(observation, action), h=1, reward="learn", r_max=1)
    return str(raised.value)


OTHERS = [
    spaces.MultiBinary(2),
    spaces.MultiDiscrete([2, 3]),
    spaces.Discrete(3, start=1),
    spaces.Tuple((FEW, FEW)),
    spaces.Dict({"a": FEW}),
]


@pytest.mark.parametrize("space", OTHERS, ids=repr)
def test_a_space_that_is_not_numbered_from_0_is_refused_by_name(space: Any) -> None:
    for field, said in (("observation_space", refusal(space, FEW)), ("action_space", refusal(FEW, space))):
        assert said.startswith(f"{field} is {type(space).__name__}")
        assert "must be Discrete and start at 0" in said
        assert "number its elements from 0 with a wrapper" in said
        assert "bins" not in said


def test_a_box_of_states_leads_to_bins_or_to_a_linear_agent() -> None:
    said = refusal(BOX, FEW)
    assert said.startswith("observation_space is Box(")
    assert "use a linear agent with a task (hreach.Task), or a wrapper that puts states into bins" in said


def test_a_box_of_actions_leads_to_finitely_many() -> None:
    said = refusal(FEW, BOX)
    assert said.startswith("action_space is Box(")
    assert "finitely many actions" in said


def test_no_space_at_all_is_one_sentence() -> None:
    with pytest.raises(hreach.InputError, match="observation_space is None, but must be Discrete"):
        hreach.make_agent("pac-rmdp", object(), h=1, reward="learn", r_max=1)


def test_discrete_spaces_are_taken() -> None:
    agent = hreach.make_agent("pac-rmdp", Blank(FEW, spaces.Discrete(2)), h=1, reward="learn", r_max=1)
    assert agent.model.seen.counts.shape == (3, 2, 3)
