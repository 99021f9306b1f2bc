"""What TensorBoard is told is what happened, and telling changes nothing."""

from __future__ import annotations

import struct
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import hreach
from hreach import InputError
from hreach.running.tensorboard import TensorBoard


def read(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """The scalars of an event file: records of a length, its checksum, bytes of an Event, their checksum."""
    from tensorboardX.proto.event_pb2 import Event

    [path] = folder.glob("events.*")
    data, found, place = path.read_bytes(), defaultdict(list), 0
    while place < len(data):
        [length] = struct.unpack("<Q", data[place : place + 8])
        event = Event.FromString(data[place + 12 : place + 12 + length])
        for value in event.summary.value:
            found[value.tag].append((event.step, value.simple_value))
        place += 16 + length
    return dict(found)


def test_the_curves_are_those_of_the_run(tmp_path: Path) -> None:
    env = hreach.make_domain("gridworld")
    with TensorBoard(tmp_path, every=50) as board:
        run = hreach.run(env, hreach.make_agent("pac-rmdp", env, h=2), 1020, progress=board)
    plain = hreach.run(env, hreach.make_agent("pac-rmdp", env, h=2), 1020)
    assert np.array_equal(run.actions, plain.actions)
    found = read(tmp_path)
    steps = list(range(50, 1001, 50))
    averages = run.rewards[:1000].reshape(-1, 50).mean(axis=1)
    assert [step for step, _ in found["reward/average"]] == steps
    assert np.allclose([x for _, x in found["reward/average"]], averages, atol=1e-6)
    assert np.allclose([x for _, x in found["reward/total"]], np.cumsum(run.rewards)[np.array(steps) - 1], atol=1e-5)
    assert [step for step, _ in found["episode/return"]] == (run.ended + 1).tolist()
    assert len(run.ended) == 3
    assert np.allclose([x for _, x in found["episode/return"]], run.episode_rewards, atol=1e-5)
    assert [int(x) for _, x in found["episode/length"]] == np.diff(run.ended, prepend=-1).tolist()
    assert [int(x) for _, x in found["agent/samples"]] == steps
    assert all(x <= 0.01 for _, x in found["agent/residual"])


def test_by_episodes_too(tmp_path: Path) -> None:
    env = hreach.make_domain("gridworld")
    with TensorBoard(tmp_path) as board:
        run = hreach.run(env, hreach.make_agent("pac-rmdp", env, h=2), episodes=5, progress=board)
    assert [step for step, _ in read(tmp_path)["episode/return"]] == (run.ended + 1).tolist()


def test_without_it_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(InputError, match=r"TensorBoard needs hreach\[tensorboard\] to be installed"):
        TensorBoard(tmp_path / "board")
    assert not (tmp_path / "board").exists()
