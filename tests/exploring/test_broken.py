"""Broken environments: each has a sentence of its own that says what to mend, and leaves nothing behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import broken
import hreach
from helpers import content
from hreach.cli.app import app
from hreach.errors import InputError

SENTENCES = {
    "FourTuple": (
        r"env.step returned \(1, 0.0, False, False\), but must return \(observation, reward, terminated, truncated, i",
        "GymV21CompatibilityV0",
    ),
    "Outside": (r"observation is 7, but must be an element of Discrete\(5\)", "mend observation_space"),
    "NanReward": ("reward, returned by env.step, is nan after 0 steps, but must be a finite number", "division"),
    "InfiniteReward": (
        "reward, returned by env.step, is inf after 0 steps, but must be a finite number",
        "cost a large amount",
    ),
    "Raises": (r"env.step raised KeyError: 'sensor' after \d+ steps", "check_env"),
    "OtherActions": (r"action_space has become Discrete\(3\), but must stay Discrete\(2\)", "keep all actions"),
    "ContinuousActions": (r"action_space is Box\(.*\), but must have finitely many actions", "DiscretizeAction"),
    "Unhashable": (r"observation is \{'position': \[0\]\}, but must be a whole number", r"return int\(observation\)"),
    "SeedlessReset": ("env.reset takes no seed", r"reset\(self, \*, seed=None, options=None\)"),
    "WrongType": (r"observation is array\(\[0.\]\), but must be a whole number", r"return int\(observation\)"),
    "FloatingPairs": (
        "observation has the type float64, but must be whole numbers",
        r"dtype=np.int64\)",
    ),
    "Unbounded": (r"bins is 20, but observation\[0\] has no finite bounds \(-inf to inf\)", 'quantiles 10"'),
    "NotInstalled": ("box2d is not installed", r"gymnasium\[box2d\]"),
    "ResetsBadly": (r"env.reset returned 0, but must return \(observation, info\)", ""),
    "fails": ("whose making raised FileNotFoundError: map.txt", "--set name=value"),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_each_has_its_own_sentence_with_the_fix_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    bins = 20 if name == "Unbounded" else None
    with pytest.raises(InputError) as caught:
        hreach.explore(f"broken:{name}", 2000, bins=bins, out=tmp_path / "out")
    said = str(caught.value)
    for words in SENTENCES[name]:
        assert re.search(words, said), said
    assert said.endswith(".")
    assert "\n" not in said
    assert content(tmp_path) == {}


def test_the_sentences_differ() -> None:
    heads = [head for head, _ in SENTENCES.values()]
    assert len(set(heads)) == len(heads) >= 15


def test_one_that_ignores_its_seed_is_explored_and_said_to_be_unrepeatable() -> None:
    found = hreach.explore(broken.Unseeded(), 300)
    assert any("super().reset(seed=seed)" in note for note in found.notes)
    assert not hreach.explore(broken.Line(), 300).notes


def test_one_that_never_ends_is_explored_and_said_so() -> None:
    found = hreach.explore(broken.NeverEnds(), 300)
    assert any("TimeLimit" in note and "300 steps" in note for note in found.notes)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("FrozenLake-v9", "FrozenLake-v1"),
        ("Frozenlake-v1", "did you mean 'FrozenLake-v1'"),
        ("Taxi-v3", "Taxi-v4"),
        ("gridwrld", "did you mean 'gridworld'"),
        ("broken:Lin", "did you mean 'Line'"),
        ("nosuchmodule:Env", "cannot be imported"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*Taxi-v3:DeprecationWarning")
def test_a_wrong_name_is_answered_with_the_nearest(name: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        hreach.explore(name, 100)
    assert words in str(caught.value)


def test_the_command_line_prints_one_sentence_and_ends_with_2(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["explore", "broken:Raises", "--steps", "500", "--out", str(tmp_path / "x")])
    assert isinstance(result.exception, InputError)
    assert content(tmp_path) == {}
