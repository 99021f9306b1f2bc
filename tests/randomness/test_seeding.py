"""Seeds and streams are numpy's own, bit for bit, however the work is split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import hreach
from hreach import run_seeds
from hreach.randomness.seeding import Seed, check_seed
from hreach.randomness.streams import streams, uniform

MANY = settings(deadline=None, derandomize=True, max_examples=200)
whole = st.one_of(st.integers(0, 20), st.integers(0, 2**32 + 5), st.integers(0, 2**130))
seeds = st.one_of(whole, st.lists(whole, min_size=1, max_size=6), st.lists(whole, min_size=1).map(tuple))


def numpys(seed: Seed, first: int, runs: int) -> NDArray[np.uint64]:
    rows = [np.random.SeedSequence(seed, spawn_key=(first + i,)).generate_state(2, np.uint64) for i in range(runs)]
    return np.array(rows, dtype=np.uint64)


@MANY
@given(seeds, st.one_of(st.integers(0, 100), st.integers(0, 2**32 - 10)), st.integers(1, 4))
def test_run_seeds_are_the_children_of_numpys_seed_sequence(seed: Seed, first: int, runs: int) -> None:
    np.testing.assert_array_equal(run_seeds(seed, first, runs), numpys(seed, first, runs))


@pytest.mark.parametrize("seed", [2**32 - 1, 2**32, 2**64, 2**96 - 1, 2**96, 2**128 - 1, 2**128, [0], [0, 0], range(9)])
def test_seeds_at_the_edges_of_words_are_numpys_too(seed: Any) -> None:
    np.testing.assert_array_equal(run_seeds(seed, 0, 3), numpys(list(seed) if seed is range(9) else seed, 0, 3))


def test_numpy_integers_are_seeds() -> None:
    np.testing.assert_array_equal(run_seeds(int(np.int64(5)), 0, 2), run_seeds(np.int64(5), 0, 2))  # type: ignore[arg-type]


def test_the_two_columns_and_all_rows_differ() -> None:
    assert np.unique(run_seeds(0, 0, 500)).size == 1000


def test_no_runs_have_no_seeds() -> None:
    assert run_seeds(1, 5, 0).shape == (0, 2)


@MANY
@given(seeds, st.integers(0, 1000), st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_rows_do_not_depend_on_how_the_range_is_split(seed: Seed, first: int, sizes: list[int]) -> None:
    begins = first + np.concatenate([[0], np.cumsum(sizes)])
    parts = [run_seeds(seed, int(begin), size) for begin, size in zip(begins, sizes, strict=False)]
    np.testing.assert_array_equal(np.concatenate(parts), run_seeds(seed, first, sum(sizes)))


def numpys_state(seed: int) -> list[int]:
    inside: dict[str, int] = np.random.PCG64(seed).state["state"]  # type: ignore[assignment]
    low = 2**64 - 1
    return [inside["state"] >> 64, inside["state"] & low, inside["inc"] >> 64, inside["inc"] & low]


@MANY
@given(st.lists(st.one_of(st.integers(0, 2**32), st.integers(0, 2**64 - 1)), min_size=1, max_size=5))
def test_streams_are_the_states_of_numpys_pcg64(numbers: list[int]) -> None:
    expected = [numpys_state(n) for n in numbers]
    np.testing.assert_array_equal(streams(np.array(numbers, dtype=np.uint64)), np.array(expected, dtype=np.uint64))


def test_streams_keep_the_shape_of_the_seeds() -> None:
    pairs = run_seeds(3, 0, 6)
    made = streams(pairs)
    assert made.shape == (6, 2, 4)
    np.testing.assert_array_equal(made[4, 1], np.array(numpys_state(int(pairs[4, 1])), dtype=np.uint64))


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**64 - 1, 0x9E3779B97F4A7C15])
def test_uniform_numbers_are_those_of_numpys_generator(seed: int) -> None:
    stream = streams(np.array([seed], dtype=np.uint64))[0]
    mine = [uniform(stream) for _ in range(1000)]
    theirs = np.random.Generator(np.random.PCG64(seed)).random(1000)
    np.testing.assert_array_equal(mine, theirs)


def test_drawing_steps_the_stream_and_leaves_its_increment() -> None:
    stream = streams(np.array([4], dtype=np.uint64))[0]
    before = stream.copy()
    uniform(stream)
    assert (stream[:2] != before[:2]).any()
    np.testing.assert_array_equal(stream[2:], before[2:])


# --- bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 2**200, [1, 2], (3,), np.uint64(7)])
def test_whole_numbers_and_sequences_of_them_are_seeds(seed: Any) -> None:
    check_seed(seed)
    assert run_seeds(seed, 0, 1).shape == (1, 2)


@pytest.mark.parametrize("seed", [-1, 1.0, True, [], (), [1, -1], [0.5], [True], "12", None, np.array([1])])
def test_a_bad_seed_is_refused_by_a_sentence_with_its_value(seed: Any) -> None:
    for use in (check_seed, lambda s: run_seeds(s, 0, 1)):
        with pytest.raises(hreach.InputError) as caught:
            use(seed)
        assert str(caught.value) == f"seed is {seed!r}, but must be a whole number of at least 0."


@pytest.mark.parametrize(("first", "runs", "field"), [(-1, 2, "first"), (0, -1, "runs")])
def test_runs_before_the_first_and_fewer_than_none_are_refused(first: int, runs: int, field: str) -> None:
    with pytest.raises(hreach.InputError, match=f"^{field} is -1, "):
        run_seeds(0, first, runs)


@pytest.mark.parametrize("first", [2**32 - 1, 2**32, 2**40])
def test_a_run_number_of_more_than_32_bits_is_numpys_too_or_refused(first: int) -> None:
    try:
        rows = run_seeds(0, first, 2)
    except hreach.InputError as error:
        assert str(first) in str(error)  # noqa: PT017
    else:
        np.testing.assert_array_equal(rows, numpys(0, first, 2))


@pytest.mark.parametrize("seed", [2**64, [1, 2]])
def test_an_agent_refuses_a_seed_that_is_not_one_64_bit_number(seed: Any) -> None:
    with pytest.raises(hreach.InputError, match=r"^seed is "):
        hreach.make_agent("greedy", hreach.make_domain("chain"), seed=seed)


# --- one seed for the environment, one for the agent ----------------------------------------------------------


def indifferent_reward(env_seed: int, agent_seed: int) -> float:
    """What an agent that is indifferent in every state, and so acts at random, earns on the chain a step."""
    env = hreach.make_domain("chain")
    agent = hreach.make_agent("greedy", env, value_cap=-1, seed=agent_seed)
    return hreach.run(env, agent, steps=20_000, seed=env_seed).average_reward


@pytest.mark.parametrize(("env_seed", "agent_seed"), [(0, 1), (0, 0), (5, 5)])
def test_an_indifferent_agent_earns_what_a_random_one_does_even_with_the_environments_seed(
    env_seed: int, agent_seed: int
) -> None:
    """.131 a step; the mean of 20,000 steps has a standard deviation of .002."""
    random = hreach.make_domain("chain").mdp().average_reward(np.full((5, 2), 0.5))
    assert abs(indifferent_reward(env_seed, agent_seed) - random) < 5 * 0.002
