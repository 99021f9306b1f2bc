"""The gridworld against its rules cell by cell, Garnet against what is said of it, and their pictures."""

from __future__ import annotations

import itertools

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

import hreach
from hreach.domains.garnet import Garnet, _different
from hreach.domains.gridworld import Gridworld
from hreach.problems.saving import why_not_saved
from hreach.testing import check_domain

MAP = """
    S..#.
    .#.XS
    ...G.
"""
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))


def table(lines: list[str], slip: float) -> NDArray[np.float64]:
    """P (S, 4, S) of a map, one cell and one move at a time."""
    cells = [(r, c) for r, line in enumerate(lines) for c, sign in enumerate(line) if sign != "#"]
    number = {cell: i for i, cell in enumerate(cells)}
    P = np.zeros((len(cells), 4, len(cells)))
    for (r, c), a, (turn, chance) in itertools.product(cells, range(4), ((0, 1 - slip), (1, slip / 2), (3, slip / 2))):
        down, right = MOVES[(a + turn) % 4]
        stays = lines[r][c] in "GX" or (r + down, c + right) not in number
        P[number[r, c], a, number[r, c] if stays else number[r + down, c + right]] += chance
    return P


@pytest.mark.parametrize("slip", [0.0, 0.2, 1.0])
def test_a_map_moves_cell_by_cell_as_it_says(slip: float) -> None:
    env = Gridworld(map=MAP, slip=slip, goal=2, pit=-3, step=-0.1)
    mdp, lines = env.mdp(), MAP.split()
    np.testing.assert_allclose(mdp.transitions(), table(lines, slip), atol=1e-15)
    signs = "".join(lines).replace("#", "")
    pays = [{"G": 2.0, "X": -3.0}.get(sign, -0.1) for sign in signs]
    np.testing.assert_array_equal(mdp.reward_table(), np.repeat(np.array(pays)[:, None], 4, axis=1))
    np.testing.assert_array_equal(mdp.ending_chance[:, 0], [float(sign in "GX") for sign in signs])
    np.testing.assert_array_equal(mdp.start, [0.5 * (sign == "S") for sign in signs])
    assert [lines[r][c] for r, c in env.places()] == list(signs)


def test_a_grid_without_a_map_is_open_from_corner_to_corner() -> None:
    mdp = Gridworld(rows=3, columns=4).mdp()
    np.testing.assert_allclose(mdp.transitions(), table(["S...", "....", "...G"], 0.2), atol=1e-15)


def test_the_value_of_a_corridor_is_a_power_of_gamma() -> None:
    """Without slips the goal, n moves away, is worth gamma^n."""
    value = Gridworld(map="S....G", slip=0, gamma=0.9).mdp().optimal_value()
    np.testing.assert_allclose(value, 0.9 ** np.arange(5, -1, -1), rtol=1e-12)


def test_a_large_grid_has_the_same_rows_as_a_small_one_inside() -> None:
    mdp = Gridworld(rows=300, columns=200).mdp()
    inside, pair = 57 * 200 + 31, (57 * 200 + 31) * 4 + 1
    entries = slice(mdp.indptr[pair], mdp.indptr[pair + 1])
    assert mdp.next_state[entries].tolist() == [inside - 200, inside + 1, inside + 200]
    np.testing.assert_allclose(mdp.probability[entries], [0.1, 0.8, 0.1])


def test_a_garnet_has_so_many_successors_and_follows_from_its_seed() -> None:
    one, same, other = (Garnet(states=30, actions=3, successors=4, seed=seed).mdp() for seed in (1, 1, 2))
    assert ((one.transitions() > 0).sum(axis=2) == 4).all()
    np.testing.assert_array_equal(one.transitions(), same.transitions())
    assert (one.transitions() != other.transitions()).any()
    assert (one.expected_reward >= 0).all()
    assert (one.expected_reward < 1).all()


def test_a_garnets_probabilities_are_the_gaps_of_uniform_points() -> None:
    """Each of b gaps has the mean 1 / b and the variance (b - 1) / (b^2 (b + 1))."""
    P = Garnet(states=2000, actions=3, successors=4).mdp().probability
    n = P.size / 4  # gaps of a row are not independent
    assert abs(P.var() - 3 / 80) < 4.5 * np.sqrt(0.01 / n)
    assert abs(np.full(P.size, 0.25).var() - 3 / 80) > 4.5 * np.sqrt(0.01 / n)  # the twin: equal parts


def chi_square(draws: NDArray[np.int32]) -> float:
    """Over the 10 sets of 2 among 5."""
    sets = [tuple(sorted(row)) for row in draws.tolist()]
    counts = np.array([sets.count(each) for each in itertools.combinations(range(5), 2)])
    return float(((counts - len(sets) / 10) ** 2).sum() / (len(sets) / 10))


def test_every_set_of_successors_is_equally_likely() -> None:
    rng = np.random.default_rng(4)
    assert chi_square(_different(rng, 5000, 2, 5)) < 27.9  # 99.9 % of chi square with 9 degrees
    skewed = np.stack([rng.integers(4, size=5000), np.full(5000, 4)], axis=1)
    assert chi_square(skewed.astype(np.int32)) > 27.9


@pytest.mark.parametrize("name", ["Gridworld-v0", "Garnet-v0"])
def test_gymnasium_makes_and_draws_them(name: str) -> None:
    env = gymnasium.make(f"hreach.domains:hreach/{name}", render_mode="rgb_array").unwrapped
    check_env(env)
    assert isinstance(env, Gridworld | Garnet)
    env.reset(seed=1)
    before = env.render()
    env.step(np.int64(1))
    env.step(np.int64(1))
    after = env.render()
    assert before is not None
    assert after is not None
    assert before.shape == after.shape
    assert (before != after).any()


def test_they_can_be_saved() -> None:
    assert why_not_saved(Gridworld()) is None
    assert why_not_saved(Garnet()) is None


def test_they_do_what_they_say() -> None:
    check_domain(Gridworld(map="S.X\n..G"), steps=8000)
    check_domain(Garnet(states=5, actions=2, successors=3), steps=8000)


BAD = [
    ("gridworld", {"map": "S.G\n.?."}, r"^map line 2, column 2 is '\?', but must be '#' \(wall\), '\.' \(free\), 'S'"),
    ("gridworld", {"map": "S.G\n.."}, r"^map line 2 has 2 signs, but must have 3 like the first\.$"),
    ("gridworld", {"map": "..G"}, r"^map is '\.\.G', but must be a map with a start, 'S'\.$"),
    ("gridworld", {"map": ""}, r"^map is '', but must be one line of signs for each row"),
    ("gridworld", {"map": 3}, r"^map is 3, but must be lines of text\.$"),
    ("gridworld", {"map": "S.G", "rows": 3}, r"^rows, columns is \(3, None\), but must be None with a map\.$"),
    ("gridworld", {"rows": 1, "columns": 1}, r"^rows, columns is \(1, 1\), but must be at least two cells\.$"),
    ("gridworld", {"slip": 1.5}, r"^slip is 1\.5, but must be a probability from 0 to 1\.$"),
    ("gridworld", {"goal": np.inf}, r"^goal is inf, "),
    ("gridworld", {"render_mode": "ansi"}, r"^render_mode is 'ansi', but must be None or one of"),
    ("gridworld", {"rows": 10**6, "columns": 10**6}, r"^a gridworld of 1000000 x 1000000 cells .* needs .* GiB"),
    ("garnet", {"states": 0}, r"^states is 0, but must be a whole number of at least 1\.$"),
    ("garnet", {"states": 3, "successors": 4}, r"^successors is 4, but must be at most the number of states, 3\.$"),
    ("garnet", {"seed": -1}, r"^seed is -1, but must be a whole number of at least 0\.$"),
    ("garnet", {"states": 10**9}, r"^a Garnet of 1000000000 states .* needs .* GiB of memory"),
]


@pytest.mark.parametrize(("name", "params", "message"), BAD)
def test_a_bad_parameter_is_refused_in_one_sentence(name: str, params: dict[str, object], message: str) -> None:
    with pytest.raises(hreach.InputError, match=message) as caught:
        hreach.make_domain(name, **params)
    assert "\n" not in str(caught.value)
