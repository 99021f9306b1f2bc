"""What several files of tests need: small problems, distances, commands and what they leave behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from typer.testing import CliRunner

import hreach
from hreach import TabularMDP
from hreach.cli.app import app
from hreach.domains.tabular import TabularEnv

Array = NDArray[np.float64]


def with_end_state(mdp: TabularMDP) -> TabularMDP:
    """The same problem with one more state, the end: absorbing, and nothing is paid there."""
    S, A = mdp.states, mdp.actions
    P, R = np.zeros((S + 1, A, S + 1)), np.zeros((S + 1, A))
    P[:S, :, :S], P[:S, :, S] = mdp.transitions() - mdp.endings(), mdp.endings().sum(axis=2)
    P[S, :, S] = 1
    R[:S] = mdp.expected_reward
    return TabularMDP(P, R, mdp.gamma)


def random_env(
    seed: int, states: int = 4, actions: int = 3, per_transition: bool = False, gamma: float = 0.9
) -> TabularEnv:
    """A problem with rewards in [0, 1], R(s, a) or R(s, a, s'), which are known."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(states, 0.5), size=(states, actions))
    R = rng.random((states, actions, states) if per_transition else (states, actions))
    return TabularEnv(TabularMDP(P, R, gamma), R)


def decades(low: float, high: float) -> st.SearchStrategy[float]:
    """Floats of every order of magnitude from 10^low to 10^high."""
    return st.floats(low, high).map(lambda x: 10.0**x)


def distance(model: Array, truth: Array) -> float:
    """||model - truth||_1."""
    return float(np.abs(model - truth).sum())


def succeed(*arguments: str | Path) -> str:
    """What a command that works prints."""
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def content(folder: Path) -> dict[str, bytes]:
    """Everything below a folder, by its name."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in folder.rglob("*")}


def living(domain: Any, steps: int, seed: int = 3, **params: Any) -> Any:
    """PAC-RMDP with an h from its lifetime after so many steps."""
    env = hreach.make_domain(domain) if isinstance(domain, str) else domain
    agent = hreach.make_agent("pac-rmdp", env, h="lifetime", seed=seed, **params)
    hreach.run(env, agent, steps, seed=4)
    return agent


def h_of(agent: Any) -> float:
    """The h of an agent, which is that of all its pairs."""
    h = agent.planner.table.constants[..., 0]
    assert h.min() == h.max()
    return float(h[0, 0])
