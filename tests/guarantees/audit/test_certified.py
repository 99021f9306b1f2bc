"""Certificates in audits: they are those of the agent at the time, held against the truth, and wrong ones are seen."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hreach
from hreach.cli import main
from hreach.guarantees import certify
from hreach.guarantees.audit import Audit, audit, picture
from hreach.guarantees.audit.certified import Certified, too_many_false
from hreach.guarantees.audit.lived import lived
from hreach.guarantees.audit.record import known_problem
from hreach.guarantees.certificate import GRID
from hreach.guarantees.sets import confidence_sets
from hreach.planners.robust import Sets
from hreach.reach.nearest import reachable_value

AT = (0, 40, 150, 399)


def audited(env: Any, name: str = "pac-rmdp", **params: Any) -> tuple[Audit, Any]:
    agent = hreach.make_agent(name, env, seed=7, **params)
    run = hreach.run(env, agent, 400, seed=3)
    return audit(run, env.mdp(), agent, eps=1, checkpoints=AT, h=None if "h" in params else 4), agent


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of a thousandth of their radius: the frequencies are taken for the truth."""

    def wrong(*arguments: Any) -> Sets:
        sets = original(*arguments)
        return sets._replace(floor=1e-3 * sets.floor, ceiling=1e-3 * sets.ceiling)

    original = confidence_sets
    monkeypatch.setattr(certify, "confidence_sets", wrong)


@pytest.mark.parametrize("domain", ["chain", "modified-chain", "riverswim"])
def test_they_are_the_agents_own_at_the_time_beside_exact_values(domain: str) -> None:
    env = hreach.make_domain(domain)
    result, agent = audited(env, h=3)
    truth, found = known_problem(env.mdp(), agent), result.certified
    for i, t in enumerate(AT):
        then = lived(agent, env.mdp(), t, 3) if t else agent.clone(7)
        s = int(result.state[i])
        own = then.certify(0.1, state=s)
        assert (own.lower, own.upper, own.optimality_gap) == (found.lower[i], found.upper[i], found.optimality_gap[i])
        assert own.reachable_gap == found.reachable_gap[i]
        value = truth.policy_value(own.policy)[s]
        assert found.policy[i] == pytest.approx(value)
        assert found.optimality_error[i] == pytest.approx(truth.optimal_value()[s] - value)
        nearest = reachable_value(then.model.seen.counts, 3, truth)[s]
        assert found.reachable_error[i] == pytest.approx(nearest - value, abs=1e-9)
    assert found.violations == 0
    assert (found.lower <= found.policy + 1e-9).all()
    assert (found.upper >= result.optimal - 1e-9).all()
    assert (found.optimality_gap >= found.optimality_error - 1e-9).all()
    assert (found.reachable_gap >= found.reachable_error - 1e-9).all()


def test_the_curve_is_that_of_the_last_checkpoint_and_so_is_its_truth() -> None:
    env = hreach.make_domain("modified-chain")
    result, agent = audited(env, h=3)
    curve, s = result.certified.curve, int(result.state[-1])
    assert curve is not None
    then = lived(agent, env.mdp(), AT[-1], 3)
    own = then.certify(0.1, state=s)
    assert own.curve is not None
    assert curve.h.tolist() == list(GRID)
    assert curve.gap.tolist() == list(own.curve.values())
    value = env.mdp().policy_value(own.policy)[s]
    nearest = [reachable_value(then.model.seen.counts, int(h), env.mdp())[s] for h in GRID[:-1]]
    np.testing.assert_allclose(curve.error, [*nearest, env.mdp().optimal_value()[s]] - value, atol=1e-9)
    assert (curve.gap >= curve.error - 1e-9).all()


def test_where_the_reward_is_learnt_nothing_is_said_of_the_reachable_optimum() -> None:
    result, _ = audited(hreach.make_domain("chain"), h=3, reward="learn")
    assert np.isnan(result.certified.reachable_gap).all()
    assert result.certified.curve is None
    assert result.certified.violations == 0
    assert (result.certified.optimality_gap >= result.certified.optimality_error).all()
    told = json.loads(result.to_json())
    assert told["checkpoints"]["certified_reachable_gap"] == [None] * len(AT)
    assert [label for label in labels(result) if label.startswith("certified")] == [r"certified: $V^* - V^\pi$"]


def labels(result: Audit) -> list[str]:
    return [str(line.get_label()) for line in picture(result).axes[0].lines]


@pytest.mark.parametrize(("name", "params"), [("mbie", {"epsilon": 1.0, "delta": 0.1}), ("epsilon-greedy", {})])
def test_agents_without_an_h_are_certified_by_the_one_that_they_are_audited_by(name: str, params: Any) -> None:
    result, agent = audited(hreach.make_domain("chain"), name, **params)
    then = lived(agent, hreach.make_domain("chain").mdp(), AT[-1], 3)
    assert result.certified.reachable_gap[-1] == then.certify(state=int(result.state[-1]), h=4).reachable_gap
    assert result.certified.violations == 0


def test_the_picture_draws_what_was_certified_as_it_is() -> None:
    result, _ = audited(hreach.make_domain("chain"), h=3)
    drawn = {str(line.get_label()): np.asarray(line.get_ydata()) for line in picture(result).axes[0].lines}
    np.testing.assert_array_equal(drawn[r"certified: $V^{d*}_h - V^\pi$"], result.certified.reachable_gap)
    np.testing.assert_array_equal(drawn[r"certified: $V^* - V^\pi$"], result.certified.optimality_gap)


@pytest.mark.usefixtures("narrow")
def test_false_certificates_are_counted_and_named() -> None:
    result, _ = audited(hreach.make_domain("chain"), h=3)
    wrong = result.certified
    assert wrong.violations > 0
    assert not wrong.false[0]  # nothing was seen yet, and nothing is said
    told = json.loads(result.to_json())
    assert told["certified"]["violations"] == wrong.violations
    assert told["certified"]["first_violation"] in AT[1:]
    assert set(told["certified"]["false_statements"]) & {"lower", "upper"}
    assert [n > 0 for n in told["checkpoints"]["certified_false"]] == [bool(names) for names in wrong.false]


def test_more_than_delta_of_the_runs_are_too_many() -> None:
    right = audited(hreach.make_domain("chain"), h=3)[0].certified
    wrong: Certified = replace(right, false=(("lower",), (), (), ()))
    assert not too_many_false([right] * 10, 0.1)
    assert not too_many_false([wrong] + [right] * 9, 0.1)
    assert too_many_false([wrong, wrong] + [right] * 8, 0.1)
    assert too_many_false([wrong], 0.1)


# --- the command ----------------------------------------------------------------------------------------------------

COMMAND = ["audit", "chain", "pac-rmdp", "--param", "h=8", "--steps", "400", "--checkpoints", "5"]


def call(monkeypatch: pytest.MonkeyPatch, *more: str) -> int:
    monkeypatch.setattr("sys.argv", ["hreach", *COMMAND, *more])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_the_command_shows_the_last_certificate_beside_the_truth(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent("pac-rmdp", env, seed=0, h=8)
    result = audit(hreach.run(env, agent, 400, seed=0), env.mdp(), agent, eps=1, checkpoints=5)
    assert call(monkeypatch) == 0
    words = {line[:26].strip(): line[26:].split() for line in capsys.readouterr().out.splitlines()}
    found = result.certified
    shown = {
        "worth of the policy": (found.policy, found.lower),
        "optimum": (result.optimal, found.upper),
        "below what 8 more reach": (found.reachable_error, found.reachable_gap),
        "below the optimum": (found.optimality_error, found.optimality_gap),
    }
    for name, columns in shown.items():
        assert words[name][:2] == [f"{column[-1]:.4g}" for column in columns]
    assert words["false certificates"] == ["0", "of", "5"]
    assert call(monkeypatch, "--runs", "3") == 0
    assert "runs with a false one                 0         of 3" in capsys.readouterr().out


@pytest.mark.usefixtures("narrow")
def test_too_many_false_certificates_are_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "--runs", "2") == 1
    told = capsys.readouterr()
    assert told.err.strip() == "hreach: certificates were false in 2 of 2 runs, more than delta = 0.1."
    assert "false certificates" in told.out


def test_no_runs_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "--runs", "0") == 2
    assert "runs is 0, but must be a whole number of at least 1." in capsys.readouterr().err
