"""Studies by episodes: what is kept is what happened, whoever computed it; bad files are refused with their line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

import hreach
from hreach import InputError
from hreach.running.executors.inline import Inline
from hreach.running.simulate import Setting
from hreach.studies import checking, stepped, work
from hreach.studies.grid import Cell, cell_of
from hreach.studies.loading import load, load_catalog
from hreach.studies.results import Episode, Phase, Result
from hreach.studies.runner import run_study
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.stepped import run_stepped
from hreach.studies.store import Store
from hreach.studies.workers import Workers, make_workers

RMDP = AgentSpec(agent="linear-pac-rmdp", params={"h": 1})
GREEDY = AgentSpec(agent="linear-epsilon-greedy", params={"epsilon": 0.3})
STUDY = Study(
    title="T",
    domain="mountain-car",
    domain_params={"max_steps": 30},
    episodes=3,
    runs=3,
    seed=3,
    settings={"grid": [6, 6]},
    agent=[RMDP, GREEDY],
)
Rows = list[tuple[AgentSpec, Result]]


def changed(study: Study, **fields: Any) -> Study:
    return study.model_copy(update=fields)


def kept(results: Rows) -> list[list[Any]]:
    """Everything of the results that is data."""
    return [[p.tolist() for e in (r.learning, r.final) for p in e.__dict__.values()] for _, r in results]


def goal_in(steps: int, total: int) -> Any:
    """A car that reaches the goal in so many steps, whatever it does, or runs out of time."""
    start = 0.5 - 0.07 * steps + 0.01
    return {"start": [start, 0.07], "gravity": 0.0, "power": 0.0, "noise": 1e-9, "max_steps": total}


# --- one run -----------------------------------------------------------------


class Countdown:
    """An environment of two kinds of episodes: odd ones end after 2 steps at a goal, even ones after 3 without."""

    episode_figure = None

    def __init__(self) -> None:
        self.seeds: list[int | None] = []
        self.episode = self.steps = 0

    def reset(self, *, seed: int | None = None) -> tuple[NDArray[np.float64], dict[str, Any]]:
        self.seeds.append(seed)
        self.episode = 1 if seed is not None else self.episode + 1
        self.steps = 0
        return np.array([float(self.episode), 0.0]), {}

    def step(self, action: int) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        self.steps += 1
        odd = self.episode % 2 == 1
        state = np.array([float(self.episode), float(self.steps)])
        return state, float(10 * self.episode + self.steps), odd and self.steps == 2, self.steps == 3, {}


class Learner:
    """Acts 1 while it learns, and its certainty-equivalent copy 2."""

    def __init__(self, seed: int, action: int = 1) -> None:
        self.seed, self.action, self.seen = seed, action, 0

    def act(self, state: NDArray[np.float64]) -> int:
        return self.action

    def observe(self, *sample: Any) -> None:
        self.seen += 1

    def describe(self) -> dict[str, Any]:
        return {"origin": "given", "constants": {"seen": self.seen, "seed": self.seed}}

    def certainty_equivalent(self) -> Learner:
        return Learner(0, action=2)


@pytest.fixture
def countdown(monkeypatch: pytest.MonkeyPatch) -> Countdown:
    env = Countdown()
    monkeypatch.setattr(Setting, "environment", lambda self: env)
    monkeypatch.setattr(stepped, "make_agent", lambda *args, seed, **params: Learner(seed))
    return env


def any_run(episodes: int, final: int, number: int) -> Result:
    return run_stepped(Setting("any", {}, "any", {}, None, episodes), final, [1, 2], number)


def test_a_run_keeps_total_length_and_end_of_each_episode(countdown: Countdown) -> None:
    done = any_run(3, 0, 0)
    assert (done.by, done.at.tolist()) == ("episodes", [1, 2, 3])
    assert done.learning.total.tolist() == [[11 + 12, 21 + 22 + 23, 31 + 32]]
    assert done.learning.length.tolist() == [[2, 3, 2]]
    assert done.learning.terminated.tolist() == [[True, False, True]]
    assert done.average_reward.tolist() == [[23 / 2, 89 / 5, 152 / 7]]
    assert done.final.total.shape == (1, 0)
    assert done.last is None


def test_final_episodes_are_of_the_certainty_equivalent_and_the_learner_does_not_see_them(countdown: Countdown) -> None:
    done = any_run(3, 2, 0)
    assert done.agent["constants"]["seen"] == 7
    assert done.final.total.tolist() == [[23, 66]]
    assert done.final.terminated.tolist() == [[True, False]]
    assert done.last is not None
    assert done.last.states.tolist() == [[2, 0], [2, 1], [2, 2], [2, 3]]
    assert done.last.actions.tolist() == [2, 2, 2]
    assert done.last.rewards.tolist() == [21, 22, 23]


def test_a_single_final_episode_is_the_last_one(countdown: Countdown) -> None:
    done = any_run(1, 1, 0)
    assert done.last is not None
    assert done.last.states.tolist() == [[1, 0], [1, 1], [1, 2]]


def test_seeds_are_those_of_the_run_and_differ_in_the_final_episodes(countdown: Countdown) -> None:
    done = any_run(2, 1, 5)
    env_seed, agent_seed = (int(s) for s in hreach.run_seeds([1, 2], first=5, runs=1)[0])
    given = [seed for seed in countdown.seeds if seed is not None]
    assert given[0] == env_seed
    assert len(set(given)) == 2
    assert done.agent["constants"]["seed"] == agent_seed


def test_a_run_is_what_the_loop_does_with_the_same_seeds() -> None:
    cell = cell_of(STUDY, RMDP)
    done = run_stepped(cell.setting, 0, cell.entropy, 2)
    env_seed, agent_seed = (int(s) for s in hreach.run_seeds(cell.entropy, first=2, runs=1)[0])
    env = hreach.make_domain("mountain-car", max_steps=30)
    agent = hreach.make_agent("linear-pac-rmdp", env, seed=agent_seed, h=1, grid=[6, 6])
    run = hreach.run(env, agent, episodes=3, seed=env_seed)
    np.testing.assert_allclose(done.learning.total[0], run.episode_rewards, atol=1e-9)
    assert done.learning.length.sum() == len(run.rewards)


def test_reaching_the_goal_is_told_from_running_out_of_time() -> None:
    def ends(limit: int) -> tuple[list[bool], list[int]]:
        setting = Setting("mountain-car", goal_in(4, limit), "linear-epsilon-greedy", {"grid": [6, 6]}, None, 2)
        done = run_stepped(setting, 0, [0], 0)
        return done.learning.terminated[0].tolist(), done.learning.length[0].tolist()

    assert ends(3) == ([False, False], [3, 3])
    assert ends(4) == ([True, True], [4, 4])
    assert ends(9) == ([True, True], [4, 4])


# --- cells -------------------------------------------------------------------

CELL = cell_of(STUDY, RMDP)


@pytest.mark.parametrize(
    "fields", [{"episodes": 4}, {"final_episodes": 1}, {"seed": 4}, {"steps": 3, "episodes": None}]
)
def test_the_id_depends_on_the_number_of_episodes(fields: dict[str, Any]) -> None:
    assert cell_of(changed(STUDY, **fields), RMDP).id != CELL.id


def test_a_longer_study_begins_with_the_shorter_one(tmp_path: Path) -> None:
    short, long = (run_study(changed(STUDY, episodes=n), Store(tmp_path)) for n in (2, 3))
    for (_, first), (_, second) in zip(short, long, strict=True):
        assert first.learning.total.tolist() == second.learning.total[:, :2].tolist()


# --- the store ---------------------------------------------------------------


def some_run(number: int, final: int = 0) -> Result:
    rng = np.random.default_rng(number)

    def some(count: int) -> Phase:
        shape = (1, count)
        return Phase(rng.normal(size=shape) * 1e11, rng.integers(1, 9, size=shape), rng.random(shape) < 0.5)

    last = Episode(rng.normal(size=(4, 2)), np.array([0, 2, 1]), rng.normal(size=3)) if final else None
    about = {"origin": "given", "constants": {"slope": float(number)}}
    return Result("episodes", np.arange(1, 4), some(3), some(final), about, last)


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), [some_run(i, final=2) for i in range(3)]
    for number in (2, 0, 1):
        store.write(CELL, number, runs[number])
    result = store.read(CELL.id, 3)
    for phase in ("learning", "final"):
        for name in ("total", "length", "terminated"):
            expected = np.concatenate([getattr(getattr(run, phase), name) for run in runs])
            read = getattr(getattr(result, phase), name)
            assert (read.tolist(), read.dtype) == (expected.tolist(), expected.dtype)
    assert result.runs == 3
    assert result.agent["constants"] == {"slope": 0.0}
    assert result.last is not None
    assert runs[0].last is not None
    for name, values in runs[0].last.__dict__.items():
        assert getattr(result.last, name).tolist() == values.tolist()


def test_runs_without_final_episodes_have_none(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(CELL, 0, some_run(0))
    result = store.read(CELL.id, 1)
    assert result.final.total.shape == (1, 0)
    assert result.last is None


def shard_of(folder: Path, runs: str) -> Path:
    (found,) = (folder / "shards" / CELL.id).glob(f"{runs}-*.parquet")
    return found


def test_a_shard_tells_its_cell_its_phases_and_only_of_run_0_the_last_episode(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number in (0, 7):
        store.write(CELL, number, some_run(number, final=1))
    tables = [pq.read_table(shard_of(tmp_path, runs)) for runs in ("0-1", "7-8")]
    about = [json.loads(table.schema.metadata[b"hreach"]) for table in tables]
    assert about[0]["cell"] == CELL.identity
    assert ["last" in each for each in about] == [True, False]
    assert tables[1].column_names == ["run", "phase", "at", "total_reward", "length", "terminated"]
    assert tables[1]["run"].to_pylist() == [7] * 4
    assert tables[1]["phase"].to_pylist() == ["learning"] * 3 + ["final"]
    assert tables[1]["at"].to_pylist() == [1, 2, 3, 1]


def test_runs_that_are_not_there_cannot_be_read(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(CELL, 0, some_run(0))
    store.write(CELL, 2, some_run(2))
    with pytest.raises(InputError, match=r"^runs is 3, but the store holds fewer runs of cell '\w{16}'"):
        store.read(CELL.id, 3)


# --- running -----------------------------------------------------------------


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The study run in one process."""
    return run_study(STUDY, Store(tmp_path_factory.mktemp("alone")))


def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """(agent, number) of every run from now on."""
    calls: list[tuple[str, int]] = []

    def run_and_note(setting: Setting, final_episodes: int, entropy: list[int], number: int, *rest: Any) -> Result:
        calls.append((setting.agent, number))
        return run_stepped(setting, final_episodes, entropy, number, *rest)

    monkeypatch.setattr(work, "run_stepped", run_and_note)
    return calls


def test_results_do_not_depend_on_the_number_of_workers(alone: Rows, tmp_path: Path) -> None:
    with make_workers("processes", 2) as two:
        assert kept(run_study(STUDY, Store(tmp_path), workers=two)) == kept(alone)


def test_rows_differ_and_so_do_runs(alone: Rows) -> None:
    """The twin of the test above: were everything equal, nothing would have been compared."""
    first, second = (result.learning.total for _, result in alone)
    assert len({tuple(row) for row in (*first, *second)}) == 6


def test_a_study_is_gone_on_with_where_it_stopped(alone: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_study(changed(STUDY, agent=[RMDP]), Store(tmp_path), runs=2)
    shard_of(tmp_path, "0-1").unlink()
    calls = counted(monkeypatch)
    assert kept(run_study(STUDY, Store(tmp_path))) == kept(alone)
    greedy = [("linear-epsilon-greedy", i) for i in range(3)]
    assert calls == [("linear-pac-rmdp", 0), ("linear-pac-rmdp", 2), *greedy]
    assert kept(run_study(STUDY, Store(tmp_path), runs=2)) != kept(alone)
    assert len(calls) == 5


def test_rows_that_ask_for_the_same_thing_are_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    twin = RMDP.model_copy(update={"algorithm": "twin", "reference": True})
    results = run_study(changed(STUDY, agent=[RMDP, twin]), Store(tmp_path), runs=2)
    assert len(calls) == 2
    assert kept(results)[0] == kept(results)[1]


class Diary:
    """A watch that remembers."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def begin(self, spec: AgentSpec, runs: int) -> Callable[[int], None]:
        self.told.append((spec.agent, runs))
        return self.told.append

    def end(self, spec: AgentSpec, result: Result) -> None:
        self.told.append(("whole", spec.agent, result.runs))

    def failed(self, spec: AgentSpec, runs: tuple[int, int], why: str) -> None:
        raise AssertionError(why)

    def note(self, spec: AgentSpec, text: str) -> None:
        raise AssertionError(text)


def test_a_watch_is_told_of_what_is_left_and_of_every_row(tmp_path: Path) -> None:
    run_study(STUDY, Store(tmp_path), runs=1)
    diary = Diary()
    run_study(STUDY, Store(tmp_path), watch=diary)
    one, other = "linear-pac-rmdp", "linear-epsilon-greedy"
    assert diary.told == [(one, 2), (other, 2), 1, 1, ("whole", one, 3), 1, 1, ("whole", other, 3)]


class Scrambled(Inline):
    """Tasks that finish in the opposite order."""

    def run(self, function: Callable[..., Any], tasks: Any) -> Iterator[tuple[int, Any]]:
        yield from reversed([(i, function(*task)) for i, task in enumerate(tasks)])


def test_results_do_not_depend_on_which_run_finishes_first(alone: Rows, tmp_path: Path) -> None:
    diary = Diary()
    scrambled = Workers(Scrambled(), Scrambled())
    assert kept(run_study(STUDY, Store(tmp_path), workers=scrambled, watch=diary)) == kept(alone)
    # All of the second row were there before the first of the first.
    one, other = "linear-pac-rmdp", "linear-epsilon-greedy"
    assert diary.told == [(one, 3), (other, 3), 1, 1, 1, ("whole", other, 3), 1, 1, 1, ("whole", one, 3)]


# --- the file ----------------------------------------------------------------

VALID = """\
title = "T"
domain = "mountain-car"
domain_params = { max_steps = 30 }
episodes = 3
runs = 2
seed = 4
scale = "linear"

[settings]
grid = [6, 6]

[[agent]]
agent = "linear-pac-rmdp"
params = { h = 1 }
algorithm = "A"
variant = "x"

[[agent]]
agent = "linear-epsilon-greedy"
algorithm = "B"
variant = "x"
reference = true

[[agent]]
agent = "linear-epsilon-greedy"
params = { epsilon = 0.2 }
algorithm = "C"
variant = "y"

[[claim]]
text = "A is better"
source = "here"
kind = "greater"
statistic = "total"
algorithm = "A"
than = "B"

[[claim]]
text = "C is good"
kind = "at least"
statistic = "goals"
algorithm = ["C"]
than = 1
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_valid_study_loads_with_everything_in_it(tmp_path: Path) -> None:
    study = load(written(tmp_path, VALID))
    assert (study.steps, study.episodes, study.final_episodes, study.scale) == (None, 3, 0, "linear")
    assert [spec.reference for spec in study.agent] == [False, True, False]
    first, second = study.claim
    assert (first.algorithms, first.rivals, first.times, first.source) == (["A"], ["B"], 1, "here")
    assert (second.algorithms, second.rivals, second.than) == (["C"], [], 1)
    assert (first.ours, second.ours) == (False, True)
    assert [study.variants_with(claim) for claim in study.claim] == [["x"], ["y"]]


WRONG = [
    # what stands in the valid study, what stands there instead, what the sentence must contain
    ("episodes = 3", "episodes = 0", ["episodes is 0", "greater than or equal to 1"]),
    ("episodes = 3", "steps = 4\nepisodes = 3", ["episodes is 3", "left out where steps is given"]),
    ("seed = 4", "seed = 4\nfinal_episodes = -1", ["final_episodes is -1"]),
    ("seed = 4", 'seed = 4\nprinted = "chain.csv"', ["printed is 'chain.csv'", "left out"]),
    ('scale = "linear"', 'scale = "cubic"', ["scale is 'cubic'", "'linear' or 'log'"]),
    ("reference = true", "reference = 1", ["agent[1].reference is 1", "boolean"]),
    ("reference = true", "picture = true", ["picture is True", "left out without final_episodes"]),
    ("{ h = 1 }", "{ h = -1 }", ["h is -1"]),
    ("{ h = 1 }", '{ h = 1, features = { kind = "rbf" } }', ["'rbf'"]),
    ("{ h = 1 }", "{ h = 1, seed = 3 }", ["'seed'"]),
    ("grid = [6, 6]", "grid = [6, 6]\nrigde = 1", ["'rigde'", "did you mean 'ridge'?"]),
    ("{ epsilon = 0.2 }", "{ epsilon = 2 }", ["epsilon is 2", "probability"]),
    ('agent = "linear-pac-rmdp"', 'agent = "linear-pac-rdmp"', ["did you mean 'linear-pac-rmdp'?"]),
    ('kind = "greater"', 'kind = "grater"', ["claim[0].kind is 'grater'", "'less', 'greater', 'best'"]),
    ('statistic = "goals"', 'statistic = "gaols"', ["claim[1].statistic is 'gaols'", "'goals'"]),
    ('statistic = "goals"', 'statistic = "final"', ["statistic is 'final'", "no final_episodes"]),
    ('than = "B"', 'than = "D"', ["than is 'D'", "known: A, B, C"]),
    ('than = "B"', "than = []", ["than is []", "a label, a list of labels or a number"]),
    ('than = "B"', "than = nan", ["than is nan", "a number"]),
    ('than = "B"', "than = true", ["than is True", "a number"]),
    ('than = "B"', 'than = "A"', ["than is 'A'", "other algorithms"]),
    ('than = "B"', 'than = "B"\ntimes = 0', ["claim[0].times is 0", "greater than 0"]),
    ('than = "B"', 'than = "B"\ntime = 2', ["claim[0]", "'time'", "did you mean 'times'?"]),
    ("than = 1", "than = 1\ntimes = 2", ["times is 2", "left out where `than` is a number"]),
    ("than = 1", 'than = 1\nbecause = "so"', ["because is 'so'", "left out without `possible`"]),
    ("than = 1", "than = 1\npossible = [0.0, 3.0]", ["because is ''", "the reason"]),
    ("than = 1", 'than = 1\nbecause = "so"\npossible = [3.0, 0.0]', ["possible is [3.0, 0.0]", "two numbers"]),
    ("than = 1", 'than = 1\nbecause = "so"\npossible = [0.0]', ["possible is [0.0]", "two numbers"]),
    ('than = "B"', 'than = "B"\nbecause = "so"\npossible = [0.0, 3.0]', ["possible is", "`than` is no number"]),
    ("than = 1", 'than = "A"', ["'C'", "in one variant"]),
    ("than = 1", 'than = "B"', ["in one variant"]),
    ('algorithm = ["C"]', "algorithm = 5", ["algorithm is 5", "a label or a list of labels"]),
    ('algorithm = ["C"]', 'algorithm = ["C", "D"]', ["algorithm is 'D'", "known: A, B, C"]),
]


@pytest.mark.parametrize(("old", "new", "words"), WRONG)
def test_a_mistake_is_named_with_its_file_and_line(old: str, new: str, words: list[str], tmp_path: Path) -> None:
    assert VALID.count(old) == 1
    text = VALID.replace(old, new)
    with pytest.raises(InputError) as caught:
        load(written(tmp_path, text))
    message = str(caught.value)
    assert [word for word in words if word not in message] == []
    # A claim whose rows do not meet is blamed on the line of its algorithm.
    blamed = 'algorithm = ["C"]' if "in one variant" in words else new.splitlines()[-1]
    (line,) = (n for n, content in enumerate(text.split("\n"), start=1) if blamed in content)
    assert message.startswith(f"wrong.toml, line {line}: ")
    assert "\n" not in message
    assert message.endswith(".")


def test_a_claim_that_compares_every_run_needs_a_number(tmp_path: Path) -> None:
    text = VALID.replace('kind = "greater"', 'kind = "at most"')
    with pytest.raises(InputError, match=r"than is 'B', but must be a number where kind is 'at most'\.$"):
        load(written(tmp_path, text))


def test_a_claim_to_be_best_needs_somebody_else(tmp_path: Path) -> None:
    text = VALID.replace('kind = "greater"', 'kind = "best"').replace('than = "B"\n', "")
    with pytest.raises(InputError, match=r"^wrong.toml, line \d+: than is None, but must be given where `algorithm`"):
        load(written(tmp_path, text))
    assert load(written(tmp_path, text.replace("reference = true\n", ""))).claim[0].kind == "best"


def test_a_study_of_references_only_is_refused(tmp_path: Path) -> None:
    text = VALID.replace('variant = "x"\n\n', 'variant = "x"\nreference = true\n\n')
    text = text.replace('variant = "y"\n', 'variant = "y"\nreference = true\n')
    with pytest.raises(InputError, match="reference is True, but must be left out for at least one agent"):
        load(written(tmp_path, text))


def test_a_claim_about_a_label_of_two_rows_is_refused(tmp_path: Path) -> None:
    text = VALID.replace('algorithm = "B"\nvariant', 'algorithm = "A"\nvariant').replace('than = "B"', "than = 3")
    with pytest.raises(InputError, match=r"algorithm is 'A', but must be about rows .* 'A' is the label of two\.$"):
        load(written(tmp_path, text))


@pytest.mark.parametrize("line", ["final_episodes = 1", 'scale = "log"', "reference = true", "picture = false"])
def test_what_is_for_episodes_is_refused_with_steps(line: str, tmp_path: Path) -> None:
    text = 'title = "T"\ndomain = "chain"\nsteps = 5\nruns = 2\nseed = 1\n\n[[agent]]\nagent = "greedy"\n'
    where = "seed = 1\n" if "episodes" in line or "scale" in line else 'agent = "greedy"\n'
    text = text.replace(where, where + line + "\n")
    with pytest.raises(InputError, match=rf"^wrong.toml, line \d+: {line.split()[0]} is given, but must be left out"):
        load(written(tmp_path, text))


def test_a_domain_whose_episodes_never_end_is_refused(tmp_path: Path) -> None:
    text = 'title = "T"\ndomain = "chain"\nepisodes = 5\nruns = 2\nseed = 1\n\n[[agent]]\nagent = "greedy"\n'
    with pytest.raises(InputError, match=r"^wrong.toml, line 2: domain is 'chain', but must be one whose episodes end"):
        load(written(tmp_path, text))


def test_an_agent_that_must_explore_cannot_have_final_episodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "make_agent", lambda *args, **params: object())
    text = VALID.replace("seed = 4", "seed = 4\nfinal_episodes = 2")
    with pytest.raises(
        InputError, match=r"^wrong.toml, line 14: agent is 'linear-pac-rmdp', but must have a certainty"
    ):
        load(written(tmp_path, text))


# --- Figure 2 ----------------------------------------------------------------


def test_figure_2_has_nine_algorithms_in_two_variants() -> None:
    study = load_catalog("mountain-car")
    assert (study.domain, study.episodes, study.runs) == ("mountain-car", 100, 10)
    labels = {variant: [spec.label for spec in rows] for variant, rows in study.variants.items()}
    assert list(labels) == ["as printed", "hreach defaults"]
    assert labels["as printed"] == labels["hreach defaults"]
    assert len(labels["as printed"]) == 9


def test_the_defaults_set_no_constant_by_hand() -> None:
    for spec in load_catalog("mountain-car").variants["hreach defaults"]:
        assert set(spec.params) <= {"h", "epsilon"}


def test_every_claim_of_figure_2_is_judged_in_both_variants() -> None:
    study = load_catalog("mountain-car")
    assert len(study.claim) >= 6
    assert all(len(study.variants_with(claim)) == 2 for claim in study.claim)


def test_a_cell_of_figure_2_is_found_under_its_own_name() -> None:
    study = load_catalog("mountain-car")
    cells: list[Cell] = [cell_of(study, spec) for spec in study.agent]
    assert len({cell.id for cell in cells}) == 18


# --- references --------------------------------------------------------------


def test_a_reference_has_its_own_number_of_episodes_and_no_final_ones() -> None:
    study = changed(STUDY, episodes=7, final_episodes=2)
    reference = GREEDY.model_copy(update={"reference": True, "episodes": 4})
    assert (cell_of(study, RMDP).episodes, cell_of(study, RMDP).final_episodes) == (7, 2)
    assert (cell_of(study, reference).episodes, cell_of(study, reference).final_episodes) == (4, 0)


def test_only_a_reference_may_have_episodes_of_its_own(tmp_path: Path) -> None:
    text = VALID.replace("reference = true\n", "reference = true\nepisodes = 2\n")
    assert [spec.episodes for spec in load(written(tmp_path, text)).agent] == [None, 2, None]
    text = VALID.replace("reference = true\n", "episodes = 2\n")
    with pytest.raises(InputError, match="episodes is 2, but must be left out of an agent that is no reference"):
        load(written(tmp_path, text))


def test_figure_3_has_the_same_algorithms_and_references_in_two_variants() -> None:
    study = load_catalog("hiv")
    labels = {variant: [(s.label, s.reference) for s in rows] for variant, rows in study.variants.items()}
    assert list(labels) == ["as printed", "hreach defaults"]
    first, second = labels.values()
    assert first == second
    assert sum(not reference for _, reference in first) == 9
    assert [s.label for s in study.agent if s.picture] == ["PAC-RMDP(1)"]
    for spec in study.variants["hreach defaults"]:
        assert len(spec.params) == 1
    for claim in study.claim:
        assert study.variants_with(claim) == list(labels)
