"""Runs that end when a certificate says what was wanted."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import hreach
from hreach import InputError
from hreach.domains.tabular import TabularEnv
from hreach.guarantees.audit.record import known_problem
from hreach.guarantees.certify import certify_counts
from hreach.reach.nearest import reachable_value


def run_until(rule: hreach.Certified | hreach.Aim, steps: int = 20_000, **params: Any) -> tuple[hreach.Run, Any]:
    env = hreach.make_domain("modified-chain")
    agent = hreach.make_agent("pac-rmdp", env, **{"h": 8, **params})
    return hreach.run(env, agent, steps, until=rule), agent


def test_a_run_ends_when_its_policy_is_certified() -> None:
    rule = hreach.Certified(share=0.3)
    run, agent = run_until(rule)
    assert 1000 < len(run.rewards) < 10_000
    found = agent.certify(state=run.last_state)
    assert rule.certificate is not None
    assert found.reachable_gap == rule.certificate.reachable_gap
    best = found.lower + found.reachable_gap
    assert 0.7 * best <= found.lower < 0.76 * best  # not met at the last look, 15 % before
    truth = known_problem(hreach.make_domain("modified-chain").mdp(), agent)
    worth = truth.policy_value(found.policy)[found.state]
    assert worth >= found.lower
    assert worth >= 0.7 * reachable_value(agent.model.seen.counts, 8, truth)[found.state]


def test_a_share_is_never_met_where_values_are_below_0() -> None:
    counts = np.array([[[90, 10]], [[10, 90]]]) * 1000
    found = certify_counts(counts, [[-1.0], [-0.5]], gamma=0.5, h=1)
    rule = hreach.Certified(share=0.99)

    class Told:
        def act(self, state: Any) -> int:
            return 0

        def certify(self, delta: float = 0.1, state: Any = None, h: float | None = None) -> Any:
            return found

    assert found.lower < 0
    assert rule.met(Told(), 0) is None  # type: ignore[arg-type]  # what a rule needs of an agent


def test_a_share_of_all_is_refused() -> None:
    with pytest.raises(hreach.InputError, match=r"share is 1\.0, but must be below 1"):
        hreach.Certified(share=1.0)


def test_it_is_the_beginning_of_the_run_without_the_rule() -> None:
    run, _ = run_until(hreach.Certified(gap=8.0, target="optimum", state=4))
    env = hreach.make_domain("modified-chain")
    whole = hreach.run(env, hreach.make_agent("pac-rmdp", env, h=8), len(run.rewards) + 500)
    np.testing.assert_array_equal(whole.actions[: len(run.actions)], run.actions)
    np.testing.assert_array_equal(whole.rewards[: len(run.rewards)], run.rewards)


def test_a_rule_that_is_not_met_changes_nothing() -> None:
    run, _ = run_until(hreach.Certified(gap=1e-6), steps=700)
    env = hreach.make_domain("modified-chain")
    whole = hreach.run(env, hreach.make_agent("pac-rmdp", env, h=8), 700)
    np.testing.assert_array_equal(whole.actions, run.actions)


def test_looks_lie_at_most_15_percent_apart() -> None:
    looks: list[int] = []

    class Counting:
        def met(self, agent: Any, state: Any) -> None:
            looks.append(agent.model.samples)

    run_until(Counting(), steps=3000)  # type: ignore[arg-type]  # a rule of one's own
    assert looks[0] == 10
    assert all(later <= np.ceil(1.15 * now) for now, later in pairwise(looks))
    assert len(looks) < 50


def test_episodes_end_a_run_before_the_rule_does() -> None:
    mdp = hreach.TabularMDP(P=[[[1.0], [1.0]]], R=[[1.0, 0.1]], gamma=0.5, end=[[1.0, 1.0]])
    env = TabularEnv(mdp, mdp.reward_table())
    run = hreach.run(env, hreach.make_agent("pac-rmdp", env, h=1), episodes=25, until=hreach.Certified(gap=1e-9))
    assert len(run.ended) == 25


def test_an_aim_that_is_reached_and_one_that_nobody_can_reach() -> None:
    low = hreach.Aim(10.0, state=4)
    run, agent = run_until(low)
    assert low.reached is True
    assert low.certificate is not None
    assert low.certificate.safest.lower >= 10
    truth = known_problem(hreach.make_domain("modified-chain").mdp(), agent)
    assert truth.policy_value(low.certificate.safest.policy)[4] >= 10
    high = hreach.Aim(19.8, state=0)
    later, _ = run_until(high)
    assert high.reached is False
    assert truth.optimal_value()[0] < 19.8
    undecided = hreach.Aim(15.0, state=4)
    short, _ = run_until(undecided, steps=100)
    assert undecided.reached is None
    assert len(short.rewards) == 100 < len(run.rewards) < 20_000
    assert len(later.rewards) < 20_000


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "share"),
        ({"gap": 0}, "gap"),
        ({"gap": np.nan}, "gap"),
        ({"share": -1}, "share"),
        ({"gap": 1, "share": 0.1}, "share"),
        ({"gap": 1, "delta": 1}, "delta"),
        ({"gap": 1, "target": "all"}, "target"),
        ({"gap": 1, "h": -2}, "h"),
    ],
)
def test_bad_rules_are_one_sentence(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=rf"^{field} is .*, but must be"):
        hreach.Certified(**arguments)


def test_what_cannot_be_asked_for() -> None:
    env = hreach.make_domain("chain")
    with pytest.raises(InputError, match=r"^value is 1000\.0, but must be at most 20: no policy is worth more"):
        hreach.run(env, hreach.make_agent("pac-rmdp", env, h=8), 100, until=hreach.Aim(1000))
    with pytest.raises(InputError, match=r"^gap is 20\.0, but must be below 20, the range of values: every policy is"):
        hreach.run(env, hreach.make_agent("pac-rmdp", env, h=8), 100, until=hreach.Certified(gap=20))
    with pytest.raises(InputError, match=r"^until is for a reachable gap, but there is none"):
        hreach.run(env, hreach.make_agent("mbie-eb", env, beta=1), 100, until=hreach.Certified(gap=1))

    class Idle:
        def act(self, state: Any) -> int:
            return 0

        def observe(self, *given: Any) -> None:
            pass

    with pytest.raises(InputError, match=r"^until needs an agent that certifies, but Idle does not"):
        hreach.run(env, Idle(), 100, until=hreach.Aim(1))
