"""A log is counted as if its rows were told one by one; a bad row is named and counted nowhere."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hreach
from helpers import succeed
from hreach import InputError
from hreach.agents.files import load_agent, read_agent
from hreach.guarantees.limits import gain_terms, loss_terms
from hreach.journal.journal import END, Journal
from hreach.journal.tally import Row, Tally
from hreach.logs import reading
from hreach.logs.learning import BadRowsError, Learnt
from hreach.planners.robust import Robust

HEADER = "state,action,reward,next,done"
ACTIONS = ["low", "medium", "high"]


def rows_of(n: int, seed: int = 0) -> list[tuple[str, str, float, str, bool]]:
    """Rows of a small process; some end an episode without a next state."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        s, a = int(rng.integers(5)), int(rng.integers(3))
        t, over = (s + a + int(rng.integers(2))) % 5, bool(rng.random() < 0.1)
        named = "" if over and rng.random() < 0.5 else f"room {t}"
        found.append((f"room {s}", ACTIONS[a], float(rng.normal()), named, over))
    return found


def write_csv(path: Path, rows: list[tuple[Any, ...]], header: str = HEADER) -> Path:
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(header.split(","))
    writer.writerows(rows)
    path.write_bytes(file.getvalue().encode())
    return path


def told(rows: list[tuple[str, str, float, str, bool]]) -> Tally:
    """The oracle: each row told by itself, in order."""
    actions: dict[str, int] = {}
    plain: list[Row] = []
    for s, a, r, t, over in rows:
        plain.append((s, actions.setdefault(a, len(actions)), r, t or END, int(over)))
    tally = Tally()
    tally.add(plain)
    return tally


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a short log has many chunks."""
    monkeypatch.setattr(reading, "_BLOCK", 1 << 10)
    monkeypatch.setattr(reading, "_ROWS", 50)


@pytest.mark.usefixtures("small_blocks")
def test_a_log_is_counted_as_if_told_row_by_row(tmp_path: Path) -> None:
    rows = rows_of(2000)
    path, oracle = write_csv(tmp_path / "log.csv", rows), told(rows)
    packed = tmp_path / "log.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    columns = dict(zip(HEADER.split(","), map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    coded = pa.table({**columns, "state": pa.array(columns["state"]).dictionary_encode()})
    pq.write_table(coded, tmp_path / "coded.parquet")
    for log in (path, packed, tmp_path / "log.parquet", tmp_path / "coded.parquet"):
        found = hreach.learn(log, terminated="done")
        assert found.tally.to_bytes() == oracle.to_bytes(), log
        assert found.tally.names == oracle.names
        assert (found.rows, found.bad_rows, found.tally.samples) == (2000, 0, 2000)
    shuffled = hreach.learn(write_csv(tmp_path / "other.csv", rows[::-1]), terminated="done")
    assert shuffled.tally.to_bytes() != oracle.to_bytes()  # the order is part of what is compared


BAD = [
    ("x,low,1", "has 3 values, but the header has 5"),
    ("x,low,1,y,false,extra", "has 6 values, but the header has 5"),
    ("", "state is missing"),
    (",low,1,y,false", "state is missing"),
    ("x,,1,y,false", "action is missing"),
    ("x,sideways,1,y,false", "action is 'sideways', which is no action"),
    ("x,low,much,y,false", "reward is 'much', but must be a number"),
    ("x,low,nan,y,false", "reward is 'nan', but must be a finite number"),
    ("x,low,inf,y,false", "reward is 'inf', but must be a finite number"),
    ("x,low,1_000,y,false", "reward is '1_000', but must be a number"),
    ("x,low,99,y,false", "reward is 99, but must be within [-10, 10]"),
    ("x,low,,y,false", "reward is missing"),
    ("x,low,1,,false", "next is missing"),
    ("x,low,1,y,maybe", "done is 'maybe', but must be true or false (or 1 or 0)"),
    ("x,low,1,y,", "done is missing"),
    ("x\t1,low,1,y,false", "state is 'x\\t1', but must be one line of letters"),
]  # fmt: skip


@pytest.mark.usefixtures("small_blocks")
def test_bad_rows_are_named_by_line_and_left_out(tmp_path: Path) -> None:
    good = rows_of(len(BAD) * 40, seed=2)
    lines, expected = [HEADER], {}
    for i, row in enumerate(good):
        if i % 40 == 17:
            bad, why = BAD[i // 40]
            lines.append(bad)
            expected[len(lines)] = why
        lines.append(",".join(map(str, row)))
    lines.append("x,low,\xff,y,false")
    expected[len(lines)] = "reward is b'\\xff', but must be a number"
    path = tmp_path / "log.csv"
    path.write_bytes("\n".join(lines).encode("latin-1"))
    given: dict[str, Any] = {"terminated": "done", "actions": ACTIONS, "r_min": -10, "r_max": 10}
    with pytest.raises(BadRowsError, match=f"log.csv has {len(expected)} bad of {len(lines) - 1} rows, but") as failed:
        hreach.learn(path, **given)
    assert {bad.line: bad.why for bad in failed.value.bad} == expected
    found = hreach.learn(path, skip_bad=True, **given)
    assert (found.bad_rows, found.rows) == (len(expected), len(lines) - 1)
    assert dict(found.bad) == expected
    oracle = hreach.learn(write_csv(tmp_path / "good.csv", good), **given)
    assert found.tally.to_bytes() == oracle.tally.to_bytes()
    assert any(f"{len(expected)} bad rows were left out" in line for line in found.certificate.assumes)
    assert not any("left out" in line for line in oracle.certificate.assumes)


def test_a_name_that_is_no_text_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(b"state,action,reward,next\n\xff,a,1,y\nx,a,1,\xff\nx,a,1,y\n")
    found = hreach.learn(path, skip_bad=True)
    assert [tuple(bad) for bad in found.bad] == [
        (2, "state is b'\\xff', but must be UTF-8"),
        (3, "next is b'\\xff', but must be UTF-8"),
    ]


def test_several_columns_are_one_state_and_numbers_go_into_bins(tmp_path: Path) -> None:
    rows = [("a", -1.0, "go", 1.0, "b", 0.0), ("b", 4.9, "go", 2.0, "a", 5.0), ("a", 5, "stay", 3.0, "a", 1e9)]
    path = write_csv(tmp_path / "log.csv", rows, "room,speed,action,reward,room2,speed2")
    found = hreach.learn(path, state="room,speed", next=["room2", "speed2"], bins={"speed": [0, 5]})
    assert found.states == ["a|..0", "b|0..5", "a|5.."]
    assert sorted(found.tally.moves) == [(0, 0, 1), (1, 0, 2), (2, 1, 2)]
    bad = [("a|b", 1, "go", 1.0, "b", 1), ("a", "fast", "go", 1.0, "b", 1), ("a", 1, "go", 1.0, "b", "")]
    path = write_csv(tmp_path / "bad.csv", [*rows, *bad], "room,speed,action,reward,room2,speed2")
    found = hreach.learn(path, state="room,speed", next="room2,speed2", bins={"speed": [0, 5]}, skip_bad=True)
    assert [tuple(each) for each in found.bad] == [
        (5, "room is 'a|b', but must be without |, which joins columns"),
        (6, "speed is 'fast', but must be a number"),
        (7, "speed2 is missing"),
    ]
    assert found.tally.samples == 3


def test_numbers_of_a_typed_file_are_names_too(tmp_path: Path) -> None:
    table = pa.table(
        {"state": [1.0, 2.0, None, 1.0], "action": [0, 1, 1, 1], "reward": [1, 2, 3, None], "next": [2, 1, 1, 1]}
    )
    pq.write_table(table, tmp_path / "log.parquet")
    found = hreach.learn(tmp_path / "log.parquet", skip_bad=True)
    assert (found.states, found.actions) == (["1", "2"], ("0", "1"))
    assert [tuple(bad) for bad in found.bad] == [(3, "state is missing"), (4, "reward is missing")]
    nested = pa.table({**{name: table[name] for name in table.column_names}, "state": [[1]] * 4})
    pq.write_table(nested, tmp_path / "nested.parquet")
    with pytest.raises(InputError, match=r"column 'state' of .* is 'list<.*>', but must be text, numbers, or true"):
        hreach.learn(tmp_path / "nested.parquet")


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Learnt:
    """State 3 is where `back` matters, and where it was tried least."""
    rng, rows = np.random.default_rng(4), list[tuple[Any, ...]]()
    for _ in range(8000):
        s = int(rng.integers(5))
        action = "back" if rng.random() < (0.01 if s == 3 else 0.5) else "ahead"
        t = max(s - 1, 0) if action == "back" else min(s + 1, 4)
        rows.append((s, action, float(s == 4 or (s == 3 and action == "back" and rng.random() < 0.9)), t, False))
    return hreach.learn(write_csv(tmp_path_factory.mktemp("log") / "log.csv", rows), gamma=0.8, at="3", r_max=1)


def test_what_is_certain_is_of_the_safest_policy(learnt: Learnt) -> None:
    sure, agents = learnt.certificate, learnt.mind.certify(0.1, "3")
    assert sure.policy.tolist() == agents.safest.policy.tolist()
    assert sure.lower == pytest.approx(agents.safest.lower, abs=1e-6)
    assert sure.lower >= agents.lower - 1e-9
    assert sure.upper == pytest.approx(agents.upper, abs=1e-6)
    truth = hreach.TabularMDP(
        np.eye(5)[[[max(s - 1, 0), min(s + 1, 4)] for s in range(5)]],
        [[float(s == 4) or 0.9 * (s == 3), float(s == 4)] for s in range(5)],
        gamma=0.8,
    )
    numbers = [int(name) for name in learnt.states]
    chosen = np.empty(5, dtype=np.int64)
    chosen[numbers] = [["back", "ahead"].index(learnt.actions[a]) for a in sure.policy.tolist()]
    assert sure.lower <= truth.policy_value(chosen)[3] + 1e-9
    assert truth.optimal_value()[3] <= sure.upper + 1e-9


def test_the_gap_is_the_sum_over_its_pairs(learnt: Learnt) -> None:
    sure = learnt.certificate
    robust = Robust(sure.sets)
    best, gained = gain_terms(sure.sets, sure.policy, sure.state)
    lost = loss_terms(sure.sets, sure.policy, sure.state)
    high, low = (robust.plain(policy)[sure.state] for policy in (best, sure.policy))
    assert sure.upper - high == pytest.approx(gained.sum(), rel=1e-3)
    assert low - sure.lower == pytest.approx(lost.sum(), rel=1e-3)
    assert sure.upper - sure.lower == pytest.approx(gained.sum() + lost.sum() + high - low, rel=1e-3)
    first = learnt.limits[0]
    assert (learnt.states[first.state], learnt.actions[first.action]) == ("3", "back")
    n = sum(n for (s, a, _), (n, _) in learnt.tally.moves.items() if (s, a) == (first.state, first.action))
    assert first.n == n < 40
    assert f"pair (3, back), tried {n} times." in learnt.sentence


def test_more_of_what_it_says_to_try_helps_most(learnt: Learnt, tmp_path: Path) -> None:
    """100 more samples of the first pair close the gap more than those of any other, by the frequencies as they are."""
    gains = {}
    for limit in learnt.limits:
        tally = Tally.from_bytes(learnt.tally.to_bytes())
        s, a = limit.state, limit.action
        outcomes = [(t, n) for (x, y, t), (n, _) in tally.moves.items() if (x, y) == (s, a)]
        for t, n in outcomes:
            tally.moves[s, a, t][0] += round(100 * n / limit.n)
        tally.paid[s, a] *= 1 + 100 / limit.n
        tally.samples += 100
        more = Learnt(learnt.log, 0, (), 0, learnt.settings, tally, 0.1, "3").certificate
        gains[s, a] = learnt.certificate.upper - learnt.certificate.lower - more.upper + more.lower
    first = max(learnt.limits, key=lambda limit: limit.gain)
    assert max(gains, key=lambda pair: gains[pair]) == (first.state, first.action)


def test_pairs_that_never_occur_are_named(tmp_path: Path) -> None:
    rows = [("x", "low", 1.0, "y", False), ("y", "high", 1.0, "", True)]
    found = hreach.learn(write_csv(tmp_path / "log.csv", rows), terminated="done")
    assert found.states == ["x", "y", END]
    assert found.uncovered == [("x", "high"), ("y", "low")]  # nothing follows the end


def test_a_journal_goes_on_from_a_log(learnt: Learnt, tmp_path: Path) -> None:
    with learnt.to_journal(tmp_path / "run.hreach") as journal:
        assert journal.tally().to_bytes() == learnt.tally.to_bytes()
        advice = journal.ask("3")
        assert advice.samples == 8000
        assert advice.internal_value == learnt.agent.action_values()[learnt.states.index("3")].max()
        journal.tell(1.0, "2", id=advice.id)
    with Journal(tmp_path / "run.hreach") as journal:
        assert journal.tally().samples == 8001


def test_an_agent_goes_on_from_a_log(learnt: Learnt, tmp_path: Path) -> None:
    path = tmp_path / "agent.npz"
    learnt.save(path)
    arrays, about = read_agent(path)
    assert (about["states"], about["actions"]) == (learnt.states, list(learnt.actions))
    assert arrays["model.counts"].sum() == 8000
    other = learnt.agent.clone(5)
    load_agent(other, path)
    assert np.array_equal(other.action_values(), learnt.agent.action_values())
    levels = hreach.TabularMDP(np.full((5, 2, 5), 0.2), np.zeros((5, 2)), gamma=0.8)
    given: dict[str, Any] = {
        "reward": "learn",
        "r_max": 1,
        "prior": 0,
        "tolerance": learnt.agent.planner.settings()["tolerance"],
    }
    third = hreach.make_agent("pac-rmdp", levels, h=4, **given)
    load_agent(third, path)
    assert np.array_equal(third.action_values(), learnt.agent.action_values())


def test_the_command(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", rows_of(500))
    options = ("--state", "state", "--action", "action", "--reward", "reward", "--next", "next", "--terminated", "done")
    out = ("--out", tmp_path / "run.hreach", "--out", tmp_path / "agent.npz", "--policy", tmp_path / "policy.csv")
    said = succeed("learn", path, *options, *out, "--at", "room 1")
    assert "in state room 1 this policy is worth at least" in said
    assert "covered: all 15 pairs" in said  # of five states; the end has no actions
    assert "where to try next" in said
    plain = json.loads(succeed("learn", path, *options, "--json"))
    assert plain["samples"] == 500
    with (tmp_path / "policy.csv").open(newline="") as file:
        policy = {row["state"]: row["action"] for row in csv.DictReader(file)}
    assert policy == plain["policy"]
    assert "500 samples" in succeed("show", tmp_path / "run.hreach")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"log": "absent.csv"}, "but must be a file that is there"),
        ({"log": "log.txt"}, "but must be a file that ends in .csv, .csv.gz, .parquet, or minari:ID"),
        ({"log": "empty.csv"}, "but must be a CSV file whose first line names the columns"),
        ({"log": "header.csv"}, "but must be one with at least one good row"),
        ({"log": "cut.parquet"}, "cannot be read as Parquet"),
        ({"log": "twice.csv"}, "column 'state' of .* is 'there twice', but must be there once"),
        ({"reward": "rewrad"}, "column 'rewrad' is not in .*; did you mean 'reward'\\? its columns: state, action"),
        ({"next": "next,reward"}, "next is .*, but must be as many columns as the state has, 1"),
        ({"bins": {"speed": [1]}}, "bins is 'speed', but must be for a column of the state: state"),
        ({"bins": {"state": [2, 1]}}, "bins of 'state' is .*, but must be edges that rise"),
        ({"gamma": 1.0}, "gamma is 1.0, but must be at least 0 and below 1"),
        ({"at": "rom 1"}, "at is 'rom 1', which is not known; did you mean 'room 1'"),
        ({"delta": 0}, "delta is 0, but must be"),
    ],
)
def test_mistakes_are_one_sentence(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    write_csv(tmp_path / "log.csv", rows_of(20))
    write_csv(tmp_path / "log.txt", rows_of(2))
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text(f"{HEADER}\n")
    (tmp_path / "twice.csv").write_text(f"state,{HEADER}\nx,x,low,1,y,false\n")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    given = {"log": "log.csv", "terminated": "done", **change}
    with pytest.raises(InputError, match=says):
        hreach.learn(tmp_path / given.pop("log"), **given)


def test_states_that_are_too_many_are_refused_before_memory_is(tmp_path: Path) -> None:
    rows = [(i + 0.5, "a", 1.0, i + 1.5, False) for i in range(20_000)]
    with pytest.raises(InputError, match="put numbers into bins, or leave a column out"):
        hreach.learn(write_csv(tmp_path / "log.csv", rows))


def test_a_dataset_of_minari_is_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    import gymnasium
    import minari
    from minari.data_collector import EpisodeBuffer

    env, buffers = gymnasium.make("FrozenLake-v1"), []
    rng, tally = np.random.default_rng(0), Tally()
    for episode in range(30):
        state, over, cut = env.reset(seed=episode)[0], False, False
        own = EpisodeBuffer(observations=[state], actions=[])
        while not over and not cut:
            action = int(rng.integers(4))
            following, reward, over, cut, _ = env.step(action)
            tally.add([(str(state), action, float(reward), str(following), int(over))])
            for column, value in (("observations", following), ("actions", action), ("rewards", float(reward))):
                getattr(own, column).append(value)
            own.terminations.append(over)
            own.truncations.append(cut)
            state = following
        buffers.append(own)
    about = {"author": "a", "author_email": "a@b.c", "code_permalink": "c", "description": "d", "algorithm_name": "e"}
    minari.create_dataset_from_buffers("own/lake-v0", buffers, env=env, eval_env=env, **about)
    given: dict[str, Any] = {"state": "observation", "next": "next_observation", "terminated": "terminated"}
    found = hreach.learn("minari:own/lake-v0", actions=["0", "1", "2", "3"], **given)
    assert found.tally.to_bytes() == tally.to_bytes()
    with pytest.raises(
        InputError, match="must be a dataset of this machine: own/lake-v0; `minari download none` gets it"
    ):
        hreach.learn("minari:none", **given)
    with pytest.raises(InputError, match="column 'state' is not in minari:own/lake-v0; did you mean 'terminated'"):
        hreach.learn("minari:own/lake-v0")


def test_without_minari_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(InputError, match=r"for which hreach\[minari\] must be installed"):
        hreach.learn("minari:own/lake-v0")
