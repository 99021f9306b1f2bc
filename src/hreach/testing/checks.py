"""Checks for agents, models, planners, optimism and domains, ours and yours; each raises AssertionError with what is
wrong.

An agent needs `act` and `observe`; whatever else of `hreach.protocols.Agent` it offers is checked too.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

from hreach.domains import make_domain
from hreach.guarantees.exploration_gap import ExplorationGap
from hreach.problems.truth import truth_of
from hreach.protocols import (
    Acts,
    AnyModel,
    AnyPlanner,
    Arrays,
    Environment,
    Floats,
    Optimism,
    Pairs,
    Saved,
    State,
    States,
)
from hreach.randomness.streams import agent_stream
from hreach.running.loop import run

Factory = Callable[[Environment, int], Acts]


class _Counted(Protocol):
    @property
    def n(self) -> int: ...


@runtime_checkable
class _Chooses(Environment, Protocol):
    @property
    def action_space(self) -> _Counted: ...


@runtime_checkable
class _Saves(Acts, Protocol):
    def state_dict(self) -> Arrays: ...
    def load_state_dict(self, saved: Arrays, /) -> None: ...


@runtime_checkable
class _Clones(Protocol):
    def clone(self, seed: int) -> Acts: ...


@runtime_checkable
class _Describes(Protocol):
    def describe(self) -> dict[str, object]: ...


@runtime_checkable
class _Measures(Protocol):
    def certainty_equivalent(self) -> Acts: ...
    def exploration_gap(self, state: State | None = None, *, eps: float, delta: float = 0.1) -> ExplorationGap: ...


def check_agent(make: Factory, env: Environment | None = None, steps: int = 200) -> None:
    """Acts within the action space, the same seed gives the same run, and it goes on from a saved state.

    `make(env, seed)` builds the agent; the default environment is the chain. Of clone, certainty_equivalent,
    exploration_gap and describe, those that the agent has are checked.
    """
    env = make_domain("chain") if env is None else env
    agent = make(env, 1)
    first = run(env, agent, steps, seed=1)
    again = run(env, make(env, 1), steps, seed=1)
    assert isinstance(env, _Chooses), "the environment has no action_space"
    actions = env.action_space.n
    assert ((first.actions >= 0) & (first.actions < actions)).all(), "act returned an action outside the action space"
    assert np.array_equal(first.actions, again.actions), "the same seed gave different actions"
    if isinstance(agent, _Saves):
        _check_saving(make, env, steps)
    if isinstance(agent, _Clones):
        cloned = run(env, agent.clone(1), steps, seed=1)
        assert np.array_equal(first.actions, cloned.actions), "a clone with the same seed acts differently"
    if isinstance(agent, _Describes):
        check_plain("describe()", agent.describe())
    if isinstance(agent, _Measures):
        _check_measuring(agent, env, first.last_state)


def check_plain(what: str, value: object) -> None:
    """Plain data: what JSON can hold."""
    try:
        json.dumps(value)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{what} is not plain data: {error}") from None


def _check_saving(make: Factory, env: Environment, steps: int) -> None:
    """An agent that is saved and loaded into a new one must take the actions that it would have taken."""
    kept = make(env, 1)
    assert isinstance(kept, _Saves), "an agent of the same make cannot be saved"
    run(env, kept, steps, seed=2)
    saved = kept.state_dict()
    for name, value in saved.items():
        assert isinstance(value, np.ndarray | int | float | str | bool), f"state_dict[{name!r}] is not plain data"
        assert np.asarray(value).dtype.kind in "biufU", f"state_dict[{name!r}] holds Python objects"
    loaded = make(env, 99)
    assert isinstance(loaded, _Saves), "an agent of the same make cannot be saved"
    loaded.load_state_dict(saved)
    expected, got = run(env, kept, steps, seed=3), run(env, loaded, steps, seed=3)
    assert np.array_equal(expected.actions, got.actions), "an agent that was saved and loaded acts differently"


def _check_measuring(agent: _Measures, env: Environment, state: State) -> None:
    """An exploration gap has finite values and changes no action; a certainty-equivalent copy learns nothing."""
    found = agent.exploration_gap(state, eps=1.0)
    values = (found.internal, found.current, found.gap, found.accuracy)
    assert np.isfinite(values).all(), f"an exploration gap holds {values}"
    assert found.over == (abs(found.gap) <= 1.0), "an exploration gap's `over` does not fit its gap"
    copy = agent.certainty_equivalent()
    one = run(env, copy, 20, seed=5)
    copy.observe(one.states[0], int(one.actions[0]), 1e6, one.next_states[0])
    assert copy.act(state) == copy.act(state), "a certainty-equivalent copy changed by observing"


def check_optimism(optimism: Optimism) -> None:
    """What an optimism says of itself."""
    assert 0 <= optimism.random_action <= 1, f"random_action is {optimism.random_action}, which is no probability"
    h = optimism.h(10)
    assert h is None or h >= 0, f"h(10) is {h}, which is below 0"
    check_plain("constants_in_force()", optimism.constants_in_force())
    check_plain("identity()", optimism.identity())


def check_model(model: AnyModel, pairs: Pairs[States]) -> None:
    """Outcomes that are distributions, leverages and errors of at least 0, a posterior draw, and saving."""
    _check_outcomes(model, pairs)
    leverage, error = model.leverage(pairs), model.error()
    assert leverage.ndim == 2, f"leverage has the shape {leverage.shape}, which is not (N, K)"
    assert (leverage >= 0).all(), "a leverage is below 0"
    assert error.shape == (leverage.shape[1],), f"error has the shape {error.shape}, which is not (K,)"
    assert (error >= 0).all(), "an error is below 0"
    _check_outcomes(model.sample(agent_stream(3)), pairs)
    _check_restoring(model, lambda: model.outcomes(pairs).weight)


def _check_outcomes(model: AnyModel, pairs: Pairs[States]) -> None:
    found = model.outcomes(pairs)
    sizes = {len(found.following), len(found.weight), len(found.reward), len(found.goes_on)}
    assert len(sizes) == 1, f"the columns of outcomes have different lengths {sorted(sizes)}"
    assert found.first[0] == 0, "outcomes do not begin with the first pair"
    assert len(found.first) == len(pairs.actions) + 1, "outcomes are not those of all pairs"
    assert (np.diff(found.first) > 0).all(), "a pair has no outcome"
    assert (found.weight >= 0).all(), "an outcome has a negative weight"
    sums = np.add.reduceat(found.weight, found.first[:-1])
    assert np.allclose(sums, 1.0), f"the weights of a pair sum to {sums[np.argmax(np.abs(sums - 1))]:g}, not to 1"
    assert np.isfinite(found.reward).all(), "an outcome pays no finite reward"


def check_planner(planner: AnyPlanner, states: States) -> None:
    """Values and actions that fit together, and saving."""
    planner.plan()
    q, value = planner.action_values(states), planner.internal_value(states)
    assert q.ndim == 2, f"action_values has the shape {q.shape}, which is not (N, A)"
    assert len(q) == len(states), f"action_values has {len(q)} rows for {len(states)} states"
    # Between the points of a grid the value is interpolated, and is at least the largest of the interpolated q.
    slack = 1e-6 * np.maximum(1.0, np.abs(value)) + 2 * planner.residual
    assert (value >= q.max(axis=1) - slack).all(), "the value is below max_a q"
    for state, row in zip(states, planner.action_values(states), strict=True):
        action = planner.best_action(state, agent_stream(0))
        assert row[action] >= row.max() - 1e-6 * max(1.0, abs(row.max())), "best_action is not the best one"
    assert planner.residual >= 0, "the residual is below 0"
    assert planner.slope >= 0, "the slope is below 0"
    check_plain("settings()", planner.settings())
    other = planner.certainty_equivalent(agent_stream(1))
    other.plan()
    assert np.isfinite(other.internal_value(states)).all(), "a value without optimism is not finite"
    _check_restoring(planner, lambda: planner.action_values(states))


def _check_restoring(part: Saved, shown: Callable[[], Floats]) -> None:
    """Going on from what was just saved changes nothing."""
    before, saved = shown(), part.state_dict()
    part.check_state_dict(saved)
    part.load_state_dict(saved)
    assert np.array_equal(before, shown()), "loading what was just saved changes what it says"


def check_domain(env: Environment, steps: int = 5000) -> None:
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
        assert np.isclose(float(reward), due), f"({state}, {action}) -> {following} paid {reward}, .mdp() says {due}"
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
