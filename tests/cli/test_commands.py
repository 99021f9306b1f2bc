"""`hreach bound` and `hreach audit` as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import hreach
from hreach.cli import main

SIZES = ["--states", "5", "--actions", "2", "--gamma", "0.95"]


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Exit code of `hreach ARGUMENTS`."""
    monkeypatch.setattr("sys.argv", ["hreach", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_bound_prints_what_was_computed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "bound", *SIZES, "--eps", "2", "--delta", "0.1", "--h", "8") == 0
    out = capsys.readouterr().out
    assert "2.832e+11  (computed)" in out
    assert "MBIE, order of steps" in out
    assert "this bound promises nothing." in out


def test_bound_says_for_which_agent_it_is_proved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "bound", *SIZES, "--eps", "2", "--delta", "0.1", "--h", "8") == 0
    proved = 'an agent that stops learning a pair after m samples: freeze_at="theory"'
    assert f"Proved for {proved}." in capsys.readouterr().out
    assert call(monkeypatch, "bound", *SIZES, "--eps", "2", "--delta", "0.1", "--h", "8", "--json") == 0
    assert json.loads(capsys.readouterr().out)["proved_for"] == proved
    few = ["--lifetime", "50", "--domain", "chain", "--h", "1", "--runs", "2"]
    assert call(monkeypatch, "choose-h", *few) == 0
    assert f"bounds are proved for {proved})" in capsys.readouterr().out
    assert call(monkeypatch, "choose-h", *few, "--json") == 0
    assert json.loads(capsys.readouterr().out)["proved_for"] == proved


def test_where_a_bound_is_empty_the_certificate_is_pointed_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes, easy = ["bound", *SIZES, "--delta", "0.1", "--h", "8"], ["--states", "2", "--actions", "1", "--gamma", "0.1"]
    few = ["--lifetime", "50", "--domain", "chain", "--h", "1", "--runs", "2"]
    for command in ([*sizes, "--eps", "2"], [*sizes, "--t", "1000"], ["choose-h", *few]):
        assert call(monkeypatch, *command) == 0
        assert capsys.readouterr().out.endswith("hreach certify.\n")
    for command in ([*sizes, "--t", "1e12"], ["bound", *easy, "--delta", "0.1", "--h", "1", "--t", "1e9"]):
        assert call(monkeypatch, *command) == 0
        assert "certify" not in capsys.readouterr().out


def test_bound_knows_costs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Rewards in [-1, 0] are as far apart as those in [0, 1]; costs of 1 and a goal as well."""
    told = []
    for extra in ([], ["--r-min", "-1", "--r-max", "0"], ["--r-min", "-1", "--r-max", "-1", "--ends"]):
        assert call(monkeypatch, "bound", *SIZES, "--eps", "2", "--delta", "0.1", "--h", "8", "--json", *extra) == 0
        told.append(json.loads(capsys.readouterr().out)["t"])
    assert told[1] == pytest.approx(told[0])
    assert told[2] == pytest.approx(told[0])


@pytest.mark.parametrize(
    ("option", "name", "message"),
    [
        ("--picture", "nowhere/a.png", "but must be a file in a folder that exists."),
        ("--picture", "a.txt", "but must be a file that ends in .png, .svg, .pdf"),
        ("--picture", ".", "but must be a file"),
    ],
)
@pytest.mark.parametrize("command", ["choose-h", "audit"])
def test_a_file_that_cannot_be_written_is_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: str,
    option: str,
    name: str,
    message: str,
) -> None:
    def worked(*_: object, **__: object) -> None:
        raise AssertionError("work was done")

    monkeypatch.setattr("hreach.guarantees.choose_h.choose_h", worked)
    monkeypatch.setattr("hreach.running.loop.run", worked)
    what = {"choose-h": ["--lifetime", "50", "--domain", "chain"], "audit": ["chain", "pac-rmdp", "--param", "h=1"]}
    assert call(monkeypatch, command, *what[command], option, str(tmp_path / name)) == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith(f"hreach: {option} is ")
    assert message in error
    assert "\n" not in error


def test_a_home_is_spelt_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert call(monkeypatch, "audit", "chain", "pac-rmdp", "--param", "h=1", "--steps", "20", "--json=~/a.json") == 0
    assert (tmp_path / "a.json").is_file()


def test_choose_h_takes_the_models_own_discount(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mdp = hreach.make_domain("modified-chain").mdp()
    told = []
    for gamma in (0.5, 0.995):
        np.savez(tmp_path / "m.npz", P=mdp.transitions(), R=mdp.reward_table(), gamma=gamma)
        arguments = ["--lifetime", "100", "--model", str(tmp_path / "m.npz"), "--h", "4", "--runs", "5", "--json"]
        assert call(monkeypatch, "choose-h", *arguments) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert [one["gamma"] for one in told] == [0.5, 0.995]
    assert told[0]["options"] != told[1]["options"]


def test_bound_speaks_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "bound", *SIZES, "--delta", "0.1", "--h", "8", "--t", "1e12", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["computed"] == ["eps"]
    assert 1 < told["eps"] < 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bound", *SIZES, "--eps", "2"], "given is eps of eps, delta, h, t"),
        (["bound", *SIZES, "--eps", "-2", "--delta", "0.1", "--h", "1"], "epsilon is -2.0"),
        (["bound", *SIZES, "--eps", "2", "--delta", "0", "--h", "1"], "delta is 0.0"),
        (["bound", *SIZES, "--eps", "2", "--delta", "0.1", "--h", "1", "--form", "best"], "form is 'best'"),
        (["bound", "--states", "0", "--actions", "2", "--gamma", "0.9", "--eps", "2", "--delta", "0.1"], "states is 0"),
        (["audit", "chain", "pac-rmdp", "--param", "h"], "--param is 'h', but must be name=value"),
        (["audit", "chain", "pac-rmdp", "--param", "h=-1"], "h is -1"),
        (["audit", "chain", "pac-rmdp", "--param", "seed=1"], "--param is 'seed=1'"),
        (["audit", "mountain-car", "pac-rmdp", "--param", "h=1"], "domain is 'mountain-car'"),
        (["audit", "chain", "pac-rmdp", "--param", "h=1", "--eps", "0"], "eps"),
        (["audit", "chain", "pac-rmdp", "--param", "h=1", "--checkpoints", "0"], "checkpoints is 0"),
        (["audit", "chain", "pac-rmdp", "--param", "h=1", "--ties", "last"], "ties is 'last'"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert call(monkeypatch, *arguments) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("hreach: ")
    assert message in error
    assert error.endswith(".")


def test_audit_writes_what_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = [tmp_path / name for name in ("a.json", "a.csv", "a.png")]
    options = ["--steps", "300", "--checkpoints", "10", "--eps", "2"]
    written = ["--json", str(files[0]), "--csv", str(files[1]), "--picture", str(files[2])]
    assert call(monkeypatch, "audit", "chain", "pac-rmdp", "--param", "h=8", *options, *written) == 0
    out = capsys.readouterr().out
    assert "Lemma 1 violated" in out
    assert json.loads(files[0].read_text("utf-8"))["violations"] == 0
    assert len(files[1].read_text("utf-8").splitlines()) == 11
    assert files[2].read_bytes().startswith(b"\x89PNG")


def test_choose_h_recommends_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = ["--lifetime", "500", "--runs", "10", "--h", "1", "--h", "8", "--h", "growing"]
    drawn = tmp_path / "h.png"
    assert call(monkeypatch, "choose-h", *options, "--domain", "chain", "--picture", str(drawn)) == 0
    out = capsys.readouterr().out
    assert out.count("<- recommended") == 1
    assert "Loss in %" not in out
    assert drawn.read_bytes().startswith(b"\x89PNG")
    assert call(monkeypatch, "choose-h", *options, "--states", "6", "--actions", "2", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["options"]) == 3
    assert call(monkeypatch, "choose-h", *options, "--lifetime", "60", "--domain", "chain") == 0
    out = capsys.readouterr().out
    assert out.startswith("Loss in % against the best fixed h, in hindsight, up to step\n")
    assert out.splitlines()[1].split() == ["h", "60", "500"]
    assert "over 500 steps" in out
    np.savez(tmp_path / "m.npz", P=np.full((3, 2, 3), 1 / 3), R=np.eye(3)[:, :2], gamma=0.9)
    assert call(monkeypatch, "choose-h", *options, "--model", str(tmp_path / "m.npz")) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lifetime", "0", "--domain", "chain"], "lifetime is 0"),
        (["--lifetime", "10", "--lifetime", "0", "--domain", "chain"], "lifetimes is 0"),
        (["--lifetime", "10"], "problems like yours are not given, but must be: --domain or --model"),
        (["--lifetime", "10", "--domain", "chain", "--states", "3", "--actions", "2"], "like yours are given twice"),
        (["--lifetime", "10", "--states", "3"], "--actions is None"),
        (["--lifetime", "10", "--states", "0", "--actions", "2"], "0"),
        (["--lifetime", "10", "--domain", "chain", "--h", "-1"], "-1"),
        (["--lifetime", "10", "--domain", "chain", "--h", "shrinking"], "shrinking"),
        (["--lifetime", "10", "--domain", "mountain-car"], "mountain-car"),
        (["--lifetime", "10", "--model", "none.npz"], "model is 'none.npz'"),
        (["--lifetime", "10", "--domain", "chain", "--delta", "2"], "delta is 2"),
    ],
)
def test_choose_h_refuses_bad_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert call(monkeypatch, "choose-h", *arguments) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert message in error
    assert error.endswith(".")
