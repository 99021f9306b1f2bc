"""Agents and domains of another project: named, given as objects or offered, they run wherever those of hreach do."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from typer.testing import CliRunner

import hreach
from hreach import InputError
from hreach.cli import app as cli
from hreach.cli.listing import everything
from hreach.registry import reference
from hreach.running import simulate as simulation
from hreach.studies.grid import Cell, cell_of
from hreach.studies.loading import load
from hreach.studies.results import Result
from hreach.studies.runner import run_study
from hreach.studies.store import Store
from hreach.studies.workers import make_workers

AGENTS = '''
import numpy as np

class Wanderer:
    """Goes on with probability `bias`, and remembers how much it saw."""

    def __init__(self, env, seed=0, bias=0.5):
        self.random, self.bias, self.seen = np.random.default_rng(seed), bias, 0

    def act(self, state):
        return int(self.random.random() < self.bias)

    def observe(self, state, action, reward, next_state, terminated=False, info=None):
        self.seen += 1

    def describe(self):
        return {"origin": "given", "constants": {"bias": self.bias, "seen": np.int64(self.seen)}}


class Silent:
    """Has no more than it must."""

    def __init__(self, env, seed):
        self.action = seed % 2

    def act(self, state):
        return self.action

    def observe(self, *sample):
        pass


def unseeded(env):
    return Wanderer(env)


def no_agent(env, seed):
    return 3


NUMBER = 7
'''
FORMULA = """
from hreach.optimism.beb import build as bonus

def build(problem, weight=2.0):
    return bonus(problem, beta=weight)
"""
ENVS = '''
import gymnasium
import numpy as np

class Corridor(gymnasium.Env):
    """Action 1 goes on with probability .8; the end of the corridor pays 1 and ends the episode."""

    def __init__(self, length=4):
        self.observation_space, self.action_space = gymnasium.spaces.Discrete(length), gymnasium.spaces.Discrete(2)
        self.length, self.state = length, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = 0
        return self.state, {}

    def step(self, action):
        if action == 1 and self.np_random.random() < 0.8:
            self.state += 1
        end = self.state == self.length - 1
        return self.state, float(end), end, False, {}


def no_environment():
    return 3

gymnasium.register(id="mine/Corridor-v0", entry_point=Corridor, max_episode_steps=9)
'''
PARTS = '''
from hreach.models.counts import Counts
from hreach.planners.sweeps import Sweeps

class Twice(Counts):
    """Takes every sample for two."""

    def learn(self, *sample):
        super().learn(*sample)
        super().learn(*sample)


class Lazy(Sweeps):
    """Plans at every tenth sample."""

    def plan(self):
        if self.model.samples % 10 == 0:
            super().plan()
'''
BROKEN = "raise ValueError('out of\\norder')\n"
FILES = {"__init__": "", "agents": AGENTS, "formula": FORMULA, "envs": ENVS, "parts": PARTS, "broken": BROKEN}
ENTRY_POINTS = """\
[hreach.agents]
wanderer = mypackage.agents:Wanderer
weighted = mypackage.formula:build
bolt = mypackage.agents:Silent
lost = mypackage.agents:Lost

[hreach.domains]
corridor = mypackage.envs:Corridor
"""
WANDERER, CORRIDOR = "mypackage.agents:Wanderer", "mypackage.envs:Corridor"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the project: a package, and the metadata of its installation."""
    package, installed = tmp_path / "mypackage", tmp_path / "mypackage-1.5.dist-info"
    for folder in (package, installed):
        folder.mkdir()
    for name, text in FILES.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1.5\n", encoding="utf-8")
    (installed / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "mypackage"]:
        del sys.modules[name]
    gymnasium.registry.pop("mine/Corridor-v0", None)


def agents() -> Any:
    from mypackage import agents  # type: ignore[import-not-found]

    return agents


def envs() -> Any:
    from mypackage import envs

    return envs


# --- make --------------------------------------------------------------------


@pytest.mark.parametrize("name", [WANDERER, "wanderer"])
def test_an_agent_is_made_by_its_name_as_by_its_class(name: str, mine: Path) -> None:
    env = hreach.make_domain("chain")
    made = [hreach.make_agent(each, env, seed=3, bias=0.25) for each in (name, agents().Wanderer)]
    assert [type(each) for each in made] == [agents().Wanderer] * 2
    assert [each.bias for each in made] == [0.25] * 2
    assert len({each.random.random() for each in made}) == 1


@pytest.mark.parametrize("name", ["mypackage.formula:build", "weighted"])
def test_a_formula_is_made_into_a_compiled_agent(name: str, mine: Path) -> None:
    env = hreach.make_domain("chain")
    ours, theirs = hreach.make_agent("beb", env, beta=3.0, prior=2), hreach.make_agent(name, env, weight=3.0, prior=2)
    assert type(ours) is type(theirs)
    assert np.array_equal(hreach.run(env, ours, 300).rewards, hreach.run(env, theirs, 300).rewards)


@pytest.mark.parametrize("name", [CORRIDOR, "corridor", "mypackage.envs:mine/Corridor-v0"])
def test_a_domain_is_made_by_its_name(name: str, mine: Path) -> None:
    env = hreach.make_domain(name, length=6)
    assert type(env.unwrapped) is envs().Corridor
    assert env.observation_space.n == 6
    assert hreach.make_domain(envs().Corridor, length=3).length == 3


def test_an_id_of_gymnasium_is_a_domain() -> None:
    assert hreach.make_domain("FrozenLake-v1", map_name="8x8").observation_space.n == 64
    assert hreach.make_domain("hreach/Chain-v0", length=7).unwrapped.mdp().states == 7


WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    ("agent", "mypackage.agents:Wandrer", {}, r"module 'mypackage\.agents' has no 'Wandrer' \(did you mean 'Wanderer'"),
    ("agent", "mypackage.none:Wanderer", {}, r"module 'mypackage\.none' cannot be imported \(ModuleNotFoundError: No "),
    ("agent", "mypackage.broken:X", {}, r"'mypackage\.broken' cannot be imported \(ValueError: out of order\)\.$"),
    ("agent", "mypackage.agents:NUMBER", {}, r"must be something to call, and 'NUMBER' is 7\.$"),
    ("agent", "mypackage.agents:unseeded", {}, r"takes no seed, but must be called as factory\(env, seed=seed"),
    ("agent", "mypackage.agents:no_agent", {}, r"made 'int', but must make something with act and observe\.$"),
    ("agent", WANDERER, {"bais": 1}, r"^parameter of agent 'mypackage\.agents:Wanderer' is 'bais', .*mean 'bias'\?"),
    ("agent", "lost", {}, r"^agent is 'lost', but module 'mypackage\.agents' has no 'Lost'"),
    ("agent", "wander", {}, r"^agent is 'wander', which is not known; did you mean 'wanderer'\? known: "),
    ("agent", "../x:y", {}, r"must be 'module:name' or a known name\.$"),
    ("domain", "mypackage.envs:no_environment", {}, r"made 'int', but must make something with reset and step\.$"),
    ("domain", "mypackage.envs:mine/Corridor-v7", {}, r"module 'mypackage\.envs' has no 'mine/Corridor-v7'"),
    ("domain", CORRIDOR, {"lenght": 3}, r"is 'lenght', .*did you mean 'length'"),
    ("domain", "FrozenLake-v1", {"map": 3}, r"^domain is 'FrozenLake-v1', which Gymnasium cannot make: .*'map'"),
    ("domain", "corridr", {}, r"did you mean 'corridor'\? known: chain, corridor, "),
]


@pytest.mark.parametrize(("kind", "name", "params", "message"), WRONG)
def test_a_mistake_is_one_sentence(kind: str, name: str, params: dict[str, Any], message: str, mine: Path) -> None:
    given = [hreach.make_domain("chain")] if kind == "agent" else []
    make: Any = hreach.make_agent if kind == "agent" else hreach.make_domain
    with pytest.raises(InputError, match=message) as caught:
        make(name, *given, **params)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("thing", [7, None, object()])
def test_what_cannot_be_called_is_no_agent(thing: Any) -> None:
    with pytest.raises(InputError, match=r"^agent is .*, but must be a name, 'module:name' or a callable"):
        hreach.make_agent(thing, hreach.make_domain("chain"))


# --- simulate ----------------------------------------------------------------


def by_the_loop(domain: Any, agent: Any, params: dict[str, Any], number: int, **length: Any) -> hreach.Run:
    env_seed, agent_seed = (int(s) for s in hreach.run_seeds(5, first=number, runs=1)[0])
    env = hreach.make_domain(domain)
    return hreach.run(env, hreach.make_agent(agent, env, seed=agent_seed, **params), seed=env_seed, **length)


def forbid_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> None:
        raise AssertionError("sent to a worker")

    monkeypatch.setattr(simulation, "_in_processes", refuse)


DOMAINS = ["chain", CORRIDOR, "mypackage.envs:mine/Corridor-v0", "corridor"]


@pytest.mark.parametrize("domain", DOMAINS)
def test_runs_by_steps_are_those_of_the_loop(domain: str, mine: Path) -> None:
    runs = hreach.simulate(domain, WANDERER, {"bias": 0.7}, runs=3, steps=40, seed=5, threads=2, endings=True)
    assert runs.agent == {"origin": "given", "constants": {"bias": 0.7, "seen": 0}}
    assert runs.ended is not None
    for i in range(3):
        done = by_the_loop(domain, WANDERER, {"bias": 0.7}, i, steps=40)
        assert np.array_equal(runs.reward[i], done.rewards)
        assert np.flatnonzero(runs.ended[i]).tolist() == done.ended.tolist()
    assert len({tuple(row) for row in runs.reward.tolist()}) > 1


def test_runs_by_episodes_are_those_of_the_loop(mine: Path) -> None:
    domain = "mypackage.envs:mine/Corridor-v0"
    told: list[int] = []
    later: dict[str, Any] = {"runs": 2, "first_run": 1, "episodes": 6, "seed": 5, "threads": 2}
    runs = hreach.simulate(domain, "mypackage.agents:Silent", **later, progress=told.append)
    assert (runs.agent, sum(told)) == ({}, 2)
    assert runs.length is not None
    assert runs.terminated is not None
    for i in (0, 1):
        done = by_the_loop(domain, "mypackage.agents:Silent", {}, i + 1, episodes=6)
        assert runs.reward[i].tolist() == pytest.approx(done.episode_rewards.tolist())
        assert np.cumsum(runs.length[i]).tolist() == (done.ended + 1).tolist()
        assert runs.terminated[i].tolist() == done.terminated.tolist()
        assert runs.average_reward[i] == pytest.approx(done.average_reward)


def test_a_compiled_agent_in_an_environment_that_does_not_tell_its_truth_is_stepped(mine: Path) -> None:
    params = {"h": 2, "reward": "learn", "r_max": 1.0}
    for length in ({"steps": 60}, {"episodes": 3}):
        runs = hreach.simulate(CORRIDOR, "pac-rmdp", params, runs=2, seed=5, threads=1, **length)  # type: ignore[arg-type]
        for i in range(2):
            done = by_the_loop(CORRIDOR, "pac-rmdp", params, i, **length)
            assert runs.reward[i].sum() == pytest.approx(done.rewards.sum())


def test_a_formula_of_ones_own_is_simulated_compiled(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_processes(monkeypatch)
    runs = hreach.simulate("chain", "mypackage.formula:build", {"weight": 3.0}, runs=3, steps=200, seed=5)
    assert np.array_equal(runs.reward, hreach.simulate("chain", "beb", {"beta": 3.0}, runs=3, steps=200, seed=5).reward)
    assert np.array_equal(runs.reward[2], by_the_loop("chain", "beb", {"beta": 3.0}, 2, steps=200).rewards)


def test_an_environment_that_only_gymnasium_wrapped_is_simulated_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_processes(monkeypatch)
    wrapped = hreach.simulate("hreach/Chain-v0", "pac-rmdp", {"h": 8}, runs=2, steps=300)
    assert np.array_equal(wrapped.reward, hreach.simulate("chain", "pac-rmdp", {"h": 8}, runs=2, steps=300).reward)


def test_a_wrapper_that_changes_the_problem_is_not_looked_through() -> None:
    """The twin of the test above: what is paid and when episodes end is the wrapper's."""
    limited = {"max_episode_steps": 7}
    runs = hreach.simulate(
        "hreach/Chain-v0", "pac-rmdp", {"h": 8}, domain_params=limited, runs=2, steps=60, endings=True, threads=1
    )
    assert runs.ended is not None
    assert np.flatnonzero(runs.ended[0]).tolist() == list(range(6, 60, 7))
    doubled = gymnasium.wrappers.TransformReward(hreach.make_domain("chain"), lambda reward: 2 * float(reward))
    other = hreach.simulate(doubled, "pac-rmdp", {"h": 8}, runs=1, steps=60).reward
    assert np.array_equal(other, 2 * hreach.simulate("chain", "pac-rmdp", {"h": 8}, runs=1, steps=60).reward)


def test_objects_are_sent_by_name_where_they_have_one(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = hreach.simulate(envs().Corridor, agents().Wanderer, runs=2, steps=30, seed=5, threads=2)
    forbid_processes(monkeypatch)
    here = [
        hreach.simulate(envs().Corridor, lambda env, seed: agents().Wanderer(env, seed), runs=2, steps=30, seed=5),
        hreach.simulate(envs().Corridor(), WANDERER, runs=2, steps=30, seed=5),
        hreach.simulate(lambda: envs().Corridor(), WANDERER, runs=2, steps=30, seed=5),
    ]
    for runs in here:
        assert np.array_equal(runs.reward, named.reward)
    mdp = hreach.make_domain("chain").mdp()
    by_mdp = hreach.simulate(mdp, agents().Wanderer, runs=2, steps=30, seed=5)
    assert np.array_equal(by_mdp.reward[1], by_the_loop("chain", WANDERER, {}, 1, steps=30).rewards)


def test_only_what_another_process_finds_has_a_reference(mine: Path) -> None:
    assert reference("chain") == "chain"
    assert reference(agents().Wanderer) == WANDERER
    assert reference(hreach.make_agent) == "hreach.agents:make_agent"

    class Inside:
        pass

    moved = type("Moved", (), {"__module__": "mypackage.agents"})
    script = type("Script", (), {"__module__": "__main__"})
    for thing in (Inside, lambda env, seed: None, moved, script, agents().Wanderer(None)):
        assert reference(thing) is None


def test_parameters_that_are_no_data_stay_here(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_processes(monkeypatch)
    with pytest.raises(AssertionError, match="sent to a worker"):
        hreach.simulate(CORRIDOR, WANDERER, {"bias": [0.5, {"x": np.zeros(2)}]}, runs=2, steps=3)

    class Half:
        def __gt__(self, other: float) -> bool:
            return other < 0.5

    hreach.simulate(CORRIDOR, WANDERER, {"bias": Half()}, runs=2, steps=3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"steps": 3, "episodes": 2}, r"^episodes is 2, but must be left out where steps is given\.$"),
        ({"episodes": 0}, r"^episodes is 0"),
        ({"visits": True}, r"^visits is True, but must be left out for runs that are not compiled\.$"),
    ],
)
def test_simulate_refuses_what_does_not_go_together(given: dict[str, Any], message: str, mine: Path) -> None:
    with pytest.raises(InputError, match=message):
        hreach.simulate(CORRIDOR, WANDERER, runs=2, **given)


def test_an_environment_that_is_made_takes_no_parameters(mine: Path) -> None:
    with pytest.raises(InputError, match=r"^domain_params is {'length': 3}, but must be left out where the domain is"):
        hreach.simulate(envs().Corridor(), WANDERER, runs=2, steps=3, domain_params={"length": 3})


SCRIPT = """
import hreach
runs = hreach.simulate("{domain}", "{agent}", runs=3, steps=20, seed=5, threads=2)
print(runs.reward.sum())
"""


def test_a_script_without_a_guard_runs_once(mine: Path) -> None:
    (mine / "script.py").write_text(SCRIPT.format(domain=CORRIDOR, agent=WANDERER), encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=mine, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    expected = sum(by_the_loop(CORRIDOR, WANDERER, {}, i, steps=20).rewards.sum() for i in range(3))
    assert done.stdout == f"{expected}\n"


# --- studies -----------------------------------------------------------------

STUDY = """\
title = "Mine"
domain = "{domain}"
{length}
runs = 3
seed = 5
plugins = ["mypackage.envs"]

[[agent]]
agent = "mypackage.agents:Wanderer"
params = {{ bias = 0.7 }}

[[agent]]
agent = "pac-rmdp"
params = {{ h = 2, reward = "learn", r_max = 1.0 }}

[[agent]]
agent = "weighted"
params = {{ reward = "learn", r_max = 1.0 }}
"""


def written(folder: Path, domain: str, length: str) -> Path:
    path = folder / "study.toml"
    path.write_text(STUDY.format(domain=domain, length=length), encoding="utf-8")
    return path


def kept(results: list[tuple[Any, Result]]) -> list[Any]:
    return [[result.by, result.learning.total.tolist(), result.learning.length.tolist()] for _, result in results]


@pytest.mark.parametrize("domain", ["mine/Corridor-v0", CORRIDOR, "FrozenLake-v1", "chain"])
def test_a_study_by_steps_has_the_runs_of_the_loop(domain: str, mine: Path) -> None:
    study = load(written(mine, domain, "steps = 30"))
    results = run_study(study, Store(mine / "one"))
    with make_workers("processes", 2) as two:
        assert kept(run_study(study, Store(mine / "two"), workers=two)) == kept(results)
    for spec, result in results:
        cell = cell_of(study, spec)
        for i, total in enumerate(result.learning.total.tolist()):
            env_seed, agent_seed = (int(s) for s in hreach.run_seeds(cell.entropy, first=i, runs=1)[0])
            env = hreach.make_domain(domain)
            agent = hreach.make_agent(spec.agent, env, seed=agent_seed, **spec.params)
            assert total == np.cumsum(hreach.run(env, agent, 30, seed=env_seed).rewards).tolist()


@pytest.mark.parametrize("domain", ["mine/Corridor-v0", "FrozenLake-v1"])
def test_a_study_by_episodes_runs_on_tables(domain: str, mine: Path) -> None:
    study = load(written(mine, domain, "episodes = 4"))
    results = run_study(study, Store(mine / "one"))
    with make_workers("processes", 2) as two:
        assert kept(run_study(study, Store(mine / "two"), workers=two)) == kept(results)
    first = results[0][1]
    assert first.agent["constants"] == {"bias": 0.7, "seen": int(first.learning.length[0].sum())}
    for spec, result in results:
        assert (result.by, result.learning.total.shape, result.at.tolist()) == ("episodes", (3, 4), [1, 2, 3, 4])
        cell = cell_of(study, spec)
        env_seed, agent_seed = (int(s) for s in hreach.run_seeds(cell.entropy, first=2, runs=1)[0])
        env = hreach.make_domain(domain)
        agent = hreach.make_agent(spec.agent, env, seed=agent_seed, **spec.params)
        done = hreach.run(env, agent, episodes=4, seed=env_seed)
        assert result.learning.length[2].sum() == len(done.rewards)
        assert result.learning.terminated[2].tolist() == done.terminated.tolist()


def test_a_domain_that_never_ends_may_be_given_a_limit(mine: Path) -> None:
    text = STUDY.format(domain="hreach/Chain-v0", length="episodes = 2")
    (mine / "study.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"^study.toml, line 2: domain is 'hreach/Chain-v0', but must be one whose"):
        load(mine / "study.toml")
    limited = text.replace("seed = 5\n", "seed = 5\ndomain_params = { max_episode_steps = 5 }\n")
    (mine / "study.toml").write_text(limited, encoding="utf-8")
    (_, result), *_ = run_study(load(mine / "study.toml"), Store(mine / "out"), runs=1)
    assert result.learning.length.tolist() == [[5, 5]]


@pytest.mark.parametrize("where", ["agents", "envs"])
def test_results_of_other_source_are_not_found_and_seeds_stay(where: str, mine: Path) -> None:
    cell = Cell(CORRIDOR, {}, WANDERER, {"bias": 0.7}, steps=9, seed=1)
    before = cell.identity
    assert set(before["sources"]) == {"mypackage.agents", "mypackage.envs"}
    path = mine / "mypackage" / f"{where}.py"
    path.write_text(path.read_text("utf-8") + "\n# other\n", encoding="utf-8")
    again = replace(cell)
    assert again.id != cell.id
    assert again.entropy == cell.entropy


def test_defaults_of_ones_own_agent_need_not_be_written(mine: Path) -> None:
    plain = Cell(CORRIDOR, {}, WANDERER, {}, steps=9, seed=1)
    spelt = replace(plain, domain_params={"length": 4.0}, params={"bias": 0.5})
    assert (plain.id, plain.entropy) == (spelt.id, spelt.entropy)
    assert replace(plain, params={"bias": 0.6}).id != plain.id


def test_a_plugin_counts_and_those_of_hreach_have_no_source(mine: Path) -> None:
    cell = Cell("chain", {}, "pac-rmdp", {"h": 8}, steps=9, seed=1)
    assert "sources" not in cell.identity
    assert set(replace(cell, plugins=("mypackage.envs",)).identity["sources"]) == {"mypackage.envs"}
    assert replace(cell, plugins=("mypackage.envs",)).entropy == cell.entropy
    assert set(replace(cell, domain="FrozenLake-v1").identity["sources"]) == {"gymnasium.envs.toy_text.frozen_lake"}
    assert "sources" not in replace(cell, domain="hreach/Chain-v0").identity


# --- the command line --------------------------------------------------------


def test_a_study_of_ones_own_runs_from_the_folder_of_the_project(mine: Path) -> None:
    """As installed nowhere: the package is found in the current folder."""
    written(mine, "mine/Corridor-v0", "episodes = 3")
    text = (mine / "study.toml").read_text("utf-8").replace('"weighted"', '"mypackage.formula:build"')
    (mine / "study.toml").write_text(text, encoding="utf-8")
    script = Path(sys.executable).with_name("hreach")
    command = [str(script), "run", "study.toml", "--out", "out", "--jobs", "2"]
    done = subprocess.run(command, cwd=mine, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    with (mine / "out" / "tables" / "study.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["algorithm"] == "mypackage.agents:Wanderer(bias=0.7)"
    assert {row["runs"] for row in rows} == {"3"}
    (mine / "mypackage").rename(mine / "elsewhere")
    command = [str(script), "report", str(mine / "out")]
    again = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert again.returncode == 0, again.stderr


def test_list_marks_where_everything_comes_from(mine: Path) -> None:
    entries = json.loads(CliRunner().invoke(cli.app, ["list", "--json"]).stdout)
    origins = {kind: {line["name"]: line["from"] for line in lines} for kind, lines in entries.items()}
    assert (origins["agents"]["pac-rmdp"], origins["agents"]["wanderer"]) == ("hreach", "mypackage 1.5")
    assert (origins["domains"]["chain"], origins["domains"]["corridor"]) == ("hreach", "mypackage 1.5")
    assert set(origins["studies"].values()) == {"hreach"}
    assert origins["agents"]["bolt"] == "hreach"
    shown = CliRunner().invoke(cli.app, ["list"]).stdout
    assert "mypackage.agents:Wanderer  [mypackage 1.5]\n" in shown
    assert "mypackage.agents" not in sys.modules


def test_without_other_distributions_everything_is_ours() -> None:
    assert {line["from"] for lines in everything().values() for line in lines} == {"hreach"}


# --- models and planners --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [{"model": "mypackage.parts:Twice"}, {"planner": "mypackage.parts:Lazy"}])
def test_a_model_or_planner_of_another_project_runs_and_is_not_taken_for_ours(mine: Path, part: dict[str, str]) -> None:
    """Runs are those of the loop, other ones than with our own part, which the kernels would have run."""
    params = {"h": 2, **part}
    many = hreach.simulate("riverswim", "pac-rmdp", params, runs=2, steps=200, seed=3)
    env = hreach.make_domain("riverswim")
    for i in range(2):
        env_seed, agent_seed = (int(s) for s in hreach.run_seeds(3, first=i, runs=1)[0])
        agent = hreach.make_agent("pac-rmdp", env, seed=agent_seed, **params)
        assert not simulation.is_compiled(agent)
        one = hreach.run(env, agent, 200, seed=env_seed)
        np.testing.assert_array_equal(many.reward[i], one.rewards)
    ours = hreach.simulate("riverswim", "pac-rmdp", {"h": 2}, runs=2, steps=200, seed=3)
    assert not np.array_equal(many.reward, ours.reward)


def test_the_source_of_a_named_model_is_part_of_a_cell(mine: Path) -> None:
    one = Cell("chain", {}, "pac-rmdp", {"h": 2, "model": "mypackage.parts:Twice"}, 10, 0)
    assert set(one.identity["sources"]) == {"mypackage.parts"}
    assert "sources" not in Cell("chain", {}, "pac-rmdp", {"h": 2, "model": "counts"}, 10, 0).identity


def test_an_unknown_model_or_planner_is_refused_with_the_nearest(mine: Path) -> None:
    env = hreach.make_domain("chain")
    with pytest.raises(InputError, match=r"^model is 'count'.*did you mean 'counts'"):
        hreach.make_agent("pac-rmdp", env, h=1, model="count")
    with pytest.raises(InputError, match=r"^planner is 'sweep'.*did you mean 'sweeps'"):
        hreach.make_agent("pac-rmdp", env, h=1, planner="sweep")


def test_agents_of_a_table_that_the_kernels_do_not_know_can_have_final_episodes(mine: Path, tmp_path: Path) -> None:
    """And so can those that they know: every agent has a certainty-equivalent copy."""
    text = f'''
title = "corridor"
domain = "{CORRIDOR}"
episodes = 12
final_episodes = 2
runs = 2
seed = 1

[[agent]]
agent = "pac-rmdp"
params = {{ h = 2, reward = "learn", r_max = 1.0 }}
'''
    path = tmp_path / "study.toml"
    path.write_text(text)
    [(_, result)] = run_study(load(path), Store(tmp_path / "out"))
    assert result.final.total.shape == (2, 2)
    assert (result.final.total == 1.0).all()
