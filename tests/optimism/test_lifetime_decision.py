"""h = "lifetime": one decision against a slow oracle, and the parts that it is made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hreach
from helpers import h_of, living
from hreach.kernels.copies import LAG
from hreach.kernels.imagined import DISCOUNT, LEAVING, draw_model, share_that_stays, stratum
from hreach.optimism.lifetime import FEWEST, GRID, HOPELESS, best_with_neighbours, drop_hopeless
from hreach.randomness.streams import agent_stream, branch, uniform

Array = NDArray[np.float64]


# --- one decision, by an oracle -------------------------------------------------------------------------------


class Lagging:
    """A copy of an agent with an h of its own that learns the samples of a pair when they are a tenth of its weight,
    or when the pair did what it had never done."""

    def __init__(self, agent: Any, env: Any, h: float, ties: NDArray[np.uint64], value: Array) -> None:
        self.copy = hreach.make_agent("pac-rmdp", env, h=h)
        seen = agent.model.state_dict()
        self.copy.model.load_state_dict(seen)
        self.copy.planner.table.value[:] = value
        self.copy.model.seen.news[0] = -1
        self.copy.stream[:] = ties
        total = self.copy.model.seen.total
        self.held: dict[tuple[int, int], list[int]] = {}
        self.due = (1 + LAG) * total
        self.total = total.copy()
        self.counts = self.copy.model.seen.counts - agent.model.problem.prior / total.shape[0]
        self.first: Array | None = None

    def act(self, state: int) -> int:
        action = int(self.copy.act(state))
        if self.first is None:
            self.first = self.copy.planner.internal_value()
        return action

    def observe(self, s: int, a: int, reward: float, following: int) -> None:
        fresh = self.counts[s, a, following] < 0.5
        self.counts[s, a, following] += 1
        self.total[s, a] += 1
        self.held.setdefault((s, a), []).append(following)
        if fresh or self.total[s, a] >= self.due[s, a]:
            self.due[s, a] = (1 + LAG) * self.total[s, a]
            for each in self.held.pop((s, a)):
                self.copy.observe(s, a, reward, each)


def chosen_by_oracle(agent: Any, env: Any, lifetime: int, models: int, stream: NDArray[np.uint64]) -> float:
    """What `best_of_grid` chooses, with agents of fixed h, one step after another."""
    seen, rule = agent.model.seen, agent.planner.rule
    states, actions = seen.total.shape
    pairs, belief, size = states * actions, np.full((states, actions, 1), 0.3), 2 ** math.ceil(math.log2(models))
    order = np.array([[uniform(stream) for _ in range(states)] for _ in range(pairs)])
    values = [agent.planner.table.value.copy() for _ in GRID]
    earned, kept, means = np.zeros((models, len(GRID))), np.ones(len(GRID), dtype=np.bool_), np.zeros(len(GRID))
    for k in range(models):
        model, weights = np.empty((pairs, states)), np.empty(states)
        stays = share_that_stays(rule, seen)
        draw_model(rule, seen, belief, stays, order, k, size, weights, model, np.zeros((states, actions)), stream)
        first = np.empty((pairs + 1, 4), dtype=np.uint64)
        for row in first:
            branch(stream, row)
        for c in np.flatnonzero(kept):
            streams = first.copy()
            copy = Lagging(agent, env, GRID[c], streams[pairs], values[c])
            state = int(seen.here[0])
            for _ in range(lifetime - agent.model.samples):
                a = copy.act(state)
                i = state * actions + a
                following = min(int(np.searchsorted(model[i], uniform(streams[i]), side="right")), states - 1)
                reward = float(agent.model.problem.reward[state, a, 0])
                earned[k, c] += reward
                copy.observe(state, a, reward, following)
                state = following
            assert copy.first is not None
            values[c] = copy.first
        if (k + 1) % FEWEST == 0 or k == models - 1:
            drop_hopeless(earned, k + 1, kept, means)
    return GRID[best_with_neighbours(means, kept)]


@pytest.mark.parametrize(("domain", "t"), [("chain", 10), ("riverswim", 24), ("sixarms", 42)])
def test_a_decision_is_that_of_copies_that_live_step_by_step(domain: str, t: int) -> None:
    env = hreach.make_domain(domain)
    lifetime, models = t + 60, 9
    agent = living(env, t, lifetime=lifetime, models=models)
    assert agent.planner.table.due[0] == t
    expected = chosen_by_oracle(agent, env, lifetime, models, agent.stream.copy())
    agent.plan()
    assert agent.planner.table.due[0] == 2 * t
    assert h_of(agent) == expected


def test_the_oracle_can_be_wrong() -> None:
    """The twin: over several agents, an oracle with other random numbers chooses another h at least once."""
    env, t = hreach.make_domain("sixarms"), 42
    agents = [living(env, t, seed=seed, lifetime=t + 60, models=3) for seed in range(4)]
    other = [chosen_by_oracle(agent, env, t + 60, 3, agent_stream(99)) for agent in agents]
    for agent in agents:
        agent.plan()
    assert [h_of(agent) for agent in agents] != other


# --- its parts ------------------------------------------------------------------------------------------------


def test_what_is_drawn_has_the_mean_of_the_belief_and_rare_outcomes_in_their_proportions() -> None:
    agent = living("sixarms", 300, lifetime=400, models=2)
    seen, rule = agent.model.seen, agent.planner.rule
    states, actions = seen.total.shape
    pairs, batches, size = states * actions, 200, 16
    belief, stays, stream = np.full((states, actions, 1), 0.3), share_that_stays(rule, seen), agent_stream(1)
    drawn = np.zeros((batches, pairs, states))
    for batch, order in enumerate(np.random.default_rng(0).random((batches, pairs, states))):
        for k in range(size):
            rows, nothing = np.empty((pairs, states)), np.zeros((states, actions))
            draw_model(rule, seen, belief, stays, order, k, size, np.empty(states), rows, nothing, stream)
            drawn[batch] += np.diff(rows, axis=1, prepend=0) / size
    samples = (seen.counts - 1 / states).round()
    share = np.full((states, states), (1 - stays) / states) + stays * np.eye(states)
    theta = 0.3 + DISCOUNT * (samples > 0).sum(axis=2, keepdims=True)
    alpha = samples - DISCOUNT * (samples > 0) + theta * share[:, None, :]
    mean = (alpha / alpha.sum(axis=2, keepdims=True)).reshape(pairs, states)
    error = drawn.std(axis=0, ddof=1) / math.sqrt(batches)
    assert np.abs((drawn.mean(axis=0) - mean) / error).max() < 5  # of 294 numbers
    wrong = (seen.counts / seen.total[..., None]).reshape(pairs, states)  # the twin: the agent's own mean model
    assert np.abs((drawn.mean(axis=0) - wrong) / error).max() > 5
    independent = np.sqrt(mean * (1 - mean) / (alpha.sum(axis=2).reshape(pairs, 1) + 1) / size)
    rare = (samples[0] == 0).reshape(-1)
    ratio = (drawn.std(axis=0, ddof=1) / independent)[:actions].reshape(-1)[rare]
    assert np.median(ratio) < 0.8  # the doors that never opened: strata make their mean surer than chance would


def test_an_order_has_every_stratum_once() -> None:
    for order in (0.0, 0.3, 0.71, 0.999999):
        assert sorted(stratum(order, k, 16) for k in range(16)) == list(range(16))
    assert len({tuple(stratum(x, k, 16) for k in range(16)) for x in np.arange(128) / 128}) == 128


def test_a_share_that_stays_is_that_of_the_pairs_that_were_tried() -> None:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent("pac-rmdp", env, h="lifetime", lifetime=100)
    for s, following in ((0, 0), (0, 0), (0, 1), (2, 3)):
        agent.observe(s, 0, 0.0, following)
    assert share_that_stays(agent.planner.rule, agent.model.seen) == pytest.approx((2 / 3 + 0) / (2 + LEAVING))


def test_hopeless_h_are_dropped() -> None:
    rng = np.random.default_rng(1)
    earned = rng.normal(size=(16, 1)) + [3.0, 3.1, 0.0] + 0.1 * rng.normal(size=(16, 3))
    kept, means = np.ones(3, dtype=np.bool_), np.zeros(3)
    drop_hopeless(earned, 16, kept, means)
    np.testing.assert_allclose(means, earned.mean(axis=0))
    behind = earned[:, 1] - earned[:, 0]
    near = behind.mean() <= HOPELESS * behind.std(ddof=1) / 4
    assert kept.tolist() == [near, True, False]
    assert best_with_neighbours(np.array([1.0, 5.0, 4.9, 4.8, 0.0]), np.ones(5, dtype=np.bool_)) == 2
    assert best_with_neighbours(np.array([1.0, 5.0, 4.9, 4.8, 0.0]), np.array([False, True, True, True, True])) == 1
