"""A checkpoint that is damaged or another run's is refused, one that cannot be written is said, Ctrl-C and kill -9."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import hreach
from hreach import files
from hreach.problems.plain import encode
from hreach.running import checkpoint
from hreach.running.loop import run
from hreach.running.pace import Seconds, Steps
from hreach.running.simulate import Setting
from hreach.studies.stepped import run_stepped, why_not_saved

STEPS = 60


def made(h: float = 4, seed: int = 7, agent: str = "pac-rmdp", **params: Any) -> tuple[Any, Any]:
    env = hreach.make_domain("chain", **params)
    return env, hreach.make_agent(agent, env, seed=seed, **({"h": h} if agent == "pac-rmdp" else {}))


class Stop:
    """Tells a run that is at this step to stop."""

    def __init__(self, at: int, how: Callable[[], object]) -> None:
        self.left, self.how = at, how

    def __call__(self, more: int) -> None:
        self.left -= more
        if self.left == 0:
            self.how()


def fail() -> None:
    raise ConnectionError


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The checkpoint of a run that stopped after 30 steps."""
    path = tmp_path / "run"
    with pytest.raises(ConnectionError):
        run(*made(), STEPS, progress=Stop(33, fail), checkpoint=path, every=Steps(10))
    return path


def refused(path: Path, env: Any, agent: Any, steps: int = STEPS, seed: int = 0) -> str:
    """The sentence; the agent and the file are as they were."""
    before, saved = agent.state_dict(), path.read_bytes() if path.is_file() else b""
    with pytest.raises(hreach.InputError) as error:
        run(env, agent, steps, seed, checkpoint=path)
    assert all(np.array_equal(before[name], value) for name, value in agent.state_dict().items())
    assert (path.read_bytes() if path.is_file() else b"") == saved
    assert "\n" not in str(error.value)
    return str(error.value)


def same(one: hreach.Run, other: hreach.Run) -> bool:
    return all(np.array_equal(value, getattr(other, name)) for name, value in vars(one).items())


# ---------------------------------------------------------------------------------------------------------- other runs


def test_another_run_is_refused_by_name(path: Path) -> None:
    assert "seed of the checkpoint is 0, but must be this run's, 5" in refused(path, *made(), seed=5)
    assert "agent seed of the checkpoint is 7, but must be this run's, 8" in refused(path, *made(seed=8))
    assert "h of the saved agent is 4.0, but must be this agent's, 5.0" in refused(path, *made(h=5))
    assert "formula of the saved agent" in refused(path, *made(agent="greedy"))
    assert "steps is 20, but must be at least the 30 that were done" in refused(path, *made(), steps=20)
    assert "'_mdp' of Chain is another one" in refused(path, *made(slip=0.3))
    wrapped = gymnasium.wrappers.TimeLimit(made()[0], 20)
    assert "environment of the checkpoint is ['hreach.domains.chain:Chain']" in refused(path, wrapped, made()[1])
    other = hreach.make_domain("riverswim")
    assert "environment of the" in refused(path, other, hreach.make_agent("pac-rmdp", other, h=4, seed=7))


def test_another_time_limit_is_another_environment(tmp_path: Path) -> None:
    def limited(steps: int) -> tuple[Any, Any]:
        env, agent = made()
        return gymnasium.wrappers.TimeLimit(env, steps), agent

    path = tmp_path / "run"
    with pytest.raises(ConnectionError):
        run(*limited(9), STEPS, progress=Stop(33, fail), checkpoint=path, every=Steps(10))
    assert "'_max_episode_steps' of TimeLimit is another one" in refused(path, *limited(8))
    assert same(run(*limited(9), STEPS, checkpoint=path), run(*limited(9), STEPS))


def test_the_same_run_is_taken(path: Path) -> None:
    """The twin of all refusals here."""
    assert same(run(*made(), STEPS, checkpoint=path), run(*made(), STEPS))
    assert not path.exists()


# -------------------------------------------------------------------------------------------------------------- damage


def test_every_truncation_and_every_bit_is_noticed(path: Path) -> None:
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    env, agent = made()
    for size in [0, 1, len(whole) - 1, *rng.integers(len(whole), size=60)]:
        path.write_bytes(whole[:size])
        assert "is no checkpoint of this run" in refused(path, env, agent)
    for at in rng.integers(len(whole), size=200):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(damaged))
        assert "is no checkpoint of this run" in refused(path, env, agent)


def archive(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def bomb() -> bytes:
    """An archive whose array says that it has 10^12 numbers."""
    small, large = b"(7,), }" + b" " * 12, b"(1000000000000,), }"
    whole = archive(rewards=np.zeros(7))
    assert small in whole
    return whole.replace(small, large)


@pytest.mark.parametrize("content", [b"", b"text", archive(a=np.zeros(3)), archive(a=np.array([{}])), bomb()])
def test_another_file_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert "it is something else" in refused(path, *made())


def forged(text: str, data: bytes = b"") -> bytes:
    """A file whose checksum is right."""
    rest = len(text.encode()).to_bytes(8, "little") + text.encode() + data
    return b"hreach checkpoint 1\n" + hashlib.sha256(rest).digest() + rest


HOSTILE = {
    "no JSON": "{",
    "a number": "7",
    "an object": '{"a": 1}',
    "a list": '["list", 1]',
    "an unknown kind": '["table", ["seed", ["eval", "1"]]]',
    "a private method": '["table", ["seed", ["read", "<f8", [1], "C"]]]',
    "10^12 numbers": '["table", ["seed", ["array", "<f8", [1000000000000], "C", true]]]',
    "10^12 by 10^12 numbers": '["table", ["seed", ["array", "<f8", [1000000000000, 1000000000000], "C", true]]]',
    "fewer than none": '["table", ["seed", ["array", "<f8", [-1, -1], "C", true]]]',
    "objects": '["table", ["seed", ["array", "|O", [0], "C", true]]]',
    "no type": '["table", ["seed", ["array", "nothing", [0], "C", true]]]',
    "no order": '["table", ["seed", ["array", "<f8", [0], "Q", true]]]',
    "an unknown reference": '["table", ["seed", ["same", 7]]]',
    "another generator": '["table", ["seed", ["generator", "MT19937", {}, 0, ["tuple"], 0]]]',
    "a broken generator": '["table", ["seed", ["generator", "PCG64", {"bit_generator": "PCG64"}, 0, ["tuple"], 0]]]',
    "a list as a name": '["table", [["list"], 1]]',
    "nesting": "[" * 5_000_000,
    "deep tuples": '["tuple", ' * 900 + "1" + "]" * 900,
    "a number without end": "9" * 100_000,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_forged_file_is_refused(path: Path, what: str) -> None:
    path.write_bytes(forged(HOSTILE[what]))
    assert "is no checkpoint of this run: " in refused(path, *made())


@pytest.mark.parametrize(
    "change",
    [
        lambda saved: saved.pop("state"),
        lambda saved: saved.pop("agent"),
        lambda saved: saved.update(env=[1]),
        lambda saved: saved.update(marks={1: 2}),
        lambda saved: saved["record"].pop("rewards"),
        lambda saved: saved["record"].update(rewards=[0.0] * 30),
        lambda saved: saved["record"].update(rewards=np.array(0.0)),
        lambda saved: saved["record"].update(rewards=np.zeros(29)),
        lambda saved: saved["record"].update(rewards=np.zeros(30, dtype=np.int64)),
        lambda saved: saved["record"].update(ended=np.zeros(1, dtype=np.int64)),
        lambda saved: saved["record"].update(more=np.zeros(30)),
        lambda saved: saved["agent"].pop("stream"),
        lambda saved: saved["agent"].update(stream=7),
        lambda saved: saved["agent"].update(checksum="0"),
    ],
)
def test_a_forged_run_is_refused(path: Path, change: Callable[[Any], object]) -> None:
    saved = checkpoint.read(path)
    change(saved)
    path.write_bytes(forged(*encode(saved)))
    assert "is no checkpoint of this run: " in refused(path, *made())


def test_what_is_forged_here_is_taken_if_nothing_is_changed(path: Path) -> None:
    """The twin."""
    path.write_bytes(forged(*encode(checkpoint.read(path))))
    assert same(run(*made(), STEPS, checkpoint=path), run(*made(), STEPS))


# ------------------------------------------------------------------------------------------------- it cannot be written


def test_a_run_that_cannot_be_saved_does_not_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "a file in a folder that exists" in refused(tmp_path / "none" / "run", *made())
    assert "a file, not a folder" in refused(tmp_path, *made())

    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("hreach.running.checkpoint.write_bytes", full)
    assert "run cannot be written: No space left on device" in refused(tmp_path / "run", *made())


def test_a_disk_that_fills_up_later_does_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, write, left = tmp_path / "run", files.write_bytes, [3]

    def fills_up(path: Path, data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        write(path, data)

    monkeypatch.setattr("hreach.running.checkpoint.write_bytes", fills_up)
    said = r"run was not written: Read-only file system; the run goes on, and what was saved before stands\."
    with pytest.raises(ConnectionError), pytest.warns(UserWarning, match=said):
        run(*made(), STEPS, progress=Stop(47, fail), checkpoint=path, every=Steps(10))
    assert len(checkpoint.read(path)["record"]["rewards"]) == 20
    monkeypatch.undo()
    assert same(run(*made(), STEPS, checkpoint=path), run(*made(), STEPS))


# --------------------------------------------------------------------------------------------------- what is not saved


class Walker:
    """An agent that cannot be saved."""

    def act(self, state: Any) -> int:
        return int(state) % 2

    def observe(self, *sample: Any) -> None:
        """Nothing is learnt."""


class Tensor(Walker):
    """Its state is no plain data."""

    def state_dict(self) -> dict[str, Any]:
        return {"weights": object()}

    def load_state_dict(self, saved: Any) -> None:
        """Nothing is loaded."""


class Opaque(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that cannot be saved."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.machine = iter(range(10**6))


class Logging(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Its class remembers every reset."""

    log: list[int] = []  # noqa: RUF012 (the mistake that is tested)

    def reset(self, **options: Any) -> Any:
        self.log.append(1)
        return self.env.reset(**options)


def test_what_cannot_be_saved_is_said_and_runs_all_the_same(tmp_path: Path) -> None:
    env, agent = made()
    with pytest.warns(UserWarning, match=r"Walker has no state_dict and load_state_dict; if this run is stopped, it b"):
        unsaved = run(env, Walker(), STEPS, checkpoint=tmp_path / "run", every=Steps(5))
    assert same(unsaved, run(env, Walker(), STEPS))
    with pytest.warns(UserWarning, match=r"something in the state_dict of Tensor is of the type 'object'; if this"):
        run(env, Tensor(), STEPS, checkpoint=tmp_path / "run")
    said = r"'machine' of Opaque is of the type 'range_iterator'; if this run is stopped, it begins anew\.$"
    with pytest.warns(UserWarning, match=said):
        unsaved = run(Opaque(env), agent, STEPS, checkpoint=tmp_path / "run", every=Steps(5))
    assert same(unsaved, run(*made(), STEPS))
    env, agent = made()
    with pytest.warns(UserWarning, match=r"'class log' of Logging has changed and cannot be put back; if this run is "):
        unsaved = run(Logging(env), agent, STEPS, checkpoint=tmp_path / "run", every=Steps(5))
    assert same(unsaved, run(*made(), STEPS))
    assert list(tmp_path.iterdir()) == []


class Turning(gymnasium.Wrapper[Any, Any, Any, Any]):
    """It can be saved until its 30th step."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.machine: Any = 0

    def step(self, action: Any) -> Any:
        self.machine = self.machine + 1 if self.machine != 30 else iter([])
        if not isinstance(self.machine, int):
            self.step = self.env.step  # type: ignore[method-assign]
        return self.env.step(action)


def test_what_cannot_be_saved_any_more_goes_on_from_what_was_saved(tmp_path: Path) -> None:
    path, (env, agent) = tmp_path / "run", made()
    with pytest.raises(ConnectionError), pytest.warns(UserWarning, match=r"what was saved before stands\.$"):
        run(Turning(env), agent, STEPS, progress=Stop(47, fail), checkpoint=path, every=Steps(10))
    assert len(checkpoint.read(path)["record"]["rewards"]) == 30
    env, agent = made()
    with pytest.warns(UserWarning, match=r"of Turning is of the type"):
        again = run(Turning(env), agent, STEPS, checkpoint=path, every=Steps(10))
    assert same(again, run(*made(), STEPS))


# ------------------------------------------------------------------------------------------------------------ stopping


@pytest.fixture
def listening() -> Any:
    """Ctrl-C as an interpreter hears it; what a shell started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Never(Steps):
    """Looks every so many steps, and never saves by itself."""

    def due(self) -> bool:
        return False


@pytest.mark.usefixtures("listening")
def test_ctrl_c_saves_the_run_first(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt) as raised:
        run(*made(), STEPS, progress=Stop(23, press_ctrl_c), checkpoint=path, every=Never(10))
    assert len(raised.value.run.rewards) == 30  # type: ignore[attr-defined]
    assert len(checkpoint.read(path)["record"]["rewards"]) == 30
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert same(run(*made(), STEPS, checkpoint=path), run(*made(), STEPS))


@pytest.mark.usefixtures("listening")
def test_a_second_ctrl_c_does_not_wait(tmp_path: Path) -> None:
    path = tmp_path / "run"

    def twice() -> None:
        press_ctrl_c()
        press_ctrl_c()

    with pytest.raises(KeyboardInterrupt) as raised:
        run(*made(), STEPS, progress=Stop(23, twice), checkpoint=path, every=Never(10))
    assert len(raised.value.run.rewards) == 23  # type: ignore[attr-defined]
    assert same(run(*made(), STEPS, checkpoint=path), run(*made(), STEPS))


def test_seconds_look_at_the_clock_and_spend_a_fiftieth_on_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("hreach.running.pace.time.monotonic", lambda: now[0])
    pace = Seconds(60)
    for expected in (1, 2, 4, 8):
        assert pace.stretch() == expected
        now[0] += 0.01
        assert not pace.due()
    now[0] += 60
    assert pace.due()
    assert pace.stretch() == 8  # the last stretch took a minute
    now[0] += 3
    pace.saved(3.0)
    now[0] += 149
    assert not pace.due()
    now[0] += 1
    assert pace.due()
    with pytest.raises(hreach.InputError, match="every is -1, but must be a finite number of at least 0"):
        Seconds(-1)


KILLED = """
import sys, time, hreach
env = hreach.make_domain("FrozenLake-v1")
agent = hreach.make_agent("pac-rmdp", env, h=1, seed=7, reward="learn", r_max=1)
slowly = lambda more: time.sleep(1e-4)
hreach.run(env, agent, 40_000, seed=3, checkpoint=sys.argv[1], every=0.0, progress=slowly)
"""


def test_a_process_that_is_killed_goes_on(tmp_path: Path) -> None:
    """Three times, at a moment drawn after something new was saved."""
    path, rng = tmp_path / "run", np.random.default_rng()
    saved = []
    for _ in range(3):
        before = path.stat().st_mtime_ns if path.exists() else 0
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)])
        while not (path.exists() and path.stat().st_mtime_ns > before):
            assert process.poll() is None
            time.sleep(0.002)
        time.sleep(float(rng.uniform(0, 0.2)))
        process.kill()
        assert process.wait() == -signal.SIGKILL
        saved.append(len(checkpoint.read(path)["record"]["rewards"]))
    assert saved == sorted(saved)
    assert 0 < saved[-1] < 40_000

    def lake() -> tuple[Any, Any]:
        env = hreach.make_domain("FrozenLake-v1")
        return env, hreach.make_agent("pac-rmdp", env, h=1, seed=7, reward="learn", r_max=1)

    assert same(run(*lake(), 40_000, 3, checkpoint=path), run(*lake(), 40_000, 3))


# ------------------------------------------------------------------------------------------------------- in a study


CELL = Setting("mountain-car", {"max_steps": 15}, "linear-pac-rmdp", {"h": 1, "grid": [6, 6]}, None, 4)


def test_a_run_of_a_study_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, whole = tmp_path / "run", run_stepped(CELL, 2, [5], 3)
    write, left = files.write_bytes, [2]

    def dies(path: Path, data: bytes) -> None:
        write(path, data)
        left[0] -= 1
        if left[0] == 0:
            raise SystemExit

    monkeypatch.setattr("hreach.running.checkpoint.write_bytes", dies)
    with pytest.raises(SystemExit):
        run_stepped(CELL, 2, [5], 3, 100, path, 0.0)
    monkeypatch.undo()
    assert len(checkpoint.read(path)["record"]["rewards"]) > 0
    for content in (path.read_bytes(), b"damaged"):  # the one goes on, the other begins anew
        path.write_bytes(content)
        again = run_stepped(CELL, 2, [5], 3, 100, path, 0.0)
        assert json.dumps(again.agent) == json.dumps(whole.agent)
        assert np.array_equal(again.learning.total, whole.learning.total)
        assert not path.exists()


def test_a_setting_that_cannot_be_saved_says_why() -> None:
    assert why_not_saved(CELL) is None
    assert why_not_saved(Setting("chain", {}, f"{__name__}:walker", {}, 5, None)) == (
        "Walker has no state_dict and load_state_dict"
    )


def walker(env: Any, *, seed: int = 0) -> Walker:
    return Walker()
