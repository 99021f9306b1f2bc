"""What `hreach.explore` learns, held against the true table; the folder that it writes and what is played from it."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import broken
import hreach
from helpers import content, random_env, succeed
from hreach import TabularMDP
from hreach.errors import InputError
from hreach.exploring.exploring import Exploration
from hreach.exploring.learnt import tally_of
from hreach.exploring.maps import map_of
from hreach.exploring.pictures import map_picture, reward_picture
from hreach.exploring.playing import play


def table_of(env: gymnasium.Env[Any, Any], gamma: float) -> TabularMDP:
    """The truth of one of Gymnasium's tables."""
    core: Any = env.unwrapped
    states, actions = core.observation_space.n, core.action_space.n
    P, R, end = (np.zeros((states, actions, states)) for _ in range(3))
    for s, a in np.ndindex(states, actions):
        for chance, following, reward, over in core.P[s][a]:
            P[s, a, following] += chance
            R[s, a, following] += chance * reward
            end[s, a, following] += chance * over
    known = np.maximum(P, 1e-300)
    start = np.asarray(core.initial_state_distrib, dtype=np.float64)
    return TabularMDP(P, R / known, gamma, start / start.sum(), end / known)


def shortfall(found: Exploration, mdp: TabularMDP) -> float:
    """(V* - V^pi) / |V*| where episodes begin."""
    policy = np.zeros(mdp.states, dtype=np.int64)
    policy[np.array(found.states)] = found.policy
    best, own = mdp.start @ mdp.optimal_value(), mdp.start @ mdp.policy_value(policy)
    return float((best - own) / abs(best))


@pytest.mark.parametrize(("name", "steps"), [("FrozenLake-v1", 10_000), ("CliffWalking-v1", 3000), ("Taxi-v4", 20_000)])
def test_it_learns_a_policy_of_at_least_95_percent(name: str, steps: int) -> None:
    env = gymnasium.make(name)
    found = hreach.explore(env, steps, gamma=0.99, seed=1)
    assert shortfall(found, table_of(env, 0.99)) <= 0.05


def test_one_that_does_not_explore_learns_no_such_policy() -> None:
    env = gymnasium.make("Taxi-v4")
    found = hreach.explore(env, 3000, gamma=0.99, seed=1)
    assert shortfall(found, table_of(env, 0.99)) > 0.05


def test_values_and_policy_are_those_of_the_frequencies_by_value_iteration() -> None:
    env = gymnasium.make("FrozenLake-v1")
    found, gamma = hreach.explore(env, 3000, gamma=0.9, seed=2), 0.9
    numbers = {name: i for i, name in enumerate(found.states)}
    run, states = found.run, len(numbers)
    n, paid, following = np.zeros((states, 4)), np.zeros((states, 4)), np.zeros((states, 4, states))
    over = set(run.ended[run.terminated].tolist())
    closed = np.ones(states, dtype=bool)
    closed[run.states] = False
    for t, (s, a, r, s2) in enumerate(zip(run.states, run.actions, run.rewards, run.next_states, strict=True)):
        n[s, a] += 1
        paid[s, a] += r
        following[s, a, s2] += t not in over
    assert (found.tally.tried == n).all()
    value = np.zeros(states)
    for _ in range(500):
        with np.errstate(invalid="ignore", divide="ignore"):
            q = np.where(n > 0, (paid + gamma * following @ value) / n, -np.inf)
        value = np.where(closed, 0.0, q.max(axis=1, initial=0.0))
    left = n.sum(axis=1) > 0
    np.testing.assert_allclose(found.values[left], value[left], atol=1e-9)
    chosen = q[left, found.policy[left]]
    np.testing.assert_allclose(chosen, q[left].max(axis=1), atol=1e-9)
    np.testing.assert_allclose(found.learnt.action_values[n > 0], q[n > 0], atol=1e-9)


def test_sparse_counts_and_a_table_tally_alike() -> None:
    env = random_env(3)
    found = hreach.explore(env, 400, gamma=0.9, h=2.0, seed=1)
    from hreach.models.counts import Counts
    from hreach.problems.problem import Problem

    model = Counts(Problem(4, 3, 0.9, None, 1.0, 0.0))
    run = found.run
    for s, a, r, s2 in zip(run.states, run.actions, run.rewards, run.next_states, strict=True):
        model.learn(int(s), int(a), float(r), int(s2), False)
    other, own = tally_of(model, 4), found.tally
    for name in ("state", "action", "following", "n", "ended", "tried", "closed"):
        assert (getattr(own, name) == getattr(other, name)).all(), name
    np.testing.assert_allclose(own.paid, other.paid)


def test_the_certificate_is_that_of_the_learnt_policy_over_the_same_counts() -> None:
    found = hreach.explore(random_env(5), 3000, gamma=0.9, r_min=0, r_max=1, seed=1)
    sure = found.certificate
    assert sure is not None
    assert (sure.policy == found.policy).all()
    mdp = random_env(5).mdp()
    order = np.array(found.states)
    truth = mdp.policy_value(found.policy[np.argsort(order)])[order]
    assert (sure.bounds.lower <= truth + 1e-9).all()
    assert (sure.bounds.upper >= mdp.optimal_value()[order] - 1e-9).all()
    assert [look.samples for look in found.looks] == sorted({look.samples for look in found.looks})
    assert found.looks[-1].samples == 3000


def test_the_same_seed_gives_the_same_run_and_another_does_not() -> None:
    runs = [hreach.explore("FrozenLake-v1", 800, seed=seed).run for seed in (3, 3, 4)]
    assert (runs[0].rewards == runs[1].rewards).all()
    assert (runs[0].actions == runs[1].actions).all()
    assert not (runs[0].actions == runs[2].actions).all()


class Pays(broken.Line):
    """Pays these amounts in turn."""

    amounts: tuple[float, ...] = (0.0,)

    def step(self, action: Any) -> Any:
        at, _, over, truncated, info = super().step(action)
        return at, self.amounts[self.steps % len(self.amounts)], over, truncated, info


@pytest.mark.parametrize(
    ("amounts", "given", "low", "high"),
    [
        ((0.0,), {}, 0.0, 1.0),
        ((0.0, 0.25), {}, 0.0, 1.0),
        ((3.0, 5.0), {}, 0.0, 5.0),
        ((-1.0, -3.0), {}, -3.0, 0.0),
        ((-1.0, 7.0), {}, -1.0, 7.0),
        ((0.5,), {"r_min": 0, "r_max": 2}, 0.0, 2.0),
        ((0.5, 3.0), {"r_min": 0, "r_max": 2}, 0.0, 3.0),
        ((-1.0,), {"r_max": -0.5}, -1.0, -0.5),
    ],
)
def test_the_range_is_what_was_given_and_what_was_seen(
    amounts: tuple[float, ...], given: dict[str, float], low: float, high: float
) -> None:
    env = Pays()
    env.amounts = amounts
    found = hreach.explore(env, 200, **given)  # type: ignore[arg-type]
    assert found.agent.range == (low, high)
    widened = max(amounts) > given.get("r_max", np.inf)
    assert ("as given" if len(given) == 2 and not widened else "seen so far") in found.sentence()
    assert any("widened" in note for note in found.notes) == widened


def test_a_certificate_takes_the_cap_for_granted_that_was_given() -> None:
    lake = {"steps": 2000, "gamma": 0.99, "seed": 1}
    free, capped = (hreach.explore("FrozenLake-v1", **lake, **more).certificate for more in ({}, {"v_max": 1.0}))  # type: ignore[arg-type]
    assert free is not None
    assert capped is not None
    assert free.upper > 50
    assert capped.upper == 1.0
    assert capped.optimality_gap <= 1.0 - capped.lower
    assert "no policy is worth more than 1, as given" in capped.assumes


def test_no_optimum_is_above_what_rewards_allow() -> None:
    cliff = hreach.explore("CliffWalking-v1", 500, gamma=0.99).certificate
    assert cliff is not None
    assert (cliff.bounds.upper <= 0).all()


def test_widening_the_range_forgets_nothing() -> None:
    env = Pays()
    env.amounts = tuple(float(x) for x in range(40))
    found = hreach.explore(env, 400)
    assert found.tally.samples == 400
    assert found.tally.paid.sum() == found.run.rewards.sum()


class Clocked(broken.Line):
    """Nothing ends by the rules; a TimeLimit cuts it."""

    def step(self, action: Any) -> Any:
        self.at = min(4, max(0, self.at + (1 if action else -1)))
        return self.at, float(self.at == 4), False, False, {}


def test_a_time_limit_is_no_end() -> None:
    found = hreach.explore(gymnasium.wrappers.TimeLimit(Clocked(), 20), 2000, gamma=0.9, seed=1)
    assert len(found.run.ended) == 100
    assert not found.run.terminated.any()
    assert not found.tally.ends
    assert found.values.max() == pytest.approx(10.0)  # 1 at every step for ever


class Box(broken.Line):
    """A point on a line, moved by two switches; the right end pays and ends."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = spaces.Dict({"x": spaces.Box(0, 1, (1,)), "lamp": spaces.MultiBinary(2)})
        self.action_space = spaces.MultiDiscrete([2, 2])
        self.x = 0.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x = float(self.np_random.uniform(0, 0.2))
        return self.seen(), {}

    def step(self, action: Any) -> Any:
        assert isinstance(action, np.ndarray)
        self.x = max(0.0, self.x + (0.1 if action[0] == 1 and action[1] == 0 else -0.1))
        return self.seen(), float(self.x >= 1), self.x >= 1, False, {}

    def seen(self) -> Any:
        return {"x": np.array([self.x], dtype=np.float32), "lamp": np.array([1, 0], dtype=np.int8)}


def test_readings_in_bins_and_several_switches(tmp_path: Path) -> None:
    env = Box()
    found = hreach.explore(env, 4000, gamma=0.95, bins=10, out=tmp_path / "box", seed=1)
    assert found.actions == ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]
    assert found.value > 0.5
    assert found.act(env.reset(seed=1)[0]).tolist() == [1, 0]
    with pytest.raises(InputError, match="given as an object"):
        play(tmp_path / "box")
    assert play(tmp_path / "box", Box(), episodes=5, steps=100).rewards.tolist() == [1.0] * 5


@pytest.mark.parametrize("more", [{"h": "growing"}, {"h": "adaptive"}, {"lifetime": 500}, {"h": 4}, {"v_max": 1.0}])
def test_every_h_and_a_cap(more: dict[str, Any]) -> None:
    found = hreach.explore("FrozenLake-v1", 500, **more)
    assert len(found.run.rewards) == 500
    if "v_max" in more:
        assert found.optimistic_values.max() <= 1.0 < hreach.explore("FrozenLake-v1", 500).optimistic_values.max()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"h": "much"}, "'growing', 'adaptive'"),
        ({"h": -1}, "at least 0"),
        ({"h": 2, "lifetime": 100}, "left out where lifetime is given"),
        ({"lifetime": 10}, "at most the lifetime, 10"),
        ({"gamma": 1.0}, "below 1"),
        ({"r_min": 2, "r_max": 1}, "at most r_max"),
        ({"set": {"no_such": 1}}, "no_such"),
    ],
)
def test_what_cannot_be_used_is_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        hreach.explore("FrozenLake-v1", 100, **more)


def test_an_h_that_changes_wants_a_table_that_fits() -> None:
    with pytest.raises(InputError, match="must be a number where states x actions x states is above"):
        hreach.explore(random_sized(4000), 10, h="growing")


def random_sized(states: int) -> broken.Line:
    env = broken.Line()
    env.observation_space = spaces.Discrete(states)
    return env


def test_stop_rules_end_it_earlier() -> None:
    found = hreach.explore(broken.Line(), 100_000, gamma=0.5, r_min=0, r_max=1, until=hreach.Certified(gap=1.0))
    assert len(found.run.rewards) < 100_000
    assert found.certificate is not None
    assert found.run.stopped
    assert hreach.explore(broken.Line(), 5000, gamma=0.5, r_min=0, r_max=1, until=hreach.Aim(0.05)).run.stopped


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored") / "lake"
    said = succeed(
        "explore", "FrozenLake-v1", "--steps", "4000", "--set", "is_slippery=false", "--out", folder, "--gamma", "0.9"
    )
    assert "the range seen so far" in said
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_folder_has_everything_and_its_parts_agree(lake: Path) -> None:
    names = {path.name for path in lake.iterdir()}
    assert names == {
        "index.html", "explore.json", "policy.csv", "policy.json", "values.csv", "transitions.csv", "rewards.csv",
        "certificate.csv", "agent.npz", "figures",
    }  # fmt: skip
    record, policy = json.loads((lake / "explore.json").read_text()), json.loads((lake / "policy.json").read_text())
    states = rows(lake / "policy.csv")
    assert len(states) == record["states"] == len(policy["states"])
    assert sum(int(row["visits"]) for row in states) == record["steps"] == 4000
    assert sum(int(row["count"]) for row in rows(lake / "transitions.csv")) == 4000
    assert sum(int(row["tried"]) for row in rows(lake / "values.csv")) == 4000
    assert len(rows(lake / "rewards.csv")) == record["episodes"]
    last = rows(lake / "certificate.csv")[-1]
    assert float(last["lower"]) == record["certificate"]["lower"]
    assert record["value"] == pytest.approx(0.9**5)  # six steps to the goal, no slips
    with np.load(lake / "agent.npz", allow_pickle=False) as saved:
        assert int(saved["model.size"][2]) == 4000


def test_the_page_is_self_contained_and_shows_all(lake: Path) -> None:
    page = (lake / "index.html").read_text("utf-8")
    for words in (
        "What it earned",
        "Where it was",
        "What is certain",
        "The policy",
        "the range seen so far",
        "PAC-RMDP",
    ):
        assert words in page
    assert page.count("<svg") >= 3
    assert re.findall(r"https?://(?!www.w3.org)|<link|src=", page) == []


def test_values_that_differ_by_rounding_only_get_one_shade_and_few_episodes_no_mean(tmp_path: Path) -> None:
    found = hreach.explore("MountainCar-v0", 1000, bins=8)  # the goal is not reached: every state is worth -100
    places = map_of(found.env.inner, found.source.edges, found.states)
    assert places is not None
    low, high = map_picture(found, places).axes[1].images[0].get_clim()
    assert high - low == 1.0
    assert len(reward_picture(found).axes[0].lines) == 2  # episodes and the zero line


def test_playing_earns_what_was_learnt(lake: Path) -> None:
    found = play(lake, episodes=3)
    assert found.rewards.tolist() == [1.0] * 3
    assert found.steps.tolist() == [6] * 3
    assert (found.ended, found.strange) == (3, 0)
    assert "3 episodes: total reward 1 ± 0 on average, 6 steps, 3 ended" in succeed("play", lake, "--episodes", "3")
    assert json.loads(succeed("play", lake, "--episodes", "2", "--json"))["rewards"] == [1.0, 1.0]


def test_a_film_of_an_environment_that_draws_itself(tmp_path: Path) -> None:
    from PIL import Image

    hreach.explore("gridworld", 2000, set={"rows": 3, "columns": 3}, out=tmp_path / "grid")
    found = play(tmp_path / "grid", episodes=1, record=tmp_path / "grid.gif")
    with Image.open(tmp_path / "grid.gif") as film:
        assert film.n_frames >= 2  # type: ignore[attr-defined]
        assert film.n_frames <= found.steps[0] + 1  # type: ignore[attr-defined]


def test_what_cannot_be_recorded_or_played_is_one_sentence(lake: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must end in .gif: an MP4 needs the extra|cannot be recorded"):
        play(lake, record=tmp_path / "film.mp4")
    with pytest.raises(InputError, match=r"ends in .gif or .mp4"):
        play(lake, record=tmp_path / "film.avi")
    with pytest.raises(InputError, match="must be one that `hreach explore --out` made"):
        play(tmp_path)
    with pytest.raises(InputError, match=r"^seed is -1, but must be a whole number of at least 0\.$"):
        play(lake, seed=-1)
    assert content(tmp_path) == {}


def test_a_folder_that_is_not_empty_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty"):
        hreach.explore("FrozenLake-v1", 10, out=tmp_path)
    with pytest.raises(InputError, match="in a folder that exists"):
        hreach.explore("FrozenLake-v1", 10, out=tmp_path / "a" / "b")
    assert list(content(tmp_path)) == ["mine.txt"]


def test_ctrl_c_keeps_what_was_learnt_and_a_hostile_name_is_escaped(tmp_path: Path) -> None:
    class Stopped(broken.Line):
        def step(self, action: Any) -> Any:
            if self.steps == 200:
                raise KeyboardInterrupt
            return super().step(action)

    Stopped.__name__ = "<script>alert(1)</script>"
    with pytest.raises(KeyboardInterrupt):
        hreach.explore(Stopped(), 5000, out=tmp_path / "x")
    kept = json.loads((tmp_path / "x" / "explore.json").read_text())
    assert 0 < kept["steps"] < 200
    assert kept["environment"] == "<script>alert(1)</script>"
    assert "<script>alert" not in (tmp_path / "x" / "index.html").read_text("utf-8")


def test_json_for_programs() -> None:
    found = json.loads(succeed("explore", "CliffWalking-v1", "--steps", "500", "--json"))
    assert found["steps"] == 500
    assert found["reward_range"] == {"low": -100.0, "high": 0.0, "given": False}
