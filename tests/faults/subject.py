"""What the tests of faults run: a small study of a package of its own, whose shards take about .1 s each.

A run says in the file of `FAULTS_LOG` that it was done; agents whose seed stands in the file `deadly` kill their
process, and those whose seed stands in `failing` raise an error.
"""

from __future__ import annotations

import random
from pathlib import Path

PACKAGE = '''\
import os
import signal
import time
from pathlib import Path

import gymnasium
import numpy as np


class Corridor(gymnasium.Env):
    """A walk of some steps; each pays at random, and the last one ends the episode."""

    def __init__(self, length=20):
        self.observation_space, self.action_space = gymnasium.spaces.Discrete(length), gymnasium.spaces.Discrete(2)
        self.length, self.state = length, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = 0
        return 0, {}

    def step(self, action):
        self.state += int(self.np_random.random() < 0.8)
        end = self.state == self.length - 1
        return self.state, action + float(self.np_random.random()), end, False, {}


class Slow:
    """Tosses a coin for each action, and sleeps before the first."""

    def __init__(self, env, seed=0, pause=0.1, row=0):
        self.random, self.seed, self.pause, self.steps = self.coin(seed), seed, pause, 0

    def coin(self, seed):
        return np.random.default_rng(seed)

    def act(self, state):
        if self.steps == 0:
            self.begin()
        self.steps += 1
        return int(self.random.random() < 0.5)

    def begin(self):
        if listed("deadly", self.seed):
            os.kill(os.getpid(), signal.SIGKILL)
        if listed("failing", self.seed):
            raise ValueError("this run fails")
        time.sleep(self.pause)

    def observe(self, state, action, reward, next_state, terminated=False, info=None):
        if terminated and "FAULTS_LOG" in os.environ:
            number = os.open(os.environ["FAULTS_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(number, f"{self.seed}\\n".encode())
            os.close(number)


class Shared(Slow):
    """The twin: its coins are those of the process, so its runs depend on who ran before."""

    process = np.random.default_rng(0)

    def coin(self, seed):
        return self.process


def listed(name, seed):
    file = Path(name)
    return file.is_file() and str(seed) in file.read_text().split()
'''

HEAD = """\
title = "To be disturbed"
domain = "subject_package:Corridor"
episodes = 1
runs = {runs}
seed = 5
"""
ROW = """
[[agent]]
agent = "subject_package:{agent}"
params = {{ pause = {pause}, row = {row} }}
"""
MIXED = """\
title = "Compiled rows and others"
domain = "chain"
steps = 2000
runs = {runs}
seed = 5
"""
COMPILED = """
[[agent]]
agent = "pac-rmdp"
params = {{ h = {h} }}
"""
NAME = "disturbed"


def project(folder: Path) -> Path:
    """The folder of a project with the package in it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "subject_package.py").write_text(PACKAGE, "utf-8")
    return folder


def slow_study(folder: Path, rows: int, runs: int, pause: float = 0.1, agent: str = "Slow") -> Path:
    """A study of rows x runs shards."""
    text = HEAD.format(runs=runs) + "".join(ROW.format(agent=agent, pause=pause, row=row) for row in range(rows))
    return _written(folder, text)


def mixed_study(folder: Path, order: random.Random, agent: str = "Slow") -> Path:
    """A study of compiled rows and of rows that Python steps, in some order."""
    rows = [COMPILED.format(h=h) for h in (1, 2, 4)]
    rows += [ROW.format(agent=agent, pause=0.02, row=row) for row in range(3)]
    order.shuffle(rows)
    return _written(folder, MIXED.format(runs=30) + "".join(rows))


def _written(folder: Path, text: str) -> Path:
    path = project(folder) / f"{NAME}.toml"
    path.write_text(text, "utf-8")
    return path
