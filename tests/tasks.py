"""Tasks for executors; in a module of their own, so that worker processes can import them."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hreach
from hreach.running.executors import stopping
from hreach.running.executors.worker import serve


def square(number: int) -> int:
    return number * number


def later_first(number: int, of: int) -> int:
    """The first ones take longest."""
    time.sleep(0.02 * (of - number))
    return number


def odd_only(number: int) -> int:
    if number % 2 == 0:
        raise ValueError(f"{number} is\neven")
    return number


class SilentError(Exception):
    """Cannot be sent anywhere, nor say what it is."""

    def __init__(self) -> None:
        self.inside = threading.Lock()

    def __str__(self) -> str:
        raise RuntimeError("cannot tell")


def silent(number: int) -> int:
    raise SilentError


def leaves(number: int) -> int:
    sys.exit(f"left {number}")


def unsendable(number: int) -> object:
    return threading.Lock()


def identity(thing: object) -> bool:
    return thing is not None


def variable(name: str) -> str | None:
    return os.environ.get(name)


def process(pause: float) -> int:
    time.sleep(pause)
    return os.getpid()


def big(number: int, ballast: bytes) -> bytes:
    return ballast + bytes([number])


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dies_once(number: int, fatal: int, marker: str) -> int:
    """The worker of the task `fatal` dies the first time."""
    if number == fatal:
        path = Path(marker)
        if not path.exists():
            path.touch()
            die()
    return number


def dies(number: int, fatal: int, folder: str) -> int:
    """The worker of the task `fatal` dies always; every try leaves a file."""
    (Path(folder) / f"{number}-{time.monotonic_ns()}").touch()
    if number == fatal:
        time.sleep(0.05)
        die()
    return number


def waits(folder: str) -> None:
    """Says who it is, and then is busy for longer than anybody waits."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(600)


def waits_for_a_flag(folder: str) -> None:
    flag = stopping()
    (Path(folder) / f"begun-{threading.get_ident()}").touch()
    while not flag[0]:
        time.sleep(0.005)
    (Path(folder) / f"stopped-{threading.get_ident()}").touch()


def endless_runs(folder: str) -> None:
    """Compiled runs that nobody would wait for; says so if they are taken for finished ones."""
    (Path(folder) / "begun").touch()
    hreach.simulate("chain", "pac-rmdp", {"h": 8}, runs=4, steps=50_000_000, threads=1)
    (Path(folder) / "taken").touch()


def rewards(seed: int) -> list[float]:
    runs = hreach.simulate("chain", "greedy", runs=3, steps=50, seed=seed, threads=1)
    return [float(total) for total in runs.reward.sum(axis=1)]


def stillborn(*_: Any) -> None:
    """In place of a worker's life."""
    sys.exit(7)


def unlucky(*life: Any) -> None:
    """A worker's life, but for as many as the file `KILLS` says, who are killed before they have begun."""
    file = Path(os.environ["KILLS"])
    left = int(file.read_text())
    if left > 0:
        file.write_text(str(left - 1))
        os.kill(os.getpid(), signal.SIGKILL)
    serve(*life)


def counted(tasks: list[int], taken: list[int]) -> Any:
    """The tasks, one after the other, and a note of those that were taken."""
    for task in tasks:
        taken.append(task)
        yield (task,)


def until(true: Callable[[], object]) -> None:
    """Wait for what has to come."""
    for _ in range(3000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come within 30 s")
