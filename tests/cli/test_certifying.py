"""`hreach certify` as a user calls it: every source gives the certificate that the library gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hreach
from helpers import succeed
from hreach.cli import main
from hreach.guarantees.certify import certify_counts
from hreach.running.checkpoint import write as write_checkpoint

REWARD = np.array([[0.0, 0.0], [1.0, 0.5]])
COUNTS = np.array([[[900, 100], [0, 1000]], [[500, 500], [10, 990]]])


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one sentence of a command that ends with exit code 2."""
    monkeypatch.setattr("sys.argv", ["hreach", "certify", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    (sentence,) = (line for line in said.err.splitlines() if "compiling once" not in line)  # where nothing was before
    return sentence


def told(*arguments: str | Path) -> dict[str, Any]:
    found = json.loads(succeed("certify", *arguments, "--json"))
    assert isinstance(found, dict)
    return found


def as_csv(path: Path, counts: Any, ended: Any = None) -> Path:
    lines = ["state,action,next_state,count" + (",ended" if ended is not None else "")]
    for place in np.argwhere(np.asarray(counts) != 0):
        entry = [*place, np.asarray(counts)[tuple(place)]]
        lines.append(",".join(str(x) for x in (entry if ended is None else [*entry, ended[tuple(place)]])))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The same counts as CSV and npz, and rewards."""
    np.savez(tmp_path / "counts.npz", counts=COUNTS)
    np.savez(tmp_path / "reward.npz", reward=REWARD)
    rows = [f"{s},{a},{REWARD[s, a]}" for s in range(2) for a in range(2)]
    (tmp_path / "reward.csv").write_text("\n".join(["state,action,reward", *rows]), encoding="utf-8")
    as_csv(tmp_path / "counts.csv", COUNTS)
    return {path.name: path for path in tmp_path.iterdir()}


def learnt(steps: int = 2000, **params: Any) -> tuple[Any, Any, hreach.Run]:
    env = hreach.make_domain("chain")
    agent = hreach.make_agent("pac-rmdp", env, **({"h": 8} | params))
    return env, agent, hreach.run(env, agent, steps=steps)


def test_a_domain_and_an_agent() -> None:
    _, agent, done = learnt()
    expected = agent.certify(0.1, int(done.last_state))
    found = told("chain", "pac-rmdp", "--param", "h=8", "--steps", "2000")
    assert found["sentence"] == expected.sentence()
    assert found["lower"] == expected.lower
    assert found["upper"] == expected.upper
    assert found["reachable_gap"] == expected.reachable_gap
    assert found["curve"][-1] == {"h": "inf", "gap": expected.optimality_gap}
    assert found["policy"] == expected.policy.tolist()
    assert found["stopped"] is None


def test_delta_state_and_h_are_used() -> None:
    _, agent, _ = learnt()
    expected = agent.certify(0.01, 3, np.inf)
    given = ("--steps", "2000", "--delta", "0.01", "--state", "3", "--h", "inf")
    found = told("chain", "pac-rmdp", "--param", "h=8", *given)
    assert found["sentence"] == expected.sentence()
    assert found["h"] == "inf"
    assert found["delta"] == 0.01


def test_the_text_has_the_sentence_and_the_tables() -> None:
    _, agent, done = learnt()
    out = succeed("certify", "chain", "pac-rmdp", "--param", "h=8", "--steps", "2000")
    assert out.startswith(agent.certify(0.1, int(done.last_state)).sentence())
    for words in ("this policy is worth at least", "1024    inf", "held down by", "assumes: the policy is frozen"):
        assert words in out


def test_a_saved_agent(tmp_path: Path) -> None:
    _, agent, _ = learnt()
    np.savez(tmp_path / "agent.npz", **agent.state_dict())
    found = told("chain", "pac-rmdp", "--param", "h=8", "--saved", tmp_path / "agent.npz")
    assert found["sentence"] == agent.certify(0.1).sentence()


@pytest.mark.parametrize("counts", ["counts.csv", "counts.npz"])
@pytest.mark.parametrize("reward", ["reward.csv", "reward.npz"])
def test_tables_of_counts(counts: str, reward: str, files: dict[str, Path]) -> None:
    given = ("--reward", files[reward], "--gamma", "0.9", "--state", "0", "--h", "4")
    expected = certify_counts(COUNTS, REWARD, 0.9, state=0, h=4)
    assert told(files[counts], *given)["sentence"] == expected.sentence()


def test_rows_of_the_same_transition_add_up(tmp_path: Path, files: dict[str, Path]) -> None:
    lines = files["counts.csv"].read_text("utf-8").splitlines()
    assert lines[1] == "0,0,0,900"
    split = tmp_path / "split.csv"
    split.write_text("\n".join([lines[0], "0,0,0,400", *lines[2:], "0,0,0,500"]), encoding="utf-8")
    given = ("--reward", files["reward.csv"], "--gamma", "0.9")
    assert told(split, *given)["sentence"] == told(files["counts.csv"], *given)["sentence"]


@pytest.mark.parametrize("form", ["csv", "npz"])
def test_counts_with_ends(form: str, tmp_path: Path, files: dict[str, Path]) -> None:
    ended = np.zeros_like(COUNTS)
    ended[0, 1, 1] = 300
    path = tmp_path / f"ending.{form}"
    if form == "npz":
        np.savez(path, counts=COUNTS, ended=ended)
    else:
        as_csv(path, COUNTS, ended)
    expected = certify_counts(COUNTS, REWARD, 0.9, state=0, ended=ended)
    found = told(path, "--reward", files["reward.csv"], "--gamma", "0.9", "--state", "0")
    assert found["sentence"] == expected.sentence()
    assert any("an episode may end" in line for line in found["assumes"])


def counted(done: hreach.Run, steps: int) -> Any:
    """Oracle: one step after the other."""
    table = np.zeros((5, 2, 5))
    for t in range(steps):
        table[done.states[t], done.actions[t], done.next_states[t]] += 1
    return table


@pytest.mark.parametrize("form", ["npz", "checkpoint"])
def test_a_recorded_run(form: str, tmp_path: Path) -> None:
    env, _, done = learnt()
    path = tmp_path / f"run.{form}"
    if form == "npz":
        np.savez(path, **vars(done))
    else:
        write_checkpoint(path, {"record": vars(done)})
    expected = certify_counts(counted(done, 2000), env.known_reward, 0.95, state=int(done.last_state), h=8)
    picture = tmp_path / "run.png"
    found = told(path, "--domain", "chain", "--h", "8", "--picture", picture)
    assert found["sentence"] == expected.sentence()
    assert [look["samples"] for look in found["over_time"]][-1] == 2000
    assert len(found["over_time"]) > 10
    assert picture.stat().st_size > 10_000
    early = counted(done, 100)
    first = certify_counts(early, env.known_reward, 0.95, state=int(done.last_state), h=8)
    assert found["over_time"][0]["lower"] == first.lower


def test_a_frozen_policy_is_judged_by_what_came_after_it(tmp_path: Path, files: dict[str, Path]) -> None:
    (tmp_path / "policy.csv").write_text("state,action\n0,1\n1,0\n", encoding="utf-8")
    given = ("--reward", files["reward.csv"], "--gamma", "0.9", "--state", "0", "--policy", tmp_path / "policy.csv")
    plain, frozen = told(files["counts.npz"], *given), told(files["counts.npz"], *given, "--freeze")
    expected = certify_counts(COUNTS, REWARD, 0.9, [1, 0], state=0, watched=True)
    assert frozen["sentence"] == expected.sentence()
    assert frozen["lower"] > plain["lower"]
    assert "the policy was fixed before the first of these samples" in frozen["assumes"]


def test_a_frozen_agent_lives_on_with_other_chances() -> None:
    """Only the later steps count, and they are not the first ones drawn again."""
    found = told("chain", "pac-rmdp", "--param", "h=8", "--steps", "2000", "--freeze", "--state", "0")
    _, agent, _ = learnt()
    policy = agent.certify(0.1, 0).policy
    assert found["policy"] == policy.tolist()
    assert found["samples"] == 2000
    tried = {(limit["state"], limit["action"]): limit["n"] for limit in found["limits"]}
    assert tried
    env = hreach.make_domain("chain")

    class Fixed:
        def act(self, state: int) -> int:
            return int(policy[state])

        def observe(self, *args: object) -> None: ...

    again = hreach.run(env, Fixed(), steps=2000, seed=0)
    same = {(s, policy[s]): int((again.states == s).sum()) for s, _ in tried}
    assert tried != same


def test_stop_rules_of_the_command_line() -> None:
    run = ("chain", "pac-rmdp", "--param", "h=8", "--steps", "20000")
    sooner = told(*run, "--until-certified", "50%")
    assert sooner["samples"] < 20_000
    assert sooner["reachable_gap"] <= 0.5 * (sooner["lower"] + sooner["reachable_gap"])
    assert sooner["stopped"] == sooner["sentence"]
    aimed = told(*run, "--aim", "2", "--state", "0")
    assert aimed["samples"] < 20_000
    assert aimed["safest"]["lower"] >= 2


def test_a_picture_does_not_change_the_certificate(tmp_path: Path) -> None:
    run = ("chain", "pac-rmdp", "--param", "h=8", "--steps", "1000")
    plain, drawn = told(*run), told(*run, "--picture", tmp_path / "certificate.svg")
    assert drawn.pop("over_time")[-1] == plain.pop("over_time")[-1]
    assert drawn == plain
    assert b"<svg" in (tmp_path / "certificate.svg").read_bytes()


def test_learnt_rewards_have_no_curve(tmp_path: Path) -> None:
    given = ("--param", "h=8", "--param", "reward=learn", "--param", "r_max=1", "--steps", "500")
    found = told("chain", "pac-rmdp", *given, "--picture", tmp_path / "p.png")
    assert found["curve"] is None
    assert found["reachable_gap"] is None
    assert any("it is learnt" in note for note in found["notes"])


RUN = ["chain", "pac-rmdp", "--param", "h=8", "--steps", "50"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--delta", "0"], "delta is 0.0, but must be above 0 and below 1."),
        (["--delta", "1.5"], "delta is 1.5, but must be above 0 and below 1."),
        (["--delta", "nan"], "delta is nan, but must be a number."),
        (["--h", "-1"], "h is -1.0, but must be a whole number of at least 0."),
        (["--h", "2.5"], "h is 2.5, but must be a whole number of at least 0."),
        (["--state", "5"], "state is 5, but must be"),
        (["--aim", "21"], "value is 21.0, but must be at most 20: no policy is worth more."),
        (["--aim", "nan"], "value is nan, but must be a number."),
        (
            ["--until-certified", "0%"],
            "--until-certified is '0', but must be a number above 0, or a share such as 20%.",
        ),
        (["--until-certified", "100%"], "--until-certified is '100%', but must be below 100%"),
        (["--until-certified", "much"], "--until-certified is 'much', but must be a number above 0"),
        (["--aim", "3", "--until-certified", "9%"], "--aim is 3.0, but must be left out where --until-certified"),
        (["--gamma", "0.9"], "--gamma is 0.9, but must be left out where the source is a domain."),
        (["--saved", "x.npz"], "--steps is 50, but must be left out where a saved agent is given."),
        (["--param", "reward=learn", "--param", "r_max=1", "--h", "8"], "h is 8.0, but must be left out where the rew"),
        (["--param", "reward=learn", "--param", "r_max=1", "--freeze"], "--freeze is True, but must be left out where"),
        (["--picture", "x.txt"], "--picture is 'x.txt', but must be a file that ends in"),
    ],
)
def test_bad_options_are_one_sentence(
    more: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(monkeypatch, capsys, *RUN, *more)


def test_an_agent_that_does_not_count_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(monkeypatch, capsys, "mountain-car", "linear-pac-rmdp", "--param", "h=1")
    assert "agent is 'linear-pac-rmdp', but must be one that counts transitions to be certified" in said


def test_a_file_followed_by_an_agent_is_one_sentence(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(monkeypatch, capsys, files["counts.csv"], "pac-rmdp", "--gamma", "0.9")
    assert "agent is 'pac-rmdp', but must be left out where the source is a file." in said


def test_a_source_that_is_nothing_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "must be a file, or a domain that is followed by an agent" in refused(monkeypatch, capsys, "chain")


HEAD = "state,action,next_state,count\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "0,0,1,-3\n", "line 2: count is -3.0, but must be a whole number of at least 0."),
        (HEAD + "0,0,1,2\n0,0,0,1.5\n", "line 3: count is 1.5, but must be a whole number of at least 0."),
        (HEAD + "0,0,1,nan\n", "line 2: count is 'nan', but must be a number."),
        (HEAD + "0,0,1,inf\n", "line 2: count is inf, but must be a finite number."),
        (HEAD + "0,0,1,many\n", "line 2: count is 'many', but must be a number."),
        (HEAD + "0,0,1\n", "line 2: count is None, but must be a number."),
        (HEAD + "0,0,7,3\n", "largest next_state of the counts is 7, but must be below 2"),
        (HEAD + "0,2,1,3\n", "largest action of the counts is 2, but must be below 2"),
        (HEAD + "-1,0,1,3\n", "line 2: state is -1.0, but must be a whole number of at least 0."),
        (HEAD, "but must be at least one."),
        ("state,action,count\n0,0,1\n", "but must be at least state, action, next_state, count."),
        (HEAD[:-1] + ",ended\n0,0,1,3,4\n", "ended is 'more than counts', but must be at most the counts."),
    ],
)
def test_bad_tables_are_one_sentence(
    text: str, message: str, tmp_path: Path, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    given = ("--reward", files["reward.csv"], "--gamma", "0.9")
    assert message in refused(monkeypatch, capsys, path, *given)


def negative() -> Any:
    wrong = COUNTS.copy()
    wrong[0, 0, 0] = -1
    return wrong


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (lambda: {"counts": negative()}, "but must be whole numbers of at least 0."),
        (lambda: {"counts": COUNTS + 0.5}, "but must be whole numbers of at least 0."),
        (lambda: {"counts": COUNTS * np.nan}, "but must be whole numbers of at least 0."),
        (lambda: {"counts": COUNTS[0]}, "is (2, 2), but must be (S, A, S)"),
        (lambda: {"counts": np.ones((3, 2, 3))}, "largest state of the counts is 2, but must be below 2"),
        (lambda: {"count": COUNTS}, "has ['count'], but must have counts, or states, actions, next_states of a run."),
        (lambda: {"model.counts": COUNTS}, "source is the state of an agent, but must be a domain with it: "),
        (lambda: {"states": [0], "actions": [0, 1], "next_states": [1]}, "is (1, 2, 1), but must be the same."),
        (lambda: {"states": [0.5], "actions": [0], "next_states": [1]}, "must be whole numbers of at least 0, one for"),
    ],
)
def test_bad_arrays_are_one_sentence(
    arrays: Callable[[], dict[str, Any]], message: str, tmp_path: Path, files: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = tmp_path / "bad.npz"
    np.savez(path, **arrays())
    given = ("--reward", files["reward.csv"], "--gamma", "0.9")
    assert message in refused(monkeypatch, capsys, path, *given)


def test_what_is_no_file_of_arrays_is_one_sentence(
    tmp_path: Path, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("--reward", files["reward.csv"], "--gamma", "0.9")
    (tmp_path / "text.npz").write_text("no arrays")
    assert "is no npz file of plain arrays" in refused(monkeypatch, capsys, tmp_path / "text.npz", *given)
    np.savez(tmp_path / "objects.npz", counts=np.array([{}], dtype=object))
    assert "is no npz file of plain arrays" in refused(monkeypatch, capsys, tmp_path / "objects.npz", *given)
    (tmp_path / "other.dat").write_text("something")
    assert "and no checkpoint" in refused(monkeypatch, capsys, tmp_path / "other.dat", *given)
    assert "no saved state of this agent" in refused(
        monkeypatch, capsys, "chain", "pac-rmdp", "--param", "h=8", "--saved", files["counts.npz"]
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "--reward is not given, but must be, or --domain, where the source is a file."),
        (["--reward", "REWARD"], "--gamma is not given, but must be, or --domain"),
        (["--reward", "REWARD", "--gamma", "1"], "gamma is 1.0, but must be at least 0 and below 1."),
        (["--domain", "chain", "--gamma", "0.9"], "--gamma is 0.9, but must be left out where --domain is given."),
        (["--domain", "mountain-car"], "but must be one with finitely many states that tells its reward."),
        (["--reward", "REWARD", "--gamma", "0.9", "--freeze"], "--policy is None, but must be given where it was froz"),
        (["--reward", "REWARD", "--gamma", "0.9", "--aim", "3"], "--aim is 3.0, but must be left out where the source"),
        (["--reward", "REWARD", "--gamma", "0.9", "--policy", "POLICY"], "has no action of state 1."),
        (["--reward", "HALF", "--gamma", "0.9"], "has no reward of {'state': 1, 'action': 0}."),
    ],
)
def test_what_a_file_needs_is_one_sentence(
    given: list[str], message: str, tmp_path: Path, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "policy.csv").write_text("state,action\n0,1\n", encoding="utf-8")
    (tmp_path / "half.csv").write_text("state,action,reward\n0,0,1\n0,1,0\n1,1,0\n", encoding="utf-8")
    names = {"REWARD": files["reward.csv"], "POLICY": tmp_path / "policy.csv", "HALF": tmp_path / "half.csv"}
    assert message in refused(monkeypatch, capsys, files["counts.csv"], *(names.get(word, word) for word in given))
