"""`choose_h`: the paper's message on the two chains, what "stuck" means, the family of random MDPs, bad input."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hreach
from hreach import TabularMDP
from hreach.guarantees.choose_h import HS, Choice, Option, choose_h, picture
from hreach.guarantees.choose_h.lifetimes import earnings
from hreach.guarantees.choose_h.surrogates import best_pairs, random_mdp
from hreach.guarantees.theory import Sizes, anytime_error, explicit_exploration_runtime


@functools.cache
def chosen(domain: str, lifetime: int, hs: tuple[float | str, ...], runs: int = 60) -> Choice:
    return choose_h(lifetime, 0.95, surrogates=domain, hs=hs, runs=runs, seed=1, threads=1)


def by_h(choice: Choice) -> dict[str, Option]:
    return {option.h: option for option in choice.options}


# --- the paper's message --------------------------------------------------------------------------------------


def test_on_the_chain_a_small_h_wins_short_lifetimes() -> None:
    choice = chosen("chain", 300, (1, 8, 16), runs=200)
    h = by_h(choice)
    assert h["1"].low > h["8"].high
    assert h["8"].low > h["16"].high
    assert choice.recommended == "1"


def test_on_the_modified_chain_h_1_gets_stuck_and_8_is_the_best_of_1_8_16() -> None:
    choice = chosen("modified-chain", 3000, (1, 8, 16))
    h = by_h(choice)
    assert h["1"].stuck > 0.5 > 0.05 > h["8"].stuck
    assert h["8"].low > h["16"].high
    assert h["8"].low > h["1"].high
    assert choice.recommended == "8"
    assert "h = 8" in choice.reason
    assert "h = 1 got stuck" in choice.reason


def test_a_chain_that_lets_everyone_go_does_not_show_it() -> None:
    """The twin: where the first step mostly succeeds, nobody gets stuck and h = 8 is not the best."""
    env = hreach.make_domain("modified-chain", escape=0.8)
    choice = choose_h(3000, 0.95, surrogates=env, hs=(1, 8, 16), runs=30, seed=1, threads=1)
    assert max(o.stuck for o in choice.options) < 0.5
    assert choice.recommended == "1"


# --- the numbers ----------------------------------------------------------------------------------------------


def test_the_average_is_that_of_simulate_and_the_interval_is_about_two_standard_errors_wide() -> None:
    option = by_h(chosen("chain", 300, (1, 8, 16)))["8"]
    runs = hreach.simulate("chain", "pac-rmdp", {"h": 8}, runs=60, steps=300, seed=(1, 0), threads=1)
    assert option.average == pytest.approx(runs.mean)
    assert option.low < option.average < option.high
    assert (option.high - option.low) / (2 * 1.96 * runs.se) == pytest.approx(1, abs=0.1)


def test_the_picture_s_numbers_are_averages_of_the_same_runs() -> None:
    choice = chosen("chain", 300, (1, 8, 16))
    assert choice.averages.shape == (3, len(choice.lifetimes))
    assert choice.lifetimes[-1] == 300
    reward = hreach.simulate("chain", "pac-rmdp", {"h": 16}, runs=60, steps=300, seed=(1, 0), threads=1).reward
    np.testing.assert_allclose(choice.averages[2], [reward[:, :t].mean() for t in choice.lifetimes])
    np.testing.assert_allclose(choice.averages[:, -1], [o.average for o in choice.options])


def test_lifetimes_that_are_asked_for_are_the_beginnings_of_the_same_runs() -> None:
    hs: list[float | str] = [1, 8]
    choice = choose_h(300, 0.95, surrogates="chain", hs=hs, runs=20, seed=1, lifetimes=[70, 30], threads=1)
    assert choice.lifetimes.tolist() == [30, 70, 300]
    short = choose_h(70, 0.95, surrogates="chain", hs=hs, runs=20, seed=1, threads=1)
    np.testing.assert_allclose(choice.averages[:, 1], [o.average for o in short.options])
    np.testing.assert_allclose(choice.losses[:, 1], short.losses[:, -1], atol=1e-12)


def test_the_loss_is_against_the_best_fixed_h_of_each_lifetime() -> None:
    choice = chosen("modified-chain", 3000, (1, 8, 16, "growing", "adaptive"), 40)
    best = choice.averages[:3].max(axis=0)
    assert set(choice.averages[:3].argmax(axis=0)) == {0, 1}  # h = 1 at first, then h = 8
    np.testing.assert_allclose(choice.losses[..., 0], 1 - choice.averages / best)
    assert (choice.losses[..., 1] <= choice.losses[..., 0]).all()
    assert (choice.losses[..., 0] <= choice.losses[..., 2]).all()
    assert (choice.losses[1, -1] == 0).all()
    assert [o.loss for o in choice.options] == choice.losses[:, -1, 0].tolist()
    assert (choice.losses[3:, :, 0] < 0).any()  # a rule may earn more than every fixed h


def test_the_interval_of_a_loss_is_that_of_a_ratio_of_paired_means() -> None:
    """By the delta method; as if the runs were not paired it would be another one."""
    choice = chosen("chain", 300, (1, 8, 16))
    own, best = (
        hreach.simulate("chain", "pac-rmdp", {"h": h}, runs=60, steps=300, seed=(1, 0), threads=1).average_reward
        for h in (16, 1)
    )
    ratio = own.mean() / best.mean()
    paired = np.std(own - ratio * best, ddof=1) / best.mean() / np.sqrt(60)
    apart = np.hypot(own.std(ddof=1), ratio * best.std(ddof=1)) / best.mean() / np.sqrt(60)
    width = (choice.losses[2, -1, 2] - choice.losses[2, -1, 1]) / (2 * 1.96)
    assert width == pytest.approx(paired, rel=0.1)
    assert width != pytest.approx(apart, rel=0.1)


def test_without_a_fixed_h_or_without_any_reward_there_is_no_loss() -> None:
    alone = choose_h(50, 0.95, surrogates="chain", hs=["growing"], runs=2, threads=1)
    P = np.zeros((2, 1, 2))
    P[0, 0, 0] = P[1, 0, 1] = 1
    apart = hreach.TabularMDP(P, np.array([[0.0], [1.0]]), 0.9)
    unpaid = choose_h(50, 0.9, surrogates=apart, hs=[1], runs=2, threads=1)
    for choice in (alone, unpaid):
        assert np.isnan(choice.losses).all()
        assert choice.options[0].loss is choice.options[0].loss_low is choice.options[0].loss_high is None
        assert json.loads(choice.to_json())["losses"][0][0] == [None] * 3


def test_a_poor_end_is_less_than_half_of_the_optimum_in_the_last_tenth() -> None:
    choice = choose_h(1234, 0.95, surrogates="modified-chain", hs=[1], runs=25, seed=2, threads=1)
    runs = hreach.simulate("modified-chain", "pac-rmdp", {"h": 1}, runs=25, steps=1234, seed=(2, 0), threads=1)
    ends = runs.reward[:, 1110:].mean(axis=1)
    assert choice.options[0].poor_end == pytest.approx((ends < choice.optimum / 2).mean())
    assert 0 < choice.options[0].poor_end < 1


def test_bounds_are_those_of_the_theory_and_say_when_they_are_vacuous() -> None:
    sizes = Sizes(5, 2, 0.95, 1.0)
    choice = choose_h(1000, 0.95, surrogates="chain", hs=[8, "growing:2", "adaptive"], runs=2, epsilon=3.0, threads=1)
    fixed, growing, adaptive = choice.options
    assert fixed.exploration == float(explicit_exploration_runtime(sizes, 3.0, 0.1, 8))
    assert growing.h_at_end == pytest.approx(2 * np.log(1002))
    assert growing.exploration == float(explicit_exploration_runtime(sizes, 3.0, 0.1, 2 * np.log(1002)))
    assert fixed.exploration_why == "longer than the lifetime"
    assert fixed.error is None
    assert fixed.error_why.startswith("vacuous")
    assert anytime_error(sizes, 1000, 0.1, 8).vacuous
    assert adaptive.h_at_end is adaptive.exploration is adaptive.error is None


def test_an_h_from_the_lifetime_has_runs_of_its_own_for_each_lifetime() -> None:
    given: dict[str, Any] = {"surrogates": "chain", "hs": [1, "lifetime"], "runs": 3, "seed": 2, "threads": 1}
    choice = choose_h(80, 0.95, lifetimes=[30], **given)
    fixed, chosen_by_lifetime = choice.options
    for k, steps in enumerate((30, 80)):
        params = {"h": "lifetime", "lifetime": steps}
        runs = hreach.simulate("chain", "pac-rmdp", params, runs=3, steps=steps, seed=(2, 0), threads=1)
        assert choice.averages[1, k] == pytest.approx(runs.mean)
    assert chosen_by_lifetime.h_at_end is chosen_by_lifetime.exploration is None
    assert chosen_by_lifetime.exploration_why == "nobody knows its h beforehand"
    assert fixed.loss == 0.0


def test_small_problems_have_bounds_that_are_not_vacuous() -> None:
    mdp = hreach.TabularMDP(np.ones((1, 2, 1)), np.array([[0.0, 1.0]]), 0.1)
    (option,) = choose_h(500_000, 0.1, surrogates=mdp, hs=[1], runs=1, threads=1).options
    sizes = Sizes(1, 2, 0.1)
    assert option.error == float(anytime_error(sizes, 500_000, 0.1, 1))
    assert option.error_why == option.exploration_why == ""


def test_the_discount_is_the_one_asked_for() -> None:
    near, far = (choose_h(400, g, surrogates="modified-chain", hs=[8], runs=10, threads=1) for g in (0.2, 0.95))
    assert near.options[0].stuck > far.options[0].stuck or near.options[0].average != far.options[0].average
    assert near.optimum == pytest.approx(0.2)  # who looks no further stays and is paid at once
    assert far.optimum == pytest.approx(0.8085825)


def test_without_one_it_is_the_model_s_own(tmp_path: Path) -> None:
    mdp = hreach.make_domain("modified-chain").mdp()
    for gamma in (0.2, 0.95):
        np.savez(tmp_path / "model.npz", P=mdp.transitions(), R=mdp.reward_table(), gamma=gamma)
        own = choose_h(400, surrogates=TabularMDP.load(tmp_path / "model.npz"), hs=[8], runs=10, threads=1)
        asked = choose_h(400, gamma, surrogates=mdp, hs=[8], runs=10, threads=1)
        assert own.to_json() == asked.to_json()
        assert own.gamma == gamma


# --- costs and goals ----------------------------------------------------------------------------------------------


def corridor(length: int = 6) -> TabularMDP:
    """Every step costs 1; the way to the right ends the episode. Going left, or half of the time right, goes back."""
    P, end = np.zeros((length, 2, length)), np.zeros((length, 2, length))
    for s in range(length):
        P[s, 0, max(s - 1, 0)] = 1
        P[s, 1, min(s + 1, length - 1)] = P[s, 1, max(s - 1, 0)] = 0.5
    end[-1, 1, -1] = 1
    return TabularMDP(P, np.full((length, 2), -1.0), 0.95, end=end)


def test_where_every_step_costs_episodes_are_compared() -> None:
    choice = choose_h(3000, surrogates=corridor(), hs=[0, 1, 4, "adaptive"], runs=40, seed=1, threads=1)
    assert choice.unit == "episode"
    steps = expected_steps()
    assert choice.optimum == pytest.approx(-steps)
    best = by_h(choice)["1"]
    assert -1.3 * steps < best.average < -steps
    assert best.poor_end < 0.2
    assert best.loss is not None
    assert -0.5 < best.loss < 0.5
    assert choice.reason.count("per episode") == 1


def expected_steps() -> float:
    """From the left end to the goal, always right: (I - Q) n = 1."""
    mdp = corridor()
    Q = (mdp.transitions() - mdp.endings())[:, 1]
    return float(np.linalg.solve(np.eye(6) - Q, np.ones(6))[0])


def test_a_run_that_never_gets_there_has_a_poor_end_and_a_good_one_has_not() -> None:
    """Per step all of them cost 1, so no share of the optimum could tell them apart."""
    reward = -np.ones((2, 100))
    ended = np.zeros((2, 100), dtype=np.bool_)
    ended[0, 9::10] = True
    np.testing.assert_allclose(earnings(reward, None, 0, 100), [-1, -1])
    np.testing.assert_allclose(earnings(reward, ended, 0, 100), [-10, -100])
    np.testing.assert_allclose(earnings(reward, ended, 95, 100), [-10, -100])
    np.testing.assert_allclose(earnings(reward, ended, 92, 95), [-5, -95])


def test_bounds_know_negative_rewards() -> None:
    P = np.array([[[0.5, 0.5], [1, 0]], [[1, 0], [0, 1]]])
    R = np.array([[-10, -9], [0.1, -10.0]])
    here, there = (choose_h(50, surrogates=TabularMDP(P, r, 0.9), hs=[2], runs=2, epsilon=0.5, threads=1)
                   for r in (R, R + 10))  # fmt: skip
    assert here.options[0].exploration == pytest.approx(there.options[0].exploration)
    assert (here.options[0].exploration or 0) > 1e12


def test_progress_tells_of_every_run() -> None:
    told: list[int] = []
    choose_h(50, surrogates="chain", hs=[1, 2], runs=6, threads=1, progress=told.append)
    assert sum(told) == 12


def test_rows_and_json_say_the_same() -> None:
    choice = chosen("chain", 300, (1, 8, 16))
    told = json.loads(choice.to_json())
    assert told["options"] == choice.rows()
    assert [r["h"] for r in choice.rows() if r["recommended"]] == [choice.recommended]
    assert told["reason"].startswith(f"Take h = {choice.recommended}: ")
    assert told["reason"].count(". ") == 0
    assert np.array_equal(told["averages"], choice.averages)


def test_the_same_seed_gives_the_same_choice_and_blocks_of_runs_do_not_matter(monkeypatch: Any) -> None:
    first = chosen("chain", 300, (1, 8, 16)).to_json()
    monkeypatch.setattr("hreach.guarantees.choose_h.lifetimes.BLOCK", 1000)
    again = choose_h(300, 0.95, surrogates="chain", hs=(1, 8, 16), runs=60, seed=1, threads=1).to_json()
    assert first == again


# --- stuck ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "pair"), [("chain", (4, 0)), ("modified-chain", (4, 0)), ("riverswim", (5, 1)), ("sixarms", (6, 5))]
)
def test_the_best_paying_pair_of_the_optimal_policy(domain: str, pair: tuple[int, int]) -> None:
    assert [tuple(p) for p in np.argwhere(best_pairs(hreach.make_domain(domain).mdp()))] == [pair]


def test_what_the_optimal_policy_does_only_on_its_way_is_no_part_of_it() -> None:
    """0 -> 1 pays 5 once and for all; then 1 pays 1 for ever, on the optimal action only; 2 is never seen."""
    P = np.zeros((3, 2, 3))
    P[0, :, 1] = P[1, :, 1] = P[2, :, 2] = 1
    mdp = hreach.TabularMDP(P, np.array([[5.0, 5.0], [1.0, 0.0], [9.0, 9.0]]), 0.9)
    assert [tuple(p) for p in np.argwhere(best_pairs(mdp))] == [(1, 0)]


def test_stuck_is_never_having_taken_that_pair() -> None:
    choice = choose_h(2000, 0.95, surrogates="sixarms", hs=[1], runs=25, seed=2, threads=1)
    reward = hreach.simulate("sixarms", "pac-rmdp", {"h": 1}, runs=25, steps=2000, seed=(2, 0), threads=1).reward
    never_paid = (reward.max(axis=1) < 1).mean()  # only (6, 5) pays 1
    assert 0 < never_paid < 1
    assert choice.options[0].stuck == pytest.approx(never_paid)


# --- the family -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("states", "actions"), [(1, 1), (1, 3), (2, 1), (3, 2), (12, 4)])
def test_a_member_is_as_its_docstring_says(states: int, actions: int) -> None:
    for seed in range(5):
        mdp = random_mdp(states, actions, 0.9, seed)
        P, R = mdp.transitions(), mdp.reward_table()
        assert P.shape == (states, actions, states)
        assert R.max() == 1.0
        assert (R == 1.0).sum() == 1
        assert R[-1].max() == 1.0
        if states == 1:
            continue
        into = np.argwhere(P[:-1, :, -1] > 0)
        assert len(into) == 1
        assert 0.01 <= P[:-1, :, -1].max() <= 1
        ordinary = P[:-1, :, :-1]
        assert ((ordinary > 0).sum(axis=2) <= 3).all()
        assert (R[:-1] <= 0.3).all()
        reached = np.linalg.matrix_power(np.eye(states) + P.sum(axis=1), states) > 0
        assert reached[0].all()
        assert reached[:, 0].all()


def test_members_differ_and_come_back_with_their_seed() -> None:
    one, again, other = (random_mdp(6, 2, 0.9, s).transitions() for s in ((3, 0), (3, 0), (3, 1)))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_sizes_mean_that_family_and_runs_are_shared_among_its_members() -> None:
    choice = choose_h(200, 0.9, sizes=(6, 2), hs=[1, "growing"], runs=20, members=4, seed=3, threads=1)
    assert choice.runs == 20
    assert choice.surrogates == tuple(f"random 6x2 #{i}" for i in range(4))
    five = [
        hreach.simulate(random_mdp(6, 2, 0.9, (3, i)), "pac-rmdp", {"h": 1}, runs=5, steps=200, seed=(3, i), threads=1)
        for i in range(4)
    ]
    assert choice.options[0].average == pytest.approx(np.mean([r.mean for r in five]))


def test_several_surrogates_may_be_given() -> None:
    both = choose_h(300, 0.95, surrogates=["chain", hreach.make_domain("riverswim").mdp()], hs=[4], runs=20, threads=1)
    assert both.surrogates == ("chain", "TabularMDP #1")
    assert 0.02 < both.options[0].average < 0.2


# --- the picture ----------------------------------------------------------------------------------------------


def test_the_picture_is_written(tmp_path: Path) -> None:
    choice = choose_h(400, 0.95, surrogates="modified-chain", hs=HS, runs=3, threads=1)
    for name in ("choice.png", "choice.svg"):
        picture(choice, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5000
    svg = (tmp_path / "choice.svg").read_text()
    assert "<svg" in svg


# --- bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lifetime": 0}, r"^lifetime is 0, but must be a whole number of at least 1\.$"),
        ({"lifetime": 1.5}, r"^lifetime is 1\.5, "),
        ({"gamma": 1.0}, r"^gamma is 1\.0, "),
        ({"surrogates": None, "sizes": (0, 2)}, r"^sizes is 0, but must be a whole number of at least 1\.$"),
        ({"surrogates": None, "sizes": (3,)}, r"^sizes is \(3,\), but must be two numbers"),
        ({"surrogates": None, "sizes": (10_000, 4)}, r"^sizes is \(10000, 4\), but must be at most"),
        ({"surrogates": None}, r"^sizes is None, but must be given if surrogates are not"),
        ({"sizes": (3, 2)}, r"^sizes is \(3, 2\), but must be given if surrogates are not, and only then\.$"),
        ({"hs": []}, r"^hs is \[\], but must be a list with at least one entry\.$"),
        ({"hs": "growing"}, r"^hs is 'growing', but must be a list"),
        ({"hs": [1, -2]}, r"^h is -2, but must be a finite number of at least 0\.$"),
        ({"hs": [np.inf]}, r"^h is inf, "),
        ({"hs": ["groing"]}, r"^h is 'groing', but must be a number, 'growing'"),
        ({"hs": ["growing:x"]}, r"^c is 'x', "),
        ({"hs": ["growing:0"]}, r"^c is 0\.0, but must be a finite number above 0\.$"),
        ({"hs": [1, 1.0]}, r"^hs is \[1, 1\.0\], but must be different from each other\.$"),
        ({"runs": 0}, r"^runs is 0, "),
        ({"delta": 1.0}, r"^delta is 1\.0, "),
        ({"epsilon": 0}, r"^epsilon is 0, "),
        ({"surrogates": "chian"}, r"^domain is 'chian'.*did you mean 'chain'"),
        ({"surrogates": "mountain-car"}, r"^surrogates has 'mountain-car', but they must be tabular"),
        ({"surrogates": []}, r"^surrogates is \[\], "),
        ({"lifetimes": []}, r"^lifetimes is \[\], but must be a list with at least one entry\.$"),
        ({"lifetimes": [0]}, r"^lifetimes is 0, but must be a whole number of at least 1\.$"),
        ({"lifetimes": [51]}, r"^lifetimes is \[51\], but must be at most the lifetime, 50\.$"),
    ],
)
def test_bad_input_gets_one_sentence(given: dict[str, Any], message: str) -> None:
    arguments = {"lifetime": 50, "gamma": 0.9, "surrogates": "chain", "hs": [1], "runs": 2, "threads": 1, **given}
    with pytest.raises(hreach.InputError, match=message) as caught:
        choose_h(arguments.pop("lifetime"), arguments.pop("gamma"), **arguments)
    assert "\n" not in str(caught.value)
