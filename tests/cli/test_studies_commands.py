"""run, status, watch, merge and report of studies: what they print and write, for people and for programs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from helpers import content, succeed
from hreach.cli import app as cli
from hreach.running.simulate import simulate
from hreach.studies import work
from hreach.studies.grid import cell_of
from hreach.studies.loading import load
from hreach.studies.store import Store

STUDY = """\
title = "T"
domain = "chain"
steps = 60
runs = 10
seed = 7

[[agent]]
agent = "pac-rmdp"
grid = { h = [1, 8] }

[[agent]]
agent = "greedy"
variant = "x"
"""
RUN = ("run", "s.toml", "--out", "out", "--jobs", "1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a study, whose shards have four runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(work, "COMPILED_STEPS", 4 * 60)
    (tmp_path / "s.toml").write_text(STUDY, encoding="utf-8")
    return tmp_path


def forbid_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise AssertionError("simulated although everything is there")

    for name in ("simulate", "run_stepped"):
        monkeypatch.setattr(work, name, refuse)


def says(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), catch_exceptions=False)


def events(stdout: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.splitlines()]


# --- run ---------------------------------------------------------------------


def test_lines_of_json_parse_and_add_up(folder: Path) -> None:
    done = says(*RUN, "--json")
    told = events(done.stdout)
    assert (done.exit_code, done.stderr) == (0, "")
    assert Counter(each["event"] for each in told) == {"begin": 3, "runs": 9, "row": 3, "end": 1}
    rows = {each["row"] for each in told if each["event"] == "begin"}
    assert rows == {"pac-rmdp(h=1)", "pac-rmdp(h=8)", "greedy"}
    for row in rows:
        mine = [each for each in told if each.get("row") == row]
        (begun,), (whole,) = ([e for e in mine if e["event"] == kind] for kind in ("begin", "row"))
        steps = [(each["done"], each["left"]) for each in mine if each["event"] == "runs"]
        assert sum(runs for runs, _ in steps) == begun["runs"] == whole["runs"] == 10
        assert [left for _, left in steps] == [10 - sum(r for r, _ in steps[: i + 1]) for i in range(len(steps))]
    study, store = load(folder / "s.toml"), Store(folder / "out", writing=False)
    means = {spec.label: store.read(cell_of(study, spec).id, 10).average_reward[:, -1].mean() for spec in study.agent}
    assert {e["row"]: e["mean"] for e in told if e["event"] == "row"} == pytest.approx(means, abs=5.1e-5)
    assert told[-1] == {"event": "end", "page": "out/report.html", "tables": "out/tables", "figures": "out/figures"}


def test_a_second_run_says_that_nothing_is_to_do_and_does_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    succeed(*RUN)
    forbid_runs(monkeypatch)
    before = content(folder)
    assert succeed(*RUN) == "s: finished before, nothing to do\npage:   out/report.html\n"
    assert events(succeed(*RUN, "--json")) == [{"event": "end", "page": "out/report.html", "studies": ["s"]}]
    assert content(folder) == before


@pytest.mark.parametrize("change", ["runs", "title", "shard", "page"])
def test_what_is_no_longer_there_or_asked_for_anew_is_done(change: str, folder: Path) -> None:
    """The twin: a run that always found nothing to do would not."""
    succeed(*RUN)
    if change == "runs":
        (folder / "s.toml").write_text(STUDY.replace("runs = 10", "runs = 11"), encoding="utf-8")
    elif change == "title":
        (folder / "s.toml").write_text(STUDY.replace('"T"', '"U"'), encoding="utf-8")
    elif change == "shard":
        next((folder / "out").rglob("*.parquet")).unlink()
    else:
        (folder / "out" / "report.html").unlink()
    assert "nothing to do" not in succeed(*RUN)
    runs = 11 if change == "runs" else 10
    assert f"s: 3 of 3 rows, {3 * runs} of {3 * runs} runs\n" == succeed("status", "out")
    title = "U" if change == "title" else "T"
    assert f"<title>{title}</title>" in (folder / "out" / "report.html").read_text("utf-8")


def test_a_dry_run_counts_and_writes_nothing(folder: Path) -> None:
    before = content(folder)
    line = succeed(*RUN, "--dry-run")
    assert re.fullmatch(
        r"s: 3 of 3 cells to do, 30 runs in 9 shards, about \S+ \S+ with 1 workers and \S+ MB on disk\n", line
    )
    found = json.loads(succeed(*RUN, "--dry-run", "--json"))
    assert {key: found["s"][key] for key in ("cells", "all_cells", "runs", "shards", "workers")} == {
        "cells": 3,
        "all_cells": 3,
        "runs": 30,
        "shards": 9,
        "workers": 1,
    }
    assert content(folder) == before
    succeed(*RUN)
    assert succeed(*RUN, "--dry-run").startswith("s: 0 of 3 cells to do, 0 runs in 0 shards")


def test_parts_merge_to_what_one_run_writes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    succeed(*RUN)
    for k in (1, 2):
        shown = succeed("run", "s.toml", "--out", f"part{k}", "--jobs", "1", "--part", f"{k}/2")
        assert shown == f"part {k}/2 is done; when all are: hreach merge DIR... --out ALL\n"
        assert not (folder / f"part{k}" / "report.html").exists()
    half = succeed("merge", "part1", "--out", "half")
    assert half == "s: not finished: run it with this folder as --out\n"
    assert succeed("merge", "part1", "part2", "--out", "all") == "s: finished\npage:   hreach report all\n"
    assert content(folder / "all" / "shards") == content(folder / "out" / "shards")
    forbid_runs(monkeypatch)
    succeed("report", "all")
    assert (folder / "all" / "tables" / "s.csv").read_bytes() == (folder / "out" / "tables" / "s.csv").read_bytes()


def test_a_changed_definition_is_refused_unless_it_is_to_be_replaced(folder: Path) -> None:
    succeed(*RUN)
    (folder / "s.toml").write_text(STUDY.replace("seed = 7", "seed = 8"), encoding="utf-8")
    before = content(folder)
    code, said = refused(RUN)
    assert code == 2
    assert "another definition: seed was 7, is 8. Take another folder" in said
    assert content(folder) == before
    succeed(*RUN, "--replace")
    assert succeed("status", "out") == "s: 3 of 3 rows, 30 of 30 runs\n"


def test_several_domains_are_several_studies_on_one_page(folder: Path) -> None:
    text = STUDY.replace('domain = "chain"\n', "") + '\n[[domain]]\ndomain = "chain"\ngrid = { length = [3, 4] }\n'
    (folder / "s.toml").write_text(text, encoding="utf-8")
    succeed(*RUN)
    status = succeed("status", "out").splitlines()
    assert [line.partition(": ")[2] for line in status] == ["3 of 3 rows, 30 of 30 runs"] * 2
    names = sorted(line.partition(": ")[0] for line in status)
    assert sorted(path.stem for path in (folder / "out" / "tables").iterdir()) == names
    assert all(name.startswith("s-chain") for name in names)
    assert succeed(*RUN).startswith(f"{', '.join(names)}: finished before")


class Stopped:
    """Ctrl-C in the third shard."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.calls += 1
        if self.calls == 3:
            raise KeyboardInterrupt
        return simulate(*args, **options)


def half_finished(monkeypatch: pytest.MonkeyPatch) -> Result:
    """What a run says that is stopped after two of nine shards."""
    arguments = ("run", "s.toml", "--out", "out", "--executor", "inline")
    with monkeypatch.context() as patch:
        patch.setattr(work, "simulate", Stopped())
        patch.setattr(sys, "argv", ["hreach", *arguments])
        return says(*arguments)


def test_a_run_that_is_stopped_names_the_command_to_go_on_with(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = half_finished(monkeypatch)
    assert done.exit_code == 130
    last = done.stderr.splitlines()[-1]
    kept, _, command = last.partition(" Go on with: ")
    assert kept == "hreach: stopped; what was finished is kept and not computed again."
    assert len(list((folder / "out").rglob("*.parquet"))) == 2
    succeed(*command.split()[1:])
    assert succeed("status", "out") == "s: 3 of 3 rows, 30 of 30 runs\n"


# --- status, watch, report ---------------------------------------------------


def test_status_of_a_half_finished_study(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half_finished(monkeypatch)
    done = says("status", "out", "--verify")
    assert (done.exit_code, done.stdout.splitlines()) == (
        0,
        [
            "s: 0 of 3 rows, 8 of 30 runs",
            f"  {'pac-rmdp(h=1)':<34} 8 of 10 runs",
            f"  {'pac-rmdp(h=8)':<34} 0 of 10 runs",
            f"  {'greedy, x':<34} 0 of 10 runs",
            "2 shards checked, 0 damaged",
        ],
    )
    found = json.loads(succeed("status", "out", "--json"))
    assert [(row["row"], row["done"], row["runs"], row["failed"]) for row in found["studies"]["s"]] == [
        ("pac-rmdp(h=1)", 8, 10, []),
        ("pac-rmdp(h=8)", 0, 10, []),
        ("greedy", 0, 10, []),
    ]


def test_status_finds_a_damaged_shard_only_if_it_reads(folder: Path) -> None:
    succeed(*RUN)
    path = sorted((folder / "out").rglob("*.parquet"))[0]
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert says("status", "out").exit_code == 0
    done = says("status", "out", "--verify")
    assert done.exit_code == 1
    assert "9 shards checked, 1 damaged\n" in done.stdout
    assert str(path.relative_to(folder / "out")) in done.stdout.splitlines()[-1]
    done = says("status", "out", "--verify", "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert (found["checked"], list(found["damaged"])) == (9, [str(path.relative_to(folder / "out"))])


def test_watch_shows_rows_runs_and_means(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    half_finished(monkeypatch)
    before = content(folder)
    shown = succeed("watch", "out", "--once")
    assert content(folder) == before
    first = next(line for line in shown.splitlines() if "pac-rmdp(h=1)" in line)
    study = load(folder / "s.toml")
    mean = Store(folder / "out", writing=False).read(cell_of(study, study.agent[0]).id, 8).average_reward[:, -1].mean()
    assert "8 of 10" in first
    assert f"{mean:.4g} [" in first
    assert shown.endswith("8 runs, 22 to come\n")
    succeed(*RUN)
    assert "30 runs, all there" in succeed("watch", "out")


def test_a_report_of_a_half_finished_study_shows_what_is_complete_and_names_the_rest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half_finished(monkeypatch)
    code, said = refused(("report", "out"))
    assert (code, said) == (
        2,
        "hreach: DIR is 'out', but must be a folder in which a row of a study was finished.",
    )
    text = (folder / "s.toml").read_text("utf-8")
    (folder / "s.toml").write_text(text.replace("grid = { h = [1, 8] }", "params = { h = 1 }"), encoding="utf-8")
    succeed(*RUN, "--replace")
    (folder / "s.toml").write_text(text, encoding="utf-8")
    assert half_finished(monkeypatch).exit_code == 130
    forbid_runs(monkeypatch)
    succeed("report", "out")
    page = (folder / "out" / "report.html").read_text("utf-8")
    assert page.count("Not shown: ") == 1
    assert "Not shown: pac-rmdp(h=8), of which 8 of 10 runs are there." in page
    table = (folder / "out" / "tables" / "s.csv").read_text("utf-8").splitlines()
    assert [line.partition(",")[0] for line in table[1:]] == ["pac-rmdp(h=1)", "greedy"]


# --- bad options -------------------------------------------------------------


def refused(arguments: tuple[str, ...]) -> tuple[Any, str]:
    """(exit code, the line) of a command that is refused."""
    code = "from hreach.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)
    said = [line for line in done.stderr.splitlines() if "compiling once" not in line]
    assert (done.stdout, len(said)) == ("", 1)
    return done.returncode, said[0]


BAD = [
    ("run s.toml --out out --part 0/2", ["--part is '0/2'", "k/n with 1 <= k <= n"]),
    ("run s.toml --out out --part 3/2", ["--part is '3/2'"]),
    ("run s.toml --out out --part 1", ["--part is '1'"]),
    ("run s.toml --out out --part 1/99999", ["--part is '1/99999'"]),
    ("run s.toml --out out --executor thread", ["executor is 'thread'", "did you mean 'threads'?"]),
    ("run s.toml --out out --executor inline --jobs 2", ["is 2", "left out for the executor 'inline'"]),
    ("run s.toml --out out --executor threads --scheduler tcp://x:1", ["scheduler is 'tcp://x:1'", "'threads'"]),
    ("run s.toml --out out --jobs 0", ["--jobs is 0"]),
    ("run s.toml --out out --checkpoint-every 0", ["--checkpoint-every is 0"]),
    ("run s.toml --out out --checkpoint-every nan", ["--checkpoint-every is nan"]),
    ("run s.toml --out out --runs 1000001", ["--runs is 1000001", "at most 1000000"]),
    ("run s.toml --out out --dry-run --runs 0", ["--runs is 0"]),
    ("run s.toml --out out --dry-run --jobs 0", ["--jobs is 0"]),
    ("run until.toml --out out --part 1/2", ["--part is", "left out where the study has `until`"]),
    ("status none", ["DIR is 'none'", "a study was begun"]),
    ("watch none --once", ["DIR is 'none'", "a study was begun"]),
    ("watch none --every 0", ["--every is 0"]),
    ("merge none --out out", ["DIR is 'none'", "a study was begun"]),
    ("report none", ["DIR is 'none'"]),
]


@pytest.mark.parametrize(("line", "words"), BAD)
def test_a_bad_option_is_one_sentence_exit_code_2_and_nothing_is_written(
    line: str, words: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "until.toml").write_text(STUDY.replace("seed = 7", 'seed = 7\nuntil = "ranked"'), encoding="utf-8")
    before = content(folder)
    monkeypatch.setattr(sys, "argv", ["hreach", *line.split()])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    shown = capfd.readouterr()
    said = [each for each in shown.err.splitlines() if "compiling once" not in each]
    assert (stopped.value.code, shown.out, len(said)) == (2, "", 1)
    assert said[0].startswith("hreach: ")
    assert said[0].endswith(".")
    assert [word for word in words if word not in said[0]] == []
    assert content(folder) == before
