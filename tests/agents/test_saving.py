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
    "counts are nan": put("model.counts", (0, 0, 0), np.nan),
    "counts are infinite": put("model.counts", (0, 0, 0), np.inf),
    "counts are negative": put("model.counts", (0, 0, 0), -1.0),
    "counts do not fit the total": put("model.counts", (0, 0, 0), 1000.2),
    "half a sample": put("model.counts", (0, 0, 0), 0.7),
    "totals are nan": put("model.total", (0, 0), np.nan),
    "totals do not fit": put("model.total", (0, 0), 1e6),
    "more ended than seen": put("model.ended", (0, 0, 0), 99.0),
    "ended is nan": put("model.ended", (0, 0, 0), np.nan),
    "rewards are nan": put("model.reward_sum", (0, 0), np.nan),
    "rewards are others": put("model.reward_sum", (0, 0), 17.0),
    "value is nan": put("planner.value", 0, np.nan),
    "value is another": put("planner.value", 0, 3.0),
    "q is infinite": put("planner.q", 0, np.inf),
    "order points outside": put("planner.order", 0, 10**9),
    "order is negative": put("planner.order", 0, -(10**9)),
    "order has a state twice": replaced("planner.order", np.zeros(5, dtype=np.int64)),
    "samples of another time": put("model.samples", 0, 5.0),
    "samples are nan": put("model.samples", 0, np.nan),
    "news of a pair outside": put("model.news", 1, 10**9),
    "more news than there can be": put("model.news", 0, 10**9),
    "due although constants stay": put("planner.due", 0, 5.0),
    "due is nan": put("planner.due", 0, np.nan),
    "planned with another model": replaced("planned_with", 1),
    "a version of another time": replaced("model.version", 5),
    "a closed state is open": lambda s: (put("model.terminal", 0, True)(s), put("model.open", 0, True)(s)),
    "a state closed without an end": put("model.terminal", 0, True),
    "another stream": put("stream", 0, np.uint64(1)),
    "residual is negative": replaced("planner.residual", -1.0),
    "another shape": replaced("model.counts", np.zeros((2, 2, 2))),
    "another type": replaced("planner.order", np.arange(5.0)),
    "objects": replaced("model.counts", np.full((5, 2, 5), None)),
    "no JSON": replaced("agent", "{"),
    "not an object": replaced("agent", "[1]"),
    "a field is missing": lambda s: s.pop("model.reward_sum"),
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


# --- continuous problems ---------------------------------------------------------------------------------------------


def driven(seed: int = 3, **params: Any) -> Any:
    env = hreach.make_domain("mountain-car", max_steps=40)
    agent = hreach.make_agent("linear-pac-rmdp", env, seed=seed, **{"h": 2, "grid": (8, 7), **params})
    hreach.run(env, agent, 60)
    return agent


LINEAR_DAMAGES: dict[str, Damage] = {
    "value is nan": put("planner.value", 0, np.nan),
    "value is another": put("planner.value", 0, -3.0),
    "q is infinite": put("planner.q", (0, 0), np.inf),
    "slope is nan": replaced("planner.slope", np.nan),
    "slope is another": replaced("planner.slope", 7.0),
    "more asked about": replaced("planner.calls", 7),
    "a sample that was not learnt is nan": put("model.unlearnt", (0, 0), np.nan),
    "a sample that was not learnt is another": put("model.unlearnt", (0, 0), 0.1),
    "planned with another model": replaced("planned_with", 1),
    "expected elsewhere": put("expected", 0, 0.5),
    "another stream": put("stream", 0, np.uint64(1)),
    "another shape": replaced("planner.value", np.zeros(5)),
    "another type": replaced("planner.calls", 7.0),
    "no JSON": replaced("agent", "{"),
    "a field is missing": lambda s: s.pop("planner.q"),
    "no checksum": lambda s: s.pop("checksum"),
    "another checksum": replaced("checksum", "0" * 64),
}


@pytest.mark.parametrize("what", LINEAR_DAMAGES)
def test_a_damaged_state_of_a_linear_agent_is_refused_and_changes_nothing(what: str) -> None:
    state = driven().state_dict()
    assert len(state["model.unlearnt"]) > 0
    LINEAR_DAMAGES[what](state)
    agent = driven(seed=5)
    before = answers(agent)
    with pytest.raises(InputError) as refused:
        agent.load_state_dict(state)
    assert "\n" not in str(refused.value)
    assert answers(agent) == before


def test_a_state_of_a_linear_agent_that_is_not_damaged_is_accepted() -> None:
    """The twin."""
    agent = driven(seed=5)
    agent.load_state_dict(driven().state_dict())
    assert answers(agent) == answers(driven())


@pytest.mark.parametrize(
    ("params", "difference"),
    [
        ({"h": 3}, "h of the saved agent is 2, but must be this agent's, 3."),
        ({"ridge": 0.2}, "ridge of the saved agent is 0.1, but must be this agent's, 0.2."),
        ({"sigma": 0.02}, "sigma of the saved agent"),
        ({"tolerance": 0.1}, "tolerance of the saved agent"),
        ({"quadrature": 1}, "quadrature of the saved agent"),
        ({"slope": 2.0}, "slope of the saved agent is 'paper', but must be this agent's, 2.0."),
        ({"slope": "axis"}, "slope of the saved agent"),
        ({"z_rule": "singular"}, "z_rule of the saved agent"),
        ({"reward_sigma": 0.5}, "reward_sigma of the saved agent"),
        ({"replan": {"steps": 3}}, "replan of the saved agent"),
        ({"commit": "all"}, "commit of the saved agent"),
    ],
)
def test_the_state_of_a_linear_agent_made_otherwise_is_refused_by_name(params: dict[str, Any], difference: str) -> None:
    with pytest.raises(InputError) as refused:
        driven(**params).load_state_dict(driven().state_dict())
    assert str(refused.value).startswith(difference)


def test_a_slope_by_hand_is_part_of_what_an_agent_was_made_with() -> None:
    with pytest.raises(InputError, match=r"^slope of the saved agent is 2\.0, but must be this agent's, 3\.0\.$"):
        driven(slope=3.0).load_state_dict(driven(slope=2.0).state_dict())
    with pytest.raises(InputError, match=r"^slope of the saved agent is 2\.0, but must be this agent's, 3\.0\.$"):
        treated(slope=3.0).load_state_dict(treated(slope=2.0).state_dict())


def treated(**params: Any) -> Any:
    return hreach.make_agent("linear-pac-rmdp", hreach.make_domain("hiv"), h=1, segments=(5,), **params)
