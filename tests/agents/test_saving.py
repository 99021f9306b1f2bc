"""A saved state is used whole or refused: nothing in it is trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hreach
from hreach import InputError
from hreach.agents import saving

State = dict[str, NDArray[Any]]
Damage = Callable[[State], object]


def lived(name: str = "pac-rmdp", seed: int = 3, **params: Any) -> Any:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent(name, env, seed=seed, **({"h": 4} | params if name == "pac-rmdp" else params))
    hreach.run(env, agent, 60)
    return agent


def put(name: str, index: Any, value: Any) -> Damage:
    def damage(state: State) -> None:
        state[name][index] = value

    return damage


def replaced(name: str, value: Any) -> Damage:
    return lambda state: state.update({name: np.asarray(value)})


DAMAGES: dict[str, Damage] = {
    "counts are nan": put("counts", (0, 0, 0), np.nan),
    "counts are infinite": put("counts", (0, 0, 0), np.inf),
    "counts are negative": put("counts", (0, 0, 0), -1.0),
    "counts do not fit the total": put("counts", (0, 0, 0), 1000.2),
    "half a sample": put("counts", (0, 0, 0), 0.7),
    "totals are nan": put("total", (0, 0), np.nan),
    "totals do not fit": put("total", (0, 0), 1e6),
    "more ended than seen": put("ended", (0, 0, 0), 99.0),
    "ended is nan": put("ended", (0, 0, 0), np.nan),
    "rewards are nan": put("income", (0, 0), np.nan),
    "rewards are others": put("income", (0, 0), 17.0),
    "value is nan": put("value", 0, np.nan),
    "value is another": put("value", 0, 3.0),
    "q is infinite": put("q", 0, np.inf),
    "order points outside": put("order", 0, 10**9),
    "order is negative": put("order", 0, -(10**9)),
    "order has a state twice": replaced("order", np.zeros(5, dtype=np.int64)),
    "clock of another time": put("clock", 0, 5.0),
    "clock is nan": put("clock", 0, np.nan),
    "a closed state is open": lambda s: (put("terminal", 0, True)(s), put("open", 0, True)(s)),
    "a state closed without an end": put("terminal", 0, True),
    "another stream": put("stream", 0, np.uint64(1)),
    "residual is negative": replaced("residual", -1.0),
    "another shape": replaced("counts", np.zeros((2, 2, 2))),
    "another type": replaced("order", np.arange(5.0)),
    "objects": replaced("counts", np.full((5, 2, 5), None)),
    "no JSON": replaced("agent", "{"),
    "not an object": replaced("agent", "[1]"),
    "a field is missing": lambda s: s.pop("income"),
    "no checksum": lambda s: s.pop("checksum"),
    "another checksum": replaced("checksum", "0" * 64),
}


def answers(agent: Any) -> tuple[Any, ...]:
    return tuple(np.asarray(x).tobytes() for x in saving.state_dict(agent).values())


@pytest.mark.parametrize("name", ["pac-rmdp", "mbie"])
@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_state_is_refused_in_one_sentence_and_changes_nothing(what: str, name: str) -> None:
    params: dict[str, Any] = {"epsilon": 20.0} if name == "mbie" else {}
    state = lived(name, **params).state_dict()
    DAMAGES[what](state)
    agent = lived(name, seed=5, **params)
    before = answers(agent)
    with pytest.raises(InputError) as refused:
        agent.load_state_dict(state)
    assert "\n" not in str(refused.value)
    assert answers(agent) == before
    agent.act(0)


def test_a_state_that_is_not_damaged_is_accepted() -> None:
    """The twin."""
    agent = lived(seed=5)
    agent.load_state_dict(lived().state_dict())
    assert answers(agent) == answers(lived())


@pytest.mark.parametrize(
    ("params", "difference"),
    [
        ({"h": 5}, "h of the saved agent is 4.0, but must be this agent's, 5.0."),
        ({"gamma": 0.9}, "gamma of the saved agent is 0.95, but must be this agent's, 0.9."),
        ({"prior": 2}, "prior of the saved agent is 1.0, but must be this agent's, 2.0."),
        ({"tolerance": 0.1}, "tolerance of the saved agent"),
        ({"value_cap": 3.0}, "value_cap of the saved agent"),
        ({"ties": [0, 1]}, "ties of the saved agent"),
        ({"reward": "learn", "r_max": 1}, "reward of the saved agent"),
        ({"r_min": -1}, "r_min of the saved agent"),
        ({"freeze_at": 7}, "freeze_at of the saved agent"),
    ],
)
def test_the_state_of_an_agent_made_otherwise_is_refused_by_name(params: dict[str, Any], difference: str) -> None:
    with pytest.raises(InputError) as refused:
        lived(**params).load_state_dict(lived().state_dict())
    assert str(refused.value).startswith(difference)


def test_the_state_of_another_agent_is_refused() -> None:
    with pytest.raises(InputError, match=r"^formula of the saved agent is 'hreach\.reach\.weight:reach_formula'"):
        lived("greedy").load_state_dict(lived().state_dict())


def test_every_bit_of_a_state_counts() -> None:
    """A single bit anywhere that is loaded is noticed."""
    rng = np.random.default_rng(0)
    whole = lived().state_dict()
    silent = 0
    for _ in range(300):
        state = {name: value.copy() for name, value in whole.items()}
        name = str(rng.choice([n for n, v in whole.items() if v.size and v.dtype.kind != "U"]))
        data = state[name].reshape(-1).view(np.uint8)
        at = int(rng.integers(data.size))
        data[at] ^= np.uint8(1 << int(rng.integers(8)))
        if state[name].dtype == np.bool_:
            state[name] = state[name].view(np.uint8).astype(np.bool_)
        if state[name].tobytes() == whole[name].tobytes():
            continue
        try:
            lived().load_state_dict(state)
            silent += 1
        except InputError:
            pass
    assert silent == 0
