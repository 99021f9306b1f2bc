"""Checks for an agent or a domain of your own; each raises AssertionError with what is wrong.

from hreach.testing import check_agent
check_agent(lambda env, seed: MyAgent(env, seed=seed))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hreach.domains import make_domain
from hreach.problems.truth import truth_of
from hreach.running.loop import run

Factory = Callable[[Any, int], Any]


def check_agent(make: Factory, env: Any = None, steps: int = 200) -> None:
    """The four verbs: acts within the action space, same seed same run, and goes on from a saved state.

    `make(env, seed)` builds the agent; the default environment is the chain.
    """
    env = make_domain("chain") if env is None else env
    first = run(env, make(env, 1), steps, seed=1)
    again = run(env, make(env, 1), steps, seed=1)
    actions = env.action_space.n
    assert ((first.actions >= 0) & (first.actions < actions)).all(), "act returned an action outside the action space"
    assert np.array_equal(first.actions, again.actions), "the same seed gave different actions"
    _check_saving(make, env, steps)


def _check_saving(make: Factory, env: Any, steps: int) -> None:
    """An agent that is saved and loaded into a new one must take the actions that it would have taken."""
    kept = make(env, 1)
    run(env, kept, steps, seed=2)
    saved = kept.state_dict()
    for name, value in saved.items():
        assert isinstance(value, np.ndarray | int | float | str | bool), f"state_dict[{name!r}] is not plain data"
        assert np.asarray(value).dtype.kind in "biufU", f"state_dict[{name!r}] holds Python objects"
    loaded = make(env, 99)
    loaded.load_state_dict(saved)
    expected, got = run(env, kept, steps, seed=3), run(env, loaded, steps, seed=3)
    assert np.array_equal(expected.actions, got.actions), "an agent that was saved and loaded acts differently"


def check_domain(env: Any, steps: int = 5000) -> None:
    """A tabular domain tells the truth: what `.mdp()` says is what `step` does.

    Every transition must be possible, pay what the MDP says and end the episode where it can, and frequencies must
    agree within 6 standard errors.
    """
    mdp = truth_of(env)
    assert mdp is not None, "the environment has no .mdp()"
    truth, endings = mdp.transitions(), mdp.endings()
    generator = np.random.default_rng(0)
    seen = np.zeros(truth.shape)
    table = mdp.reward_table().reshape(mdp.states, mdp.actions, -1)
    state, _ = env.reset(seed=0)
    for _ in range(steps):
        action = int(generator.integers(mdp.actions))
        following, reward, terminated, truncated, _ = env.step(action)
        assert truth[state, action, following] > 0, f"({state}, {action}) -> {following} is impossible in .mdp()"
        due = table[state, action, following if table.shape[2] > 1 else 0]
        assert np.isclose(reward, due), f"({state}, {action}) -> {following} paid {reward}, .mdp() says {due}"
        ends = endings[state, action, following]
        can = ends > 0 if terminated else ends < truth[state, action, following]
        word = "ended the episode" if terminated else "went on"
        assert can, f"({state}, {action}) -> {following} {word}, which is impossible in .mdp()"
        seen[state, action, following] += 1
        state = env.reset()[0] if terminated or truncated else following
    n = seen.sum(axis=2, keepdims=True)
    error = np.abs(seen - n * truth)
    allowed = 6 * np.sqrt(n * truth * (1 - truth)) + 1e-9
    where = tuple(int(i) for i in np.unravel_index(np.argmax(error - allowed), error.shape))
    assert (error <= allowed).all(), f"frequencies of {where} disagree with .mdp()"
