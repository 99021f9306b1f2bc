"""An environment is put back as it was, or said to be one that cannot be."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import hreach
from hreach.problems.plain import NotPlainError, decode, encode
from hreach.problems.saving import NotSavedError, check_made_alike, picture, put_back, why_not_saved

IDS = [
    *(
        "Acrobot-v1",
        "Blackjack-v1",
        "CartPole-v1",
        "CliffWalking-v0",
        "CliffWalking-v1",
        "FrozenLake-v1",
        "FrozenLake8x8-v1",
    ),
    *("MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Taxi-v3", "Taxi-v4"),
    *(f"hreach/{name}-v0" for name in ("Chain", "ModifiedChain", "RiverSwim", "SixArms", "MountainCar", "HIV")),
]
HERE = [name for name in IDS if name in gymnasium.registry]  # versions come and go with Gymnasium's


def bits(value: Any) -> bytes:
    return "".join(map(str, encode(value))).encode()


def walk(env: Any, actions: list[Any]) -> list[bytes]:
    """What each action leads to; an episode that ends is followed by another one."""
    seen = []
    for action in actions:
        state, reward, terminated, truncated, _ = env.step(action)
        seen.append(bits([state, float(reward), bool(terminated), bool(truncated)]))
        if terminated or truncated:
            seen.append(bits(env.reset()[0]))
    return seen


@pytest.mark.parametrize("name", HERE)
@settings(max_examples=10, deadline=None)
@given(before=st.integers(0, 40), seed=st.integers(0, 1000))
def test_environments_go_on_as_if_nothing_had_happened(name: str, before: int, seed: int) -> None:
    one, other, spare = (gymnasium.make(name) for _ in range(3))
    spare.action_space.seed(seed)
    actions = [spare.action_space.sample() for _ in range(80)]
    one.reset(seed=seed)
    walk(one, actions[:before])
    assert why_not_saved(one) is None
    state = decode(*encode(picture(one).state))
    other.reset(seed=seed + 1)
    put_back(other, state)
    assert picture(other).marks == picture(one).marks
    assert walk(other, actions[before:]) == walk(one, actions[before:])


def test_every_environment_of_gymnasium_that_needs_no_picture_is_here() -> None:
    kinds = ("gymnasium.envs.classic_control", "gymnasium.envs.toy_text")
    entries = {name: str(spec.entry_point) for name, spec in gymnasium.registry.items() if "/" not in name}
    there = {entry for entry in entries.values() if entry.startswith(kinds)}
    assert there == {entries[name] for name in HERE if "/" not in name}


# --------------------------------------------------------------------------------------------------- what is not saved


class Own(gymnasium.Env[Any, Any]):
    """An environment of somebody else, with one attribute more."""

    def __init__(self, more: Any = 0) -> None:
        self.observation_space, self.action_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(2)
        self.more = more


class Slotted(gymnasium.Env[Any, Any]):
    __slots__ = ("hidden",)


class Foreign(gymnasium.Env[Any, Any], BaseException):
    """It has a base that is written in C."""


class Shared(gymnasium.Env[Any, Any]):
    """What all of a class share can change without being seen."""

    machine = iter([1, 2])


class Drawing(gymnasium.Env[Any, Any]):
    generator = np.random.default_rng(0)


class Asking:
    """Hands on whatever it does not know, how to save among it."""

    def __init__(self, env: Any) -> None:
        self.inner = env

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class Inside:
    """A wrapper that is none of Gymnasium's."""

    def __init__(self, env: Any) -> None:
        self.env = env


class Saving(gymnasium.Env[Any, Any]):
    """It says itself what its state is."""

    def __init__(self) -> None:
        self.machine = iter([1, 2])

    def state_dict(self) -> dict[str, Any]:
        return {"left": 2}

    def load_state_dict(self, saved: Any) -> None:
        self.machine = iter([1, 2])


def named(x: int) -> int:
    return x


def enclosed() -> Callable[[], int]:
    count = 0

    def closure() -> int:
        return count

    return closure


def nested(levels: int) -> list[Any]:
    result: list[Any] = []
    for _ in range(levels):
        result = [result]
    return result


def drawn() -> gymnasium.Space[Any]:
    space = gymnasium.spaces.Discrete(3)
    space.sample()
    return gymnasium.spaces.Dict({"inner": space})


OPAQUE: dict[str, tuple[Callable[[], Any], str]] = {
    "an iterator": (lambda: Own(iter([1])), "'more' of Own is of the type 'list_iterator'"),
    "an object": (lambda: Own(object()), "'more' of Own is of the type 'object'"),
    "an object in a list": (lambda: Own([{"a": object()}]), "'more' of Own is of the type 'object'"),
    "a kind of list": (lambda: Own(type("Mine", (list,), {})()), "'more' of Own is of the type 'Mine'"),
    "a kind of number": (lambda: Own(type("Mine", (float,), {})()), "'more' of Own is of the type 'Mine'"),
    "a kind of array": (lambda: Own(np.ma.zeros(3)), "'more' of Own is of the type 'MaskedArray'"),
    "an array of objects": (lambda: Own(np.array([None])), "'more' of Own is an array of object"),
    "another generator": (lambda: Own(np.random.Generator(np.random.MT19937(0))), "'more' of Own is a generator with"),
    "NumPy's old generator": (lambda: Own(np.random.RandomState(0)), "'more' of Own is of the type 'RandomState'"),
    "gaps": (lambda: Own(np.zeros((4, 4))[::2, ::2]), "'more' of Own is an array with gaps in memory"),
    "a closure": (lambda: Own(enclosed()), "'more' of Own is of the type 'function'"),
    "a lambda": (lambda: Own(lambda: 0), "'more' of Own is a function without a name"),
    "a method": (lambda: Own([1].append), "'more' of Own is of the type 'builtin_function_or_method'"),
    "a partial": (lambda: Own(functools.partial(named, 1)), "'more' of Own is of the type 'partial'"),
    "a space that drew": (lambda: Own(drawn()), "'more' of Own is a space that has drawn random numbers"),
    "slots": (Slotted, "Slotted may have a state outside its attributes"),
    "a base in C": (Foreign, "Foreign may have a state outside its attributes"),
    "an iterator of a class": (Shared, "'class machine' of Shared is of the type 'list_iterator'"),
    "one that only asks": (lambda: Asking(Saving()), "'inner' of Asking is of the type 'Saving'"),
    "another wrapper": (lambda: Inside(Own()), "'env' of Inside is of the type 'Own'"),
    "deep": (lambda: Own(nested(10**5)), "'more' of Own is nested too deeply"),
}


@pytest.mark.parametrize("what", OPAQUE)
def test_in_doubt_an_environment_cannot_be_saved(what: str) -> None:
    make, said = OPAQUE[what]
    assert str(why_not_saved(make())).startswith(said)


def test_arrays_that_share_memory_cannot_be_saved() -> None:
    env = Own(np.zeros(6))
    assert why_not_saved(env) is None
    env.part = env.more[2:4]  # type: ignore[attr-defined]
    assert why_not_saved(env) == "an array that shares its memory with another one"


@pytest.mark.parametrize("more", [None, [1, (2.5, "x")], {"a": {1: b"y"}}, np.float32(1), named, Own, deque([1], 3)])
def test_plain_attributes_can_be_saved(more: Any) -> None:
    """The twin."""
    assert why_not_saved(Own(more)) is None


@pytest.mark.parametrize("change", [lambda own: own.log.append(1), lambda own: setattr(own, "count", 1)])
def test_what_a_class_keeps_must_not_change(change: Callable[[Any], object]) -> None:
    class Fresh(Own):
        log: list[int] = []  # noqa: RUF012 (the mistake that is tested)
        count = 0

    env = Fresh()
    begun = picture(env).marks
    picture(env, begun)
    change(Fresh)
    with pytest.raises(NotSavedError, match=r"'class (log|count)' of Fresh has changed and cannot be put back"):
        picture(env, begun)


def test_a_generator_of_a_class_must_not_draw() -> None:
    env = Drawing()
    begun = picture(env).marks
    env.generator.random()
    with pytest.raises(NotSavedError, match="'class generator' of Drawing has changed and cannot be put back"):
        picture(env, begun)


def test_an_environment_that_saves_itself_can_be_saved_whatever_it_holds() -> None:
    assert why_not_saved(Saving()) is None
    with pytest.raises(hreach.InputError, match="that of every part which saves itself"):
        check_made_alike(Saving(), {}, {}, {})


def test_what_cannot_be_put_back_must_not_change() -> None:
    env = Own(gymnasium.spaces.Discrete(3))
    begun = picture(env).marks
    env.more = gymnasium.spaces.Discrete(4)
    with pytest.raises(NotSavedError, match="'more' of Own has changed and cannot be put back"):
        picture(env, begun)


# ---------------------------------------------------------------------------------------------------- what is put back


def test_what_was_shared_stays_shared_and_what_is_new_goes() -> None:
    one, other = Own([1]), Own()
    one.also = one.more  # type: ignore[attr-defined]
    other.new = 5  # type: ignore[attr-defined]
    put_back(other, decode(*encode(picture(one).state)))
    other.more.append(2)
    assert other.also == [1, 2]  # type: ignore[attr-defined]
    assert not hasattr(other, "new")
    assert one.more == [1]


def test_only_what_the_run_left_alone_must_be_alike() -> None:
    begun, then = picture(Own(1)).marks, picture(Own(2)).marks
    check_made_alike(Own(3), begun, then, {})  # the run changes it
    with pytest.raises(hreach.InputError, match="'more' of Own is another one"):
        check_made_alike(Own(3), begun, begun, {})


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
ARRAYS = npst.arrays(
    npst.scalar_dtypes().filter(lambda kind: kind.kind in "biufc"), npst.array_shapes(min_dims=0, min_side=0)
)
PLAIN = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
        | st.lists(inner, max_size=3).map(lambda items: deque(items, 5))
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(value=PLAIN)
def test_plain_data_comes_back_as_it_was(value: Any) -> None:
    again = decode(*encode(value))
    assert type(again) is type(value)
    assert encode(again) == encode(value)


@pytest.mark.parametrize(
    "value", [np.arange(6.0).reshape(2, 3).T, np.broadcast_to(np.array(1.0), ()), np.array("text")]
)
def test_arrays_keep_order_and_flags(value: Any) -> None:
    again = decode(*encode(value))
    assert again.strides == value.strides
    assert again.flags.writeable == value.flags.writeable
    assert again.dtype == value.dtype
    assert np.array_equal(again, value)


def test_a_cycle_comes_back_as_a_cycle() -> None:
    ring: list[Any] = [1]
    ring.append(ring)
    again = decode(*encode(ring))
    assert again[1] is again


def test_a_set_is_not_plain() -> None:
    """The order of a set is not the same in another process."""
    with pytest.raises(NotPlainError, match="of the type 'set'"):
        encode({"a", "b"})
