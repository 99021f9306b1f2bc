"""`agent.certify` and `certify_counts`: no statement is false of the truth, and a tenth of the radius is found out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hreach
from helpers import random_env
from hreach import InputError, TabularMDP
from hreach.agents.tables import TableAgent
from hreach.domains.tabular import TabularEnv
from hreach.guarantees import certify
from hreach.guarantees.audit.certificates import broken
from hreach.guarantees.audit.lived import last_state, lived
from hreach.guarantees.audit.record import known_problem
from hreach.guarantees.certificate import Certificate, short
from hreach.guarantees.certify import certify_counts, greedy
from hreach.guarantees.limits import loss_terms
from hreach.guarantees.sets import confidence_sets
from hreach.planners.robust import Robust, Sets

Array = NDArray[np.float64]
TIMES = (10, 30, 100, 300, 1000, 3000)


def lives(domain: str, runs: int, params: dict[str, Any]) -> list[tuple[TableAgent, TabularMDP]]:
    """Agents after runs of all these lengths, with the truth by the reward that they know."""
    env = hreach.make_domain(domain)
    found = []
    for seed in range(runs):
        agent = hreach.make_agent("pac-rmdp", env, seed=seed, **params)
        found += [(lived(agent, env.mdp(), steps, seed + 1000), known_problem(env.mdp(), agent)) for steps in TIMES]
    return found


def false_statements(agent: TableAgent, truth: TabularMDP, **arguments: Any) -> tuple[str, ...]:
    seen = agent.model.seen
    ended = seen.ended if truth.ends else None
    return broken(agent.certify(**arguments), truth, seen.counts, ended)


@pytest.fixture
def tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of a tenth of their radius."""

    def narrow(*arguments: Any) -> Sets:
        sets = original(*arguments)
        return sets._replace(floor=0.1 * sets.floor, ceiling=0.1 * sets.ceiling)

    original = confidence_sets
    monkeypatch.setattr(certify, "confidence_sets", narrow)


@pytest.mark.parametrize("domain", ["chain", "modified-chain", "riverswim"])
@pytest.mark.parametrize("h", [0, 8, 64, np.inf])
def test_no_statement_is_false_in_any_state(domain: str, h: float) -> None:
    for agent, truth in lives(domain, 6, {"h": 8}):
        assert false_statements(agent, truth, h=h) == ()


@pytest.mark.usefixtures("tenth")
def test_a_tenth_of_the_radius_makes_false_statements() -> None:
    """In more runs than delta allows; the right radius in 1 of 2000 (benchmarks/CERTIFICATES.md)."""
    wrong = [bool(false_statements(agent, truth)) for agent, truth in lives("chain", 60, {"h": 8})]
    assert np.reshape(wrong, (60, len(TIMES))).any(axis=1).mean() > 0.1


def test_compiled_life_is_the_life_step_by_step() -> None:
    env = hreach.make_domain("riverswim")
    agent = hreach.make_agent("pac-rmdp", env, h=8, seed=3)
    after = lived(agent, env.mdp(), 500, 9)
    run = hreach.run(env, agent, steps=500, seed=9)
    np.testing.assert_array_equal(agent.model.seen.counts, after.model.seen.counts)
    assert last_state(after, int(run.states[0])) == run.last_state
    assert agent.certify(state=0).lower == after.certify(state=0).lower


# --- every tabular agent, every kind of problem -----------------------------------------------------------------------

AGENTS: list[tuple[str, dict[str, Any]]] = [
    ("pac-rmdp", {"h": 8}),
    ("pac-rmdp", {"h": 3, "prior": 0}),
    ("pac-rmdp", {"h": "growing"}),
    ("pac-rmdp", {"h": "adaptive"}),
    ("pac-rmdp", {"h": 3, "value_cap": 5.0}),
    ("pac-rmdp", {"h": 3, "freeze_at": 5}),
    ("bolt", {"eta": 5}),
    ("mbie", {"epsilon": 1.0, "delta": 0.1}),
    ("mbie-eb", {"beta": 0.2}),
    ("vbe", {"delta": 0.1}),
    ("beb", {"beta": 1.0}),
    ("r-max", {"m": 20}),
    ("greedy", {}),
    ("epsilon-greedy", {"epsilon": 0.2}),
    ("posterior-sampling", {}),
]


@pytest.mark.parametrize(("name", "params"), AGENTS)
def test_every_tabular_agent(name: str, params: dict[str, Any]) -> None:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent(name, env, **params)
    state = hreach.run(env, agent, steps=400).last_state
    truth = known_problem(env.mdp(), agent)
    found = agent.certify(state=state)
    assert broken(found, truth, agent.model.seen.counts) == ()
    assert found.lower <= found.upper
    assert found.optimality_gap <= found.upper - found.lower + 1e-12
    assert found.safest.lower >= found.lower - 1e-6
    own = agent.planner.reach()
    assert (found.reachable_gap is None) == (own is None)
    assert found.h == (None if own is None else np.floor(own[0]))
    assert (certify.NO_H in found.notes) == (own is None)
    assert agent.certify(state=state, h=4).reachable_gap is not None
    assert ("random actions" in " ".join(found.notes)) == (name == "epsilon-greedy")


def ending_env(seed: int, per_transition: bool) -> TabularEnv:
    """Transitions into the last state end the episode, others do now and then; rewards of both signs."""
    env = random_env(seed, states=5, actions=2, per_transition=per_transition)
    mdp = env.mdp()
    end = np.full((5, 2, 5), 0.1)
    end[:, :, 4] = 1.0
    R = mdp.reward_table() - 0.4
    return TabularEnv(TabularMDP(mdp.transitions(), R, 0.9, end=end), R)


@pytest.mark.parametrize("per_transition", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_rewards_of_any_kind_and_sign_and_episodes_that_end(seed: int, per_transition: bool) -> None:
    for env in (ending_env(seed, per_transition), random_env(seed, per_transition=per_transition)):
        agent = hreach.make_agent("pac-rmdp", env, h=4, seed=seed)
        for steps in (50, 500, 3000):
            later = lived(agent, env.mdp(), steps, seed)
            assert false_statements(later, env.mdp()) == ()
        found = later.certify()
        assert (certify.MAY_END in found.assumes) == env.mdp().ends
        assert found.optimality_gap < 0.9 * (found.sets.v_max - found.sets.v_min)


@pytest.mark.parametrize("h", [1, 16, 100, 1000])
@pytest.mark.parametrize("prior", [0, 1])
def test_bounds_on_what_is_reachable_hold_for_every_h(h: int, prior: int) -> None:
    for seed in range(4):
        env = random_env(seed, states=6, per_transition=seed % 2 == 0)
        agent = hreach.make_agent("pac-rmdp", env, h=4, prior=prior, seed=seed)
        for steps in (20, 200, 2000, 20_000):
            assert false_statements(lived(agent, env.mdp(), steps, seed), env.mdp(), h=h) == ()


def test_a_watched_policy_says_nothing_of_other_vectors() -> None:
    """The radius of one vector does not hold for what is computed from the counts: V~_h alone bounds V^{d*}_h."""
    env = random_env(1)
    agent = lived(hreach.make_agent("pac-rmdp", env, h=4), env.mdp(), 3000, 1)
    counts, reward = table_of(agent)
    policy = np.zeros(4, dtype=np.int64)
    found = certify_counts(counts, reward, 0.9, policy, h=300, watched=True)
    assert found.bounds.reachable is not None
    optimistic = Robust(found.sets).reach(300, 0.0, policy)[:-1]
    np.testing.assert_allclose(found.bounds.reachable, optimistic, atol=1e-6)
    np.testing.assert_array_equal(found.bounds.gap, found.bounds.upper - found.bounds.lower)
    np.testing.assert_array_equal(found.safest.policy, policy)
    assert found.curve is not None
    assert found.curve[256] == pytest.approx(
        Robust(found.sets).reach(256, 0.0, policy)[found.state] - found.lower, 1e-6
    )


def test_the_end_is_worth_nothing() -> None:
    """Stopping pays 1 and ends the episode: after many samples it is known to be worth 1, and waiting less."""
    mdp = TabularMDP(P=[[[1.0], [1.0]]], R=[[1.0, 0.1]], gamma=0.5, end=[[1.0, 0.0]])
    env = TabularEnv(mdp, mdp.reward_table())
    agent = hreach.make_agent("pac-rmdp", env, h=1)
    hreach.run(env, agent, steps=5000)
    found = agent.certify(state=0)
    assert found.lower == pytest.approx(1.0, abs=0.02)
    assert found.lower <= 1.0 <= found.upper


@pytest.mark.parametrize("ends", [False, True])
def test_learnt_rewards(ends: bool) -> None:
    env = ending_env(2, False) if ends else hreach.make_domain("chain")
    agent = hreach.make_agent("pac-rmdp", env, h=8, reward="learn", r_min=-0.4 if ends else 0.0, r_max=1.0)
    for steps in (30, 300, 3000):
        later = lived(agent, env.mdp(), steps, 4)
        found = later.certify()
        assert broken(found, env.mdp(), later.model.seen.counts, later.model.seen.ended if ends else None) == ()
    assert found.reachable_gap is None
    assert found.curve is None
    assert certify.NO_LEMMA in found.notes
    assert "rewards lie in [" in " ".join(found.assumes)
    assert found.lower > found.sets.v_min
    with pytest.raises(InputError, match=r"^h is 3, but must be left out where the reward is learnt"):
        later.certify(h=3)


def test_known_rewards_that_are_not_what_was_paid_are_noted() -> None:
    """The chain tells the nominal reward, as if it never slipped."""
    chain = hreach.make_domain("chain")
    told = TabularEnv(chain.mdp(), chain.mdp().reward_table())
    for env, otherwise in ((chain, True), (told, False)):
        agent = hreach.make_agent("pac-rmdp", env, h=8)
        hreach.run(env, agent, steps=1000)
        assert ("was paid on average" in " ".join(agent.certify().notes)) == otherwise


# --- what a certificate says ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def after_a_run() -> TableAgent:
    env = hreach.make_domain("riverswim")
    agent = hreach.make_agent("pac-rmdp", env, h=8)
    return lived(agent, env.mdp(), 5000, 2)


def test_certifying_changes_no_action() -> None:
    env = hreach.make_domain("chain")
    agents = [hreach.make_agent("pac-rmdp", env, h=2, seed=1) for _ in range(2)]
    runs = []
    for agent, asked in zip(agents, (True, False), strict=True):
        state, _ = env.reset(seed=3)
        actions = []
        for _ in range(200):
            if asked:
                agent.certify()
            actions.append(agent.act(state))
            following, reward, *_ = env.step(actions[-1])
            agent.observe(state, actions[-1], float(reward), following)
            state = following
        runs.append(actions)
    assert runs[0] == runs[1]


def test_the_sentence_says_what_holds(after_a_run: TableAgent) -> None:
    found = after_a_run.certify(state=3)
    said = found.sentence()
    assert said == str(found)
    for part in (
        "5,000 samples",
        "at least 0.9",
        "state 3",
        f"{found.lower:.4g}",
        "8 more samples",
        f"{found.upper:.4g}",
    ):
        assert part in said
    assert "more samples" not in after_a_run.certify(state=3, h=None).sentence().replace("8 more samples", "")


def test_without_a_state_it_is_about_the_largest_gap(after_a_run: TableAgent) -> None:
    found = after_a_run.certify()
    gaps = [found.at(s).optimality_gap for s in range(6)]
    assert found.state == int(np.argmax(gaps))
    assert found.at(2).lower == after_a_run.certify(state=2).lower


def test_the_curve_agrees_with_certificates_of_other_h(after_a_run: TableAgent) -> None:
    found = after_a_run.certify(state=1)
    assert found.curve is not None
    for h in (0, 8, 64, 1024):
        assert found.curve[h] == pytest.approx(after_a_run.certify(state=1, h=h).reachable_gap, abs=2e-3)
    assert found.curve[np.inf] == found.optimality_gap == after_a_run.certify(state=1, h=np.inf).reachable_gap
    assert list(found.curve.values())[:5] == sorted(list(found.curve.values())[:5])


def test_limits_are_the_simulation_lemma(after_a_run: TableAgent) -> None:
    """Their terms add up to what lies between the plain and the lower value; more samples of the first gain most."""
    found = after_a_run.certify(state=1)
    plain = Robust(found.sets).plain(found.policy)[1]
    assert loss_terms(found.sets, found.policy, 1).sum() == pytest.approx(plain - found.lower, rel=1e-5)
    assert sum(limit.share for limit in found.limits) == pytest.approx(1.0, abs=1e-3)
    shares = [limit.share for limit in found.limits]
    assert shares == sorted(shares, reverse=True)
    first = found.limits[0]
    assert first.action == found.policy[first.state]
    n = np.rint(after_a_run.model.seen.counts - 1 / 6)
    assert first.n == n[first.state, first.action].sum()
    gained = {limit.state: _gain(after_a_run, found, limit.state) for limit in found.limits}
    assert max(gained, key=lambda s: gained[s]) == max(found.limits, key=lambda limit: limit.gain).state


def _gain(agent: TableAgent, found: Certificate, state: int) -> float:
    """What 100 more samples of a pair like those before would add to the lower value."""
    n = np.rint(agent.model.seen.counts - 1 / 6)
    row = n[state, found.policy[state]]
    n[state, found.policy[state]] = np.rint(row * (1 + 100 / row.sum()))
    reward = agent.model.problem.reward
    assert reward is not None
    return certify_counts(n, reward[:, :, 0], 0.95, found.policy, state=found.state).lower - found.lower


def test_bounds_are_monotone_under_running_intersection() -> None:
    env = hreach.make_domain("riverswim")
    agent = hreach.make_agent("pac-rmdp", env, h=8, seed=2)
    truth = known_problem(env.mdp(), agent)
    kept: Certificate | None = None
    raw = []
    for steps in range(800, 1000, 10):
        later = lived(agent, env.mdp(), steps, 5)
        now = later.certify(state=2)
        raw.append(now.upper)
        sharper = now if kept is None else now.sharpened(kept)
        assert broken(sharper, truth, later.model.seen.counts) == ()
        assert sharper.lower >= now.lower
        assert sharper.upper <= now.upper
        assert sharper.optimality_gap <= now.optimality_gap
        if kept is not None:
            assert sharper.upper <= kept.upper
            assert sharper.safest.lower >= kept.safest.lower
        kept = sharper
    assert (np.diff(raw) > 0).any()  # without it they are not
    with pytest.raises(InputError, match=r"^before is .*, but must be of the same data, earlier"):
        agent.certify().sharpened(kept)


# --- counts -----------------------------------------------------------------------------------------------------------


def table_of(agent: TableAgent) -> tuple[Array, Array]:
    problem = agent.model.problem
    assert problem.reward is not None
    return np.rint(agent.model.seen.counts - problem.prior / problem.states), problem.reward[:, :, 0]


def test_counts_are_certified_like_the_agent_that_has_them(after_a_run: TableAgent) -> None:
    counts, reward = table_of(after_a_run)
    own = after_a_run.certify(state=2)
    same = certify_counts(counts, reward, 0.95, own.policy, state=2, h=8, prior=1)
    assert (same.lower, same.upper, same.optimality_gap) == (own.lower, own.upper, own.optimality_gap)
    assert same.reachable_gap == own.reachable_gap


def test_what_is_known_to_be_possible_and_a_watched_policy_are_worth_something(after_a_run: TableAgent) -> None:
    counts, reward = table_of(after_a_run)
    mdp = known_problem(hreach.make_domain("riverswim").mdp(), after_a_run)
    arguments: dict[str, Any] = {"gamma": 0.95, "policy": mdp.optimal_policy(), "state": 5}
    plain = certify_counts(counts, reward, **arguments)
    known = certify_counts(counts, reward, possible=mdp.transitions() > 0, **arguments)
    watched = certify_counts(counts, reward, watched=True, **arguments)
    assert plain.lower < known.lower < known.upper < plain.upper
    assert plain.lower < watched.lower
    for found in (plain, known, watched):
        assert broken(found, mdp, counts) == ()
    assert certify.POSSIBLE in known.assumes
    assert certify.WATCHED in watched.assumes


def test_without_a_policy_the_best_for_the_frequencies_is_certified(after_a_run: TableAgent) -> None:
    counts, reward = table_of(after_a_run)
    model = np.where(counts.sum(axis=2, keepdims=True) > 0, counts, 1.0)
    expected = TabularMDP(model / model.sum(axis=2, keepdims=True), reward, 0.95).optimal_policy()
    np.testing.assert_array_equal(certify_counts(counts, reward, 0.95).policy, expected)


def test_ties_go_to_the_lowest_action() -> None:
    q = np.array([[1.0, 1.0 + 1e-12, 0.5], [0.0, 2.0, 2.0], [-1.0, -3.0, -1.0]])
    assert greedy(q).tolist() == [0, 1, 0]


COUNTS = np.ones((2, 3, 2))
REWARD = np.zeros((2, 3))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"counts": -COUNTS}, "counts"),
        ({"counts": COUNTS / 2}, "counts"),
        ({"counts": COUNTS * np.nan}, "counts"),
        ({"counts": COUNTS[:, :, :1]}, "counts shape"),
        ({"counts": COUNTS[0]}, "counts shape"),
        ({"reward": np.zeros((3, 2))}, "reward shape"),
        ({"reward": REWARD + np.inf}, "reward"),
        ({"reward": REWARD + 2, "r_max": 1}, "reward"),
        ({"gamma": 1.0}, "gamma"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"delta": np.nan}, "delta"),
        ({"h": -1}, "h"),
        ({"h": 1.5}, "h"),
        ({"state": 2}, "state"),
        ({"policy": [0, 3]}, "policy"),
        ({"policy": [0]}, "policy shape"),
        ({"prior": -1}, "prior"),
        ({"ended": 2 * COUNTS}, "ended"),
        ({"ended": COUNTS[0]}, "ended shape"),
        ({"possible": COUNTS[0] > 0}, "possible shape"),
        ({"possible": COUNTS < 0}, "possible"),
        ({"watched": True}, "policy"),
    ],
)
def test_bad_input_is_one_sentence(changed: dict[str, Any], field: str) -> None:
    given: dict[str, Any] = {"counts": COUNTS, "reward": REWARD, "gamma": 0.9, **changed}
    with pytest.raises(InputError, match=f"^{field} is .*, but must be"):
        certify_counts(**given)


def test_agents_say_what_is_wrong() -> None:
    agent = hreach.make_agent("pac-rmdp", hreach.make_domain("chain"), h=8)
    for arguments in ({"delta": 2}, {"h": -1}, {"state": 9}):
        with pytest.raises(InputError, match=f"^{next(iter(arguments))} is"):
            agent.certify(**arguments)
    linear = hreach.make_agent("linear-pac-rmdp", hreach.make_domain("mountain-car"), h=1)
    with pytest.raises(InputError, match="certify is for agents that count transitions"):
        linear.certify()


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (5.2934, 4, "5.293"), (1795.7, 3, "1796"), (-999.96, 3, "-1000"), (2e6, 4, "2e+06"), (3.325e-4, 4, "0.0003325"),
        (1.1e-16, 4, "0"), (-1e-12, 4, "0"),
    ],
)  # fmt: skip
def test_a_sentence_has_plain_numbers(value: float, digits: int, said: str) -> None:
    assert short(value, digits) == said
